/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_help.c - the side of the other ranks: simulate what rank 0 assigns, report it, ask for more. */
#include <string.h>
#include <unistd.h>

#include "sim/study/sweep.h"
#include "sim/study/sweep_pool.h"
#include "sim/study/sweep_ranks.h"

/* A report waits REPORT_US for more results. A rank without news sends a sign of life after PING_US. Rank 0 may be
 * busy with its file for minutes, but not for longer than SILENCE_US. */
#define REPORT_US (20 * 1000)
#define PING_US G_USEC_PER_SEC
#define SILENCE_US (360 * G_USEC_PER_SEC)
#define LOOK_US 1000

typedef struct {
  const FabSweepSpec *spec;
  FabSweepPool *pool; /* NULL: this rank simulates nothing */
  GByteArray *message;
  GPtrArray *played;
  gint64 heard_us, reported_us;
  gboolean has_asked; /* it has asked for points and not received any since */
  gboolean has_ended, is_whole;
} Help;

static void
say_hello (const Help *self, const char *problem)
{
  FabRanks *ranks = self->spec->ranks;
  g_autofree char *process = g_strdup_printf ("%ld", (long) getpid ());
  const char *texts[] = { self->spec->plan != NULL ? self->spec->plan->fingerprint : "", ranks->host, process,
                          problem != NULL ? problem : "" };
  g_autoptr (GByteArray) message = g_byte_array_new ();
  const guint8 kind = FAB_RANKS_HELLO;

  g_byte_array_append (message, &kind, sizeof kind);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_byte_array_append (message, (const guint8 *) texts[i], (guint) strlen (texts[i]) + 1);
  ranks->send (ranks, 0, message->data, message->len);
}

static void
hear_message (Help *self)
{
  const guint8 *bytes = self->message->data;
  gsize n = self->message->len > 0 ? (self->message->len - 1) / sizeof (gint64) : 0;
  g_autofree gint64 *points = g_new (gint64, n);

  self->heard_us = g_get_monotonic_time ();
  if (self->message->len == 0)
    return;
  if (bytes[0] == FAB_RANKS_END) {
    self->has_ended = TRUE;
    self->is_whole = self->message->len > 1 && bytes[1] != 0;
  } else if (self->pool != NULL && n > 0) {
    memcpy (points, bytes + 1, n * sizeof *points);
    fab_sweep_pool_give (self->pool, points, (guint) n);
    self->has_asked = FALSE;
  }
}

static void
report (Help *self)
{
  FabRanks *ranks = self->spec->ranks;
  guint32 n_wanted = self->pool != NULL ? fab_sweep_pool_wants (self->pool) : 0;
  gint64 since_us = g_get_monotonic_time () - self->reported_us;
  g_autoptr (GByteArray) message = NULL;
  const guint8 kind = FAB_RANKS_REPORT;

  if (!(n_wanted > 0 && !self->has_asked) && !(self->played->len > 0 && since_us > REPORT_US)
      && since_us < PING_US)
    return;
  message = g_byte_array_new ();
  g_byte_array_append (message, &kind, sizeof kind);
  g_byte_array_append (message, (const guint8 *) &n_wanted, sizeof n_wanted);
  for (guint i = 0; i < self->played->len; i++)
    fab_sweep_record_write (g_ptr_array_index (self->played, i), message);
  ranks->send (ranks, 0, message->data, message->len);
  g_ptr_array_set_size (self->played, 0);
  self->has_asked = n_wanted > 0;
  self->reported_us += since_us;
}

static gboolean
is_cancelled (const FabSweepSpec *spec)
{
  return spec->is_cancelled != NULL && spec->is_cancelled (spec->data);
}

static void
free_record (gpointer record)
{
  fab_sweep_record_free (record);
}

static gboolean
play_until_end (Help *self, GError **error)
{
  FabRanks *ranks = self->spec->ranks;
  guint from;

  while (!self->has_ended && g_get_monotonic_time () - self->heard_us < SILENCE_US
         && !is_cancelled (self->spec)) {
    while (ranks->receive (ranks, &from, self->message))
      hear_message (self);
    if (self->pool != NULL)
      fab_sweep_pool_take (self->pool, LOOK_US, self->played);
    else
      g_usleep (LOOK_US);
    if (self->pool != NULL && !fab_sweep_pool_check (self->pool, error))
      return FALSE;
    report (self);
  }
  return self->has_ended;
}

gboolean
fab_sweep_help (const FabSweepSpec *spec, const char *problem, GError **error)
{
  FabRanks *ranks = spec->ranks;
  Help self = { .spec = spec, .heard_us = g_get_monotonic_time () };
  const guint8 bye = FAB_RANKS_BYE;

  self.message = g_byte_array_new ();
  self.played = g_ptr_array_new_with_free_func (free_record);
  self.pool = problem == NULL ? fab_sweep_pool_new (spec->study, spec->grid, spec->n_threads) : NULL;
  say_hello (&self, problem);
  gboolean is_good = play_until_end (&self, error);
  ranks->send (ranks, 0, &bye, sizeof bye);
  ranks->leave (ranks, self.has_ended && self.is_whole);
  fab_sweep_pool_free (self.pool);
  g_ptr_array_unref (self.played);
  g_byte_array_unref (self.message);
  return is_good;
}

void
fab_sweep_dismiss (FabRanks *ranks)
{
  fab_sweep_ranks_end (fab_sweep_ranks_new (ranks, "", NULL, NULL));
}
