/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/test.h"

#include "tests/support/played_job.h"

#include <string.h>

PlayedJob *
played_job_new (Random *random, gboolean has_barrier)
{
  PlayedJob *self = g_new0 (PlayedJob, 1);

  self->made = random_job_new (random, has_barrier);
  return self;
}

void
played_job_free (PlayedJob *self)
{
  random_job_free (self->made);
  g_free (self);
}

static FabTaskId
task_of_span (const PlayedJob *self, const FabSpanRecord *span)
{
  for (FabTaskId t = 0; t < self->made->n_tasks; t++)
    if (self->made->dag->tasks[t].name == span->name)
      return t;
  g_assert_not_reached ();
}

static void
note_span (PlayedJob *self, const FabSpanRecord *span)
{
  const FabDag *dag = self->made->dag;
  FabTaskId task = task_of_span (self, span);
  PlayedTask *run = &self->runs[span->iteration][task];

  assert_int_equal (span->rank_class, dag->streams[dag->tasks[task].stream].rank_class);
  assert_true (span->iteration < PLAYED_ITERATIONS && span->start_ps <= span->end_ps);
  if (span->kind == FAB_SPAN_WAIT) {
    run->arrive_ps = span->start_ps;
    run->start_ps = span->end_ps;
    return;
  }
  if (run->arrive_ps < 0)
    run->arrive_ps = span->start_ps;
  run->start_ps = span->start_ps;
  run->end_ps = span->end_ps;
  run->n_seen++;
}

FabTimePs
played_job_play (PlayedJob *self, const PlayedHow *how)
{
  RigNet net = rig_net (self->made->rig, how->ops);
  g_autoptr (FabExecutor) executor = fab_executor_new (&(FabExecutorEnv){
      .engine = net.engine,
      .net = net.net,
      .dag = self->made->dag,
      .n_iterations = PLAYED_ITERATIONS,
      .n_sms = how->n_sms,
      .slowness = how->slowness,
      .slowness_owner = how->owner,
  });
  FabTimePs end_ps = 0;

  memset (self->runs, 0, sizeof self->runs);
  for (guint i = 0; i < PLAYED_ITERATIONS; i++)
    for (FabTaskId t = 0; t < self->made->n_tasks; t++)
      self->runs[i][t].arrive_ps = -1;
  for (guint i = 0; fab_executor_run_iteration (executor); i++) {
    const FabProbe *probe = fab_executor_probe (executor);

    assert_int_equal (probe->iterations->len, self->made->n_classes);
    for (guint c = 0; c < self->made->n_classes; c++)
      self->times[i][c] = g_array_index (probe->iterations, FabIterationRecord, c);
    for (guint s = 0; s < probe->spans->len; s++)
      note_span (self, &g_array_index (probe->spans, FabSpanRecord, s));
    if (how->look)
      how->look (how->owner, probe);
    end_ps = fab_engine_now (net.engine);
  }
  rig_net_clear (&net);
  return end_ps;
}

guint8 *
played_job_paint (const PlayedJob *self, guint rank_class, FabSpanKind kind, FabTimePs end_ps)
{
  const FabDag *dag = self->made->dag;
  guint8 *bits = g_malloc0 ((gsize) end_ps + 1);

  for (guint i = 0; i < PLAYED_ITERATIONS; i++)
    for (FabTaskId t = 0; t < self->made->n_tasks; t++) {
      const PlayedTask *run = &self->runs[i][t];

      if (dag->streams[dag->tasks[t].stream].rank_class != rank_class)
        continue;
      if (kind == FAB_SPAN_WAIT && dag->tasks[t].collective >= 0)
        memset (bits + run->arrive_ps, 1, (gsize) (run->start_ps - run->arrive_ps));
      else if (dag->tasks[t].kind == kind)
        memset (bits + run->start_ps, 1, (gsize) (run->end_ps - run->start_ps));
    }
  return bits;
}
