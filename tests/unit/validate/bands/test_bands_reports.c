/* SPDX-License-Identifier: Apache-2.0 */
/* test_bands_reports.c - which sizes of which tables the residuals of bands are of. */
#include "tests/unit/validate/bands/pairs_world.h"
#include "validate/bands/bands.h"

/* A table with sizes of two classes at these ratios of measured to predicted time. */
typedef struct {
  const char *source, *family;
  FabMeasuredRole role;
  gboolean is_doubtful;
  FabBytes sizes[2];
  double ratios[2];
} Table;

static const Table tables[] = {
  { "p", "ash", FAB_ROLE_JUDGED, FALSE, { 1 * KIB, 256 * KIB - 1 }, { 1.5, 0.5 } },
  { "q", "birch", FAB_ROLE_JUDGED, TRUE, { 256 * KIB, 64 * MIB }, { 3, 4 } },
  { "r", "cedar", FAB_ROLE_CALIBRATION, FALSE, { 64 * MIB - 1, 64 * MIB }, { 1.1, 1.2 } },
  { "p", "fir", FAB_ROLE_JUDGED, FALSE, { 64 * MIB, 256 * KIB }, { 2, 0.8 } },
};

static void
make (World *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (tables); i++) {
    FabMeasuredSpec *spec = add_table (self, tables[i].source, tables[i].family, 1);

    spec->role = tables[i].role;
    spec->is_doubtful = tables[i].is_doubtful;
    spec->node = (const char *[]){ "box", "case", "box", "rack" }[i];
    self->tables[i].csv->rows = g_array_new (FALSE, FALSE, sizeof (FabMeasuredRow));
    self->comparisons[i].predictions = g_array_new (FALSE, FALSE, sizeof (FabPrediction));
    for (guint k = 0; k < 2; k++) {
      FabPrediction *prediction = &self->predictions[i][k];
      FabComparisonRow *row = &g_array_index (self->comparisons[i].rows, FabComparisonRow, k);

      self->rows[i][k].size_bytes = tables[i].sizes[k];
      row->error_fraction = 1 / tables[i].ratios[k] - 1;
      prediction->kind.library = i == 0 ? "nccl" : "other";
      prediction->kind.place = i == 3 ? FAB_PLAN_INSIDE : FAB_PLAN_BETWEEN;
      prediction->kind.operations = k == 1 ? FAB_PLAN_PAIRS : FAB_PLAN_RINGS;
      g_array_append_val (self->comparisons[i].predictions, *prediction);
      g_array_append_val (self->tables[i].csv->rows, self->rows[i][k]);
    }
  }
}

static void
forget (World *self)
{
  for (guint i = 0; i < self->n; i++) {
    g_array_unref (self->comparisons[i].predictions);
    g_array_unref (self->tables[i].csv->rows);
  }
}

/* Of table `table`: its sizes from the k-th on, so many, all of one class. */
typedef struct {
  guint table, first, n;
  FabSizeClass size_class;
} Residuals;

static void
assert_residuals (const FabResidualList *list, const Residuals *right, guint n)
{
  assert_int_equal (list->all->len, n);
  for (guint i = 0; i < n; i++) {
    const FabResiduals *one = &g_array_index (list->all, FabResiduals, i);
    const Table *table = &tables[right[i].table];
    static const char *const machines[] = { "box", "case", "box", "rack" };

    assert_string_equal (one->table, table->family);
    assert_string_equal (one->family, table->family);
    assert_string_equal (one->publication, table->source);
    assert_string_equal (one->machine, machines[right[i].table]);
    assert_int_equal (one->place, right[i].table == 3 ? FAB_PLAN_INSIDE : FAB_PLAN_BETWEEN);
    assert_int_equal (one->operations, right[i].first == 1 ? FAB_PLAN_PAIRS : FAB_PLAN_RINGS);
    assert_int_equal (one->size_class, right[i].size_class);
    assert_int_equal (one->n, right[i].n);
    for (guint k = 0; k < one->n; k++)
      assert_near (one->logs[k], log (table->ratios[right[i].first + k]), 1e-12);
  }
}

/* Judged tables count at sizes where they are well and, apart, where they are not; of families left out all tables
 * that are well do. What is told of them is that of their first size in a class. */
static void
residuals_are_of_the_tables (G_GNUC_UNUSED void **state)
{
  static const Residuals judged[] = { { 0, 0, 2, FAB_SIZE_SMALL },
                                      { 3, 1, 1, FAB_SIZE_MIDDLE },
                                      { 3, 0, 1, FAB_SIZE_LARGE } },
                         untuned[] = { { 1, 0, 1, FAB_SIZE_MIDDLE }, { 1, 1, 1, FAB_SIZE_LARGE } },
                         left_out[] = { { 0, 0, 2, FAB_SIZE_SMALL },
                                        { 2, 0, 1, FAB_SIZE_MIDDLE },
                                        { 2, 1, 1, FAB_SIZE_LARGE },
                                        { 3, 1, 1, FAB_SIZE_MIDDLE },
                                        { 3, 0, 1, FAB_SIZE_LARGE } };
  const FabCatalogSections own = { 0 };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);
  g_autoptr (World) world = world_new ();

  make (world);
  g_autoptr (FabBands) bands = fab_bands_new (&world->report, &world->report, catalog);
  assert_residuals (&bands->judged, judged, G_N_ELEMENTS (judged));
  assert_residuals (&bands->untuned, untuned, G_N_ELEMENTS (untuned));
  assert_residuals (&bands->left_out, left_out, G_N_ELEMENTS (left_out));
  assert_string_equal (bands->library, "nccl");
  assert_near (bands->fit->coverage_fraction, 0.9, 0);
  assert_near (bands->unmeasured->coverage_fraction, 0.9, 0);
  assert_int_equal (bands->fit->families->len, 1 + 2);
  assert_int_equal (bands->unmeasured->families->len, 1 + 3);
  forget (world);
}

static void
reports_without_tables (G_GNUC_UNUSED void **state)
{
  const FabCatalogSections own = { 0 };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (NULL, &own);
  g_autoptr (World) world = world_new ();
  g_autoptr (FabBands) bands = fab_bands_new (&world->report, &world->report, catalog);

  assert_null (bands->library);
  assert_int_equal (bands->judged.all->len + bands->untuned.all->len + bands->left_out.all->len, 0);
}

int
main (void)
{
  const struct CMUnitTest tests_here[] = {
    cmocka_unit_test (residuals_are_of_the_tables),
    cmocka_unit_test (reports_without_tables),
  };

  return cmocka_run_group_tests_name ("bands_reports", tests_here, NULL, NULL);
}
