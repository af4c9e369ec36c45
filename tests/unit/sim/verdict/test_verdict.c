/* SPDX-License-Identifier: Apache-2.0 */
/* test_verdict.c - the verdict of small scenarios: each finding where it is due, and not beside it. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/decision/bottleneck_find.h"
#include "sim/verdict/verdict.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* Plays every iteration, and every lever with one seed. (transfer full) */
static FabVerdict *
verdict_of (const char *yaml)
{
  const FabDecisionEnv env = { .registry = &fab_models, .n_threads = 1 };
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  GError *error = NULL;

  while (fab_simulation_step (play->simulation))
    ;
  FabVerdict *verdict = fab_verdict_of (play->scenario, play->simulation, &fab_models, &error);
  assert_null (error);
  g_autoptr (FabBottleneck) bottleneck = fab_bottleneck_find (&env, play->scenario,
                                                              (FabPlayedOnce){ .n_draws = 1 }, &error);
  assert_null (error);
  fab_bottleneck_judge (bottleneck, verdict);
  return verdict;
}

static void
assert_codes (const char *yaml, const char *expected)
{
  g_autoptr (FabVerdict) verdict = verdict_of (yaml);
  g_autofree char *codes = fab_verdict_codes (verdict);

  assert_string_equal (codes, expected);
}

#define HEAD "name: t\niterations: 2\n"
#define ONE "cluster: {node: dgx-h100}\n"
#define TRAIN(kind, more)                                                   \
  "job: {kind: " kind ", model: gpt2-xl, sequence: 1024, micro_batch: 1,\n" \
  "  compute: {kind: mfu, mfu: 40%}" more "}\n"
#define REDUCE(size) "job: {kind: collective, operations: [{op: all_reduce, size: " size "}]}\n"

/* 1.6 billion parameters x (2 + 4 + 12 B) are 28 GB of the 80 GB of an H100; seven billion are 121 GB. */
static void
a_job_that_does_not_fit_stops (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabVerdict) fits = verdict_of (HEAD ONE TRAIN ("ddp", ""));
  g_autoptr (FabVerdict) big = verdict_of (
      HEAD ONE "job: {kind: ddp, model: llama2-7b, sequence: 1024, micro_batch: 1,\n"
               "  compute: {kind: mfu, mfu: 40%}}\n");
  const FabFinding *finding = fab_verdict_find (big, FAB_FINDING_DOES_NOT_FIT);

  assert_false (fab_verdict_stops (fits));
  assert_null (fab_verdict_find (fits, FAB_FINDING_DOES_NOT_FIT));
  assert_true (fab_verdict_stops (big));
  assert_int_equal (finding->rank, 0);
  assert_non_null (strstr (finding->text, "of the 80 GB"));
  assert_null (finding->advice); /* it is tried where somebody reads it */
}

/* Who has played several seeds is not told to play several, whether their steps differ or not. */
static void
played_seeds_are_not_asked_for (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint64 n_seeds;
    double high_s;
    const char *begins;
  } cases[] = {
    { 1, 1.0, "The figures are those of one seed" },
    { 8, 1.0, NULL },
    { 8, 1.0009, NULL }, /* within a thousandth */
    { 8, 1.0012, "The step depends on the seed: over 8 seeds it takes from 1 s to " },
    { 2, 1.5, "The step depends on the seed: over 2 seeds it takes from 1 s to 1.5 s." },
    { 8, 1.5, "The step depends on the seed: over 8 seeds it takes from 1 s to 1.5 s." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabVerdict) verdict = fab_verdict_new ();

    fab_verdict_add (verdict, FAB_FINDING_SPREAD, g_strdup ("The figures are those of one seed."), NULL);
    fab_verdict_note_spread (verdict, cases[i].n_seeds, 1.0, cases[i].high_s);
    const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_SPREAD);
    assert_true (cases[i].begins != NULL
                     ? finding != NULL && g_str_has_prefix (finding->text, cases[i].begins)
                     : finding == NULL);
  }
}

/* Predicted with a band: refused only where its low end does not fit, and a warning where its high end does not. */
static void
a_band_of_memory_warns_before_it_stops (G_GNUC_UNUSED void **state)
{
  const FabFit refused = { .needed_bytes = 120, .device_bytes = 100, .low_factor = 0.9, .high_factor = 1.3 };
  const FabFit doubtful = { .needed_bytes = 105, .device_bytes = 100, .low_factor = 0.9, .high_factor = 1.3 };
  const FabFit close = { .needed_bytes = 80, .device_bytes = 100, .low_factor = 0.9, .high_factor = 1.3 };
  const FabFit fits = { .needed_bytes = 70, .device_bytes = 100, .low_factor = 0.9, .high_factor = 1.3 };

  assert_true (fab_fit_is_missed (&refused));
  assert_false (fab_fit_is_doubtful (&refused));
  assert_false (fab_fit_is_missed (&doubtful));
  assert_true (fab_fit_is_doubtful (&doubtful));
  assert_true (fab_fit_is_doubtful (&close));
  assert_false (fab_fit_is_missed (&fits) || fab_fit_is_doubtful (&fits));
}

