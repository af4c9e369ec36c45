/* SPDX-License-Identifier: Apache-2.0 */
/* prop_executor.c - random jobs of several rank classes: who ran when, and what the times say.
 *
 * GPUs move 1 byte per ps and everything lasts tens of ps, so that a bitmap of the whole run can count
 * what was computed and communicated.
 */
#include "tests/support/test.h"

#include "tests/support/played_job.h"
#include "tests/support/seeds.h"

/* --- order --- */

/* When all that the task waits for is done. */
static FabTimePs
ready_ps (const PlayedJob *job, guint iteration, FabTaskId task)
{
  FabTimePs ready = 0;

  for (guint i = 0; i < job->made->edges->len; i++) {
    const Edge *edge = &g_array_index (job->made->edges, Edge, i);

    if (edge->task == task)
      ready = MAX (ready, job->runs[iteration][edge->before].end_ps);
  }
  for (guint i = 0; iteration > 0 && i < job->made->carried->len; i++) {
    const Edge *edge = &g_array_index (job->made->carried, Edge, i);

    if (edge->task == task)
      ready = MAX (ready, job->runs[iteration - 1][edge->before].end_ps);
  }
  return ready;
}

static FabTimePs
last_arrival_ps (const PlayedJob *job, guint iteration, gint32 collective)
{
  FabTimePs last = 0;

  for (FabTaskId t = 0; t < job->made->n_tasks; t++)
    if (job->made->dag->tasks[t].collective == collective)
      last = MAX (last, job->runs[iteration][t].arrive_ps);
  return last;
}

/* A task begins the moment it may: only two live iterations hold it back beyond what it waits for. */
static void
assert_task (const PlayedJob *job, guint iteration, FabTaskId task)
{
  const FabTask *t = &job->made->dag->tasks[task];
  const PlayedTask *run = &job->runs[iteration][task];
  FabTimePs may_ps = MAX (ready_ps (job, iteration, task),
                          iteration > 1 ? job->times[iteration - 1][0].start_ps : 0);

  assert_int_equal (run->n_seen, 1);
  assert_int_equal (run->arrive_ps, may_ps);
  if (t->collective < 0) {
    assert_int_equal (run->start_ps, run->arrive_ps);
    assert_int_equal (run->end_ps - run->start_ps, t->duration_ps);
    return;
  }
  assert_int_equal (run->start_ps, last_arrival_ps (job, iteration, t->collective));
  assert_true (run->end_ps - run->start_ps
               >= fab_collective_plan_idle_ps (&job->made->dag->collectives[t->collective].plan));
}

static void
check_order (Random *random)
{
  g_autoptr (PlayedJob) job = played_job_new (random, random_chance (random, 20));
  FabTimePs start_ps = 0, end_ps = played_job_play (job, &(PlayedHow){ .ops = &fab_net_fluid });

  for (guint i = 0; i < PLAYED_ITERATIONS; i++) {
    FabTimePs last_ps = 0;

    for (FabTaskId t = 0; t < job->made->n_tasks; t++) {
      assert_task (job, i, t);
      last_ps = MAX (last_ps, job->runs[i][t].end_ps);
    }
    assert_int_equal (job->times[i][0].start_ps, start_ps);
    assert_int_equal (job->times[i][0].start_ps + job->times[i][0].duration_ps, last_ps);
    start_ps = last_ps;
  }
  assert_int_equal (start_ps, end_ps);
}

static void
tasks_begin_when_what_they_wait_for_is_done (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_order);
}

/* --- times --- */

static void
assert_times (const FabIterationRecord *record, const guint8 *compute, const guint8 *comm,
              const guint8 *waits)
{
  FabTimePs n_compute = 0, n_comm = 0, n_both = 0, n_waiting = 0;

  for (FabTimePs t = record->start_ps; t < record->start_ps + record->duration_ps; t++) {
    n_compute += compute[t];
    n_comm += comm[t];
    n_both += compute[t] & comm[t];
    n_waiting += waits[t] && !compute[t] && !comm[t];
  }
  assert_int_equal (record->compute_ps, n_compute);
  assert_int_equal (record->comm_ps, n_comm);
  assert_int_equal (record->overlapped_ps, n_both);
  assert_int_equal (record->exposed_ps, n_comm - n_both);
  assert_int_equal (record->idle_ps, record->duration_ps - n_compute - n_comm + n_both);
  assert_int_equal (record->waiting_ps, n_waiting);
}

static void
check_times (Random *random)
{
  g_autoptr (PlayedJob) job = played_job_new (random, random_chance (random, 20));
  FabTimePs end_ps = played_job_play (
      job, &(PlayedHow){ .ops = random_chance (random, 50) ? &fab_net_fluid : &fab_net_analytic });

  for (guint c = 0; c < job->made->n_classes; c++) {
    g_autofree guint8 *compute = played_job_paint (job, c, FAB_SPAN_COMPUTE, end_ps);
    g_autofree guint8 *comm = played_job_paint (job, c, FAB_SPAN_COMM, end_ps);
    g_autofree guint8 *waits = played_job_paint (job, c, FAB_SPAN_WAIT, end_ps);

    for (guint i = 0; i < PLAYED_ITERATIONS; i++)
      assert_times (&job->times[i][c], compute, comm, waits);
  }
}

static void
times_are_those_of_a_bitmap (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_times);
}

/* --- steady state --- */

static void
check_steady_state (Random *random)
{
  g_autoptr (PlayedJob) job = played_job_new (random, TRUE);

  played_job_play (job, &(PlayedHow){ .ops = &fab_net_fluid });
  for (guint i = 1; i < PLAYED_ITERATIONS; i++) {
    FabTimePs shift_ps = job->times[i][0].start_ps;

    for (FabTaskId t = 0; t < job->made->n_tasks; t++) {
      assert_int_equal (job->runs[i][t].arrive_ps - shift_ps, job->runs[0][t].arrive_ps);
      assert_int_equal (job->runs[i][t].end_ps - shift_ps, job->runs[0][t].end_ps);
    }
    for (guint c = 0; c < job->made->n_classes; c++) {
      assert_int_equal (job->times[i][c].duration_ps, job->times[0][c].duration_ps);
      assert_int_equal (job->times[i][c].exposed_ps, job->times[0][c].exposed_ps);
    }
  }
}

static void
iterations_that_carry_nothing_over_are_identical (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_steady_state);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (tasks_begin_when_what_they_wait_for_is_done),
    seeds_test (times_are_those_of_a_bitmap),
    seeds_test (iterations_that_carry_nothing_over_are_identical),
  };

  return cmocka_run_group_tests_name ("executor", tests, NULL, NULL);
}
