/* SPDX-License-Identifier: Apache-2.0 */
/* test_thread_pool.c - every item is worked on once, by as many threads as were asked for, and all of them have ended
 * when the pool says so.
 */
#include "tests/support/test.h"

#include <locale.h>

#include "sim/base/thread_pool.h"

enum { MOST = 1000 };

static void
count (gpointer data, guint item)
{
  ((guint *) data)[item]++;
}

static void
each_item_comes_once (G_GNUC_UNUSED void **state)
{
  static const guint threads[] = { 1, 2, 7, 100000, 0 };
  static const guint sizes[] = { 0, 1, 2, MOST };

  for (guint t = 0; t < G_N_ELEMENTS (threads); t++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      guint counts[MOST + 1] = { 0 };

      fab_thread_pool_run (threads[t], sizes[s], count, counts);
      for (guint i = 0; i <= MOST; i++)
        assert_int_equal (counts[i], i < sizes[s]);
    }
}

static void
pools_have_a_size (G_GNUC_UNUSED void **state)
{
  assert_int_equal (fab_thread_pool_size (1), 1);
  assert_int_equal (fab_thread_pool_size (2), 2);
  assert_int_equal (fab_thread_pool_size (256), 256);
  assert_int_equal (fab_thread_pool_size (257), 256);
  assert_int_equal (fab_thread_pool_size (0), MIN (g_get_num_processors (), 256));
}

/* --- a pool whose items wait for each other --- */

typedef struct {
  GMutex mutex;
  GCond cond;
  guint n, n_here; /* items, and how many of them have begun */
  GThread *caller;
  locale_t locale;
  guint n_elsewhere, n_alike; /* on other threads than the caller's; with its locale */
} Meeting;

static gint n_left; /* threads that have ended; atomic */

static void
note_end (G_GNUC_UNUSED gpointer data)
{
  g_atomic_int_inc (&n_left);
}

static GPrivate private_end = G_PRIVATE_INIT (note_end);

/* Returns when all items have begun, so that each has a thread of its own. */
static void
meet (gpointer data, G_GNUC_UNUSED guint item)
{
  Meeting *self = data;

  g_mutex_lock (&self->mutex);
  if (g_thread_self () != self->caller) {
    g_private_set (&private_end, self);
    self->n_elsewhere++;
  }
  self->n_alike += uselocale ((locale_t) 0) == self->locale;
  if (++self->n_here == self->n)
    g_cond_broadcast (&self->cond);
  while (self->n_here < self->n)
    g_cond_wait (&self->cond, &self->mutex);
  g_mutex_unlock (&self->mutex);
}

/* As many as there are items, of which the caller's thread is one; all but this have ended afterwards. They write
 * numbers as the caller does. */
static void
items_run_at_once_on_threads_that_end (G_GNUC_UNUSED void **state)
{
  locale_t own = newlocale (LC_ALL_MASK, "C", (locale_t) 0), before = uselocale (own);

  for (guint n = 1; n <= 8; n++) {
    Meeting meeting = { .n = n, .caller = g_thread_self (), .locale = own };

    g_mutex_init (&meeting.mutex);
    g_cond_init (&meeting.cond);
    g_atomic_int_set (&n_left, 0);
    fab_thread_pool_run (8, n, meet, &meeting);
    assert_int_equal (g_atomic_int_get (&n_left), n - 1);
    assert_int_equal (meeting.n_elsewhere, n - 1);
    assert_int_equal (meeting.n_alike, n);
    g_mutex_clear (&meeting.mutex);
    g_cond_clear (&meeting.cond);
  }
  uselocale (before);
  freelocale (own);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_item_comes_once),
    cmocka_unit_test (pools_have_a_size),
    cmocka_unit_test (items_run_at_once_on_threads_that_end),
  };

  return cmocka_run_group_tests_name ("thread_pool", tests, NULL, NULL);
}
