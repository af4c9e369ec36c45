/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/sweep_pool.h"

#include "sim/base/error.h"

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
next_point (FabSweepPool *self)
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
  while ((point = next_point (self)) != NULL) {
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

static void
free_record (gpointer record)
{
  fab_sweep_record_free (record);
}

FabSweepPool *
fab_sweep_pool_new (const FabStudy *study, const FabGrid *grid, guint n_threads)
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

void
fab_sweep_pool_stop (FabSweepPool *self)
{
  g_mutex_lock (&self->lock);
  g_queue_clear_full (&self->waiting, g_free);
  g_mutex_unlock (&self->lock);
}

void
fab_sweep_pool_free (FabSweepPool *self)
{
  if (self == NULL)
    return;
  fab_sweep_pool_stop (self);
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

void
fab_sweep_pool_give (FabSweepPool *self, const gint64 *points, guint n)
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

guint
fab_sweep_pool_wants (FabSweepPool *self)
{
  guint n_waiting, n_stock;

  g_mutex_lock (&self->lock);
  n_waiting = g_queue_get_length (&self->waiting);
  n_stock = stock (self);
  g_mutex_unlock (&self->lock);
  return n_waiting > n_stock / 2 ? 0 : n_stock - n_waiting;
}

void
fab_sweep_pool_take (FabSweepPool *self, gint64 wait_us, GPtrArray *played)
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

gboolean
fab_sweep_pool_check (FabSweepPool *self, GError **error)
{
  gboolean is_whole;

  g_mutex_lock (&self->lock);
  is_whole = self->broken == NULL;
  if (!is_whole)
    g_propagate_error (error, g_error_copy (self->broken));
  g_mutex_unlock (&self->lock);
  return is_whole;
}

gboolean
fab_sweep_pool_is_idle (FabSweepPool *self)
{
  gboolean is_idle;

  g_mutex_lock (&self->lock);
  is_idle = self->n_busy == 0 && g_queue_is_empty (&self->waiting) && self->played->len == 0;
  g_mutex_unlock (&self->lock);
  return is_idle;
}
