/* SPDX-License-Identifier: Apache-2.0 */
/* test_find.c - what findings of one simulation say: of memory that is just too small, of links, sizes and accelerators
 * that nobody measured, and of fidelities that would see more. */
#include "tests/support/test.h"

#include <string.h>

#include "models/models.h"
#include "sim/verdict/verdict.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

#define HEAD "name: t\niterations: 1\n"
#define REDUCE(size) "{op: all_reduce, size: " size "}"
#define OPERATIONS(list) "job: {kind: collective, operations: [" list "]}\n"

/* (transfer full) */
static FabVerdict *
verdict_of (const char *yaml)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (GError) error = NULL;

  while (fab_simulation_step (play->simulation))
    ;
  FabVerdict *verdict = fab_verdict_of (play->scenario, play->simulation, &fab_models, &error);
  assert_null (error);
  return verdict;
}

/* The text of the finding; NULL: there is none. */
static const char *
text_of (const FabVerdict *verdict, FabFindingCode code)
{
  const FabFinding *finding = fab_verdict_find (verdict, code);

  return finding != NULL ? finding->text : NULL;
}

/* --- memory --- */

/* A step of training on accelerators of so many bytes. (transfer full) */
static Play *
train (FabBytes memory, const char *job)
{
  g_autofree char *yaml = g_strdup_printf (
      HEAD
      "accelerators: [{name: h100-sxm5-80gb, architecture: hopper, peak_fp16: 989TFLOP/s, peak_fp32: 67TFLOP/s,\n"
      "  memory: %" G_GUINT64_FORMAT "B, memory_rate: 3350GB/s}]\n"
      "cluster: {node: dgx-h100}\n"
      "job: {model: gpt2-xl, sequence: 1024, micro_batch: 1, compute: {kind: mfu, mfu: 40%%}, %s}\n",
      (guint64) memory, job);

  return play_new (catalog, yaml, NULL);
}

#define DDP "kind: ddp"

/* The need and its band are those that the job says. The sentences name the need, what there is, and the band where its
 * low end is below the need; at both ends of the band a byte decides. */
static void
a_byte_of_memory_decides (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) ample = train (1000000000000, DDP);
  FabFit fit = fab_fit_of (ample->simulation);
  const FabJobTotals *totals = fab_simulation_totals (ample->simulation);
  double needed = (double) fit.needed_bytes;
  FabBytes low = (FabBytes) ceil (needed * fit.low_factor), high = (FabBytes) ceil (needed * fit.high_factor);
  const struct {
    FabBytes memory;
    FabFindingCode code; /* FAB_N_FINDING_CODES: none */
  } rows[] = { { high, FAB_N_FINDING_CODES },
               { high - 1, FAB_FINDING_MAY_NOT_FIT },
               { low, FAB_FINDING_MAY_NOT_FIT },
               { low - 1, FAB_FINDING_DOES_NOT_FIT } };

  assert_true (totals->memory_low_factor > 0 && totals->memory_low_factor < 1
               && totals->memory_high_factor > 1);
  assert_near (fit.low_factor, totals->memory_low_factor, 0);
  assert_near (fit.high_factor, totals->memory_high_factor, 0);
  assert_int_equal (fit.needed_bytes, fab_job_totals_memory (totals, 0));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Play) play = train (rows[i].memory, DDP);
    g_autoptr (FabVerdict) verdict = fab_verdict_of_built (play->scenario, play->simulation);
    g_autofree char *need = fab_verdict_gigabytes (fit.needed_bytes, rows[i].memory),
                    *has = fab_verdict_gigabytes (rows[i].memory, fit.needed_bytes),
                    *missing = fab_verdict_gigabytes (fit.needed_bytes - rows[i].memory, 0),
                    *from = fab_verdict_gigabytes ((FabBytes) (needed * fit.low_factor), 0),
                    *to = fab_verdict_gigabytes ((FabBytes) (needed * fit.high_factor), 0);
    g_autofree char
        *band = g_strdup_printf ("Measured jobs needed %.2g to %.3g times what was predicted: %s to %s.",
                                 fit.low_factor, fit.high_factor, from, to),
        *misses = g_strdup_printf (
            "The job does not fit: rank 0 needs %s of the %s of its accelerator, %s too much. %s", need, has,
            missing, band),
        *doubts = g_strdup_printf ("Memory may not suffice: rank 0 needs %s, and its accelerator has %s. %s",
                                   need, has, band);

    assert_int_equal (fab_verdict_n (verdict), rows[i].code < FAB_N_FINDING_CODES ? 1 : 0);
    if (rows[i].code == FAB_N_FINDING_CODES)
      continue;
    const FabFinding *finding = fab_verdict_at (verdict, 0);
    assert_int_equal (finding->code, rows[i].code);
    assert_int_equal (finding->rank, 0);
    assert_string_equal (finding->text, rows[i].code == FAB_FINDING_DOES_NOT_FIT ? misses : doubts);
    assert_int_equal (finding->advice != NULL, rows[i].code == FAB_FINDING_MAY_NOT_FIT);
  }
}

