/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/dag.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/order.h"

/* `task` waits for `before`, a task of this iteration or of the previous one. */
typedef struct {
  FabTaskId task, before;
} Edge;

const char *const fab_dimension_names[FAB_N_DIMENSIONS + 1] = {
  [FAB_DIMENSION_DATA] = "data",         [FAB_DIMENSION_TENSOR] = "tensor",
  [FAB_DIMENSION_CONTEXT] = "context",   [FAB_DIMENSION_EXPERT] = "expert",
  [FAB_DIMENSION_PIPELINE] = "pipeline", [FAB_DIMENSION_OFFLOAD] = "offload",
  [FAB_DIMENSION_OTHER] = "other",
};

static const char *const dimension_words[FAB_N_DIMENSIONS] = {
  [FAB_DIMENSION_DATA] = "data-parallel communication",
  [FAB_DIMENSION_TENSOR] = "tensor-parallel communication",
  [FAB_DIMENSION_CONTEXT] = "context-parallel communication",
  [FAB_DIMENSION_EXPERT] = "expert-parallel communication",
  [FAB_DIMENSION_PIPELINE] = "pipeline-parallel communication",
  [FAB_DIMENSION_OFFLOAD] = "offloading",
  [FAB_DIMENSION_OTHER] = "other communication",
};

const char *
fab_dimension_say (const char *name)
{
  for (guint i = 0; i < FAB_N_DIMENSIONS; i++)
    if (strcmp (fab_dimension_names[i], name) == 0)
      return dimension_words[i];
  return name;
}

typedef struct {
  gpointer data;
  GDestroyNotify free_fn;
} Owned;

static void
owned_clear (gpointer data)
{
  ((Owned *) data)->free_fn (((Owned *) data)->data);
}

struct _FabDagBuilder {
  GArray *tasks;       /* FabTask */
  GArray *streams;     /* FabDagStream */
  GArray *collectives; /* FabDagCollective */
  GArray *classes;     /* FabRankClassRecord */
  GArray *edges;       /* Edge, this iteration */
  GArray *carried;     /* Edge, across iterations */
  GArray *firsts;      /* gint64 per stream: first task, -1: none yet */
  GArray *lasts;       /* gint64 per stream */
  GArray *owned;       /* Owned */
};

FabDagBuilder *
fab_dag_builder_new (void)
{
  FabDagBuilder *self = g_new0 (FabDagBuilder, 1);

  self->tasks = g_array_new (FALSE, FALSE, sizeof (FabTask));
  self->streams = g_array_new (FALSE, FALSE, sizeof (FabDagStream));
  self->collectives = g_array_new (FALSE, FALSE, sizeof (FabDagCollective));
  self->classes = g_array_new (FALSE, FALSE, sizeof (FabRankClassRecord));
  self->edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  self->carried = g_array_new (FALSE, FALSE, sizeof (Edge));
  self->firsts = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->lasts = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->owned = g_array_new (FALSE, FALSE, sizeof (Owned));
  g_array_set_clear_func (self->owned, owned_clear);
  return self;
}

void
fab_dag_builder_free (FabDagBuilder *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; self->tasks && i < self->tasks->len; i++)
    g_free (g_array_index (self->tasks, FabTask, i).name);
  for (guint i = 0; self->collectives && i < self->collectives->len; i++)
    g_free (g_array_index (self->collectives, FabDagCollective, i).name);
  for (guint i = 0; self->classes && i < self->classes->len; i++)
    g_free ((char *) g_array_index (self->classes, FabRankClassRecord, i).name);
  g_clear_pointer (&self->tasks, g_array_unref);
  g_clear_pointer (&self->streams, g_array_unref);
  g_clear_pointer (&self->collectives, g_array_unref);
  g_clear_pointer (&self->classes, g_array_unref);
  g_array_unref (self->edges);
  g_array_unref (self->carried);
  g_array_unref (self->firsts);
  g_array_unref (self->lasts);
  g_clear_pointer (&self->owned, g_array_unref);
  g_free (self);
}

guint
fab_dag_builder_class (FabDagBuilder *self, const char *name, guint first_rank, guint n_ranks)
{
  FabRankClassRecord record = { self->classes->len, first_rank, n_ranks, g_strdup (name) };

  g_assert (n_ranks > 0);
  g_array_append_val (self->classes, record);
  return self->classes->len - 1;
}

guint
fab_dag_builder_stream (FabDagBuilder *self, guint rank_class, const char *name)
{
  FabDagStream stream = { rank_class, name };
  gint64 none = -1;

  g_assert (rank_class < self->classes->len);
  g_array_append_val (self->streams, stream);
  g_array_append_val (self->firsts, none);
  g_array_append_val (self->lasts, none);
  return self->streams->len - 1;
}

