/* SPDX-License-Identifier: Apache-2.0 */
/* test_bottleneck.c - what limits a step, found by changing one thing at a time. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "models/models.h"
#include "sim/base/error.h"
#include "sim/decision/bottleneck_find.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabBottleneck *
find_counted (const char *yaml, guint n_draws, guint64 n_events, FabPulse *pulse)
{
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1, .pulse = pulse };
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  GError *error = NULL;
  FabBottleneck *found = fab_bottleneck_find (&env, play->scenario, (FabPlayedOnce){ n_draws, n_events },
                                              &error);

  g_assert_no_error (error);
  return found;
}

static FabBottleneck *
find (const char *yaml, guint n_draws)
{
  return find_counted (yaml, n_draws, 0, NULL);
}

static const FabLever *
lever_of (const FabBottleneck *self, FabLeverKind kind, const char *name)
{
  for (guint i = 0; i < self->levers->len; i++)
    if (fab_bottleneck_lever (self, i)->kind == kind
        && (name == NULL || strcmp (fab_bottleneck_lever (self, i)->name, name) == 0))
      return fab_bottleneck_lever (self, i);
  return NULL;
}

/* One GPU computes and sends nothing: kernels in half the time take half the step. */
static void
a_gpu_alone_is_limited_by_compute (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBottleneck) found = find ("name: a\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
                                          "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024,\n"
                                          "  compute: {kind: mfu, mfu: 40%}}\n",
                                          0);

  assert_int_equal (fab_bottleneck_first (found)->kind, FAB_LEVER_COMPUTE);
  assert_near (fab_lever_saved (fab_bottleneck_first (found)), 0.5, 1e-6);
  assert_int_equal (fab_verdict_waits_for (found->waits)->code, FAB_FINDING_WAITS_FOR_COMPUTE);
}

/* README's first example: one port of 200 Gb/s, and a faster one helps. */
static void
a_slow_port_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBottleneck) found = find (
      "name: a\ncluster: {node: dgx-h100, nodes: 4, nics_per_node: 1, nic: ib-hdr}\n"
      "job: {kind: ddp, model: gpt2-xl, micro_batch: 10, sequence: 1024,\n"
      "  bucket: 100MiB, compute: {kind: mfu, mfu: 40%}}\n",
      0);
  const FabLever *first = fab_bottleneck_first (found);

  assert_string_equal (fab_bottleneck_name (found), "ib-hdr");
  assert_true (first->kind == FAB_LEVER_LINK && first->is_port && fab_lever_saved (first) > 0.3);
  assert_int_equal (fab_verdict_waits_for (found->waits)->code, FAB_FINDING_WAITS_FOR_NETWORK);
}

/* A port at the rate of its bus: neither a faster port nor a faster bus helps, two ports do, and so do both together.
 * Before, `run` said of it "no link", "waits for compute" and "the slowest link is busy 97 %". */
static void
more_ports_help_where_faster_ones_do_not (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBottleneck) found = find (
      "name: mine\ncluster: {node: dgx-a100, nodes: 4, nic: ib-hdr, nics_per_node: 1}\n"
      "job: {kind: fsdp, model: llama2-7b, micro_batch: 1, sequence: 4096}\n",
      0);
  g_autofree char *words = fab_bottleneck_words (found);

  assert_int_equal (fab_bottleneck_first (found)->kind, FAB_LEVER_NICS);
  assert_true (fab_lever_saved (fab_bottleneck_first (found)) > 0.3);
  assert_true (fabs (fab_lever_saved (lever_of (found, FAB_LEVER_LINK, "ib-hdr"))) < 0.01);
  assert_true (fab_lever_saved (lever_of (found, FAB_LEVER_PAIR, "pcie4-x16")) > 0.3);
  assert_non_null (strstr (words, "2 NICs a node in place of 1"));
  assert_non_null (strstr (words, "Faster ib-hdr alone saves 0.0 %: pcie4-x16 is as slow on the same way"));
  assert_int_equal (fab_verdict_waits_for (found->waits)->code, FAB_FINDING_WAITS_FOR_NETWORK);
}

