/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep_ranks.c - what rank 0 makes of the messages of others, which a queue stands for here. */
#include "tests/support/test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/study/sweep_ranks.h"

enum { N_RANKS = 4 }; /* rank 0, which listens, and three more */

static gint64 now_us = 1000 * G_USEC_PER_SEC;

/* In place of the clock of GLib. */
gint64
g_get_monotonic_time (void)
{
  return now_us;
}

typedef struct {
  FabRanks ranks;
  GPtrArray *come; /* GBytes: messages to rank 0; the first byte is the sender */
  GPtrArray *sent[N_RANKS];
  gboolean says_goodbye; /* a rank that is told to end leaves when it is asked for the third time */
  guint n_asked[N_RANKS];
  gboolean is_told[N_RANKS];
  guint n_left, n_left_whole;
  GString *said;
  FabSweepRanks *self;
  GPtrArray *played;
  GArray *lost;
  gint64 next_point;
} Fake;

static void
fake_send (FabRanks *ranks, guint to, gconstpointer bytes, gsize size)
{
  Fake *fake = (Fake *) ranks;

  assert_in_range (to, 1, N_RANKS - 1);
  g_ptr_array_add (fake->sent[to], g_bytes_new (bytes, size));
  if (*(const guint8 *) bytes == FAB_RANKS_END)
    fake->is_told[to] = TRUE;
}

static void
come (Fake *fake, guint from, FabRanksKind kind, gconstpointer more, gsize size)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();
  guint8 begin[] = { (guint8) from, (guint8) kind };

  g_byte_array_append (message, begin, sizeof begin);
  g_byte_array_append (message, more, (guint) size);
  g_ptr_array_add (fake->come, g_bytes_new (message->data, message->len));
}

static gboolean
fake_receive (FabRanks *ranks, guint *from, GByteArray *bytes)
{
  Fake *fake = (Fake *) ranks;

  for (guint r = 1; r < N_RANKS && fake->says_goodbye; r++)
    if (fake->is_told[r] && ++fake->n_asked[r] == 3)
      come (fake, r, FAB_RANKS_BYE, "", 0);
  if (fake->come->len == 0)
    return FALSE;
  gsize size;
  const guint8 *data = g_bytes_get_data (g_ptr_array_index (fake->come, 0), &size);
  *from = data[0];
  g_byte_array_set_size (bytes, 0);
  g_byte_array_append (bytes, data + 1, (guint) size - 1);
  g_ptr_array_remove_index (fake->come, 0);
  return TRUE;
}

static void
fake_leave (FabRanks *ranks, gboolean is_whole)
{
  Fake *fake = (Fake *) ranks;

  fake->n_left++;
  fake->n_left_whole += is_whole ? 1 : 0;
}

static void
note (gpointer data, const char *sentence)
{
  g_string_append_printf (((Fake *) data)->said, "%s\n", sentence);
}

static void
free_bytes (gpointer bytes)
{
  g_bytes_unref (bytes);
}

static void
free_record (gpointer record)
{
  fab_sweep_record_free (record);
}

static Fake *
fake_new (void)
{
  Fake *fake = g_new0 (Fake, 1);

  fake->ranks = (FabRanks){ FAB_RANKS_ABI, 0, N_RANKS, 1, "here", fake_send, fake_receive, fake_leave };
  fake->come = g_ptr_array_new_with_free_func (free_bytes);
  for (guint r = 0; r < N_RANKS; r++)
    fake->sent[r] = g_ptr_array_new_with_free_func (free_bytes);
  fake->said = g_string_new (NULL);
  fake->played = g_ptr_array_new_with_free_func (free_record);
  fake->lost = g_array_new (FALSE, FALSE, sizeof (gint64));
  fake->says_goodbye = TRUE;
  fake->self = fab_sweep_ranks_new (&fake->ranks, "print", note, fake);
  return fake;
}

static void
fake_free (Fake *fake)
{
  g_ptr_array_unref (fake->come);
  for (guint r = 0; r < N_RANKS; r++)
    g_ptr_array_unref (fake->sent[r]);
  g_string_free (fake->said, TRUE);
  g_ptr_array_unref (fake->played);
  g_array_unref (fake->lost);
  g_free (fake);
}

/* --- steps --- */

static void
hear (Fake *fake)
{
  fab_sweep_ranks_hear (fake->self, fake->played, fake->lost);
}

static void
hello (Fake *fake, guint from, const char *fingerprint, const char *host, const char *process,
       const char *problem)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();
  const char *texts[] = { fingerprint, host, process, problem };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_byte_array_append (message, (const guint8 *) texts[i], (guint) strlen (texts[i]) + 1);
  come (fake, from, FAB_RANKS_HELLO, message->data, message->len);
}

