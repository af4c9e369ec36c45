/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_mix.c - many jobs on one machine: the queue against Erlang's formula, sharing by hand, places, and what
 * holds for random mixes. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/base/mix.h"
#include "sim/reliability/goodput.h"
#include "sim/sharing/broken_nodes.h"
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

/* A play without jobs takes no time, and does not look at any. */
static void
no_jobs_take_no_time (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 1, (const guint[]){ 4 } };
  const FabMixRules rules = { .placement = FAB_MIX_PACKED };
  const FabMixJob later = { .submit_s = 5, .work_s = 1, .n_nodes = 1 };

  for (guint n = 0; n <= 1; n++) {
    g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &quiet, &later, n, &rules, NULL);

    assert_true (fabs (play->first_s - (n > 0 ? 5 : 0)) < 1e-12);
    assert_true (fabs (play->last_s - (n > 0 ? 6 : 0)) < 1e-12);
    assert_true (fabs (play->group_load[0]) < 1e-12);
  }
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

/* Draws groups of nodes and jobs. Returns the number of nodes. */
static guint
draw_mix (guint64 *seed, guint *groups, guint n_groups, FabMixJob *jobs, guint n_jobs)
{
  guint n_nodes = 0;
  double now_s = 0;

  for (guint g = 0; g < n_groups; g++)
    n_nodes += groups[g] = 1 + (guint) (draw (seed) * 8);
  for (guint i = 0; i < n_jobs; i++) {
    now_s += draw (seed) * 5;
    jobs[i] = (FabMixJob){ .submit_s = floor (now_s),
                           .work_s = 1 + floor (draw (seed) * 60),
                           .kind = draw (seed) < 0.5,
                           .n_nodes = 1 + (guint) (draw (seed) * n_nodes),
                           .priority = (gint64) (draw (seed) * 3) };
  }
  return n_nodes;
}

/* Of a random mix: nobody loses time, nobody starts early, and at no time are more nodes used than there are. */
static void
check_random (guint64 seed)
{
  enum { N = 120, GROUPS = 5 };
  guint groups[GROUPS], n_nodes;
  FabMixJob jobs[N];

  n_nodes = draw_mix (&seed, groups, GROUPS, jobs, N);
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

/* --- failures --- */

/* One job alone, for a thousand failures, is useful for the share of the time that the closed form says. */
static void
a_lone_job_is_as_useful_as_by_the_formula (G_GNUC_UNUSED void **state)
{
  static const struct {
    double per_s, interval_s, blocking_s, background_s, detection_s, restart_s;
  } cases[] = { { 1e-4, 1200, 30, 0, 600, 300 },
                { 1e-3, 300, 20, 0, 100, 50 },
                { 2e-4, 1800, 5, 120, 300, 300 },
                { 1e-5, 10800, 200, 0, 60, 600 } };
  const FabMixMachine machine = { 1, (const guint[]){ 4 } };
  const FabMixRules rules = { .has_failures = TRUE, .seed = 7 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabMixFailures failures = { .stops_per_s = cases[i].per_s,
                                      .interval_s = cases[i].interval_s,
                                      .blocking_s = cases[i].blocking_s,
                                      .background_s = cases[i].background_s,
                                      .detection_s = cases[i].detection_s,
                                      .restart_s = cases[i].restart_s,
                                      .slowing = 1 };
    const FabMixJob job = { .work_s = 30000 / cases[i].per_s, .n_nodes = 4 };
    double useful = fab_goodput_useful (cases[i].per_s, cases[i].interval_s, cases[i].blocking_s,
                                        cases[i].background_s, cases[i].detection_s + cases[i].restart_s);
    FabMixKind kind = quiet;

    kind.failures = &failures;
    g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &kind, &job, 1, &rules, NULL);
    assert_true (play->n_failures > 20000);
    assert_near (job.work_s / play->outcomes[0].busy_s, useful, 0.01);
  }
}

/* The same with planned stops, and with nodes that are away for repair while one spare stands in: the formula has
 * Erlang's loss for the wait. The job takes all nodes, so it waits whenever one is missing. */
static void
a_lone_job_waits_for_repair_as_by_the_formula (G_GNUC_UNUSED void **state)
{
  const FabFailureRate rates[] = {
    { .name = "node", .effect = FAB_FAILURE_STOPS, .per_s = 2e-4, .takes_node = TRUE },
    { .name = "software", .effect = FAB_FAILURE_STOPS, .per_s = 1e-4 },
    { .name = "upgrade", .effect = FAB_FAILURE_PLANNED, .per_s = 5e-5 },
  };
  const FabReliability whole = { .rates = rates,
                                 .n_rates = G_N_ELEMENTS (rates),
                                 .interval_s = 900,
                                 .blocking_s = 20,
                                 .detection_s = 200,
                                 .restart_s = 100,
                                 .repair_s = 6000,
                                 .n_spares = 1 };
  const FabMixFailures failures = { .stops_per_s = 3e-4,
                                    .breaks_per_s = 2e-4,
                                    .planned_per_s = 5e-5,
                                    .interval_s = 900,
                                    .blocking_s = 20,
                                    .detection_s = 200,
                                    .restart_s = 100,
                                    .planned_s = 120,
                                    .repair_s = 6000,
                                    .slowing = 1 };
  const FabMixMachine machine = { 2, (const guint[]){ 4, 4 } };
  const FabMixRules rules = { .has_failures = TRUE, .n_spares = 1, .seed = 3 };
  const FabMixJob job = { .work_s = 1e8, .n_nodes = 8 };
  FabMixKind kind = quiet;
  double useful = fab_goodput_form (&whole).goodput_fraction;

  kind.failures = &failures;
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &kind, &job, 1, &rules, NULL);
  assert_true (play->away_s > 0);
  assert_near (job.work_s / (play->last_s - play->first_s), useful, 0.01);
}

