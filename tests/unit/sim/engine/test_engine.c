/* SPDX-License-Identifier: Apache-2.0 */
/* test_engine.c - the clock calls what it was asked to, at its time, until there is no more or it is stopped. */
#include "tests/support/test.h"

#include "sim/engine/engine.h"

typedef struct {
  FabEngine *engine;
  FabTimer other;
  GString *log; /* "time:arg " of every call */
} Recorder;

static Recorder *
recorder_new (void)
{
  Recorder *self = g_new0 (Recorder, 1);

  self->engine = fab_engine_new ();
  self->log = g_string_new (NULL);
  return self;
}

static void
recorder_free (Recorder *self)
{
  fab_engine_free (self->engine);
  g_string_free (self->log, TRUE);
  g_free (self);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Recorder, recorder_free)

static void
note (gpointer owner, guint64 arg)
{
  Recorder *self = owner;

  g_string_append_printf (self->log, "%d:%d ", (int) fab_engine_now (self->engine), (int) arg);
}

static void
note_and_repeat (gpointer owner, guint64 arg)
{
  Recorder *self = owner;

  note (owner, arg);
  if (arg > 0)
    fab_engine_after (self->engine, 10, note_and_repeat, self, arg - 1);
}

static void
note_and_stop (gpointer owner, guint64 arg)
{
  note (owner, arg);
  fab_engine_stop (((Recorder *) owner)->engine);
}

static void
cancel_other (gpointer owner, guint64 arg)
{
  Recorder *self = owner;

  note (owner, arg);
  assert_true (fab_engine_cancel (self->engine, self->other));
}

static void
time_is_that_of_the_event (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 20, note, self, 2);
  fab_engine_at (self->engine, 10, note, self, 1);
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "10:1 20:2 ");
  assert_int_equal (fab_engine_now (self->engine), 20);
  assert_int_equal (fab_engine_events (self->engine), 2);
}

static void
a_callback_can_ask_for_more (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_after (self->engine, 5, note_and_repeat, self, 3);
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "5:3 15:2 25:1 35:0 ");
}

/* What is asked for "now" runs after what already waits for this time. */
static void
now_means_after_what_waits (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 0, note, self, 1);
  fab_engine_after (self->engine, 0, note, self, 2);
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "0:1 0:2 ");
}

static void
stopping_leaves_the_rest_for_the_next_run (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 1, note_and_stop, self, 1);
  fab_engine_at (self->engine, 1, note, self, 2);
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "1:1 ");
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "1:1 1:2 ");
}

static void
a_cancelled_call_is_not_made (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 1, cancel_other, self, 1);
  self->other = fab_engine_at (self->engine, 2, note, self, 2);
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "1:1 ");
  assert_false (fab_engine_cancel (self->engine, self->other));
}

static void
two_engines_know_nothing_of_each_other (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) a = recorder_new ();
  g_autoptr (Recorder) b = recorder_new ();

  fab_engine_at (a->engine, 7, note, a, 1);
  fab_engine_at (b->engine, 3, note, b, 1);
  fab_engine_run (a->engine);
  assert_int_equal (fab_engine_now (b->engine), 0);
  fab_engine_run (b->engine);
  assert_string_equal (a->log->str, "7:1 ");
  assert_string_equal (b->log->str, "3:1 ");
}

/* Events up to the time itself are handled, and the clock stands there afterwards, from where one can go on. */
static void
it_can_run_until_a_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  for (guint i = 1; i <= 3; i++)
    fab_engine_at (self->engine, 10 * i, note, self, i);
  fab_engine_run_until (self->engine, 5);
  assert_string_equal (self->log->str, "");
  assert_int_equal (fab_engine_now (self->engine), 5);
  fab_engine_at (self->engine, 7, note, self, 9);
  fab_engine_run_until (self->engine, 20);
  assert_string_equal (self->log->str, "7:9 10:1 20:2 ");
  assert_int_equal (fab_engine_now (self->engine), 20);
  fab_engine_run_until (self->engine, 1000);
  assert_string_equal (self->log->str, "7:9 10:1 20:2 30:3 ");
  assert_int_equal (fab_engine_now (self->engine), 1000);
}

/* The clock stays where the callback stopped it. */
static void
a_stop_ends_a_run_until_a_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 1, note_and_stop, self, 1);
  fab_engine_run_until (self->engine, 100);
  assert_int_equal (fab_engine_now (self->engine), 1);
}