static void
a_step_waits_for_one_thing (G_GNUC_UNUSED void **state)
{
  assert_codes (HEAD ONE TRAIN ("ddp", ", accumulation: 32"), "waits_for_compute");
  assert_codes (HEAD ONE TRAIN ("ddp", ""),
                "waits_for_network"); /* 72 % of it is compute that the network hides under */
  assert_codes (HEAD ONE REDUCE ("100MB"), "waits_for_network");
  assert_codes (HEAD ONE TRAIN ("ddp", ", data_loader: {time: 2s}"), "waits_for_host");
  assert_codes (HEAD ONE TRAIN ("ddp", ", stragglers: [{rank: 3, slowness: 1.5}]"), "waits_for_straggler");
  assert_codes (HEAD ONE TRAIN ("ddp", ", accumulation: 32, stragglers: [{rank: 3, slowness: 1.01}]"),
                "waits_for_compute");
  /* One micro-batch through eight stages: each computes for an eighth of the time. */
  assert_codes (HEAD ONE TRAIN ("megatron", ", parallel: {pipeline: 8}"), "waits_for_bubble");
  assert_codes (HEAD ONE TRAIN ("megatron", ", accumulation: 32, parallel: {pipeline: 2}"),
                "waits_for_compute");
}

static void
a_straggler_is_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabVerdict) fixed = verdict_of (
      HEAD ONE TRAIN ("ddp", ", stragglers: [{rank: 3, slowness: 1.5}]"));
  g_autoptr (FabVerdict) drawn = verdict_of (HEAD ONE TRAIN ("ddp", ", accumulation: 8, jitter: {cv: 20%}"));

  /* The mean of seven ranks at 1 and one at 1.5 is 8.5 / 8, and 1.5 is 1.41 of it. */
  assert_non_null (strstr (fab_verdict_waits_for (fixed)->text,
                           ": rank 3 takes 1.41 times as long as the mean to compute. "));
  assert_non_null (strstr (fab_verdict_waits_for (drawn)->text, ": the slowest rank of an iteration takes "));
  assert_int_equal (fab_verdict_waits_for (fixed)->rank, 3);
  assert_int_equal (fab_verdict_waits_for (drawn)->code, FAB_FINDING_WAITS_FOR_STRAGGLER);
  assert_int_equal (fab_verdict_waits_for (drawn)->rank, -1);
}

/* A step is compute, communication that is exposed, and what is left. */
static void
the_parts_of_a_step_are_the_whole (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = { TRAIN ("ddp", ""), TRAIN ("ddp", ", accumulation: 32"),
                                      TRAIN ("ddp", ", data_loader: {time: 2s}"),
                                      TRAIN ("megatron", ", parallel: {pipeline: 8}") };
  g_autoptr (FabVerdict) none = verdict_of (HEAD ONE REDUCE ("100MB"));

  assert_true (g_str_has_suffix (fab_verdict_waits_for (none)->text, " The job computes nothing."));
  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strconcat (HEAD ONE, jobs[i], NULL);
    g_autoptr (FabVerdict) verdict = verdict_of (yaml);
    g_autoptr (GRegex) pattern = g_regex_new (
        "([0-9.]+) % of the step is compute, ([0-9.]+) % exposed communication and ([0-9.]+) % idle\\.$", 0,
        0, NULL);
    g_autoptr (GMatchInfo) found = NULL;
    double sum = 0;

    assert_true (g_regex_match (pattern, fab_verdict_waits_for (verdict)->text, 0, &found));
    for (gint k = 1; k <= 3; k++) {
      g_autofree char *percent = g_match_info_fetch (found, k);

      sum += g_ascii_strtod (percent, NULL);
    }
    assert_true (fabs (sum - 100) < 0.16); /* each is rounded to a tenth */
  }
}

static void
a_link_that_binds_is_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabVerdict) verdict = verdict_of (
      HEAD "cluster: {node: dgx-h100, nodes: 2, nics_per_node: 1, nic: ib-hdr}\n" REDUCE ("1GB"));

  assert_non_null (strstr (fab_verdict_waits_for (verdict)->link, " -> "));
}

#define OWN(more) "links: [{name: x, lanes: 4, signalling: 50Gb/s, latency: 600ns" more "}]\n"
#define TWO_NODES "cluster: {node: dgx-h100, nodes: 2, nics_per_node: 1, nic: x}\n"

static void
a_link_without_a_measurement_is_uncalibrated (G_GNUC_UNUSED void **state)
{
  assert_codes (HEAD OWN ("") TWO_NODES REDUCE ("200MB"), "uncalibrated;waits_for_network");
  assert_codes (HEAD OWN (", copy: {achievable: 0.9}") TWO_NODES REDUCE ("200MB"), "waits_for_network");
}

#define STEP(compute)                     \
  "cluster: {node: dgx-h100, nodes: 1}\n" \
  "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024" compute "}\n"

