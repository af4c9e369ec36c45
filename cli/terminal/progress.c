/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - a thread that looks at the pulse now and then. */
#include "cli/terminal/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "sim/base/units.h"
#include "sim/run/effort.h"

#define CLEAR_LINE "\r\033[K"

enum { LOOK_US = 250 * 1000, PATIENCE_US = 1000 * 1000 };

/* Where no terminal looks on, a line after ten seconds, and the next ones after twice as long each: a log shows that
 * something goes on, and stays short. */
enum { LOG_PATIENCE_US = 10 * 1000 * 1000 };

/* How long a command takes is said when its own pace is known. What its network says is a bound, often far too high:
 * it is said where there is no pace after some seconds. */
enum {
  PACE_US = 1000 * 1000,
  LONG_PACE_US = 5 * 1000 * 1000,
  FORECAST_US = 2 * 1000 * 1000,
  EFFORT_US = 5 * 1000 * 1000,
  LONG_S = 10
};

/* Memory is worth a line from here on, and again when it has doubled. */
static const double large_bytes = 1e9;

struct _FabProgress {
  const char *what;
  FabPulse pulse;
  gint64 begun_us;
  GThread *thread;
  GMutex lock;
  GCond ended;
  gboolean is_ended, is_shown, is_terminal;
  gint64 next_us;        /* of the next line, since it has begun */
  gint64 paced_us;       /* since when there is a pace; 0: there is none yet */
  double paced_fraction; /* that was done then */
  gint64 moved_us;       /* when more was done than before, for the last time */
  gint64 longest_us;     /* between two such times */
  double moved_fraction;
  gboolean has_forecast, has_effort;
  double told_bytes; /* of memory */
};

static void
add_clock (GString *line, double seconds)
{
  gint64 whole = (gint64) seconds;

  g_string_append_printf (line, "%d:%02d", (int) (whole / 60), (int) (whole % 60));
}

/* Whether nothing more has been done for a second, and for twice as long as ever before. A network that looks ahead
 * stands still like this, and its pace says nothing. */
static gboolean
stands_still (FabProgress *self, double done, gint64 now_us)
{
  if (self->moved_us == 0 || done > self->moved_fraction) {
    self->longest_us = MAX (self->longest_us, self->moved_us > 0 ? now_us - self->moved_us : 0);
    self->moved_us = now_us;
    self->moved_fraction = done;
  }
  return now_us - self->moved_us > MAX (G_USEC_PER_SEC, 2 * self->longest_us);
}

/* Whether the pace says how long the rest takes. The first tasks of an iteration do not: flows that share a network end
 * together, and most of the time has passed when the first of them ends. */
static gboolean
knows_pace (FabProgress *self)
{
  const gint tenth = 10;

  return g_atomic_int_get (&self->pulse.n_done) > 0 || g_atomic_int_get (&self->pulse.step_us) > 0
      || g_atomic_int_get (&self->pulse.n_tasks_done) >= g_atomic_int_get (&self->pulse.n_tasks) / tenth;
}

/* Returns the seconds that are left at the pace since it was known how much there is to do; 0: not known. Where
 * simulated time says how much was done, the pace begins with it: collectives that are simulated alone come before, and
 * take time of their own. Little that was done in little time says nothing. Iterations take as long as was guessed, and
 * plays as long as those before them, so this is a hint. */
static double
left_s (FabProgress *self, gint64 now_us)
{
  const double least = 1e-5, enough = 0.01;
  double done = fab_pulse_fraction (&self->pulse);

  gboolean is_guessed = g_atomic_int_get (&self->pulse.step_us) > 0;

  if (self->paced_us == 0 && g_atomic_int_get (&self->pulse.n_known) > 0 && (!is_guessed || done > 0)) {
    self->paced_us = now_us;
    self->paced_fraction = done;
  }
  gint64 paced_us = self->paced_us > 0 ? now_us - self->paced_us : 0;
  double paced = done - self->paced_fraction;
  if (stands_still (self, done, now_us) || paced_us < (paced < enough ? LONG_PACE_US : PACE_US)
      || paced < least || done >= 1 || !knows_pace (self))
    return 0;
  return (double) (now_us - self->paced_us) / G_USEC_PER_SEC / (done - self->paced_fraction) * (1 - done);
}

