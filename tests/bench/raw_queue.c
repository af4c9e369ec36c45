/* SPDX-License-Identifier: Apache-2.0 */
/* raw_queue.c - a 4-ary heap and a radix heap (R. Ahuja, K. Mehlhorn, J. Orlin, R. Tarjan, J. ACM 37(2), 1990). */
#include "tests/bench/raw_queue.h"

#include "tests/bench/bench.h"

enum { ARITY = 4, N_BITS = 65 };

gint64
raw_first_time (const gint64 *steps, guint n_steps, guint i)
{
  return steps[(i * 7919u) & (n_steps - 1)] + steps[(i / n_steps) & (n_steps - 1)] / 8;
}

typedef struct {
  RawEvent *events;
  guint n;
} Heap;

static inline void
heap_push (Heap *heap, RawEvent event)
{
  guint hole = heap->n++;

  while (hole > 0 && event.time < heap->events[(hole - 1) / ARITY].time) {
    heap->events[hole] = heap->events[(hole - 1) / ARITY];
    hole = (hole - 1) / ARITY;
  }
  heap->events[hole] = event;
}

static inline RawEvent
heap_pop (Heap *heap)
{
  RawEvent first = heap->events[0], last = heap->events[--heap->n];
  guint hole = 0;

  for (;;) {
    guint child = hole * ARITY + 1, least = child, end = MIN (child + ARITY, heap->n);

    if (child >= heap->n)
      break;
    for (child++; child < end; child++)
      if (heap->events[child].time < heap->events[least].time)
        least = child;
    if (heap->events[least].time >= last.time)
      break;
    heap->events[hole] = heap->events[least];
    hole = least;
  }
  heap->events[hole] = last;
  return first;
}

double
raw_hold_heap (const gint64 *steps, guint n_steps, guint n, guint n_holds)
{
  Heap heap = { g_new (RawEvent, n + 1), 0 };
  double since_s;

  for (guint i = 0; i < n; i++)
    heap_push (&heap, (RawEvent){ raw_first_time (steps, n_steps, i), i });
  since_s = bench_now_s ();
  for (guint i = 0; i < n_holds; i++) {
    RawEvent event = heap_pop (&heap);

    heap_push (&heap, (RawEvent){ event.time + steps[i & (n_steps - 1)], event.payload });
  }
  since_s = bench_now_s () - since_s;
  g_free (heap.events);
  return since_s;
}

/* Bucket b holds what differs from the last time in bit b - 1 first; bucket 0 what equals it. */
typedef struct {
  RawEvent *buckets[N_BITS];
  guint n[N_BITS], capacity[N_BITS];
  gint64 last;
} Radix;

static inline void
radix_push (Radix *radix, RawEvent event)
{
  guint64 differing = (guint64) (event.time ^ radix->last);
  guint b = differing ? 64 - (guint) __builtin_clzll (differing) : 0;

  if (radix->n[b] == radix->capacity[b]) {
    radix->capacity[b] = MAX (16, 2 * radix->capacity[b]);
    radix->buckets[b] = g_renew (RawEvent, radix->buckets[b], radix->capacity[b]);
  }
  radix->buckets[b][radix->n[b]++] = event;
}

static inline RawEvent
radix_pop (Radix *radix)
{
  guint b = 0, n;

  if (radix->n[0] > 0)
    return radix->buckets[0][--radix->n[0]];
  while (radix->n[b] == 0)
    b++;
  n = radix->n[b];
  radix->n[b] = 0;
  radix->last = radix->buckets[b][0].time;
  for (guint i = 1; i < n; i++)
    radix->last = MIN (radix->last, radix->buckets[b][i].time);
  for (guint i = 0; i < n; i++)
    radix_push (radix, radix->buckets[b][i]);
  return radix->buckets[0][--radix->n[0]];
}

double
raw_hold_radix (const gint64 *steps, guint n_steps, guint n, guint n_holds)
{
  Radix radix = { 0 };
  double since_s;

  for (guint i = 0; i < n; i++)
    radix_push (&radix, (RawEvent){ raw_first_time (steps, n_steps, i), i });
  since_s = bench_now_s ();
  for (guint i = 0; i < n_holds; i++) {
    RawEvent event = radix_pop (&radix);

    radix_push (&radix, (RawEvent){ event.time + steps[i & (n_steps - 1)], event.payload });
  }
  since_s = bench_now_s () - since_s;
  for (guint b = 0; b < N_BITS; b++)
    g_free (radix.buckets[b]);
  return since_s;
}
