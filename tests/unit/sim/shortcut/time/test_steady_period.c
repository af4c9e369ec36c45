/* SPDX-License-Identifier: Apache-2.0 */
/* test_steady_period.c - after how many equal intervals two items repeat, and what makes them begin anew. */
#include "tests/support/test.h"

#include "sim/shortcut/time/steady_period.h"

/* Notes both items `n` times, each in its interval. Returns after how many times the period was steady; 0: never. */
static guint
play (FabSteadyPeriod *period, FabTimePs *at_ps, guint n, FabTimePs first_ps, FabTimePs second_ps)
{
  guint steady_after = 0;

  for (guint k = 1; k <= n; k++) {
    fab_steady_period_note (period, 0, at_ps[0] += first_ps);
    fab_steady_period_note (period, 1, at_ps[1] += second_ps);
    if (steady_after == 0 && fab_steady_period_is_steady (period))
      steady_after = k;
  }
  return steady_after;
}

/* Two intervals, and one for each that what happened may have an effect. */
static void
a_longer_memory_wants_more_intervals (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs memory_ps, interval_ps;
    guint n_wanted;
  } rows[] = {
    { 0, 100, 2 }, { 99, 100, 2 }, { 100, 100, 3 }, { 299, 100, 4 }, { 300, 100, 5 }, { 3, 1, 5 }
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    FabTimePs at_ps[] = { 1000, 1000 }, interval_ps = rows[r].interval_ps;
    FabSteadyPeriod period;

    fab_steady_period_init (&period, 2, rows[r].memory_ps);
    assert_false (fab_steady_period_is_steady (&period));
    play (&period, at_ps, 1, 0, 0);
    assert_int_equal (play (&period, at_ps, 10, interval_ps, interval_ps), rows[r].n_wanted);
    assert_true (fab_steady_period_is_steady (&period));
    assert_int_equal (period.period_ps, interval_ps);
    fab_steady_period_clear (&period);
    assert_false (fab_steady_period_is_steady (&period));
    assert_int_equal (period.n_items, 0);
  }
}

/* An item that comes late once, before or after the period is steady, must repeat as often again. When the first one
 * does, both must. */
static void
an_item_that_is_late_begins_anew (G_GNUC_UNUSED void **state)
{
  for (guint n_before = 2; n_before <= 8; n_before++)
    for (guint late = 0; late < 2; late++) {
      FabTimePs at_ps[] = { 1000, 1000 };
      FabSteadyPeriod period;

      fab_steady_period_init (&period, 2, 200); /* four intervals */
      play (&period, at_ps, n_before, 100, 100);
      assert_int_equal (fab_steady_period_is_steady (&period), n_before >= 4 + 1);
      play (&period, at_ps, 1, late == 0 ? 150 : 100, late == 0 ? 100 : 150);
      assert_false (fab_steady_period_is_steady (&period));
      assert_int_equal (play (&period, at_ps, 6, 100, 100), 4);
      assert_int_equal (play (&period, at_ps, 6, 100, 100), 1);
      fab_steady_period_clear (&period);
    }
}

/* A skip moves all items, so that the next interval is the same. What is forgotten must repeat as often again. */
static void
a_skip_keeps_the_period_and_a_reset_forgets_it (G_GNUC_UNUSED void **state)
{
  FabTimePs at_ps[] = { 1000, 1000 };
  FabSteadyPeriod period;

  fab_steady_period_init (&period, 2, 0);
  play (&period, at_ps, 4, 100, 100);
  fab_steady_period_skip (&period, 5000);
  at_ps[0] += 5000;
  at_ps[1] += 5000;
  assert_true (fab_steady_period_is_steady (&period));
  assert_int_equal (play (&period, at_ps, 1, 100, 100), 1);
  fab_steady_period_reset (&period);
  assert_false (fab_steady_period_is_steady (&period));
  assert_int_equal (period.period_ps, 0);
  assert_int_equal (play (&period, at_ps, 4, 0, 0), 0); /* no time is no period */
  assert_int_equal (play (&period, at_ps, 4, 100, 100), 2);
  fab_steady_period_clear (&period);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_longer_memory_wants_more_intervals),
    cmocka_unit_test (an_item_that_is_late_begins_anew),
    cmocka_unit_test (a_skip_keeps_the_period_and_a_reset_forgets_it),
  };

  return cmocka_run_group_tests_name ("steady_period", tests, NULL, NULL);
}