/* The rank that is named is the first of those that need most: of equal ones the first, and of stages the one with the
 * largest part. */
static void
the_rank_that_needs_most_is_named (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = { "kind: ddp, stragglers: [{rank: 3, slowness: 1.5}]",
                                      "kind: ddp, stragglers: [{rank: 0, slowness: 1.5}]",
                                      "kind: megatron, parallel: {pipeline: 8}",
                                      "kind: megatron, parallel: {pipeline: 8}, accumulation: 16",
                                      "kind: megatron, parallel: {pipeline: 4}, accumulation: 16" };
  guint n_later = 0;

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autoptr (Play) play = train (1000000, jobs[i]);
    const FabDag *dag = fab_simulation_dag (play->simulation);
    const FabJobTotals *totals = fab_simulation_totals (play->simulation);
    g_autoptr (FabVerdict) verdict = fab_verdict_of_built (play->scenario, play->simulation);
    const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_DOES_NOT_FIT);
    guint most = 0;

    assert_true (dag->n_classes > 1);
    for (guint c = 1; c < dag->n_classes; c++)
      if (fab_job_totals_memory (totals, c) > fab_job_totals_memory (totals, most))
        most = c;
    g_autofree char *expected = g_strdup_printf (": rank %u needs ", dag->classes[most].first_rank);
    assert_int_equal (finding->rank, dag->classes[most].first_rank);
    assert_non_null (strstr (finding->text, expected));
    n_later += most > 0;
  }
  assert_true (n_later < G_N_ELEMENTS (jobs));
}

/* --- what nobody measured --- */

#define MEASURED                                                                               \
  "links: [{name: m, lanes: 4, signalling: 50Gb/s, latency: 600ns, copy: {achievable: 0.9},\n" \
  "  messages: [{overhead: 2us, rate: 20GB/s}], measured: {from: 8KiB, to: 8MiB}}]\n"          \
  "cluster: {node: host, nodes: 4, nic: m}\ncollectives: {kind: mpi, algorithm: ring}\n"

/* A ring of four sends quarters: 4, 16 and 32 KiB, of which the first is too small, and 16 MiB, which is too large. */
static void
sizes_that_were_not_measured_are_counted (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *operations, *text;
  } rows[] = {
    { OPERATIONS (REDUCE ("16KiB")), "1 of 1 message sizes lies outside" },
    { OPERATIONS (REDUCE ("64KiB") ", " REDUCE ("16KiB")), "1 of 2 message sizes lies outside" },
    { OPERATIONS (REDUCE ("16KiB") ", " REDUCE ("128KiB") ", " REDUCE ("64MiB")),
      "2 of 3 message sizes lie outside" },
    { OPERATIONS (REDUCE ("128KiB") ", " REDUCE ("64KiB")), NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strconcat (HEAD MEASURED, rows[i].operations, NULL);
    g_autoptr (FabVerdict) verdict = verdict_of (yaml);
    const char *text = text_of (verdict, FAB_FINDING_EXTRAPOLATED);

    if (rows[i].text == NULL)
      assert_null (text);
    else
      assert_true (g_str_has_prefix (text, rows[i].text));
  }
}

/* Any one number that was measured on a link is enough. */
static void
one_measured_number_is_enough (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *keys;
    gboolean is_told;
  } rows[] = {
    { "", TRUE },
    { ", copy: {achievable: 100%, payload: 4096B, overhead: 64B}", TRUE },
    { ", copy: {achievable: 99%}", FALSE },
    { ", kernel: {achievable: 99%}", FALSE },
    { ", collective_fraction: 100%, collective_source: s", FALSE },
    { ", messages: [{overhead: 2us, rate: 20GB/s}]", FALSE },
    { ", measured: {from: 0B, to: 1B}", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        HEAD "links: [{name: x, lanes: 4, signalling: 50Gb/s, latency: 600ns%s}]\n"
             "cluster: {node: dgx-h100, nodes: 2, nics_per_node: 1, nic: x}\n" OPERATIONS (REDUCE ("200MB")),
        rows[i].keys);
    g_autoptr (FabVerdict) verdict = verdict_of (yaml);
    const char *text = text_of (verdict, FAB_FINDING_UNCALIBRATED);

    assert_int_equal (text != NULL, rows[i].is_told);
    if (text != NULL)
      assert_string_equal (
          text, "The links that set the pace of collectives are not measured, so their full line rate "
                "is used: x.");
  }
}

/* Each link is named once: of two groups of collectives, those inside of nodes wait for the one and those between nodes
 * for the other. */
