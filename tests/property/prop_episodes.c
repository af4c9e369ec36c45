/* SPDX-License-Identifier: Apache-2.0 */
/* prop_episodes.c - random jobs that remember what happened before, against all of it played: the same records to the
 * last digit, of times and of queues, and to within rounding, of links. Collectives overlap, ranks jitter, neighbours
 * share links; flows and faults at times leave nothing to remember. Two threads give what one gives. Rings of which
 * rounds are skipped end within 0.5 % of when they end without; jobs of which rings overlap do so, too. What shares no
 * link is in episodes apart, which become one now and then.
 */
#include "tests/support/test.h"

#include <math.h>

#include "tests/support/play.h"
#include "tests/support/seeds.h"

static FabCatalog *catalog;

static const char *
pick (Random *random, const char *const *texts, guint n)
{
  return texts[random_below (random, n)];
}

static char *
random_job (Random *random)
{
  static const char *const jobs[] = {
    "kind: ddp, bucket: 200KiB",
    "kind: ddp, bucket: 20MiB",
    "kind: zero, stage: 2, overlap_comm: yes",
    "kind: zero, stage: 3",
    "kind: fsdp, sharding: grad_op, in_flight: 3",
    "kind: megatron, parallel: {tensor: 2, pipeline: 2, overlap_p2p: true}, accumulation: 3",
    "kind: megatron, distributed_optimizer: true, overlap_grad_reduce: true, parallel: {context: 2}",
  };
  const char *job = pick (random, jobs, G_N_ELEMENTS (jobs));
  const char *jitter = random_chance (random, 40) ? ", jitter: {cv: 5%}" : "";

  return g_strdup_printf ("{model: m, %s, micro_batch: 1, sequence: 64%s}", job, jitter);
}

static char *
random_cluster (Random *random)
{
  static const char *const fabrics[] = {
    "switch", "{kind: rail, nodes_per_leaf: 2}",
    "{kind: fat_tree, radix: 8, oversubscription: 2, nodes_per_leaf: 1}"
  };
  static const char *const routes[] = { "shortest", "ecmp", "spray" };
  guint fabric = random_below (random, G_N_ELEMENTS (fabrics));

  return g_strdup_printf (
      "{node: dgx-a100, nodes: 4, gpus_per_node: %u, nics_per_node: 1, fabric: %s, route: %s}",
      2 * random_between (random, 1, 2), fabrics[fabric], pick (random, routes, G_N_ELEMENTS (routes)));
}

static char *
random_scenario (Random *random)
{
  static const char *const others[] = {
    "",
    "",
    "",
    "faults: [{what: nic, name: node1/nic0, rate: 50%}]\n",
    "faults: [{what: nic, name: node1/nic0, rate: 30%, at: 20us}]\n",
    "background: [{kind: transfer, from: node0, to: node1, rate: 20Gb/s}]\n",
    "neighbours: [{name: n, nodes: 2, first: 1, stride: 2, job: {kind: collective, operations: "
    "[{op: all_reduce, size: 300KB}]}}]\n",
  };
  static const char *const libraries[] = { "nccl", "plain", "{kind: plain, algorithm: ring}" };
  g_autofree char *job = random_job (random), *cluster = random_cluster (random);
  guint library = random_below (random, strstr (job, "kind: ddp") || strstr (job, "kind: fsdp") ? 3 : 2);

  return g_strdup_printf (
      "name: random\niterations: 3\nseed: %u\ncollectives: %s\n%s"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 2, "
      "hidden: 128, heads: 4, vocabulary: 500, tied: false}}]\ncluster: %s\njob: %s\n",
      random_below (random, 1000), libraries[library], pick (random, others, G_N_ELEMENTS (others)), cluster,
      job);
}

/* Sums of the same numbers in another order. */
static gboolean
is_same_sum (double a, double b)
{
  const double rounding = 1e-9;

  return fabs (a - b) <= rounding * MAX (fabs (a), fabs (b));
}

/* Compares records that hold numbers only, and names that both runs have of their own. */
#define ASSERT_SAME(Record, field, a, b)                                                        \
  G_STMT_START                                                                                  \
  {                                                                                             \
    assert_int_equal ((a)->len, (b)->len);                                                      \
    for (guint i_ = 0; i_ < (a)->len; i_++)                                                     \
      assert_true (g_array_index (a, Record, i_).field == g_array_index (b, Record, i_).field); \
  }                                                                                             \
  G_STMT_END

