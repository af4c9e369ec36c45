/* SPDX-License-Identifier: Apache-2.0 */
/* test_axis.c - what stands for many values, and what is wrong with it. */
#include "tests/support/test.h"

#include <string.h>

#include "sim/scenario/edits.h"
#include "sim/study/axis.h"

static void
assert_values (const char *text, const char *key, const char *values)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabAxis) axis = fab_axis_parse (text, &error);
  g_autoptr (GString) all = g_string_new (NULL);

  if (axis == NULL)
    fail_msg ("%s", error->message);
  for (guint i = 0; i < axis->values->len; i++)
    g_string_append_printf (all, "%s%s", i > 0 ? " " : "",
                            (const char *) g_ptr_array_index (axis->values, i));
  assert_string_equal (axis->key, key);
  assert_string_equal (all->str, values);
}

static void
lists_are_divided_at_commas_outside_brackets (G_GNUC_UNUSED void **state)
{
  assert_values ("cluster.nodes=4", "cluster.nodes", "4");
  assert_values ("cluster.nic=ib-hdr, ib-ndr", "cluster.nic", "ib-hdr ib-ndr");
  assert_values ("a={kind: torus, x: [1, 2]},switch", "a", "{kind: torus, x: [1, 2]} switch");
  assert_values ("a='x,y',../z", "a", "'x,y' ../z");
}

static void
ranges_have_steps_factors_and_counts (G_GNUC_UNUSED void **state)
{
  assert_values ("n=1..4", "n", "1 2 3 4");
  assert_values ("n=1..64:x4", "n", "1 4 16 64");
  assert_values ("n=1..63:x4", "n", "1 4 16");
  assert_values ("r=100..400Gb/s:100", "r", "100Gb/s 200Gb/s 300Gb/s 400Gb/s");
  assert_values ("r=100Gb/s..400Gb/s:/3", "r", "100Gb/s 250Gb/s 400Gb/s");
  assert_values ("f=0.1..0.5:0.1", "f", "0.1 0.2 0.3 0.4 0.5");
  assert_values ("f=-1..1:1", "f", "-1 0 1");
  assert_values ("b=1MiB..1MiB:x2", "b", "1MiB");
}

/* Seeds may be any whole number, such as a time in milliseconds. A double tells all of them apart up to 2^53. */
static void
ranges_of_long_whole_numbers_leave_none_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;

  assert_values ("seed=1000000000001..1000000000004", "seed",
                 "1000000000001 1000000000002 1000000000003 1000000000004");
  assert_values ("seed=-1000000000003..-1000000000001:2", "seed", "-1000000000003 -1000000000001");
  assert_values ("seed=9007199254740990..9007199254740992", "seed",
                 "9007199254740990 9007199254740991 9007199254740992");
  assert_values ("t=1e15..2e15:/2", "t", "1e+15 2e+15");
  assert_values ("t=1e12..1.21e12:x1.1", "t", "1e+12 1.1e+12 1.21e+12");
  assert_values ("t=1e15..1e17:x10", "t", "1e+15 1e+16 1e+17");
  assert_values ("r=1000000000001..1000000000003B/s", "r",
                 "1000000000001B/s 1000000000002B/s 1000000000003B/s");
  assert_null (fab_axis_parse ("seed=9007199254740990..9007199254740994", &error));
  assert_non_null (
      strstr (error->message, "beyond 9007199254740992 a range leaves numbers out; write a list"));
}