static void
it_knows_what_comes_next (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();
  FabTimer first;

  assert_true (fab_engine_next_ps (self->engine) == FAB_TIME_NEVER);
  first = fab_engine_at (self->engine, 3000, note, self, 1);
  fab_engine_at (self->engine, 3001, note, self, 2);
  assert_int_equal (fab_engine_next_ps (self->engine), 3000);
  assert_true (fab_engine_cancel (self->engine, first));
  assert_int_equal (fab_engine_next_ps (self->engine), 3001);
  fab_engine_run (self->engine);
  assert_true (fab_engine_next_ps (self->engine) == FAB_TIME_NEVER);
}

static void
repeat_for_ever (gpointer owner, guint64 arg)
{
  Recorder *self = owner;

  if (fab_engine_events (self->engine) == 10)
    g_atomic_int_set ((gint *) GSIZE_TO_POINTER (arg), 1);
  fab_engine_after (self->engine, 1, repeat_for_ever, self, arg);
}

/* What would run for ever ends at the first look after the flag was set, and does not go on. */
static void
it_can_be_cancelled (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();
  gint cancel = 0;

  fab_engine_set_cancel (self->engine, &cancel);
  fab_engine_after (self->engine, 1, repeat_for_ever, self, GPOINTER_TO_SIZE (&cancel));
  assert_false (fab_engine_is_cancelled (self->engine));
  fab_engine_run (self->engine);
  assert_true (fab_engine_is_cancelled (self->engine));
  assert_int_equal (fab_engine_events (self->engine), FAB_ENGINE_EVENTS_PER_LOOK);
  fab_engine_run (self->engine);
  assert_int_equal (fab_engine_events (self->engine), FAB_ENGINE_EVENTS_PER_LOOK);
}

/* The engine stops at the first look after so many events, and does not go on. */
static void
it_ends_after_so_many_events (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();
  gint never = 0;

  fab_engine_set_most_events (self->engine, FAB_ENGINE_EVENTS_PER_LOOK + 1);
  fab_engine_after (self->engine, 1, repeat_for_ever, self, GPOINTER_TO_SIZE (&never));
  fab_engine_run (self->engine);
  assert_true (fab_engine_is_cancelled (self->engine));
  assert_int_equal (fab_engine_events (self->engine), 2 * FAB_ENGINE_EVENTS_PER_LOOK);
  fab_engine_run (self->engine);
  assert_int_equal (fab_engine_events (self->engine), 2 * FAB_ENGINE_EVENTS_PER_LOOK);
}

/* A queue of the callback's own, without an end. */
static void
advance_for_ever (gpointer owner, guint64 step_ps)
{
  Recorder *self = owner;

  while (fab_engine_advance (self->engine, fab_engine_now (self->engine) + (FabTimePs) step_ps)) {}
}

static void
so_can_who_keeps_a_queue_of_its_own (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();
  gint cancel = 0;

  fab_engine_set_cancel (self->engine, &cancel);
  fab_engine_at (self->engine, 0, advance_for_ever, self, 3);
  fab_engine_run_until (self->engine, 100);
  assert_int_equal (fab_engine_events (self->engine), 1 + 33);
  cancel = 1;
  fab_engine_at (self->engine, 100, advance_for_ever, self, 1);
  fab_engine_run (self->engine);
  assert_int_equal (fab_engine_events (self->engine), FAB_ENGINE_EVENTS_PER_LOOK);
}

/* Asks to move to time 10, where another event waits, and to the time before it. */
static void
advance_to_another (gpointer owner, guint64 arg)
{
  Recorder *self = owner;

  note (owner, arg);
  assert_false (fab_engine_advance (self->engine, 10));
  assert_true (fab_engine_advance (self->engine, 9));
  note (owner, arg + 1);
}

/* Events of one time keep the order in which they were asked for. So a model that moves the clock by itself may not
 * move to a time at which somebody else's event waits. */
static void
nobody_advances_past_an_event_of_the_same_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 10, note, self, 3);
  fab_engine_at (self->engine, 0, advance_to_another, self, 1);
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "0:1 9:2 10:3 ");
}

static void
fail_twice (gpointer owner, guint64 arg)
{
  Recorder *self = owner;

  note (owner, arg);
  fab_engine_fail (self->engine, "link %u carried too much", 7u);
  fab_engine_fail (self->engine, "and so did link %u", 8u);
}

/* The first reason is kept, and nothing is called any more. */
static void
it_can_fail (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 1, fail_twice, self, 1);
  fab_engine_at (self->engine, 1, note, self, 2);
  assert_null (fab_engine_failure (self->engine));
  fab_engine_run (self->engine);
  assert_string_equal (fab_engine_failure (self->engine), "link 7 carried too much");
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "1:1 ");
}

/* --- what goes on beside it --- */

/* A clock beside the engine that has something to tell at some times. */
typedef struct {
  Recorder *recorder;
  const FabTimePs *times;
  guint n, next;
  gboolean stops; /* it stops the engine in place of playing on */
} Beside;