static void
assert_same_probes (const FabProbe *a, const FabProbe *b)
{
  ASSERT_SAME (FabCollectiveRecord, start_ps, a->collectives, b->collectives);
  ASSERT_SAME (FabCollectiveRecord, end_ps, a->collectives, b->collectives);
  ASSERT_SAME (FabCollectiveRecord, exposed_ps, a->collectives, b->collectives);
  ASSERT_SAME (FabSpanRecord, start_ps, a->spans, b->spans);
  ASSERT_SAME (FabSpanRecord, end_ps, a->spans, b->spans);
  ASSERT_SAME (FabLinkLoadRecord, link, a->link_loads, b->link_loads);
  for (guint i = 0; i < a->link_loads->len; i++) {
    gint64 more = (gint64) g_array_index (a->link_loads, FabLinkLoadRecord, i).bytes
                - (gint64) g_array_index (b->link_loads, FabLinkLoadRecord, i).bytes;

    assert_true (ABS (more) <= 1);
    assert_true (is_same_sum (g_array_index (a->link_loads, FabLinkLoadRecord, i).busy_fraction,
                              g_array_index (b->link_loads, FabLinkLoadRecord, i).busy_fraction));
  }
  ASSERT_SAME (FabExposureRecord, exposed_ps, a->exposures, b->exposures);
  ASSERT_SAME (FabPathRecord, start_ps, a->path, b->path);
  ASSERT_SAME (FabPathRecord, collective, a->path, b->path);
}

static void
assert_same_queues (const FabSimulation *one, const FabSimulation *other)
{
  g_autoptr (GArray) a = fab_simulation_link_queues (one), b = fab_simulation_link_queues (other);

  ASSERT_SAME (FabLinkQueueRecord, link, a, b);
  ASSERT_SAME (FabLinkQueueRecord, carried_bytes, a, b);
  ASSERT_SAME (FabLinkQueueRecord, most_bytes, a, b);
  for (guint i = 0; i < a->len; i++)
    assert_true (is_same_sum (g_array_index (a, FabLinkQueueRecord, i).mean_bytes,
                              g_array_index (b, FabLinkQueueRecord, i).mean_bytes));
  ASSERT_SAME (FabLinkQueueRecord, n_stalls, a, b);
  ASSERT_SAME (FabLinkQueueRecord, n_pauses, a, b);
}

static guint64 n_joins_in_all; /* of episodes that were apart */

static void
check_at (Random *random, const char *fidelity)
{
  g_autofree char *scenario = random_scenario (random),
                  *yaml = g_strdup_printf ("fidelity: {kind: %s}\n%s", fidelity, scenario),
                  *no_memo = g_strdup_printf ("fidelity: {kind: %s, memo: false}\n%s", fidelity, scenario);
  g_autoptr (Play) memo = play_new (catalog, yaml, NULL), all = play_new (catalog, no_memo, NULL);

  while (fab_simulation_step (memo->simulation)) {
    assert_true (fab_simulation_step (all->simulation));
    assert_same_probes (fab_simulation_probe (memo->simulation), fab_simulation_probe (all->simulation));
  }
  assert_false (fab_simulation_step (all->simulation));
  assert_same_queues (memo->simulation, all->simulation);
  n_joins_in_all += fab_simulation_episodes (memo->simulation).n_joins;
  assert_int_equal (fab_simulation_episodes (all->simulation).n_joins, 0);
  assert_int_equal (fab_simulation_episodes (all->simulation).n_collectives_remembered, 0);
}

/* What differs is played on threads first. */
static void
check_threads (Random *random)
{
  static const char *const fidelities[] = { "step",
                                            "{kind: packet, mtu: 64KiB, mark_from: 20kB, mark_all: 1MB}" };
  g_autofree char *scenario = random_scenario (random),
                  *yaml = g_strdup_printf ("fidelity: %s\n%s", fidelities[random_below (random, 2)],
                                           scenario);
  g_autoptr (Play) one = play_new (catalog, yaml, NULL), two = play_new (catalog, yaml, NULL);

  fab_simulation_set_threads (two->simulation, 2);
  while (fab_simulation_step (one->simulation)) {
    assert_true (fab_simulation_step (two->simulation));
    assert_same_probes (fab_simulation_probe (one->simulation), fab_simulation_probe (two->simulation));
  }
  assert_same_queues (one->simulation, two->simulation);
  FabEpisodesCount a = fab_simulation_episodes (one->simulation),
                   b = fab_simulation_episodes (two->simulation);
  assert_int_equal (a.n_collectives_remembered, b.n_collectives_remembered);
  assert_int_equal (a.n_replays, b.n_replays);
  assert_int_equal (fab_simulation_uses_seed (one->simulation), fab_simulation_uses_seed (two->simulation));
}

