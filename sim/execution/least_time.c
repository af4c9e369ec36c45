/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/execution/least_time.h"

/* A walk over the tasks in an order in which each comes after those for which it waits. */
typedef struct {
  const FabLeft *left;
  guint *n_waiting;    /* per task */
  FabTimePs *ready_ps; /* per task: when the last one for which it waits is done */
  guint *n_joined;     /* per collective: its tasks that are ready */
  FabTimePs *begin_ps; /* per collective: when the last of them is */
  FabTaskId *joined;   /* per collective: the last of them */
  FabTaskId *before;   /* per task: the one that joined before it */
  FabTaskId *tasks;    /* that are ready, in the order in which they became so */
  guint n_tasks, n_walked;
  FabTimePs last_ps;
} Walk;

static void
walk_init (Walk *self, const FabLeft *left)
{
  const FabDag *dag = left->dag;

  *self = (Walk){ .left = left,
                  .n_waiting = g_memdup2 (left->n_waiting, sizeof (guint) * dag->n_tasks),
                  .ready_ps = g_new0 (FabTimePs, dag->n_tasks),
                  .n_joined = g_new0 (guint, dag->n_collectives),
                  .begin_ps = g_new0 (FabTimePs, dag->n_collectives),
                  .joined = g_new (FabTaskId, dag->n_collectives),
                  .before = g_new (FabTaskId, dag->n_tasks),
                  .tasks = g_new (FabTaskId, dag->n_tasks) };
  for (FabTaskId task = 0; task < dag->n_tasks; task++)
    if (self->n_waiting[task] == 0 && (left->is_done == NULL || !left->is_done[task]))
      self->tasks[self->n_tasks++] = task;
}

static void
walk_clear (Walk *self)
{
  g_free (self->n_waiting);
  g_free (self->ready_ps);
  g_free (self->n_joined);
  g_free (self->begin_ps);
  g_free (self->joined);
  g_free (self->before);
  g_free (self->tasks);
}

static void
end_task (Walk *self, FabTaskId task, FabTimePs end_ps)
{
  const FabDag *dag = self->left->dag;

  self->last_ps = MAX (self->last_ps, end_ps);
  for (guint i = dag->next_starts[task]; i < dag->next_starts[task + 1]; i++) {
    FabTaskId next = dag->next[i];

    self->ready_ps[next] = MAX (self->ready_ps[next], end_ps);
    if (--self->n_waiting[next] == 0)
      self->tasks[self->n_tasks++] = next;
  }
}

/* A collective begins when its last task is ready, and all of them end together. */
static void
join (Walk *self, FabTaskId task)
{
  const FabDag *dag = self->left->dag;
  guint index = (guint) dag->tasks[task].collective, n_joins = dag->collectives[index].n_joins;

  self->begin_ps[index] = MAX (self->begin_ps[index], self->ready_ps[task]);
  self->before[task] = self->joined[index];
  self->joined[index] = task;
  if (++self->n_joined[index] < n_joins)
    return;
  FabTimePs end_ps = self->begin_ps[index] + self->left->collective_ps (self->left->owner, index);
  for (guint i = 0; i < n_joins; i++, task = self->before[task])
    end_task (self, task, end_ps);
}

FabTimePs
fab_least_time_ps (const FabLeft *left)
{
  Walk walk;

  walk_init (&walk, left);
  while (walk.n_walked < walk.n_tasks) {
    FabTaskId task = walk.tasks[walk.n_walked++];
    gboolean is_begun = left->n_waiting[task] == 0 && left->is_done != NULL;

    if (left->dag->tasks[task].collective >= 0)
      join (&walk, task);
    else
      end_task (&walk, task, walk.ready_ps[task] + (is_begun ? 0 : left->work_ps (left->owner, task)));
  }
  walk_clear (&walk);
  return walk.last_ps;
}
