/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/sweep_ranks.h"
#include "sim/base/units.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* SILENCE_US: a rank sends something every second and counts as dead after this silence. PING_US: how often rank 0
 * sends. */
#define SILENCE_US (10 * G_USEC_PER_SEC)
#define PING_US G_USEC_PER_SEC
#define NAP_US 1000

enum { MOST_AT_ONCE = 4096 };

typedef struct {
  GHashTable *held; /* gint64: points that it was given and has not reported */
  guint n_wanted;
  gint64 heard_us;
  char *host;
  pid_t process;    /* its process when it runs on this machine and is visible here, otherwise 0 */
  gboolean plays;   /* it said hello and works on the same sweep */
  gboolean is_dead; /* as far as rank 0 knows */
  gboolean is_gone; /* it said goodbye */
} Helper;

struct _FabSweepRanks {
  FabRanks *ranks;
  char *fingerprint;
  FabSweepNoteFunc note;
  gpointer data;
  Helper *helpers; /* one per rank; that of rank 0 is unused */
  GByteArray *message;
  gint64 listened_us, pinged_us;
};

FabSweepRanks *
fab_sweep_ranks_new (FabRanks *ranks, const char *fingerprint, FabSweepNoteFunc note, gpointer data)
{
  FabSweepRanks *self = g_new0 (FabSweepRanks, 1);

  self->ranks = ranks;
  self->fingerprint = g_strdup (fingerprint);
  self->note = note;
  self->data = data;
  self->message = g_byte_array_new ();
  self->listened_us = g_get_monotonic_time ();
  self->helpers = g_new0 (Helper, ranks->n_ranks);
  for (guint r = 1; r < ranks->n_ranks; r++) {
    self->helpers[r].held = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
    self->helpers[r].heard_us = self->listened_us;
  }
  return self;
}

static void G_GNUC_PRINTF (2, 3) say (FabSweepRanks *self, const char *format, ...)
{
  va_list arguments;
  g_autofree char *sentence = NULL;

  va_start (arguments, format);
  sentence = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (self->note != NULL)
    self->note (self->data, sentence);
}

/* --- receiving --- */

/* Returns the next text of a message; it ends at a NUL or at the end of the message. */
static char *
take_text (const guint8 **bytes, gsize *n_left)
{
  gsize size = strnlen ((const char *) *bytes, *n_left);
  char *text = g_strndup ((const char *) *bytes, size);
  gsize n_taken = MIN (size + 1, *n_left);

  *bytes += n_taken;
  *n_left -= n_taken;
  return text;
}

/* Whether its process exists. For a rank on another machine that is unknown. */
static gboolean
is_seen (const Helper *helper)
{
  return helper->process > 0 && (kill (helper->process, 0) == 0 || errno != ESRCH);
}

static void
hear_hello (FabSweepRanks *self, guint rank, const guint8 *bytes, gsize size)
{
  Helper *helper = &self->helpers[rank];
  g_autofree char *fingerprint = take_text (&bytes, &size);
  char *host = take_text (&bytes, &size);
  g_autofree char *process = take_text (&bytes, &size);
  g_autofree char *problem = take_text (&bytes, &size);

  g_free (helper->host);
  helper->host = host;
  helper->process = strcmp (host, self->ranks->host) == 0 ? (pid_t) g_ascii_strtoll (process, NULL, 10) : 0;
  if (!is_seen (helper))
    helper->process = 0;
  if (*problem != '\0')
    say (self, "rank %u on %s simulates no points: %s", rank, host, problem);
  else if (strcmp (fingerprint, self->fingerprint) != 0)
    say (self,
         "rank %u on %s simulates no points, because its scenario, catalogue or program version differs "
         "from rank 0's",
         rank, host);
  else
    helper->plays = TRUE;
}

static void
hear_report (FabSweepRanks *self, guint rank, const guint8 *bytes, gsize size, GPtrArray *played)
{
  Helper *helper = &self->helpers[rank];
  FabSweepPointRecord *record;
  guint32 n_wanted;

  if (!helper->plays || size < sizeof n_wanted)
    return;
  memcpy (&n_wanted, bytes, sizeof n_wanted);
  helper->n_wanted = MIN (n_wanted, MOST_AT_ONCE);
  bytes += sizeof n_wanted;
  size -= sizeof n_wanted;
  while ((record = fab_sweep_record_read (&bytes, &size)) != NULL) {
    g_hash_table_remove (helper->held, &record->point);
    g_ptr_array_add (played, record);
  }
}

static void
hear_message (FabSweepRanks *self, guint rank, GPtrArray *played)
{
  Helper *helper = &self->helpers[rank];
  const guint8 *bytes = self->message->data;
  gsize size = self->message->len;

  if (rank == 0 || rank >= self->ranks->n_ranks || size == 0)
    return;
  if (helper->is_dead)
    say (self, "rank %u on %s answers again", rank, helper->host ? helper->host : "?");
  helper->is_dead = FALSE;
  helper->heard_us = g_get_monotonic_time ();
  if (bytes[0] == FAB_RANKS_HELLO)
    hear_hello (self, rank, bytes + 1, size - 1);
  else if (bytes[0] == FAB_RANKS_REPORT)
    hear_report (self, rank, bytes + 1, size - 1, played);
  else if (bytes[0] == FAB_RANKS_BYE)
    helper->is_gone = TRUE;
}