/* 100 s of work, saved after every 10, with nothing in the way: nine checkpoints of 1 s, and none at the end. */
static void
checkpoints_cost_their_time (G_GNUC_UNUSED void **state)
{
  static const FabMixFailures saves = { .interval_s = 10, .blocking_s = 1, .slowing = 1 };
  const FabMixMachine machine = { 1, (const guint[]){ 1 } };
  const FabMixRules rules = { 0 };
  const FabMixJob job = { .work_s = 100, .n_nodes = 1 };
  FabMixKind kind = quiet;

  kind.failures = &saves;
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &kind, &job, 1, &rules, NULL);
  assert_near (play->outcomes[0].end_s, 109, 1e-9);
  assert_near (play->outcomes[0].checkpoint_s, 9, 1e-9);
}

/* A job of 100 s runs from 0. At 25 one of higher priority comes, which takes 30 s: the first has saved 20 s, loses 3 s
 * (two checkpoints of 1 s), begins again at 55 with a restart of 5 s, and has 80 s and seven checkpoints to do. */
static void
a_job_gives_way (G_GNUC_UNUSED void **state)
{
  static const FabMixFailures saves = { .interval_s = 10, .blocking_s = 1, .restart_s = 5, .slowing = 1 };
  const FabMixMachine machine = { 1, (const guint[]){ 2 } };
  FabMixRules rules = { .order = FAB_MIX_PRIORITY };
  const FabMixJob jobs[] = { { .work_s = 100, .n_nodes = 2 },
                             { .submit_s = 25, .work_s = 30, .n_nodes = 1, .kind = 1, .priority = 1 } };
  FabMixKind kinds[] = { quiet, quiet };

  kinds[0].failures = &saves;
  g_autoptr (FabMixPlay) waits = fab_mix_play (&machine, kinds, jobs, 2, &rules, NULL);
  rules.has_preemption = TRUE;
  g_autoptr (FabMixPlay) stops = fab_mix_play (&machine, kinds, jobs, 2, &rules, NULL);

  assert_near (waits->outcomes[1].start_s, 109, 1e-9);
  assert_near (stops->outcomes[1].start_s, 25, 1e-9);
  assert_near (stops->outcomes[1].end_s, 55, 1e-9);
  assert_int_equal (stops->outcomes[0].n_preempted, 1);
  assert_near (stops->outcomes[0].undone_s, 3, 1e-9);
  assert_near (stops->outcomes[0].down_s, 5, 1e-9);
  assert_near (stops->outcomes[0].end_s, 55 + 5 + 80 + 7, 1e-9);
  assert_near (stops->outcomes[0].busy_s, 25 + 92, 1e-9);
}

/* A job without checkpoints starts from the beginning; equal priorities never stop each other. */
static void
what_is_not_saved_is_lost (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 1, (const guint[]){ 1 } };
  const FabMixRules rules = { .order = FAB_MIX_PRIORITY, .has_preemption = TRUE };
  const FabMixJob jobs[] = { { .work_s = 100, .n_nodes = 1 },
                             { .submit_s = 40, .work_s = 10, .n_nodes = 1 },
                             { .submit_s = 60, .work_s = 10, .n_nodes = 1, .priority = 1 } };
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, &quiet, jobs, 3, &rules, NULL);

  assert_near (play->outcomes[2].end_s, 70, 1e-9);
  assert_near (play->outcomes[0].undone_s, 60, 1e-9);
  assert_near (play->outcomes[0].end_s, 170, 1e-9);
  assert_near (play->outcomes[1].end_s, 180, 1e-9);
}

/* A spare stands in for a broken node; the second that breaks is missing until one is whole again. */
static void
spares_stand_in (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBrokenNodes) broken = fab_broken_nodes_new (1);

  assert_true (isinf (fab_broken_nodes_next (broken)));
  assert_true (fab_broken_nodes_add (broken, 3, 10));
  assert_false (fab_broken_nodes_add (broken, 4, 20));
  assert_int_equal (fab_broken_nodes_missing (broken), 1);
  assert_near (fab_broken_nodes_next (broken), 10, 0);
  assert_int_equal (fab_broken_nodes_return (broken), 4); /* the spare that is whole again stands in for it */
  assert_int_equal (fab_broken_nodes_missing (broken), 0);
  assert_int_equal (fab_broken_nodes_return (broken), G_MAXUINT);
  fab_broken_nodes_free (NULL);
}