/* A rate has whole bytes per second, a size whole bytes, a time whole picoseconds; other numbers stay. */
static void
ranges_have_values_that_exist (G_GNUC_UNUSED void **state)
{
  static const FabUnit units[] = { FAB_UNIT_RATE, FAB_UNIT_BYTES, FAB_UNIT_TIME };
  static const char *const ranges[] = { "r=1..100Gb/s:/2000", "r=1..40000Gb/s:/7",     "r=1..100GB/s:x1.1",
                                        "s=1..7MiB:/12",      "s=1000..1000000B:x1.3", "t=1..2us:/1800" };
  static const guint unit_of[] = { 0, 0, 0, 1, 1, 2 }, counts[] = { 2000, 7, 49, 12, 27, 1800 };

  for (guint i = 0; i < G_N_ELEMENTS (ranges); i++) {
    g_autoptr (FabAxis) axis = fab_axis_parse (ranges[i], NULL);
    gint64 last = 0, value;

    assert_int_equal (axis->values->len, counts[i]);
    for (guint v = 0; v < axis->values->len; v++, last = value) {
      const char *text = g_ptr_array_index (axis->values, v);

      if (!fab_units_parse_whole (units[unit_of[i]], text, &value, NULL))
        fail_msg ("%s: %s", ranges[i], text);
      assert_true (value > last);
    }
  }
  assert_values ("r=1..2Gb/s:/4", "r", "1Gb/s 1.333333336Gb/s 1.666666664Gb/s 2Gb/s");
  assert_values ("s=1..4B:/7", "s", "1B 2B 3B 4B");
  assert_values ("s=1..2MiB:/4", "s", "1MiB 1398101B 1747627B 2MiB");
  assert_values ("f=1..2:/4", "f", "1 1.33333333333 1.66666666667 2");
  assert_values ("f=10..20%:/4", "f", "10% 13.3333333333% 16.6666666667% 20%");
  assert_values ("c=1..2TFLOP/s:/4", "c", "1TFLOP/s 1.33333333333TFLOP/s 1.66666666667TFLOP/s 2TFLOP/s");
}

static void
mistakes_say_what_would_be_right (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "nodes", "KEY=VALUES" },
    { "=1", "KEY=VALUES" },
    { "n=", "KEY=VALUES" },
    { "n=1,,2", "between commas" },
    { "n=1,", "between commas" },
    { "n=4..1", "ends before it begins" },
    { "n=1Gb/s..2GB/s", "different units" },
    { "n=1..x", "both ends must be numbers" },
    { "n=1..8:0", "must be above 0" },
    { "n=1..8:-1", "must be above 0" },
    { "n=1..8:x1", "factor above 1" },
    { "n=0..8:x2", "start above 0" },
    { "n=1..8:/1", "at least 2" },
    { "n=1..8:/2.5", "at least 2" },
    { "n=1..8:fast", "the step is not a number" },
    { "n=1Gb/s..8Gb/s:1GB/s", "another unit" },
    { "n=1..1e9", "more than 100000" },
    { "n=1..1e300:1e-300", "more than 100000" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabAxis) axis = fab_axis_parse (cases[i].text, &error);

    assert_null (axis);
    if (strstr (error->message, cases[i].message) == NULL)
      fail_msg ("%s: %s", cases[i].text, error->message);
  }
}

/* From 1 to 10 in ten parts: factors of 1.2589; three digits each, the second decade ten times the first. */
static void
decades_have_three_digits (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabAxis) axis = fab_axis_decades ("k", 10, 1000, 10, "Gb/s");

  assert_string_equal (axis->key, "k");
  assert_int_equal (axis->values->len, 21);
  assert_string_equal (g_ptr_array_index (axis->values, 0), "10Gb/s");
  assert_string_equal (g_ptr_array_index (axis->values, 1), "12.6Gb/s");
  assert_string_equal (g_ptr_array_index (axis->values, 11), "126Gb/s");
  assert_string_equal (g_ptr_array_index (axis->values, 20), "1000Gb/s");
  g_autoptr (FabAxis) small = fab_axis_decades ("k", 0.5, 50, 1, "Gb/s");
  assert_int_equal (small->values->len, 3);
  assert_string_equal (g_ptr_array_index (small->values, 0), "0.5Gb/s");
  assert_string_equal (g_ptr_array_index (small->values, 1), "5Gb/s");
}

/* 10 to 10.1 in steps of 2.3 thousandths: 10, 10.0, 10.0, 10.1, ... are two values. */
static void
values_of_decades_stand_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabAxis) axis = fab_axis_decades ("k", 10, 10.1, 1000, "");

  assert_int_equal (axis->values->len, 2);
  assert_string_equal (g_ptr_array_index (axis->values, 1), "10.1");
}