/* The rank reports these points, and wants more. */
static void
report (Fake *fake, guint from, guint32 n_wanted, const gint64 *points, guint n)
{
  g_autoptr (GByteArray) message = g_byte_array_new ();

  g_byte_array_append (message, (const guint8 *) &n_wanted, sizeof n_wanted);
  for (guint i = 0; i < n; i++) {
    FabSweepPointRecord record = { .point = points[i] };

    fab_sweep_record_write (&record, message);
  }
  come (fake, from, FAB_RANKS_REPORT, message->data, message->len);
}

static guint
give (gpointer data, gint64 *points, guint n)
{
  Fake *fake = data;

  for (guint i = 0; i < n; i++)
    points[i] = fake->next_point++;
  return n;
}

static guint
give_nothing (G_GNUC_UNUSED gpointer data, G_GNUC_UNUSED gint64 *points, G_GNUC_UNUSED guint n)
{
  return 0;
}

/* The last message to a rank gives it these points, from the first on. */
static void
assert_given (const Fake *fake, guint rank, gint64 first, guint n)
{
  gsize size;
  const guint8 *message = g_bytes_get_data (g_ptr_array_index (fake->sent[rank], fake->sent[rank]->len - 1),
                                            &size);

  assert_int_equal (size, 1 + n * sizeof (gint64));
  assert_int_equal (message[0], FAB_RANKS_POINTS);
  for (guint i = 0; i < n; i++) {
    gint64 point;

    memcpy (&point, message + 1 + i * sizeof point, sizeof point);
    assert_int_equal (point, first + i);
  }
}

/* Three ranks that have said hello; each wants as many points as its number says, and has them. */
static Fake *
three_with_points (void)
{
  Fake *fake = fake_new ();

  for (guint r = 1; r < N_RANKS; r++) {
    hello (fake, r, "print", "there", "1", "");
    report (fake, r, r, NULL, 0);
  }
  hear (fake);
  fab_sweep_ranks_feed (fake->self, give, fake);
  assert_given (fake, 1, 0, 1);
  assert_given (fake, 2, 1, 2);
  assert_given (fake, 3, 3, 3);
  assert_string_equal (fake->said->str, "");
  return fake;
}

static void
end (Fake *fake, gboolean is_whole)
{
  fab_sweep_ranks_end (fake->self);
  assert_int_equal (fake->n_left, 1);
  assert_int_equal (fake->n_left_whole, is_whole);
}

/* --- tests --- */

/* A rank has as many points as it wants, and none twice; when all have reported all of theirs, they are idle. */
static void
ranks_have_the_points_that_they_want (G_GNUC_UNUSED void **state)
{
  Fake *fake = three_with_points ();
  guint n_sent = fake->sent[1]->len;

  fab_sweep_ranks_feed (fake->self, give, fake);
  assert_int_equal (fake->sent[1]->len, n_sent);
  for (guint i = 0; i < 6; i++) {
    gint64 point = 5 - i;

    assert_false (fab_sweep_ranks_are_idle (fake->self));
    report (fake, point < 1 ? 1 : point < 3 ? 2 : 3, 0, &point, 1);
    hear (fake);
    assert_int_equal (fake->played->len, i + 1);
    assert_int_equal (((const FabSweepPointRecord *) g_ptr_array_index (fake->played, i))->point, point);
  }
  assert_true (fab_sweep_ranks_are_idle (fake->self));
  /* where there are no points left, it keeps what it wants until there are some */
  report (fake, 2, 2, NULL, 0);
  hear (fake);
  n_sent = fake->sent[2]->len;
  fab_sweep_ranks_feed (fake->self, give_nothing, fake);
  assert_int_equal (fake->sent[2]->len, n_sent);
  fab_sweep_ranks_feed (fake->self, give, fake);
  assert_given (fake, 2, 6, 2);
  assert_int_equal (fake->lost->len, 0);
  end (fake, TRUE);
  fake_free (fake);
}

/* Points of a rank that leaves go to others: of each rank, and its own alone. */
static void
points_of_a_rank_that_leaves_are_lost (G_GNUC_UNUSED void **state)
{
  for (guint gone = 1; gone < N_RANKS; gone++) {
    Fake *fake = three_with_points ();

    come (fake, gone, FAB_RANKS_BYE, "", 0);
    hear (fake);
    assert_int_equal (fake->lost->len, gone);
    for (guint i = 0; i < gone; i++)
      assert_in_range (g_array_index (fake->lost, gint64, i), gone * (gone - 1) / 2,
                       gone * (gone + 1) / 2 - 1);
    hear (fake);
    assert_int_equal (fake->lost->len, gone); /* once */
    assert_string_equal (fake->said->str, "");
    end (fake, TRUE);
    fake_free (fake);
  }
}

