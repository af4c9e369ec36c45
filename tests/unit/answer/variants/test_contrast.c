/* SPDX-License-Identifier: Apache-2.0 */
/* test_contrast.c - variants side by side, and the words for what sets them apart; doubts about a fidelity. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "answer/variants/contrast.h"
#include "models/models.h"
#include "sim/verdict/doubts.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

typedef struct {
  FabFactKind kind;
  const char *name;
  guint n;
  double time_s;
} Given;

static FabVariant *
variant (const char *name, const Given *given, guint n)
{
  FabVariant *self = g_new0 (FabVariant, 1);

  self->name = g_strdup (name);
  self->fidelity = g_strdup (name);
  self->scenario = g_strdup ("t");
  self->facts = g_array_new (FALSE, FALSE, sizeof (FabFact));
  for (guint i = 0; i < n; i++) {
    FabFact fact = { given[i].kind, g_strdup (given[i].name), given[i].n, given[i].time_s };

    g_array_append_val (self->facts, fact);
  }
  return self;
}

static void
variant_clear (gpointer data)
{
  FabVariant *self = data;

  for (guint i = 0; i < self->facts->len; i++)
    g_free (g_array_index (self->facts, FabFact, i).name);
  fab_variant_free (self);
}

static FabContrast *
contrast (const Given *first, guint n_first, const Given *second, guint n_second)
{
  GPtrArray *variants = g_ptr_array_new_with_free_func (variant_clear);

  g_ptr_array_add (variants, variant ("coarse", first, n_first));
  g_ptr_array_add (variants, variant ("fine", second, n_second));
  return fab_contrast_new (variants, 0);
}

/* 10 s become 12: one more of exposed data, a half of tensor, a half idle; the all-reduces take all of theirs
 * beyond an idle network. */
static const Given coarse[] = {
  { FAB_FACT_STEP, "", 0, 10 },
  { FAB_FACT_COMPUTE, "", 0, 6 },
  { FAB_FACT_EXPOSED_BY, "data", 4, 3 },
  { FAB_FACT_EXPOSED_BY, "tensor", 2, 1 },
  { FAB_FACT_IDLE, "", 0, 0 },
  { FAB_FACT_COLLECTIVES, "data all_reduce ring", 4, 5 },
  { FAB_FACT_CONTENTION, "data all_reduce ring", 4, 0 },
  { FAB_FACT_WAITING, "data all_reduce ring", 4, 0 },
  { FAB_FACT_LINK, "a -> b", 0, 4 },
  { FAB_FACT_LINK, "b -> a", 0, 4 },
};

static const Given fine[] = {
  { FAB_FACT_STEP, "", 0, 12 },
  { FAB_FACT_COMPUTE, "", 0, 6 },
  { FAB_FACT_EXPOSED_BY, "data", 4, 4 },
  { FAB_FACT_EXPOSED_BY, "tensor", 2, 1.5 },
  { FAB_FACT_IDLE, "", 0, 0.5 },
  { FAB_FACT_COLLECTIVES, "data all_reduce ring", 4, 8 },
  { FAB_FACT_CONTENTION, "data all_reduce ring", 4, 3 },
  { FAB_FACT_WAITING, "data all_reduce ring", 4, 0.5 },
  { FAB_FACT_LINK, "a -> b", 0, 4 },
  { FAB_FACT_LINK, "b -> a", 0, 6 },
  { FAB_FACT_LINK, "c -> a", 0, 1 },
};

static void
words_name_the_largest_part (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabContrast) both = contrast (coarse, G_N_ELEMENTS (coarse), fine, G_N_ELEMENTS (fine));
  g_autofree char *words = fab_contrast_explain (both, 1, NAN);

  assert_string_equal (
      words,
      "fine is 20.0 % slower than coarse: 1 s more of the data-parallel communication is "
      "exposed. Its 4 collectives (data all_reduce ring) take 3 s more in total, all of it beyond what they "
      "take on an idle network; data all_reduce ring waits 500 ms longer for its last rank.");
}

static void
what_is_less_is_called_so (G_GNUC_UNUSED void **state)
{
  const Given fast[] = { { FAB_FACT_STEP, "", 0, 5 }, { FAB_FACT_COMPUTE, "", 0, 5 } };
  g_autoptr (FabContrast) both = contrast (coarse, 2, fast, 2);
  g_autofree char *words = fab_contrast_explain (both, 1, NAN);

  assert_string_equal (words, "fine is 50.0 % faster than coarse: 1 s less of compute.");
}

