/* SPDX-License-Identifier: Apache-2.0 */
/* test_calibrated.c - judged collectives with links of four origins: sums over all tables, and what pages
 * say of them. */
#include "validate/fit/calibrated.h"

#include <math.h>
#include <string.h>

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

#include "models/models.h"
#include "tests/support/play.h"
#include "tests/support/test.h"

#define FOLDER FAB_SOURCE_DIR "/validate/"

typedef struct {
  FabCatalog *catalog;
  FabMeasured *measured;
  FabPublished *published;
  FabCalibratedReport *report;
} Fixture;

static int
set_up (void **state)
{
  Fixture *f = g_new0 (Fixture, 1);

  *state = f;
  f->catalog = play_catalog ();
  f->measured = fab_measured_load (FOLDER "measured", f->catalog, &fab_models, NULL);
  f->published = fab_published_load (FOLDER "measured/links", FOLDER "calibrated.yaml", f->catalog,
                                     &fab_models, NULL);
  const FabCalibratedRequest request = { f->published, f->measured, f->catalog, &fab_models };
  f->report = f->measured && f->published ? fab_calibrated_report_new (&request, NULL) : NULL;
  return f->report != NULL ? 0 : -1;
}

static int
tear_down (void **state)
{
  Fixture *f = *state;

  fab_calibrated_report_free (f->report);
  fab_published_free (f->published);
  fab_measured_free (f->measured);
  fab_catalog_free (f->catalog);
  g_free (f);
  return 0;
}

static const FabCalibratedSystem *
system_at (const FabCalibratedReport *report, guint i)
{
  return g_ptr_array_index (report->systems, i);
}

static const FabComparison *
comparison_at (const FabCalibratedSystem *system, FabKnown known, guint k)
{
  return g_ptr_array_index (system->reports[known]->comparisons, k);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The median over all sizes of a class of all tables, from the rows themselves. All four are of the same rows. */
static void
sums_are_of_all_tables (void **state)
{
  const FabCalibratedReport *report = ((const Fixture *) *state)->report;

  assert_true (report->systems->len > 1);
  for (FabSizeClass c = 0; c < FAB_N_SIZE_CLASSES; c++)
    for (FabKnown known = 0; known < FAB_N_KNOWN; known++) {
      g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));

      for (guint i = 0; i < report->systems->len; i++)
        for (guint k = 0; k < system_at (report, i)->reports[known]->comparisons->len; k++) {
          const FabComparison *comparison = comparison_at (system_at (report, i), known, k);

          assert_int_equal (comparison->table->spec->role, FAB_ROLE_JUDGED);
          for (guint r = 0; r < comparison->rows->len; r++) {
            const FabComparisonRow *row = &g_array_index (comparison->rows, FabComparisonRow, r);
            double error = fabs (row->predicted->time_us / row->measured->time_us - 1);

            if (fab_size_class (row->measured->size_bytes) == c)
              g_array_append_val (errors, error);
          }
        }
      g_array_sort (errors, compare);
      assert_int_equal (report->errors[known][c].n, errors->len);
      assert_int_equal (report->errors[0][c].n, errors->len);
      if (errors->len > 0)
        assert_near (report->errors[known][c].median_fraction,
                     (g_array_index (errors, double, (errors->len - 1) / 2)
                      + g_array_index (errors, double, errors->len / 2))
                         / 2,
                     1e-9);
    }
}

/* --- pages --- */

/* What a row of a page is of. */
typedef struct {
  const char *table; /* NULL: all */
  FabSizeClass size_class;
  double medians[FAB_N_KNOWN];
  guint n_sizes;
} Row;

/* A row for every table and class that has sizes, and then for all tables. (transfer full: Row) */
static GArray *
rows_of (const FabCalibratedReport *report)
{
  GArray *rows = g_array_new (FALSE, TRUE, sizeof (Row));

  for (guint i = 0; i <= report->systems->len; i++)
    for (guint k = 0;
         k < (i < report->systems->len ? system_at (report, i)->reports[0]->comparisons->len : 1); k++)
      for (FabSizeClass c = 0; c < FAB_N_SIZE_CLASSES; c++) {
        Row row = { .size_class = c };

        for (FabKnown known = 0; known < FAB_N_KNOWN; known++) {
          const FabErrors *errors = i < report->systems->len
                                      ? &comparison_at (system_at (report, i), known, k)->errors[c]
                                      : &report->errors[known][c];

          row.medians[known] = errors->median_fraction;
          row.n_sizes = errors->n;
        }
        row.table = i < report->systems->len ? comparison_at (system_at (report, i), 0, k)->table->name
                                             : NULL;
        if (row.n_sizes > 0)
          g_array_append_val (rows, row);
      }
  return rows;
}

static void
assert_has (const char *page, const char *part)
{
  if (strstr (page, part) == NULL)
    fail_msg ("%s is not in\n%s", part, page);
}

