/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_pages.c - the pages of a report of peaks of memory, from a report by hand: every number stands where it
 * belongs, and what there is none of is left out. */
#include "tests/support/test.h"
#include "validate/memory/report.h"

static const double gib = 1024.0 * 1024.0 * 1024.0;

/* Errors of n rows: a median of n / 32, a bias of -n / 64, the largest of n / 8. */
#define ERRORS(n_)                                                                                       \
  {                                                                                                      \
    .n = (n_), .median_fraction = (n_) / 32.0, .bias_fraction = (n_) / -64.0, .max_fraction = (n_) / 8.0 \
  }

static FabMemorySourceSpec specs[2] = {
  { .name = "few", .title = "A few peaks", .role = FAB_MEMORY_LOOKED_AT, .in_band = TRUE },
  { .name = "many", .title = "Many peaks", .role = FAB_MEMORY_HELD_OUT, .note = "of a note" }
};

typedef struct {
  FabMemorySource sources[2];
  FabMemoryComparison few[4], many[90];
  FabMemoryReport report;
} World;

static void
add_rows (FabMemorySource *source, FabMemoryComparison *rows, guint n)
{
  source->rows = g_array_sized_new (FALSE, TRUE, sizeof (FabMemoryRow), 90);
  for (guint i = 0; i < n; i++) {
    static char ids[90][4];
    FabMemoryRow row = { .id = ids[i], .peak_bytes = (i + 1) * gib };

    g_snprintf (ids[i], sizeof ids[i], "r%u", i);
    g_array_append_val (source->rows, row);
    rows[i] = (FabMemoryComparison){ .measured = &g_array_index (source->rows, FabMemoryRow, i),
                                     .predicted_bytes = (i + 1.5) * gib,
                                     .error_fraction = 1.0 / (2 << MIN (i, 20)) };
  }
}

static void
make (World *self, guint n_many)
{
  *self = (World){ .report = { .results = g_array_new (FALSE, FALSE, sizeof (FabMemoryResult)),
                               .all = ERRORS (7),
                               .looked_at = ERRORS (5),
                               .held_out = ERRORS (6),
                               .low_factor = 0.875,
                               .high_factor = 1.125,
                               .held_fraction = 0.9375 } };
  for (guint i = 0; i < 2; i++) {
    FabMemoryResult result = { .source = &self->sources[i],
                               .rows = i == 0 ? self->few : self->many,
                               .errors = ERRORS (3),
                               .n_refused = 2,
                               .n_problems = 1,
                               .held_fraction = 0.75 };

    self->sources[i] = (FabMemorySource){ .spec = &specs[i],
                                          .header = g_hash_table_new (g_str_hash, g_str_equal) };
    add_rows (&self->sources[i], result.rows, i == 0 ? 4 : n_many);
    if (i == 1)
      result.errors = (FabErrors){ 0 };
    g_array_append_val (self->report.results, result);
  }
  g_hash_table_insert (self->sources[0].header, (char *) "source", (char *) "a paper");
  g_hash_table_insert (self->sources[0].header, (char *) "date", (char *) "today");
  g_hash_table_insert (self->sources[1].header, (char *) "inferred", (char *) "nodes");
  g_hash_table_insert (self->sources[1].header, (char *) "left_out", (char *) "one row");
  g_array_index (self->sources[0].rows, FabMemoryRow, 1).is_reserved = TRUE;
  g_array_index (self->sources[0].rows, FabMemoryRow, 2).doubtful = "said so";
  self->few[1].is_refused = TRUE;
  self->few[3].problem = (char *) "too large";
}

static void
leave (World *self)
{
  for (guint i = 0; i < 2; i++) {
    g_hash_table_unref (self->sources[i].header);
    g_array_unref (self->sources[i].rows);
  }
  g_array_unref (self->report.results);
}

/* --- pages --- */