static void
threads_change_nothing (G_GNUC_UNUSED void **state)
{
  seeds_run (60, check_threads);
}

static guint64 n_rehearsals_in_all; /* episodes that were played before the clock started */

/* What collectives will do to each other is played on threads first: with one, two and four of them. */
static void
check_rehearsals (Random *random)
{
  static const char *const jobs[] = {
    "kind: zero, stage: 3, prefetch_overlap: true", "kind: fsdp, in_flight: 3",
    "kind: zero, stage: 2, overlap_comm: yes",
    "kind: megatron, distributed_optimizer: true, overlap_grad_reduce: true, "
    "parallel: {tensor: 2, pipeline: 2}, accumulation: 3"
  };
  g_autofree char *yaml = g_strdup_printf (
      "name: threads\niterations: 2\nseed: %u\nfidelity: {kind: packet, mtu: 16KiB, skip: %s}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 4, "
      "hidden: %u, heads: 4, vocabulary: 500, tied: false}}]\n"
      "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: 4, nics_per_node: %u, fabric: switch}\n"
      "job: {model: m, %s, micro_batch: 1, sequence: 64}\n",
      random_below (random, 1000), random_chance (random, 50) ? "true" : "false",
      256 * random_between (random, 1, 3), 2 * random_between (random, 1, 2), random_between (random, 1, 2),
      pick (random, jobs, G_N_ELEMENTS (jobs)));
  g_autoptr (Play) one = play_new (catalog, yaml, NULL);

  while (fab_simulation_step (one->simulation))
    ;
  for (guint n_threads = 2; n_threads <= 4; n_threads += 2) {
    g_autoptr (Play) some = play_new (catalog, yaml, NULL);

    fab_simulation_set_threads (some->simulation, n_threads);
    while (fab_simulation_step (some->simulation))
      ;
    assert_same_probes (fab_simulation_probe (one->simulation), fab_simulation_probe (some->simulation));
    assert_same_queues (one->simulation, some->simulation);
    const FabEpisodesCount a = fab_simulation_episodes (one->simulation),
                           b = fab_simulation_episodes (some->simulation);
    assert_memory_equal (&a, &b, sizeof a);
  }
  n_rehearsals_in_all += fab_simulation_episodes (one->simulation).n_rehearsals;
}

static void
rehearsals_on_threads_change_nothing (G_GNUC_UNUSED void **state)
{
  n_rehearsals_in_all = 0;
  seeds_run (12, check_rehearsals);
  assert_true (n_rehearsals_in_all > 0 || !seeds_are_all ());
}

static void
check_step (Random *random)
{
  check_at (random, "step");
}

/* Large packets, and no marks: these are drawn. */
static void
check_packet (Random *random)
{
  static const char *const kinds[] = {
    "packet, skip: false, fold: false, mtu: 64KiB, mark_from: 1GiB, mark_all: 1GiB",
    "packet, mtu: 64KiB, mark_from: 1GiB, mark_all: 1GiB, flow_control: pfc, memory: 1MB, congestion: credit",
    "packet, mtu: 64KiB, mark_from: 1GiB, mark_all: 1GiB, flow_control: pfc, congestion: swift",
    "packet, mtu: 64KiB, mark_from: 1GiB, mark_all: 1GiB, flow_control: pfc, congestion: timely",
    "packet, mtu: 64KiB, mark_from: 1GiB, mark_all: 1GiB, flow_control: pfc, congestion: hpcc",
  };

  check_at (random, kinds[random_below (random, G_N_ELEMENTS (kinds))]);
}

/* Ends of collectives without and with messages that are skipped; how much was, is added up. */
static guint64 n_skipped_in_all;

