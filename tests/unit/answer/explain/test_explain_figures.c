/* SPDX-License-Identifier: Apache-2.0 */
/* test_explain_figures.c - figures at their edges: memory that just fits, jobs that do not communicate, and what is
 * said of compute where ranks repeat work, wait for the slowest of them, or have experts.
 */
#include "tests/unit/answer/explain/explained.h"

static FabCatalog *catalog;

#define MODEL                                                                                              \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, " \
  "hidden: 1024, heads: 8, vocabulary: 1000, tied: false, biases: false}}]\n"
#define TRAINING "job: {kind: ddp, model: m, micro_batch: 1, sequence: 512, compute: {kind: mfu, mfu: 50%}}\n"

/* A training on accelerators with so much memory. (transfer full) */
static char *
training_with (guint64 memory_bytes)
{
  return g_strdup_printf (
      "name: t\n" MODEL
      "accelerators: [{name: a100-sxm4-80gb, architecture: ampere, peak_fp16: 312TFLOP/s, peak_fp32: "
      "19.5TFLOP/s, memory: %" G_GUINT64_FORMAT "B, memory_rate: 2039GB/s}]\n"
      "cluster: {node: dgx-a100}\ncollectives: plain\n%s",
      memory_bytes, TRAINING);
}

/* What is needed may be as much as there is, and a GPU of which nothing is known (0) is not held against it. */
static void
memory_fits_to_the_last_byte (G_GNUC_UNUSED void **state)
{
  g_autofree char *any = training_with (80000000000);
  g_auto (Explained) first = explained (catalog, any, "memory");
  guint64 needed = (guint64) explained_find (&first, "memory")->value;
  const struct {
    guint64 bytes;
    const char *verdict; /* NULL: nothing is said */
  } rows[] = { { 0, NULL },
               { 1, "does not fit" },
               { needed - 1, "does not fit" },
               { needed, "fits" },
               { needed + 1, "fits" } };

  assert_true (needed > 1000000);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *yaml = training_with (rows[i].bytes);
    g_auto (Explained) it = explained (catalog, yaml, "memory");
    const FabStatement *memory = explained_find (&it, "memory");
    g_autofree char *has = fab_term_show (FAB_TERM_BYTES, (double) rows[i].bytes);
    g_autofree char *expected = g_strdup_printf ("A GPU has %s: it %s.", has, rows[i].verdict);

    assert_int_equal ((guint64) memory->value, needed);
    assert_int_equal (explained_has_note (memory, "A GPU has "), rows[i].verdict != NULL);
    if (rows[i].verdict != NULL)
      assert_true (explained_has_note (memory, expected));
  }
}

/* One GPU communicates with nobody: the answer says so where it was asked for, and not below the step. */
static void
nothing_is_exposed_without_communication (G_GNUC_UNUSED void **state)
{
  static const char yaml[] = "name: t\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\n" MODEL
      TRAINING;
  g_auto (Explained) time = explained (catalog, yaml, "exposed_time"),
                     share = explained (catalog, yaml, "exposed"), step = explained (catalog, yaml, "step");

  assert_int_equal (time.out->statements->len, 1);
  assert_explained (explained_find (&time, "exposed"),
                    "0 exposed communication: exposed = 0 s\n"
                    "Communication is under way for 0 s of the step; 0 s of that is hidden under compute.");
  assert_int_equal (share.out->statements->len, 1);
  assert_near (explained_find (&share, "exposed_share")->value, 0, 0);
  assert_null (explained_find (&step, "exposed"));
}

/* A collective of one GPU takes no time, of which no share is exposed. */
static void
a_step_of_no_time_has_no_share (G_GNUC_UNUSED void **state)
{
  g_auto (Explained) it = explained (
      catalog,
      "name: t\ncluster: {node: dgx-a100, nodes: 1, gpus_per_node: 1}\ncollectives: plain\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1GB}]}\n",
      "exposed");
  const FabStatement *share = explained_find (&it, "exposed_share");

  assert_near (explained_term (share, "step"), 0, 0);
  assert_near (share->value, 0, 0);
  fab_explanation_free (NULL); /* there is none to free */
}

/* --- compute --- */

#define RANKS(nodes, gpus) \
  "name: t\ncluster: {node: dgx-a100, nodes: " nodes ", gpus_per_node: " gpus "}\n" MODEL
#define JOB(keys) "collectives: plain\njob: {model: m, micro_batch: 1, sequence: 512, " keys "}\n"

/* What runs of models say of the compute that is priced by kernels: nothing of a single rank, nor where a measured run
 * fixed it. */