static void
each_link_that_was_not_measured_is_named_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabVerdict) verdict = verdict_of (
      HEAD "links: [{name: x, lanes: 4, signalling: 50Gb/s, latency: 600ns},\n"
           "  {name: w, technology: NVLink, lanes: 8, signalling: 100Gb/s, latency: 600ns}]\n"
           "nodes: [{name: box, accelerator: h100-sxm5-80gb, nic: x, fabric: switch, parts: [\n"
           "  {name: gpu, kind: accelerator, count: 4}, {name: hub, kind: switch}, {name: nic, kind: nic}],\n"
           "  wires: [{from: gpu, to: hub, link: w}, {from: nic, to: hub, link: w}]}]\n"
           "cluster: {node: box, nodes: 2}\ncollectives: plain\n"
           "job: {kind: megatron, model: gpt2-xl, sequence: 1024, micro_batch: 1, parallel: {tensor: 4},\n"
           "  compute: {kind: mfu, mfu: 40%}}\n");

  assert_string_equal (
      text_of (verdict, FAB_FINDING_UNCALIBRATED),
      "The links that set the pace of collectives are not measured, so their full line rate is used: w, x.");
}

#define ODD(architecture)                                                                                \
  "accelerators: [{name: h100-sxm5-80gb, " architecture "peak_fp16: 989TFLOP/s, peak_fp32: 67TFLOP/s,\n" \
  "  memory: 80GB, memory_rate: 3350GB/s}]\n"

/* The generation is named where it has a name. */
static void
a_generation_that_was_not_measured_is_named (G_GNUC_UNUSED void **state)
{
  static const char *const machines[][2] = { { ODD ("architecture: odd, "), " (odd), so products" },
                                             { ODD (""), " (not named), so products" } };

  for (guint i = 0; i < G_N_ELEMENTS (machines); i++) {
    g_autofree char *yaml = g_strconcat (HEAD, machines[i][0],
                                         "cluster: {node: dgx-h100}\n"
                                         "job: {kind: ddp, model: gpt2-xl, micro_batch: 4, sequence: 1024}\n",
                                         NULL);
    g_autoptr (FabVerdict) verdict = verdict_of (yaml);

    assert_non_null (strstr (text_of (verdict, FAB_FINDING_UNCALIBRATED), machines[i][1]));
  }
}

/* --- fidelities --- */

/* Three nodes send to a fourth one. Who would wait for more than a minute is told how long that takes. */
static void
a_fidelity_that_would_see_it_is_advised (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *size, *advice;
  } rows[] = {
    { "1MB", "Simulate it again with --fidelity packet." },
    { "1TB", "Simulate it again with --fidelity packet; an iteration at that fidelity takes at most about " }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = g_strdup_printf (
        HEAD "cluster: {node: dgx-h100, nodes: 4, gpus_per_node: 1, nics_per_node: 1, fabric: switch}\n"
             "job: {kind: traffic, size: %s, pattern: pairs, pairs: [{from: 0, to: 3}, {from: 1, to: 3}, "
             "{from: 2, to: 3}]}\n",
        rows[i].size);
    g_autoptr (FabVerdict) verdict = verdict_of (yaml);
    const FabFinding *finding = fab_verdict_find (verdict, FAB_FINDING_FIDELITY_INCAST);

    assert_true (
        g_str_has_prefix (finding->text, "The fidelity fluid does not simulate incast: senders offer "));
    assert_true (g_str_has_prefix (finding->advice, rows[i].advice));
    assert_true (g_str_has_suffix (finding->advice, ".")); /* it is a sentence */
    assert_string_equal (finding->link, "switch -> node3/nic0");
    assert_int_equal (finding->rank, -1);
  }
}

/* Hashed paths depend on the seed, and shortest ones do not. */
static void
what_depends_on_the_seed_is_told (G_GNUC_UNUSED void **state)
{
  for (guint is_hashed = 0; is_hashed < 2; is_hashed++) {
    g_autofree char *yaml = g_strdup_printf (
        HEAD "cluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1,\n"
             "  fabric: {kind: leaf_spine, nodes_per_leaf: 4}, route: %s}\n"
             "job: {kind: traffic, size: 1MB, pattern: shift, distance: 4}\n",
        is_hashed ? "ecmp" : "shortest");
    g_autoptr (FabVerdict) verdict = verdict_of (yaml);

    assert_int_equal (fab_verdict_find (verdict, FAB_FINDING_SPREAD) != NULL, is_hashed);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_byte_of_memory_decides),
    cmocka_unit_test (the_rank_that_needs_most_is_named),
    cmocka_unit_test (sizes_that_were_not_measured_are_counted),
    cmocka_unit_test (one_measured_number_is_enough),
    cmocka_unit_test (each_link_that_was_not_measured_is_named_once),
    cmocka_unit_test (a_generation_that_was_not_measured_is_named),
    cmocka_unit_test (a_fidelity_that_would_see_it_is_advised),
    cmocka_unit_test (what_depends_on_the_seed_is_told),
  };

  return play_run_tests ("find", tests, &catalog);
}
