/* SPDX-License-Identifier: Apache-2.0 */
/* test_bands_pages.c - what is written of bands is what was found: the catalogue's file, and tables of coverage. */
#include "validate/bands/bands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

/* Residuals of four families by five publications, at two places, of both kinds of operations and of two classes; each
 * is shifted a little by its number, so that no two cells are alike. */
enum { N = 40, SIZES = 3 };

typedef struct {
  double logs[N][SIZES];
  char tables[N][8];
  FabBands bands;
} Scene;

static FabResidualList
list_of (Scene *self, guint first, guint n, gboolean is_between)
{
  static const char *const families[] = { "ash", "birch", "cedar", "fir" },
                           *const publications[] = { "p", "q", "r", "s", "t" },
                           *const machines[] = { "one", "two" };
  FabResidualList list = { g_array_new (FALSE, FALSE, sizeof (FabResiduals)), g_ptr_array_new () };

  for (guint i = first; i < first + n; i++) {
    FabResiduals one = { .table = self->tables[i],
                         .publication = publications[i * 7 % 5],
                         .family = families[i % 4],
                         .place = is_between || i % 3 == 0 ? FAB_PLAN_BETWEEN : FAB_PLAN_INSIDE,
                         .operations = i % 5 == 0 ? FAB_PLAN_PAIRS : FAB_PLAN_RINGS,
                         .size_class = i % 2 == 0 ? FAB_SIZE_SMALL : FAB_SIZE_LARGE,
                         .n = SIZES,
                         .logs = self->logs[i],
                         .machine = machines[i % 2] };

    snprintf (self->tables[i], sizeof self->tables[i], "t%u", i % 17);
    for (guint k = 0; k < SIZES; k++)
      self->logs[i][k] = 0.05 * (i % 9) - 0.2 + 0.1 * k + 0.003 * i;
    g_array_append_val (list.all, one);
  }
  return list;
}

static const FabResiduals *
residuals_in (const FabResidualList *list)
{
  return (const FabResiduals *) (gpointer) list->all->data;
}

static int
make_scene (void **state)
{
  Scene *self = g_new0 (Scene, 1);
  FabBands *bands = &self->bands;

  bands->judged = list_of (self, 0, 20, FALSE);
  bands->left_out = list_of (self, 20, 12, FALSE);
  bands->untuned = list_of (self, 32, 8, TRUE);
  bands->library = "nccl";
  bands->fit = fab_bands_fit (residuals_in (&bands->judged), bands->judged.all->len, FAB_BANDS_COVERAGE);
  bands->unmeasured = fab_bands_fit (residuals_in (&bands->left_out), bands->left_out.all->len,
                                     FAB_BANDS_COVERAGE);
  *state = self;
  return 0;
}

static int
free_scene (void **state)
{
  Scene *self = *state;
  FabResidualList *lists[] = { &self->bands.judged, &self->bands.left_out, &self->bands.untuned };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_array_unref (lists[i]->all);
    g_ptr_array_unref (lists[i]->owned);
  }
  fab_bands_fit_free (self->bands.fit);
  fab_bands_fit_free (self->bands.unmeasured);
  g_free (self);
  return 0;
}

/* --- the file --- */

/* Written with three digits behind the point. */
static void
assert_written (double found, double value)
{
  if (fabs (found - value) > 0.00051)
    fail_msg ("%g is written for %g", found, value);
}

static const char *const limits[FAB_N_SIZE_CLASSES] = { "256KiB", "64MiB", "0B" };

/* The entry of this name, from its name to the next one. (transfer full) */
static char *
entry_of (const char *yaml, const char *name)
{
  g_autofree char *head = g_strdup_printf ("  - name: %s\n", name);
  const char *start = strstr (yaml, head), *end = start ? strstr (start + 1, "  - name: ") : NULL;

  if (start == NULL)
    fail_msg ("there is no entry %s", name);
  return end ? g_strndup (start, (gsize) (end - start)) : g_strdup (start);
}

static guint
count_of (const char *text, const char *word)
{
  guint n = 0;

  for (const char *at = strstr (text, word); at != NULL; at = strstr (at + 1, word))
    n++;
  return n;
}

