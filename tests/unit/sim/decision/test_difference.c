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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ties_say_nothing_against_a_difference),
    cmocka_unit_test (seeds_that_contradict_each_other_do_not_decide),
    cmocka_unit_test (a_few_that_differ_are_not_the_rule),
    cmocka_unit_test (one_play_stands_for_every_seed),
    cmocka_unit_test (rounding_is_no_difference),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
