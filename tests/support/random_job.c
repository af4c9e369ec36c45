/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/random_job.h"

static void
note_task (RandomJob *self, guint stream, FabTaskId task, gint64 collective)
{
  Edge edge = { task, (FabTaskId) self->lasts[stream] };

  if (self->lasts[stream] >= 0)
    g_array_append_val (self->edges, edge);
  else
    self->firsts[stream] = task;
  self->lasts[stream] = task;
  self->n_tasks = task + 1;
  self->collectives[task] = collective;
}

static void
add_work (RandomJob *self)
{
  guint stream = random_below (self->random, self->n_streams);
  FabSpanKind kind = random_chance (self->random, 80) ? FAB_SPAN_COMPUTE : FAB_SPAN_LOAD;
  FabTaskId task = fab_dag_builder_work (self->builder, stream, kind, random_below (self->random, 40),
                                         g_strdup_printf ("t%u", self->n_tasks));

  note_task (self, stream, task, -1);
}

/* Some of the classes, each on a random stream of its own; sometimes of one rank, so without bytes. */
static void
add_collective (RandomJob *self)
{
  FabCollectivePlan plan = rig_plan (self->rig, (FabOp) random_below (self->random, FAB_N_OPS),
                                     random_between (self->random, 1, 50));
  guint per_class = self->n_streams / self->n_classes;
  guint collective, first = random_below (self->random, self->n_classes);

  plan.n_channels = random_between (self->random, 1, 8);
  if (random_chance (self->random, 10))
    plan.footprint = NULL;
  collective = fab_dag_builder_collective (self->builder, &plan,
                                           (FabDimension) random_below (self->random, FAB_N_DIMENSIONS),
                                           g_strdup_printf ("c%u", self->n_tasks));
  for (guint c = first; c < self->n_classes; c++) {
    guint stream = c * per_class + random_below (self->random, per_class);

    if (c == first || random_chance (self->random, 70))
      note_task (self, stream, fab_dag_builder_join (self->builder, stream, collective), collective);
  }
}

static void
add_edge (RandomJob *self, FabTaskId task, FabTaskId before)
{
  Edge edge = { task, before };

  fab_dag_builder_after (self->builder, task, before);
  g_array_append_val (self->edges, edge);
}

static void
add_carried (RandomJob *self, FabTaskId task, FabTaskId before)
{
  Edge edge = { task, before };

  fab_dag_builder_after_previous (self->builder, task, before);
  g_array_append_val (self->carried, edge);
}

/* From earlier to later tasks, so that there is no cycle; nor from a collective to itself, which is one as well. */
static void
add_edges (RandomJob *self)
{
  for (guint i = random_below (self->random, 2 * self->n_tasks); i-- > 0;) {
    FabTaskId task = random_below (self->random, self->n_tasks),
              before = random_below (self->random, self->n_tasks);

    if (random_chance (self->random, 20))
      add_carried (self, task, before);
    else if (before < task
             && (self->collectives[task] < 0 || self->collectives[task] != self->collectives[before]))
      add_edge (self, task, before);
  }
}

/* One task that waits for all, and for which all wait in the next iteration: nothing runs over an end. */
static void
add_barrier (RandomJob *self)
{
  FabTaskId task = fab_dag_builder_work (self->builder, 0, FAB_SPAN_LOAD, 1, g_strdup ("barrier"));

  note_task (self, 0, task, -1);
  for (FabTaskId t = 0; t < task; t++) {
    add_edge (self, task, t);
    add_carried (self, t, task);
  }
}

RandomJob *
random_job_new (Random *random, gboolean has_barrier)
{
  RandomJob *self = g_new0 (RandomJob, 1);
  guint per_class = random_between (random, 1, MOST_STREAMS / MOST_CLASSES);

  self->random = random;
  self->rig = rig_new_flat (6);
  self->builder = fab_dag_builder_new ();
  self->edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  self->carried = g_array_new (FALSE, FALSE, sizeof (Edge));
  self->n_classes = random_between (random, 1, MOST_CLASSES);
  self->n_streams = self->n_classes * per_class;
  for (guint c = 0; c < self->n_classes; c++) {
    guint rank_class = fab_dag_builder_class (self->builder, "all", c, random_between (random, 1, 3));

    for (guint s = 0; s < per_class; s++)
      fab_dag_builder_stream (self->builder, rank_class, "s");
  }
  for (guint s = 0; s < self->n_streams; s++)
    self->lasts[s] = self->firsts[s] = -1;
  add_work (self);
  for (guint target = random_below (random, MOST_TASKS - MOST_CLASSES); self->n_tasks < target;) {
    if (random_chance (random, 30))
      add_collective (self);
    else
      add_work (self);
  }
  add_edges (self);
  if (has_barrier)
    add_barrier (self);
  for (guint s = 0; s < self->n_streams; s++) {
    Edge edge = { (FabTaskId) self->firsts[s], (FabTaskId) self->lasts[s] };

    if (self->firsts[s] >= 0)
      g_array_append_val (self->carried, edge);
  }
  self->dag = fab_dag_builder_freeze (self->builder);
  return self;
}

void
random_job_free (RandomJob *self)
{
  if (self == NULL)
    return;
  fab_dag_free (self->dag);
  fab_dag_builder_free (self->builder);
  rig_free (self->rig);
  g_array_unref (self->edges);
  g_array_unref (self->carried);
  g_free (self);
}
