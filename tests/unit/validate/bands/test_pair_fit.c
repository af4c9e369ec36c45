/* SPDX-License-Identifier: Apache-2.0 */
/* test_pair_fit.c - bands of ratios, of pairs by hand. */
#include "validate/bands/pair_fit.h"

#include "tests/support/test.h"

/* Differences of the pairs, and what their bands would be with both times at opposite ends: 1 to either side. */
#define PAIR(kind_, a_, b_, tables_, logs_)                                                                \
  {                                                                                                        \
    .kind = kind_, .families = { a_, b_ }, .tables = { "t" tables_, "u" tables_ }, .size_class = 2,        \
    .n = G_N_ELEMENTS (logs_), .logs = logs_, .opposite_low = opposite_low, .opposite_high = opposite_high \
  }

static const double opposite_low[] = { -1, -1, -1, -1 }, opposite_high[] = { 1, 1, 1, 1 };
static const double near[] = { 0.1 }, far[] = { 0.4 }, some[] = { 0.1, 0.2, 0.3, 0.8 }, none[] = { 0, 0 };

/* Family a has two kinds: of the first two pairs, of the second one. b and c have a pair each. */
static const FabPair pairs[] = {
  PAIR ("nodes", "a", "a", "1", near), PAIR ("nodes", "a", "a", "2", near), PAIR ("size", "a", "a", "3", far),
  PAIR ("nodes", "b", "b", "4", some), PAIR ("nodes", "c", "c", "5", none),
};

/* A third of the weight is each family's, and each size of b has 1/12. The far pair of a has half of what a has, 1/6,
 * though there are two near ones. So 7/12 are at or below 0.1, 9/12 at or below 0.3, and 11/12 at or below 0.4.
 *
 * For 11/12 on the mean over families, 3/4 of b and everything else must be held. Without a, the others have 7/8 at or
 * below 0.3, and so hold the 0.4 of a from a reach of 0.88 on; without b, the end is 0.4 then, which holds 3/4 of b.
 * For all of b, that end is stretched until 0.4 x 2 holds 0.8. */
static void
ends (G_GNUC_UNUSED void **state)
{
  FabPairFit fit = fab_pair_fit (pairs, G_N_ELEMENTS (pairs), 11.0 / 12);
  FabPairFit whole = fab_pair_fit (pairs, G_N_ELEMENTS (pairs), 1);
  const FabPairEnd *end = &fit.ends[0][2];

  assert_near (fit.reach[0], 0.88, 1e-9);
  assert_near (end->log, 0.4, 1e-9);
  assert_int_equal (end->n_pairs, 5);
  assert_int_equal (end->n_tables, 10);
  assert_int_equal (end->n_families, 3);
  assert_near (whole.reach[0], 2, 1e-9);
  assert_near (whole.ends[0][2].log, 1.6, 1e-9);
  assert_int_equal (whole.ends[1][2].n_pairs, 0);
  assert_int_equal (whole.ends[0][0].n_pairs, 0);
}

/* Two families that differ are left out in turn, each with all pairs that it is in: without either of them, only the
 * other pair is known. */
static void
two_families_are_left_out (G_GNUC_UNUSED void **state)
{
  static const FabPair two[] = { PAIR ("NIC", "a", "b", "1", far), PAIR ("NIC", "c", "d", "2", near) };
  g_autoptr (GArray) trials = fab_pairs_left_out (two, G_N_ELEMENTS (two), 0.9);
  FabPairCoverage coverage = fab_pair_coverage (trials, (FabPairFilter){ NULL, -1, -1 });

  assert_int_equal (trials->len, 4);
  for (guint i = 0; i < trials->len; i++) {
    const FabPairTrial *trial = &g_array_index (trials, FabPairTrial, i);
    gboolean is_far = trial->pair == &two[0];

    /* Nothing is left to find the reach with, so that nothing is stretched. */
    assert_true (is_far ? trial->log <= 0.3 + 1e-9 : trial->log >= 0.4 - 1e-9);
    assert_near (trial->held_fraction, is_far ? 0 : 1, 0);
  }
  assert_int_equal (coverage.n_pairs, 2);
  assert_int_equal (coverage.n_families, 4);
  assert_near (coverage.held_fraction, 0.5, 1e-12);
  assert_near (coverage.opposite_fraction, 1, 1e-12);
  assert_near (coverage.median_opposite_log, 1, 1e-12);
}

