/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - the interface of jobs: parameters in, one iteration's task DAG out. */
#pragma once

#include "sim/registry.h"
#include "sim/work/dag.h"
#include "sim/work/layers.h"

/* What a rank of a class keeps in its accelerator's memory. */
typedef struct {
  const char *name; /* static: "parameters" */
  guint rank_class;
  FabBytes bytes;
} FabMemoryPart;

/* Totals of one iteration, for MFU and throughput. */
typedef struct {
  double model_flops_per_rank;    /* forward and backward, without recomputation */
  double executed_flops_per_rank; /* with it */
  double tokens;                  /* of all ranks */
  FabPrecision precision;         /* of matrix multiplications */
  guint64 parameters;
  FabBytes gradient_bytes; /* of one rank; 0: none */
  GArray *memory;          /* FabMemoryPart; NULL: not known */
} FabJobTotals;

void fab_job_totals_add_memory (FabJobTotals *self, const FabMemoryPart *part);
void fab_job_totals_clear (FabJobTotals *self);

typedef struct {
  const FabCluster *cluster;
  FabLibrary *library;
  /* The layers of a catalogued model, by the name that a parameter of the job gives; the name
   * was checked when the scenario was read. (transfer full) */
  FabLayerStack *(*expand_model) (gconstpointer catalog, const char *name, guint sequence);
  gconstpointer catalog;
} FabWorkloadEnv;

typedef struct {
  FabModelInfo info;
  gboolean (*build) (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder,
                     FabJobTotals *totals, GError **error);
} FabWorkloadOps;
