/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - plays the points of a grid and keeps them in a file, by itself or with other ranks. */
#include "sim/study/sweep.h"

#include <string.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/study/sweep_ranks.h"
#include "sim/study/sweep_record.h"

typedef struct _FabSweepPool FabSweepPool;

static void sweep_pool_free (FabSweepPool *self);
static void free_record (gpointer record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepPool, sweep_pool_free)

/* Points that wait are worth so much work, so that feeding costs little and little is lost with a process. */
enum { STOCK_MS = 50, MOST_STOCK = 4096 };

struct _FabSweepPool {
  FabStudy study; /* the caller's, which can be cancelled here */
  const FabGrid *grid;
  gint cancel; /* atomic */
  GThread **threads;
  guint n_threads;

  GMutex lock; /* protects all members below */
  GCond work;  /* signalled when there are points, or the pool closes */
  GCond news;  /* signalled when a point is finished, or points run short */
  GQueue waiting;
  GPtrArray *played;
  guint n_busy;
  guint64 n_done;
  gint64 busy_us; /* summed over all threads, for n_done points */
  gboolean is_closed;
  GError *broken; /* the first; NULL: none */
};

/* --- the threads --- */

/* NULL and *trouble: nothing can be said about the point. */
static FabSweepPointRecord *
play (const FabSweepPool *self, gint64 point, GError **trouble)
{
  g_autoptr (FabEdits) edits = fab_grid_edits (self->grid, point);
  FabTry trial = { .edits = edits };
  FabSweepPointRecord *record = NULL;

  fab_try_play (&self->study, &trial);
  if (trial.trouble != NULL)
    g_propagate_error (trouble, g_steal_pointer (&trial.trouble));
  else
    record = fab_sweep_record_new (self->grid, point, &trial);
  fab_try_clear (&trial);
  return record;
}

/* Locked. What was cancelled is played again another time. */
static void
keep (FabSweepPool *self, FabSweepPointRecord *record, GError *trouble)
{
  if (record != NULL)
    g_ptr_array_add (self->played, record);
  if (self->broken == NULL && g_error_matches (trouble, FAB_ERROR, FAB_ERROR_BROKEN))
    self->broken = g_error_copy (trouble);
}

static gint64 *
sweep_pool_next_point (FabSweepPool *self)
{
  while (g_queue_is_empty (&self->waiting) && !self->is_closed)
    g_cond_wait (&self->work, &self->lock);
  return g_queue_pop_head (&self->waiting);
}

static gpointer
work (gpointer data)
{
  FabSweepPool *self = data;
  gint64 *point;

  g_mutex_lock (&self->lock);
  while ((point = sweep_pool_next_point (self)) != NULL) {
    self->n_busy++;
    g_mutex_unlock (&self->lock);
    gint64 since_us = g_get_monotonic_time ();
    g_autoptr (GError) trouble = NULL;
    FabSweepPointRecord *record = play (self, *point, &trouble);
    g_free (point);
    g_mutex_lock (&self->lock);
    self->n_busy--;
    self->n_done++;
    self->busy_us += g_get_monotonic_time () - since_us;
    keep (self, record, trouble);
    if (g_queue_get_length (&self->waiting) <= self->n_threads)
      g_cond_signal (&self->news);
  }
  g_mutex_unlock (&self->lock);
  return NULL;
}

/* --- the feeding thread --- */

/* `study` and `grid` must outlive it. (transfer full) */
static FabSweepPool *
sweep_pool_new (const FabStudy *study, const FabGrid *grid, guint n_threads)
{
  FabSweepPool *self = g_new0 (FabSweepPool, 1);

  self->study = *study;
  self->study.cancel = &self->cancel;
  self->grid = grid;
  self->n_threads = n_threads;
  g_mutex_init (&self->lock);
  g_cond_init (&self->work);
  g_cond_init (&self->news);
  g_queue_init (&self->waiting);
  self->played = g_ptr_array_new_with_free_func (free_record);
  self->threads = g_new (GThread *, n_threads);
  for (guint i = 0; i < n_threads; i++)
    self->threads[i] = g_thread_new ("sweep", work, self);
  return self;
}