/* Entries of own catalogues cannot take the shipped ones away; the generation of an own accelerator is not known. */
static void
an_unknown_generation_is_uncalibrated (G_GNUC_UNUSED void **state)
{
#define ODD                                                                                                 \
  "accelerators: [{name: h100-sxm5-80gb, architecture: odd, peak_fp16: 989TFLOP/s, peak_fp32: 67TFLOP/s,\n" \
  "  memory: 80GB, memory_rate: 3350GB/s}]\n"
  assert_codes (HEAD STEP (""), "waits_for_compute");
  assert_codes (HEAD ODD STEP (""), "uncalibrated;waits_for_compute");
  assert_codes (HEAD ODD STEP (", compute: {kind: mfu}"), "waits_for_compute");
}

#define MEASURED                                                                               \
  "links: [{name: m, lanes: 4, signalling: 50Gb/s, latency: 600ns, copy: {achievable: 0.9},\n" \
  "  messages: [{overhead: 2us, rate: 20GB/s}], measured: {from: 8KiB, to: 8MiB}}]\n"          \
  "cluster: {node: host, nodes: 4, nic: m}\ncollectives: {kind: mpi, algorithm: ring}\n"

/* A ring of four sends quarters. */
static void
sizes_outside_the_measured_ones_are_extrapolated (G_GNUC_UNUSED void **state)
{
  assert_codes (HEAD MEASURED REDUCE ("16KiB"), "extrapolated;waits_for_network");
  assert_codes (HEAD MEASURED REDUCE ("64KiB"), "waits_for_network");
  assert_codes (HEAD MEASURED REDUCE ("64MiB"), "extrapolated;waits_for_network");
}

#define LEAVES                                                                \
  "cluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1,\n" \
  "  fabric: {kind: leaf_spine, nodes_per_leaf: 4, oversubscription: 4}, route: shortest}\n"
#define FLOWS(pairs) "job: {kind: traffic, size: 1MB, pattern: pairs, pairs: [" pairs "]}\n"
#define MANY "{from: 0, to: 4}, {from: 1, to: 4}, {from: 2, to: 4}, {from: 3, to: 5}"
#define HASHED                                                                 \
  "cluster: {node: dgx-h100, nodes: 16, gpus_per_node: 1, nics_per_node: 1,\n" \
  "  fabric: {kind: leaf_spine, nodes_per_leaf: 8}, route: ecmp}\n"            \
  "job: {kind: traffic, size: 1MB, pattern: shift, distance: 8}\n"

static void
a_fidelity_says_what_it_does_not_know (G_GNUC_UNUSED void **state)
{
  assert_codes (HEAD LEAVES FLOWS (MANY), "fidelity_incast;fidelity_spreading;waits_for_network");
  assert_codes (HEAD "fidelity: packet\n" LEAVES FLOWS (MANY), "waits_for_network");
  assert_codes (HEAD "fidelity: analytic\n" LEAVES FLOWS (MANY), "fidelity_no_sharing;waits_for_network");
  assert_codes (HEAD LEAVES FLOWS ("{from: 0, to: 4}"), "waits_for_network");
  g_autoptr (FabVerdict) hashed = verdict_of (HEAD HASHED);
  assert_non_null (fab_verdict_find (hashed, FAB_FINDING_FIDELITY_COLLISION));
  assert_non_null (fab_verdict_find (hashed, FAB_FINDING_FIDELITY_COLLISION)->link);
}

/* A ring of two nodes and a transfer share the one uplink: 1 connection beside 16 of NCCL's. */
static void
different_channels_on_a_link_are_told (G_GNUC_UNUSED void **state)
{
#define SHARED                                                                                   \
  "cluster: {node: dgx-h100, nodes: 4, nics_per_node: 1, placement: strided, place_stride: 2,\n" \
  "  fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}, route: shortest}\n"     \
  "background: [{kind: transfer, from: node1/nic0, to: node0/nic0, bytes: 1GB, every: 1ms}]\n"

  assert_codes (HEAD "collectives: {kind: plain, algorithm: ring}\n" SHARED REDUCE ("100MB"),
                "waits_for_network");
  assert_codes (HEAD "collectives: {kind: nccl, algorithm: ring}\n" SHARED REDUCE ("100MB"),
                "fidelity_channels;waits_for_network");
}

/* --- choices of the library --- */

#define B300(nics, more) \
  "cluster: {node: hgx-b300, nodes: 5, nics_per_node: " nics "}\n" more REDUCE ("16MiB")

/* The tuner takes nvls_tree for 16 MiB, where a tree with LL128 takes nine tenths of the time. Who asks for the tree
 * has nothing to be told. */
static void
a_slower_choice_is_named (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabVerdict) verdict = verdict_of (HEAD B300 ("8", ""));
  g_autoptr (FabVerdict) asked = verdict_of (
      HEAD B300 ("8", "collectives: {kind: nccl, algorithm: tree, protocol: ll128, min_channels: 32}\n"));
  const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_CHOICE);

  assert_non_null (finding);
  assert_non_null (strstr (finding->text, "as nvls_tree with simple on 32 channels; tree with ll128 on"));
  assert_non_null (strstr (finding->text, "All else equal, GPUs wait for them for "));
  assert_non_null (strstr (finding->advice, "Try collectives.algorithm=all_reduce:tree"));
  assert_null (fab_verdict_find (asked, FAB_FINDING_CHOICE));
}

