/* SPDX-License-Identifier: Apache-2.0 */
/* test_steady_pace.c - two items by hand: one comes every 100 ps, the other one every `other_ps`. */
#include "tests/support/test.h"

#include "sim/shortcut/time/steady_pace.h"

/* Notes the times up to and including the `last`-th of item 0, and measures where windows of 2 end. */
static void
play (FabSteadyPace *pace, guint last, FabTimePs other_ps)
{
  for (guint n = pace->items[0].n; n < last; n++) {
    fab_steady_pace_note (pace, 1, n * other_ps);
    fab_steady_pace_note (pace, 0, 1000 + 100 * (FabTimePs) n);
    if (fab_steady_pace_is_due (pace))
      fab_steady_pace_measure (pace, TRUE);
  }
}

/* The first window begins at the second time and ends at the fourth, the next one ends at the sixth. */
static void
two_windows_alike_settle (G_GNUC_UNUSED void **state)
{
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 2, 1, 2);
  play (&pace, 5, 100);
  assert_true (pace.all.slowest_ps == 100);
  assert_false (pace.is_one);
  play (&pace, 6, 100);
  assert_true (pace.is_one);
  assert_false (pace.all.is_of_slowest);
  fab_steady_pace_clear (&pace);
}

/* The slowest one counts, and 1 % is as much as the others may be ahead. */
static void
the_slowest_sets_the_tempo (G_GNUC_UNUSED void **state)
{
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 2, 1, 2);
  play (&pace, 6, 101);
  assert_true (pace.all.interval_ps == 101);
  assert_true (pace.is_one);
  fab_steady_pace_clear (&pace);
  fab_steady_pace_init (&pace, 2, 1, 2);
  play (&pace, 6, 102);
  assert_false (pace.is_one);
  fab_steady_pace_clear (&pace);
}

/* After a skip, two whole windows decide again where the pace begins anew. */
static void
a_tempo_begins_anew (G_GNUC_UNUSED void **state)
{
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 2, 1, 2);
  play (&pace, 6, 100);
  for (guint i = 0; i < 2; i++)
    fab_steady_pace_skip (&pace, i, 10, 1000);
  fab_steady_pace_restart (&pace);
  assert_int_equal (pace.items[0].n, 16);
  assert_int_equal (pace.items[0].last_ps, 2500);
  assert_false (pace.is_one);
  play (&pace, 19, 100);
  assert_false (pace.is_one);
  play (&pace, 20, 100);
  assert_true (pace.is_one);
  fab_steady_pace_clear (&pace);
}

/* One item comes after 99 and 101 ps in turn, the other after 101 and 99. A window of three takes 299 or 301, two
 * windows take 600. */
static void
beside_another_ring_two_windows_are_one (G_GNUC_UNUSED void **state)
{
  FabTimePs at_ps[] = { 1000, 1000 };
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 2, 1, 3);
  for (guint n = 1; n <= 8; n++) {
    for (guint i = 0; i < 2; i++)
      fab_steady_pace_note (&pace, i, at_ps[i] += (n + i) % 2 == 0 ? 101 : 99);
    if (fab_steady_pace_is_due (&pace))
      fab_steady_pace_measure (&pace, FALSE);
  }
  assert_true (pace.is_one);
  assert_near (pace.all.interval_ps, 100, 1e-12);
  fab_steady_pace_clear (&pace);
}

/* A skip leaves the windows as they are, but later. */
static void
a_skip_moves_the_windows (G_GNUC_UNUSED void **state)
{
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 2, 1, 2);
  play (&pace, 6, 100);
  for (guint i = 0; i < 2; i++)
    fab_steady_pace_skip (&pace, i, 10, 1000);
  assert_int_equal (fab_steady_pace_fewest (&pace), 0);
  play (&pace, 18, 100);
  assert_true (pace.is_one);
  assert_near (pace.all.interval_ps, 100, 1e-12);
  fab_steady_pace_clear (&pace);
}

/* Notes windows of two of all items, each with its interval, and measures. */
static void
play_windows (FabSteadyPace *pace, guint n_windows, FabTimePs *at_ps, const FabTimePs *interval_ps,
              gboolean is_alone)
{
  for (guint w = 0; w < n_windows; w++) {
    for (guint n = 0; n < 2; n++)
      for (guint i = 0; i < pace->n_items; i++)
        fab_steady_pace_note (pace, i, at_ps[i] += interval_ps[i]);
    fab_steady_pace_measure (pace, is_alone);
  }
}

/* A delay of 10 ps meets one item after another, and so does another one. None of them has one for long, and together
 * they make the items 0.42 % slower in the mean, so they are not of the pace. */
static void
a_delay_that_passes_through_does_not_count (G_GNUC_UNUSED void **state)
{
  enum { N = 24 };
  FabTimePs at_ps[N] = { 0 }, interval_ps[N];
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, N, 1, 2);
  for (guint w = 0; w < FAB_PACE_WINDOWS + 2; w++) {
    assert_false (pace.is_one);
    for (guint i = 0; i < N; i++)
      interval_ps[i] = i == w || i == w + N / 2 ? 105 : 100;
    play_windows (&pace, 1, at_ps, interval_ps, TRUE);
  }
  assert_true (pace.is_one);
  assert_near (pace.all.interval_ps, 100, 1e-12);
  assert_true (pace.all.is_of_slowest);
  fab_steady_pace_clear (&pace);
}

