/* SPDX-License-Identifier: Apache-2.0 */
/* test_tempo.c - two items by hand: one comes every 100 ps, the other one every `other_ps`. */
#include "tests/support/test.h"

#include "sim/collective/tempo.h"

/* Notes the times up to and including the `last`-th of item 0, and measures where windows of 2 end. */
static void
play (FabTempo *tempo, guint last, FabTimePs other_ps)
{
  for (guint n = tempo->strokes[0].n; n < last; n++) {
    fab_tempo_note (tempo, 1, n * other_ps);
    fab_tempo_note (tempo, 0, 1000 + 100 * (FabTimePs) n);
    if (fab_tempo_is_due (tempo))
      fab_tempo_measure (tempo);
  }
}

/* The first window begins at the second time and ends at the fourth, the next one ends at the sixth. */
static void
two_windows_alike_settle (G_GNUC_UNUSED void **state)
{
  FabTempo tempo;

  fab_tempo_init (&tempo, 2, 2);
  play (&tempo, 5, 100);
  assert_true (tempo.interval_ps == 100);
  assert_false (tempo.is_settled);
  play (&tempo, 6, 100);
  assert_true (tempo.is_settled);
  fab_tempo_clear (&tempo);
}

/* The slowest one counts, and 1 % is as much as the others may be ahead. */
static void
the_slowest_sets_the_tempo (G_GNUC_UNUSED void **state)
{
  FabTempo tempo;

  fab_tempo_init (&tempo, 2, 2);
  play (&tempo, 6, 101);
  assert_true (tempo.interval_ps == 101);
  assert_true (tempo.is_settled);
  fab_tempo_clear (&tempo);
  fab_tempo_init (&tempo, 2, 2);
  play (&tempo, 6, 102);
  assert_false (tempo.is_settled);
  fab_tempo_clear (&tempo);
}

/* After a skip two whole windows decide again. */
static void
a_skip_begins_anew (G_GNUC_UNUSED void **state)
{
  FabTempo tempo;

  fab_tempo_init (&tempo, 2, 2);
  play (&tempo, 6, 100);
  fab_tempo_skip (&tempo, 10, 1000);
  assert_int_equal (tempo.strokes[0].n, 16);
  assert_int_equal (tempo.strokes[0].last_ps, 2500);
  assert_false (tempo.is_settled);
  play (&tempo, 19, 100);
  assert_false (tempo.is_settled);
  play (&tempo, 20, 100);
  assert_true (tempo.is_settled);
  fab_tempo_clear (&tempo);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (two_windows_alike_settle),
    cmocka_unit_test (the_slowest_sets_the_tempo),
    cmocka_unit_test (a_skip_begins_anew),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