/* Of random mixes with failures and priorities: every job does all of its work, all time with nodes is accounted
 * for, and nodes that are busy, away or idle are all nodes. */
static void
check_failing (guint64 seed)
{
  enum { N = 80, GROUPS = 4 };
  guint groups[GROUPS], n_nodes;
  FabMixJob jobs[N];
  double busy_s = 0, span_s;
  FabMixFailures failures[2] = { 0 };

  n_nodes = draw_mix (&seed, groups, GROUPS, jobs, N);
  for (guint k = 0; k < 2; k++) {
    double per_s = draw (&seed) * 0.05;

    failures[k] = (FabMixFailures){ .stops_per_s = per_s,
                                    .breaks_per_s = per_s * draw (&seed),
                                    .planned_per_s = draw (&seed) < 0.5 ? draw (&seed) * 0.02 : 0,
                                    .interval_s = draw (&seed) < 0.2 ? INFINITY : 1 + draw (&seed) * 20,
                                    .blocking_s = draw (&seed) * 2,
                                    .background_s = draw (&seed) < 0.5 ? draw (&seed) * 3 : 0,
                                    .detection_s = draw (&seed) * 3,
                                    .restart_s = draw (&seed) * 3,
                                    .planned_s = draw (&seed) * 3,
                                    .repair_s = draw (&seed) < 0.7 ? draw (&seed) * 40 : 0,
                                    .slowing = 1 + draw (&seed) * 0.1 };
  }
  const FabMixMachine machine = { GROUPS, groups };
  FabMixKind kinds[] = { quiet, greedy };
  const FabMixRules rules = { .placement = (FabMixPlacement) (draw (&seed) * FAB_N_MIX_PLACEMENTS),
                              .order = FAB_MIX_PRIORITY,
                              .has_backfill = draw (&seed) < 0.5,
                              .has_preemption = draw (&seed) < 0.7,
                              .has_failures = draw (&seed) < 0.8,
                              .n_spares = (guint) (draw (&seed) * 3),
                              .seed = seed };

  kinds[0].failures = &failures[0];
  kinds[1].failures = &failures[1];
  g_autoptr (FabMixPlay) play = fab_mix_play (&machine, kinds, jobs, N, &rules, NULL);
  for (guint i = 0; i < N; i++) {
    const FabMixOutcome *job = &play->outcomes[i];

    assert_true (job->start_s >= jobs[i].submit_s && job->end_s - job->start_s >= job->busy_s - 1e-6);
    assert_true (job->places_lost_s >= -1e-9 && job->sharing_lost_s >= -1e-6 && job->undone_s >= 0
                 && job->checkpoint_s >= -1e-9 && job->slowed_s >= -1e-9 && job->down_s >= 0);
    assert_near (job->busy_s,
                 jobs[i].work_s + job->places_lost_s + job->sharing_lost_s + job->slowed_s + job->checkpoint_s
                     + job->undone_s + job->down_s,
                 1e-6);
    busy_s += jobs[i].n_nodes * job->busy_s;
  }
  span_s = play->last_s - play->first_s;
  assert_true (busy_s + play->away_s <= n_nodes * span_s * (1 + 1e-9));
  if (!rules.has_failures)
    assert_near (play->away_s, 0, 0);
}

static void
random_failures_add_up (G_GNUC_UNUSED void **state)
{
  for (guint64 seed = 1; seed <= 300; seed++)
    check_failing (seed * 1000);
}

static void
it_can_be_cancelled (G_GNUC_UNUSED void **state)
{
  const FabMixMachine machine = { 1, (const guint[]){ 1 } };
  const FabMixJob job = { .work_s = 1, .n_nodes = 1 };
  const FabMixRules rules = { 0 };
  const gint cancel = 1;

  assert_null (fab_mix_play (&machine, &quiet, &job, 1, &rules, &cancel));
  fab_mix_play_free (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (no_jobs_take_no_time),
    cmocka_unit_test (waits_are_those_of_erlang),
    cmocka_unit_test (equals_share_equally),
    cmocka_unit_test (bursts_meet_or_do_not),
    cmocka_unit_test (packed_jobs_are_alone),
    cmocka_unit_test (backfill_keeps_the_reservation),
    cmocka_unit_test (orders),
    cmocka_unit_test (tables_are_read_between_their_points),
    cmocka_unit_test (random_mixes_add_up),
    cmocka_unit_test (a_lone_job_is_as_useful_as_by_the_formula),
    cmocka_unit_test (a_lone_job_waits_for_repair_as_by_the_formula),
    cmocka_unit_test (checkpoints_cost_their_time),
    cmocka_unit_test (a_job_gives_way),
    cmocka_unit_test (what_is_not_saved_is_lost),
    cmocka_unit_test (spares_stand_in),
    cmocka_unit_test (random_failures_add_up),
    cmocka_unit_test (it_can_be_cancelled),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
