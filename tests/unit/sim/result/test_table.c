/* SPDX-License-Identifier: Apache-2.0 */
/* test_table.c - a query's answer as text, CSV and JSON. */
#include <glib.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "sim/result/table.h"

static FabCell
text (const char *value)
{
  return (FabCell){ FAB_CELL_TEXT, 0, 0, g_strdup (value) };
}

static FabCell
integer (gint64 value)
{
  return (FabCell){ FAB_CELL_INTEGER, value, (double) value, g_strdup_printf ("%" G_GINT64_FORMAT, value) };
}

static FabCell
real (double value, const char *shown)
{
  return (FabCell){ FAB_CELL_REAL, 0, value, g_strdup (shown) };
}

static FabCell
null (void)
{
  return (FabCell){ FAB_CELL_NULL, 0, 0, NULL };
}

static FabTable *
table_of (const char *columns, const FabCell *cells, guint n_cells)
{
  FabTable *table = g_new0 (FabTable, 1);

  table->columns = g_strsplit (columns, " ", -1);
  table->n_columns = g_strv_length (table->columns);
  table->n_rows = n_cells / table->n_columns;
  table->n_cells = n_cells;
  table->cells = g_memdup2 (cells, n_cells * sizeof *cells);
  return table;
}

static void
assert_prints (char *(*print) (const FabTable *), const FabTable *table, const char *expected)
{
  g_autofree char *printed = print (table);

  assert_string_equal (printed, expected);
}

static FabTable *
small_table (void)
{
  const FabCell cells[] = {
    text ("all_reduce"), integer (8),    real (37.20930232558139, "37.20930232558139"),
    text ("x"),          integer (1024), null ()
  };

  return table_of ("op n_ranks exposed_pct", cells, G_N_ELEMENTS (cells));
}

static void
text_aligns_names_left_and_numbers_right (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTable) table = small_table ();

  assert_prints (fab_table_to_text, table,
                 "op        \v  n_ranks\v  exposed_pct\n"
                 "all_reduce\v        8\v      37.2093\n"
                 "x         \v     1024\n");
}

/* The largest value of a column has six digits and sets the decimals of all, unless they span
 * more than four orders of magnitude. */
static void
text_lines_up_decimal_points (G_GNUC_UNUSED void **state)
{
  const FabCell cells[] = { real (123.456, "123.456"),
                            real (1.5e-9, "1.5e-09"),
                            real (0.62, "0.62"),
                            real (0.5, "0.5"),
                            real (20, "20"),
                            real (0, "0"),
                            real (INFINITY, "inf"),
                            real (12345678.9, "12345678.9"),
                            real (1, "1") };
  g_autoptr (FabTable) table = table_of ("a b c", cells, G_N_ELEMENTS (cells));

  assert_prints (fab_table_to_text, table,
                 "      a\v         b\v        c\n"
                 "123.456\v   1.5e-09\v  0.62000\n"
                 "  0.500\v        20\v  0.00000\n"
                 "    inf\v  12345679\v  1.00000\n");
}

static void
text_escapes_what_a_terminal_would_obey (G_GNUC_UNUSED void **state)
{
  const FabCell cells[] = { text ("a\033[2Jb\tc"), text ("\xc3\xa9\xff\n") };
  g_autoptr (FabTable) table = table_of ("x y", cells, G_N_ELEMENTS (cells));

  assert_prints (fab_table_to_text, table,
                 "x           \v  y\n"
                 "a\\x1b[2Jb\\tc\v  \xc3\xa9\xef\xbf\xbd\\n\n");
}

/* A text with line ends is a document where it is the only cell; beside another one, in a row or below it, it is a
 * cell. A column without a name has no blanks where it ends. */
static void
documents_stand_alone (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *columns[3];
    const char *texts[3];
    const char *text;
  } rows[] = {
    { { "x" }, { "a\nb" }, "a\nb" },
    { { "x" }, { "ab" }, "x\nab\n" },
    { { "x" }, { "a\nb", "c" }, "x\na\\nb\nc\n" },
    { { "x", "y" }, { "a\nb", "c" }, "x   \v  y\na\\nb\v  c\n" },
  };
  g_autoptr (FabTable) table = fab_table_new ((const char *const[]){ "", NULL });

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabTable) made = fab_table_new (rows[i].columns);

    for (guint k = 0; rows[i].texts[k] != NULL; k++)
      fab_table_add_text (made, rows[i].texts[k]);
    assert_prints (fab_table_to_text, made, rows[i].text);
  }
  fab_table_add_integer (table, 5);
  assert_prints (fab_table_to_text, table, "\n5\n");
}

