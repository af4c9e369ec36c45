/* SPDX-License-Identifier: Apache-2.0 */
/* workload.h - the interface of jobs: from parameters to the task DAG of one iteration. */
#pragma once

#include "sim/execution/dag.h"
#include "sim/execution/layers.h"
#include "sim/registry.h"

/* One part of the memory of a rank: rank class, a static name ("optimizer"), bytes of one rank. */
typedef FabMemoryRecord FabMemoryPart;

/* How the bytes of one such part follow from numbers of the job. */
typedef struct {
  const char *name; /* static: "bytes_each" */
  gboolean is_bytes;
  double value;
} FabMemoryTerm;

enum { FAB_MEMORY_TERMS = 3 };

typedef struct {
  guint rank_class;
  const char *part,
      *formula; /* static: "optimizer"; "count * share * bytes_each", with all names in `terms` */
  FabMemoryTerm terms[FAB_MEMORY_TERMS]; /* those that are not used have no name */
} FabMemoryFormula;

/* What one checkpoint of the whole job takes, and how often the job writes one. */
typedef struct {
  gboolean is_known;   /* FALSE: the job writes none, and nobody asked what one would take */
  double bytes;        /* of the whole job */
  double blocking_s;   /* the job stands still */
  double background_s; /* then it is written beside the job; 0 unless asynchronous */
  double read_s;       /* to read it again, by all ranks at once */
  double nic_share;    /* of what the NICs of a node carry, while it is written in the background; 0: none */
  double step_s;       /* what checkpoints add to an average step of the DAG */
  FabPeriod every;     /* both 0: the job does not say */
} FabCheckpointTotals;

/* Totals of one iteration, for MFU and throughput. They are zeroed before a job fills them in. */
typedef struct {
  double model_flops_per_rank;    /* forward and backward pass, without recomputation */
  double executed_flops_per_rank; /* with recomputation */
  double tokens;                  /* of all ranks together */
  FabPrecision precision;         /* of matrix multiplications */
  guint64 parameters;
  FabBytes gradient_bytes;    /* gradients of one rank; 0: none */
  guint64 trained_parameters; /* those that have gradients */
  double train_tokens;        /* of the whole training; 0: not given */
  gboolean uses_seed;         /* another seed makes another job: other flows, other slow ranks */
  double waiting; /* factor that times of kernels have because a step waits for the slowest GPU; 0: unknown */
  GArray *memory; /* FabMemoryPart, each name once per class; NULL: unknown */
  GArray *memory_formulas;                      /* FabMemoryFormula, of some parts; NULL: none */
  double memory_low_factor, memory_high_factor; /* band of all of it, measured over predicted; 0: none */
  /* Slowness of the rank classes, as FabExecutorEnv.slowness; NULL: none. The totals own slowness_owner. */
  double (*slowness) (gpointer owner, guint rank_class, guint iteration);
  double most_slowness; /* largest value that it returns; 0: no slowness */
  gpointer slowness_owner;
  GDestroyNotify slowness_free;
  const char *stack;     /* software of the job, where has_setup */
  FabSoftware software;  /* where has_setup */
  FabSetup setup;        /* what such runs take beyond the priced time, where has_setup */
  gboolean has_setup;    /* the compute model took it from the catalogue */
  FabComputeParts parts; /* of one micro-batch in the first stage, forward and backward, nothing recomputed */
  const char *attention; /* the kernel of attention, static; NULL: not known */
  gboolean has_measured_kernels; /* the compute model has kernels that were measured on such accelerators */
  FabSetup compute_known;        /* how far off compute may be, where has_compute_known */
  gboolean has_compute_known;
  FabCheckpointTotals checkpoint;
  guint64 flows;           /* that ranks send by themselves; 0: the job has collectives */
  FabTimePs offered_ps;    /* in which flows that come over time begin; 0: they do not come over time */
  double offered_fraction; /* what they bring in that time, of what the NICs of all ranks carry in it */
} FabJobTotals;

void fab_job_totals_add_memory (FabJobTotals *self, guint rank_class, const char *name, FabBytes bytes);
void fab_job_totals_add_formula (FabJobTotals *self, const FabMemoryFormula *formula);
/* The formula of a part; NULL: it has none. */
const FabMemoryFormula *fab_job_totals_formula (const FabJobTotals *self, const FabMemoryPart *part);
FabBytes fab_job_totals_memory (const FabJobTotals *self, guint rank_class);
void fab_job_totals_clear (FabJobTotals *self);

typedef struct {
  const FabCluster *cluster;
  FabLibrary *library;
  /* Returns the layers of a catalogued model, by the name that a parameter of the job gives. The name was checked
 * when the scenario was read. (transfer full) */
  FabLayerStack *(*expand_model) (gconstpointer catalog, const char *name, guint sequence);
  /* Returns the set-up entry of a software stack, from the same catalogue; NULL: there are none. */
  FabSetup (*find_setup) (gconstpointer catalog, const FabSetupKey *key);
  /* Returns what the same catalogue says of an accelerator: its FP16 rate and its memory rate, both above 0. */
  FabDevice (*find_device) (gconstpointer catalog, const char *name);
  gconstpointer catalog;
  guint64 seed;              /* of the scenario */
  gboolean wants_checkpoint; /* a job says what a checkpoint takes though it writes none */
  gboolean is_weighed;       /* only memory is asked for: the tasks of the job may be left out */
} FabWorkloadEnv;

typedef struct {
  FabModelInfo info;
  gboolean (*build) (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder,
                     FabJobTotals *totals, GError **error);
} FabWorkloadOps;
