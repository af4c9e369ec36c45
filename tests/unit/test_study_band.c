/* SPDX-License-Identifier: Apache-2.0 */
/* test_study_band.c - how far a difference may be off, when both sides are uncertain. */
#include "sim/study/study_band.h"

#include "tests/support/test.h"

static FabBand
band_of (double *low, double *high, const char *entry)
{
  return (FabBand){ .n = 1,
                    .low = low,
                    .high = high,
                    .coverage_fraction = 0.9,
                    .collectives = { .coverage_fraction = 0.9, .entry = entry } };
}

/* 10 s from 9 to 16, and 8 s from 7 to 12: both low 7/9, both high 12/16, as predicted 8/10. Apart: from 7/16 to
 * 12/9, which may be no change. */
static void
what_is_common_cancels (G_GNUC_UNUSED void **state)
{
  double low[] = { 9 }, high[] = { 16 }, other_low[] = { 7 }, other_high[] = { 12 };
  FabBand base = band_of (low, high, "a"), same = band_of (other_low, other_high, "a"),
          other = band_of (other_low, other_high, "b");
  FabBandChange change;

  assert_true (fab_band_change (&base, 10, &same, 8, 0, &change));
  assert_true (change.is_together);
  assert_near (change.low_fraction, 12.0 / 16 - 1, 1e-12);
  assert_near (change.high_fraction, 8.0 / 10 - 1, 1e-12);
  assert_false (fab_band_change_may_be_none (&change));
  assert_true (fab_band_change (&base, 10, &other, 8, 0, &change));
  assert_false (change.is_together);
  assert_near (change.low_fraction, 7.0 / 16 - 1, 1e-12);
  assert_near (change.high_fraction, 12.0 / 9 - 1, 1e-12);
  assert_true (fab_band_change_may_be_none (&change));
}

/* One side is certain: the other's ends count. */
static void
one_side_is_certain (G_GNUC_UNUSED void **state)
{
  double low[] = { 9 }, high[] = { 16 };
  FabBand base = band_of (low, high, "a");
  FabBandChange change;

  assert_true (fab_band_change (&base, 10, NULL, 18, 0, &change));
  assert_near (change.low_fraction, 18.0 / 16 - 1, 1e-12);
  assert_near (change.high_fraction, 18.0 / 9 - 1, 1e-12);
  assert_near (change.coverage_fraction, 0.9, 1e-12);
  assert_false (fab_band_change (NULL, 10, NULL, 18, 0, &change));
}

/* Links that were measured apart have errors of their own: 1 s to 1.2 s and 0.9 s to 1.1 s may be no change. */
static void
other_links_are_apart (G_GNUC_UNUSED void **state)
{
  double low[] = { 1 }, high[] = { 1.2 }, other_low[] = { 0.9 }, other_high[] = { 1.1 };
  g_autoptr (GArray) one = g_array_new (FALSE, FALSE, sizeof (FabUnsure)),
                     another = g_array_new (FALSE, FALSE, sizeof (FabUnsure));
  FabUnsure a = { .link = (char *) "a", .kind = FAB_UNSURE_RATE },
            b = { .link = (char *) "b", .kind = FAB_UNSURE_RATE };
  FabBand base = { .unsure = one, .n = 1, .low = low, .high = high, .coverage_fraction = 0.95 };
  FabBand side = { .unsure = one, .n = 1, .low = other_low, .high = other_high, .coverage_fraction = 0.95 };
  FabBandChange change;

  g_array_append_val (one, a);
  g_array_append_val (another, b);
  assert_true (fab_band_change (&base, 1.1, &side, 1, 0, &change));
  assert_true (change.is_together);
  side.unsure = another;
  assert_true (fab_band_change (&base, 1.1, &side, 1, 0, &change));
  assert_false (change.is_together);
  assert_near (change.low_fraction, 0.9 / 1.2 - 1, 1e-12);
  assert_near (change.high_fraction, 1.1 / 1 - 1, 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_is_common_cancels),
    cmocka_unit_test (one_side_is_certain),
    cmocka_unit_test (other_links_are_apart),
  };

  return cmocka_run_group_tests_name ("study_band", tests, NULL, NULL);
}