/* `other` may have wider ends; NULL: it does not. */
static void
check_entry (const char *yaml, const char *name, const FabFamilyBands *own, const FabFamilyBands *other,
             double stretch)
{
  g_autofree char *entry = entry_of (yaml, name);
  guint n_cells = 0;

  for (guint place = 0; place < FAB_N_PLAN_PLACES; place++)
    for (guint operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++)
      for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
        const FabBandEnds *ends = &own->cells[place][operations][c];
        const FabBandEnds *wide = other ? &other->cells[place][operations][c] : ends;
        g_autofree char *head = g_strdup_printf ("{place: %s, operations: %s, up_to: %s, ",
                                                 fab_plan_place_names[place],
                                                 fab_plan_operations_names[operations], limits[c]);
        const char *cell = strstr (entry, head);
        double low, high, spread = 1;
        guint n_tables, n_families, n_publications, n_machines = 0;

        assert_int_equal (cell != NULL, ends->n_tables > 0);
        if (cell == NULL)
          continue;
        n_cells++;
        assert_true (
            sscanf (
                cell + strlen (head),
                "low: %lf, high: %lf, tables: %u, families: %u, publications: %u, machines: %u, spread: %lf}",
                &low, &high, &n_tables, &n_families, &n_publications, &n_machines, &spread)
            >= 5);
        assert_written (low, exp (MIN (ends->low, wide->low) * stretch));
        assert_written (high, exp (MAX (ends->high, wide->high) * stretch));
        assert_int_equal (n_tables, ends->n_tables);
        assert_int_equal (n_families, ends->n_families);
        assert_int_equal (n_publications, ends->n_publications);
        assert_int_equal (n_machines, ends->n_machines);
        assert_written (spread, ends->n_machines > 0 ? exp (ends->spread) : 1);
      }
  assert_int_equal (count_of (entry, "{place: "), n_cells);
  assert_int_equal (count_of (entry, "    cells:\n"), n_cells > 0);
  assert_int_equal (count_of (entry, "library: nccl"), strcmp (name, "unknown") != 0);
  assert_int_equal (count_of (entry, "coverage: 90%"), 1);
  assert_int_equal (count_of (entry, "untuned:"), strcmp (name, "any") == 0);
}

static void
the_file_has_every_cell (void **state)
{
  const Scene *self = *state;
  g_autofree char *yaml = fab_bands_to_yaml (&self->bands);
  const GArray *families = self->bands.fit->families;
  const FabFamilyBands *any = &g_array_index (families, FabFamilyBands, 0),
                       *unmeasured = &g_array_index (self->bands.unmeasured->families, FabFamilyBands, 0);

  check_entry (yaml, "any", any, NULL, 1);
  check_entry (yaml, "unmeasured", unmeasured, any, 1);
  check_entry (yaml, "unknown", unmeasured, any, 1.5);
  for (guint i = 1; i < families->len; i++)
    check_entry (yaml, g_array_index (families, FabFamilyBands, i).family,
                 &g_array_index (families, FabFamilyBands, i), NULL, 1);
  assert_int_equal (count_of (yaml, "  - name: "), families->len - 1 + 3);
  assert_int_equal (families->len, 5);
  const double *reach = self->bands.fit->reach, *own = self->bands.fit->own_reach,
               *left_out = self->bands.unmeasured->reach;
  g_autofree char *reaches = g_strdup_printf (
      "\n# Reach at small, middle and large sizes: of families %.2f, %.2f, %.2f; of publications %.2f, %.2f, %.2f; of "
      "families left out %.2f, %.2f, %.2f.\n\nbands:\n  - name: any\n",
      reach[0], reach[1], reach[2], own[0], own[1], own[2], left_out[0], left_out[1], left_out[2]);
  assert_int_equal (count_of (yaml, reaches), 1);
}

/* Of tables that are not well, the least and the largest median, and how many tables there are in all. */
static void
the_file_says_how_slow_set_ups_are_that_are_not_well (void **state)
{
  const Scene *self = *state;
  g_autofree char *yaml = fab_bands_to_yaml (&self->bands), *any = entry_of (yaml, "any");
  const FabResidualList *lists[] = { &self->bands.untuned, &self->bands.judged };
  guint n_rows = 0;

  for (guint operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++)
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
      g_autofree char *head = g_strdup_printf ("      - {operations: %s, up_to: %s, ",
                                               fab_plan_operations_names[operations], limits[c]);
      const char *row = strstr (any, head);
      double low = INFINITY, high = -INFINITY, found_low, found_high;
      guint n = 0, n_found, n_of;

      for (guint l = 0; l < 2; l++)
        for (guint i = 0; i < lists[l]->all->len; i++) {
          const FabResiduals *one = &residuals_in (lists[l])[i];

          if (one->place != FAB_PLAN_BETWEEN || one->operations != operations || one->size_class != c)
            continue;
          g_hash_table_add (names, (gpointer) one->table);
          if (l == 0) {
            n++;
            low = MIN (low, one->logs[1]); /* of three in ascending order */
            high = MAX (high, one->logs[1]);
          }
        }
      assert_int_equal (row != NULL, n > 0);
      if (row == NULL)
        continue;
      n_rows++;
      assert_int_equal (sscanf (row + strlen (head), "tables: %u, of: %u, low: %lf, high: %lf}", &n_found,
                                &n_of, &found_low, &found_high),
                        4);
      assert_int_equal (n_found, n);
      assert_int_equal (n_of, g_hash_table_size (names));
      assert_written (found_low, exp (low));
      assert_written (found_high, exp (high));
    }
  assert_true (n_rows >= 2);
}

