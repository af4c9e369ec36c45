/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_mix.c - many jobs on one machine: the queue against Erlang's formula, sharing by hand, places, and what
 * holds for random mixes. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/base/mix.h"
#include "sim/sharing/job_mix.h"

static const double one[] = { 1 }, none[] = { 0 };
/* A kind that is never slowed. */
static const FabMixKind quiet = { .n_levels = 1,
                                  .n_loads = 1,
                                  .nodes_per_group = one,
                                  .own_load = none,
                                  .duty = none,
                                  .others = none,
                                  .slowdown = one };

/* Two nodes in one group take all of its uplinks; a step is communication alone, so half of the uplinks make it twice
 * as long. */
static const double greedy_levels[] = { 4, 2, 1 }, greedy_load[] = { 1, 1, 1 },
                    greedy_others[] = { 0, 0.5, 0.75 }, greedy_slowdown[] = { 1, 2, 4, 1, 2, 4, 1, 2, 4 };
static const FabMixKind greedy = { .n_levels = 3,
                                   .n_loads = 3,
                                   .nodes_per_group = greedy_levels,
                                   .own_load = greedy_load,
                                   .duty = greedy_load,
                                   .others = greedy_others,
                                   .slowdown = greedy_slowdown };

static double
draw (guint64 *seed)
{
  return ((double) (fab_mix ((*seed)++, 0x5eed) >> 11) + 0.5) / 9007199254740992.0;
}

/* Erlang's C: the mean wait of M/M/c is C / (c mu - lambda). */
static void
waits_are_those_of_erlang (G_GNUC_UNUSED void **state)
{
  enum { N = 200000, C = 8 };
  const double lambda = 6.4, mu = 1; /* 80 % busy */
  const FabMixMachine machine = { 1, (const guint[]){ C } };
  const FabMixRules rules = { .placement = FAB_MIX_PACKED };
  g_autofree FabMixJob *jobs = g_new0 (FabMixJob, N);
  guint64 seed = 1;
  double now_s = 0, wait_s = 0, term = 1, sum = 0;

  for (guint i = 0; i < N; i++) {
    now_s -= log (draw (&seed)) / lambda;
    jobs[i] = (FabMixJob){ .submit_s = now_s, .work_s = -log (draw (&seed)) / mu, .n_nodes = 1 };
  }
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &quiet, jobs, N, &rules, NULL);
  for (guint i = 0; i < N; i++)
    wait_s += (play->outcomes[i].start_s - jobs[i].submit_s) / N;
  for (guint k = 0; k < C; k++) {
    sum += term;
    term *= lambda / mu / (k + 1);
  }
  double tail = term / (1 - lambda / mu / C);
  assert_near (wait_s, tail / (sum + tail) / (C * mu - lambda), 0.03);
}

/* Two jobs of two nodes over two groups share both uplinks: each has half. One of them then goes on alone. */
static void
equals_share_equally (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 2, (const guint[]){ 2, 2 } };
  const FabMixRules rules = { .placement = FAB_MIX_SPREAD };
  const FabMixJob jobs[] = { { .work_s = 10, .n_nodes = 2 }, { .work_s = 30, .n_nodes = 2 } };
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &greedy, jobs, 2, &rules, NULL);

  assert_near (play->outcomes[0].end_s, 20, 1e-3);
  assert_near (play->outcomes[1].end_s, 40, 1e-3); /* 10 s of work in 20 s, 20 s alone */
  assert_near (play->outcomes[1].sharing_lost_s, 10, 1e-3);
  assert_near (play->group_load[0], 1, 1e-3);
  assert_int_equal (play->outcomes[0].n_groups, 2);
}

/* Jobs that take a tenth of the uplinks cost each other next to nothing, or as much as if they took the same ones all
 * the time. */