/* Each collective must end within 0.5 % of when it ends without skips. `job` is a scenario without a fidelity. */
static void
compare_ends (const char *fidelity, const char *job)
{
  const double close = 0.005;
  g_autofree char *yaml = g_strdup_printf ("fidelity: {%s}\n%s", fidelity, job),
                  *no_skip = g_strdup_printf ("fidelity: {%s, skip: false}\n%s", fidelity, job);
  g_autoptr (Play) some = play_new (catalog, yaml, NULL), all = play_new (catalog, no_skip, NULL);

  assert_true (fab_simulation_step (some->simulation) && fab_simulation_step (all->simulation));
  const GArray *a = fab_simulation_probe (some->simulation)->collectives,
               *b = fab_simulation_probe (all->simulation)->collectives;
  assert_int_equal (a->len, b->len);
  for (guint i = 0; i < a->len; i++) {
    double end_ps = (double) g_array_index (a, FabCollectiveRecord, i).end_ps,
           true_ps = (double) g_array_index (b, FabCollectiveRecord, i).end_ps;

    if (fabs (end_ps - true_ps) > close * true_ps)
      print_message ("%s%.0f ps for %.0f ps\n", job, end_ps, true_ps);
    assert_true (fabs (end_ps - true_ps) <= close * true_ps);
  }
  n_skipped_in_all += fab_simulation_episodes (some->simulation).n_skipped;
  assert_int_equal (fab_simulation_episodes (all->simulation).n_skipped, 0);
}

static void
check_skip (Random *random)
{
  g_autofree char *job = g_strdup_printf (
      "name: rings\niterations: 1\nseed: %u\ncollectives: {kind: plain, algorithm: ring}\n"
      "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: %u, nics_per_node: %u, fabric: %s}\n"
      "job: {kind: collective, operations: [{op: %s, size: %uMB}]}\n",
      random_below (random, 1000), random_between (random, 2, 6), 2 * random_between (random, 2, 4),
      random_between (random, 1, 2), random_chance (random, 50) ? "switch" : "rail",
      random_chance (random, 50) ? "all_reduce" : "all_gather", random_between (random, 1, 60));

  compare_ends ("kind: packet, mtu: 16KiB", job);
}

static void
rounds_that_are_skipped_take_what_they_take (G_GNUC_UNUSED void **state)
{
  n_skipped_in_all = 0;
  seeds_run (40, check_skip);
  assert_true (n_skipped_in_all > 0 || !seeds_are_all ());
}

/* Channels whose paths collide here and there: each ring has a pace of its own, and waits for its slowest lane. */
static void
check_collisions (Random *random)
{
  g_autofree char *job = g_strdup_printf (
      "name: collisions\niterations: 1\nseed: %u\ncollectives: {kind: nccl, algorithm: ring}\n"
      "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: 4, nics_per_node: %u, route: ecmp, "
      "fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: %u}}\n"
      "job: {kind: collective, operations: [{op: %s, size: %uMB}]}\n",
      random_below (random, 1000), 2 * random_between (random, 3, 6), 1u << random_below (random, 3),
      random_between (random, 1, 2), random_chance (random, 50) ? "all_reduce" : "all_gather",
      random_between (random, 5, 60));

  compare_ends ("kind: packet, mtu: 16KiB", job);
}

static void
rings_of_paths_that_collide_take_what_they_take (G_GNUC_UNUSED void **state)
{
  n_skipped_in_all = 0;
  seeds_run (25, check_collisions);
  assert_true (n_skipped_in_all > 0 || !seeds_are_all ());
}

/* At `step`, where a ring that is alone is skipped exactly if it has fewer than half a million messages. */
static void
check_many_collisions (Random *random)
{
  g_autofree char *job = g_strdup_printf (
      "name: collisions\niterations: 1\nseed: %u\ncollectives: {kind: nccl, algorithm: ring}\n"
      "cluster: {node: dgx-a100, nodes: %u, nics_per_node: 4, route: ecmp, "
      "fabric: {kind: leaf_spine, nodes_per_leaf: 8, oversubscription: %u}}\n"
      "job: {kind: collective, operations: [{op: all_gather, size: %uMB}]}\n",
      random_below (random, 1000), 8 * random_between (random, 6, 8), random_between (random, 1, 2),
      random_between (random, 100, 900));

  compare_ends ("kind: step", job);
}

static void
many_messages_of_paths_that_collide_take_what_they_take (G_GNUC_UNUSED void **state)
{
  n_skipped_in_all = 0;
  seeds_run (3, check_many_collisions);
  assert_true (n_skipped_in_all > 0 || !seeds_are_all ());
}