static void
text_of_one_document_is_the_document (G_GNUC_UNUSED void **state)
{
  const FabCell cells[] = { text ("name: x\nseed: 1\n") };
  g_autoptr (FabTable) table = table_of ("scenario_yaml", cells, 1);

  assert_prints (fab_table_to_text, table, "name: x\nseed: 1\n");
}

/* RFC 4180 with LF; a field with a comma, a quote or a line end is quoted, quotes are doubled. */
static void
csv_quotes_what_needs_it (G_GNUC_UNUSED void **state)
{
  const FabCell cells[] = { text ("a,b"), text ("say \"hi\""), text ("1\n2"), text (""),
                            null (),      text ("plain text"), integer (-5),  real (0.1, "0.1") };
  g_autoptr (FabTable) table = table_of ("p q r s", cells, G_N_ELEMENTS (cells));

  assert_prints (fab_table_to_csv, table,
                 "p,q,r,s\n"
                 "\"a,b\",\"say \"\"hi\"\"\",\"1\n2\",\"\"\n"
                 ",plain text,-5,0.1\n");
}

static void
json_is_one_object_per_row (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTable) table = small_table ();

  assert_prints (fab_table_to_json, table,
                 "[\n"
                 "{\"op\": \"all_reduce\", \"n_ranks\": 8, \"exposed_pct\": 37.20930232558139},\n"
                 "{\"op\": \"x\", \"n_ranks\": 1024, \"exposed_pct\": null}\n"
                 "]\n");
}

static void
json_reads_back_whatever_the_text (G_GNUC_UNUSED void **state)
{
  const char *nasty = "\"\\/\b\f\n\r\t\x01\x7f\xc3\xa9\xf0\x9f\x98\x80";
  const FabCell cells[] = { text (nasty), integer (G_MAXINT64), real (INFINITY, "inf") };
  g_autoptr (FabTable) table = table_of ("t i r", cells, G_N_ELEMENTS (cells));
  g_autofree char *json = fab_table_to_json (table);
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *row;

  assert_true (json_parser_load_from_data (parser, json, -1, NULL));
  row = json_array_get_object_element (json_node_get_array (json_parser_get_root (parser)), 0);
  assert_string_equal (json_object_get_string_member (row, "t"), nasty);
  assert_true (json_object_get_int_member (row, "i") == G_MAXINT64);
  assert_true (json_object_get_null_member (row, "r"));
}

static void
a_table_without_rows_still_has_its_names (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTable) table = table_of ("a b", NULL, 0);

  assert_prints (fab_table_to_text, table, "a\v  b\n");
  assert_prints (fab_table_to_csv, table, "a,b\n");
  assert_prints (fab_table_to_json, table, "[]\n");
  fab_table_free (NULL);
}

/* Rows are objects on lines of their own, with commas between them. */
static void
json_has_as_many_objects_as_rows (G_GNUC_UNUSED void **state)
{
  static const char *const expected[] = { "[]\n", "[\n{\"a\": 0}\n]\n", "[\n{\"a\": 0},\n{\"a\": 1}\n]\n",
                                          "[\n{\"a\": 0},\n{\"a\": 1},\n{\"a\": 2}\n]\n" };

  for (guint n = 0; n < G_N_ELEMENTS (expected); n++) {
    FabCell cells[G_N_ELEMENTS (expected)] = { 0 }; /* the table takes as many as it has rows */

    for (guint i = 0; i < n; i++)
      cells[i] = integer ((gint64) i);
    g_autoptr (FabTable) table = table_of ("a", cells, n);

    assert_prints (fab_table_to_json, table, expected[n]);
  }
}

static void
cells_are_found (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTable) table = small_table ();

  assert_int_equal (fab_table_cell (table, 1, 1)->integer, 1024);
}

/* --- built cell by cell --- */

static FabTable *
column_of (const double *reals, guint n)
{
  FabTable *table = fab_table_new ((const char *const[]){ "x", NULL });

  for (guint i = 0; i < n; i++)
    fab_table_add_real (table, reals[i]);
  return table;
}