static void
assert_pages (const FabCalibratedReport *report)
{
  g_autoptr (GArray) rows = rows_of (report);
  g_autoptr (GString) csv = g_string_new ("table,class,sizes,datasheet_median_fraction,p2p_median_fraction,"
                                          "catalogue_median_fraction,catalogue_p2p_median_fraction\n"),
                      markdown = g_string_new (NULL);
  g_autofree char *csv_page = fab_calibrated_to_csv (report), *text = fab_calibrated_to_text (report),
                  *markdown_page = fab_calibrated_to_markdown (report),
                  *json = fab_calibrated_to_json (report);
  g_autoptr (JsonParser) parser = json_parser_new ();

  g_string_printf (markdown,
                   "| table | class | sizes | %s | %s | %s | %s |\n|---|---|---:|---:|---:|---:|---:|\n",
                   fab_known_names[0], fab_known_names[1], fab_known_names[2], fab_known_names[3]);
  assert_true (json_parser_load_from_data (parser, json, -1, NULL));
  JsonArray *objects = json_object_get_array_member (json_node_get_object (json_parser_get_root (parser)),
                                                     "rows");
  assert_int_equal (json_array_get_length (objects), rows->len);
  for (guint i = 0; i < rows->len; i++) {
    static const char *const names[] = { "small", "middle", "large" };
    const Row *row = &g_array_index (rows, Row, i);
    const double *m = row->medians;
    JsonObject *object = json_array_get_object_element (objects, i);
    g_autofree char *line = g_strdup_printf (
        "%-38s\v %-6s\v %5u\v %14.1f%%\v %14.1f%%\v %14.1f%%\v %14.1f%%\n",
        row->table ? row->table : "all of them", names[row->size_class], row->n_sizes, 100 * m[0], 100 * m[1],
        100 * m[2], 100 * m[3]);

    g_string_append_printf (csv, "%s,%s,%u,%.6f,%.6f,%.6f,%.6f\n", row->table ? row->table : "all",
                            names[row->size_class], row->n_sizes, m[0], m[1], m[2], m[3]);
    g_string_append_printf (markdown, "| %s | %s | %u | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n",
                            row->table ? row->table : "all of them", names[row->size_class], row->n_sizes,
                            100 * m[0], 100 * m[1], 100 * m[2], 100 * m[3]);
    assert_has (text, line);
    assert_int_equal (json_object_get_int_member (object, "sizes"), row->n_sizes);
    assert_near (json_object_get_double_member (object, "datasheet_median_fraction"), m[0], 1e-9);
    assert_near (json_object_get_double_member (object, "catalogue_p2p_median_fraction"), m[3], 1e-9);
    assert_int_equal (json_object_get_null_member (object, "system"), row->table == NULL);
    assert_int_equal (json_object_get_null_member (object, "table"), row->table == NULL);
  }
  g_autofree char *head = g_strdup_printf ("\n%-38s\v %-6s\v %5s\v %15s\v %15s\v %15s\v %15s\n", "table",
                                           "class", "sizes", fab_known_names[0], fab_known_names[1],
                                           fab_known_names[2], fab_known_names[3]);
  assert_has (text, head);
  assert_string_equal (csv_page, csv->str);
  assert_true (g_str_has_prefix (markdown_page, markdown->str));
}

static void
every_page_has_every_row (void **state)
{
  assert_pages (((const Fixture *) *state)->report);
}

/* A class of one size has a row, and one of none has not: of a table as of all. */
static void
one_size_is_a_row (void **state)
{
  FabCalibratedReport *report = ((const Fixture *) *state)->report, changed = *report;
  const FabCalibratedSystem *first = system_at (report, 0);
  guint kept[FAB_N_KNOWN];

  for (FabKnown known = 0; known < FAB_N_KNOWN; known++) {
    changed.errors[known][FAB_SIZE_SMALL].n = 1;
    changed.errors[known][FAB_SIZE_MIDDLE].n = 0;
    kept[known] = comparison_at (first, known, 0)->errors[FAB_SIZE_LARGE].n;
    ((FabComparison *) g_ptr_array_index (first->reports[known]->comparisons, 0))->errors[FAB_SIZE_LARGE].n =
        1;
  }
  assert_pages (&changed);
  for (FabKnown known = 0; known < FAB_N_KNOWN; known++)
    ((FabComparison *) g_ptr_array_index (first->reports[known]->comparisons, 0))->errors[FAB_SIZE_LARGE].n =
        kept[known];
}

