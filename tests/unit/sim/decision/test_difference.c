/* SPDX-License-Identifier: Apache-2.0 */
/* test_difference.c - changes draw by draw: their median, which of them agree, and when a difference counts. */
#include "sim/decision/difference.h"

#include "tests/support/test.h"

/* Six of eight seeds are slower, two as fast: nobody says that it is free. */
static void
ties_say_nothing_against_a_difference (G_GNUC_UNUSED void **state)
{
  const double base[] = { 5, 5, 5, 5, 5, 5, 5, 5 }, other[] = { 5.2, 5, 5.3, 5.1, 5, 5.25, 5.3, 5.2 };
  FabDifference change = fab_difference_of (base, 8, other, 8, TRUE);
  g_autofree char *words = fab_difference_counts (&change, "faster", "slower");

  assert_true (change.counts);
  assert_true (change.n == 8 && change.n_more == 6 && change.n_equal == 2 && change.n_less == 0);
  assert_near (change.median, 0.2 / 5,
               1e-12); /* between the fourth and the fifth of 0 0 .1 .2 .2 .25 .3 .3 */
  assert_near (change.low, 0, 1e-12);
  assert_near (change.high, 0.3 / 5, 1e-12);
  assert_string_equal (words, "slower with 6 of 8 seeds, equal with 2");
}

static void
seeds_that_contradict_each_other_do_not_decide (G_GNUC_UNUSED void **state)
{
  const double base[] = { 2, 2, 2, 2 }, other[] = { 3, 3, 3, 1 };
  FabDifference change = fab_difference_of (base, 4, other, 4, TRUE);
  g_autofree char *words = fab_difference_counts (&change, "faster", "slower");

  assert_false (change.counts);
  assert_near (change.median, 0.5, 1e-12);
  assert_string_equal (words, "slower with 3 of 4 seeds, faster with 1");
}

/* One of four differs: the median says that nothing changes. */
static void
a_few_that_differ_are_not_the_rule (G_GNUC_UNUSED void **state)
{
  const double base[] = { 2, 2, 2, 2 }, other[] = { 2, 2, 2, 3 };

  assert_false (fab_difference_of (base, 4, other, 4, TRUE).counts);
}

static void
one_play_stands_for_every_seed (G_GNUC_UNUSED void **state)
{
  const double base[] = { 4, 5, 8 }, other[] = { 2 };
  FabDifference change = fab_difference_of (base, 3, other, 1, FALSE);
  g_autofree char *words = fab_difference_counts (&change, "faster", "slower");

  assert_true (change.counts && change.n == 3 && change.n_less == 3);
  assert_near (change.median, -3, 1e-12);
  assert_string_equal (words, "faster with each of 3 seeds");
}

static void
rounding_is_no_difference (G_GNUC_UNUSED void **state)
{
  const double base[] = { 1 }, other[] = { 1.0004 };
  FabDifference change = fab_difference_of (base, 1, other, 1, TRUE);

  assert_true (change.n_equal == 1 && !change.counts);
}

/* A change of exactly the least difference is none, either way; in the figure's unit it is held against the base, and
 * against 1 where the base is 0. */
