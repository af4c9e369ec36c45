/* SPDX-License-Identifier: Apache-2.0 */
/* test_waits.c - what a step waits for: by the lever that limits it, and without one by its largest part. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/decision/waits.h"
#include "sim/run/run.h"
#include "tests/support/play.h"

enum { NO_LEVER = FAB_N_LEVERS };

static FabCatalog *catalog;

#define DDP(gpus_, rest_)                                                                                 \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: " gpus_ "}\n"               \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 8, sequence: 1024, compute: {kind: mfu, mfu: 40%}" rest_ \
  "}\n"
#define MEGATRON(accumulation_, rest_)                                                                       \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 4}\n"                          \
  "job: {kind: megatron, model: gpt2-xl, micro_batch: 4, accumulation: " accumulation_ ", sequence: 1024,\n" \
  "  parallel: {pipeline: 4}, compute: {kind: mfu, mfu: 40%}" rest_ "}\n"
#define COLLECTIVE                                                             \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 2, nic: ib-hdr}\n" \
  "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n"
#define OFFLOAD                                                                              \
  "name: a\niterations: 1\ncluster: {node: dgx-a100, nodes: 1}\n"                            \
  "job: {kind: zero, stage: 2, offload: {optimizer: cpu}, model: gpt2-xl, micro_batch: 1,\n" \
  "  sequence: 256, compute: {kind: mfu, mfu: 40%}}\n"

static Play *
played (const char *yaml)
{
  Play *play = play_new (catalog, yaml, NULL);

  assert_true (fab_simulation_run (play->simulation, &(FabRunOptions){ 0 }, NULL));
  return play;
}

/* With a lever of this kind that limits the step. */
static FabFinding
find (const Play *play, guint kind, const char *link_class)
{
  g_autoptr (FabBottleneck) bottleneck = fab_bottleneck_new ();

  if (kind != NO_LEVER) {
    FabLever lever = { .kind = kind,
                       .name = g_strdup ("it"),
                       .change = g_strdup ("more of it"),
                       .link_class = g_strdup (link_class),
                       .step = { .n = 1, .median = -0.5 } };

    g_array_append_val (bottleneck->levers, lever);
    bottleneck->first = 0;
  }
  return fab_waits_find (bottleneck, play->simulation);
}

static void
clear (FabFinding *finding)
{
  g_free (finding->text);
  g_free (finding->advice);
  g_free (finding->link);
}

static FabFindingCode
code_of (const Play *play, guint kind)
{
  FabFinding finding = find (play, kind, kind == FAB_LEVER_LINK ? "another" : NULL);

  clear (&finding);
  return finding.code;
}

/* One GPU computes; a collective alone is all network; one micro-batch leaves three of four stages idle, and thirty-two
 * of them fill the stages; an optimizer on the host takes longer than the short step; a rank that is four times as slow
 * holds up seven others, and one that is 1 % slower does not. */
static void
the_largest_part_decides_without_a_lever (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *yaml;
    FabFindingCode code;
  } rows[] = {
    { DDP ("1", ""), FAB_FINDING_WAITS_FOR_COMPUTE },
    { COLLECTIVE, FAB_FINDING_WAITS_FOR_NETWORK },
    { MEGATRON ("1", ""), FAB_FINDING_WAITS_FOR_BUBBLE },
    { MEGATRON ("32", ""), FAB_FINDING_WAITS_FOR_COMPUTE },
    { OFFLOAD, FAB_FINDING_WAITS_FOR_HOST },
    { DDP ("8", ", stragglers: [{rank: 3, slowness: 4}]"), FAB_FINDING_WAITS_FOR_STRAGGLER },
    { DDP ("8", ", stragglers: [{rank: 3, slowness: 1.01}]"), FAB_FINDING_WAITS_FOR_COMPUTE },
    { DDP ("8", ", jitter: {cv: 40%}"), FAB_FINDING_WAITS_FOR_STRAGGLER },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = played (rows[i].yaml);
    FabFindingCode code = code_of (play, NO_LEVER);

    if (code != rows[i].code)
      fail_msg ("row %u: %s", i, fab_finding_kinds[code].name);
  }
}

/* Faster kernels shorten bubbles and what a slow rank takes too, so that these are named; nothing else asks for the
 * largest part. */