/* Which family of a pair stands first, and what lies at another place, changes nothing. */
static void
order_and_place_tell_nothing (G_GNUC_UNUSED void **state)
{
  static const double shares[] = { 0.5, 0.6, 0.7, 0.8, 0.9, 1 };
  const FabPair right[] = {
    PAIR ("nodes", "a", "b", "1", near), PAIR ("nodes", "a", "b", "2", near),
    PAIR ("nodes", "a", "b", "3", far),  PAIR ("size", "a", "b", "4", some),
    PAIR ("NIC", "b", "c", "5", some),   PAIR ("NIC", "c", "d", "6", far),
    PAIR ("NIC", "e", "e", "7", near),   PAIR ("size", "b", "d", "8", none),
  };
  enum { N = G_N_ELEMENTS (right) };

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++) {
    const FabPairFit fit = fab_pair_fit (right, N, shares[i]);
    FabPair both[2 * N];

    for (guint k = 0; k < N; k++) {
      both[2 * k] = both[2 * k + 1] = right[k];
      if (k % 2) {
        both[2 * k].families[0] = right[k].families[1];
        both[2 * k].families[1] = right[k].families[0];
      }
      both[2 * k + 1].place = 1;
      both[2 * k + 1].logs = far;
      both[2 * k + 1].n = 1;
      both[2 * k + 1].families[k % 2] = "f";
    }
    const FabPairFit mixed = fab_pair_fit (both, 2 * N, shares[i]);
    assert_near (mixed.reach[0], fit.reach[0], 1e-12);
    assert_memory_equal (&mixed.ends[0], &fit.ends[0], sizeof fit.ends[0]);
    assert_int_equal (mixed.ends[1][2].n_pairs, N);
  }
}

/* Each family weighs the same, in it every kind: a has its two kinds, whatever the number of their pairs. */
static void
coverage_is_of_families (G_GNUC_UNUSED void **state)
{
  const FabPairTrial trials[] = {
    { &pairs[0], "a", 0.2, 1, 1 },   { &pairs[1], "a", 0.2, 1, 1 }, { &pairs[2], "a", 0.2, 0, 1 },
    { &pairs[3], "b", 0.2, 0.5, 0 }, { &pairs[4], "c", 0.1, 1, 1 },
  };
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (FabPairTrial));

  g_array_append_vals (all, trials, G_N_ELEMENTS (trials));
  FabPairCoverage every = fab_pair_coverage (all, (FabPairFilter){ NULL, -1, -1 });
  FabPairCoverage nodes = fab_pair_coverage (all, (FabPairFilter){ "nodes", -1, -1 });

  assert_near (every.held_fraction, (0.5 + 0.5 + 1) / 3, 1e-12);
  assert_near (every.opposite_fraction, 2.0 / 3, 1e-12);
  assert_near (every.median_log, 0.2, 1e-12);
  assert_near (nodes.held_fraction, (1 + 0.5 + 1) / 3, 1e-12);
  assert_int_equal (nodes.n_pairs, 4);
  assert_int_equal (fab_pair_coverage (all, (FabPairFilter){ NULL, 1, -1 }).n_pairs, 0);
  assert_int_equal (fab_pair_coverage (all, (FabPairFilter){ NULL, -1, 1 }).n_pairs, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ends),
    cmocka_unit_test (two_families_are_left_out),
    cmocka_unit_test (order_and_place_tell_nothing),
    cmocka_unit_test (coverage_is_of_families),
  };

  return cmocka_run_group_tests_name ("pair_fit", tests, NULL, NULL);
}