static const char text_page[] =
    "few: A few peaks (looked at)\n"
    "  r0                                               1.00 GiB allocated     1.50 predicted   +50.0 %\n"
    "  r1                                               2.00 GiB reserved      2.50 predicted   +25.0 %  "
    "refused\n"
    "  r2                                               3.00 GiB allocated     3.50 predicted   +12.5 %  "
    "doubtful\n"
    "  r3                                           skipped: too large\n"
    "  errors                     3 rows  median |error|   9.4 %  bias   -4.7 %  largest  37.5 %\n"
    "  a band of the other sources holds 75 %; refused 2; skipped 1\n"
    "\n"
    "many: Many peaks (held out)\n"
    "  a band of the other sources holds 75 %; refused 2; skipped 1\n"
    "\n"
    "all sources\n"
    "  looked at                  5 rows  median |error|  15.6 %  bias   -7.8 %  largest  62.5 %\n"
    "  held out                   6 rows  median |error|  18.8 %  bias   -9.4 %  largest  75.0 %\n"
    "  all                        7 rows  median |error|  21.9 %  bias  -10.9 %  largest  87.5 %\n"
    "  band: measured memory is 0.875 to 1.125 of what is predicted; it holds 94 % of sources that it was "
    "made without\n";

static const char csv_page[] =
    "source,role,id,kind,measured_bytes,predicted_bytes,error_fraction,is_refused,problem\n"
    "few,looked at,r0,allocated,1073741824,1610612736,0.500000,0,\n"
    "few,looked at,r1,reserved,2147483648,2684354560,0.250000,1,\n"
    "few,looked at,r2,allocated,3221225472,3758096384,0.125000,0,\n"
    "few,looked at,r3,allocated,4294967296,4831838208,0.062500,0,skipped\n";

static const char json_page[] =
    "{\"sources\" : [{\"name\" : \"few\",\"role\" : \"looked at\",\"errors\" : {\"rows\" : "
    "3,\"median_fraction\" : 0.09375,\"bias_fraction\" : -0.046875,\"max_fraction\" : "
    "0.375},\"held_fraction\" : 0.75,\"refused\" : 2,\"skipped\" : 1,\"rows\" : [{\"id\" : \"r0\",\"kind\" : "
    "\"allocated\",\"measured_bytes\" : 1073741824.0,\"predicted_bytes\" : 1610612736.0,\"error_fraction\" : "
    "0.5,\"is_refused\" : false,\"problem\" : null},{\"id\" : \"r1\",\"kind\" : "
    "\"reserved\",\"measured_bytes\" : 2147483648.0,\"predicted_bytes\" : 2684354560.0,\"error_fraction\" : "
    "0.25,\"is_refused\" : true,\"problem\" : null},{\"id\" : \"r2\",\"kind\" : "
    "\"allocated\",\"measured_bytes\" : 3221225472.0,\"predicted_bytes\" : 3758096384.0,\"error_fraction\" : "
    "0.125,\"is_refused\" : false,\"problem\" : null},{\"id\" : \"r3\",\"kind\" : "
    "\"allocated\",\"measured_bytes\" : 4294967296.0,\"predicted_bytes\" : 4831838208.0,\"error_fraction\" : "
    "0.0625,\"is_refused\" : false,\"problem\" : \"too large\"}]},{\"name\" : \"many\",\"role\" : \"held "
    "out\",\"errors\" : {\"rows\" : 0},\"held_fraction\" : 0.75,\"refused\" : 2,\"skipped\" : 1,\"rows\" : "
    "[]}],\"looked_at\" : {\"rows\" : 5,\"median_fraction\" : 0.15625,\"bias_fraction\" : "
    "-0.078125,\"max_fraction\" : 0.625},\"held_out\" : {\"rows\" : 6,\"median_fraction\" : "
    "0.1875,\"bias_fraction\" : -0.09375,\"max_fraction\" : 0.75},\"all\" : {\"rows\" : "
    "7,\"median_fraction\" : 0.21875,\"bias_fraction\" : -0.109375,\"max_fraction\" : 0.875},\"band\" : "
    "{\"low_factor\" : 0.875,\"high_factor\" : 1.125,\"held_fraction\" : 0.9375}}";