/* A median of a table got better or worse where it moved by 0.1 % or more. */
static void
pages_count_what_moved (void **state)
{
  static const FabKnown before[] = { FAB_KNOWN_DATASHEET, FAB_KNOWN_CATALOG, FAB_KNOWN_CATALOG },
                        after[] = { FAB_KNOWN_P2P, FAB_KNOWN_P2P, FAB_KNOWN_CATALOG_P2P };
  const FabCalibratedReport *report = ((const Fixture *) *state)->report;
  g_autoptr (GArray) rows = rows_of (report);
  g_autofree char *text = fab_calibrated_to_text (report), *markdown = fab_calibrated_to_markdown (report);

  for (guint m = 0; m < G_N_ELEMENTS (before); m++) {
    guint n_better = 0, n_worse = 0, n_same = 0;

    for (guint i = 0; i < rows->len; i++) {
      const Row *row = &g_array_index (rows, Row, i);
      double gain = row->medians[before[m]] - row->medians[after[m]];

      if (row->table != NULL)
        ++*(fabs (gain) < 0.001 ? &n_same : gain > 0 ? &n_better : &n_worse);
    }
    g_autofree char *line = g_strdup_printf (
        "\n%s in place of %s: %u medians better, %u worse, %u within 0.1 %%.\n", fab_known_names[after[m]],
        fab_known_names[before[m]], n_better, n_worse, n_same);
    assert_has (text, line);
    assert_has (markdown, line);
  }
  for (guint i = 0; i < report->systems->len; i++) {
    const FabPublishedSystem *spec = system_at (report, i)->spec;
    g_autofree char *note = g_strdup_printf (
        "%s. Tables: %s.\n  Links, measured on %s: %s.\n", spec->name, spec->tables,
        spec->is_same ? "the same machine" : "other machines of the kind", spec->links);

    assert_has (text, note);
    assert_has (markdown, note);
    if (spec->note != NULL)
      assert_has (text, spec->note);
  }
}

/* --- what is known of a link --- */

/* A report over one system alone. (transfer full) */
static FabCalibratedReport *
report_of (const Fixture *f, const char *system, const FabCatalog *catalog)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("fab-calibrated-XXXXXX.yaml", &path, NULL);

  assert_true (file >= 0 && g_close (file, NULL));
  assert_true (g_file_set_contents (path, system, -1, NULL));
  g_autoptr (FabPublished) published = fab_published_load (FOLDER "measured/links", path, catalog,
                                                           &fab_models, &error);
  g_unlink (path);
  const FabCalibratedRequest request = { published, f->measured, catalog, &fab_models };
  FabCalibratedReport *report = published != NULL ? fab_calibrated_report_new (&request, &error) : NULL;
  if (report == NULL)
    fail_msg ("%s", error->message);
  /* names of the file: nobody reads them any more */
  for (guint i = 0; i < report->systems->len; i++)
    ((FabCalibratedSystem *) g_ptr_array_index (report->systems, i))->spec = NULL;
  return report;
}

/* A datasheet has nothing that was measured: no loss, no software, no rate of collectives. With a catalogue whose entry
 * of the link says no more than that, datasheet and catalogue are the same, with tables of pairs and without; and
 * neither of the former two changes by what the shipped entry says of measurements. */
static void
a_datasheet_knows_no_measurement (void **state)
{
  static const char system[] =
      "systems:\n- {system: s, links: slingshot11_alps_mpich_host slingshot11_pingpong, "
      "tables: alps_gh200_ss11_allreduce_64, same: true}\n";
  const Fixture *f = *state;
  FabLinkSpec bare = *fab_catalog_link (f->catalog, "slingshot-11");

  bare.copy.achievable_fraction = bare.kernel.achievable_fraction = bare.multimem.achievable_fraction = 1;
  bare.endpoint_ps = 0;
  bare.collective_fraction = 0;
  const FabCatalogSections own = { .links = { &bare, 1 } };
  g_autoptr (FabCatalog) catalog = fab_catalog_overlay (f->catalog, &own);
  g_autoptr (FabCalibratedReport) shipped = report_of (f, system, f->catalog),
                                  plain = report_of (f, system, catalog);
  guint n = 0;
  for (FabSizeClass c = 0; c < FAB_N_SIZE_CLASSES; c++) {
    const double datasheet = shipped->errors[FAB_KNOWN_DATASHEET][c].median_fraction,
                 p2p = shipped->errors[FAB_KNOWN_P2P][c].median_fraction;

    if (shipped->errors[0][c].n == 0)
      continue;
    assert_near (plain->errors[FAB_KNOWN_DATASHEET][c].median_fraction, datasheet, 1e-12);
    assert_near (plain->errors[FAB_KNOWN_CATALOG][c].median_fraction, datasheet, 1e-12);
    assert_near (plain->errors[FAB_KNOWN_P2P][c].median_fraction, p2p, 1e-12);
    assert_near (plain->errors[FAB_KNOWN_CATALOG_P2P][c].median_fraction, p2p, 1e-12);
    n += fabs (p2p - datasheet) > 1e-3
      && fabs (shipped->errors[FAB_KNOWN_CATALOG][c].median_fraction - datasheet) > 1e-3;
  }
  assert_true (n > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sums_are_of_all_tables),
    cmocka_unit_test (every_page_has_every_row),
    cmocka_unit_test (one_size_is_a_row),
    cmocka_unit_test (pages_count_what_moved),
    cmocka_unit_test (a_datasheet_knows_no_measurement),
  };

  return cmocka_run_group_tests_name ("calibrated", tests, set_up, tear_down);
}
