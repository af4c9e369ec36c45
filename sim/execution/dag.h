/* SPDX-License-Identifier: Apache-2.0 */
/* dag.h - one iteration of a job as tasks on streams.
 *
 * A stream runs its tasks one after another in the order in which they were added, as a CUDA stream does. A task
 * starts when the previous task on its stream and all tasks for which it must wait are done. `after_previous` makes a
 * task wait for one of the previous iteration; the first task of a stream always waits for the stream's last task of
 * the previous iteration.
 *
 * Ranks that do the same form one rank class. One task of every participating class joins a collective; the
 * collective starts when the last of them has arrived. A frozen DAG is read-only: any thread may read it.
 */
#pragma once

#include "sim/collective/collective.h"
#include "sim/result/record.h"

typedef guint32 FabTaskId;

typedef struct {
  guint stream;
  FabSpanKind kind;
  char *name;
  FabTimePs duration_ps; /* of work; unused for a collective */
  gint32 collective;     /* index, or -1 */
  guint n_times;         /* it stands for so many alike, which do nothing else between them; 1: for itself */
} FabTask;

/* Of work, of all that the task stands for. */
static inline FabTimePs
fab_task_ps (const FabTask *task)
{
  return task->duration_ps * task->n_times;
}

typedef struct {
  guint rank_class;
  const char *name; /* "compute" */
} FabDagStream;

/* The purpose of a collective: the dimension of parallelism whose ranks communicate. */
typedef enum {
  FAB_DIMENSION_DATA,     /* gradients and parameters of data-parallel ranks */
  FAB_DIMENSION_TENSOR,   /* activations inside layers, also for sequence parallelism */
  FAB_DIMENSION_CONTEXT,  /* keys and values */
  FAB_DIMENSION_EXPERT,   /* tokens to experts and back */
  FAB_DIMENSION_PIPELINE, /* activations between stages */
  FAB_DIMENSION_OFFLOAD,  /* states to host memory or drives, and back */
  FAB_DIMENSION_OTHER,
  FAB_N_DIMENSIONS,
} FabDimension;

extern const char *const fab_dimension_names[FAB_N_DIMENSIONS + 1]; /* "data", ...; NULL-ended */
/* Returns what is communicated along the dimension of this name: "data-parallel communication" of "data". */
const char *fab_dimension_say (const char *name);

typedef struct {
  char *name;
  FabDimension dimension;
  FabCollectivePlan plan;
  guint n_joins;
} FabDagCollective;

typedef struct _FabDag FabDag;

/* A frozen DAG, read-only. It owns its arrays. */
struct _FabDag {
  guint n_tasks, n_streams, n_collectives, n_classes;
  FabTask *tasks;
  FabDagStream *streams;
  FabDagCollective *collectives;
  FabRankClassRecord *classes;
  guint *
      join_starts; /* [n_collectives + 1] into join_classes: the classes that take part, each once, ascending */
  guint *join_classes;
  guint *n_waits;     /* [n_tasks] number of tasks of the same iteration for which it waits */
  guint *n_carried;   /* [n_tasks] number of tasks of the previous iteration for which it waits */
  guint *next_starts; /* [n_tasks + 1] into next: tasks of the same iteration that wait for it */
  FabTaskId *next;
  guint *carried_starts; /* [n_tasks + 1] into carried: tasks of the next iteration that wait for it */
  FabTaskId *carried;
  GArray *owned; /* private */
};

void fab_dag_free (FabDag *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDag, fab_dag_free)

typedef struct _FabDagBuilder FabDagBuilder;

FabDagBuilder *fab_dag_builder_new (void);
void fab_dag_builder_free (FabDagBuilder *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabDagBuilder, fab_dag_builder_free)

/* `name` describes the ranks of the class ("stage 3"); it is copied. */
guint fab_dag_builder_class (FabDagBuilder *self, const char *name, guint first_rank, guint n_ranks);
/* `name` must be a static string. */
guint fab_dag_builder_stream (FabDagBuilder *self, guint rank_class, const char *name);

/* Adds work to a stream. It takes ownership of `name`. */
FabTaskId fab_dag_builder_work (FabDagBuilder *self, guint stream, FabSpanKind kind, FabTimePs duration_ps,
                                char *name);
/* The first adds a collective and takes ownership of `name`; the second makes a rank class join it on a stream. */
guint fab_dag_builder_collective (FabDagBuilder *self, const FabCollectivePlan *plan, FabDimension dimension,
                                  char *name);
FabTaskId fab_dag_builder_join (FabDagBuilder *self, guint stream, guint collective);

/* Returns the task added last to a stream, which must have one. */
FabTaskId fab_dag_builder_last (const FabDagBuilder *self, guint stream);

void fab_dag_builder_after (FabDagBuilder *self, FabTaskId task, FabTaskId before);
void fab_dag_builder_after_previous (FabDagBuilder *self, FabTaskId task, FabTaskId before);

/* What was added so far. */
typedef struct {
  guint n_tasks, n_edges, n_carried, n_collectives, n_streams;
} FabDagMark;

FabDagMark fab_dag_builder_mark (const FabDagBuilder *self);

/* Makes what was added since `second` stand for `n` times the same: each of its tasks takes n times as long, and ends
 * when the last of the n would end. FALSE: nothing was done, as this is not the same as what was added from `first` to
 * `second`, or is more than work on one stream, of which each waits for the one before and for nothing else. */
gboolean fab_dag_builder_repeat (FabDagBuilder *self, const FabDagMark *first, const FabDagMark *second,
                                 guint n);

/* Hands over data to which the plans of the collectives point. It is freed with the DAG. */
void fab_dag_builder_own (FabDagBuilder *self, gpointer data, GDestroyNotify free_fn);

/* Asserts that there are tasks, that they form no cycle, and that every collective is joined. (transfer full) */
FabDag *fab_dag_builder_freeze (FabDagBuilder *self);
