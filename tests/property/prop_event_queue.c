/* SPDX-License-Identifier: Apache-2.0 */
/* prop_event_queue.c - random pushes, cancels, delays and pops against an array in which the first is searched for.
 *
 * As an engine does, it never pushes into the past. Steps are of every magnitude, with many ties.
 */
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
  FabTimePs now_ps; /* of what was popped last */
  guint span_bits;  /* of the longest step */
} Model;

/* Few distinct values, so that most are ties, each at home in another part of the number. */
static FabTimePs
random_step (Model *self)
{
  guint shift = random_below (self->random, self->span_bits);

  return random_chance (self->random, 20) ? 0 : (FabTimePs) random_below (self->random, 4) << shift;
}

/* Every third event belongs to the model, which delays its own now and then. */
static gboolean
is_own (guint64 number)
{
  return number % 3 == 0;
}

static void
delay (Model *self)
{
  gconstpointer owner = self;
  FabTimePs by_ps = random_step (self), first_of_others_ps = FAB_TIME_MAX;

  fab_event_queue_delay (self->queue, &owner, 1, by_ps);
  for (guint i = 0; i < self->live->len; i++) {
    Known *known = &g_array_index (self->live, Known, i);

    if (is_own (known->number))
      known->time_ps += by_ps;
    else
      first_of_others_ps = MIN (first_of_others_ps, known->time_ps);
  }
  assert_true (fab_event_queue_first_of_others_ps (self->queue, &owner, 1) == first_of_others_ps);
}

static void
push_at (Model *self, FabTimePs time_ps)
{
  Known known = { time_ps, 0, self->n_pushed++ };

  known.timer = fab_event_queue_push (self->queue, known.time_ps,
                                      (FabEvent){ .owner = is_own (known.number) ? self : NULL,
                                                  .arg = known.number });
  assert_true (known.timer != 0);
  g_array_append_val (self->live, known);
}

static void
push (Model *self)
{
  push_at (self, self->now_ps + random_step (self));
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
  FabTimePs earliest_ps = fab_event_queue_earliest_ps (self->queue);
  FabTimePs first_ps = fab_event_queue_first_ps (self->queue);
  gboolean is_popped = fab_event_queue_pop (self->queue, &time_ps, &event);

  assert_int_equal (is_popped, self->live->len > 0);
  if (!is_popped) {
    assert_true (first_ps == FAB_TIME_MAX);
    return;
  }
  guint first = find_first (self->live);
  Known known = g_array_index (self->live, Known, first);
  assert_true (time_ps == known.time_ps);
  assert_true (earliest_ps <= time_ps);
  assert_true (first_ps == time_ps);
  assert_true (event.arg == known.number);
  self->now_ps = time_ps;
  g_array_append_val (self->gone, known.timer);
  g_array_remove_index (self->live, first);
}

static void
play_mix (Model *model, guint n, guint n_pushes, guint n_cancels)
{
  for (guint i = 0; i < n; i++) {
    guint what = random_below (model->random, 100);

    if (random_chance (model->random, 2))
      delay (model);
    if (what < n_pushes)
      push (model);
    else if (what < n_pushes + n_cancels)
      cancel (model);
    else
      pop (model);
    assert_int_equal (fab_event_queue_length (model->queue), model->live->len);
    if (i % 8 == 0)
      fab_event_queue_check (model->queue);
  }
  fab_event_queue_check (model->queue);
}

/* Every seed has its own mix, so that some queues grow to hundreds and some are mostly cancelled; all run empty, and
 * are used again. */
static void
play (Random *random)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  g_autoptr (GArray) live = g_array_new (FALSE, FALSE, sizeof (Known));
  g_autoptr (GArray) gone = g_array_new (FALSE, FALSE, sizeof (FabTimer));
  Model model = { random, queue, live, gone, 0, 0, random_between (random, 1, 50) };

  for (guint round = 0; round < 2; round++) {
    play_mix (&model, 600, random_between (random, 30, 60), random_between (random, 5, 40));
    while (live->len > 0)
      pop (&model);
    pop (&model);
  }
}

/* 3000 events at first, more than are sorted at once, most of them within one bucket; the rest is as above. */
static void
play_crowd (Random *random)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  g_autoptr (GArray) live = g_array_new (FALSE, FALSE, sizeof (Known));
  g_autoptr (GArray) gone = g_array_new (FALSE, FALSE, sizeof (FabTimer));
  Model model = { random, queue, live, gone, 0, 0, random_between (random, 8, 40) };

  for (guint i = 0; i < 3000; i++)
    push_at (&model, random_below (random, 1u << random_between (random, 1, 31)));
  play_mix (&model, 1000, random_between (random, 10, 45), random_between (random, 0, 40));
  while (live->len > 0)
    pop (&model);
}

/* The queue sorts the few events that are next, which share the upper bits of their times. Then over a thousand come
 * that share them too, some of them while others are taken out. */
static void
play_flood (Random *random)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  g_autoptr (GArray) live = g_array_new (FALSE, FALSE, sizeof (Known));
  g_autoptr (GArray) gone = g_array_new (FALSE, FALSE, sizeof (FabTimer));
  guint bits = random_between (random, 9, 40);
  Model model = { random, queue, live, gone, 0, 0, bits };
  FabTimePs begin_ps = (FabTimePs) 1 << bits;

  for (guint i = 0; i < 20; i++)
    push_at (&model, begin_ps + random_below (random, 2));
  pop (&model);
  for (guint i = 0; i < 1200; i++) {
    FabTimePs room_ps = 2 * begin_ps - model.now_ps;

    push_at (&model, model.now_ps + (FabTimePs) (random_unit (random) * (double) room_ps));
    if (i % 100 == 0)
      fab_event_queue_check (queue);
    if (random_chance (random, 5))
      pop (&model);
  }
  fab_event_queue_check (queue);
  while (live->len > 0)
    pop (&model);
}

static void
the_queue_is_a_sorted_array (G_GNUC_UNUSED void **state)
{
  seeds_run (500, play);
}

static void
so_is_a_crowded_one (G_GNUC_UNUSED void **state)
{
  seeds_run (20, play_crowd);
}

static void
so_is_one_whose_next_part_is_flooded (G_GNUC_UNUSED void **state)
{
  seeds_run (20, play_flood);
}

int
main (void)
{
  const struct CMUnitTest tests[] = { seeds_test (the_queue_is_a_sorted_array),
                                      seeds_test (so_is_a_crowded_one),
                                      seeds_test (so_is_one_whose_next_part_is_flooded) };

  return cmocka_run_group_tests_name ("event_queue", tests, NULL, NULL);
}