static void
the_least_difference_is_of_the_base (G_GNUC_UNUSED void **state)
{
  static const struct {
    double base, other;
    gboolean is_relative;
    gint sign;
  } rows[] = {
    { 2, 2 * (1 + 1.1 * FAB_DIFFERENCE_LEAST), TRUE, 1 },
    { 2, 2 * (1 - 1.1 * FAB_DIFFERENCE_LEAST), TRUE, -1 },
    { 2, 2 * (1 + 0.9 * FAB_DIFFERENCE_LEAST), TRUE, 0 },
    { 2, 2 * (1 - 0.9 * FAB_DIFFERENCE_LEAST), TRUE, 0 },
    { 2, 2 * (1 + 1.1 * FAB_DIFFERENCE_LEAST), FALSE, 1 },
    { 2, 2 * (1 - 1.1 * FAB_DIFFERENCE_LEAST), FALSE, -1 },
    { 2, 2 * (1 + 0.9 * FAB_DIFFERENCE_LEAST), FALSE, 0 },
    { 0.5, 0.5 * (1 + 1.1 * FAB_DIFFERENCE_LEAST), FALSE, 1 },
    { 0, 5, TRUE, 0 },
    { 0, 1.1 * FAB_DIFFERENCE_LEAST, FALSE, 1 },
    { 0, 0.9 * FAB_DIFFERENCE_LEAST, FALSE, 0 },
    { 0, 0, FALSE, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabDifference change = fab_difference_of (&rows[i].base, 1, &rows[i].other, 1, rows[i].is_relative);
    double expected = rows[i].other - rows[i].base;

    if (rows[i].is_relative)
      expected = rows[i].base > 0 ? expected / rows[i].base : 0;
    assert_int_equal (change.n, 1);
    assert_int_equal (change.n_more, rows[i].sign > 0);
    assert_int_equal (change.n_less, rows[i].sign < 0);
    assert_int_equal (change.n_equal, rows[i].sign == 0);
    assert_int_equal (change.counts, rows[i].sign != 0);
    assert_near (change.median, expected, 1e-12);
    assert_near (change.low, expected, 1e-12);
    assert_near (change.high, expected, 1e-12);
  }
}

/* Half of the seeds are enough where no other contradicts, and fewer are not. What most seeds say comes first, then the
 * other way, then those that are equal. */
static void
half_of_the_seeds_decide (G_GNUC_UNUSED void **state)
{
  static const struct {
    double other[4]; /* over a base of 2 */
    gboolean counts;
    const char *words;
  } rows[] = {
    { { 3, 3, 2, 2 }, TRUE, "slower with 2 of 4 seeds, equal with 2" },
    { { 1, 1, 2, 2 }, TRUE, "faster with 2 of 4 seeds, equal with 2" },
    { { 1, 2, 2, 2 }, FALSE, "faster with 1 of 4 seeds, equal with 3" },
    { { 1, 3, 2, 2 }, FALSE, "faster with 1 of 4 seeds, slower with 1, equal with 2" },
    { { 1, 1, 3, 2 }, FALSE, "faster with 2 of 4 seeds, slower with 1, equal with 1" },
    { { 1, 3, 3, 2 }, FALSE, "slower with 2 of 4 seeds, faster with 1, equal with 1" },
    { { 3, 3, 3, 1 }, FALSE, "slower with 3 of 4 seeds, faster with 1" },
    { { 3, 3, 3, 3 }, TRUE, "slower with each of 4 seeds" },
    { { 1, 1, 1, 1 }, TRUE, "faster with each of 4 seeds" },
    { { 2, 2, 2, 2 }, FALSE, "equal with 4 of 4 seeds" },
  };
  const double base[] = { 2, 2, 2, 2 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabDifference change = fab_difference_of (base, 4, rows[i].other, 4, TRUE);
    g_autofree char *words = fab_difference_counts (&change, "faster", "slower");

    assert_string_equal (words, rows[i].words);
    assert_int_equal (change.counts, rows[i].counts);
  }
}

/* One play of the base is held against every draw of the other side. */
static void
one_base_stands_for_every_seed (G_GNUC_UNUSED void **state)
{
  const double base[] = { 4 }, other[] = { 8, 2, 5 };
  FabDifference change = fab_difference_of (base, 1, other, 3, TRUE);

  assert_int_equal (change.n, 3);
  assert_near (change.low, -0.5, 1e-12);
  assert_near (change.median, 0.25, 1e-12);
  assert_near (change.high, 1, 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ties_say_nothing_against_a_difference),
    cmocka_unit_test (seeds_that_contradict_each_other_do_not_decide),
    cmocka_unit_test (a_few_that_differ_are_not_the_rule),
    cmocka_unit_test (one_play_stands_for_every_seed),
    cmocka_unit_test (rounding_is_no_difference),
    cmocka_unit_test (the_least_difference_is_of_the_base),
    cmocka_unit_test (half_of_the_seeds_decide),
    cmocka_unit_test (one_base_stands_for_every_seed),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
