/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_report.c - measured peaks of memory beside predicted ones. A measured peak is made of the predicted one
 * and a factor, so that errors, bands and limits have closed forms. */
#include <glib/gstdio.h>

#include "models/models.h"
#include "models/workload/training/memory_band.h"
#include "sim/base/error.h"
#include "sim/run/simulation.h"
#include "tests/support/test.h"
#include "validate/memory/report.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

static const char scenario[] =
    "name: t\niterations: 1\ncluster: {node: dgx-h100, nodes: 1, gpus_per_node: 8}\n"
    "job: {kind: fsdp, model: gpt2-xl, micro_batch: ${micro_batch}, sequence: 1024}\n";

static const char index_yaml[] =
    "sources:\n"
    "  - {name: one, title: t, file: one.csv, scenario: s.yaml, role: looked_at}\n"
    "  - {name: two, title: t, file: two.csv, scenario: s.yaml, role: held_out}\n"
    "  - {name: apart, title: t, file: apart.csv, scenario: s.yaml, role: held_out, band: false}\n";

static const char head[] = "# source: made\nid,kind,peak_gib,micro_batch,doubtful\n";

typedef struct {
  FabCatalog *catalog;
  char *directory;
  GPtrArray *loaded;         /* FabMemorySources; reports are of them */
  FabMemorySources *sources; /* the last of them */
  double gib;                /* predicted for one sequence, all that is reserved */
} Fixture;

static char *
put (const Fixture *f, const char *name, const char *text)
{
  char *path = g_build_filename (f->directory, name, NULL);

  assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static FabMemorySources *
try_load (const Fixture *f, const char *one, const char *two, const char *apart, GError **error)
{
  const char *const names[] = { "one.csv", "two.csv", "apart.csv" }, *const rows[] = { one, two, apart };
  g_autofree char *index = put (f, "INDEX.yaml", index_yaml), *template = put (f, "s.yaml", scenario);

  for (guint i = 0; i < 3; i++) {
    g_autofree char *text = g_strconcat (head, rows[i], NULL), *path = put (f, names[i], text);
  }
  return fab_memory_sources_load (f->directory, &fab_models, error);
}

static FabMemoryReport *
try_report (Fixture *f, const char *one, const char *two, const char *apart, GError **error)
{
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();
  g_autoptr (GError) problem = NULL;

  f->sources = try_load (f, one, two, apart, &problem);
  if (f->sources == NULL)
    fail_msg ("%s", problem->message);
  g_ptr_array_add (f->loaded, f->sources);
  for (guint i = 0; i < fab_memory_sources_n (f->sources); i++)
    g_ptr_array_add (chosen, (gpointer) fab_memory_sources_get (f->sources, i));
  return fab_memory_report_new (chosen, f->catalog, &fab_models, NULL, error);
}

static FabMemoryReport *
report (Fixture *f, const char *one, const char *two, const char *apart)
{
  g_autoptr (GError) error = NULL;
  FabMemoryReport *self = try_report (f, one, two, apart, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static const FabMemoryResult *
result_at (const FabMemoryReport *self, guint index)
{
  return &g_array_index (self->results, FabMemoryResult, index);
}

/* n rows that measured so many times what is predicted. */
static void
add_rows (const Fixture *f, GString *rows, guint n, double factor)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < n; i++)
    g_string_append_printf (rows, "r,reserved,%s,1,\n",
                            g_ascii_dtostr (number, sizeof number, f->gib * factor));
}

/* Of one row each. (transfer full) */
static char *
rows_of (const Fixture *f, const double *factors, guint n)
{
  GString *rows = g_string_new ("");

  for (guint i = 0; i < n; i++)
    add_rows (f, rows, 1, factors[i]);
  return g_string_free (rows, FALSE);
}

#define ROWS(f, ...) \
  rows_of (f, (const double[]){ __VA_ARGS__ }, G_N_ELEMENTS (((const double[]){ __VA_ARGS__ })))

static int
setup (void **state)
{
  static const char row[] = "r,reserved,1,1,\n";
  Fixture *f = g_new0 (Fixture, 1);

  *state = f;
  f->catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  f->directory = g_dir_make_tmp ("fab-memory-XXXXXX", NULL);
  f->loaded = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_memory_sources_free);
  if (f->catalog == NULL || f->directory == NULL)
    return -1;
  g_autoptr (FabMemoryReport) first = report (f, row, row, row);
  f->gib = result_at (first, 0)->rows[0].predicted_bytes / pow (2, 30);
  return 0;
}

