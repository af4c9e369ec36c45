/* SPDX-License-Identifier: Apache-2.0 */
/* test_event_queue.c - order, ties, cancelling. Random sequences: tests/property/prop_event_queue.c. */
#include "tests/support/test.h"

#include "sim/base/event_queue.h"
#include "tests/support/aborts.h"

static FabTimer
push (FabEventQueue *queue, FabTimePs time_ps, guint64 arg)
{
  return fab_event_queue_push (queue, time_ps, (FabEvent){ .arg = arg });
}

static void
assert_pops (FabEventQueue *queue, FabTimePs time_ps, guint64 arg)
{
  FabTimePs popped_ps;
  FabEvent event;

  assert_true (fab_event_queue_pop (queue, &popped_ps, &event));
  assert_int_equal (popped_ps, time_ps);
  assert_int_equal (event.arg, arg);
  fab_event_queue_check (queue);
}

static void
events_come_out_by_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();

  push (queue, 30, 3);
  push (queue, 10, 1);
  push (queue, 20, 2);
  assert_int_equal (fab_event_queue_length (queue), 3);
  assert_pops (queue, 10, 1);
  assert_pops (queue, 20, 2);
  assert_pops (queue, 30, 3);
  assert_false (fab_event_queue_pop (queue, &(FabTimePs){ 0 }, &(FabEvent){ 0 }));
}

/* 100 at one time: more than are sorted at once, so that each step on the way has to keep their order. */
static void
ties_come_out_in_the_order_they_went_in (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();

  for (guint i = 0; i < 100; i++)
    push (queue, 5, i);
  for (guint i = 0; i < 100; i++)
    assert_pops (queue, 5, i);
}

static void
a_cancelled_event_never_comes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  FabTimer first = push (queue, 1, 1);

  push (queue, 2, 2);
  assert_true (fab_event_queue_cancel (queue, first));
  assert_int_equal (fab_event_queue_length (queue), 1);
  assert_pops (queue, 2, 2);
  assert_int_equal (fab_event_queue_length (queue), 0);
}

static void
a_timer_is_good_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  FabTimer cancelled = push (queue, 1, 1), popped = push (queue, 2, 2);

  assert_true (fab_event_queue_cancel (queue, cancelled));
  assert_false (fab_event_queue_cancel (queue, cancelled));
  assert_pops (queue, 2, 2);
  assert_false (fab_event_queue_cancel (queue, popped));
  assert_false (fab_event_queue_cancel (queue, 0));
}

/* The slot of the popped event is used again at once; its old timer must not reach the new event. */
static void
an_old_timer_does_not_cancel_the_slots_next_event (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  FabTimer old = push (queue, 1, 1);

  assert_pops (queue, 1, 1);
  push (queue, 2, 2);
  assert_false (fab_event_queue_cancel (queue, old));
  assert_pops (queue, 2, 2);
}

/* 1000 events, of which 900 are cancelled: past 32, and half of all, they are taken out. */
static void
taking_them_out_keeps_the_rest_in_order (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  FabTimer timers[1000];

  for (guint i = 0; i < 1000; i++)
    timers[i] = push (queue, 1000 - i, i);
  for (guint i = 0; i < 1000; i++)
    if (i % 10 != 0)
      assert_true (fab_event_queue_cancel (queue, timers[i]));
  fab_event_queue_check (queue);
  assert_int_equal (fab_event_queue_length (queue), 100);
  for (guint i = 990; i > 0; i -= 10)
    assert_pops (queue, 1000 - i, i);
  assert_pops (queue, 1000, 0);
}

/* The queue has no clock but what it popped: after that no event may be earlier, or buckets would be wrong. */
static void
push_into_the_past (void)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();

  push (queue, 10, 1);
  fab_event_queue_pop (queue, &(FabTimePs){ 0 }, &(FabEvent){ 0 });
  push (queue, 9, 2);
}

static void
nothing_goes_into_the_past (G_GNUC_UNUSED void **state)
{
  assert_true (aborts (push_into_the_past));
}

/* What was cancelled and is never reached must not leave the queue ahead of the time: 5 comes after 2. */
static void
a_queue_that_ran_empty_takes_what_is_soon (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();

  push (queue, 2, 1);
  fab_event_queue_cancel (queue, push (queue, 1000000, 2));
  assert_pops (queue, 2, 1);
  assert_false (fab_event_queue_pop (queue, &(FabTimePs){ 0 }, &(FabEvent){ 0 }));
  push (queue, 5, 3);
  assert_pops (queue, 5, 3);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (events_come_out_by_time),
    cmocka_unit_test (ties_come_out_in_the_order_they_went_in),
    cmocka_unit_test (a_cancelled_event_never_comes),
    cmocka_unit_test (a_timer_is_good_once),
    cmocka_unit_test (an_old_timer_does_not_cancel_the_slots_next_event),
    cmocka_unit_test (taking_them_out_keeps_the_rest_in_order),
    cmocka_unit_test (nothing_goes_into_the_past),
    cmocka_unit_test (a_queue_that_ran_empty_takes_what_is_soon),
  };

  return cmocka_run_group_tests_name ("event_queue", tests, NULL, NULL);
}