/* "198.1 us", in the unit of a thousandth or more. (transfer full) */
static char *
time_text (FabTimePs time_ps)
{
  double us = (double) time_ps / 1e6;

  return us < 1e3 ? g_strdup_printf ("%.4g us", us)
       : us < 1e6 ? g_strdup_printf ("%.4g ms", us / 1e3)
                  : g_strdup_printf ("%.4g s", us / 1e6);
}

/* What the finding must say of a step that was played: each collective loses the share of its exposed time that another
 * way would not take. The sum is named, and those that lose most together: equal ones, counted. NULL: it is less than
 * 2 % of the step. (transfer full) */
static char *
expect_choice (const FabSimulation *simulation)
{
  const FabDag *dag = fab_simulation_dag (simulation);
  const FabProbe *probe = fab_simulation_probe (simulation);
  const FabCollectivePlan *worst = NULL;
  double sum_ps = 0, most_ps = 0;
  guint n_worst = 0;

  for (guint i = 0; i < probe->collectives->len; i++) {
    const FabCollectivePlan
        *plan = &dag->collectives[g_array_index (probe->collectives, FabCollectiveRecord, i).index].plan;
    double of_kind_ps = 0;
    guint n = 0;

    for (guint k = 0; k < probe->collectives->len; k++) {
      const FabCollectiveRecord *record = &g_array_index (probe->collectives, FabCollectiveRecord, k);
      const FabCollectivePlan *other = &dag->collectives[record->index].plan;
      double lost_ps = other->best.algorithm == NULL
                         ? 0
                         : (double) record->exposed_ps
                               * (1
                                  - (double) other->best.idle_ps
                                        / (double) fab_collective_plan_idle_ps (other));

      sum_ps += i == 0 ? lost_ps : 0;
      if (lost_ps <= 0 || other->op != plan->op || other->bytes != plan->bytes
          || other->footprint != plan->footprint)
        continue;
      of_kind_ps += lost_ps;
      n++;
    }
    if (of_kind_ps > most_ps) {
      most_ps = of_kind_ps;
      worst = plan;
      n_worst = n;
    }
  }
  double lost = 100 * sum_ps / (double) probe->step.times.duration_ps;
  if (worst == NULL || lost < 2)
    return NULL;
  g_autofree char *size = fab_units_write_whole (FAB_UNIT_BYTES, (gint64) worst->bytes),
                  *takes = time_text (fab_collective_plan_idle_ps (worst)),
                  *would = time_text (worst->best.idle_ps);
  return g_strdup_printf (
      "GPUs wait for them for %.1f %% of the step more. %u x %s of %s takes %s as %s with %s on %u "
      "%s; %s with %s on %u would take %s.",
      lost, n_worst, fab_op_names[worst->op], size, takes, worst->algorithm, worst->protocol,
      worst->n_channels, worst->n_channels == 1 ? "channel" : "channels", worst->best.algorithm,
      worst->best.protocol, worst->best.n_channels, would);
}

#define OPERATION(op, size) "{op: " op ", size: " size "}"
#define OPERATIONS(cluster, library, list)                          \
  HEAD "cluster: {" cluster "}\ncollectives: {kind: nccl, " library \
       "}\njob: {kind: collective, operations: [" list "]}\n"

#define THRICE \
  OPERATION ("all_reduce", "1GB") ", " OPERATION ("all_reduce", "1GB") ", " OPERATION ("all_reduce", "1GB")

/* What slower choices cost is summed over the step, and the operation is named whose collectives lose most together,
 * which need not be the one that loses most alone. */
static void
what_slower_choices_cost_is_summed (G_GNUC_UNUSED void **state)
{
  static const char *const yamls[] = {
    OPERATIONS ("node: dgx-h100", "max_channels: 2", OPERATION ("all_reduce", "4GB")),
    OPERATIONS ("node: dgx-h100", "max_channels: 1", OPERATION ("all_reduce", "16MB")), /* microseconds */
    OPERATIONS ("node: dgx-h100, nodes: 2", "max_channels: 1",
                OPERATION ("all_reduce", "16MB") ", " OPERATION ("all_gather", "8MB")),
    OPERATIONS ("node: dgx-h100", "max_channels: 1", OPERATION ("all_reduce", "4GB")),
    OPERATIONS ("node: dgx-h100", "max_channels: 2",
                OPERATION ("all_reduce", "1GB") ", " OPERATION ("all_gather", "1GB") ", " THRICE),
    OPERATIONS ("node: dgx-h100", "max_channels: 2", OPERATION ("all_gather", "2GB") ", " THRICE ", " THRICE),
    OPERATIONS ("node: dgx-h100", "max_channels: 2",
                OPERATION ("reduce_scatter", "2GB") ", " OPERATION ("all_gather",
                                                                    "2GB")), /* of equal ones the first */
    OPERATIONS ("node: dgx-h100", "algorithm: ring, protocol: ll",
                OPERATION ("all_reduce", "100MB") ", " OPERATION ("all_reduce", "1KB") ", " OPERATION (
                    "all_reduce", "100MB")),
    OPERATIONS ("node: dgx-h100, nodes: 4", "algorithm: ring, protocol: ll",
                OPERATION ("all_reduce", "1GB") ", " OPERATION ("reduce_scatter", "3GB")),
    OPERATIONS ("node: dgx-h100, nodes: 2", "algorithm: ring, protocol: ll",
                OPERATION ("all_reduce", "100GB")),
    OPERATIONS ("node: hgx-b300, nodes: 5, nics_per_node: 8", "nvls: true",
                OPERATION ("all_reduce", "16MiB") ", " OPERATION ("all_reduce", "4GB")),
    OPERATIONS ("node: hgx-b300, nodes: 5, nics_per_node: 8", "nvls: true", OPERATION ("all_reduce", "4GB")),
  };
  guint n_found = 0, n_together = 0;

  for (guint i = 0; i < G_N_ELEMENTS (yamls); i++) {
    g_autoptr (Play) play = play_new (catalog, yamls[i], NULL);

    while (fab_simulation_step (play->simulation))
      ;
    g_autoptr (FabVerdict) verdict = fab_verdict_of (play->scenario, play->simulation, &fab_models, NULL);
    const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_CHOICE);
    g_autofree char *expected = expect_choice (play->simulation);

    assert_int_equal (finding != NULL, expected != NULL);
    if (finding == NULL)
      continue;
    n_found++;
    n_together += strstr (expected, "more. 1 x") == NULL;
    if (strstr (finding->text, expected) == NULL)
      fail_msg ("%s is not: %s", finding->text, expected);
  }
  assert_true (n_together >= 2 && n_found < G_N_ELEMENTS (yamls));
}

