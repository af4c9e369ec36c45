/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/crew.h"

typedef struct {
  guint n;
  gint next; /* the next item to take; atomic */
  FabCrewFn work;
  gpointer data;
} Crew;

static gpointer
take_items (gpointer data)
{
  Crew *self = data;

  for (;;) {
    guint item = (guint) g_atomic_int_add (&self->next, 1);

    if (item >= self->n)
      return NULL;
    self->work (self->data, item);
  }
}

guint
fab_crew_size (void)
{
  const char *wanted = g_getenv ("FABRICAST_THREADS");
  guint64 n_threads = wanted != NULL ? g_ascii_strtoull (wanted, NULL, 10) : g_get_num_processors ();

  return (guint) CLAMP (n_threads, 1, FAB_CREW_MOST_THREADS);
}

void
fab_crew_run (guint n, FabCrewFn work, gpointer data)
{
  Crew self = { n, 0, work, data };
  guint n_threads = MIN (fab_crew_size (), MAX (n, 1));
  g_autofree GThread **others = g_new (GThread *, n_threads);

  g_assert (n < G_MAXINT - FAB_CREW_MOST_THREADS);
  for (guint i = 1; i < n_threads; i++)
    others[i] = g_thread_new ("crew", take_items, &self);
  take_items (&self);
  for (guint i = 1; i < n_threads; i++)
    g_thread_join (others[i]);
}
