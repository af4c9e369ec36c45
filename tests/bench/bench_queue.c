/* SPDX-License-Identifier: Apache-2.0 */
/* bench_queue.c - the hold model: the first of n pending events is taken and a later one is put in.
 *
 * Beside the event queue stands a bare 4-ary heap of (time, sequence) pairs, without slots to cancel by, owners or
 * checks: as fast as such a heap gets. Both see the same times.
 */
#include "sim/base/event_queue.h"
#include "tests/bench/bench.h"
#include "tests/support/random.h"

enum { N_STEPS = 1 << 16, N_HOLDS = 1000000, N_ROUNDS = 3, ARITY = 4 };

typedef struct {
  gint64 time;
  guint64 sequence;
} Key;

typedef struct {
  Key *keys;
  guint n;
  guint64 sequence;
} Heap;

static gboolean
is_before (Key a, Key b)
{
  return a.time < b.time || (a.time == b.time && a.sequence < b.sequence);
}

static void
heap_push (Heap *heap, gint64 time)
{
  Key key = { time, heap->sequence++ };
  guint hole = heap->n++;

  while (hole > 0 && is_before (key, heap->keys[(hole - 1) / ARITY])) {
    heap->keys[hole] = heap->keys[(hole - 1) / ARITY];
    hole = (hole - 1) / ARITY;
  }
  heap->keys[hole] = key;
}

static gint64
heap_pop (Heap *heap)
{
  Key first = heap->keys[0], last = heap->keys[--heap->n];
  guint hole = 0;

  for (;;) {
    guint child = hole * ARITY + 1, least = child, end = MIN (child + ARITY, heap->n);

    if (child >= heap->n)
      break;
    for (child++; child < end; child++)
      if (is_before (heap->keys[child], heap->keys[least]))
        least = child;
    if (!is_before (heap->keys[least], last))
      break;
    heap->keys[hole] = heap->keys[least];
    hole = least;
  }
  heap->keys[hole] = last;
  return first.time;
}

/* Exponential steps: the usual choice for hold models. */
static FabTimePs *
make_steps (void)
{
  Random random = { 1 };
  FabTimePs *steps = g_new (FabTimePs, N_STEPS);

  for (guint i = 0; i < N_STEPS; i++)
    steps[i] = (FabTimePs) (-1e9 * log (1 - random_unit (&random)));
  return steps;
}

static double
hold_heap (const FabTimePs *steps, guint n_pending)
{
  Heap heap = { g_new (Key, n_pending + 1), 0, 0 };
  double since_s;

  for (guint i = 0; i < n_pending; i++)
    heap_push (&heap, steps[i % N_STEPS] * (1 + i / N_STEPS));
  since_s = bench_now_s ();
  for (guint i = 0; i < N_HOLDS; i++)
    heap_push (&heap, heap_pop (&heap) + steps[i % N_STEPS]);
  since_s = bench_now_s () - since_s;
  g_free (heap.keys);
  return since_s;
}

static void
nothing (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 arg)
{
}

static double
hold_queue (const FabTimePs *steps, guint n_pending)
{
  g_autoptr (FabEventQueue) queue = fab_event_queue_new ();
  FabEvent event = { nothing, NULL, 0 };
  FabTimePs time_ps;
  double since_s;

  for (guint i = 0; i < n_pending; i++)
    fab_event_queue_push (queue, steps[i % N_STEPS] * (1 + i / N_STEPS), event);
  since_s = bench_now_s ();
  for (guint i = 0; i < N_HOLDS; i++) {
    fab_event_queue_pop (queue, &time_ps, &event);
    event.fn (event.owner, event.arg);
    fab_event_queue_push (queue, time_ps + steps[i % N_STEPS], event);
  }
  return bench_now_s () - since_s;
}

void
bench_queue (void)
{
  static const guint sizes[] = { 1000, 100000, 1000000 };
  g_autofree FabTimePs *steps = make_steps ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *what = g_strdup_printf ("event queue, %u pending", sizes[i]);
    double queue_s = G_MAXDOUBLE, heap_s = G_MAXDOUBLE;

    for (guint round = 0; round < N_ROUNDS; round++) {
      queue_s = MIN (queue_s, hold_queue (steps, sizes[i]));
      heap_s = MIN (heap_s, hold_heap (steps, sizes[i]));
    }
    bench_row (what, N_HOLDS / queue_s / 1e6, "M events/s", "bare 4-ary heap %.2f", N_HOLDS / heap_s / 1e6);
  }
}