/* By what they save, in steps of half a percent; of equal ones, by their kinds, and of one kind by their names. */
static void
levers_are_ranked_by_what_they_save (G_GNUC_UNUSED void **state)
{
  static const char *const yamls[] = {
    "name: a\ncluster: {node: dgx-a100, nodes: 2}\n"
    "job: {kind: fsdp, model: gpt2-xl, micro_batch: 2, sequence: 1024}\n",
    "name: a\ncluster: {node: dgx-a100, nodes: 2}\n"
    "job: {kind: ddp, model: gpt2-xl, micro_batch: 64, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n",
    "name: a\ncluster: {node: dgx-h100, nodes: 2, nics_per_node: 2}\n"
    "job: {kind: collective, operations: [{op: all_gather, size: 1KB}]}\n",
  };
  guint n_tied = 0, n_named = 0;

  for (guint row = 0; row < G_N_ELEMENTS (yamls); row++) {
    g_autoptr (FabBottleneck) found = find (yamls[row], 0);

    assert_true (found->levers->len >= 4);
    for (guint i = 1; i < found->levers->len; i++) {
      const FabLever *before = fab_bottleneck_lever (found, i - 1), *after = fab_bottleneck_lever (found, i);
      double more = round (fab_lever_saved (before) * 200) - round (fab_lever_saved (after) * 200);

      assert_true (more >= 0);
      if (more > 0)
        continue;
      n_tied++;
      n_named += before->kind == after->kind;
      assert_true (before->kind < after->kind
                   || (before->kind == after->kind && strcmp (before->name, after->name) < 0));
    }
  }
  assert_true (n_tied > n_named && n_named > 0);
}

/* A rank that is half as fast holds up the others; without it the step is nearly as short as theirs. */
static void
a_slow_rank_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBottleneck) found = find ("name: a\ncluster: {node: dgx-h100, nodes: 2}\n"
                                          "job: {kind: ddp, model: gpt2-xl, micro_batch: 8, sequence: 1024,\n"
                                          "  stragglers: [{rank: 3, slowness: 4}]}\n",
                                          0);

  assert_int_equal (fab_bottleneck_first (found)->kind, FAB_LEVER_RANKS);
  assert_int_equal (fab_verdict_waits_for (found->waits)->code, FAB_FINDING_WAITS_FOR_STRAGGLER);
  assert_int_equal (fab_verdict_waits_for (found->waits)->rank, 3);
}

/* Hashed paths collide differently with each seed: eight of them are compared, and luck is a lever. */
static void
what_is_drawn_is_played_with_eight_seeds (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "name: a\n"
                             "cluster: {node: dgx-a100, nodes: 8, nics_per_node: 4, route: ecmp,\n"
                             "  fabric: {kind: leaf_spine, oversubscription: 2, nodes_per_leaf: 2}}\n"
                             "job: {kind: zero, stage: 3, model: gpt2-xl, micro_batch: 1, sequence: 1024}\n";
  g_autoptr (FabBottleneck) found = find (yaml, 0), once = find (yaml, 1);

  assert_int_equal (found->n_draws, FAB_DRAWS);
  assert_int_equal (once->n_draws, 1);
  assert_null (lever_of (once, FAB_LEVER_DRAWS, NULL));
  if (found->low_s < found->high_s)
    assert_non_null (lever_of (found, FAB_LEVER_DRAWS, NULL));
  assert_true (found->low_s <= found->base.step_s && found->base.step_s <= found->high_s);
}

/* Held against every draw, played one by one: the shortest and the longest step, the median, and what the luckiest seed
 * saves of it. Each of the draws is the luckiest from some seed on. */
