/* SPDX-License-Identifier: Apache-2.0 */
/* test_overlap.c - merged intervals. Random sets against a bitmap: tests/property/prop_overlap.c. */
#include "tests/support/test.h"

#include "sim/execution/overlap.h"

/* "0-5 7-9" as a set. */
static FabIntervalSet
set_of (const char *text)
{
  FabIntervalSet set;
  g_auto (GStrv) parts = g_strsplit (text, " ", -1);

  fab_interval_set_init (&set);
  for (guint i = 0; parts[i] && parts[i][0]; i++) {
    g_auto (GStrv) ends = g_strsplit (parts[i], "-", 2);

    fab_interval_set_add (&set, g_ascii_strtoll (ends[0], NULL, 10), g_ascii_strtoll (ends[1], NULL, 10));
  }
  return set;
}

static void
assert_merges (const char *added, const char *merged)
{
  FabIntervalSet set = set_of (added);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < set.intervals->len; i++) {
    const FabInterval *interval = &g_array_index (set.intervals, FabInterval, i);

    g_string_append_printf (text, "%s%d-%d", i > 0 ? " " : "", (int) interval->start_ps,
                            (int) interval->end_ps);
  }
  assert_string_equal (text->str, merged);
  fab_interval_set_clear (&set);
}

static void
intervals_that_touch_or_overlap_become_one (G_GNUC_UNUSED void **state)
{
  assert_merges ("0-5 5-9", "0-9");
  assert_merges ("0-5 3-9", "0-9");
  assert_merges ("0-9 3-5", "0-9");
  assert_merges ("0-2 4-6 8-10 1-9", "0-10");
  assert_merges ("0-2 4-6 8-10 5-7", "0-2 4-7 8-10");
}

static void
order_of_adding_does_not_matter (G_GNUC_UNUSED void **state)
{
  assert_merges ("7-9 0-2 4-5", "0-2 4-5 7-9");
  assert_merges ("7-9 0-2 2-7", "0-9");
}

static void
an_empty_interval_adds_nothing (G_GNUC_UNUSED void **state)
{
  assert_merges ("3-3 5-4", "");
  assert_merges ("0-2 1-1", "0-2");
}

/* [0,5) and [7,9): 7 long; within [3,8) are [3,5) and [7,8): 3. */
static void
lengths_count_what_is_covered (G_GNUC_UNUSED void **state)
{
  FabIntervalSet set = set_of ("0-5 7-9");

  assert_int_equal (fab_interval_set_length_ps (&set), 7);
  assert_int_equal (fab_interval_set_within_ps (&set, 3, 8), 3);
  assert_int_equal (fab_interval_set_within_ps (&set, 5, 7), 0);
  assert_int_equal (fab_interval_set_within_ps (&set, 9, 20), 0);
  fab_interval_set_empty (&set);
  assert_int_equal (fab_interval_set_length_ps (&set), 0);
  fab_interval_set_clear (&set);
}

/* [0,5) [7,9) [12,20) with [3,8) [8,13) = [3,13): [3,5) + [7,9) + [12,13) = 5. */
static void
overlap_is_the_length_of_the_intersection (G_GNUC_UNUSED void **state)
{
  FabIntervalSet a = set_of ("0-5 7-9 12-20"), b = set_of ("3-8 8-13"), none = set_of ("");

  assert_int_equal (fab_interval_set_overlap_ps (&a, &b), 5);
  assert_int_equal (fab_interval_set_overlap_ps (&b, &a), 5);
  assert_int_equal (fab_interval_set_overlap_ps (&a, &a), 15);
  assert_int_equal (fab_interval_set_overlap_ps (&a, &none), 0);
  fab_interval_set_clear (&a);
  fab_interval_set_clear (&b);
  fab_interval_set_clear (&none);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (intervals_that_touch_or_overlap_become_one),
    cmocka_unit_test (order_of_adding_does_not_matter),
    cmocka_unit_test (an_empty_interval_adds_nothing),
    cmocka_unit_test (lengths_count_what_is_covered),
    cmocka_unit_test (overlap_is_the_length_of_the_intersection),
  };

  return cmocka_run_group_tests_name ("overlap", tests, NULL, NULL);
}
