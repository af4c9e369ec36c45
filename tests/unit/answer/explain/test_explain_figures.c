/* SPDX-License-Identifier: Apache-2.0 */
/* test_explain_figures.c - figures at their edges: memory that just fits, jobs that do not communicate, and jobs that
 * hide all of it.
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
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (memory_fits_to_the_last_byte),
    cmocka_unit_test (nothing_is_exposed_without_communication),
    cmocka_unit_test (a_step_of_no_time_has_no_share),
  };

  return play_run_tests ("explain_figures", tests, &catalog);
}
