/* SPDX-License-Identifier: Apache-2.0 */
/* test_agenda.c - the agenda of the packet network gives its entries in the order (time, order of entry), whatever the
 * distances between them.
 */
#include "tests/support/test.h"

#include "models/net/packet/agenda.h"
#include "tests/support/random.h"

/* Takes the first entry and checks that nothing that waits comes before it: `waiting` has all entries, unsorted. */
static FabTimePs
take_checked (Agenda *agenda, GArray *waiting)
{
  FabTimePs first_ps = agenda_first_ps (agenda);
  AgendaEntry entry = agenda_take (agenda);
  guint found = G_MAXUINT;

  assert_int_equal (first_ps, entry.at_ps);
  for (guint i = 0; i < waiting->len; i++) {
    AgendaEntry other = g_array_index (waiting, AgendaEntry, i);

    assert_false (agenda_is_before (other, entry));
    if (other.order == entry.order)
      found = i;
  }
  assert_int_not_equal (found, G_MAXUINT);
  assert_int_equal (g_array_index (waiting, AgendaEntry, found).what, entry.what);
  g_array_remove_index_fast (waiting, found);
  return entry.at_ps;
}

static void
add (Agenda *agenda, GArray *waiting, FabTimePs at_ps, guint32 number)
{
  AgendaEntry entry = { at_ps, agenda->next_order, number << AGENDA_KIND_BITS | number % AGENDA_KINDS };

  agenda_add (agenda, at_ps, number % AGENDA_KINDS, number);
  g_array_append_val (waiting, entry);
}

/* Holds `n` entries, and puts each one that is due in again after a distance of at most `most_ps`; at the end takes all
 * that wait. One in eight distances is 0, one in sixteen is a thousand times longer. */
static void
hold (guint n, guint n_holds, double least_ps, double most_ps)
{
  Random random = { n };
  g_autoptr (GArray) waiting = g_array_new (FALSE, FALSE, sizeof (AgendaEntry));
  FabTimePs now_ps = 0;
  Agenda agenda;

  agenda_init (&agenda);
  agenda.next_order = G_MAXUINT32 - n_holds / 2; /* it wraps around on the way */
  for (guint i = 0; i < n; i++)
    add (&agenda, waiting, (FabTimePs) random_scale (&random, least_ps, most_ps), i);
  for (guint i = 0; i < n_holds; i++) {
    double after_ps = random_scale (&random, least_ps, most_ps);

    now_ps = take_checked (&agenda, waiting);
    if (random_chance (&random, 12))
      after_ps = 0;
    else if (random_chance (&random, 6))
      after_ps *= 1000;
    add (&agenda, waiting, now_ps + (FabTimePs) after_ps, i);
  }
  while (waiting->len > 0)
    take_checked (&agenda, waiting);
  assert_int_equal (agenda.n, 0);
  assert_true (agenda_first_ps (&agenda) == FAB_TIME_MAX);
  agenda_clear (&agenda);
}

static void
entries_come_in_order (void **state)
{
  (void) state;
  hold (1, 2000, 1, 1e3);
  hold (300, 20000, 1e3, 1e6);
  hold (300, 20000, 1, 1e2);
  hold (300, 20000, 1e6, 1e12);
  hold (100, 20000, 1, 1e12);
}

/* Entries that are due at once come in the order in which they were added, also where they come from afar. */
static void
equals_keep_their_order (void **state)
{
  enum { N = 1000 };
  Agenda agenda;

  (void) state;
  agenda_init (&agenda);
  for (guint i = 0; i < N; i++)
    agenda_add (&agenda, FAB_PS_PER_S, 1, i);
  agenda_add (&agenda, 7, 2, N);
  assert_true (agenda_first_ps (&agenda) == 7);
  assert_int_equal (agenda_take (&agenda).what, N << AGENDA_KIND_BITS | 2);
  assert_true (agenda_first_ps (&agenda) == FAB_PS_PER_S);
  for (guint i = 0; i < N; i++)
    assert_int_equal (agenda_take (&agenda).what, i << AGENDA_KIND_BITS | 1);
  agenda_clear (&agenda);
}

/* The calendar has gone on to a time far away when entries come that are due long before it. */
static void
what_comes_late_goes_first (void **state)
{
  g_autoptr (GArray) waiting = g_array_new (FALSE, FALSE, sizeof (AgendaEntry));
  Random random = { 1 };
  Agenda agenda;

  (void) state;
  agenda_init (&agenda);
  add (&agenda, waiting, FAB_PS_PER_S, 0);
  add (&agenda, waiting, 2 * FAB_PS_PER_S, 1);
  assert_true (agenda_first_ps (&agenda) == FAB_PS_PER_S);
  for (guint i = 0; i < 200; i++)
    add (&agenda, waiting, random_between (&random, 1000, 1000000), i + 2);
  for (guint i = 0; i < 10000; i++)
    add (&agenda, waiting, take_checked (&agenda, waiting) + random_between (&random, 1000, 1000000), i);
  while (waiting->len > 0)
    take_checked (&agenda, waiting);
  agenda_clear (&agenda);
}

/* Room for 64 entries of a day is made at first. It is used again where half of it was taken, and doubled where less
 * was. */
static void
room_of_taken_entries_is_used_again (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_taken, room;
  } rows[] = { { 0, 128 }, { 1, 128 }, { 31, 128 }, { 32, 64 }, { 33, 64 }, { 63, 64 } };

  for (guint k = 0; k < G_N_ELEMENTS (rows); k++) {
    Agenda agenda;
    guint n = rows[k].n_taken;

    agenda_init (&agenda);
    for (guint32 i = 0; i < 64; i++)
      agenda_add (&agenda, 7, 0, i);
    assert_int_equal (agenda.near.capacity, 64);
    for (guint32 i = 0; i < n; i++)
      assert_int_equal (agenda_take (&agenda).what >> AGENDA_KIND_BITS, i);
    agenda_add (&agenda, 7, 0, 64);
    assert_int_equal (agenda.near.capacity, rows[k].room);
    for (guint32 i = n; i <= 64; i++)
      assert_int_equal (agenda_take (&agenda).what >> AGENDA_KIND_BITS, i);
    assert_int_equal (agenda.n, 0);
    agenda_clear (&agenda);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (entries_come_in_order),
    cmocka_unit_test (equals_keep_their_order),
    cmocka_unit_test (what_comes_late_goes_first),
    cmocka_unit_test (room_of_taken_entries_is_used_again),
  };

  return cmocka_run_group_tests_name ("agenda", tests, NULL, NULL);
}
