/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - the interface of jobs: parameters in, one iteration's task DAG out. */
#pragma once

#include "sim/registry.h"
#include "sim/work/dag.h"
#include "sim/work/layers.h"

/* What of a rank's memory is what: rank class, a static name ("optimizer"), bytes of one rank. */
typedef FabMemoryRecord FabMemoryPart;

/* Totals of one iteration, for MFU and throughput. Zeroed before a job fills it. */
typedef struct {
  double model_flops_per_rank;    /* forward and backward, without recomputation */
  double executed_flops_per_rank; /* with it */
  double tokens;                  /* of all ranks */
  FabPrecision precision;         /* of matrix multiplications */
  guint64 parameters;
  FabBytes gradient_bytes; /* of one rank; 0: none */
  double train_tokens;     /* of the whole training; 0: not said */
  GArray *memory;          /* FabMemoryPart, each name once per class; NULL: not known */
  /* How slow rank classes are, as FabExecutorEnv.slowness; NULL: as the DAG says. The totals own the owner. */
  double (*slowness) (gpointer owner, guint rank_class, guint iteration);
  double most_slowness; /* that it returns; 0: there is none */
  gpointer slowness_owner;
  GDestroyNotify slowness_free;
  GPtrArray *hints; /* char *: what would make it fit, for a person; NULL: none */
} FabJobTotals;

void fab_job_totals_add_memory (FabJobTotals *self, guint rank_class, const char *name, FabBytes bytes);
void fab_job_totals_add_hint (FabJobTotals *self, char *hint); /* takes it */
FabBytes fab_job_totals_memory (const FabJobTotals *self, guint rank_class);
void fab_job_totals_clear (FabJobTotals *self);

typedef struct {
  const FabCluster *cluster;
  FabLibrary *library;
  /* The layers of a catalogued model, by the name that a parameter of the job gives; the name
   * was checked when the scenario was read. (transfer full) */
  FabLayerStack *(*expand_model) (gconstpointer catalog, const char *name, guint sequence);
  gconstpointer catalog;
  guint64 seed; /* of the scenario */
} FabWorkloadEnv;

typedef struct {
  FabModelInfo info;
  gboolean (*build) (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder,
                     FabJobTotals *totals, GError **error);
} FabWorkloadOps;