/* Drops the points that no thread has begun. */
static void
sweep_pool_stop (FabSweepPool *self)
{
  g_mutex_lock (&self->lock);
  g_queue_clear_full (&self->waiting, g_free);
  g_mutex_unlock (&self->lock);
}

/* Cancels the points that are running, and waits for their threads. */
static void
sweep_pool_free (FabSweepPool *self)
{
  if (self == NULL)
    return;
  sweep_pool_stop (self);
  g_atomic_int_set (&self->cancel, 1);
  g_mutex_lock (&self->lock);
  self->is_closed = TRUE;
  g_cond_broadcast (&self->work);
  g_mutex_unlock (&self->lock);
  for (guint i = 0; i < self->n_threads; i++)
    g_thread_join (self->threads[i]);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->work);
  g_cond_clear (&self->news);
  g_ptr_array_unref (self->played);
  g_clear_error (&self->broken);
  g_free (self->threads);
  g_free (self);
}

static void
sweep_pool_give (FabSweepPool *self, const gint64 *points, guint n)
{
  g_mutex_lock (&self->lock);
  for (guint i = 0; i < n; i++)
    g_queue_push_tail (&self->waiting, g_memdup2 (&points[i], sizeof points[i]));
  g_cond_broadcast (&self->work);
  g_mutex_unlock (&self->lock);
}

/* Call it with the lock held. */
static guint
stock (const FabSweepPool *self)
{
  gint64 mean_us = self->n_done > 0 ? MAX (self->busy_us / (gint64) self->n_done, 1) : G_MAXINT64;
  gint64 extra = STOCK_MS * 1000 / mean_us;

  return self->n_threads * (1 + (guint) MIN (extra, MOST_STOCK));
}

/* Returns how many more points would keep the pool busy for a while; 0: it has enough. */
static guint
sweep_pool_wants (FabSweepPool *self)
{
  guint n_waiting, n_stock;

  g_mutex_lock (&self->lock);
  n_waiting = g_queue_get_length (&self->waiting);
  n_stock = stock (self);
  g_mutex_unlock (&self->lock);
  return n_waiting > n_stock / 2 ? 0 : n_stock - n_waiting;
}

/* Moves finished results to `played` (FabSweepPointRecord, transfer full). It waits up to `wait_us` for results, or
 * until points run short. */
static void
sweep_pool_take (FabSweepPool *self, gint64 wait_us, GPtrArray *played)
{
  gint64 until_us = g_get_monotonic_time () + wait_us;

  g_mutex_lock (&self->lock);
  while (self->played->len == 0 || g_queue_get_length (&self->waiting) > self->n_threads)
    if (!g_cond_wait_until (&self->news, &self->lock, until_us))
      break;
  for (guint i = 0; i < self->played->len; i++)
    g_ptr_array_add (played, g_steal_pointer (&self->played->pdata[i]));
  g_ptr_array_set_size (self->played, 0);
  g_mutex_unlock (&self->lock);
}

/* FALSE and *error: a point broke an invariant of the simulation, so that it is neither played nor impossible. */
static gboolean
sweep_pool_check (FabSweepPool *self, GError **error)
{
  gboolean is_whole;

  g_mutex_lock (&self->lock);
  is_whole = self->broken == NULL;
  if (!is_whole)
    g_propagate_error (error, g_error_copy (self->broken));
  g_mutex_unlock (&self->lock);
  return is_whole;
}

/* Whether no point is running or waiting. */
static gboolean
sweep_pool_is_idle (FabSweepPool *self)
{
  gboolean is_idle;

  g_mutex_lock (&self->lock);
  is_idle = self->n_busy == 0 && g_queue_is_empty (&self->waiting) && self->played->len == 0;
  g_mutex_unlock (&self->lock);
  return is_idle;
}

/* The longest time that a result may be missing from the file; how long a cancelled sweep waits for points that are
 * running; how long to sleep when there is nothing to do, which is shorter when other ranks may send something. */
#define COMMIT_US (200 * 1000)
#define FAREWELL_US (1000 * 1000)
#define NAP_US (50 * 1000)
#define NAP_AMONG_RANKS_US 1000

