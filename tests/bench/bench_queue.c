/* SPDX-License-Identifier: Apache-2.0 */
/* bench_queue.c - the hold model: the first of n pending events is taken and put in again, later.
 *
 * Played by the engine, whose callback asks to be called again after the next step, and by bare queues of
 * 16-byte events (raw_queue.h): what the machine can do. All see the same times.
 */
#include "sim/engine/engine.h"
#include "tests/bench/bench.h"
#include "tests/bench/raw_queue.h"
#include "tests/support/random.h"

enum { N_STEPS = 1 << 16, N_HOLDS = 1000000 };

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

typedef struct {
  FabEngine *engine;
  const FabTimePs *steps;
  guint n_holds, n_done;
} Hold;

static void
hold (gpointer owner, guint64 arg)
{
  Hold *self = owner;

  if (self->n_done == self->n_holds)
    fab_engine_stop (self->engine);
  fab_engine_after (self->engine, self->steps[self->n_done++ & (N_STEPS - 1)], hold, self, arg);
}

static double
hold_engine (const gint64 *steps, guint n_steps, guint n, guint n_holds)
{
  g_autoptr (FabEngine) engine = fab_engine_new ();
  Hold self = { engine, steps, n_holds, 0 };
  double since_s;

  for (guint i = 0; i < n; i++)
    fab_engine_at (engine, raw_first_time (steps, n_steps, i), hold, &self, i);
  since_s = bench_now_s ();
  fab_engine_run (engine);
  return bench_now_s () - since_s;
}

typedef struct {
  const FabTimePs *steps;
  guint n_pending;
  double heap, radix, ladder; /* events per second, of the last repetition */
} Queues;

static BenchSample
hold_all (gpointer data)
{
  Queues *self = data;
  double engine = N_HOLDS / hold_engine (self->steps, N_STEPS, self->n_pending, N_HOLDS);

  self->heap = N_HOLDS / raw_hold_heap (self->steps, N_STEPS, self->n_pending, N_HOLDS);
  self->radix = N_HOLDS / raw_hold_radix (self->steps, N_STEPS, self->n_pending, N_HOLDS);
  self->ladder = N_HOLDS / raw_hold_ladder (self->steps, N_STEPS, self->n_pending, N_HOLDS);
  return (BenchSample){ engine, MAX (self->heap, MAX (self->radix, self->ladder)) };
}

static char *
describe (gpointer data)
{
  const Queues *self = data;

  return g_strdup_printf ("the last time: 4-ary heap %.1f, radix heap %.1f, ladder %.1f M events/s",
                          self->heap / 1e6, self->radix / 1e6, self->ladder / 1e6);
}

void
bench_queue (Bench *bench)
{
  static const guint sizes[] = { 1000, 100000, 1000000, 10000000 };
  g_autofree FabTimePs *steps = make_steps ();

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree char *work = g_strdup_printf ("engine, hold model, %u events pending", sizes[i]);
    Queues queues = { .steps = steps, .n_pending = sizes[i] };
    BenchRow row = { .work = work, .things = "events", .limit = "best bare queue", .once = hold_all };

    bench_measure (bench, &row, describe, &queues);
  }
}
