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
      fab_tempo_measure (tempo, TRUE);
  }
}

/* The first window begins at the second time and ends at the fourth, the next one ends at the sixth. */
static void
two_windows_alike_settle (G_GNUC_UNUSED void **state)
{
  FabTempo tempo;

  fab_tempo_init (&tempo, 2, 2);
  play (&tempo, 5, 100);
  assert_true (tempo.slowest_ps == 100);
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

/* After a skip, two whole windows decide again where the tempo begins anew. */
static void
a_tempo_begins_anew (G_GNUC_UNUSED void **state)
{
  FabTempo tempo;

  fab_tempo_init (&tempo, 2, 2);
  play (&tempo, 6, 100);
  fab_tempo_skip (&tempo, 10, 1000);
  fab_tempo_restart (&tempo);
  assert_int_equal (tempo.strokes[0].n, 16);
  assert_int_equal (tempo.strokes[0].last_ps, 2500);
  assert_false (tempo.is_settled);
  play (&tempo, 19, 100);
  assert_false (tempo.is_settled);
  play (&tempo, 20, 100);
  assert_true (tempo.is_settled);
  fab_tempo_clear (&tempo);
}

/* One item comes after 99 and 101 ps in turn, the other after 101 and 99. A window of three takes 299 or 301, two
 * windows take 600. */
static void
beside_another_ring_two_windows_are_one (G_GNUC_UNUSED void **state)
{
  FabTimePs at_ps[] = { 1000, 1000 };
  FabTempo tempo;

  fab_tempo_init (&tempo, 2, 3);
  for (guint n = 1; n <= 8; n++) {
    for (guint i = 0; i < 2; i++)
      fab_tempo_note (&tempo, i, at_ps[i] += (n + i) % 2 == 0 ? 101 : 99);
    if (fab_tempo_is_due (&tempo))
      fab_tempo_measure (&tempo, FALSE);
  }
  assert_true (tempo.is_settled);
  assert_near (tempo.interval_ps, 100, 1e-12);
  fab_tempo_clear (&tempo);
}

/* A skip leaves the windows as they are, but later. */
static void
a_skip_moves_the_windows (G_GNUC_UNUSED void **state)
{
  FabTempo tempo;

  fab_tempo_init (&tempo, 2, 2);
  play (&tempo, 6, 100);
  fab_tempo_skip (&tempo, 10, 1000);
  assert_int_equal (fab_tempo_so_far (&tempo), 0);
  play (&tempo, 18, 100);
  assert_true (tempo.is_settled);
  assert_near (tempo.interval_ps, 100, 1e-12);
  fab_tempo_clear (&tempo);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (two_windows_alike_settle), cmocka_unit_test (the_slowest_sets_the_tempo),
    cmocka_unit_test (a_tempo_begins_anew),      cmocka_unit_test (beside_another_ring_two_windows_are_one),
    cmocka_unit_test (a_skip_moves_the_windows),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