/* Two items of four have a delay in each window, in turn, which makes them slower in the mean: 0.5 % is as much as
 * it may be, and 2 % beside another ring. Else the pace has not settled, though the shortest intervals are steady. */
static void
delays_that_go_round_for_good_leave_no_pace (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabTimePs late_ps;
    gboolean is_alone, is_one;
  } rows[] = { { 1010, TRUE, TRUE }, { 1011, TRUE, FALSE }, { 1030, FALSE, TRUE }, { 1043, FALSE, FALSE } };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    FabTimePs at_ps[4] = { 0 }, interval_ps[4];
    FabSteadyPace pace;

    fab_steady_pace_init (&pace, 4, 1, 2);
    for (guint w = 0; w < 3 * FAB_PACE_WINDOWS; w++) {
      for (guint i = 0; i < 4; i++)
        interval_ps[i] = i % 2 == w % 2 ? rows[r].late_ps : 1000;
      play_windows (&pace, 1, at_ps, interval_ps, rows[r].is_alone);
    }
    assert_int_equal (pace.is_one, rows[r].is_one);
    fab_steady_pace_clear (&pace);
  }
}

/* One item is slow for good, and those behind it are not yet. The ring ends when it does. */
static void
what_is_slow_for_good_sets_the_tempo (G_GNUC_UNUSED void **state)
{
  const FabTimePs interval_ps[] = { 100, 100, 130, 100, 100, 100 };
  FabTimePs at_ps[6] = { 0 };
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 6, 1, 2);
  play_windows (&pace, FAB_PACE_WINDOWS + 1, at_ps, interval_ps, TRUE);
  assert_false (pace.is_one);
  play_windows (&pace, 1, at_ps, interval_ps, TRUE);
  assert_true (pace.is_one);
  assert_near (pace.all.interval_ps, 130, 1e-12);
  fab_steady_pace_clear (&pace);
}

/* Two rings go at paces of their own; when all items of one are over, the other one is measured without them. */
static void
groups_have_paces_of_their_own (G_GNUC_UNUSED void **state)
{
  const FabTimePs interval_ps[] = { 100, 100, 130, 130 };
  FabTimePs at_ps[4] = { 0 };
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 4, 2, 2);
  pace.items[2].group = pace.items[3].group = 1;
  play_windows (&pace, 3, at_ps, interval_ps, TRUE);
  assert_true (pace.is_settled);
  assert_false (pace.is_one);
  assert_near (pace.groups[0].interval_ps, 100, 1e-12);
  assert_near (pace.groups[1].interval_ps, 130, 1e-12);
  fab_steady_pace_end (&pace, 0);
  fab_steady_pace_end (&pace, 1);
  fab_steady_pace_note (&pace, 2, at_ps[2] += 130);
  assert_false (fab_steady_pace_is_full (&pace));
  fab_steady_pace_note (&pace, 3, at_ps[3] += 130);
  fab_steady_pace_note (&pace, 2, at_ps[2] += 130);
  fab_steady_pace_note (&pace, 3, at_ps[3] += 130);
  assert_true (fab_steady_pace_is_full (&pace));
  fab_steady_pace_measure (&pace, TRUE);
  assert_int_equal (pace.groups[0].n_items, 0);
  assert_true (pace.groups[0].interval_ps == 0);
  assert_near (pace.groups[1].interval_ps, 130, 1e-12);
  fab_steady_pace_clear (&pace);
}

/* How far two windows may differ, and items of one: what is a little more apart has not settled. Beside another
 * ring the interval is the mean of all items over both windows. */
static void
windows_and_items_differ_by_so_much (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean is_alone;
    FabTimePs last_ps[2]; /* intervals in the last window; 1000 before */
    double interval_ps;   /* 0: it has not settled */
  } rows[] = {
    { TRUE, { 1001, 1001 }, 1001 }, { TRUE, { 1002, 1002 }, 0 },     { TRUE, { 990, 1000 }, 1000 },
    { TRUE, { 989, 1000 }, 0 },     { FALSE, { 1010, 1010 }, 1005 }, { FALSE, { 1011, 1011 }, 0 },
    { FALSE, { 980, 1000 }, 995 },  { FALSE, { 979, 1000 }, 0 },
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    const FabTimePs before_ps[] = { 1000, 1000 };
    FabTimePs at_ps[2] = { 0 };
    FabSteadyPace pace;

    fab_steady_pace_init (&pace, 2, 2, 2);
    pace.items[1].group = 1; /* of one item */
    play_windows (&pace, 2, at_ps, before_ps, rows[r].is_alone);
    assert_false (pace.is_one || pace.is_settled);
    play_windows (&pace, 1, at_ps, rows[r].last_ps, rows[r].is_alone);
    assert_int_equal (pace.is_one, rows[r].interval_ps > 0);
    if (pace.is_one)
      assert_near (pace.all.interval_ps, rows[r].interval_ps, 1e-12);
    for (guint i = 0; i < 2 && pace.is_settled; i++) {
      double last_ps = (double) rows[r].last_ps[i];

      assert_near (pace.groups[i].interval_ps, rows[r].is_alone ? last_ps : (1000 + last_ps) / 2, 1e-12);
    }
    fab_steady_pace_clear (&pace);
  }
}

