/* SPDX-License-Identifier: Apache-2.0 */
/* test_parts.c - which layers pipeline stages have: as written, evenly, or by what the layers cost. */
#include "tests/support/test.h"

#include "models/workload/training/parallel.h"
#include "tests/support/play.h"

/* 10 blocks of 12 x 64 x 64 parameters of matrices and 2 x 64 of norms. With mfu, time is FLOPs: a block has
 * 2 x 12 x 64^2 = 98304 and 4 x 16 x 64 = 4096 for the scores, the head 2 x 64 x V. */
#define HEAD                                                                                                \
  "name: parts\niterations: 1\ncollectives: {kind: plain, algorithm: direct}\n"                             \
  "models: [{name: m, summary: s, source: s, date: \"2026-11-21\", shape: {kind: transformer, layers: 10, " \
  "hidden: 64, heads: 4, vocabulary: %u, tied: false, biases: false}}]\n"                                   \
  "cluster: {node: dgx-a100, nodes: 1}\n"                                                                   \
  "job: {kind: megatron, model: m, sequence: 16, accumulation: 8, clip_gradients: false, "                  \
  "compute: {kind: mfu, mfu: 50%%}, parallel: {%s}}\n"

enum { BLOCK = 12 * 64 * 64 + 2 * 64 };

static FabCatalog *catalog;

static Play *
job (guint vocabulary, const char *parallel)
{
  g_autofree char *yaml = g_strdup_printf (HEAD, vocabulary, parallel);

  return play_new (catalog, yaml, NULL);
}

/* Parameters that a stage has, from their 2 bytes each. */
static guint64
parameters_of (const Play *play, guint stage)
{
  const GArray *memory = fab_simulation_totals (play->simulation)->memory;

  for (guint i = 0; i < memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (memory, FabMemoryPart, i);

    if (part->rank_class == stage && strcmp (part->part, "parameters") == 0)
      return (guint64) part->bytes / 2;
  }
  fail ();
  return 0;
}

/* `counts` ends with -1. The first stage has V h more, the last V h and a norm of 64. */
static void
check_stages (guint vocabulary, const char *parallel, const gint *counts)
{
  g_autoptr (Play) play = job (vocabulary, parallel);

  for (guint s = 0; counts[s] >= 0; s++) {
    guint64 expected = (guint64) counts[s] * BLOCK + (s == 0 ? vocabulary * 64 : 0)
                     + (counts[s + 1] < 0 ? vocabulary * 64 + 64 : 0);

    assert_int_equal (parameters_of (play, s), expected);
  }
}

static void
an_even_division_gives_the_middle_more (G_GNUC_UNUSED void **state)
{
  check_stages (1024, "pipeline: 4", (const gint[]){ 2, 3, 3, 2, -1 });
  check_stages (1024, "pipeline: 2", (const gint[]){ 5, 5, -1 });
}

static void
stages_have_the_blocks_that_are_written (G_GNUC_UNUSED void **state)
{
  check_stages (1024, "pipeline: 4, layers: [1, 4, 3, 2]", (const gint[]){ 1, 4, 3, 2, -1 });
  check_stages (1024, "pipeline: 4, layers: [0, 5, 5, 0]", (const gint[]){ 0, 5, 5, 0, -1 });
  check_stages (1024, "pipeline: 4, layers: \"4, 3, 3, 0\"", (const gint[]){ 4, 3, 3, 0, -1 });
}

/* Virtual parts: stage 0 has parts 0 and 2, stage 1 parts 1 and 3. */
static void
virtual_parts_may_be_uneven (G_GNUC_UNUSED void **state)
{
  check_stages (1024, "pipeline: 2, virtual: 2, schedule: interleaved, layers: [1, 4, 2, 3]",
                (const gint[]){ 3, 7, -1 });
}

/* V = 3200: the head is 2 x 64 x 3200 = 409600 FLOPs or 4 blocks of 102400. 14 of them in 2 parts: 7 and 3 + 4; in
 * 4 parts the least maximum is 4: 4, 4, 2 and the head alone. V = 1600: 2 blocks; 12 in 4 parts: 3, 3, 3, 1 + 2. */
static void
a_division_by_cost_counts_the_head (G_GNUC_UNUSED void **state)
{
  check_stages (3200, "pipeline: 2, balance: cost", (const gint[]){ 7, 3, -1 });
  check_stages (3200, "pipeline: 4, balance: cost", (const gint[]){ 4, 4, 2, 0, -1 });
  check_stages (1600, "pipeline: 4, balance: cost", (const gint[]){ 3, 3, 3, 1, -1 });
}

static void
numbers_are_read (G_GNUC_UNUSED void **state)
{
  g_autoptr (GArray) counts = parallel_layers ("4, 0,12");

  assert_int_equal (counts->len, 3);
  assert_int_equal (g_array_index (counts, guint, 2), 12);
  assert_null (parallel_layers ("4,-1"));
  assert_null (parallel_layers ("4,,1"));
  assert_null (parallel_layers ("4,x"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (an_even_division_gives_the_middle_more),
    cmocka_unit_test (stages_have_the_blocks_that_are_written),
    cmocka_unit_test (virtual_parts_may_be_uneven),
    cmocka_unit_test (a_division_by_cost_counts_the_head),
    cmocka_unit_test (numbers_are_read),
  };

  return play_run_tests ("parts", tests, &catalog);
}