static void
luck_is_that_of_the_shortest_draw (G_GNUC_UNUSED void **state)
{
  enum { N_DRAWS = 3 };
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 };
  gboolean was_best[N_DRAWS] = { FALSE };

  for (guint seed = 1; seed <= 12; seed++)
    for (guint n = 1; n <= N_DRAWS; n++) {
      g_autofree char *yaml = g_strdup_printf (
          "name: a\nseed: %u\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
          "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024, jitter: {cv: 5%%}}\n",
          seed);
      g_autoptr (Play) play = play_new (catalog, yaml, NULL);
      g_autoptr (FabBottleneck) found = find (yaml, n);
      const FabLever *luck = lever_of (found, FAB_LEVER_DRAWS, NULL);
      double steps_s[N_DRAWS];
      guint best = 0, worst = 0;

      for (guint i = 0; i < n; i++) {
        g_autoptr (FabScenario) draw = fab_draw_of (play->scenario, i, NULL);
        FabDrawTimes times;

        assert_true (fab_draw_play (&env, draw, NULL, &times, NULL));
        steps_s[i] = times.step_s;
        best = steps_s[i] < steps_s[best] ? i : best;
        worst = steps_s[i] > steps_s[worst] ? i : worst;
      }
      double median_s = steps_s[fab_draw_median (steps_s, n)];
      assert_near (found->low_s, steps_s[best], 0);
      assert_near (found->high_s, steps_s[worst], 0);
      assert_near (found->base.step_s, median_s, 0);
      assert_int_equal (luck != NULL, n > 1);
      if (luck == NULL)
        continue;
      was_best[best] = TRUE;
      assert_near (luck->step_s, steps_s[best], 0);
      assert_near (fab_lever_saved (luck), 1 - steps_s[best] / median_s, 1e-12);
    }
  assert_true (was_best[0] && was_best[1] && was_best[2]);
}

/* Where the seed decides nothing, three draws of each lever say as much as eight; where it does, all are played. */
static void
levers_that_no_seed_moves_are_played_with_three (G_GNUC_UNUSED void **state)
{
  static const char alone[] = "name: a\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
                              "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024}\n";
  static const char jittery[] =
      "name: a\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
      "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024, jitter: {cv: 5%}}\n";
  FabPulse pulse = { 0 };
  g_autoptr (FabBottleneck) even = find_counted (alone, FAB_DRAWS, 0, &pulse);
  guint n_levers = even->levers->len - 1; /* the luckiest seed is not played */

  assert_true (even->low_s >= even->high_s && n_levers > 0);
  assert_int_equal (pulse.n_done, FAB_DRAWS - 1 + 3 * n_levers);
  assert_int_equal (pulse.n_known, pulse.n_done);

  pulse = (FabPulse){ 0 };
  g_autoptr (FabBottleneck) spread = find_counted (jittery, FAB_DRAWS, 0, &pulse);
  n_levers = spread->levers->len - 1;
  assert_true (spread->low_s < spread->high_s);
  assert_int_equal (pulse.n_done, FAB_DRAWS - 1 + FAB_DRAWS * n_levers);
}

/* Levers are played with packets where that is quick, so that they and the step are of one network, whose figures
 * are not those of flows. Where it would take long they are played as flows, and the answer says so. */
static void
levers_are_of_the_own_network_where_that_is_quick (G_GNUC_UNUSED void **state)
{
  static const char yaml[] =
      "name: a\nfidelity: packet\n"
      "cluster: {node: dgx-h100, nodes: 5, gpus_per_node: 1, nics_per_node: 1, nic: roce-400,\n"
      "  fabric: {kind: leaf_spine, nodes_per_leaf: 8}}\n"
      "job: {kind: traffic, pattern: incast, size: 1MiB}\n";
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (FabBottleneck) own = find_counted (yaml, 1, FAB_LEVER_EVENTS, NULL),
                            fast = find_counted (yaml, 1, FAB_LEVER_EVENTS + 1, NULL),
                            many = find_counted (yaml, 2, FAB_LEVER_EVENTS, NULL);
  FabDrawTimes times;

  assert_true (fab_draw_play (&env, play->scenario, NULL, &times, NULL));
  assert_null (own->fidelity);
  assert_near (own->base.step_s, times.step_s, 0);
  assert_string_equal (fast->fidelity, "fluid");
  assert_string_equal (many->fidelity, "fluid");
  assert_true (fabs (fast->base.step_s / own->base.step_s - 1) > 1e-6);
}