static FabTaskId
add_task (FabDagBuilder *self, FabTask task)
{
  FabTaskId id = self->tasks->len;
  gint64 *first = &g_array_index (self->firsts, gint64, task.stream);
  gint64 *last = &g_array_index (self->lasts, gint64, task.stream);

  g_assert (task.stream < self->streams->len && task.duration_ps >= 0);
  g_array_append_val (self->tasks, task);
  if (*last >= 0)
    fab_dag_builder_after (self, id, (FabTaskId) *last);
  else
    *first = id;
  *last = id;
  return id;
}

FabTaskId
fab_dag_builder_work (FabDagBuilder *self, guint stream, FabSpanKind kind, FabTimePs duration_ps, char *name)
{
  return add_task (self, (FabTask){ stream, kind, name, duration_ps, -1, 1 });
}

guint
fab_dag_builder_collective (FabDagBuilder *self, const FabCollectivePlan *plan, FabDimension dimension,
                            char *name)
{
  FabDagCollective collective = { name, dimension, *plan, 0 };

  g_array_append_val (self->collectives, collective);
  return self->collectives->len - 1;
}

FabTaskId
fab_dag_builder_join (FabDagBuilder *self, guint stream, guint collective)
{
  FabDagCollective *joined = &g_array_index (self->collectives, FabDagCollective, collective);
  char *name = g_strconcat (fab_op_names[joined->plan.op], " ", joined->name, NULL);

  joined->n_joins++;
  return add_task (self, (FabTask){ stream, FAB_SPAN_COMM, name, 0, (gint32) collective, 1 });
}

FabTaskId
fab_dag_builder_last (const FabDagBuilder *self, guint stream)
{
  gint64 last = g_array_index (self->lasts, gint64, stream);

  g_assert (last >= 0);
  return (FabTaskId) last;
}

void
fab_dag_builder_after (FabDagBuilder *self, FabTaskId task, FabTaskId before)
{
  Edge edge = { task, before };

  g_assert (task < self->tasks->len && before < self->tasks->len && task != before);
  g_array_append_val (self->edges, edge);
}

void
fab_dag_builder_after_previous (FabDagBuilder *self, FabTaskId task, FabTaskId before)
{
  Edge edge = { task, before };

  g_assert (task < self->tasks->len && before < self->tasks->len);
  g_array_append_val (self->carried, edge);
}

FabDagMark
fab_dag_builder_mark (const FabDagBuilder *self)
{
  return (FabDagMark){ self->tasks->len, self->edges->len, self->carried->len, self->collectives->len,
                       self->streams->len };
}

/* Each task waits for the one before on its stream, so that as many edges as tasks are no others. */
static gboolean
is_work_alone (const FabDagBuilder *self, const FabDagMark *from)
{
  const FabTask *tasks = &g_array_index (self->tasks, FabTask, 0);

  for (guint i = from->n_tasks; i < self->tasks->len; i++)
    if (tasks[i].collective >= 0 || tasks[i].stream != tasks[from->n_tasks].stream)
      return FALSE;
  return self->tasks->len > from->n_tasks
      && self->edges->len - from->n_edges == self->tasks->len - from->n_tasks
      && self->carried->len == from->n_carried && self->collectives->len == from->n_collectives
      && self->streams->len == from->n_streams;
}

gboolean
fab_dag_builder_repeat (FabDagBuilder *self, const FabDagMark *first, const FabDagMark *second, guint n)
{
  FabTask *tasks = &g_array_index (self->tasks, FabTask, 0);
  guint n_tasks = self->tasks->len - second->n_tasks;

  if (!is_work_alone (self, second) || second->n_tasks - first->n_tasks != n_tasks)
    return FALSE;
  for (guint i = 0; i < n_tasks; i++) {
    const FabTask *a = &tasks[first->n_tasks + i], *b = &tasks[second->n_tasks + i];

    if (a->stream != b->stream || a->kind != b->kind || a->collective >= 0 || a->duration_ps != b->duration_ps
        || !g_str_equal (a->name, b->name))
      return FALSE;
  }
  for (guint i = 0; i < n_tasks; i++)
    tasks[second->n_tasks + i].n_times = n;
  return TRUE;
}

void
fab_dag_builder_own (FabDagBuilder *self, gpointer data, GDestroyNotify free_fn)
{
  Owned owned = { data, free_fn };

  g_array_append_val (self->owned, owned);
}

/* Groups the edges by the task for which others wait. */
static void
index_edges (const GArray *edges, guint n_tasks, guint **n_waits, guint **starts, FabTaskId **next)
{
  *n_waits = g_new0 (guint, n_tasks);
  *starts = g_new0 (guint, n_tasks + 1);
  *next = g_new (FabTaskId, edges->len + 1);
  g_autofree guint *fill = g_new (guint, n_tasks);

  for (guint i = 0; i < edges->len; i++) {
    (*n_waits)[g_array_index (edges, Edge, i).task]++;
    (*starts)[g_array_index (edges, Edge, i).before + 1]++;
  }
  for (guint t = 0; t < n_tasks; t++) {
    (*starts)[t + 1] += (*starts)[t];
    fill[t] = (*starts)[t];
  }
  for (guint i = 0; i < edges->len; i++)
    (*next)[fill[g_array_index (edges, Edge, i).before]++] = g_array_index (edges, Edge, i).task;
}