static const char markdown_page[] =
    "| source | role | rows | median error | bias | largest | held by a band of the others | refused |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|\n"
    "| few | looked at | 3 | 9.4 % | -4.7 % | 37.5 % | 75 % | 2 |\n"
    "| many | held out | 0 | 0.0 % | +0.0 % | 0.0 % | 75 % | 2 |\n"
    "| all | looked at | 5 | 15.6 % | -7.8 % | 62.5 % | | |\n"
    "| all | held out | 6 | 18.8 % | -9.4 % | 75.0 % | | |\n"
    "\n"
    "Measured memory is 0.875 to 1.125 of what is predicted in 90 % of a mixture in which every\n"
    "source weighs the same. Such a band holds 94 % of the rows of sources that it was made\n"
    "without. A job is refused where even the low end does not fit.\n"
    "many is no part of the band; its note says why.\n"
    "\n"
    "## few\n"
    "\n"
    "A few peaks.\n"
    "\n"
    "- source: a paper\n"
    "- date: today\n"
    "\n"
    "| row | kind | measured GiB | predicted GiB | error |\n"
    "|---|---|---:|---:|---:|\n"
    "| r0 | allocated | 1.00 | 1.50 | +50.0 % |\n"
    "| r1 | reserved | 2.00 | 2.50 | +25.0 % |\n"
    "| r2 | allocated | 3.00 | 3.50 | +12.5 % |\n"
    "\n"
    "## many\n"
    "\n"
    "Many peaks.\n"
    "\n"
    "- inferred: nodes\n"
    "- left_out: one row\n"
    "- note: of a note\n"
    "\n"
    "| row | kind | measured GiB | predicted GiB | error |\n"
    "|---|---|---:|---:|---:|\n";

static void
assert_page (char *page, const char *right)
{
  assert_string_equal (page, right);
  g_free (page);
}

/* A document on one line. */
static char *
on_a_line (const char *page)
{
  g_autoptr (GRegex) breaks = g_regex_new ("\\s*\n\\s*", 0, 0, NULL);

  return g_regex_replace_literal (breaks, page, -1, 0, "", 0, NULL);
}

static void
pages (G_GNUC_UNUSED void **state)
{
  World world;

  make (&world, 0);
  FabMemoryView view = { &world.report, NULL, FALSE };
  assert_page (fab_memory_to_text (&view), text_page);
  assert_page (fab_memory_to_csv (&view), csv_page);
  g_autofree char *json = fab_memory_to_json (&view), *markdown = fab_memory_to_markdown (&view);
  assert_page (on_a_line (json), json_page);
  assert_string_equal (strstr (markdown, "| source | role"), markdown_page);
  leave (&world);
}

/* A summary is the page without its rows. */
static void
summaries (G_GNUC_UNUSED void **state)
{
  static const char *const rows[] = { "  r0 ", "  r1 ", "  r2 ", "  r3 " };
  World world;

  make (&world, 0);
  FabMemoryView view = { &world.report, NULL, TRUE };
  g_autofree char *text = fab_memory_to_text (&view), *json = fab_memory_to_json (&view),
                  *markdown = fab_memory_to_markdown (&view), *line = on_a_line (json);
  g_autoptr (GString) right = g_string_new (text_page);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    char *begin = strstr (right->str, rows[i]);

    g_string_erase (right, begin - right->str, strchr (begin, '\n') + 1 - begin);
  }
  assert_string_equal (text, right->str);
  assert_null (strstr (line, "\"id\""));
  assert_non_null (strstr (line, "\"rows\" : []"));
  assert_true (g_str_has_suffix (markdown, "many is no part of the band; its note says why.\n"));
  leave (&world);
}

/* Of more than 40 rows every second, third, ... stands on the page, so that no more than 40 do. */
static void
many_rows (G_GNUC_UNUSED void **state)
{
  static const guint numbers[] = { 1, 40, 41, 80, 81 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    guint n = numbers[i], step = n <= 40 ? 1 : n <= 80 ? 2 : 3;
    World world;

    make (&world, n);
    g_autofree char *page = fab_memory_to_markdown (&(FabMemoryView){ &world.report, NULL, FALSE });
    g_autofree char *told = g_strdup_printf ("\nEvery row number %u of %u (`--format csv` has all):\n", step,
                                             n);
    const char *part = strstr (page, "## many");

    assert_int_equal (strstr (part, told) != NULL, step > 1);
    for (guint k = 0; k < n; k++) {
      g_autofree char *row = g_strdup_printf ("\n| r%u | allocated | %u.00 | %u.50 |", k, k + 1, k + 1);

      assert_int_equal (strstr (part, row) != NULL, k % step == 0);
    }
    leave (&world);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pages),
    cmocka_unit_test (summaries),
    cmocka_unit_test (many_rows),
  };

  return cmocka_run_group_tests_name ("memory_pages", tests, NULL, NULL);
}