static void
lose_points (Helper *helper, GArray *lost)
{
  GHashTableIter iter;
  gpointer point;

  helper->n_wanted = 0;
  g_hash_table_iter_init (&iter, helper->held);
  while (g_hash_table_iter_next (&iter, &point, NULL))
    g_array_append_vals (lost, point, 1);
  g_hash_table_remove_all (helper->held);
}

static void
bury (FabSweepRanks *self, guint rank, GArray *lost)
{
  Helper *helper = &self->helpers[rank];

  say (self, "rank %u on %s no longer answers; other ranks simulate its %u %s", rank,
       helper->host ? helper->host : "?", g_hash_table_size (helper->held),
       fab_plural (g_hash_table_size (helper->held), "point", "points"));
  helper->is_dead = TRUE;
  lose_points (helper, lost);
}

/* Handles a goodbye: a rank that was told to stop leaves, whatever points it has. */
static void
take_leave (FabSweepRanks *self, GArray *lost)
{
  for (guint r = 1; r < self->ranks->n_ranks; r++)
    if (self->helpers[r].is_gone)
      lose_points (&self->helpers[r], lost);
}

/* Time in which rank 0 did not listen does not count as silence. */
static void
forgive (FabSweepRanks *self, gint64 now_us)
{
  gint64 gap_us = now_us - self->listened_us;

  for (guint r = 1; r < self->ranks->n_ranks && gap_us > PING_US; r++)
    self->helpers[r].heard_us += gap_us;
  self->listened_us = now_us;
}

static void
ping (FabSweepRanks *self, gint64 now_us)
{
  const guint8 message = FAB_RANKS_POINTS;

  if (now_us - self->pinged_us < PING_US)
    return;
  for (guint r = 1; r < self->ranks->n_ranks; r++)
    if (!self->helpers[r].is_dead)
      self->ranks->send (self->ranks, r, &message, sizeof message);
  self->pinged_us = now_us;
}

static gboolean
is_missing (const Helper *helper, gint64 now_us)
{
  return !helper->is_dead && !helper->is_gone
      && (now_us - helper->heard_us > SILENCE_US || (helper->process > 0 && !is_seen (helper)));
}

void
fab_sweep_ranks_hear (FabSweepRanks *self, GPtrArray *played, GArray *lost)
{
  gint64 now_us = g_get_monotonic_time ();
  guint rank;

  forgive (self, now_us);
  while (self->ranks->receive (self->ranks, &rank, self->message))
    hear_message (self, rank, played);
  take_leave (self, lost);
  for (guint r = 1; r < self->ranks->n_ranks; r++)
    if (is_missing (&self->helpers[r], now_us))
      bury (self, r, lost);
  ping (self, now_us);
}

/* --- sending --- */

static void
feed_one (FabSweepRanks *self, guint rank, FabSweepGiveFunc give, gpointer data)
{
  Helper *helper = &self->helpers[rank];
  g_autofree gint64 *points = g_new (gint64, helper->n_wanted);
  guint n = give (data, points, helper->n_wanted);
  gsize size = n * sizeof *points;
  g_autofree guint8 *message = g_malloc (1 + size);

  if (n == 0)
    return;
  for (guint i = 0; i < n; i++)
    g_hash_table_add (helper->held, g_memdup2 (&points[i], sizeof *points));
  message[0] = FAB_RANKS_POINTS;
  memcpy (message + 1, points, size);
  self->ranks->send (self->ranks, rank, message, 1 + size);
  helper->n_wanted = 0;
}

void
fab_sweep_ranks_feed (FabSweepRanks *self, FabSweepGiveFunc give, gpointer data)
{
  for (guint r = 1; r < self->ranks->n_ranks; r++)
    if (self->helpers[r].plays && self->helpers[r].n_wanted > 0)
      feed_one (self, r, give, data);
}

gboolean
fab_sweep_ranks_are_idle (const FabSweepRanks *self)
{
  for (guint r = 1; r < self->ranks->n_ranks; r++)
    if (g_hash_table_size (self->helpers[r].held) > 0)
      return FALSE;
  return TRUE;
}

/* --- the end --- */

static gboolean
are_all (const FabSweepRanks *self, gboolean gone)
{
  gboolean are = TRUE;

  for (guint r = 1; r < self->ranks->n_ranks; r++)
    are &= gone ? self->helpers[r].is_gone || self->helpers[r].is_dead : !self->helpers[r].is_dead;
  return are;
}

static void
free_record (gpointer record)
{
  fab_sweep_record_free (record);
}

void
fab_sweep_ranks_end (FabSweepRanks *self)
{
  g_autoptr (GPtrArray) late = g_ptr_array_new_with_free_func (free_record);
  g_autoptr (GArray) lost = g_array_new (FALSE, FALSE, sizeof (gint64));
  guint n_ranks = self->ranks->n_ranks;
  guint8 message[] = { FAB_RANKS_END, (guint8) are_all (self, FALSE) };

  for (guint r = 1; r < self->ranks->n_ranks; r++)
    if (!self->helpers[r].is_dead)
      self->ranks->send (self->ranks, r, message, sizeof message);
  while (!are_all (self, TRUE)) {
    fab_sweep_ranks_hear (self, late, lost);
    g_usleep (NAP_US);
  }
  self->ranks->leave (self->ranks, are_all (self, FALSE));
  for (guint r = 1; r < n_ranks; r++) {
    g_hash_table_unref (self->helpers[r].held);
    g_free (self->helpers[r].host);
  }
  g_free (self->helpers);
  g_byte_array_unref (self->message);
  g_free (self->fingerprint);
  g_free (self);
}