static void
bursts_meet_or_do_not (G_GNUC_UNUSED void **state)
{
  static const double mean_load[] = { 0.1, 0.1, 0.1 };
  FabMixKind bursty = greedy;
  const FabMixMachine machine = { 2, (const guint[]){ 2, 2 } };
  FabMixRules rules = { .placement = FAB_MIX_SPREAD };
  const FabMixJob jobs[] = { { .work_s = 10, .n_nodes = 2 }, { .work_s = 10, .n_nodes = 2 } };

  bursty.own_load = mean_load;
  g_autoptr (FabMixPlay) apart = fab_mix_play (&machine, &bursty, jobs, 2, &rules, NULL);
  rules.is_crowded = TRUE;
  g_autoptr (FabMixPlay) together = fab_mix_play (&machine, &bursty, jobs, 2, &rules, NULL);

  assert_true (apart->outcomes[0].end_s > 10.1
               && apart->outcomes[0].end_s < 12); /* about 1 + 2 x 0.1 / 1.2 */
  assert_near (together->outcomes[0].end_s, 20, 1e-3);
}

/* The same two, each in a group of its own, do not notice each other. */
static void
packed_jobs_are_alone (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 2, (const guint[]){ 2, 2 } };
  const FabMixRules rules = { .placement = FAB_MIX_PACKED };
  const FabMixJob jobs[] = { { .work_s = 10, .n_nodes = 2 }, { .work_s = 30, .n_nodes = 2 } };
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &greedy, jobs, 2, &rules, NULL);

  assert_near (play->outcomes[0].end_s, 10, 1e-9);
  assert_near (play->outcomes[1].end_s, 30, 1e-9);
  assert_near (play->group_load[0] + play->group_load[1], 0, 1e-12);
}

/* 3 of 4 nodes are busy until 10. The first that waits needs all; a job of 10 s fits in front of it, one of 11 s does
 * not. */
static void
backfill_keeps_the_reservation (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 1, (const guint[]){ 4 } };
  FabMixRules rules = { .placement = FAB_MIX_PACKED };
  const FabMixJob jobs[] = { { .work_s = 10, .n_nodes = 3 },
                             { .work_s = 5, .n_nodes = 4 },
                             { .work_s = 11, .n_nodes = 1 },
                             { .work_s = 10, .n_nodes = 1 } };
  g_autoptr (FabMixPlay) strict = fab_mix_play (&machine, &quiet, jobs, 4, &rules, NULL);
  rules.has_backfill = TRUE;
  g_autoptr (FabMixPlay) filled = fab_mix_play (&machine, &quiet, jobs, 4, &rules, NULL);

  assert_near (strict->outcomes[3].start_s, 15, 1e-9);
  assert_near (filled->outcomes[3].start_s, 0, 1e-9);
  assert_near (filled->outcomes[2].start_s, 15, 1e-9);
  assert_near (filled->outcomes[1].start_s, strict->outcomes[1].start_s, 1e-9);
}

static void
orders (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 1, (const guint[]){ 1 } };
  const FabMixJob jobs[] = { { .work_s = 1, .n_nodes = 1 },
                             { .work_s = 3, .n_nodes = 1 },
                             { .work_s = 2, .n_nodes = 1 },
                             { .work_s = 4, .n_nodes = 1, .priority = 1 } };
  const double starts[][4] = {
    [FAB_MIX_FIFO] = { 0, 1, 4, 6 }, [FAB_MIX_PRIORITY] = { 4, 5, 8, 0 }, [FAB_MIX_SHORTEST] = { 0, 3, 1, 6 }
  };

  for (guint o = 0; o < FAB_N_MIX_ORDERS; o++) {
    const FabMixRules rules = { .order = (FabMixOrder) o };
    g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &quiet, jobs, 4, &rules, NULL);

    for (guint i = 0; i < 4; i++)
      assert_near (play->outcomes[i].start_s, starts[o][i], 1e-9);
  }
}

