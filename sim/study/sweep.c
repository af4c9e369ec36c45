/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/sweep.h"

#include <unistd.h>

#include "sim/base/error.h"
#include "sim/study/sweep_pool.h"
#include "sim/study/sweep_ranks.h"

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
  guint n = fab_sweep_pool_wants (self->pool);
  g_autofree gint64 *points = g_new (gint64, n);

  fab_sweep_pool_give (self->pool, points, give (self, points, n));
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
    note (self, "another process plays the same sweep into this file; they share its points");
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
        "%s, or a file that it includes, was changed meanwhile; the points that were kept are those of "
        "the old one, and the same command begins a sweep of the new one",
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

  fab_sweep_pool_take (self->pool, nap_us, self->pending);
  if (!fab_sweep_pool_check (self->pool, error))
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
  return fab_sweep_pool_is_idle (self->pool)
      && (self->ranks == NULL || fab_sweep_ranks_are_idle (self->ranks));
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

  fab_sweep_pool_stop (self->pool);
  while (!fab_sweep_pool_is_idle (self->pool) && g_get_monotonic_time () < until_us)
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

  fab_sweep_pool_free (self->pool);
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
    self.pool = fab_sweep_pool_new (spec->study, spec->grid, spec->n_threads);
    is_good = play_and_keep (&self, error);
  }
  if (self.ranks != NULL)
    fab_sweep_ranks_end (self.ranks);
  g_ptr_array_unref (self.pending);
  g_free (self.marks);
  return is_good;
}