/* Of the machine alone: what was built, and not played. */
static char *
built_codes (const char *cluster, char **text)
{
  g_autofree char *yaml = g_strdup_printf (HEAD "cluster: {%s}\n" REDUCE ("1MB"), cluster);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (FabVerdict) verdict = fab_verdict_of_built (play->scenario, play->simulation);

  *text = g_strdup (fab_verdict_n (verdict) > 0 ? fab_verdict_at (verdict, 0)->text : "");
  return fab_verdict_codes (verdict);
}

/* Nine nodes on eight leaves: 9 ports down and 9 up of 64. Their 72 NICs fit on three leaves and two spines. Eight
 * nodes fit on one switch, whatever is drawn, and 32 fill the leaves. Of adapters whose switches have no known ports,
 * and of fabrics with empty places, nothing is said. */
static void
leaves_that_are_half_empty_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *codes, *text;
  } rows[] = {
    { "node: dgx-h100, nodes: 9", "half_used_switches",
      "8 leaves use 18 of 64 ports. The fabric has 10 switches, and 5 would join its 72 NICs without blocking." },
    { "node: dgx-h100, nodes: 8", "", "" },
    { "node: dgx-h100, nodes: 32", "", "" },
    { "node: dgx-h100, nodes: 33", "half_used_switches;lone_rails",
      "8 of 16 leaves use 2 of 64 ports. The fabric has 30 switches, and 14 would join its 264 NICs without "
      "blocking." },
    { "node: dgx-h100, nodes: 9, fabric: switch", "", "" },
    { "node: gb200-nvl72, nodes: 4", "half_used_switches",
      "4 of 12 leaves use 16 of 64 ports. The fabric has 17 switches, and 14 would join its 288 NICs without "
      "blocking." },
    { "node: dgx-h100, nodes: 9, fabric: {kind: rail, nodes_per_leaf: 1}", "half_used_switches;lone_rails",
      "72 leaves use 2 of 64 ports. The fabric has 77 switches, and 5 would join its 72 NICs without blocking." },
    { "node: dgx-h100, nodes: 9, places: 64", "", "" },
    { "node: tpu-v5p-4, nodes: 9, fabric: rail", "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = NULL, *codes = built_codes (rows[i].cluster, &text);

    assert_string_equal (codes, rows[i].codes);
    assert_string_equal (text, rows[i].text);
  }
}

#define CUSTOM(nodes, switches, attach, links)                                                      \
  "node: dgx-h100, nodes: " nodes ", nics_per_node: 1, fabric: {kind: custom, switches: [" switches \
  "], attach: [" attach "], links: [" links "]}"

/* Rows of several names are told one after another, with the emptiest and the fullest switch of each, and in the plural
 * of the name. One NIC on a switch is told by a sentence of its own. */