static void
tables_are_read_between_their_points (G_GNUC_UNUSED void **state)
{
  assert_near (fab_mix_slowdown (&greedy, 2, 0.25), 1.5, 1e-12);
  assert_near (fab_mix_slowdown (&greedy, 3, 0.625), 3, 1e-12);
  assert_near (fab_mix_slowdown (&greedy, 100, 0.9), 4, 1e-12);
  assert_near (fab_mix_slowdown (&greedy, 0.1, 0), 1, 1e-12);
  assert_near (fab_mix_load (&greedy, greedy_load, 1.5), 1, 1e-12);
}

/* Of a random mix: nobody loses time, nobody starts early, and at no time are more nodes used than there are. */
static void
check_random (guint64 seed)
{
  enum { N = 120, GROUPS = 5 };
  guint groups[GROUPS], n_nodes = 0;
  FabMixJob jobs[N];
  double now_s = 0;

  for (guint g = 0; g < GROUPS; g++)
    n_nodes += groups[g] = 1 + (guint) (draw (&seed) * 8);
  for (guint i = 0; i < N; i++) {
    now_s += draw (&seed) * 5;
    jobs[i] = (FabMixJob){ .submit_s = floor (now_s),
                           .work_s = 1 + floor (draw (&seed) * 60),
                           .kind = draw (&seed) < 0.5,
                           .n_nodes = 1 + (guint) (draw (&seed) * n_nodes),
                           .priority = (gint64) (draw (&seed) * 3) };
  }
  const FabMixMachine machine = { GROUPS, groups };
  const FabMixKind kinds[] = { quiet, greedy };
  const FabMixRules rules = { .placement = (FabMixPlacement) (draw (&seed) * FAB_N_MIX_PLACEMENTS),
                              .order = (FabMixOrder) (draw (&seed) * FAB_N_MIX_ORDERS),
                              .has_backfill = draw (&seed) < 0.5,
                              .seed = seed };
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, kinds, jobs, N, &rules, NULL);

  for (guint i = 0; i < N; i++) {
    const FabMixOutcome *one_job = &play->outcomes[i];
    guint n_used = 0;

    assert_true (one_job->start_s >= jobs[i].submit_s);
    assert_true (one_job->places_lost_s >= 0 && one_job->sharing_lost_s >= -1e-9);
    assert_near (one_job->end_s - one_job->start_s,
                 jobs[i].work_s + one_job->places_lost_s + one_job->sharing_lost_s, 1e-6);
    for (guint k = 0; k < N; k++)
      if (play->outcomes[k].start_s <= one_job->start_s && one_job->start_s < play->outcomes[k].end_s - 1e-9)
        n_used += jobs[k].n_nodes;
    assert_true (n_used <= n_nodes);
  }
  for (guint g = 0; g < GROUPS; g++)
    assert_true (play->group_load[g] >= 0 && play->group_load[g] <= 1 + 1e-9);
}

static void
random_mixes_add_up (G_GNUC_UNUSED void **state)
{
  for (guint64 seed = 1; seed <= 200; seed++)
    check_random (seed * 1000);
}

static void
it_can_be_cancelled (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 1, (const guint[]){ 1 } };
  const FabMixJob job = { .work_s = 1, .n_nodes = 1 };
  const FabMixRules rules = { 0 };
  const gint cancel = 1;

  assert_null (fab_mix_play (&machine, &quiet, &job, 1, &rules, &cancel));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (waits_are_those_of_erlang),
    cmocka_unit_test (equals_share_equally),
    cmocka_unit_test (bursts_meet_or_do_not),
    cmocka_unit_test (packed_jobs_are_alone),
    cmocka_unit_test (backfill_keeps_the_reservation),
    cmocka_unit_test (orders),
    cmocka_unit_test (tables_are_read_between_their_points),
    cmocka_unit_test (random_mixes_add_up),
    cmocka_unit_test (it_can_be_cancelled),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