/* Sorts `n` numbers, at least one, and removes duplicates; returns how many are left. */
static guint
keep_distinct (guint *numbers, guint n)
{
  guint n_kept = 1;

  qsort (numbers, n, sizeof (guint), fab_order_guints);
  for (guint i = 1; i < n; i++)
    if (numbers[n_kept - 1] != numbers[i])
      numbers[n_kept++] = numbers[i];
  return n_kept;
}

static void
index_joins (FabDag *dag)
{
  guint n_kept = 0;

  dag->join_starts = g_new0 (guint, dag->n_collectives + 1);
  for (guint c = 0; c < dag->n_collectives; c++)
    dag->join_starts[c + 1] = dag->join_starts[c] + dag->collectives[c].n_joins;
  dag->join_classes = g_new (guint, dag->join_starts[dag->n_collectives] + 1);
  g_autofree guint *fill = g_memdup2 (dag->join_starts, (dag->n_collectives + 1) * sizeof *fill);
  for (guint t = 0; t < dag->n_tasks; t++)
    if (dag->tasks[t].collective >= 0)
      dag->join_classes[fill[dag->tasks[t].collective]++] = dag->streams[dag->tasks[t].stream].rank_class;
  for (guint c = 0; c < dag->n_collectives; c++) {
    guint first = dag->join_starts[c];
    guint n = keep_distinct (dag->join_classes + first, dag->join_starts[c + 1] - first);

    memmove (dag->join_classes + n_kept, dag->join_classes + first, n * sizeof (guint));
    dag->join_starts[c] = n_kept;
    n_kept += n;
  }
  dag->join_starts[dag->n_collectives] = n_kept;
}

/* Kahn's algorithm reaches every task exactly when there is no cycle. */
static void
assert_acyclic (const FabDag *dag)
{
  g_autofree guint *n_waits = g_memdup2 (dag->n_waits, sizeof (guint) * dag->n_tasks);
  g_autofree FabTaskId *queue = g_new (FabTaskId, dag->n_tasks);
  guint head = 0, tail = 0;

  for (guint t = 0; t < dag->n_tasks; t++)
    if (n_waits[t] == 0)
      queue[tail++] = t;
  while (head < tail) {
    FabTaskId task = queue[head++];

    for (guint i = dag->next_starts[task]; i < dag->next_starts[task + 1]; i++)
      if (--n_waits[dag->next[i]] == 0)
        queue[tail++] = dag->next[i];
  }
  g_assert_cmpuint (tail, ==, dag->n_tasks);
}

FabDag *
fab_dag_builder_freeze (FabDagBuilder *self)
{
  FabDag *dag = g_new0 (FabDag, 1);

  g_assert (self->tasks->len > 0);
  for (guint i = 0; i < self->collectives->len; i++)
    g_assert (g_array_index (self->collectives, FabDagCollective, i).n_joins > 0);
  for (guint s = 0; s < self->streams->len; s++)
    if (g_array_index (self->firsts, gint64, s) >= 0)
      fab_dag_builder_after_previous (self, (FabTaskId) g_array_index (self->firsts, gint64, s),
                                      (FabTaskId) g_array_index (self->lasts, gint64, s));
  dag->n_tasks = self->tasks->len;
  dag->n_streams = self->streams->len;
  dag->n_collectives = self->collectives->len;
  dag->n_classes = self->classes->len;
  index_edges (self->edges, dag->n_tasks, &dag->n_waits, &dag->next_starts, &dag->next);
  index_edges (self->carried, dag->n_tasks, &dag->n_carried, &dag->carried_starts, &dag->carried);
  dag->tasks = (FabTask *) g_array_free (g_steal_pointer (&self->tasks), FALSE);
  dag->streams = (FabDagStream *) g_array_free (g_steal_pointer (&self->streams), FALSE);
  dag->collectives = (FabDagCollective *) g_array_free (g_steal_pointer (&self->collectives), FALSE);
  dag->classes = (FabRankClassRecord *) g_array_free (g_steal_pointer (&self->classes), FALSE);
  dag->owned = g_steal_pointer (&self->owned);
  index_joins (dag);
  assert_acyclic (dag);
  return dag;
}

void
fab_dag_free (FabDag *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n_tasks; i++)
    g_free (self->tasks[i].name);
  for (guint i = 0; i < self->n_collectives; i++)
    g_free (self->collectives[i].name);
  for (guint i = 0; i < self->n_classes; i++)
    g_free ((char *) self->classes[i].name);
  g_free (self->tasks);
  g_free (self->streams);
  g_free (self->collectives);
  g_free (self->classes);
  g_free (self->join_starts);
  g_free (self->join_classes);
  g_free (self->n_waits);
  g_free (self->n_carried);
  g_free (self->next_starts);
  g_free (self->next);
  g_free (self->carried_starts);
  g_free (self->carried);
  g_array_unref (self->owned);
  g_free (self);
}