static void
switches_are_told_by_their_names (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *half_used, *lone;
  } rows[] = {
    { "node: dgx-h100, nodes: 33, nics_per_node: 2, fabric: {kind: leaf_spine, nodes_per_leaf: 4}",
      "9 leaves use 10 to 16 of 64 ports. ", NULL },
    { CUSTOM ("70", "{name: leaf, count: 8}, {name: router, count: 2}, {name: s}",
              "{nodes: 0-63, to: leaf}, {nodes: 64-69, to: router}",
              "{from: leaf, to: s}, {from: router, to: s}"),
      "8 leaves use 9 of 64 ports; 2 routers use 4 of 64 ports. ", NULL },
    { CUSTOM ("66", "{name: switch, count: 8}, {name: s}", "{to: switch}", "{from: switch, to: s}"),
      "8 switches use 9 to 10 of 64 ports. ", NULL },
    { "node: dgx-h100, nodes: 65, nics_per_node: 1, fabric: {kind: leaf_spine, nodes_per_leaf: 1}",
      "65 leaves use 2 of 64 ports. ", "65 leaves have one NIC each, so all bytes go on to another switch." },
    { "node: dgx-h100, nodes: 33", "8 of 16 leaves use 2 of 64 ports. ",
      "8 of 16 leaves have one NIC each, so all bytes go on to another switch." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (HEAD "cluster: {%s}\n" REDUCE ("1MB"), rows[i].cluster);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    g_autoptr (FabVerdict) verdict = fab_verdict_of_built (play->scenario, play->simulation);
    const FabFinding *half_used = fab_verdict_find (verdict, FAB_FINDING_HALF_USED_SWITCHES),
                     *lone = fab_verdict_find (verdict, FAB_FINDING_LONE_RAILS);

    if (half_used == NULL || !g_str_has_prefix (half_used->text, rows[i].half_used))
      fail_msg ("%s: %s", rows[i].cluster, half_used != NULL ? half_used->text : "nothing");
    assert_non_null (strstr (half_used->advice, "nodes_per_leaf"));
    assert_int_equal (lone != NULL, rows[i].lone != NULL);
    if (lone != NULL) {
      assert_string_equal (lone->text, rows[i].lone);
      assert_non_null (strstr (lone->advice, "nodes_per_leaf"));
    }
  }
}

/* Sentences of every size come before those of the size that is built, and keys that a scenario adds change neither. A
 * design that leaves nothing open, and a machine without one, are not told. */
static void
what_a_design_assumes_is_told (G_GNUC_UNUSED void **state)
{
  static const char designs[] =
      "designs: [{name: d, node: dgx-h100, unit_nodes: 4, sizes: [{units: 1, fabric: switch},\n"
      "  {units: 2, fabric: switch, assumed: Cores are drawn as one.}]%s}]\n"
      "cluster: {design: d, scalable_units: %d}\n" REDUCE ("1MB");
  static const struct {
    const char *of_all;
    int units;
    const char *text;
  } rows[] = {
    { "", 1, NULL },
    { "", 2, "Not all of the design d was published. Cores are drawn as one." },
    { ", assumed: Racks are guessed.", 1, "Not all of the design d was published. Racks are guessed." },
    { ", assumed: Racks are guessed.", 2,
      "Not all of the design d was published. Racks are guessed. Cores are drawn as one." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *machine = g_strdup_printf (designs, rows[i].of_all, rows[i].units);
    g_autofree char *yaml = g_strconcat (HEAD, machine, NULL);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    g_autoptr (FabVerdict) verdict = fab_verdict_of_built (play->scenario, play->simulation);
    const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_ASSUMED_DESIGN);

    assert_int_equal (finding != NULL, rows[i].text != NULL);
    if (finding != NULL)
      assert_string_equal (finding->text, rows[i].text);
  }
}

/* The text of the finding about ports; "" where there is none. (transfer full) */
static char *
uneven_text (const char *cluster, const char *more)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\ncollectives: {kind: plain, algorithm: ring}\n"
      "cluster: {node: dgx-a100, nodes: 2, nics_per_node: 2, nic_rate: 100Gb/s, route: spray, %s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n%s",
      cluster, more);
  g_autoptr (FabVerdict) verdict = verdict_of (yaml);
  const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_UNEVEN_PORTS);

  return g_strdup (finding != NULL ? finding->text : "");
}

/* Each of the four NICs has one flow out and one in, which a bond puts on one port each. A dead port leaves all to the
 * other one. Ports that share evenly, and NICs with one, are not told of. */
static void
ports_that_are_used_unevenly_are_told (G_GNUC_UNUSED void **state)
{
  const char *two = "nic_ports: 2, fabric: {kind: leaf_spine, planes: 2}",
             *dead = "faults: [{what: port, port: 0, name: node1/nic1, dead: true}]\n";
  g_autofree char *bond = g_strconcat (two, ", port_use: bond", NULL);
  g_autofree char *bonded = uneven_text (bond, ""), *merged = uneven_text (two, ""),
                  *broken = uneven_text (two, dead), *one = uneven_text ("nic_ports: 1", "");

  assert_true (g_str_has_prefix (bonded, "4 of 4 NICs use their ports unevenly: "));
  assert_non_null (
      strstr (bonded, "carries 100 % of what goes that way through its NIC, and an even share is 50 %."));
  assert_string_equal (merged, "");
  assert_string_equal (one, "");
  assert_true (g_str_has_suffix (broken, " 1 of them leaves a port empty.")
               || strstr (broken, "of them leave") != NULL);
}

/* --- the list --- */

/* A job of a collective has no memory that was predicted: no factor widens it. */
static void
memory_that_nobody_predicts_has_no_band (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, HEAD ONE REDUCE ("1MB"), NULL);
  FabFit fit = fab_fit_of (play->simulation);

  assert_int_equal (fit.needed_bytes, 0);
  assert_near ((double) fit.device_bytes, 80e9, 1e-9);
  assert_near (fit.low_factor, 1, 0);
  assert_near (fit.high_factor, 1, 0);
}

