/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - a thread that looks at the pulse now and then. */
#include "cli/terminal/progress.h"

#include <unistd.h>

#define CLEAR_LINE "\r\033[K"

enum { LOOK_US = 250 * 1000, PATIENCE_US = 1000 * 1000 };

/* Where no terminal looks on, a line after ten seconds, and the next ones after twice as long each: a log shows that
 * something goes on, and stays short. */
enum { LOG_PATIENCE_US = 10 * 1000 * 1000 };

struct _FabProgress {
  const char *what;
  FabPulse pulse;
  gint64 begun_us;
  GThread *thread;
  GMutex lock;
  GCond ended;
  gboolean is_ended, is_shown, is_terminal;
  gint64 next_us; /* of the next line, since it has begun */
};

static void
add_clock (GString *line, double seconds)
{
  gint64 whole = (gint64) seconds;

  g_string_append_printf (line, "%d:%02d", (int) (whole / 60), (int) (whole % 60));
}

/* ", about 0:40 left": the rest at the pace so far. Iterations take as long as was guessed, so this is a hint. */
static void
add_rest (GString *line, const FabPulse *pulse, double passed_s)
{
  const double least = 0.02; /* less says nothing of the pace */
  gint n_known = g_atomic_int_get (&pulse->n_known), n_done = g_atomic_int_get (&pulse->n_done);
  gint step_us = g_atomic_int_get (&pulse->step_us), now_us = g_atomic_int_get (&pulse->now_us);

  if (step_us == 0 || n_known == 0)
    return;
  double begun = now_us < G_MAXINT ? (double) (now_us % step_us) / step_us
                                   : 0; /* the pulse holds 35 minutes */
  double done = (n_done + begun) / n_known;
  if (done < least || done >= 1)
    return;
  g_string_append (line, ", about ");
  add_clock (line, passed_s / done - passed_s);
  g_string_append (line, " left");
}

/* "3 of 12 points, 1.204 ms simulated, 0:07, about 0:44 left" */
static char *
line_of (FabProgress *self, gint64 passed_us)
{
  gint n_done = g_atomic_int_get (&self->pulse.n_done), n_known = g_atomic_int_get (&self->pulse.n_known);
  gint now_us = g_atomic_int_get (&self->pulse.now_us);
  double passed_s = (double) passed_us / G_USEC_PER_SEC;
  GString *line = g_string_new (NULL);

  if (n_known > 0)
    g_string_append_printf (line, "%d of %d %s, ", n_done, MAX (n_known, n_done), self->what);
  else if (n_done > 0)
    g_string_append_printf (line, "%d %s, ", n_done, self->what);
  if (now_us > 0 && now_us < G_MAXINT)
    g_string_append_printf (line, "%.3f ms simulated, ", now_us / 1e3);
  add_clock (line, passed_s);
  add_rest (line, &self->pulse, passed_s);
  return g_string_free (line, FALSE);
}

static void
show (FabProgress *self, gint64 passed_us)
{
  g_autofree char *line = line_of (self, passed_us);

  if (self->is_terminal) {
    g_printerr (CLEAR_LINE "%s", line);
    self->is_shown = TRUE;
    return;
  }
  g_printerr ("%s: %s\n", g_get_prgname () != NULL ? g_get_prgname () : "fabricast", line);
  self->next_us *= 2;
}

static gpointer
look (gpointer data)
{
  FabProgress *self = data;

  g_mutex_lock (&self->lock);
  while (!self->is_ended) {
    gint64 now_us = g_get_monotonic_time ();

    if (now_us - self->begun_us >= self->next_us)
      show (self, now_us - self->begun_us);
    g_cond_wait_until (&self->ended, &self->lock, now_us + LOOK_US);
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

FabProgress *
fab_progress_start (const char *what)
{
  FabProgress *self;

  if (g_strcmp0 (g_getenv ("FABRICAST_PROGRESS"), "never") == 0)
    return NULL;
  self = g_new0 (FabProgress, 1);
  self->what = what;
  self->is_terminal = isatty (STDERR_FILENO) == 1;
  self->pulse.wants_guess = self->is_terminal;
  self->next_us = self->is_terminal ? PATIENCE_US : LOG_PATIENCE_US;
  self->begun_us = g_get_monotonic_time ();
  g_mutex_init (&self->lock);
  g_cond_init (&self->ended);
  self->thread = g_thread_new ("progress", look, self);
  return self;
}

FabPulse *
fab_progress_pulse (FabProgress *self)
{
  return self != NULL ? &self->pulse : NULL;
}

void
fab_progress_stop (FabProgress *self)
{
  if (self == NULL || self->thread == NULL)
    return;
  g_mutex_lock (&self->lock);
  self->is_ended = TRUE;
  g_cond_signal (&self->ended);
  g_mutex_unlock (&self->lock);
  g_thread_join (g_steal_pointer (&self->thread));
  if (self->is_shown)
    g_printerr (CLEAR_LINE);
}

void
fab_progress_free (FabProgress *self)
{
  if (self == NULL)
    return;
  fab_progress_stop (self);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->ended);
  g_free (self);
}