typedef struct {
  const FabSweepSpec *spec;
  FabStore *store;
  FabSweepOutcome *outcome;
  FabSweepPool *pool;
  FabSweepRanks *ranks; /* NULL: there are no other ranks */

  guint8 *marks; /* per point: it is in the file, or was assigned to somebody */
  gint64 n_left; /* points that are not marked */
  gint64 cursor; /* where to look for the next one */
  guint n_jumps;

  GPtrArray *pending; /* FabSweepPointRecord that are not in the file yet */
  gint64 pending_us;  /* when the oldest pending record was added */
  gint64 began_us;
  gboolean has_company; /* another process works on the same sweep */
} Sweep;

/* --- choosing the next point --- */

static gint64
next_point (Sweep *self)
{
  gint64 n = self->spec->grid->n_points;

  while (self->marks[self->cursor])
    self->cursor = (self->cursor + 1) % n;
  self->marks[self->cursor] = 1;
  self->n_left--;
  return self->cursor;
}

/* A FabSweepGiveFunc. */
static guint
give (gpointer data, gint64 *points, guint n)
{
  Sweep *self = data;
  guint n_given = (guint) MIN ((gint64) n, self->n_left);

  for (guint i = 0; i < n_given; i++)
    points[i] = next_point (self);
  return n_given;
}

static void
feed_pool (Sweep *self)
{
  guint n = sweep_pool_wants (self->pool);
  g_autofree gint64 *points = g_new (gint64, n);

  sweep_pool_give (self->pool, points, give (self, points, n));
}

/* Makes the points of ranks that died available again. */
static void
take_back (Sweep *self, const GArray *lost)
{
  for (guint i = 0; i < lost->len; i++) {
    gint64 point = g_array_index (lost, gint64, i);

    if (point >= 0 && point < self->spec->grid->n_points && self->marks[point]) {
      self->marks[point] = 0;
      self->n_left++;
    }
  }
}

/* --- other processes --- */

static void
note (const Sweep *self, const char *sentence)
{
  if (self->spec->note != NULL)
    self->spec->note (self->spec->data, sentence);
}

/* Marks the points that other processes have stored, so that they are not simulated here. */
static gboolean
look_at_file (Sweep *self, GError **error)
{
  gint64 n = self->spec->grid->n_points;
  g_autofree guint8 *there = g_malloc0 ((gsize) n);

  if (!fab_store_mark_points (self->store, self->outcome->sweep_id, there, n, error))
    return FALSE;
  for (gint64 point = 0; point < n; point++)
    if (there[point] && !self->marks[point]) {
      self->marks[point] = 1;
      self->n_left--;
      self->outcome->n_foreign++;
    }
  return TRUE;
}

/* Two processes at the same position would simulate everything twice: continue elsewhere, at a position that differs
 * between processes. */
static void
jump (Sweep *self)
{
  guint64 place = ((guint64) getpid () * 64 + ++self->n_jumps) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  self->cursor = (gint64) ((place >> 16) % (guint64) self->spec->grid->n_points);
  if (!self->has_company)
    note (self, "another process runs the same sweep into this file; both share the work");
  self->has_company = TRUE;
}

/* --- writing to the file --- */

static gboolean
keep_pending (Sweep *self, GError **error)
{
  const FabSweepSpec *spec = self->spec;
  guint n = self->pending->len, n_added = 0;
  g_autofree FabSweepPointRecord *rows = g_new (FabSweepPointRecord, n);

  if (n == 0)
    return TRUE;
  if (!fab_sweep_plan_holds (spec->plan, spec->study, spec->grid))
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s, or a file that it includes, changed during the sweep. The stored points are those of the old "
        "version; run the same command again for the new one",
        spec->study->path);
  for (guint i = 0; i < n; i++)
    rows[i] = *(const FabSweepPointRecord *) g_ptr_array_index (self->pending, i);
  if (!fab_store_add_points (self->store, self->outcome->sweep_id, rows, n, &n_added, error))
    return FALSE;
  g_ptr_array_set_size (self->pending, 0);
  self->outcome->n_played += n_added;
  self->outcome->n_foreign += n - n_added;
  if (n_added < n)
    jump (self);
  return !fab_store_has_changed (self->store) || look_at_file (self, error);
}