static void
the_lever_decides_where_there_is_one (G_GNUC_UNUSED void **state)
{
  static const char *const yamls[] = { DDP ("1", ""), MEGATRON ("1", ""),
                                       DDP ("8", ", stragglers: [{rank: 3, slowness: 4}]") };
  static const FabFindingCode of_compute[] = { FAB_FINDING_WAITS_FOR_COMPUTE, FAB_FINDING_WAITS_FOR_BUBBLE,
                                               FAB_FINDING_WAITS_FOR_STRAGGLER };

  for (guint i = 0; i < G_N_ELEMENTS (yamls); i++) {
    g_autoptr (Play) play = played (yamls[i]);

    for (guint kind = 0; kind < FAB_N_LEVERS; kind++) {
      FabFindingCode expected = kind == FAB_LEVER_COMPUTE || kind == FAB_LEVER_MEMORY ? of_compute[i]
                              : kind == FAB_LEVER_HOST  ? FAB_FINDING_WAITS_FOR_HOST
                              : kind == FAB_LEVER_RANKS ? FAB_FINDING_WAITS_FOR_STRAGGLER
                                                        : FAB_FINDING_WAITS_FOR_NETWORK;

      assert_int_equal (code_of (play, kind), expected);
    }
  }
}

/* "x % of the step is compute, ..." of what was played. (transfer full) */
static char *
parts_of (const Play *play)
{
  const FabIterationRecord *times = &fab_simulation_probe (play->simulation)->step.times;
  double all = (double) times->duration_ps;

  return g_strdup_printf ("%.1f %% of the step is compute, %.1f %% exposed communication and %.1f %% idle.",
                          100 * (double) times->compute_ps / all, 100 * (double) times->exposed_ps / all,
                          100 * (double) times->idle_ps / all);
}

/* The text has the levers' words and the parts of the step. */
static void
the_text_says_what_the_step_consists_of (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) alone = played (DDP ("1", "")), network = played (COLLECTIVE),
                   pipe = played (MEGATRON ("1", ""));
  FabFinding of_alone = find (alone, FAB_LEVER_COMPUTE, NULL), of_network = find (network, NO_LEVER, NULL),
             of_pipe = find (pipe, NO_LEVER, NULL);
  g_autofree char *parts = parts_of (pipe),
                  *words = g_strconcat ("No single change shortens the step by 1 %. ", parts, NULL);

  assert_string_equal (of_alone.text,
                       "The step is limited by it: more of it shortens it by 50.0 %. 100.0 % of the step "
                       "is compute, 0.0 % exposed communication and 0.0 % idle.");
  assert_string_equal (of_network.text,
                       "No single change shortens the step by 1 %. The job computes nothing.");
  assert_string_equal (of_pipe.text, words);
  assert_int_equal (of_alone.rank, -1);
  assert_null (of_alone.link);
  clear (&of_alone);
  clear (&of_network);
  clear (&of_pipe);
}

/* Of 8 ranks one is 4 times as slow as the others, 4 / (11 / 8) of the mean; of two the first is named. What it costs
 * is the part of its kernels that the mean would not take. A rank that is slow in this iteration alone has no
 * number. */
static void
the_slow_rank_is_named (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *yaml, *who;
    gint64 rank;
    double slowness; /* 0: it is drawn */
  } rows[] = {
    { DDP ("8", ", stragglers: [{rank: 3, slowness: 4}]"),
      "rank 3 takes 2.91 times as long as the mean to compute", 3, 4 / (11.0 / 8) },
    { DDP ("8", ", stragglers: [{rank: 0, slowness: 4}]"),
      "rank 0 takes 2.91 times as long as the mean to compute", 0, 4 / (11.0 / 8) },
    { DDP ("8", ", stragglers: [{rank: 3, slowness: 4}, {rank: 5, slowness: 4}]"),
      "rank 3 takes 2.29 times as long as the mean to compute", 3, 4 / (14.0 / 8) },
    { DDP ("8", ", jitter: {cv: 40%}"), "the slowest rank of an iteration takes ", -1, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = played (rows[i].yaml);
    FabFinding finding = find (play, FAB_LEVER_RANKS, NULL);
    const FabProbe *probe = fab_simulation_probe (play->simulation);
    FabTimePs most_ps = 0;

    assert_non_null (strstr (finding.text, rows[i].who));
    assert_int_equal (finding.rank, rows[i].rank);
    for (guint c = 0; c < probe->iterations->len; c++)
      most_ps = MAX (most_ps, g_array_index (probe->iterations, FabIterationRecord, c).compute_ps);
    g_autofree char *costs = g_strdup_printf ("A slow rank costs %.1f %% of the step: ",
                                              100 * (double) most_ps * (1 - 1 / rows[i].slowness)
                                                  / (double) probe->step.times.duration_ps);
    if (rows[i].slowness > 0)
      assert_non_null (strstr (finding.text, costs));
    clear (&finding);
  }
}

