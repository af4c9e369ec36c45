/* SPDX-License-Identifier: Apache-2.0 */
/* test_axis.c - what stands for many values, and what is wrong with it. */
#include "tests/support/test.h"

#include <string.h>

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
}

/* 10 to 10.1 in steps of 2.3 thousandths: 10, 10.0, 10.0, 10.1, ... are two values. */
static void
values_of_decades_stand_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabAxis) axis = fab_axis_decades ("k", 10, 10.1, 1000, "");

  assert_int_equal (axis->values->len, 2);
  assert_string_equal (g_ptr_array_index (axis->values, 1), "10.1");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (lists_are_divided_at_commas_outside_brackets),
    cmocka_unit_test (ranges_have_steps_factors_and_counts),
    cmocka_unit_test (ranges_have_values_that_exist),
    cmocka_unit_test (decades_have_three_digits),
    cmocka_unit_test (values_of_decades_stand_once),
    cmocka_unit_test (mistakes_say_what_would_be_right),
  };

  return cmocka_run_group_tests_name ("axis", tests, NULL, NULL);
}