/* Takes over what was simulated during a nap. FALSE: it cannot be stored. */
static gboolean
collect (Sweep *self, gint64 nap_us, GError **error)
{
  g_autoptr (GArray) lost = g_array_new (FALSE, FALSE, sizeof (gint64));
  gboolean had_none = self->pending->len == 0;
  gint64 now_us;

  sweep_pool_take (self->pool, nap_us, self->pending);
  if (!sweep_pool_check (self->pool, error))
    return FALSE;
  if (self->ranks != NULL)
    fab_sweep_ranks_hear (self->ranks, self->pending, lost);
  take_back (self, lost);
  now_us = g_get_monotonic_time ();
  if (had_none)
    self->pending_us = now_us;
  return now_us - self->pending_us < COMMIT_US || keep_pending (self, error);
}

/* --- the whole sweep --- */

static gboolean
is_cancelled (const FabSweepSpec *spec)
{
  return spec->is_cancelled != NULL && spec->is_cancelled (spec->data);
}

static void
show_progress (const Sweep *self)
{
  const FabSweepOutcome *outcome = self->outcome;
  FabSweepProgress progress = { outcome->n_points, outcome->n_there,
                                outcome->n_there + outcome->n_played + outcome->n_foreign
                                    + self->pending->len,
                                g_get_monotonic_time () - self->began_us };

  if (self->spec->progress != NULL)
    self->spec->progress (self->spec->data, &progress);
}

static gboolean
is_idle (const Sweep *self)
{
  return sweep_pool_is_idle (self->pool) && (self->ranks == NULL || fab_sweep_ranks_are_idle (self->ranks));
}

static gboolean
play_all (Sweep *self, GError **error)
{
  gint64 nap_us = self->ranks != NULL ? NAP_AMONG_RANKS_US : NAP_US;

  show_progress (self);
  while (self->n_left > 0 || !is_idle (self)) {
    feed_pool (self);
    if (self->ranks != NULL)
      fab_sweep_ranks_feed (self->ranks, give, self);
    if (!collect (self, nap_us, error))
      return FALSE;
    show_progress (self);
    if (is_cancelled (self->spec)) {
      self->outcome->is_cancelled = TRUE;
      break;
    }
  }
  return TRUE;
}

/* What is being played is waited for a moment, in which much of it ends; what takes longer is cancelled. */
static gboolean
say_farewell (Sweep *self, GError **error)
{
  gint64 until_us = g_get_monotonic_time () + FAREWELL_US;

  sweep_pool_stop (self->pool);
  while (!sweep_pool_is_idle (self->pool) && g_get_monotonic_time () < until_us)
    if (!collect (self, NAP_AMONG_RANKS_US, error))
      return FALSE;
  return TRUE;
}

static void
free_record (gpointer record)
{
  fab_sweep_record_free (record);
}

static gboolean
begin (Sweep *self, GError **error)
{
  const FabSweepSpec *spec = self->spec;
  guint n_axes = spec->grid->axes->len;
  g_autofree FabSweepAxisRecord *axes = g_new0 (FabSweepAxisRecord, n_axes);
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  FabSweepRecord record = { spec->plan->name, spec->plan->summary,     spec->plan->scenario_yaml,
                            spec->version,    spec->plan->fingerprint, axes,
                            n_axes,           spec->grid->n_points };

  for (guint a = 0; a < n_axes; a++) {
    guint n = ((const FabGridAxis *) g_ptr_array_index (spec->grid->axes, a))->n_items;
    char **texts = g_new0 (char *, n + 2);

    texts[0] = fab_grid_axis_key (spec->grid, a);
    for (guint i = 0; i < n; i++)
      texts[1 + i] = fab_grid_axis_value (spec->grid, a, i);
    axes[a] = (FabSweepAxisRecord){ texts[0], (const char *const *) texts + 1 };
    g_ptr_array_add (kept, texts);
  }
  return fab_store_open_sweep (self->store, &record, &self->outcome->sweep_id, error);
}