static FabTimePs
beside_advance (gpointer owner, FabTimePs until_ps)
{
  const Beside *self = owner;

  if (self->stops)
    fab_engine_stop (self->recorder->engine);
  return self->next < self->n && self->times[self->next] <= until_ps ? self->times[self->next]
                                                                     : FAB_TIME_NEVER;
}

static void
beside_tell (gpointer owner)
{
  Beside *self = owner;

  self->next++;
  note (self->recorder, 0);
}

static const FabTimePs told_at_ps[] = { 5, 10, 25 };

/* Tells at 5, 10 and 25 beside events at 10 and 20. */
static Beside
beside (Recorder *recorder)
{
  fab_engine_at (recorder->engine, 10, note, recorder, 1);
  fab_engine_at (recorder->engine, 20, note, recorder, 2);
  return (Beside){ recorder, told_at_ps, G_N_ELEMENTS (told_at_ps), 0, FALSE };
}

/* Of the same time the companion comes first, and it goes on when the engine has no event any more. */
static void
a_companion_tells_before_events_of_its_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();
  Beside one = beside (self);

  fab_engine_set_companion (self->engine, &(FabCompanion){ beside_advance, beside_tell, &one });
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "5:0 10:0 10:1 20:2 25:0 ");
  assert_int_equal (fab_engine_events (self->engine), 5);
  assert_int_equal (fab_engine_now (self->engine), 25);
  assert_false (fab_engine_is_stopped (self->engine));
}

static void
a_companion_goes_no_further_than_the_run (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();
  Beside one = beside (self);
  static const struct {
    FabTimePs until_ps;
    const char *log;
  } rows[] = { { 4, "" },
               { 5, "5:0 " },
               { 10, "5:0 10:0 10:1 " },
               { 24, "5:0 10:0 10:1 20:2 " },
               { 30, "5:0 10:0 10:1 20:2 25:0 " } };

  fab_engine_set_companion (self->engine, &(FabCompanion){ beside_advance, beside_tell, &one });
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    fab_engine_run_until (self->engine, rows[i].until_ps);
    assert_string_equal (self->log->str, rows[i].log);
    assert_int_equal (fab_engine_now (self->engine), rows[i].until_ps);
  }
}

/* The clock then stays where it is, and what the companion would tell is not asked for. */
static void
a_companion_can_stop_the_engine (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();
  Beside one = beside (self);

  one.stops = TRUE;
  fab_engine_set_companion (self->engine, &(FabCompanion){ beside_advance, beside_tell, &one });
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "");
  assert_true (fab_engine_is_stopped (self->engine));
  assert_int_equal (fab_engine_now (self->engine), 0);
  one.stops = FALSE;
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "5:0 10:0 10:1 20:2 25:0 ");
}

/* A round of a companion may take long, so flags and limits are looked at after each. */
static void
an_engine_with_a_companion_looks_around_each_time (G_GNUC_UNUSED void **state)
{
  static const char *const logs[] = { "5:0 10:0 10:1 20:2 25:0 ", "5:0 ", "5:0 10:0 ", "5:0 10:0 10:1 " };

  for (guint most = 0; most < G_N_ELEMENTS (logs); most++) { /* 0: no limit */
    g_autoptr (Recorder) self = recorder_new ();
    Beside one = beside (self);

    fab_engine_set_most_events (self->engine, most);
    fab_engine_set_companion (self->engine, &(FabCompanion){ beside_advance, beside_tell, &one });
    fab_engine_run (self->engine);
    assert_int_equal (fab_engine_is_cancelled (self->engine), most > 0);
    assert_string_equal (self->log->str, logs[most]);
  }
}

/* In whole microseconds, as far as the number goes: 2147 s. Nothing comes after the last look. */
static void
a_pulse_shows_the_clock (G_GNUC_UNUSED void **state)
{
  const FabTimePs us = FAB_PS_PER_S / G_USEC_PER_SEC;
  const struct {
    FabTimePs at_ps;
    gint now_us;
  } rows[] = { { 0, 0 },
               { us - 1, 0 },
               { us, 1 },
               { 7 * us + 5, 7 },
               { 2147 * FAB_PS_PER_S, 2147000000 },
               { 2148 * FAB_PS_PER_S, G_MAXINT },
               { 3000000 * FAB_PS_PER_S, G_MAXINT } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Recorder) self = recorder_new ();
    Beside one = { self, NULL, 0, 0, FALSE };
    FabPulse pulse = { 0 };

    fab_engine_set_companion (self->engine, &(FabCompanion){ beside_advance, beside_tell, &one });
    fab_engine_set_pulse (self->engine, &pulse);
    fab_engine_at (self->engine, rows[i].at_ps, note, self, 1);
    fab_engine_run (self->engine);
    assert_int_equal (pulse.now_us, rows[i].now_us);
  }
}

