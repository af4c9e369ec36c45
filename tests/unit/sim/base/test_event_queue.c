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
assert_pops_unchecked (FabEventQueue *queue, FabTimePs time_ps, guint64 arg)
{
  FabTimePs popped_ps;
  FabEvent event;

  assert_true (fab_event_queue_pop (queue, &popped_ps, &event));
  assert_int_equal (popped_ps, time_ps);
  assert_int_equal (event.arg, arg);
}

static void
assert_pops (FabEventQueue *queue, FabTimePs time_ps, guint64 arg)
{
  assert_pops_unchecked (queue, time_ps, arg);
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

/* Few, and more than fit in a chunk, than are sorted by insertion, than are sorted at all, and than are fetched. */
static const guint numbers[] = { 1, 2, 15, 16, 17, 128, 129, 256, 257, 258, 1000, 1001, 1016, 3000 };

/* At each distance from now, whose bytes say where the queue keeps them. One more comes when the first has gone. */
static void
ties_come_out_in_the_order_they_went_in (G_GNUC_UNUSED void **state)
{
  for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
    for (FabTimePs time_ps = 5; time_ps < FAB_TIME_MAX / 256; time_ps *= 256) {
      g_autoptr (FabEventQueue) queue = fab_event_queue_new ();

      for (guint i = 0; i < numbers[k]; i++)
        push (queue, time_ps, i);
      assert_pops (queue, time_ps, 0);
      push (queue, time_ps, numbers[k]);
      for (guint i = 1; i <= numbers[k]; i++)
        assert_pops_unchecked (queue, time_ps, i);
      fab_event_queue_check (queue);
    }
}

/* Events of the present time, of which there is no earlier one: as many as these, when the queue is new and when it has
 * run empty at 7. */
static void
what_is_due_now_comes_in_the_order_it_went_in (G_GNUC_UNUSED void **state)
{
  for (guint k = 0; k < G_N_ELEMENTS (numbers); k++) {
    g_autoptr (FabEventQueue) queue = fab_event_queue_new ();

    for (FabTimePs now_ps = 0; now_ps <= 7; now_ps += 7) {
      for (guint i = 0; i < numbers[k]; i++)
        push (queue, now_ps, i);
      fab_event_queue_check (queue);
      for (guint i = 0; i < numbers[k]; i++)
        assert_pops_unchecked (queue, now_ps, i);
      assert_false (fab_event_queue_pop (queue, &(FabTimePs){ 0 }, &(FabEvent){ 0 }));
      push (queue, 7, 0);
      assert_pops (queue, 7, 0);
    }
  }
}

/* The last goes in first, and each later one is a step earlier: as many as these, in steps of every size. */
static void
a_queue_that_was_filled_backwards_comes_out_forwards (G_GNUC_UNUSED void **state)
{
  for (guint k = 0; k < G_N_ELEMENTS (numbers); k++)
    for (guint bits = 0; bits < 40; bits += 3) {
      g_autoptr (FabEventQueue) queue = fab_event_queue_new ();

      for (guint i = numbers[k]; i > 0; i--)
        push (queue, (FabTimePs) i << bits, i);
      fab_event_queue_check (queue);
      for (guint i = 1; i <= numbers[k]; i++)
        assert_pops_unchecked (queue, (FabTimePs) i << bits, i);
      fab_event_queue_check (queue);
    }
}

/* A part of the queue begins where all bytes below its own are zero; an event that is next is known itself. */
static void
the_bound_of_the_first_is_near_it (G_GNUC_UNUSED void **state)
{
  for (FabTimePs time_ps = 5; time_ps < FAB_TIME_MAX / 256; time_ps *= 256) {
    g_autoptr (FabEventQueue) queue = fab_event_queue_new ();

    assert_true (fab_event_queue_earliest_ps (queue) == FAB_TIME_MAX);
    push (queue, time_ps, 0);
    push (queue, time_ps + time_ps / 32, 1);
    assert_true (fab_event_queue_earliest_ps (queue) == time_ps);
    assert_pops (queue, time_ps, 0);
    assert_true (fab_event_queue_earliest_ps (queue) == time_ps + time_ps / 32);
    assert_pops (queue, time_ps + time_ps / 32, 1);
    assert_true (fab_event_queue_earliest_ps (queue) == FAB_TIME_MAX);
  }
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

/* A queue that never had an event knows no timer, and cancels nothing of another one. */
static void
a_timer_is_that_of_its_queue (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new (), other = fab_event_queue_new ();
  FabTimer timer = push (queue, 1, 1);

  assert_false (fab_event_queue_cancel (other, timer));
  assert_pops (queue, 1, 1);
  assert_int_equal (fab_event_queue_length (other), 0);
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
    cmocka_unit_test (what_is_due_now_comes_in_the_order_it_went_in),
    cmocka_unit_test (a_queue_that_was_filled_backwards_comes_out_forwards),
    cmocka_unit_test (the_bound_of_the_first_is_near_it),
    cmocka_unit_test (a_cancelled_event_never_comes),
    cmocka_unit_test (a_timer_is_good_once),
    cmocka_unit_test (a_timer_is_that_of_its_queue),
    cmocka_unit_test (an_old_timer_does_not_cancel_the_slots_next_event),
    cmocka_unit_test (taking_them_out_keeps_the_rest_in_order),
    cmocka_unit_test (nothing_goes_into_the_past),
    cmocka_unit_test (a_queue_that_ran_empty_takes_what_is_soon),
  };

  return cmocka_run_group_tests_name ("event_queue", tests, NULL, NULL);
}