static int
teardown (void **state)
{
  static const char *const files[] = { "INDEX.yaml", "s.yaml",    "one.csv",
                                       "two.csv",    "apart.csv", "accept.yaml" };
  Fixture *f = *state;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree char *path = g_build_filename (f->directory, files[i], NULL);

    g_unlink (path);
  }
  g_rmdir (f->directory);
  g_ptr_array_unref (f->loaded);
  fab_catalog_free (f->catalog);
  g_free (f->directory);
  g_free (f);
  return 0;
}

/* --- what is predicted --- */

static void
test_reserved_memory_is_all_parts_and_allocated_memory_leaves_out_those_of_streams (void **state)
{
  Fixture *f = *state;
  g_autoptr (FabMemoryReport) self = report (f, "a,reserved,1,1,\nb,allocated,1,1,\n", "c,reserved,1,2,\n",
                                             "d,reserved,1,1,\n");
  g_autofree char *yaml = fab_memory_source_scenario (fab_memory_sources_get (f->sources, 0), 0, NULL);
  g_autoptr (FabScenario) one = fab_scenario_open_text ("t", yaml, strlen (yaml), &fab_models, f->catalog,
                                                        NULL);

  assert_true (fab_scenario_check (one, NULL));
  g_autoptr (FabSimulation) simulation = fab_simulation_build (one, &fab_models, NULL, NULL, NULL);
  const GArray *parts = fab_simulation_totals (simulation)->memory;
  double all = 0, streams = 0;

  for (guint i = 0; i < parts->len; i++) {
    const FabMemoryPart *part = &g_array_index (parts, FabMemoryPart, i);

    assert_int_equal (part->rank_class, 0); /* all ranks alike */
    all += (double) part->bytes;
    streams += strcmp (part->part, MEMORY_OF_STREAMS) == 0 ? (double) part->bytes : 0;
  }
  assert_true (streams > 0);
  assert_near (result_at (self, 0)->rows[0].predicted_bytes, all, 1e-12);
  assert_near (result_at (self, 0)->rows[1].predicted_bytes, all - streams, 1e-12);
  assert_true (result_at (self, 1)->rows[0].predicted_bytes > all); /* of two sequences */
}

static void
test_errors_are_predicted_over_measured_of_each_role (void **state)
{
  Fixture *f = *state;
  g_autofree char *one = ROWS (f, 0.8, 1.25, 1), *two = ROWS (f, 0.5), *apart = ROWS (f, 2, 2);
  g_autoptr (FabMemoryReport) self = report (f, one, two, apart);

  for (guint i = 0; i < 3; i++)
    assert_near (result_at (self, 0)->rows[i].error_fraction + 1, ((const double[]){ 1.25, 0.8, 1 })[i],
                 1e-9);
  assert_near (self->looked_at.median_fraction, 0.2, 1e-9);
  assert_near (self->looked_at.max_fraction, 0.25, 1e-9);
  assert_int_equal (self->looked_at.n, 3);
  assert_int_equal (self->held_out.n, 3); /* 1, -0.5, -0.5 */
  assert_near (self->held_out.median_fraction, 0.5, 1e-9);
  assert_near (self->held_out.bias_fraction, -0.5, 1e-9);
  assert_int_equal (self->all.n, 6); /* 0, 0.2, 0.25, 0.5, 0.5, 1 */
  assert_near (self->all.median_fraction, 0.375, 1e-9);
}

