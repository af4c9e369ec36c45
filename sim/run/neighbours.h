/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.h - jobs of other tenants on the same engine and network. They repeat their iterations as long as the
 * engine runs.
 *
 * Every job of a scenario has a cluster with its nodes, a library of its own and a DAG. A neighbour also has an
 * executor that starts its next iteration when one has ended. The objects run on the engine's thread.
 */
#pragma once

#include "sim/assembly/assemble.h"
#include "sim/execution/executor.h"
#include "sim/net/disturbances.h"

/* As `which` in the functions below: the scenario's own job. */
#define FAB_FIRST_JOB G_MAXUINT

/* Where a job of the scenario runs: its nodes, and the library with all that it has planned for groups of their
 * ranks.
 * The plant keeps the site, so that the next job there finds those plans. */
typedef struct {
  guint which;        /* job: a neighbour's number, or FAB_FIRST_JOB */
  FabCluster cluster; /* its nodes only */
  FabLibrary *library;
} FabJobSite;

typedef struct {
  const FabJobSite *site; /* of the plant */
  FabDag *dag;
  FabJobTotals totals;
} FabJob;

/* Returns NULL and *error when the job cannot be built, or once `*cancel` is not 0 (NULL: nobody cancels). The
 * scenario, the registry and the plant must outlive it. (transfer full) */
FabJob *fab_job_new (const FabScenario *scenario, const FabRegistry *registry, const FabPlant *plant,
                     guint which, const gint *cancel, GError **error);
/* The same of the first job, without its tasks: `dag` is NULL, and of the totals only the memory counts. */
FabJob *fab_job_weigh (const FabScenario *scenario, const FabRegistry *registry, const FabPlant *plant,
                       const gint *cancel, GError **error);
void fab_job_free (FabJob *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabJob, fab_job_free)

typedef struct _FabNeighbours FabNeighbours;

/* What the neighbours share; `first` is the executor of the first job, which may hang. */
typedef struct {
  FabEngine *engine;
  FabNet *net;
  FabPlayWatch *watch;
  const FabDisturbances *disturbances;
  const FabExecutor *first;
} FabNeighbourhood;

/* Starts all neighbours of the scenario. (transfer full) */
FabNeighbours *fab_neighbours_new (const FabScenario *scenario, const FabRegistry *registry,
                                   const FabPlant *plant, const FabNeighbourhood *at, GError **error);
void fab_neighbours_free (FabNeighbours *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNeighbours, fab_neighbours_free)

/* Whether another seed makes one of them another job. */
gboolean fab_neighbours_use_seed (const FabNeighbours *self);

guint fab_neighbours_n (const FabNeighbours *self);
/* The neighbour's job, and the executor that plays it. */
FabJob *fab_neighbours_job (const FabNeighbours *self, guint which);
const FabExecutor *fab_neighbours_executor (const FabNeighbours *self, guint which);

/* Returns the FabStepRecord of all completed iterations of one neighbour. */
const GArray *fab_neighbours_steps (const FabNeighbours *self, guint which);