/* Six digits of the largest value, at most 11 decimals, where the values are within four orders of magnitude and
 * neither tiny nor huge; otherwise each value has its own digits. */
static void
text_chooses_decimals_for_a_column (G_GNUC_UNUSED void **state)
{
  static const struct {
    double reals[2];
    const char *text;
  } rows[] = {
    { { 999999, 500 }, "     x\n999999\n   500\n" },
    { { 9999, 1 }, "      x\n9999.00\n   1.00\n" },
    { { 10000, 1 }, "    x\n10000\n    1\n" },
    { { 1e-3, -2e-3 }, "          x\n 0.00100000\n-0.00200000\n" },
    { { 1e-6, 1e-6 }, "            x\n0.00000100000\n0.00000100000\n" },
    { { 9e-7, 9e-7 }, "    x\n9e-07\n9e-07\n" },
    { { 0, 0 }, "  x\n0.0\n0.0\n" },
    { { 9.99e14, 9.99e14 }, "              x\n999000000000000\n999000000000000\n" },
    { { 1e15, 1e15 }, "    x\n1e+15\n1e+15\n" },
    { { 1234567.8, 1 }, "      x\n1234568\n      1\n" },
    { { 999999.4, 1 }, "     x\n999999\n     1\n" },
    { { NAN, 2 }, "      x\n    nan\n2.00000\n" },
    { { 1e300, -1e-300 }, "      x\n 1e+300\n-1e-300\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabTable) table = column_of (rows[i].reals, 2);

    assert_prints (fab_table_to_text, table, rows[i].text);
  }
}

/* A real is written in the fewest digits, of 15 to 17, that read back. */
static void
reals_are_short_and_exact (G_GNUC_UNUSED void **state)
{
  const double reals[] = { 0.1, 1.0 / 3, 0.1 + 0.2, 2, -5e-324, 1e22, 123456789012345678.0 };
  g_autoptr (FabTable) table = column_of (reals, G_N_ELEMENTS (reals));

  assert_prints (fab_table_to_csv, table,
                 "x\n0.1\n0.3333333333333333\n0.30000000000000004\n2\n-4.94065645841247e-324\n1e+22\n"
                 "1.2345678901234568e+17\n");
}

/* Cells fill rows, in the order of the columns; an integer has its value as a real as well. */
static void
cells_fill_rows (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabTable) table = fab_table_new ((const char *const[]){ "a", "b", "c", NULL });

  assert_int_equal (table->n_columns, 3);
  for (gint i = 0; i < 40; i++) {
    assert_int_equal (table->n_rows, i);
    fab_table_add_integer (table, i - 20);
    fab_table_add_text (table, i % 2 == 0 ? "even" : NULL);
    fab_table_add_null (table);
  }
  assert_int_equal (table->n_rows, 40);
  for (guint i = 0; i < 40; i++) {
    assert_int_equal (fab_table_cell (table, i, 0)->kind, FAB_CELL_INTEGER);
    assert_int_equal (fab_table_cell (table, i, 0)->integer, (gint) i - 20);
    assert_true (fab_table_cell (table, i, 0)->real == (gint) i - 20);
    assert_int_equal (fab_table_cell (table, i, 1)->kind, i % 2 == 0 ? FAB_CELL_TEXT : FAB_CELL_NULL);
    assert_int_equal (fab_table_cell (table, i, 2)->kind, FAB_CELL_NULL);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (text_aligns_names_left_and_numbers_right),
    cmocka_unit_test (text_lines_up_decimal_points),
    cmocka_unit_test (text_escapes_what_a_terminal_would_obey),
    cmocka_unit_test (documents_stand_alone),
    cmocka_unit_test (text_of_one_document_is_the_document),
    cmocka_unit_test (csv_quotes_what_needs_it),
    cmocka_unit_test (json_is_one_object_per_row),
    cmocka_unit_test (json_reads_back_whatever_the_text),
    cmocka_unit_test (a_table_without_rows_still_has_its_names),
    cmocka_unit_test (json_has_as_many_objects_as_rows),
    cmocka_unit_test (cells_are_found),
    cmocka_unit_test (text_chooses_decimals_for_a_column),
    cmocka_unit_test (reals_are_short_and_exact),
    cmocka_unit_test (cells_fill_rows),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