static void
test_doubtful_rows_are_predicted_and_do_not_count (void **state)
{
  Fixture *f = *state;
  g_autofree char *one = ROWS (f, 1.1), *other = ROWS (f, 1);
  g_autofree char *both = g_strconcat (one, "d,reserved,500,1,measured by hand\n", NULL);
  g_autoptr (FabMemoryReport) self = report (f, both, other, other);

  assert_int_equal (result_at (self, 0)->errors.n, 1);
  assert_near (result_at (self, 0)->errors.max_fraction, 1 - 1 / 1.1, 1e-9);
  assert_near (self->high_factor, 1.1, 1e-9);
  assert_near (result_at (self, 0)->rows[1].predicted_bytes, f->gib * pow (2, 30), 1e-9);
}

static void
test_rows_that_cannot_be_predicted_are_counted_and_a_source_of_them_is_refused (void **state)
{
  Fixture *f = *state;
  g_autofree char *one = ROWS (f, 1), *both = g_strconcat (one, "b,reserved,9,none,\n", NULL);
  g_autoptr (FabMemoryReport) self = report (f, both, one, one);
  g_autoptr (GError) error = NULL;

  assert_int_equal (result_at (self, 0)->n_problems, 1);
  assert_int_equal (result_at (self, 0)->errors.n, 1);
  assert_int_equal (result_at (self, 1)->n_problems, 0);
  assert_null (result_at (self, 0)->rows[0].problem);
  assert_non_null (strstr (result_at (self, 0)->rows[1].problem, "micro_batch"));
  assert_null (try_report (f, one, "b,reserved,9,none,\n", one, &error));
  assert_non_null (strstr (error->message, "micro_batch"));
}

static void
test_a_row_that_ran_and_does_not_fit_is_refused (void **state)
{
  Fixture *f = *state;
  g_autofree char *one = ROWS (f, 1), *both = g_strconcat (one, "b,reserved,79,4096,\n", NULL);
  g_autoptr (FabMemoryReport) self = report (f, both, one, one);

  assert_int_equal (result_at (self, 0)->n_refused, 1);
  assert_true (result_at (self, 0)->rows[1].is_refused && !result_at (self, 0)->rows[0].is_refused);
  assert_int_equal (result_at (self, 0)->errors.n, 2); /* it counts */
}

/* --- the band --- */

static void
test_the_band_holds_what_was_measured_over_predicted (void **state)
{
  Fixture *f = *state;
  g_autofree char *one = ROWS (f, 1.1, 1.3), *two = ROWS (f, 1.2), *apart = ROWS (f, 5, 1.05);
  g_autoptr (FabMemoryReport) self = report (f, one, two, apart);

  assert_near (self->low_factor, 1, 1e-9); /* what is predicted is in it */
  assert_near (self->high_factor, 1.3, 1e-9);
  assert_near (result_at (self, 0)->held_fraction, 0.5, 1e-9); /* by 1 to 1.2 */
  assert_near (result_at (self, 1)->held_fraction, 1, 1e-9);   /* by 1 to 1.3 */
  assert_near (result_at (self, 2)->held_fraction, 0.5, 1e-9);
  assert_near (self->held_fraction, 0.75, 1e-9); /* of the two that make it */
}

static void
test_the_band_reaches_down_to_what_was_measured_below_the_predicted (void **state)
{
  Fixture *f = *state;
  g_autofree char *one = ROWS (f, 0.7), *two = ROWS (f, 0.9), *apart = ROWS (f, 1);
  g_autoptr (FabMemoryReport) self = report (f, one, two, apart);

  assert_near (self->low_factor, 0.7, 1e-9);
  assert_near (self->high_factor, 1, 1e-9);
  assert_near (result_at (self, 0)->held_fraction, 0, 0); /* by 0.9 to 1 */
  assert_near (result_at (self, 1)->held_fraction, 1, 1e-9);
}