/* A process that has ended on this machine; what it had is lost at once, and it may come back. */
static void
assert_dies (guint rank)
{
  Fake *fake = three_with_points ();
  pid_t child = fork ();

  if (child == 0) {
    pause ();
    _exit (0);
  }
  g_autofree char *process = g_strdup_printf ("%d", (int) child);
  hello (fake, rank, "print", "here", process, "");
  hear (fake);
  assert_int_equal (fake->lost->len, 0);
  assert_int_equal (kill (child, SIGKILL), 0);
  assert_int_equal (waitpid (child, NULL, 0), child);
  hear (fake);
  assert_int_equal (fake->lost->len, rank);
  g_autofree char *again = g_strdup_printf ("rank %u on here answers again\n", rank);
  g_autofree char *dead = g_strdup_printf (
      "rank %u on here no longer answers; other ranks simulate its %u %s\n", rank, rank,
      rank == 1 ? "point" : "points");
  assert_string_equal (fake->said->str, dead);
  assert_false (fab_sweep_ranks_are_idle (fake->self));
  const gint64 late = 1;
  report (fake, rank, 1, &late, 1);
  hear (fake);
  assert_int_equal (fake->played->len, 1);
  assert_non_null (strstr (fake->said->str, again));
  hear (fake); /* its process is not there, so that it is dead again */
  end (fake, FALSE);
  fake_free (fake);
}

static void
a_rank_whose_process_ended_is_dead (G_GNUC_UNUSED void **state)
{
  for (guint rank = 1; rank < N_RANKS; rank++)
    assert_dies (rank);
}

/* The name of a machine may be that of two, of which the other one has processes that are not seen here. */
static void
a_process_that_was_never_seen_says_nothing (G_GNUC_UNUSED void **state)
{
  Fake *fake = three_with_points ();
  pid_t child = fork ();

  if (child == 0)
    _exit (0);
  assert_int_equal (waitpid (child, NULL, 0), child);
  g_autofree char *process = g_strdup_printf ("%d", (int) child);
  hello (fake, 1, "print", "here", process, "");
  hear (fake);
  hear (fake);
  assert_int_equal (fake->lost->len, 0);
  assert_string_equal (fake->said->str, "");
  end (fake, TRUE);
  fake_free (fake);
}

/* --- time --- */

/* All but `speaker` are silent from now on, and rank 0 listens every 0.1 s, until it has listened at `us` from now. */
static void
listen_for (Fake *fake, guint speaker, gint64 us)
{
  for (gint64 end_us = now_us + us; now_us < end_us;) {
    now_us += MIN (G_USEC_PER_SEC / 10, end_us - now_us);
    report (fake, speaker, 0, NULL, 0);
    hear (fake);
  }
}

static guint
count_lost (const Fake *fake)
{
  return fake->lost->len;
}

/* After ten seconds of silence, not before, the points of the others are lost; who speaks keeps its own. */
static void
silent_ranks_are_dead (G_GNUC_UNUSED void **state)
{
  for (guint speaker = 1; speaker < N_RANKS; speaker++) {
    Fake *fake = three_with_points ();

    listen_for (fake, speaker, 10 * G_USEC_PER_SEC);
    assert_int_equal (count_lost (fake), 0);
    listen_for (fake, speaker, 1);
    assert_int_equal (count_lost (fake), 6 - speaker);
    listen_for (fake, speaker, G_USEC_PER_SEC);
    assert_int_equal (count_lost (fake), 6 - speaker); /* once */
    for (guint r = 1; r < N_RANKS; r++)
      report (fake, r, 1, NULL, 0);
    hear (fake);
    fab_sweep_ranks_feed (fake->self, give, fake); /* they are back, and have points */
    for (guint r = 1; r < N_RANKS; r++)
      assert_given (fake, r, 5 + r, 1);
    end (fake, TRUE);
    fake_free (fake);
  }
}

/* Where rank 0 itself was away for more than a second, that time is nobody's silence. */
static void
time_without_listening_is_no_silence (G_GNUC_UNUSED void **state)
{
  Fake *fake = three_with_points ();

  for (guint i = 0; i < 30; i++) {
    now_us += 2 * G_USEC_PER_SEC;
    hear (fake);
  }
  assert_int_equal (count_lost (fake), 0);
  listen_for (fake, 3, 10 * G_USEC_PER_SEC);
  assert_int_equal (count_lost (fake), 0);
  listen_for (fake, 3, 1);
  assert_int_equal (count_lost (fake), 3);
  end (fake, FALSE);
  fake_free (fake);
  fake = three_with_points ();
  for (guint i = 0; i < 11; i++) {
    now_us += G_USEC_PER_SEC;
    hear (fake);
    assert_int_equal (count_lost (fake), i < 10 ? 0 : 6);
  }
  end (fake, FALSE);
  fake_free (fake);
}