/* Brackets and quotes hold commas and blanks, also inside each other. A bracket that closes nothing is a letter. */
static void
brackets_and_quotes_keep_what_is_inside (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    const char *values[4];
  } rows[] = {
    { "a=[1,{b: 2,c: 3}],x", { "[1,{b: 2,c: 3}]", "x" } },
    { "a={b: [1,2],c: [3,4]},{d: 1}", { "{b: [1,2],c: [3,4]}", "{d: 1}" } },
    { "a=\"x,y\",z", { "\"x,y\"", "z" } },
    { "a=\"it's,one\",two", { "\"it's,one\"", "two" } },
    { "a='[',b,']'", { "'['", "b", "']'" } },
    { "a=],b", { "]", "b" } },
    { "a=}],{b,c}", { "}]", "{b,c}" } },
    { "a=[[1,2],3],4", { "[[1,2],3]", "4" } },
    { "a= 1 ,  2 ", { "1", "2" } },
    { "a=x..y", { "x..y" } },
    { "a=1..2,3", { "1..2", "3" } },
    { "a=.5..1", { ".5..1" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabAxis) axis = fab_axis_parse (rows[i].text, NULL);
    guint n = 0;

    for (; n < 4 && rows[i].values[n] != NULL; n++)
      assert_string_equal (g_ptr_array_index (axis->values, n), rows[i].values[n]);
    assert_int_equal (axis->values->len, n);
  }
}

/* A number begins with a digit, a point or a minus, and ends where its unit begins. */
static void
numbers_end_where_their_units_begin (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *unit; /* unit NULL: it is none */
    double number;
  } rows[] = { { "12Gb/s", "Gb/s", 12 }, { "-0.5", "", -0.5 }, { ".25ms", "ms", 0.25 }, { "1e3B", "B", 1000 },
               { "0", "", 0 },           { "x1", NULL, 0 },    { "", NULL, 0 },         { "-", NULL, 0 },
               { ".", NULL, 0 },         { "+1", NULL, 0 },    { "1e999", NULL, 0 },    { "inf", NULL, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const char *unit = NULL;
    double number = 0;

    assert_int_equal (fab_axis_split_number (rows[i].text, &number, &unit), rows[i].unit != NULL);
    if (rows[i].unit == NULL)
      continue;
    assert_string_equal (unit, rows[i].unit);
    assert_near (number, rows[i].number, 0);
  }
}

static void
ranges_have_a_hundred_thousand_values_at_most (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    guint n; /* 0: too many */
  } rows[] = { { "n=1..100000", 100000 }, { "n=0..100000", 0 },          { "n=0..1:/100000", 100000 },
               { "n=0..1:/100001", 0 },   { "n=1..1.0000000001:x2", 1 }, { "n=2..64:x2", 6 },
               { "n=2..63.9999:x2", 5 },  { "n=1..1000:x10", 4 },        { "n=0..0", 1 },
               { "n=0..0.3:0.1", 4 },     { "n=0..0.29:0.1", 3 },        { "n=5..5:/2", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabAxis) axis = fab_axis_parse (rows[i].text, &error);

    assert_int_equal (axis != NULL ? axis->values->len : 0, rows[i].n);
    assert_true (axis != NULL || strstr (error->message, "the range has more than 100000 values") != NULL);
  }
}

/* --- grids --- */

/* Every combination once: the last axis changes fastest, keys of one axis move together, and the edits of a point are
 * the values that its items name. */