static void
published_runs_are_told_of_where_they_count (G_GNUC_UNUSED void **state)
{
  static const char *const notes[] = {
    "No kernel time rests on runs of models. Published runs of several ranks take ",
    "No kernel time rests on runs of models. A single rank waits for no other",
    "A measured run fixed how fast kernels are (job.compute.scale)"
  };
  static const char *const yamls[] = { RANKS ("2", "4") JOB ("kind: ddp, compute: auto"),
                                       RANKS ("1", "1") JOB ("kind: ddp, compute: auto"),
                                       RANKS ("2", "4")
                                           JOB ("kind: ddp, compute: {kind: auto, scale: 90%}") };

  for (guint i = 0; i < G_N_ELEMENTS (yamls); i++) {
    g_auto (Explained) it = explained (catalog, yamls[i], "step");
    const FabStatement *reached = explained_find (&it, "reached");
    const FabJobTotals *totals = fab_simulation_totals (it.play->simulation);

    for (guint k = 0; k < G_N_ELEMENTS (notes); k++)
      assert_int_equal (explained_has_note (reached, notes[k]), k == i);
    g_autofree char *published = g_strdup_printf (
        "%s%.3g times the priced computation on the median, for waiting and other causes that they do not name; of "
        "them 90 %% took %.3g to %.3g of the time with this factor (software %s: %" G_GINT64_FORMAT
        " %s of %" G_GINT64_FORMAT " %s).",
        notes[0], totals->setup.time_factor, totals->setup.low_factor, totals->setup.high_factor,
        totals->stack, totals->setup.n_rows, totals->setup.n_rows == 1 ? "run" : "runs",
        totals->setup.n_sources, totals->setup.n_sources == 1 ? "source" : "sources");
    assert_int_equal (explained_has_note (reached, published), i == 0);
  }
}

/* Where GPUs differ, every step waits for the slowest of them, which is told with how much slower it is. */
static void
a_step_is_that_of_the_slowest_rank (G_GNUC_UNUSED void **state)
{
  static const char *const yamls[] = { RANKS ("2", "4") JOB ("kind: ddp, compute: auto, jitter: {gpus: 0%}"),
                                       RANKS ("2", "4")
                                           JOB ("kind: ddp, compute: auto, jitter: {gpus: 5%}") };

  for (guint i = 0; i < G_N_ELEMENTS (yamls); i++) {
    g_auto (Explained) it = explained (catalog, yamls[i], "step");
    const FabJobTotals *totals = fab_simulation_totals (it.play->simulation);
    g_autofree char *note = g_strdup_printf (
        "They are %.4g times those of an average GPU, because every step waits for "
        "the slowest of 8 GPUs (job.jitter.gpus).",
        totals->waiting);

    assert_int_equal (totals->waiting > 1, i == 1);
    assert_int_equal (explained_has_note (explained_find (&it, "reached"), "They are "), i == 1);
    assert_int_equal (explained_has_note (explained_find (&it, "reached"), note), i == 1);
  }
}

/* A model of eight experts, of which a token sees two. */
#define EXPERTS                                                                                             \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-29\", shape: {kind: transformer, layers: 4, "  \
  "hidden: 1024, heads: 8, feed_forward: 2048, gated: true, vocabulary: 1000, tied: false, biases: false, " \
  "experts: {count: 8, per_token: 2}}}]\n"

/* Every rank of a tensor-parallel group does the router itself, which FLOPs do not count. */
static void
what_ranks_repeat_is_a_part_of_their_kernels (G_GNUC_UNUSED void **state)
{
  static const char *const parallel[] = { "expert: 4", "tensor: 2, expert: 4" };

  for (guint i = 0; i < G_N_ELEMENTS (parallel); i++)
    for (guint is_capped = 0; is_capped < 2; is_capped++) {
      g_autofree char *yaml = g_strdup_printf (
          "name: t\ncluster: {node: dgx-a100%s}\n%scollectives: plain\njob: {kind: megatron, model: m, micro_batch: 1, "
          "sequence: 512, parallel: {%s}, compute: {kind: mfu, mfu: 50%%}}\n",
          is_capped ? ", power_cap: 75%" : "", EXPERTS, parallel[i]);
      g_auto (Explained) it = explained (catalog, yaml, "step");
      const FabStatement *kernels = explained_find (&it, "kernels");
      g_autofree char *formula = g_strdup_printf ("flops / (%s * mfu)%s", is_capped ? "rate" : "peak",
                                                  i == 1 ? " + repeated" : "");
      double rate = explained_term (kernels, is_capped ? "rate" : "peak");

      assert_string_equal (kernels->formula, formula);
      assert_int_equal (explained_has_note (kernels, "repeated: "), i == 1);
      if (i == 1)
        assert_near (explained_term (kernels, "repeated"),
                     kernels->value - explained_term (kernels, "flops") / (rate * 0.5), 1e-9);
      else
        assert_true (isnan (explained_term (kernels, "repeated")));
      assert_int_equal (explained_find (&it, "rate") != NULL, is_capped);
    }
}