/* Each rank hears of rank 0 every second, in a message without points; the dead hear nothing. */
static void
ranks_hear_a_sign_of_life_every_second (G_GNUC_UNUSED void **state)
{
  Fake *fake = three_with_points ();
  guint n_sent[N_RANKS];

  for (guint r = 1; r < N_RANKS; r++)
    n_sent[r] = fake->sent[r]->len;
  listen_for (fake, 1, 8 * G_USEC_PER_SEC);
  for (guint r = 1; r < N_RANKS; r++) {
    assert_int_equal (fake->sent[r]->len, n_sent[r] + 8);
    assert_given (fake, r, 0, 0);
  }
  listen_for (fake, 1, 8 * G_USEC_PER_SEC);
  assert_int_equal (fake->sent[1]->len, n_sent[1] + 16);
  for (guint r = 2; r < N_RANKS; r++)
    assert_in_range (fake->sent[r]->len, n_sent[r] + 9, n_sent[r] + 11);
  end (fake, FALSE);
  fake_free (fake);
}

/* Who works on something else has no points, whatever it wants; it says why. */
static void
others_simulate_nothing (G_GNUC_UNUSED void **state)
{
  Fake *fake = fake_new ();

  hello (fake, 1, "other", "there", "1", "");
  hello (fake, 2, "print", "there", "1", "no memory");
  for (guint r = 1; r < N_RANKS; r++)
    report (fake, r, 5, NULL, 0); /* rank 3 has not said hello */
  hear (fake);
  fab_sweep_ranks_feed (fake->self, give, fake);
  assert_int_equal (fake->next_point, 0);
  assert_true (fab_sweep_ranks_are_idle (fake->self));
  assert_string_equal (
      fake->said->str,
      "rank 1 on there simulates no points, because its scenario, catalogue or program version "
      "differs from rank 0's\n"
      "rank 2 on there simulates no points: no memory\n");
  end (fake, TRUE);
  fake_free (fake);
}

/* Messages of nobody, without a kind, and too short ones change nothing. */
static void
broken_messages_are_left_alone (G_GNUC_UNUSED void **state)
{
  Fake *fake = three_with_points ();
  const guint8 own[] = { 0, FAB_RANKS_BYE }, unknown[] = { N_RANKS, FAB_RANKS_BYE }, empty[] = { 1 };

  g_ptr_array_add (fake->come, g_bytes_new (own, sizeof own));
  g_ptr_array_add (fake->come, g_bytes_new (unknown, sizeof unknown));
  g_ptr_array_add (fake->come, g_bytes_new (empty, sizeof empty));
  come (fake, 1, FAB_RANKS_REPORT, "abc", 3);
  come (fake, 1, FAB_RANKS_REPORT, "\1\0\0\0half", 8);
  come (fake, 1, 'x', "abc", 3);
  hear (fake);
  assert_int_equal (fake->played->len, 0);
  assert_int_equal (fake->lost->len, 0);
  assert_false (fab_sweep_ranks_are_idle (fake->self));
  end (fake, TRUE);
  fake_free (fake);
}

/* Each rank is told once to end, and whether all are there; rank 0 leaves when all have said goodbye. */
static void
all_leave_at_the_end (G_GNUC_UNUSED void **state)
{
  Fake *fake = three_with_points ();

  fab_sweep_ranks_end (fake->self);
  assert_int_equal (fake->n_left_whole, 1);
  for (guint r = 1; r < N_RANKS; r++) {
    gsize size;
    const guint8 *message = g_bytes_get_data (g_ptr_array_index (fake->sent[r], fake->sent[r]->len - 1),
                                              &size);

    assert_true (fake->n_asked[r] >= 3);
    assert_int_equal (size, 2);
    assert_int_equal (message[0], FAB_RANKS_END);
    assert_int_equal (message[1], 1);
  }
  fake_free (fake);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ranks_have_the_points_that_they_want),
    cmocka_unit_test (points_of_a_rank_that_leaves_are_lost),
    cmocka_unit_test (a_rank_whose_process_ended_is_dead),
    cmocka_unit_test (a_process_that_was_never_seen_says_nothing),
    cmocka_unit_test (silent_ranks_are_dead),
    cmocka_unit_test (time_without_listening_is_no_silence),
    cmocka_unit_test (ranks_hear_a_sign_of_life_every_second),
    cmocka_unit_test (others_simulate_nothing),
    cmocka_unit_test (broken_messages_are_left_alone),
    cmocka_unit_test (all_leave_at_the_end),
  };

  return cmocka_run_group_tests_name ("sweep_ranks", tests, NULL, NULL);
}
