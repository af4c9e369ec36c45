/* SPDX-License-Identifier: Apache-2.0 */
/* test_request_queue.c - who waits at the desk of `fabricast explore`, who is sent away, and who is answered. */
#include "cli/explore/request_queue.h"

#include "tests/support/test.h"

enum { MOST = 16 };

/* A worker that works only while its gate is open. */
typedef struct {
  GMutex lock;
  GCond is_open_changed;
  gboolean is_open;
  int fates[MOST]; /* of each asker; -1: not yet */
  guint n_answers;
} Office;

static char *
work (gpointer data, gconstpointer question)
{
  Office *office = data;

  g_mutex_lock (&office->lock);
  while (!office->is_open)
    g_cond_wait (&office->is_open_changed, &office->lock);
  g_mutex_unlock (&office->lock);
  return g_strdup_printf ("answer %u", GPOINTER_TO_UINT (question));
}

static void
on_answer (gpointer asker, gpointer question, FabRequestQueueFate fate, const char *answer)
{
  Office *office = asker;
  g_autofree char *expected = g_strdup_printf ("answer %u", GPOINTER_TO_UINT (question));

  if (fate == FAB_REQUEST_QUEUE_DONE)
    assert_string_equal (answer, expected);
  else
    assert_null (answer);
  assert_int_equal (office->fates[GPOINTER_TO_UINT (question)], -1); /* once */
  office->fates[GPOINTER_TO_UINT (question)] = (int) fate;
  office->n_answers++;
}

static void
office_init (Office *office)
{
  *office = (Office){ 0 };
  g_mutex_init (&office->lock);
  g_cond_init (&office->is_open_changed);
  for (guint i = 0; i < MOST; i++)
    office->fates[i] = -1;
}

static void
open_gate (Office *office)
{
  g_mutex_lock (&office->lock);
  office->is_open = TRUE;
  g_cond_broadcast (&office->is_open_changed);
  g_mutex_unlock (&office->lock);
}

static FabRequestQueue *
request_queue_of (Office *office, guint n_workers, guint n_in_line)
{
  return fab_request_queue_new (&(FabRequestQueueRules){ n_workers, n_in_line, work, office, on_answer });
}

static void
ask (FabRequestQueue *request_queue, Office *office, const char *client, guint question)
{
  fab_request_queue_ask (request_queue, client, office, GUINT_TO_POINTER (question));
}

static void
wait_for (Office *office, guint n_answers)
{
  while (office->n_answers < n_answers)
    g_main_context_iteration (NULL, TRUE);
}

static gboolean
on_idle (G_GNUC_UNUSED gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* An answer does not wait until nothing else is to be done. */
static void
test_answers_come_before_idle_work (G_GNUC_UNUSED void **state)
{
  Office office;
  gint64 end_us = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;
  guint idle = g_idle_add_full (G_PRIORITY_HIGH_IDLE, on_idle, NULL, NULL);

  office_init (&office);
  g_autoptr (FabRequestQueue) request_queue = request_queue_of (&office, 1, 1);
  open_gate (&office);
  ask (request_queue, &office, NULL, 0);
  while (office.n_answers < 1 && g_get_monotonic_time () < end_us)
    g_main_context_iteration (NULL, TRUE);
  g_source_remove (idle);
  assert_int_equal (office.n_answers, 1);
  g_clear_pointer (&request_queue, fab_request_queue_free);
}

/* One is worked for, two are in line; the fourth is sent away at once. */
static void
test_full (G_GNUC_UNUSED void **state)
{
  Office office;

  office_init (&office);
  g_autoptr (FabRequestQueue) request_queue = request_queue_of (&office, 1, 2);
  for (guint i = 0; i < 4; i++)
    ask (request_queue, &office, NULL, i);
  assert_int_equal (fab_request_queue_n_waiting (request_queue), 3);
  assert_int_equal (office.fates[3], FAB_REQUEST_QUEUE_FULL);
  assert_int_equal (office.n_answers, 1);
  open_gate (&office);
  wait_for (&office, 4);
  for (guint i = 0; i < 3; i++)
    assert_int_equal (office.fates[i], FAB_REQUEST_QUEUE_DONE);
  assert_int_equal (fab_request_queue_n_waiting (request_queue), 0);
}

/* Of one client only the newest waits; it has the place of the one before it, others keep theirs. */
static void
test_newest_wins (G_GNUC_UNUSED void **state)
{
  Office office;

  office_init (&office);
  g_autoptr (FabRequestQueue) request_queue = request_queue_of (&office, 1, 2);
  ask (request_queue, &office, "a", 0); /* is worked for: not taken away */
  ask (request_queue, &office, "a", 1);
  ask (request_queue, &office, "b", 2);
  ask (request_queue, &office, "a", 3);
  ask (request_queue, &office, "a", 4);
  assert_int_equal (office.fates[1], FAB_REQUEST_QUEUE_SUPERSEDED);
  assert_int_equal (office.fates[3], FAB_REQUEST_QUEUE_SUPERSEDED);
  assert_int_equal (fab_request_queue_n_waiting (request_queue), 3);
  open_gate (&office);
  wait_for (&office, 5);
  assert_int_equal (office.fates[0], FAB_REQUEST_QUEUE_DONE);
  assert_int_equal (office.fates[2], FAB_REQUEST_QUEUE_DONE);
  assert_int_equal (office.fates[4], FAB_REQUEST_QUEUE_DONE);
}

/* Who is worked for is waited for; who is in line is sent away. */
static void
test_closing (G_GNUC_UNUSED void **state)
{
  Office office;
  FabRequestQueue *request_queue;

  office_init (&office);
  request_queue = request_queue_of (&office, 2, 8);
  for (guint i = 0; i < 5; i++)
    ask (request_queue, &office, NULL, i);
  open_gate (&office);
  fab_request_queue_free (request_queue);
  assert_int_equal (office.n_answers, 5);
  assert_int_equal (office.fates[0], FAB_REQUEST_QUEUE_DONE);
  assert_int_equal (office.fates[1], FAB_REQUEST_QUEUE_DONE);
  for (guint i = 2; i < 5; i++)
    assert_int_equal (office.fates[i], FAB_REQUEST_QUEUE_FULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_answers_come_before_idle_work),
    cmocka_unit_test (test_full),
    cmocka_unit_test (test_newest_wins),
    cmocka_unit_test (test_closing),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
