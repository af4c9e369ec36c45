/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - one iteration of a job as tasks on streams.
 *
 * A stream runs its tasks one after another, in the order in which they were added, as a
 * CUDA stream does. A task starts when the one before it on its stream is done and all
 * that it was told to wait for. `after_previous` waits for a task of the iteration before;
 * the first task of a stream always waits for its last task of the iteration before.
 *
 * Ranks that do the same are one rank class. A collective is joined by one task of every
 * class that takes part; it starts when the last of them has arrived.
 */
#pragma once

#include "sim/result/record.h"
#include "sim/work/collective.h"

typedef guint32 FabTaskId;

typedef struct {
  guint stream;
  FabSpanKind kind;
  char *name;
  FabTimePs duration_ps; /* of work; not of a collective */
  gint32 collective;     /* index, or -1 */
} FabTask;

typedef struct {
  guint rank_class;
  const char *name; /* "compute" */
} FabDagStream;

/* What a collective is for: the dimension of parallelism whose ranks talk. */
typedef enum {
  FAB_DIMENSION_DATA,     /* gradients and parameters of data-parallel ranks */
  FAB_DIMENSION_TENSOR,   /* activations inside layers, sequence parallelism too */
  FAB_DIMENSION_CONTEXT,  /* keys and values */
  FAB_DIMENSION_EXPERT,   /* tokens to experts and back */
  FAB_DIMENSION_PIPELINE, /* activations between stages */
  FAB_DIMENSION_OFFLOAD,  /* states to host memory or drives, and back */
  FAB_DIMENSION_OTHER,
  FAB_N_DIMENSIONS,
} FabDimension;

extern const char *const fab_dimension_names[FAB_N_DIMENSIONS + 1]; /* "data", ...; NULL-ended */

typedef struct {
  char *name;
  FabDimension dimension;
  FabCollectivePlan plan;
  guint n_joins;
} FabDagCollective;

typedef struct _FabDag FabDag;

/* Read-only after freezing. */
struct _FabDag {
  guint n_tasks, n_streams, n_collectives, n_classes;
  FabTask *tasks;
  FabDagStream *streams;
  FabDagCollective *collectives;
  FabRankClassRecord *classes;
  guint *join_starts; /* [n_collectives + 1] into join_classes: who takes part, each class once, ascending */
  guint *join_classes;
  guint *n_waits;     /* [n_tasks] tasks of the same iteration it waits for */
  guint *n_carried;   /* [n_tasks] tasks of the iteration before it waits for */
  guint *next_starts; /* [n_tasks + 1] into next: who waits for it in the same iteration */
  FabTaskId *next;
  guint *carried_starts; /* [n_tasks + 1] into carried: who waits for it in the next iteration */
  FabTaskId *carried;
  GArray *owned; /* private */
};

void fab_dag_free (FabDag *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDag, fab_dag_free)

typedef struct _FabDagBuilder FabDagBuilder;

FabDagBuilder *fab_dag_builder_new (void);
void fab_dag_builder_free (FabDagBuilder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDagBuilder, fab_dag_builder_free)

/* `name` says what its ranks are ("stage 3"); it is copied. */
guint fab_dag_builder_class (FabDagBuilder *self, const char *name, guint first_rank, guint n_ranks);
/* `name` is static. */
guint fab_dag_builder_stream (FabDagBuilder *self, guint rank_class, const char *name);

/* Takes `name`. */
FabTaskId fab_dag_builder_work (FabDagBuilder *self, guint stream, FabSpanKind kind, FabTimePs duration_ps,
                                char *name);
/* A collective, and a rank class joining it on a stream. Takes `name`. */
guint fab_dag_builder_collective (FabDagBuilder *self, const FabCollectivePlan *plan, FabDimension dimension,
                                  char *name);
FabTaskId fab_dag_builder_join (FabDagBuilder *self, guint stream, guint collective);

/* The task added last to a stream that has one. */
FabTaskId fab_dag_builder_last (const FabDagBuilder *self, guint stream);

void fab_dag_builder_after (FabDagBuilder *self, FabTaskId task, FabTaskId before);
void fab_dag_builder_after_previous (FabDagBuilder *self, FabTaskId task, FabTaskId before);

/* What the plans of its collectives point into, freed with the DAG. */
void fab_dag_builder_own (FabDagBuilder *self, gpointer data, GDestroyNotify free_fn);

/* Asserts that there are tasks, no cycles, and that every collective is joined. */
FabDag *fab_dag_builder_freeze (FabDagBuilder *self);