/* The iteration with rounds that are skipped, against all of them. `job` is a scenario without a fidelity. */
static void
compare_iterations (const char *fidelity, const char *job)
{
  g_autofree char *yaml = g_strdup_printf ("fidelity: {%s}\n%s", fidelity, job),
                  *no_skip = g_strdup_printf ("fidelity: {%s, skip: false}\n%s", fidelity, job);
  g_autoptr (Play) some = play_new (catalog, yaml, NULL), all = play_new (catalog, no_skip, NULL);

  assert_true (fab_simulation_step (some->simulation) && fab_simulation_step (all->simulation));
  double some_ps = (double) g_array_index (fab_simulation_probe (some->simulation)->iterations,
                                           FabIterationRecord, 0)
                       .duration_ps,
         all_ps = (double) g_array_index (fab_simulation_probe (all->simulation)->iterations,
                                          FabIterationRecord, 0)
                      .duration_ps;
  assert_true (fabs (some_ps - all_ps) <= 0.005 * all_ps);
  n_skipped_in_all += fab_simulation_episodes (some->simulation).n_skipped;
  assert_int_equal (fab_simulation_episodes (all->simulation).n_skipped, 0);
}

/* Rings that overlap. */
static void
check_overlap (Random *random, const char *fidelity, guint hidden, guint least, guint most)
{
  static const char *const jobs[] = { "kind: zero, stage: 3, prefetch_overlap: true",
                                      "kind: fsdp, in_flight: 3", "kind: zero, stage: 2, overlap_comm: yes" };
  g_autofree char *job = g_strdup_printf (
      "name: rings\niterations: 1\nseed: %u\ncollectives: {kind: plain, algorithm: ring}\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 3, "
      "hidden: %u, heads: 4, vocabulary: 500, tied: false}}]\n"
      "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: 4, nics_per_node: 1, fabric: switch}\n"
      "job: {model: m, %s, micro_batch: 1, sequence: 64}\n",
      random_below (random, 1000), hidden * random_between (random, 1, 4),
      random_between (random, least, most), pick (random, jobs, G_N_ELEMENTS (jobs)));

  compare_iterations (fidelity, job);
}

static void
check_overlap_at_step (Random *random)
{
  check_overlap (random, "kind: step", 2048, 18, 32);
}

static void
check_overlap_at_packet (Random *random)
{
  check_overlap (random, "kind: packet, mtu: 16KiB", 256, 4, 8);
}

static void
rings_that_overlap_take_what_they_take (G_GNUC_UNUSED void **state)
{
  n_skipped_in_all = 0;
  seeds_run (10, check_overlap_at_step);
  seeds_run (10, check_overlap_at_packet);
  assert_true (n_skipped_in_all > 0 || !seeds_are_all ());
}

static guint64
n_skipped (const char *fidelity, const char *job)
{
  g_autofree char *yaml = g_strdup_printf ("fidelity: {%s}\n%s", fidelity, job);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_step (play->simulation));
  return fab_simulation_episodes (play->simulation).n_skipped;
}

/* Rounds are skipped with `memo` and with `skip`, and with one of them alone none is. */
static void
both_parameters_let_rounds_be_skipped (G_GNUC_UNUSED void **state)
{
  static const char *const fidelities[] = { "kind: step", "kind: packet, mtu: 16KiB" };
  static const char *const jobs[] = {
    "name: rings\niterations: 1\ncollectives: {kind: plain, algorithm: ring}\n"
    "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 3, "
    "hidden: 8192, heads: 4, vocabulary: 500, tied: false}}]\n"
    "cluster: {node: dgx-a100, nodes: 18, gpus_per_node: 4, nics_per_node: 1, fabric: switch}\n"
    "job: {model: m, kind: zero, stage: 3, prefetch_overlap: true, micro_batch: 1, sequence: 64}\n",
    "name: rings\niterations: 1\ncollectives: {kind: plain, algorithm: ring}\n"
    "cluster: {node: dgx-a100, nodes: 4, gpus_per_node: 8, nics_per_node: 1, fabric: rail}\n"
    "job: {kind: collective, operations: [{op: all_reduce, size: 5MB}]}\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (fidelities); i++) {
    g_autofree char *no_skip = g_strconcat (fidelities[i], ", skip: false", NULL),
                    *no_memo = g_strconcat (fidelities[i], ", memo: false", NULL),
                    *neither = g_strconcat (no_memo, ", skip: false", NULL);

    assert_true (n_skipped (fidelities[i], jobs[i]) > 0);
    assert_int_equal (n_skipped (no_skip, jobs[i]), 0);
    assert_int_equal (n_skipped (no_memo, jobs[i]), 0);
    assert_int_equal (n_skipped (neither, jobs[i]), 0);
  }
}

