/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_ids.c - plans have one number where a network is told the same of them, and different ones otherwise. */
#include "tests/support/test.h"

#include "sim/shortcut/memo/plan_ids.h"

/* A byte of a plan's field. Numbers are compared to the last bit, and nothing that a pointer points to is looked at. */
#define FIELD(name)                                 \
  {                                                 \
#name, G_STRUCT_OFFSET(FabCollectivePlan, name) \
  }

typedef struct {
  const char *name;
  gsize offset;
} Field;

static const FabCollectivePlan plain = { .algorithm = "ring",
                                         .protocol = "simple",
                                         .n_channels = 2,
                                         .n_ranks = 8,
                                         .bytes = 1000,
                                         .startup_ps = 40,
                                         .latency_ps = 20,
                                         .wire_factor = 1.25,
                                         .most_bytes_per_s = 1e9,
                                         .n_connections = 3,
                                         .steps = { .n_chunks = 4,
                                                    .steps_ps = 30,
                                                    .fill_ps = 10,
                                                    .intra_cost = 0.5,
                                                    .inter_cost = 1,
                                                    .pace_bytes_per_s = 2e9 } };

static FabCollectivePlan
changed (const Field *field)
{
  FabCollectivePlan plan = plain;

  ((guint8 *) &plan)[field->offset] ^= 1;
  return plan;
}

/* A plan that differs in any of these is another one, and a third one of its kind is the second again. */
static void
what_a_network_is_told_tells_plans_apart (G_GNUC_UNUSED void **state)
{
  static const Field told[] = {
    FIELD (footprint),
    FIELD (messages),
    FIELD (bytes),
    FIELD (startup_ps),
    FIELD (latency_ps),
    FIELD (wire_factor),
    FIELD (most_bytes_per_s),
    FIELD (n_connections),
    FIELD (steps.make),
    FIELD (steps.owner),
    FIELD (steps.n_chunks),
    FIELD (steps.is_pipeline),
    FIELD (steps.steps_ps),
    FIELD (steps.fill_ps),
    FIELD (steps.intra_cost),
    FIELD (steps.inter_cost),
    FIELD (steps.pace_bytes_per_s),
  };
  FabPlanIds *ids = fab_plan_ids_new ();

  assert_int_equal (fab_plan_ids_find (ids, &plain, "data"), 0);
  for (guint i = 0; i < G_N_ELEMENTS (told); i++) {
    FabCollectivePlan plan = changed (&told[i]);

    if (fab_plan_ids_find (ids, &plan, "data") != i + 1)
      fail_msg ("%s does not tell plans apart", told[i].name);
  }
  for (guint i = 0; i < G_N_ELEMENTS (told); i++) {
    FabCollectivePlan plan = changed (&told[i]);

    assert_int_equal (fab_plan_ids_find (ids, &plan, "data"), i + 1);
  }
  assert_int_equal (fab_plan_ids_find (ids, &plain, "data"), 0);
  fab_plan_ids_free (ids);
}

/* Classes of service are static names, NULL for none. */
static void
the_class_of_service_tells_plans_apart (G_GNUC_UNUSED void **state)
{
  static const char data[] = "data", tensor[] = "tensor";
  const char *const traffics[] = { data, tensor, NULL };
  FabPlanIds *ids = fab_plan_ids_new ();

  for (guint round = 0; round < 2; round++)
    for (guint i = 0; i < G_N_ELEMENTS (traffics); i++)
      assert_int_equal (fab_plan_ids_find (ids, &plain, traffics[i]), i);
  fab_plan_ids_free (ids);
}

static void
names_and_reckonings_are_not_told (G_GNUC_UNUSED void **state)
{
  static const Field untold[] = {
    FIELD (algorithm),        FIELD (protocol), FIELD (n_channels),     FIELD (n_ranks),      FIELD (op),
    FIELD (ends_bytes_per_s), FIELD (fill_ps),  FIELD (waits_for_ends), FIELD (best.idle_ps),
  };
  FabPlanIds *ids = fab_plan_ids_new ();
  FabCollectivePlan pipeline = plain, truly = plain;

  assert_int_equal (fab_plan_ids_find (ids, &plain, NULL), 0);
  for (guint i = 0; i < G_N_ELEMENTS (untold); i++) {
    FabCollectivePlan plan = changed (&untold[i]);

    assert_int_equal (fab_plan_ids_find (ids, &plan, NULL), 0);
  }
  pipeline.steps.is_pipeline = TRUE;
  truly.steps.is_pipeline = 4; /* any value but 0 is TRUE */
  assert_int_equal (fab_plan_ids_find (ids, &pipeline, NULL), 1);
  assert_int_equal (fab_plan_ids_find (ids, &truly, NULL), 1);
  fab_plan_ids_free (ids);
}

static guint
count_hashes (GHashTable *hashes)
{
  guint n = g_hash_table_size (hashes);

  g_hash_table_unref (hashes);
  return n;
}

/* Words differ in their low bits as counts do, in their high bits as doubles do, in their order and in their number. Of
 * 10000 hashes of 32 bits that are drawn, all are different in 98.8 % of cases. */
static void
hashes_of_different_words_differ (G_GNUC_UNUSED void **state)
{
  enum { N = 100 };

  for (guint shift = 0; shift <= 40; shift += 10) {
    GHashTable *hashes = g_hash_table_new (NULL, NULL);

    for (guint64 i = 0; i < N; i++)
      for (guint64 k = 0; k < N; k++) {
        const guint64 words[] = { i << shift, k << shift };

        g_hash_table_add (hashes, GUINT_TO_POINTER (fab_words_hash (words, 2)));
      }
    assert_true (count_hashes (hashes) >= N * N - 2);
  }
  GHashTable *hashes = g_hash_table_new (NULL, NULL);
  const guint64 zeros[N] = { 0 };
  for (gsize n = 0; n < N; n++)
    g_hash_table_add (hashes, GUINT_TO_POINTER (fab_words_hash (zeros, n)));
  assert_int_equal (count_hashes (hashes), N);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_a_network_is_told_tells_plans_apart),
    cmocka_unit_test (the_class_of_service_tells_plans_apart),
    cmocka_unit_test (names_and_reckonings_are_not_told),
    cmocka_unit_test (hashes_of_different_words_differ),
  };

  return cmocka_run_group_tests_name ("plan_ids", tests, NULL, NULL);
}