static void
test_the_band_leaves_a_twentieth_out_at_each_end_and_sources_weigh_the_same (void **state)
{
  Fixture *f = *state;
  g_autoptr (GString) one = g_string_new ("");
  g_autofree char *two = ROWS (f, 1.2), *apart = ROWS (f, 1);

  /* Of 20 rows, one is a fortieth of the mixture with another source, and three are more than a twentieth. */
  add_rows (f, one, 1, 0.5);
  add_rows (f, one, 16, 1.1);
  add_rows (f, one, 3, 2);
  g_autoptr (FabMemoryReport) self = report (f, one->str, two, apart);
  assert_near (self->low_factor, 1, 1e-9);
  assert_near (self->high_factor, 2, 1e-9);
  assert_near (result_at (self, 0)->held_fraction, 16. / 20, 1e-9); /* by 1 to 1.2 */

  g_string_truncate (one, 0);
  add_rows (f, one, 3, 0.5);
  add_rows (f, one, 16, 1.1);
  add_rows (f, one, 1, 2);
  g_autoptr (FabMemoryReport) other = report (f, one->str, two, apart);
  assert_near (other->low_factor, 0.5, 1e-9);
  assert_near (other->high_factor, 1.2, 1e-9);
}

/* --- limits --- */

static const char *
same_name (G_GNUC_UNUSED gconstpointer known, const char *name, G_GNUC_UNUSED GError **error)
{
  return name;
}

static void
test_limits_hold_medians_refusals_and_rows_left_out (void **state)
{
  static const struct {
    const char *limits, *lines; /* first words of each, and what it must have */
  } cases[] = {
    { "all: {median: 12%}\nsources:\n  - {source: one, median: 21%, wrong: 1, skipped: 1}\n"
      "  - {source: two, median: 1%}\n  - {source: apart, median: 1%}\n",
      "" },
    { "sources:\n  - {source: one, median: 19%, wrong: 1, skipped: 1}\n  - {source: two, median: 1%}\n"
      "  - {source: apart, median: 1%}\n",
      "one: median |error| 20.0 % exceeds the accepted 19.0 %\n" },
    { "sources:\n  - {source: one, median: 21%, wrong: 1}\n  - {source: two, median: 1%}\n"
      "  - {source: apart, median: 1%}\n",
      "one: 1 rows cannot be predicted, accepted are 0\n" },
    { "sources:\n  - {source: one, median: 21%, skipped: 1}\n  - {source: two, median: 1%}\n"
      "  - {source: apart, median: 1%}\n",
      "one: 1 rows that ran are refused, accepted are 0\n" },
    { "all: {median: 0.1%}\nsources:\n  - {source: one, median: 21%, wrong: 1, skipped: 1}\n"
      "  - {source: two, median: 1%}\n  - {source: apart, median: 1%}\n",
      "all sources: median |error| 10.0 % exceeds the accepted 0.1 %\n" },
    { "sources:\n  - {source: one, median: 21%, wrong: 1, skipped: 1}\n  - {source: apart, median: 1%}\n",
      "two: median |error| 0.0 %, and no limit is accepted\n" },
    /* Of more sources than these: all of them says nothing. */
    { "all: {median: 0.1%}\nsources:\n  - {source: one, median: 21%, wrong: 1, skipped: 1}\n"
      "  - {source: two, median: 1%}\n  - {source: apart, median: 1%}\n  - {source: more, median: 1%}\n",
      "" },
  };
  const FabLimitsRequest request = { FAB_LIMITS_OF_TRAINING, same_name, NULL, &fab_models };
  Fixture *f = *state;
  g_autofree char *right = ROWS (f, 1), *off = ROWS (f, 1 / 1.2, 1 / 1.2);
  g_autofree char *one = g_strconcat (off, "b,reserved,1,none,\nc,reserved,1,4096,far off\n", NULL);
  g_autoptr (FabMemoryReport) self = report (f, one, right, right);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = put (f, "accept.yaml", cases[i].limits);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabLimits) limits = fab_limits_load (path, &request, &error);

    if (limits == NULL)
      fail_msg ("%s", error->message);
    g_auto (GStrv) lines = fab_memory_report_exceeded (self, limits);
    g_autofree char *text = g_strjoinv ("\n", lines), *ended = g_strconcat (text, *text ? "\n" : "", NULL);
    assert_string_equal (ended, cases[i].lines);
  }
}