/* --- tables --- */

/* " 91 % (12) |" or " |" of each class, as it is in a row. (transfer full) */
static char *
covered_cells (const FabLeftOutCoverage *one)
{
  GString *cells = g_string_new (NULL);

  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    if (one->n[c] > 0)
      g_string_append_printf (cells, " %.0f %% (%u) |", 100 * one->covered_fraction[c], one->n[c]);
    else
      g_string_append (cells, " |");
  return g_string_free (cells, FALSE);
}

/* Each row is that of what is left out, and the first one their mean: of each class, over those that have it. */
static void
check_coverage (const char *section, const char *title, const GArray *coverage, const char *one_name,
                const char *plural)
{
  FabLeftOutCoverage mean = { 0 };
  g_autofree char *head = g_strdup_printf (
      " %s\n\n| %s left out | tables | small < 256 KiB | middle < 64 MiB | large "
      ">= 64 MiB |\n|---|---:|---|---|---|\n| **all",
      title, one_name);

  assert_true (g_str_has_prefix (section, head));
  assert_true (coverage->len > 1);
  for (guint i = 0; i < coverage->len; i++) {
    const FabLeftOutCoverage *one = &g_array_index (coverage, FabLeftOutCoverage, i);
    g_autofree char *cells = covered_cells (one),
                    *row = g_strdup_printf ("\n| %s | %u |%s\n", one->name, one->n_tables, cells);

    if (strstr (section, row) == NULL)
      fail_msg ("%s is not in %s", row, section);
    for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++) {
      mean.covered_fraction[c] += one->n[c] > 0 ? one->covered_fraction[c] : 0;
      mean.n[c] += one->n[c] > 0;
    }
  }
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    mean.covered_fraction[c] /= MAX (mean.n[c], 1);
  g_autofree char *cells = covered_cells (&mean),
                  *row = g_strdup_printf ("\n| **all %u %s** | |%s\n", coverage->len, plural, cells);
  if (strstr (section, row) == NULL)
    fail_msg ("%s is not in %s", row, section);
}

static void
tables_say_what_bands_hold (void **state)
{
  const Scene *self = *state;
  const FabBands *bands = &self->bands;
  g_autofree char *page = fab_bands_to_markdown (bands);
  g_auto (GStrv) sections = g_strsplit (page, "###", -1);
  g_autoptr (GArray) publications = fab_bands_publications_left_out (residuals_in (&bands->judged),
                                                                     bands->judged.all->len,
                                                                     FAB_BANDS_COVERAGE),
                     unmeasured = fab_bands_left_out (residuals_in (&bands->left_out),
                                                      bands->left_out.all->len, FAB_BANDS_COVERAGE),
                     families = fab_bands_left_out (residuals_in (&bands->judged), bands->judged.all->len,
                                                    FAB_BANDS_COVERAGE);

  assert_int_equal (g_strv_length (sections), 5);
  check_coverage (sections[1], "Publications left out, each against what all others say", publications,
                  "publication", "publications");
  check_coverage (sections[2], "Families left out, predicted without what was learned of them", unmeasured,
                  "family", "families");
  check_coverage (sections[3], "Families whose residuals alone are left out", families, "family", "families");
  for (guint u = 0; u < 2; u++) {
    const FabBandsFit *fit = u == 0 ? bands->fit : bands->unmeasured;
    const FabFamilyBands *all = &g_array_index (fit->families, FabFamilyBands, 0);

    for (guint place = 0; place < FAB_N_PLAN_PLACES; place++)
      for (guint operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++) {
        const FabBandEnds *cells = all->cells[place][operations];
        g_autofree char *row = g_strdup_printf (
            "\n| `%s` | %s | %s | %.2f to %.2f (small: %u, %u) | %.2f to %.2f (middle: %u, %u) | "
            "%.2f to %.2f (large: %u, %u) |\n",
            u == 0 ? "any" : "unmeasured", fab_plan_place_names[place], fab_plan_operations_names[operations],
            exp (cells[0].low), exp (cells[0].high), cells[0].n_tables, cells[0].n_families,
            exp (cells[1].low), exp (cells[1].high), cells[1].n_tables, cells[1].n_families,
            exp (cells[2].low), exp (cells[2].high), cells[2].n_tables, cells[2].n_families);

        if (strstr (sections[4], row) == NULL)
          fail_msg ("%s is not in %s", row, sections[4]);
      }
  }
}