/* A copy has levers of its own, says the same, and is judged in the same way. */
static void
a_copy_says_the_same (G_GNUC_UNUSED void **state)
{
  FabBottleneck *found = find ("name: a\ncluster: {node: dgx-a100, nodes: 2}\n"
                               "job: {kind: fsdp, model: gpt2-xl, micro_batch: 2, sequence: 1024}\n",
                               0);
  g_autoptr (FabBottleneck) copy = fab_bottleneck_copy (found);
  g_autofree char *words = fab_bottleneck_words (found);

  assert_int_equal (copy->levers->len, found->levers->len);
  for (guint i = 0; i < copy->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (copy, i), *other = fab_bottleneck_lever (found, i);

    assert_true (lever->name != other->name && lever->change != other->change);
    assert_string_equal (lever->name, other->name);
    assert_string_equal (lever->change, other->change);
    assert_near (fab_lever_saved (lever), fab_lever_saved (other), 0);
  }
  fab_bottleneck_free (found);
  g_autofree char *again = fab_bottleneck_words (copy);
  assert_string_equal (again, words);
  assert_string_equal (fab_bottleneck_name (copy), fab_bottleneck_first (copy)->name);
}

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* What each lever changes, sorted. (transfer full) */
static char *
changes_of (const FabBottleneck *found)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();

  for (guint i = 0; i < found->levers->len; i++)
    g_ptr_array_add (texts, fab_bottleneck_lever (found, i)->change);
  g_ptr_array_sort (texts, by_text);
  g_ptr_array_add (texts, NULL);
  return g_strjoinv ("; ", (char **) texts->pdata);
}

/* Links that carry bytes, each alone, all, and ports with what lies before them; as many NICs again where the node has
 * them; twice the channels where the library has channels; compute and memory where something computes; hosts and slow
 * ranks where there are some. `plain` has no channels, a collective alone no compute, and one GPU no link. */
static void
every_lever_that_there_is_is_tried (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *yaml, *changes;
  } rows[] = {
    { "name: a\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
      "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n",
      "compute twice as fast; memory of the accelerators twice as fast" },
    { "name: a\ncluster: {node: dgx-h100, nodes: 2, nics_per_node: 2}\n"
      "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 1024, compute: {kind: mfu, mfu: 40%}}\n",
      "4 NICs a node in place of 2; at least 16 channels in place of 8; compute twice as fast; every ib-ndr twice as "
      "fast; every link twice as fast; every nvlink4 twice as fast; every pcie5-x16 twice as fast; ib-ndr and "
      "pcie5-x16 twice as fast; memory of the accelerators twice as fast; no latency of software and wires" },
    { "name: a\ncluster: {node: dgx-h100, nodes: 1}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\n",
      "at least 48 channels in place of 24; every nvlink4 twice as fast; no latency of software and wires" },
    { "name: a\ncluster: {node: dgx-h100, nodes: 2, nics_per_node: 1}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\n",
      "2 NICs a node in place of 1; every ib-ndr twice as fast; every link twice as fast; every nvlink4 twice as fast; "
      "every pcie5-x16 twice as fast; ib-ndr and pcie5-x16 twice as fast; no latency of software and wires" },
    { "name: a\ncluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\n",
      "2 NICs a node in place of 1; every ib-ndr twice as fast; every link twice as fast; every pcie5-x16 twice as "
      "fast; ib-ndr and pcie5-x16 twice as fast; no latency of software and wires" },
    { "name: a\ncluster: {node: dgx-a100, nodes: 2}\n"
      "job: {kind: zero, stage: 2, offload: {optimizer: cpu}, model: gpt2-xl, micro_batch: 1, sequence: 1024,\n"
      "  compute: {kind: mfu, mfu: 40%}, stragglers: [{rank: 3, slowness: 4}]}\n",
      "compute twice as fast; every ddr4-8ch-3200 twice as fast; every ib-hdr twice as fast; every link twice as fast; "
      "every nvlink3 twice as fast; every pcie4-x16 twice as fast; ib-hdr and pcie4-x16 twice as fast; memory of the "
      "accelerators twice as fast; no latency of software and wires; no rank slower than the others; work on the host "
      "twice as fast" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabBottleneck) found = find (rows[i].yaml, 0);
    g_autofree char *changes = changes_of (found);

    assert_string_equal (changes, rows[i].changes);
  }
}