static void
a_flag_can_be_shared (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new (), other = recorder_new ();
  const gint cancel = 1;

  fab_engine_set_cancel (self->engine, &cancel);
  fab_engine_share_cancel (other->engine, self->engine);
  fab_engine_at (other->engine, 1, note, other, 1);
  fab_engine_run (other->engine);
  assert_true (fab_engine_is_cancelled (other->engine));
  assert_string_equal (other->log->str, "");
}

/* --- what repeats --- */

static void
ask_and_delay (gpointer owner, guint64 arg)
{
  Recorder *self = owner;
  const gconstpointer own[] = { self };

  note (owner, arg);
  assert_int_equal (fab_engine_first_of_others_ps (self->engine, own, 1), 40);
  assert_int_equal (fab_engine_next_of_others_ps (self->engine, own, 1), 35);
  assert_int_equal (fab_engine_first_of_others_ps (self->engine, own, 0), 20);
  assert_int_equal (fab_engine_next_of_others_ps (self->engine, own, 0), 20);
  fab_engine_delay (self->engine, own, 1, 7);
}

/* Of two owners: one's event at 20 is moved to 27, and the other's at 40 is the first of others, beyond the run's end
 * at 35. */
static void
events_of_an_owner_can_be_delayed (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new (), other = recorder_new ();

  fab_engine_at (self->engine, 10, ask_and_delay, self, 1);
  fab_engine_at (self->engine, 20, note, self, 2);
  fab_engine_at (self->engine, 40, note, other, 3);
  fab_engine_run_until (self->engine, 35);
  assert_string_equal (self->log->str, "10:1 27:2 ");
  assert_int_equal (fab_engine_next_ps (self->engine), 40);
}

static void
what_is_cleared_does_not_come (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 10, note, self, 1);
  fab_engine_clear (self->engine);
  assert_true (fab_engine_next_ps (self->engine) == FAB_TIME_NEVER);
  fab_engine_at (self->engine, 5, note, self, 2);
  fab_engine_run (self->engine);
  assert_string_equal (self->log->str, "5:2 ");
}

static void
stop_and_advance (gpointer owner, guint64 arg)
{
  Recorder *self = owner;

  note (owner, arg);
  assert_true (fab_engine_advance (self->engine, 3));
  assert_false (fab_engine_advance (self->engine, 101)); /* beyond the run */
  assert_true (fab_engine_advance (self->engine, 100));
  fab_engine_stop (self->engine);
  assert_false (fab_engine_advance (self->engine, 100));
}

/* It goes to the end of the run and not beyond it, and nowhere once the engine was stopped. */
static void
who_keeps_a_queue_stops_with_the_engine (G_GNUC_UNUSED void **state)
{
  g_autoptr (Recorder) self = recorder_new ();

  fab_engine_at (self->engine, 1, stop_and_advance, self, 1);
  fab_engine_run_until (self->engine, 100);
  assert_int_equal (fab_engine_events (self->engine), 3);
  assert_int_equal (fab_engine_now (self->engine), 100);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (time_is_that_of_the_event),
    cmocka_unit_test (a_callback_can_ask_for_more),
    cmocka_unit_test (now_means_after_what_waits),
    cmocka_unit_test (stopping_leaves_the_rest_for_the_next_run),
    cmocka_unit_test (a_cancelled_call_is_not_made),
    cmocka_unit_test (two_engines_know_nothing_of_each_other),
    cmocka_unit_test (it_can_run_until_a_time),
    cmocka_unit_test (a_stop_ends_a_run_until_a_time),
    cmocka_unit_test (it_knows_what_comes_next),
    cmocka_unit_test (it_can_be_cancelled),
    cmocka_unit_test (it_ends_after_so_many_events),
    cmocka_unit_test (so_can_who_keeps_a_queue_of_its_own),
    cmocka_unit_test (nobody_advances_past_an_event_of_the_same_time),
    cmocka_unit_test (it_can_fail),
    cmocka_unit_test (a_companion_tells_before_events_of_its_time),
    cmocka_unit_test (a_companion_goes_no_further_than_the_run),
    cmocka_unit_test (a_companion_can_stop_the_engine),
    cmocka_unit_test (an_engine_with_a_companion_looks_around_each_time),
    cmocka_unit_test (a_pulse_shows_the_clock),
    cmocka_unit_test (a_flag_can_be_shared),
    cmocka_unit_test (events_of_an_owner_can_be_delayed),
    cmocka_unit_test (what_is_cleared_does_not_come),
    cmocka_unit_test (who_keeps_a_queue_stops_with_the_engine),
  };

  return cmocka_run_group_tests_name ("engine", tests, NULL, NULL);
}