/* Marks the points that the file already has. */
static gboolean
look_back (Sweep *self, GError **error)
{
  fab_store_has_changed (self->store);
  if (!look_at_file (self, error))
    return FALSE;
  self->outcome->n_there = self->outcome->n_foreign;
  self->outcome->n_foreign = 0;
  return TRUE;
}

static gboolean
play_and_keep (Sweep *self, GError **error)
{
  gboolean is_good = play_all (self, error) && (!self->outcome->is_cancelled || say_farewell (self, error))
                  && keep_pending (self, error);

  if (is_good)
    show_progress (self);
  sweep_pool_free (self->pool);
  return is_good;
}

gboolean
fab_sweep_run (const FabSweepSpec *spec, FabStore *store, FabSweepOutcome *outcome, GError **error)
{
  gint64 n = spec->grid->n_points;
  Sweep self = { .spec = spec, .store = store, .outcome = outcome, .n_left = n };
  gboolean is_good;

  *outcome = (FabSweepOutcome){ .n_points = n };
  self.began_us = g_get_monotonic_time ();
  self.marks = g_malloc0 ((gsize) n);
  self.pending = g_ptr_array_new_with_free_func (free_record);
  if (spec->ranks != NULL)
    self.ranks = fab_sweep_ranks_new (spec->ranks, spec->plan->fingerprint, spec->note, spec->data);
  is_good = begin (&self, error) && look_back (&self, error);
  if (is_good) {
    self.pool = sweep_pool_new (spec->study, spec->grid, spec->n_threads);
    is_good = play_and_keep (&self, error);
  }
  if (self.ranks != NULL)
    fab_sweep_ranks_end (self.ranks);
  g_ptr_array_unref (self.pending);
  g_free (self.marks);
  return is_good;
}

/* The side of the other ranks: simulate what rank 0 assigns, report it, ask for more. */

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
    sweep_pool_give (self->pool, points, (guint) n);
    self->has_asked = FALSE;
  }
}

static void
report (Help *self)
{
  FabRanks *ranks = self->spec->ranks;
  guint32 n_wanted = self->pool != NULL ? sweep_pool_wants (self->pool) : 0;
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
play_until_end (Help *self, GError **error)
{
  FabRanks *ranks = self->spec->ranks;
  guint from;

  while (!self->has_ended && g_get_monotonic_time () - self->heard_us < SILENCE_US
         && !is_cancelled (self->spec)) {
    while (ranks->receive (ranks, &from, self->message))
      hear_message (self);
    if (self->pool != NULL)
      sweep_pool_take (self->pool, LOOK_US, self->played);
    else
      g_usleep (LOOK_US);
    if (self->pool != NULL && !sweep_pool_check (self->pool, error))
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
  self.pool = problem == NULL ? sweep_pool_new (spec->study, spec->grid, spec->n_threads) : NULL;
  say_hello (&self, problem);
  gboolean is_good = play_until_end (&self, error);
  ranks->send (ranks, 0, &bye, sizeof bye);
  ranks->leave (ranks, self.has_ended && self.is_whole);
  sweep_pool_free (self.pool);
  g_ptr_array_unref (self.played);
  g_byte_array_unref (self.message);
  return is_good;
}

void
fab_sweep_dismiss (FabRanks *ranks)
{
  fab_sweep_ranks_end (fab_sweep_ranks_new (ranks, "", NULL, NULL));
}

/* Number of points that are read to check that a sweep is possible. */
enum { MOST_SAMPLES = 32 };

void
fab_sweep_plan_free (FabSweepPlan *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_free (self->summary);
  g_free (self->scenario_yaml);
  g_free (self->fingerprint);
  g_free (self);
}

static FabScenario *
load_point (const FabStudy *study, const FabGrid *grid, gint64 point, GError **error)
{
  g_autoptr (FabEdits) edits = fab_grid_edits (grid, point);

  return fab_study_scenario (study, edits, error);
}

/* Loads the first point, or when it cannot be read, the first readable one of several all over the grid. */
static FabScenario *
load_any_point (const FabStudy *study, const FabGrid *grid, GError **error)
{
  gint64 n = MIN (grid->n_points, MOST_SAMPLES);
  FabScenario *scenario = load_point (study, grid, 0, error);

  for (gint64 i = 1; i < n && scenario == NULL; i++) {
    scenario = load_point (study, grid, i * (grid->n_points - 1) / (n - 1), NULL);
    if (scenario != NULL)
      g_clear_error (error);
  }
  return scenario;
}

/* Loads the scenario without the keys that vary; when it is incomplete without them, one of its points. */
static FabScenario *
load_head (const FabStudy *study, const FabGrid *grid)
{
  FabScenario *scenario = fab_study_scenario (study, NULL, NULL);

  return scenario != NULL ? scenario : load_any_point (study, grid, NULL);
}

/* --- fingerprint --- */

/* Adds the terminating NUL too, so that the next text cannot be confused with this one. */
static void
add_text (GChecksum *sum, const char *text)
{
  g_checksum_update (sum, (const guchar *) text, (gssize) strlen (text) + 1);
}

/* A value that is not a number may name a file, so this adds what it stands for. */
static void
add_meaning (GChecksum *sum, const FabStudy *study, const char *key, const char *value)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();
  const char *unit;
  double number;

  if (fab_axis_split_number (value, &number, &unit))
    return;
  fab_edits_vary (edits, key, value);
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, edits, NULL);
  g_autofree char *text = scenario != NULL ? fab_scenario_resolved (scenario) : g_strdup ("");
  add_text (sum, text);
}

