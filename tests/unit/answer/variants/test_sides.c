/* SPDX-License-Identifier: Apache-2.0 */
/* test_sides.c - runs side by side: played once each, named, held against one of them. */
#include "tests/support/test.h"

#include <string.h>

#include "answer/variants/side.h"
#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabStudy *study;

static FabEdits *
edits_of (const char *first)
{
  return fab_edits_of ((const char *[]){ first, NULL });
}

static GPtrArray *
sides_of (const char *first, const char *second)
{
  GPtrArray *sides = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_side_free);

  g_ptr_array_add (sides, fab_side_new (NULL, study, edits_of (first)));
  g_ptr_array_add (sides, fab_side_new ("second", study, edits_of (second)));
  fab_sides_play (sides);
  return sides;
}

/* HDR of a DGX A100: 200 Gb/s, 25 GB/s; a rate that is set wins. */
static void
a_side_knows_its_point_and_its_parts (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) sides = sides_of ("cluster.nodes=2", "cluster.nic_rate=100Gb/s");
  const FabSide *first = fab_sides_at (sides, 0), *second = fab_sides_at (sides, 1);
  g_autoptr (GError) error = NULL;

  assert_true (fab_sides_check (sides, &error));
  assert_string_equal (first->name, "hello");
  assert_string_equal (second->name, "second");
  assert_string_equal (second->variant->name, "second");
  assert_int_equal (first->point->n_nodes, 2);
  assert_near ((double) first->nic_bytes_per_s, 25e9, 2);
  assert_int_equal (second->nic_bytes_per_s, 12500000000);
  assert_near (first->point->step_s, fab_variant_time_s (first->variant, FAB_FACT_STEP), 1e-12);
  assert_int_equal (g_array_index (first->variant->classes, FabVariantClass, 0).n_ranks, 16);
}

/* The base is counted among those that were played. */
static void
what_cannot_be_played_has_a_problem (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) sides = sides_of ("cluster.nodes=0", "cluster.nodes=1");
  g_autoptr (GError) error = NULL;

  assert_false (fab_sides_check (sides, &error));
  assert_non_null (strstr (error->message, "cluster.nodes=0"));
  assert_null (fab_sides_at (sides, 0)->point);
  g_autoptr (FabContrast) contrast = fab_sides_contrast (sides, 1);
  assert_int_equal (contrast->variants->len, 1);
  assert_int_equal (contrast->base, 0);
  assert_string_equal (fab_contrast_variant (contrast, 0)->name, "second");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_side_knows_its_point_and_its_parts),
    cmocka_unit_test (what_cannot_be_played_has_a_problem),
  };
  catalog = play_catalog ();
  study = fab_study_new (FAB_SOURCE_DIR "/scenarios/hello.yaml", NULL, catalog, &fab_models, NULL);
  int failed = cmocka_run_group_tests (tests, NULL, NULL);

  fab_study_free (study);
  fab_catalog_free (catalog);
  return failed;
}