/* Where a rank has several experts, tokens are copied into their order, and the host reads how many each has. */
static void
experts_have_parts_of_their_own (G_GNUC_UNUSED void **state)
{
  static const char *const jobs[] = { "model: m, kind: megatron, parallel: {expert: 4}",
                                      "model: gpt2, kind: ddp" };

  for (guint i = 0; i < G_N_ELEMENTS (jobs); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-a100}\n%scollectives: plain\njob: {%s, micro_batch: 1, sequence: 512, compute: "
        "auto}\n",
        EXPERTS, jobs[i]);
    g_auto (Explained) it = explained (catalog, yaml, "mfu");
    const FabStatement *priced = explained_find (&it, "priced");
    const FabComputeParts *parts = &fab_simulation_totals (it.play->simulation)->parts;

    assert_string_equal (priced->formula,
                         i == 0 ? "products + attention + memory_bound + copies + launches + readback + host"
                                : "products + attention + memory_bound + launches + host");
    assert_int_equal (parts->copies_s > 0, i == 0);
    assert_int_equal (parts->readback_s > 0, i == 0);
    if (i == 0) {
      assert_near (explained_term (priced, "copies"), parts->copies_s, 1e-12);
      assert_near (explained_term (priced, "readback"), parts->readback_s, 1e-12);
    } else {
      assert_true (isnan (explained_term (priced, "copies")) && isnan (explained_term (priced, "readback")));
    }
    assert_int_equal (
        explained_has_note (priced, "copies: tokens are put into the order of a rank's experts"), i == 0);
  }
}

/* --- what was left out --- */

/* Each number of work that was not done has its formula and says what it means. */
static void
what_was_left_out_is_told_in_words (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *formula, *notes[2];
  } wanted[] = {
    { "events", NULL, { "docs/explanation/shortcuts.md says what each shortcut assumes" } },
    { "lanes",
      "all - alike",
      { "A lane is one hop of a collective", "alike: lanes for which others stand" } },
    { "simulated", "collectives - remembered", { "remembered: the same collectives had begun" } },
    { "skipped", NULL, { "Messages at step, packets times links at packet" } },
    { "warm_ups", "used + unused", { "Each collective that differs is simulated by itself" } },
    { "rehearsals", NULL, { "Collectives that will overlap at distances" } },
    { "forms",
      "all - derived - known",
      { "A form is what an algorithm makes", "known: the same machine with other" } },
  };
  static const char *const runs[][2] = {
    { "4", "fidelity: step\njob: {model: m, micro_batch: 1, sequence: 512, kind: fsdp}" },
    { "4",
      "fidelity: {kind: packet, mtu: 16KiB}\njob: {model: m, micro_batch: 1, sequence: 512, kind: fsdp}" },
    { "8",
      "fidelity: {kind: packet, mtu: 16KiB}\njob: {kind: collective, operations: [{op: all_reduce, size: 16MB}]}" },
  };
  guint n[G_N_ELEMENTS (wanted)] = { 0 };

  for (guint k = 0; k < G_N_ELEMENTS (runs); k++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-a100, nodes: 2, gpus_per_node: %s, nics_per_node: 2, fabric: switch}\n" MODEL
        "iterations: 2\ncollectives: plain\n%s\n",
        runs[k][0], runs[k][1]);
    g_auto (Explained) it = explained (catalog, yaml, "run");

    for (guint i = 0; i < G_N_ELEMENTS (wanted); i++) {
      const FabStatement *statement = explained_find (&it, wanted[i].name);

      if (statement == NULL)
        continue;
      n[i]++;
      assert_int_equal (g_strcmp0 (statement->formula, wanted[i].formula), 0);
      for (guint m = 0; m < 2 && wanted[i].notes[m] != NULL; m++)
        assert_true (explained_has_note (statement, wanted[i].notes[m]));
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    if (n[i] == 0)
      fail_msg ("nothing is said of %s", wanted[i].name);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (memory_fits_to_the_last_byte),
    cmocka_unit_test (nothing_is_exposed_without_communication),
    cmocka_unit_test (a_step_of_no_time_has_no_share),
    cmocka_unit_test (published_runs_are_told_of_where_they_count),
    cmocka_unit_test (a_step_is_that_of_the_slowest_rank),
    cmocka_unit_test (what_ranks_repeat_is_a_part_of_their_kernels),
    cmocka_unit_test (experts_have_parts_of_their_own),
    cmocka_unit_test (what_was_left_out_is_told_in_words),
  };

  return play_run_tests ("explain_figures", tests, &catalog);
}