/* --- tables --- */

static void
test_wrong_tables_are_refused_with_what_is_wrong (void **state)
{
  static const struct {
    const char *rows, *message;
  } cases[] = {
    { "a,reserved,1,1\n", "one.csv:3: the row has 4 cells, and the table has 5 columns" },
    { ",reserved,1,1,\n", "one.csv:3: the row has no id" },
    { "a,reserved,1,1,\na,reserved,0,1,\n", "one.csv:4: peak_gib is '0', not a number above 0" },
    { "a,reserved,,1,\n", "peak_gib is '', not a number above 0" },
    { "a,held,1,1,\n", "kind is 'held'; use allocated or reserved" },
    { "a,,1,1,\n", "kind is ''; use allocated or reserved" },
    { "# more\na,reserved,1,1,\n", "one.csv:3: a header line must have the form '# key: value'" },
    { "\n", "one.csv: the table has no rows" },
  };
  const Fixture *f = *state;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (try_load (f, cases[i].rows, "a,reserved,1,1,\n", "a,reserved,1,1,\n", &error));
    if (strstr (error->message, cases[i].message) == NULL)
      fail_msg ("'%s' has no '%s'", error->message, cases[i].message);
  }
}

static void
test_sources_are_found_by_name_with_what_their_files_say (void **state)
{
  const Fixture *f = *state;
  g_autoptr (FabMemorySources) sources = try_load (f, "a,allocated,2.5,7,why\n# date: now: then\n",
                                                   "b,reserved,1,1,\n", "c,reserved,1,1,\n", NULL);
  const FabMemorySource *one = fab_memory_sources_find (sources, "one", NULL);
  g_autoptr (GError) error = NULL;

  assert_ptr_equal (one, fab_memory_sources_get (sources, 0));
  assert_string_equal (g_hash_table_lookup (one->header, "source"), "made");
  assert_string_equal (g_hash_table_lookup (one->header, "date"), "now: then");
  assert_string_equal (fab_memory_source_row (one, 0)->id, "a");
  assert_string_equal (fab_memory_source_row (one, 0)->doubtful, "why");
  assert_false (fab_memory_source_row (one, 0)->is_reserved);
  assert_near (fab_memory_source_row (one, 0)->peak_bytes, 2.5 * 1073741824, 0);
  assert_null (fab_memory_source_row (fab_memory_sources_get (sources, 1), 0)->doubtful);
  g_autofree char *yaml = fab_memory_source_scenario (one, 0, NULL);
  assert_non_null (strstr (yaml, "micro_batch: 7, "));
  assert_null (fab_memory_sources_find (sources, "tvo", &error));
  assert_string_equal (error->message, "no measured source 'tvo'; nearest is 'two'");
}

#define TEST(name) cmocka_unit_test_setup_teardown (name, setup, teardown)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    TEST (test_reserved_memory_is_all_parts_and_allocated_memory_leaves_out_those_of_streams),
    TEST (test_errors_are_predicted_over_measured_of_each_role),
    TEST (test_doubtful_rows_are_predicted_and_do_not_count),
    TEST (test_rows_that_cannot_be_predicted_are_counted_and_a_source_of_them_is_refused),
    TEST (test_a_row_that_ran_and_does_not_fit_is_refused),
    TEST (test_the_band_holds_what_was_measured_over_predicted),
    TEST (test_the_band_reaches_down_to_what_was_measured_below_the_predicted),
    TEST (test_the_band_leaves_a_twentieth_out_at_each_end_and_sources_weigh_the_same),
    TEST (test_limits_hold_medians_refusals_and_rows_left_out),
    TEST (test_wrong_tables_are_refused_with_what_is_wrong),
    TEST (test_sources_are_found_by_name_with_what_their_files_say),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
