/* SPDX-License-Identifier: Apache-2.0 */
/* test_statement.c - how numbers of an explanation are written, at the edges of each unit, and formulas with them. */
#include "tests/support/test.h"

#include "answer/explain/statement.h"

static void
values_have_the_unit_that_fits (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTermKind kind;
    double value;
    const char *shown;
  } rows[] = {
    { FAB_TERM_TIME, 1.5e-3, "1.5 ms" },
    { FAB_TERM_TIME, 0, "0 s" },
    { FAB_TERM_BYTES, 0, "0 B" },
    { FAB_TERM_BYTES, 999, "999 B" },
    { FAB_TERM_BYTES, -999, "-999 B" },
    { FAB_TERM_BYTES, 1e3, "1 kB" },
    { FAB_TERM_BYTES, 999999, "1000 kB" },
    { FAB_TERM_BYTES, 1e6, "1 MB" },
    { FAB_TERM_BYTES, 2e9, "2 GB" },
    { FAB_TERM_BYTES, -3e12, "-3 TB" },
    { FAB_TERM_BYTES, 4e15, "4000 TB" },
    { FAB_TERM_RATE, 25e9, "25 GB/s" },
    { FAB_TERM_FLOPS, 999, "999 FLOP" },
    { FAB_TERM_FLOPS, 1000, "1 kFLOP" },
    { FAB_TERM_FLOPS, -1e6, "-1 MFLOP" },
    { FAB_TERM_FLOPS, 1.5e21, "1.5 ZFLOP" },
    { FAB_TERM_FLOPS, 2e24, "2000 ZFLOP" },
    { FAB_TERM_FLOPS_RATE, 312e12, "312 TFLOP/s" },
    { FAB_TERM_FRACTION, 0.125, "12.5 %" },
    { FAB_TERM_NUMBER, 8, "8" },
    { FAB_TERM_NUMBER, 1.25, "1.25" },
    { FAB_TERM_NUMBER, 9999999, "9999999" },
    { FAB_TERM_NUMBER, -9999999, "-9999999" },
    { FAB_TERM_NUMBER, 1e7, "1e+07" },
    { FAB_TERM_NUMBER, 123456.5, "1.2346e+05" },
    { FAB_TERM_MONEY, 2.5, "$2.5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *shown = fab_term_show (rows[i].kind, rows[i].value);

    assert_string_equal (shown, rows[i].shown);
  }
}

/* A name that begins as another one does is another name; digits, signs and brackets stay. */
static void
numbers_take_the_place_of_names (G_GNUC_UNUSED void **state)
{
  FabStatement *statement = fab_statement_new (2, "a title", "limit", FAB_TERM_RATE, 0.25);

  assert_int_equal (statement->depth, 2);
  assert_string_equal (statement->title, "a title");
  assert_string_equal (statement->name, "limit");
  assert_int_equal (statement->kind, FAB_TERM_RATE);
  assert_true (statement->value == 0.25);
  assert_null (fab_statement_numbers (statement));
  fab_statement_formula (statement, "nothing");
  fab_statement_formula (statement, "size * 2 * (n - 1) / n / size_rate");
  fab_statement_term (statement, "n", FAB_TERM_NUMBER, 4);
  fab_statement_term (statement, "size_rate", FAB_TERM_RATE, 6e9);
  fab_statement_term (statement, "size", FAB_TERM_BYTES, 1e9);
  g_autofree char *numbers = fab_statement_numbers (statement);
  assert_string_equal (numbers, "1 GB * 2 * (4 - 1) / 4 / 6 GB/s");
  fab_statement_free (statement);
  fab_statement_free (NULL);
}

static void
a_source_has_a_date_where_there_is_one (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][3] = {
    { "a page", "2026-01-01", "a page (2026-01-01)" },
    { "a page", NULL, "a page" },
    { NULL, "2026-01-01", "2026-01-01" },
  };
  FabStatement *statement = fab_statement_new (0, "t", "n", FAB_TERM_NUMBER, 1);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    fab_statement_origin (statement, rows[i][0], rows[i][1]);
    assert_string_equal (statement->source, rows[i][2]);
  }
  fab_statement_origin (statement, NULL, NULL);
  assert_null (statement->source);
  fab_statement_note (statement, "%u of %s", 2, "them");
  fab_statement_note (statement, "100 %%");
  assert_int_equal (statement->notes->len, 2);
  assert_string_equal (g_ptr_array_index (statement->notes, 0), "2 of them");
  assert_string_equal (g_ptr_array_index (statement->notes, 1), "100 %");
  fab_statement_free (statement);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (values_have_the_unit_that_fits),
    cmocka_unit_test (numbers_take_the_place_of_names),
    cmocka_unit_test (a_source_has_a_date_where_there_is_one),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
