/* SPDX-License-Identifier: Apache-2.0 */
/* prop_overlap.c - interval sets against a bitmap of the same ps. */
#include "tests/support/test.h"

#include "sim/execution/overlap.h"
#include "tests/support/seeds.h"

enum { LENGTH = 200 };

typedef struct {
  FabIntervalSet set;
  gboolean bits[LENGTH];
} Pair;

static void
add_random (Random *random, Pair *pair, gboolean is_ordered)
{
  guint start = 0;

  for (guint i = random_below (random, 30); i-- > 0;) {
    start = is_ordered ? start + random_below (random, 12) : random_below (random, LENGTH);
    start = MIN (start, LENGTH - 1);
    guint end = random_between (random, start, MIN (start + 15, LENGTH));

    fab_interval_set_add (&pair->set, start, end);
    for (guint t = start; t < end; t++)
      pair->bits[t] = TRUE;
  }
}

static FabTimePs
count_bits (const Pair *a, const Pair *b, guint start, guint end)
{
  FabTimePs n = 0;

  for (guint t = start; t < end; t++)
    n += a->bits[t] && b->bits[t];
  return n;
}

/* Sorted, none empty, and a gap between any two. */
static void
assert_merged (const FabIntervalSet *set)
{
  for (guint i = 0; i < set->intervals->len; i++) {
    const FabInterval *interval = &g_array_index (set->intervals, FabInterval, i);

    assert_true (interval->start_ps < interval->end_ps);
    assert_true (i == 0 || interval[-1].end_ps < interval->start_ps);
  }
}

static void
check (Random *random)
{
  Pair pairs[2] = { 0 };

  for (guint i = 0; i < 2; i++) {
    fab_interval_set_init (&pairs[i].set);
    add_random (random, &pairs[i], random_chance (random, 50));
    assert_merged (&pairs[i].set);
    assert_int_equal (fab_interval_set_length_ps (&pairs[i].set),
                      count_bits (&pairs[i], &pairs[i], 0, LENGTH));
  }
  for (guint i = 0; i < 20; i++) {
    guint start = random_below (random, LENGTH), end = random_between (random, start, LENGTH);

    assert_int_equal (fab_interval_set_within_ps (&pairs[0].set, start, end),
                      count_bits (&pairs[0], &pairs[0], start, end));
  }
  assert_int_equal (fab_interval_set_overlap_ps (&pairs[0].set, &pairs[1].set),
                    count_bits (&pairs[0], &pairs[1], 0, LENGTH));
  fab_interval_set_clear (&pairs[0].set);
  fab_interval_set_clear (&pairs[1].set);
}

static void
sets_are_bitmaps (G_GNUC_UNUSED void **state)
{
  seeds_run (5000, check);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (sets_are_bitmaps) };

  return cmocka_run_group_tests_name ("overlap", tests, NULL, NULL);
}
