/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/thread_pool.h"

#include <locale.h>

typedef struct {
  guint n;
  gint next; /* the next item to take; atomic */
  FabThreadPoolFn work;
  gpointer data;
  locale_t locale; /* of the calling thread, so that numbers are written alike on all of them */
} ThreadPool;

static gpointer
take_items (gpointer data)
{
  ThreadPool *self = data;

  for (;;) {
    guint item = (guint) g_atomic_int_add (&self->next, 1);

    if (item >= self->n)
      return NULL;
    self->work (self->data, item);
  }
}

static gpointer
help (gpointer data)
{
  const ThreadPool *self = data;

  uselocale (self->locale);
  return take_items (data);
}

guint
fab_thread_pool_size (guint n_threads)
{
  return CLAMP (n_threads > 0 ? n_threads : g_get_num_processors (), 1, FAB_THREAD_POOL_MOST_THREADS);
}

void
fab_thread_pool_run (guint n_threads, guint n, FabThreadPoolFn work, gpointer data)
{
  ThreadPool self = { n, 0, work, data, uselocale ((locale_t) 0) };
  guint n_working = MIN (fab_thread_pool_size (n_threads), n);
  g_autofree GThread **others = g_new (GThread *, n_working);

  g_assert (n < G_MAXINT - FAB_THREAD_POOL_MOST_THREADS);
  for (guint i = 1; i < n_working; i++)
    others[i] = g_thread_new ("pool", help, &self);
  take_items (&self);
  for (guint i = 1; i < n_working; i++)
    g_thread_join (others[i]);
}
