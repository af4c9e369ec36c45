/* SPDX-License-Identifier: Apache-2.0 */
/* prop_kernels.c - kernels that collectives slow down, against a count of free multiprocessors ps by ps.
 *
 * A kernel of d ps on n multiprocessors is done at the first ps by which n x d of them were free for it, added up
 * since its start. The count knows only when collectives moved bytes and who took part.
 */
#include "tests/support/test.h"

#include "tests/support/played_job.h"
#include "tests/support/seeds.h"

enum { MOST_SMS = 40 };

typedef struct {
  PlayedJob *job;
  guint n_sms;
  FabTimePs end_ps;
  guint *n_free; /* per ps of the run, of one class */
} Count;

/* Channels of the collectives that move bytes; a class that joins one on two streams gives its channels once. */
static void
take_collective (Count *count, guint iteration, guint rank_class, guint collective)
{
  const FabDag *dag = count->job->made->dag;
  const FabCollectivePlan *plan = &dag->collectives[collective].plan;

  for (FabTaskId t = 0; t < dag->n_tasks && plan->footprint; t++) {
    const PlayedTask *run = &count->job->runs[iteration][t];

    if (dag->tasks[t].collective != (gint32) collective
        || dag->streams[dag->tasks[t].stream].rank_class != rank_class)
      continue;
    for (FabTimePs ps = run->start_ps; ps < run->end_ps; ps++)
      count->n_free[ps] -= MIN (plan->n_channels, count->n_free[ps]);
    return;
  }
}

static void
count_free (Count *count, guint rank_class)
{
  for (FabTimePs ps = 0; ps <= count->end_ps; ps++)
    count->n_free[ps] = count->n_sms;
  for (guint i = 0; i < PLAYED_ITERATIONS; i++)
    for (guint c = 0; c < count->job->made->dag->n_collectives; c++)
      take_collective (count, i, rank_class, c);
}

static void
assert_kernel (const Count *count, const PlayedTask *run, FabTimePs duration_ps)
{
  guint64 wanted = (guint64) duration_ps * count->n_sms, done = 0;
  FabTimePs ps = run->start_ps;

  while (done < wanted)
    done += count->n_free[ps++];
  assert_int_equal (run->end_ps, ps);
}

/* Half a multiple of what the DAG says, per class and iteration. */
static double
slowness (gpointer owner, guint rank_class, guint iteration)
{
  const guint *factors = owner;

  return 0.5 * (1 + (factors[rank_class] + iteration) % 5);
}

static FabTimePs
expected_ps (const FabTask *task, guint *factors, guint rank_class, guint iteration)
{
  guint halves = 1 + (factors[rank_class] + iteration) % 5;

  return (task->duration_ps * halves + 1) / 2;
}

static void
check_kernels (Random *random)
{
  g_autoptr (PlayedJob) job = played_job_new (random, random_chance (random, 20));
  const FabDag *dag = job->made->dag;
  guint factors[MOST_CLASSES] = { random_below (random, 5), random_below (random, 5), 1 };
  Count count = { .job = job, .n_sms = random_between (random, 1, MOST_SMS) };

  count.end_ps = played_job_play (job, &(PlayedHow){ .ops = random_chance (random, 50) ? &fab_net_fluid
                                                                                       : &fab_net_analytic,
                                                     .n_sms = count.n_sms,
                                                     .slowness = slowness,
                                                     .owner = factors });
  g_autofree guint *n_free = count.n_free = g_new (guint, count.end_ps + 1);
  for (guint c = 0; c < dag->n_classes; c++) {
    count_free (&count, c);
    for (guint i = 0; i < PLAYED_ITERATIONS; i++)
      for (FabTaskId t = 0; t < dag->n_tasks; t++)
        if (dag->streams[dag->tasks[t].stream].rank_class == c && dag->tasks[t].kind == FAB_SPAN_COMPUTE)
          assert_kernel (&count, &job->runs[i][t], expected_ps (&dag->tasks[t], factors, c, i));
  }
}

static void
kernels_end_when_enough_multiprocessors_were_free (G_GNUC_UNUSED void **state)
{
  seeds_run (1000, check_kernels);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (kernels_end_when_enough_multiprocessors_were_free) };

  return cmocka_run_group_tests_name ("kernels", tests, NULL, NULL);
}