/* "3 of 12 points, 1.204 ms simulated, 0:07, about 0:44 left" */
static char *
line_of (FabProgress *self, gint64 passed_us)
{
  gint n_done = g_atomic_int_get (&self->pulse.n_done), n_known = g_atomic_int_get (&self->pulse.n_known);
  gint now_us = g_atomic_int_get (&self->pulse.now_us);
  double passed_s = (double) passed_us / G_USEC_PER_SEC, left = left_s (self, self->begun_us + passed_us);
  GString *line = g_string_new (NULL);

  if (n_known > 0)
    g_string_append_printf (line, "%d of %d %s, ", n_done, MAX (n_known, n_done), self->what);
  else
    g_string_append_printf (line, "%d %s, ", n_done, self->what);
  if (now_us > 0 && now_us < G_MAXINT)
    g_string_append_printf (line, "%.3f ms simulated, ", now_us / 1e3);
  add_clock (line, passed_s);
  if (left > 0) {
    g_string_append (line, ", about ");
    add_clock (line, left);
    g_string_append (line, " left");
  }
  return g_string_free (line, FALSE);
}

static void
print_line (const FabProgress *self, const char *text)
{
  g_printerr ("%s%s: %s\n", self->is_terminal ? CLEAR_LINE : "",
              g_get_prgname () != NULL ? g_get_prgname () : "fabricast", text);
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
  print_line (self, line);
  self->next_us *= 2;
}

static void
tell_bound (FabProgress *self, const FabEffort *effort)
{
  g_autofree char *shown = fab_effort_show (effort);
  g_autofree char *line = g_strdup_printf ("this takes %s, by the packets that it simulates", shown);

  self->has_effort = TRUE;
  print_line (self, line);
}

/* "this takes about 20 min: ..." once, when it is long. */
static void
tell_time (FabProgress *self, gint64 now_us)
{
  FabEffort effort = { g_atomic_int_get (&self->pulse.alike_s), g_atomic_int_get (&self->pulse.all_s) };
  double left = left_s (self, now_us);
  gint64 passed_us = now_us - self->begun_us;

  if (self->has_forecast || passed_us < FORECAST_US)
    return;
  if (left <= 0) {
    if (passed_us >= EFFORT_US && effort.all_s >= LONG_S && !self->has_effort)
      tell_bound (self, &effort);
    return;
  }
  self->has_forecast = TRUE;
  if (left < LONG_S || self->is_terminal) /* which has a line that says what is left */
    return;
  g_autofree char *shown = fab_units_show (FAB_UNIT_TIME, left * FAB_PS_PER_S);
  g_autofree char *line = g_strdup_printf ("this takes about %s, by the pace of its first seconds: %d %s",
                                           shown, g_atomic_int_get (&self->pulse.n_known), self->what);
  print_line (self, line);
}

/* Returns how much memory the program holds; 0: the system does not say. */
static double
held_bytes (void)
{
  g_autofree char *text = NULL;
  guint64 all = 0, resident = 0;

  if (!g_file_get_contents ("/proc/self/statm", &text, NULL, NULL)
      || sscanf (text, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, &all, &resident) != 2)
    return 0;
  return (double) resident * (double) sysconf (_SC_PAGESIZE);
}

static void
tell_memory (FabProgress *self)
{
  double bytes = held_bytes ();

  if (bytes < MAX (large_bytes, 2 * self->told_bytes))
    return;
  self->told_bytes = bytes;
  g_autofree char *shown = fab_units_show (FAB_UNIT_BYTES, bytes);
  g_autofree char *line = g_strdup_printf ("it holds %s of memory by now", shown);
  print_line (self, line);
}

static gpointer
look (gpointer data)
{
  FabProgress *self = data;

  g_mutex_lock (&self->lock);
  while (!self->is_ended) {
    gint64 now_us = g_get_monotonic_time ();

    tell_time (self, now_us);
    tell_memory (self);
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

void
fab_progress_next (FabProgress *self, const char *what)
{
  if (self == NULL)
    return;
  g_mutex_lock (&self->lock);
  self->what = what;
  self->pulse = (FabPulse){ .wants_guess = self->pulse.wants_guess };
  self->paced_us = 0;
  self->has_forecast = self->has_effort = FALSE;
  g_mutex_unlock (&self->lock);
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