/* Of tables by hand: two in a node, 10 and 20 % off; one over nodes, 60 %; no calibration counts. */
static void
the_table_of_errors_is_that_of_judged_tables (void **state)
{
  static const double first[] = { 0.1 }, second[] = { -0.2 }, third[] = { 0.6 }, fitted[] = { 0.05 };
  static const FabBytes small[] = { 8 }, large[] = { 1 << 28 };
  const FabMeasuredSpec judged = { .op = FAB_OP_ALL_REDUCE, .interconnect = "A", .role = FAB_ROLE_JUDGED },
                        known = { .op = FAB_OP_ALL_REDUCE,
                                  .interconnect = "B",
                                  .role = FAB_ROLE_CALIBRATION };
  const FabAccountTable tables[] = { { &judged, FAB_ROLE_JUDGED, FAB_PLACE_NODE, FALSE, 1, first, large },
                                     { &judged, FAB_ROLE_JUDGED, FAB_PLACE_NODE, FALSE, 1, second, large },
                                     { &judged, FAB_ROLE_JUDGED, FAB_PLACE_NODES, FALSE, 1, third, small },
                                     { &known, FAB_ROLE_CALIBRATION, FAB_PLACE_NODE, FALSE, 1, fitted,
                                       large } };
  const Scene *self = *state;
  g_autoptr (GArray) accounts = fab_accounts_of (tables, G_N_ELEMENTS (tables));
  const FabReport report = { .accounts = accounts };
  g_autofree char *page = fab_bands_accuracy (&self->bands, &report, &report);

  static const char rows[] =
      "\n| **all** | 15.0 % (2) | | 60.0 % (1) |\n"
      "| one node | 15.0 % (2) | | |\n"
      "| several nodes | | | 60.0 % (1) |\n"
      "| rings and trees | 15.0 % (2) | | 60.0 % (1) |\n"
      "| one node, rings and trees | 15.0 % (2) | | |\n"
      "| several nodes, rings and trees | | | 60.0 % (1) |\n"
      "| all tables, each family left out (its constants put back) | 15.0 % (2) | | 60.0 % (1) |\n";

  assert_non_null (strstr (page, rows));
  assert_int_equal (count_of (page, "within the band of 90 %, "), 2);
  for (guint i = 0; i < 2; i++) { /* each that has the class weighs the same */
    const FabResidualList *list = i == 0 ? &self->bands.judged : &self->bands.left_out;
    g_autoptr (GArray) coverage = i == 0 ? fab_bands_publications_left_out (residuals_in (list),
                                                                            list->all->len, 0.9)
                                         : fab_bands_left_out (residuals_in (list), list->all->len, 0.9);
    GString *row = g_string_new (NULL);

    g_string_printf (row, "\n| within the band of 90 %%, %s left out |",
                     i == 0 ? "publications" : "families");
    for (guint c = FAB_N_SIZE_CLASSES; c-- > 0;) {
      double sum = 0;
      guint n = 0;

      for (guint k = 0; k < coverage->len; k++) {
        const FabLeftOutCoverage *one = &g_array_index (coverage, FabLeftOutCoverage, k);

        n += one->n[c] > 0 ? 1 : 0;
        sum += one->n[c] > 0 ? one->covered_fraction[c] : 0;
      }
      if (n > 0)
        g_string_append_printf (row, " %.0f %% (%u) |", 100 * sum / n, n);
      else
        g_string_append (row, " |");
    }
    g_string_append_c (row, '\n');
    if (strstr (page, row->str) == NULL)
      fail_msg ("%s is not in %s", row->str, page);
    g_string_free (row, TRUE);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_file_has_every_cell),
    cmocka_unit_test (the_file_says_how_slow_set_ups_are_that_are_not_well),
    cmocka_unit_test (tables_say_what_bands_hold),
    cmocka_unit_test (the_table_of_errors_is_that_of_judged_tables),
  };

  return cmocka_run_group_tests_name ("bands_pages", tests, make_scene, free_scene);
}