/* Rings beside long messages of experts, which go on at their rates while rounds are skipped. */
static void
check_beside (Random *random)
{
  g_autofree char *job = g_strdup_printf (
      "name: beside\niterations: 1\nseed: %u\n"
      "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 8, "
      "hidden: 1024, heads: 8, feed_forward: 1024, vocabulary: 8000, tied: false, pattern: ME*EMEME, "
      "mamba: {heads: 16}, experts: {count: 32, per_token: %u, width: %u}}}]\n"
      "cluster: {node: gb300-tray, nodes: 8, domain_nodes: 4}\n"
      "job: {kind: megatron, model: m, micro_batch: %u, sequence: 4096, accumulation: 2, distributed_optimizer: true, "
      "overlap_grad_reduce: true, overlap_param_gather: true, parallel: {expert: 4}, compute: {kind: roofline}}\n",
      random_below (random, 1000), random_between (random, 2, 6), 256 * random_between (random, 2, 8),
      random_between (random, 1, 4));

  compare_iterations ("kind: packet, mtu: 16KiB", job);
}

static void
messages_beside_rings_take_what_they_take (G_GNUC_UNUSED void **state)
{
  n_skipped_in_all = 0;
  seeds_run (6, check_beside);
  assert_true (n_skipped_in_all > 0 || !seeds_are_all ());
}

/* Long messages that share links, of which the middle is skipped. */
static void
check_cruise (Random *random)
{
  static const char *const patterns[] = { "incast", "shift", "permutation", "all_pairs", "random" };
  static const char *const fabrics[] = { "switch", "rail", "{kind: leaf_spine, nodes_per_leaf: 2}" };
  static const char *const controls[] = { "credit", "credit", "none", "pfc", "drop", "trim" };
  static const char *const congestions[] = { "dcqcn", "none" };
  g_autofree char *job = g_strdup_printf (
      "name: long\niterations: 1\nseed: %u\n"
      "cluster: {node: dgx-a100, nodes: %u, gpus_per_node: %u, nics_per_node: %u, fabric: %s, route: %s}\n"
      "job: {kind: traffic, pattern: %s, size: %uMB}\n",
      random_below (random, 1000), 2 * random_between (random, 1, 3), random_between (random, 1, 2),
      random_between (random, 1, 2), pick (random, fabrics, G_N_ELEMENTS (fabrics)),
      random_chance (random, 50) ? "shortest" : "ecmp", pick (random, patterns, G_N_ELEMENTS (patterns)),
      random_between (random, 5, 60));
  const char *control = pick (random, controls, G_N_ELEMENTS (controls));
  const char *congestion = pick (random, congestions, G_N_ELEMENTS (congestions));
  g_autofree char *keys = g_strdup_printf ("kind: packet, flow_control: %s, congestion: %s", control,
                                           congestion);

  compare_ends (keys, job);
}

static void
the_middle_of_messages_takes_what_it_takes (G_GNUC_UNUSED void **state)
{
  n_skipped_in_all = 0;
  seeds_run (40, check_cruise);
  assert_true (n_skipped_in_all > 0 || !seeds_are_all ());
}

static void
messages_are_the_same_remembered (G_GNUC_UNUSED void **state)
{
  n_joins_in_all = 0;
  seeds_run (300, check_step);
  assert_true (n_joins_in_all > 0 || !seeds_are_all ());
}

static void
packets_are_the_same_remembered (G_GNUC_UNUSED void **state)
{
  n_joins_in_all = 0;
  seeds_run (50, check_packet);
  assert_true (n_joins_in_all > 0 || !seeds_are_all ());
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    seeds_test (messages_are_the_same_remembered),
    seeds_test (packets_are_the_same_remembered),
    seeds_test (rounds_that_are_skipped_take_what_they_take),
    seeds_test (rings_of_paths_that_collide_take_what_they_take),
    seeds_test (many_messages_of_paths_that_collide_take_what_they_take),
    seeds_test (rings_that_overlap_take_what_they_take),
    cmocka_unit_test (both_parameters_let_rounds_be_skipped),
    seeds_test (messages_beside_rings_take_what_they_take),
    seeds_test (the_middle_of_messages_takes_what_it_takes),
    seeds_test (threads_change_nothing),
    seeds_test (rehearsals_on_threads_change_nothing),
  };

  return play_run_tests ("episodes", tests, &catalog);
}
