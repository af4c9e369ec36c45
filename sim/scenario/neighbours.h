/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.h - jobs of others on the same engine and network, iteration after iteration as long as the engine runs.
 *
 * A job of a scenario, first or other, is a cluster of its nodes, a library of its own and a DAG; others have an
 * executor as well, that starts its next iteration when one has ended.
 */
#pragma once

#include "sim/net/unrest.h"
#include "sim/scenario/assemble.h"
#include "sim/work/executor.h"

/* The first job: `which` of the functions here. */
#define FAB_FIRST_JOB G_MAXUINT

typedef struct {
  FabCluster cluster; /* its nodes alone */
  FabLibrary *library;
  FabDag *dag;
  FabJobTotals totals;
} FabJob;

/* NULL and *error when it cannot be built. All that is handed in outlives it. */
FabJob *fab_job_new (const FabScenario *scenario, const FabRegistry *registry, const FabPlant *plant,
                     guint which, GError **error);
void fab_job_free (FabJob *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabJob, fab_job_free)

typedef struct _FabNeighbours FabNeighbours;

/* What they share; `first` is the executor of the first job, which may hang. */
typedef struct {
  FabEngine *engine;
  FabNet *net;
  const FabUnrest *unrest;
  const FabExecutor *first;
} FabNeighbourhood;

/* All neighbours of the scenario, launched. */
FabNeighbours *fab_neighbours_new (const FabScenario *scenario, const FabRegistry *registry,
                                   const FabPlant *plant, const FabNeighbourhood *at, GError **error);
void fab_neighbours_free (FabNeighbours *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabNeighbours, fab_neighbours_free)

/* FabStepRecord of the iterations of one of them that have ended. */
const GArray *fab_neighbours_steps (const FabNeighbours *self, guint which);