/* Texts of findings that stop a job follow one another, even the shortest. */
static void
what_stops_a_job_is_told_in_a_row (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabVerdict) verdict = fab_verdict_new ();

  fab_verdict_add (verdict, FAB_FINDING_CHOICE, g_strdup ("b"), NULL);
  assert_null (fab_verdict_stop_words (verdict));
  fab_verdict_add (verdict, FAB_FINDING_DOES_NOT_FIT, g_strdup ("c"), NULL);
  g_autofree char *one = fab_verdict_stop_words (verdict);
  fab_verdict_add (verdict, FAB_FINDING_DOES_NOT_FIT, g_strdup ("d"), NULL);
  g_autofree char *two = fab_verdict_stop_words (verdict);
  assert_string_equal (one, "c");
  assert_string_equal (two, "c d");
}

static void
findings_are_ordered_by_code (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabVerdict) verdict = fab_verdict_new ();

  fab_verdict_add (verdict, FAB_FINDING_WAITS_FOR_HOST, g_strdup ("a"), NULL);
  fab_verdict_add (verdict, FAB_FINDING_CHOICE, g_strdup ("b"), NULL);
  fab_verdict_add (verdict, FAB_FINDING_CHOICE, g_strdup ("c"), g_strdup ("do"));
  fab_verdict_add (verdict, FAB_FINDING_DOES_NOT_FIT, g_strdup ("d"), NULL);
  g_autoptr (FabVerdict) copy = fab_verdict_copy (verdict);
  g_autofree char *codes = fab_verdict_codes (copy);

  assert_string_equal (codes, "does_not_fit;choice;waits_for_host");
  assert_int_equal (fab_verdict_n (copy), 4);
  assert_string_equal (fab_verdict_at (copy, 1)->text, "b");
  assert_string_equal (fab_verdict_at (copy, 2)->advice, "do");
  assert_string_equal (fab_verdict_waits_for (copy)->text, "a");
  assert_int_equal (fab_verdict_n (NULL), 0);
  assert_false (fab_verdict_stops (NULL));
}

/* Whoever reads a verdict back from its codes has the same codes again, with what each kind says in general; names that
 * nobody knows are left out. */
static void
codes_are_read_back (G_GNUC_UNUSED void **state)
{
  for (guint code = 0; code < FAB_N_FINDING_CODES; code++) {
    g_autoptr (FabVerdict) verdict = fab_verdict_new ();

    fab_verdict_add (verdict, code, g_strdup ("text"), NULL);
    fab_verdict_add (verdict, 0, g_strdup ("text"), NULL);
    g_autofree char *codes = fab_verdict_codes (verdict),
                    *more = g_strconcat ("nothing;", codes, ";else", NULL);
    g_autoptr (FabVerdict) back = fab_verdict_of_codes (more);
    g_autofree char *again = fab_verdict_codes (back);
    assert_string_equal (again, codes);
    assert_int_equal (fab_verdict_n (back), code == 0 ? 1 : 2);
    assert_string_equal (fab_verdict_find (back, code)->text, fab_finding_kinds[code].summary);
    assert_int_equal (fab_verdict_find (back, code)->rank, -1);
    gboolean is_wait = code >= FAB_FINDING_WAITS_FOR_COMPUTE;
    assert_true ((fab_verdict_waits_for (back) != NULL) == is_wait);
  }
  g_autoptr (FabVerdict) one = fab_verdict_of_codes ("choice");
  assert_int_equal (fab_verdict_n (one), 1);
  assert_null (fab_verdict_of_codes (NULL));
}

/* The texts of all findings that stop, and of no other, one after another. */
static void
what_stops_is_said (G_GNUC_UNUSED void **state)
{
  for (guint code = 0; code < FAB_N_FINDING_CODES; code++) {
    g_autoptr (FabVerdict) verdict = fab_verdict_new ();
    gboolean stops = fab_finding_kinds[code].severity == FAB_FINDING_STOPS;

    fab_verdict_add (verdict, code, g_strdup ("One."), NULL);
    fab_verdict_add (verdict, code, g_strdup ("Two."), g_strdup ("old"));
    fab_verdict_advise (verdict, code, g_strdup ("new"));
    g_autofree char *words = fab_verdict_stop_words (verdict);
    assert_true (fab_verdict_stops (verdict) == stops);
    if (stops)
      assert_string_equal (words, "One. Two.");
    else
      assert_null (words);
    /* Advice goes to the first finding of the kind. */
    assert_string_equal (fab_verdict_at (verdict, 0)->advice, "new");
    assert_string_equal (fab_verdict_at (verdict, 1)->advice, "old");
  }
}