static void
grids_have_every_combination_once (G_GNUC_UNUSED void **state)
{
  static const char *const vary[] = { "a=1,2,3", "b=x,y", NULL }, *const zip[] = {
    "  c=[1, 2], [3],4   d=p,q,  r ", "e='k l','m'  f=1..2 g={h: i},j", NULL
  };
  static const char *const as[] = { "1", "2", "3" }, *const bs[] = { "x", "y" },
                           *const cs[] = { "[1, 2]", "[3]", "4" }, *const ds[] = { "p", "q", "r" },
                           *const es[] = { "'k l'", "'m'" }, *const fs[] = { "1", "2" },
                           *const gs[] = { "{h: i}", "j" };
  g_autoptr (GError) error = NULL;
  g_autoptr (FabGrid) grid = fab_grid_new (vary, zip, &error);
  g_autofree char *plain = fab_grid_axis_key (grid, 1), *zipped = fab_grid_axis_key (grid, 3);
  gint64 point = 0;

  assert_int_equal (grid->n_points, 3 * 2 * 3 * 2);
  assert_string_equal (plain, "b");
  assert_string_equal (zipped, "e & f & g");
  for (guint a = 0; a < 3; a++)
    for (guint b = 0; b < 2; b++)
      for (guint c = 0; c < 3; c++)
        for (guint e = 0; e < 2; e++, point++) {
          const guint items[] = { a, b, c, e };
          g_autoptr (FabEdits) edits = fab_grid_edits (grid, point);
          g_autofree char *texts = g_strjoinv (";", (char **) fab_edits_texts (edits));
          g_autofree char *expected = g_strdup_printf ("a=%s;b=%s;c=%s;d=%s;e=%s;f=%s;g=%s", as[a], bs[b],
                                                       cs[c], ds[c], es[e], fs[e], gs[e]);
          g_autofree char *shown = g_strdup_printf ("%s & %s & %s", es[e], fs[e], gs[e]),
                          *value = fab_grid_axis_value (grid, 3, e);

          assert_string_equal (texts, expected);
          assert_string_equal (value, shown);
          for (guint axis = 0; axis < 4; axis++)
            assert_int_equal (fab_grid_item (grid, point, axis), items[axis]);
        }
}

static void
grids_say_what_is_wrong_with_them (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vary[4], *zip[3], *message;
  } rows[] = {
    { { NULL }, { NULL }, "--vary is missing" },
    { { "a=1", "a=2", NULL }, { NULL }, "a is given twice; give one list of values" },
    { { "a=1", NULL }, { "b=1 a=2", NULL }, "a is given twice; give one list of values" },
    { { NULL }, { "b=1 c=2", "d=1 b=2", NULL }, "b is given twice; give one list of values" },
    { { NULL }, { "b=1 b=2", NULL }, "b is given twice; give one list of values" },
    { { NULL },
      { "b=1,2 c=2", NULL },
      "b has 2 values and c has 1; keys that move together need the same number" },
    { { NULL }, { "b=1,2 c=3,4 d=1", NULL }, "b has 2 values and d has 1; keys that move together" },
    { { NULL }, { "b=1,2", NULL }, "is not of the form \"KEY=VALUES KEY2=VALUES2\"" },
    { { NULL }, { "   ", NULL }, "is not of the form \"KEY=VALUES KEY2=VALUES2\"" },
    { { "a=1,,2", NULL }, { NULL }, "a value between commas is empty" },
    { { NULL }, { "a=1 b", NULL }, "is not of the form KEY=VALUES" },
    { { "a=1..1000", "b=1..1001", NULL }, { NULL }, "the grid has more than 1000000 points" },
    { { "a=1..100000", "b=1..100000", "c=1..100000", NULL },
      { NULL },
      "the grid has more than 1000000 points" },
    { { "a=1..1000", "b=1..1000", NULL }, { NULL }, NULL },
    { { "a=1..10", "b=1..1000", "c=1..100", NULL }, { NULL }, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabGrid) grid = fab_grid_new (rows[i].vary, rows[i].zip, &error);

    assert_int_equal (grid != NULL, rows[i].message == NULL);
    if (grid != NULL)
      assert_int_equal (grid->n_points, 1000000);
    else if (strstr (error->message, rows[i].message) == NULL)
      fail_msg ("row %u: %s", i, error->message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (lists_are_divided_at_commas_outside_brackets),
    cmocka_unit_test (ranges_have_steps_factors_and_counts),
    cmocka_unit_test (ranges_of_long_whole_numbers_leave_none_out),
    cmocka_unit_test (ranges_have_values_that_exist),
    cmocka_unit_test (decades_have_three_digits),
    cmocka_unit_test (values_of_decades_stand_once),
    cmocka_unit_test (brackets_and_quotes_keep_what_is_inside),
    cmocka_unit_test (numbers_end_where_their_units_begin),
    cmocka_unit_test (ranges_have_a_hundred_thousand_values_at_most),
    cmocka_unit_test (grids_have_every_combination_once),
    cmocka_unit_test (grids_say_what_is_wrong_with_them),
    cmocka_unit_test (mistakes_say_what_would_be_right),
  };

  return cmocka_run_group_tests_name ("axis", tests, NULL, NULL);
}
