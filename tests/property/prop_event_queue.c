/* SPDX-License-Identifier: Apache-2.0 */
/* prop_event_queue.c - random pushes, cancels and pops against an array in which the first is searched for. */
#include "tests/support/test.h"

#include "sim/base/event_queue.h"
#include "tests/support/seeds.h"

typedef struct {
  FabTimePs time_ps;
  FabTimer timer;
  guint64 number; /* in order of pushing */
} Known;

typedef struct {
  Random *random;
  FabEventQueue *queue;
  GArray *live; /* Known */
  GArray *gone; /* FabTimer: popped or cancelled */
  guint64 n_pushed;
} Model;

static void
push (Model *self)
{
  /* Few distinct times, so that most are ties. */
  Known known = { random_below (self->random, 20), 0, self->n_pushed++ };

  known.timer = fab_event_queue_push (self->queue, known.time_ps, (FabEvent){ .arg = known.number });
  assert_true (known.timer != 0);
  g_array_append_val (self->live, known);
}

static void
cancel (Model *self)
{
  if (self->gone->len > 0 && random_chance (self->random, 20)) {
    guint index = random_below (self->random, self->gone->len);

    assert_false (fab_event_queue_cancel (self->queue, g_array_index (self->gone, FabTimer, index)));
    return;
  }
  if (self->live->len == 0)
    return;
  guint index = random_below (self->random, self->live->len);
  FabTimer timer = g_array_index (self->live, Known, index).timer;
  assert_true (fab_event_queue_cancel (self->queue, timer));
  g_array_append_val (self->gone, timer);
  g_array_remove_index (self->live, index);
}

static guint
find_first (const GArray *live)
{
  guint first = 0;

  for (guint i = 1; i < live->len; i++) {
    const Known *a = &g_array_index (live, Known, i), *b = &g_array_index (live, Known, first);

    if (a->time_ps < b->time_ps || (a->time_ps == b->time_ps && a->number < b->number))
      first = i;
  }
  return first;
}

static void
pop (Model *self)
{
  FabTimePs time_ps = -1;
  FabEvent event = { 0 };
  gboolean is_popped = fab_event_queue_pop (self->queue, &time_ps, &event);

  assert_int_equal (is_popped, self->live->len > 0);
  if (!is_popped)
    return;
  guint first = find_first (self->live);
  Known known = g_array_index (self->live, Known, first);
  assert_int_equal (time_ps, known.time_ps);
  assert_int_equal (event.arg, known.number);
  g_array_append_val (self->gone, known.timer);
  g_array_remove_index (self->live, first);
}

/* Every seed has its own mix, so that some queues grow to hundreds and some are mostly cancelled. */
static void
play (Random *random)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  g_autoptr (GArray) live = g_array_new (FALSE, FALSE, sizeof (Known));
  g_autoptr (GArray) gone = g_array_new (FALSE, FALSE, sizeof (FabTimer));
  Model model = { random, queue, live, gone, 0 };
  guint n_pushes = random_between (random, 30, 60), n_cancels = random_between (random, 5, 40);

  for (guint i = 0; i < 600; i++) {
    guint what = random_below (random, 100);

    if (what < n_pushes)
      push (&model);
    else if (what < n_pushes + n_cancels)
      cancel (&model);
    else
      pop (&model);
    assert_int_equal (fab_event_queue_length (queue), live->len);
    fab_event_queue_check (queue);
  }
  while (live->len > 0)
    pop (&model);
  pop (&model);
}

static void
the_queue_is_a_sorted_array (G_GNUC_UNUSED void **state)
{
  seeds_run (500, play);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (the_queue_is_a_sorted_array) };

  return cmocka_run_group_tests_name ("event_queue", tests, NULL, NULL);
}