/* The slowest link is named where the lever is its entry. */
static void
the_link_is_of_the_entry_that_limits (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = played (COLLECTIVE), alone = played (DDP ("1", ""));
  const FabGraph *graph = fab_simulation_cluster (play->simulation)->graph;
  FabBinding binding = fab_binding_find (fab_simulation_probe (play->simulation), graph);
  const FabLink *link = fab_graph_link (graph, binding.link);
  const char *entry = fab_graph_link_class (graph, binding.link)->name;
  g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                  *to = fab_graph_vertex_name (graph, link->dst),
                  *name = g_strconcat (from, " -> ", to, NULL);
  FabFinding own = find (play, FAB_LEVER_LINK, entry), other = find (play, FAB_LEVER_LINK, "another"),
             all = find (play, FAB_LEVER_LINKS, entry), none = find (alone, FAB_LEVER_LINK, entry);

  assert_string_equal (own.link, name);
  assert_null (other.link);
  assert_null (all.link);
  assert_null (none.link);
  clear (&own);
  clear (&other);
  clear (&all);
  clear (&none);
}

static guint slow_class = 1;

/* Whether the slow class is slow in this iteration and in those that follow: '1' or '0'. */
static double
slow_now_and_then (gpointer owner, guint rank_class, guint iteration)
{
  const char *when = owner;

  return rank_class == slow_class && iteration < strlen (when) && when[iteration] == '1' ? 4 : 1;
}

/* A rank is named where it is as slow in this iteration and in the next two. */
static void
a_rank_that_is_always_slow_is_named (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *when;
    gint64 rank;
  } rows[] = { { "111", 3 },  { "1111", 3 },  { "101", -1 }, { "1011", -1 },
               { "110", -1 }, { "1101", -1 }, { "100", -1 } };
  g_autoptr (Play) play = played (DDP ("8", ", stragglers: [{rank: 3, slowness: 4}]"));
  FabJobTotals *totals = (FabJobTotals *) fab_simulation_totals (play->simulation);
  const FabJobTotals own = *totals;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    totals->slowness = slow_now_and_then;
    totals->slowness_owner = (gpointer) rows[i].when;
    FabFinding finding = find (play, FAB_LEVER_RANKS, NULL);
    *totals = own;
    assert_int_equal (finding.rank, rows[i].rank);
    clear (&finding);
  }
}

/* The three ranks before the third are one class, of which the first is named and the others are counted: 4 / (17 / 8)
 * of the mean. */
static void
slow_ranks_of_one_class_are_counted (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = played (DDP ("8", ", stragglers: [{rank: 3, slowness: 4}]"));
  FabJobTotals *totals = (FabJobTotals *) fab_simulation_totals (play->simulation);
  const FabJobTotals own = *totals;

  slow_class = 0;
  totals->slowness = slow_now_and_then;
  totals->slowness_owner = (gpointer) "111";
  FabFinding finding = find (play, FAB_LEVER_RANKS, NULL);
  *totals = own;
  slow_class = 1;
  assert_int_equal (finding.rank, 0);
  assert_non_null (strstr (finding.text, "rank 0 and 2 more take 1.88 times as long as the mean to compute"));
  clear (&finding);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_largest_part_decides_without_a_lever),
    cmocka_unit_test (the_lever_decides_where_there_is_one),
    cmocka_unit_test (the_text_says_what_the_step_consists_of),
    cmocka_unit_test (the_slow_rank_is_named),
    cmocka_unit_test (the_link_is_of_the_entry_that_limits),
    cmocka_unit_test (a_rank_that_is_always_slow_is_named),
    cmocka_unit_test (slow_ranks_of_one_class_are_counted),
  };

  return play_run_tests ("waits", tests, &catalog);
}