static void
add_axis (GChecksum *sum, const FabStudy *study, const FabAxis *axis)
{
  add_text (sum, axis->key);
  for (guint i = 0; i < axis->values->len; i++) {
    add_text (sum, g_ptr_array_index (axis->values, i));
    add_meaning (sum, study, axis->key, g_ptr_array_index (axis->values, i));
  }
}

static char *
fingerprint_of (const FabSweepPlan *self, const FabStudy *study, const FabGrid *grid, const char *version)
{
  GChecksum *sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *catalog = fab_catalog_write (study->catalog);
  g_autofree char *program = g_strdup_printf ("%s %u %d", version, study->n_seeds, (gint) study->hold);
  char *fingerprint;

  add_text (sum, program);
  add_text (sum, catalog);
  add_text (sum, self->scenario_yaml);
  for (guint a = 0; a < grid->axes->len; a++) {
    const FabGridAxis *axis = g_ptr_array_index (grid->axes, a);

    for (guint k = 0; k < axis->keys->len; k++)
      add_axis (sum, study, g_ptr_array_index (axis->keys, k));
    add_text (sum, "");
  }
  fingerprint = g_strdup (g_checksum_get_string (sum));
  g_checksum_free (sum);
  return fingerprint;
}

/* --- plan --- */

FabSweepPlan *
fab_sweep_plan_new (const FabStudy *study, const FabGrid *grid, const char *version, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (FabScenario) alone = fab_study_scenario (study, NULL, &problem);
  g_autoptr (FabScenario) point = load_any_point (study, grid, error);

  if (point == NULL) { /* the problem is in a file, not in the keys that vary */
    if (alone == NULL && error != NULL) {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&problem));
    }
    return NULL;
  }
  FabSweepPlan *self = g_new0 (FabSweepPlan, 1);
  const FabScenario *head = alone != NULL ? alone : point;
  self->name = g_strdup (fab_scenario_spec (head)->name);
  self->summary = g_strdup (fab_scenario_spec (head)->summary);
  self->scenario_yaml = fab_scenario_resolved (head);
  self->fingerprint = fingerprint_of (self, study, grid, version);
  return self;
}

gboolean
fab_sweep_plan_holds (const FabSweepPlan *self, const FabStudy *study, const FabGrid *grid)
{
  g_autoptr (FabStudy) now = fab_study_again (study, NULL);
  g_autoptr (FabScenario) head = now != NULL ? load_head (now, grid) : NULL;
  g_autofree char *text = head != NULL ? fab_scenario_resolved (head) : NULL;

  return g_strcmp0 (text, self->scenario_yaml) == 0;
}