/* An item that is slower than the others for good has settled when its shortest interval of four windows changes by so
 * little from one to the next. The pace is between the two. */
static void
the_slowest_may_change_by_so_much (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean is_alone;
    FabTimePs last_ps;
    double interval_ps;
  } rows[] = {
    { TRUE, 1299, 1299.5 }, { TRUE, 1298, 0 }, { FALSE, 1294, 1297 }, { FALSE, 1293, 0 }, { TRUE, 1400, 1300 }
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    const FabTimePs before_ps[] = { 1300, 1000, 1000 }, last_ps[] = { rows[r].last_ps, 1000, 1000 };
    FabTimePs at_ps[3] = { 0 };
    FabSteadyPace pace;

    fab_steady_pace_init (&pace, 3, 1, 2);
    play_windows (&pace, FAB_PACE_WINDOWS + 1, at_ps, before_ps, rows[r].is_alone);
    assert_false (pace.is_one);
    play_windows (&pace, 1, at_ps, last_ps, rows[r].is_alone);
    assert_int_equal (pace.is_one, rows[r].interval_ps > 0);
    if (pace.is_one)
      assert_near (pace.all.interval_ps, rows[r].interval_ps, 1e-12);
    fab_steady_pace_clear (&pace);
  }
}

/* A window in which an item does not happen breaks off, and two more are needed. */
static void
a_window_without_an_item_breaks_off (G_GNUC_UNUSED void **state)
{
  const FabTimePs interval_ps[] = { 100, 100 };
  FabTimePs at_ps[2] = { 0 };
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 2, 1, 2);
  play_windows (&pace, 3, at_ps, interval_ps, TRUE);
  assert_true (pace.is_one);
  fab_steady_pace_note (&pace, 1, at_ps[1] += 100);
  assert_int_equal (fab_steady_pace_fewest (&pace), 0);
  fab_steady_pace_measure (&pace, TRUE);
  assert_false (pace.is_one || pace.is_settled);
  at_ps[0] += 100;
  play_windows (&pace, 1, at_ps, interval_ps, TRUE);
  assert_false (pace.is_one);
  fab_steady_pace_note (&pace, 0, at_ps[0] += 100);
  fab_steady_pace_note (&pace, 1, at_ps[1] += 100);
  fab_steady_pace_note (&pace, 1, at_ps[1] += 100);
  assert_int_equal (fab_steady_pace_fewest (&pace), 1);
  fab_steady_pace_clear (&pace);
}

/* Nothing that was measured before it is left after a new beginning: no group has a pace, and no item had a window. */
static void
a_new_beginning_forgets (G_GNUC_UNUSED void **state)
{
  FabSteadyPace pace;

  fab_steady_pace_init (&pace, 2, 2, 2);
  pace.items[1].group = 1;
  play (&pace, 8, 100);
  assert_true (pace.is_settled);
  fab_steady_pace_restart (&pace);
  const FabPaceGroup *const groups[] = { &pace.groups[0], &pace.groups[1], &pace.all };
  for (guint g = 0; g < G_N_ELEMENTS (groups); g++) {
    assert_true (groups[g]->interval_ps == 0 && groups[g]->slowest_ps == 0 && groups[g]->steady_ps == 0);
    assert_true (groups[g]->n_windows == 0 && groups[g]->n_items == 0 && !groups[g]->is_of_slowest);
  }
  for (guint i = 0; i < 2; i++)
    for (guint w = 0; w < FAB_PACE_WINDOWS; w++)
      assert_true (pace.items[i].recent_ps[w] == 0);
  assert_false (pace.is_one || pace.is_settled);
  fab_steady_pace_clear (&pace);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (two_windows_alike_settle),
    cmocka_unit_test (the_slowest_sets_the_tempo),
    cmocka_unit_test (a_tempo_begins_anew),
    cmocka_unit_test (beside_another_ring_two_windows_are_one),
    cmocka_unit_test (a_skip_moves_the_windows),
    cmocka_unit_test (a_delay_that_passes_through_does_not_count),
    cmocka_unit_test (delays_that_go_round_for_good_leave_no_pace),
    cmocka_unit_test (what_is_slow_for_good_sets_the_tempo),
    cmocka_unit_test (groups_have_paces_of_their_own),
    cmocka_unit_test (windows_and_items_differ_by_so_much),
    cmocka_unit_test (the_slowest_may_change_by_so_much),
    cmocka_unit_test (a_window_without_an_item_breaks_off),
    cmocka_unit_test (a_new_beginning_forgets),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