#define CACHE(more)                                                                                       \
  "name: a\ncluster: {node: dgx-h100, nodes: 2}\n"                                                        \
  "job: {kind: kv, model: llama3-70b, prompt: 4000, requests: 4, prefill: 8, decode: 8, setup: 0s, " more \
  "}\n"

/* Blocks of 16 tokens of one head are messages of 4 KiB: in 215 ns each that is 19 GB/s, and a port moves 50. So the
 * time of a message limits, and half of it takes half as long. Blocks of a thousand tokens fill the port. */
static void
messages_limit_a_sender (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBottleneck) small = find (CACHE ("block: 16"), 0), large = find (CACHE ("block: 1000"), 0),
                            none = find (CACHE ("message_time: 0s"), 0);

  assert_int_equal (fab_bottleneck_first (small)->kind, FAB_LEVER_MESSAGES);
  assert_string_equal (fab_bottleneck_name (small), "messages");
  assert_near (fab_lever_saved (fab_bottleneck_first (small)), 0.5, 1e-3);
  assert_near (fab_lever_saved (lever_of (large, FAB_LEVER_MESSAGES, NULL)), 0, 1e-3);
  assert_int_equal (fab_bottleneck_first (large)->kind, FAB_LEVER_LINKS);
  assert_null (lever_of (none, FAB_LEVER_MESSAGES, NULL));
  g_autoptr (FabBottleneck) shortest = find (CACHE ("message_time: 2ps"), 0), /* a picosecond has no half */
      halved = find (CACHE ("message_time: 1ps"), 0);
  assert_non_null (lever_of (shortest, FAB_LEVER_MESSAGES, NULL));
  assert_null (lever_of (halved, FAB_LEVER_MESSAGES, NULL));
  assert_int_equal (fab_bottleneck_first (none)->kind, FAB_LEVER_LINKS);
}

/* The second of three seeds behind the last one cannot be, and what is cancelled has no bottleneck. */
static void
what_cannot_be_played_has_no_bottleneck (G_GNUC_UNUSED void **state)
{
  static const gint cancelled = 1;
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 },
                       stopped = { .registry = &fab_models, .n_threads = 1, .cancel = &cancelled };
  g_autoptr (Play) last = play_new (catalog,
                                    "name: a\nseed: 9223372036854775807\n"
                                    "cluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n"
                                    "job: {kind: ddp, model: gpt2-xl, micro_batch: 1, sequence: 256}\n",
                                    NULL);
  g_autoptr (GError) error = NULL, stop = NULL;
  g_autoptr (FabBottleneck) single = fab_bottleneck_find (&env, last->scenario, (FabPlayedOnce){ 1, 0 },
                                                          NULL);

  assert_non_null (single);
  assert_null (fab_bottleneck_find (&env, last->scenario, (FabPlayedOnce){ 3, 0 }, &error));
  assert_true (g_str_has_prefix (error->message, "2 seeds are too many from seed "));
  assert_null (fab_bottleneck_find (&stopped, last->scenario, (FabPlayedOnce){ 1, 0 }, &stop));
  assert_true (g_error_matches (stop, FAB_ERROR, FAB_ERROR_CANCELLED));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_gpu_alone_is_limited_by_compute),
    cmocka_unit_test (every_lever_that_there_is_is_tried),
    cmocka_unit_test (a_slow_port_limits),
    cmocka_unit_test (more_ports_help_where_faster_ones_do_not),
    cmocka_unit_test (levers_are_ranked_by_what_they_save),
    cmocka_unit_test (a_slow_rank_limits),
    cmocka_unit_test (what_is_drawn_is_played_with_eight_seeds),
    cmocka_unit_test (luck_is_that_of_the_shortest_draw),
    cmocka_unit_test (levers_are_of_the_own_network_where_that_is_quick),
    cmocka_unit_test (a_copy_says_the_same),
    cmocka_unit_test (levers_that_no_seed_moves_are_played_with_three),
    cmocka_unit_test (messages_limit_a_sender),
    cmocka_unit_test (what_cannot_be_played_has_no_bottleneck),
  };

  return play_run_tests ("bottleneck", tests, &catalog);
}