/* More GPUs with a batch of their own train more tokens in a step that is longer: they are not slower. */
static void
a_step_of_other_work_is_not_slower (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabContrast) both = contrast (coarse, 2, fine, 2);
  FabVariant *then = g_ptr_array_index (both->variants, 0), *now = g_ptr_array_index (both->variants, 1);

  then->tokens = 1e6;
  now->tokens = 2e6;
  g_autofree char *more = fab_contrast_explain (both, 1, NAN);
  assert_string_equal (more, "fine takes 20.0 % longer than coarse for a step of 2 times as many tokens.");
  now->tokens = 1e6;
  g_autofree char *same = fab_contrast_explain (both, 1, NAN);
  assert_string_equal (same, "fine is 20.0 % slower than coarse.");
}

/* Of the second that compute takes less, 0.6 s are what collectives held kernels back by. */
static void
compute_beside_collectives_is_called_so (G_GNUC_UNUSED void **state)
{
  const Given fast[] = { { FAB_FACT_STEP, "", 0, 5 }, { FAB_FACT_COMPUTE, "", 0, 5 } };
  g_autoptr (FabContrast) both = contrast (coarse, 2, fast, 2);

  ((FabVariant *) g_ptr_array_index (both->variants, 0))->slowed_s = 0.6;
  g_autofree char *words = fab_contrast_explain (both, 1, NAN);
  assert_string_equal (words, "fine is 50.0 % faster than coarse: 1 s less of compute, which is slower "
                              "beside collectives.");
}

/* Scenarios may have different numbers of collectives of a sort: then no one number stands for them. */
static void
different_numbers_of_collectives_are_both_named (G_GNUC_UNUSED void **state)
{
  const Given few[] = { { FAB_FACT_STEP, "", 0, 5 }, { FAB_FACT_COLLECTIVES, "data all_reduce ring", 2, 1 } };
  const Given many[] = { { FAB_FACT_STEP, "", 0, 6 },
                         { FAB_FACT_COLLECTIVES, "data all_reduce ring", 3, 2 } };
  g_autoptr (FabContrast) both = contrast (few, 2, many, 2);
  g_autofree char *words = fab_contrast_explain (both, 1, NAN);

  assert_int_equal (g_array_index (both->rows, FabContrastRow, 1).n, 0);
  assert_string_equal (
      words,
      "fine is 20.0 % slower than coarse. Its 3 collectives (data all_reduce ring), 2 before, take 1 s more in total.");
}

/* Rings and trees become NVLS: 3 + 2 s become 1 + 1 s of what both have. */
static void
other_algorithms_are_held_together (G_GNUC_UNUSED void **state)
{
  const Given then[] = { { FAB_FACT_STEP, "", 0, 6 },
                         { FAB_FACT_COLLECTIVES, "data all_reduce ring", 2, 3 },
                         { FAB_FACT_COLLECTIVES, "data all_reduce tree", 4, 2 } };
  const Given now[] = { { FAB_FACT_STEP, "", 0, 3 },
                        { FAB_FACT_COLLECTIVES, "data all_reduce nvls", 2, 1 },
                        { FAB_FACT_COLLECTIVES, "data all_reduce tree", 4, 1 } };
  g_autoptr (FabContrast) both = contrast (then, G_N_ELEMENTS (then), now, G_N_ELEMENTS (now));
  g_autofree char *words = fab_contrast_explain (both, 1, NAN);

  assert_string_equal (words, "fine is 50.0 % faster than coarse. Its data all_reduce uses nvls in place of "
                              "ring: 3 s less in total.");
}

static void
equal_steps_agree (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabContrast) both = contrast (coarse, 2, coarse, 2);
  g_autofree char *words = fab_contrast_explain (both, 1, NAN);

  assert_string_equal (words, "fine and coarse agree on the step to 0.00 %.");
}

/* Links by difference: b -> a by 2 s, c -> a by 1 s, which only one has. */
static void
rows_are_matched_by_name (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabContrast) both = contrast (coarse, G_N_ELEMENTS (coarse), fine, G_N_ELEMENTS (fine));
  const FabContrastRow *rows = (const FabContrastRow *) (gpointer) both->rows->data;

  assert_int_equal (both->rows->len, G_N_ELEMENTS (fine));
  assert_string_equal (rows[8].name, "b -> a");
  assert_string_equal (rows[9].name, "c -> a");
  assert_true (isnan (rows[9].times_s[0]));
  assert_near (rows[9].times_s[1], 1, 1e-12);
}

/* --- a scenario --- */

#define HEAD "name: t\niterations: 1\ncollectives: {kind: plain, algorithm: ring}\n"
#define LEAVES(over, route)                                                   \
  "cluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1,\n" \
  "  fabric: {kind: leaf_spine, nodes_per_leaf: 4, oversubscription: " over "}, route: " route "}\n"
#define RING "job: {kind: collective, operations: [{op: all_reduce, size: 100MB}]}\n"