/* A finding that was taken away is nowhere any more, and who has no verdict has no findings. */
static void
findings_that_are_taken_away_are_gone (G_GNUC_UNUSED void **state)
{
  for (guint code = 0; code < FAB_N_FINDING_CODES; code++) {
    g_autoptr (FabVerdict) verdict = fab_verdict_new ();
    g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);

    fab_verdict_add (verdict, code, g_strdup ("One."), NULL);
    g_array_set_size (verdict->findings, 0);
    fab_verdict_advise (verdict, code, g_strdup ("advice"));
    assert_int_equal (fab_verdict_n (verdict), 0);
    assert_null (fab_verdict_find (verdict, code));
    assert_false (fab_verdict_stops (verdict));
    assert_null (fab_verdict_stop_words (verdict));
    assert_null (fab_verdict_waits_for (verdict));
    g_autofree char *codes = fab_verdict_codes (verdict);
    assert_string_equal (codes, "");
    g_autoptr (FabVerdict) copy = fab_verdict_copy (verdict);
    assert_int_equal (fab_verdict_n (copy), 0);
    fab_verdict_add_json (verdict, json, NULL);
    g_autofree char *text = fab_json_finish (json);
    assert_string_equal (g_strchomp (text), "[]");
  }
  fab_verdict_free (NULL);
  assert_null (fab_verdict_find (NULL, FAB_FINDING_CHOICE));
  assert_null (fab_verdict_waits_for (NULL));
}

/* Rows of a file and the JSON of a page have the fields of the finding. */
static void
findings_are_written_whole (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabVerdict) verdict = fab_verdict_new ();
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);
  FabFinding stops = { .code = FAB_FINDING_DOES_NOT_FIT, .text = g_strdup ("a"), .rank = 0 };

  stops.link = g_strdup ("leaf0");
  fab_verdict_add_finding (verdict, stops);
  fab_verdict_add (verdict, FAB_FINDING_CHOICE, g_strdup ("b"), g_strdup ("do"));
  fab_verdict_add_json (verdict, json, NULL);
  g_autofree char *text = fab_json_finish (json);
  assert_string_equal (g_strchomp (text),
                       "[{\"code\":\"does_not_fit\",\"severity\":\"stops\",\"text\":\"a\",\"advice\":null,"
                       "\"link\":\"leaf0\",\"rank\":0},"
                       "{\"code\":\"choice\",\"severity\":\"warns\",\"text\":\"b\",\"advice\":\"do\","
                       "\"link\":null,\"rank\":null}]");
  g_autofree FabFindingRecord *rows = fab_verdict_records (verdict);
  assert_string_equal (rows[0].code, "does_not_fit");
  assert_string_equal (rows[0].severity, "stops");
  assert_string_equal (rows[0].text, "a");
  assert_null (rows[0].advice);
  assert_string_equal (rows[1].code, "choice");
  assert_string_equal (rows[1].advice, "do");
}

/* Three digits, all of those before the point, and as many as tell the two numbers apart. */
static void
gigabytes_are_told_apart (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabBytes bytes, other;
    const char *text;
  } cases[] = { { 1000000000000, 0, "1000 GB" },       { 999000000000, 0, "999 GB" },
                { 999400000000, 0, "999 GB" },         { 999500000000, 0, "1000 GB" },
                { 999600000000, 0, "1000 GB" },        { 12340000000, 0, "12.3 GB" },
                { 80000000000, 80000000000, "80 GB" }, { 80001000000, 80000000000, "80.001 GB" },
                { 80000000000, 80001000000, "80 GB" }, { 1234567000000, 1234568000000, "1234.567 GB" },
                { 500000000, 1000000000, "0.5 GB" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *text = fab_verdict_gigabytes (cases[i].bytes, cases[i].other);

    assert_string_equal (text, cases[i].text);
  }
}

static int
load_catalog (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return 0;
}

static int
drop_catalog (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (g_steal_pointer (&catalog));
  return 0;
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_job_that_does_not_fit_stops),
    cmocka_unit_test (played_seeds_are_not_asked_for),
    cmocka_unit_test (a_band_of_memory_warns_before_it_stops),
    cmocka_unit_test (a_step_waits_for_one_thing),
    cmocka_unit_test (a_straggler_is_named),
    cmocka_unit_test (the_parts_of_a_step_are_the_whole),
    cmocka_unit_test (a_link_that_binds_is_named),
    cmocka_unit_test (a_slower_choice_is_named),
    cmocka_unit_test (what_slower_choices_cost_is_summed),
    cmocka_unit_test (a_link_without_a_measurement_is_uncalibrated),
    cmocka_unit_test (an_unknown_generation_is_uncalibrated),
    cmocka_unit_test (sizes_outside_the_measured_ones_are_extrapolated),
    cmocka_unit_test (a_fidelity_says_what_it_does_not_know),
    cmocka_unit_test (different_channels_on_a_link_are_told),
    cmocka_unit_test (leaves_that_are_half_empty_are_told),
    cmocka_unit_test (switches_are_told_by_their_names),
    cmocka_unit_test (what_a_design_assumes_is_told),
    cmocka_unit_test (ports_that_are_used_unevenly_are_told),
    cmocka_unit_test (memory_that_nobody_predicts_has_no_band),
    cmocka_unit_test (what_stops_a_job_is_told_in_a_row),
    cmocka_unit_test (findings_are_ordered_by_code),
    cmocka_unit_test (codes_are_read_back),
    cmocka_unit_test (what_stops_is_said),
    cmocka_unit_test (findings_that_are_taken_away_are_gone),
    cmocka_unit_test (findings_are_written_whole),
    cmocka_unit_test (gigabytes_are_told_apart),
  };

  return cmocka_run_group_tests (tests, load_catalog, drop_catalog);
}