/* Parts add up, and facts are those of the probe. */
static void
a_step_is_the_sum_of_its_parts (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, HEAD LEAVES ("4", "shortest") RING, NULL);
  GError *error = NULL;
  g_autoptr (FabVariant) played = fab_variant_play (play->scenario, &fab_models, &error);

  assert_null (error);
  assert_string_equal (played->name, "fluid");
  assert_near (fab_variant_time_s (played, FAB_FACT_STEP),
               fab_variant_time_s (played, FAB_FACT_COMPUTE) + fab_variant_sum_s (played, FAB_FACT_EXPOSED_BY)
                   + fab_variant_time_s (played, FAB_FACT_IDLE),
               1e-9);
  assert_near (fab_variant_sum_s (played, FAB_FACT_COLLECTIVES), fab_variant_time_s (played, FAB_FACT_STEP),
               1e-9);
  assert_true (fabs (fab_variant_sum_s (played, FAB_FACT_CONTENTION)) < 1e-9);
}

/* The kinds, in their order, as letters. (transfer full) */
static char *
doubts_of (const char *yaml)
{
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  GError *error = NULL;
  g_autoptr (GArray) doubts = fab_doubts_find (play->scenario, fab_simulation_plant (play->simulation),
                                               fab_simulation_dag (play->simulation), &fab_models, &error);
  GString *kinds = g_string_new (NULL);

  assert_null (error);
  for (guint i = 0; i < doubts->len; i++)
    g_string_append_c (kinds, "xist"[g_array_index (doubts, FabDoubt, i).kind]);
  return g_string_free (kinds, FALSE);
}

static void
assert_doubts (const char *yaml, const char *expected)
{
  g_autofree char *kinds = doubts_of (yaml);

  assert_string_equal (kinds, expected);
}

#define FLOWS(pairs) "job: {kind: traffic, size: 1MB, pattern: pairs, pairs: [" pairs "]}\n"

/* x collision, i incast, s spreading, t channels. */
static void
doubts_are_those_of_the_scenario (G_GNUC_UNUSED void **state)
{
  assert_doubts (HEAD LEAVES ("4", "shortest") RING, "");
  assert_doubts (HEAD LEAVES ("1", "spray") FLOWS ("{from: 0, to: 4}, {from: 1, to: 5}"), "");
  /* Two senders are no incast, three are. */
  assert_doubts (HEAD LEAVES ("1", "spray") FLOWS ("{from: 0, to: 4}, {from: 1, to: 4}"), "");
  assert_doubts (HEAD LEAVES ("1", "spray") FLOWS ("{from: 0, to: 4}, {from: 1, to: 4}, {from: 2, to: 4}"),
                 "i");
  /* Rank 3 shares the uplink with those that wait for the port of node 4. */
  assert_doubts (HEAD LEAVES ("4", "shortest")
                     FLOWS ("{from: 0, to: 4}, {from: 1, to: 4}, {from: 2, to: 4}, {from: 3, to: 5}"),
                 "is");
  /* analytic is a floor and says so itself. */
  assert_doubts (HEAD LEAVES ("1", "spray") "fidelity: analytic\n" FLOWS (
                     "{from: 0, to: 4}, {from: 1, to: 4}, {from: 2, to: 4}"),
                 "");
}

/* A ring of two nodes and a transfer share the one uplink: 1 connection beside 1 of plain's, and 16 of NCCL's. */
static void
channels_count_where_they_differ (G_GNUC_UNUSED void **state)
{
#define TWO                                                                                      \
  "cluster: {node: dgx-h100, nodes: 4, nics_per_node: 1, placement: strided, place_stride: 2,\n" \
  "  fabric: {kind: leaf_spine, nodes_per_leaf: 2, oversubscription: 2}, route: shortest}\n"     \
  "background: [{kind: transfer, from: node1/nic0, to: node0/nic0, bytes: 1GB, every: 1ms}]\n" RING

  assert_doubts ("name: t\ncollectives: {kind: plain, algorithm: ring}\n" TWO, "");
  assert_doubts ("name: t\ncollectives: {kind: nccl, algorithm: ring}\n" TWO, "t");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (words_name_the_largest_part),
    cmocka_unit_test (what_is_less_is_called_so),
    cmocka_unit_test (a_step_of_other_work_is_not_slower),
    cmocka_unit_test (compute_beside_collectives_is_called_so),
    cmocka_unit_test (other_algorithms_are_held_together),
    cmocka_unit_test (different_numbers_of_collectives_are_both_named),
    cmocka_unit_test (equal_steps_agree),
    cmocka_unit_test (rows_are_matched_by_name),
    cmocka_unit_test (a_step_is_the_sum_of_its_parts),
    cmocka_unit_test (doubts_are_those_of_the_scenario),
    cmocka_unit_test (channels_count_where_they_differ),
  };

  catalog = play_catalog ();
  int n_failed = cmocka_run_group_tests (tests, NULL, NULL);
  fab_catalog_free (catalog);
  return n_failed;
}
