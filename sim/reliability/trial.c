/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - a job is in one of four states:
 *
 *   RUNNING   computes and copies checkpoints; all classes may happen
 *   DOWN      detection and restart; a failure that stops the job starts them again
 *   PLANNED   checkpoint and restart that somebody asked for; nothing happens meanwhile
 *   WAITING   no spare is left, until a node comes back; nothing happens meanwhile
 *
 * A checkpoint needs no event: from the time since the job last began to compute follows which ones are complete. Speed
 * changes when a part becomes slow or is found; `segments` keeps when, so that the work up to any checkpoint is known.
 *
 * The engine's clock ends after 106 days, so that a second of the job is a millisecond of the clock: 290 years.
 */
#include "sim/reliability/trial.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/mix.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"
#include "sim/engine/engine.h"

typedef enum { RUNNING, DOWN, PLANNED, WAITING } State;

/* The speed from a time since the job last began to compute. */
typedef struct {
  double from_s, speed;
} Segment;

typedef struct {
  const FabReliability *rules;
  double interval_s, cycle_s, work_s;
  double stops_per_s, planned_per_s;
  FabEngine *engine;
  guint64 seed, n_drawn;
  State state;
  double state_s;      /* when the state began */
  double done_s;       /* useful work that is saved */
  GArray *segments;    /* Segment, of the present run */
  guint *n_slow;       /* per class: parts that are slow now */
  guint n_broken;      /* nodes away */
  FabTimer next, stop; /* next event of the state; the end of the job */
  FabFailureTrial trial;
} Life;

static const double clock_per_s = 1e-3;

/* How the present state ends: the work of a run that somebody stopped, or that is done, is kept. */
typedef enum { LOSES, KEEPS } Ending;

static void enter (Life *self, State state, Ending ending);
static void schedule (Life *self);

static double
draw (Life *self)
{
  const double unit = 1.0 / 9007199254740992.0; /* 2^-53 */

  return ((double) (fab_mix (self->seed, self->n_drawn++) >> 11) + 0.5) * unit;
}

static double
draw_exponential (Life *self, double mean_s)
{
  return -log (draw (self)) * mean_s;
}

static double
now (const Life *self)
{
  return fab_ps_to_seconds (fab_engine_now (self->engine)) / clock_per_s;
}

static FabTimer
after (Life *self, double delay_s, FabEventFn fn, guint64 arg)
{
  FabTimePs left_ps = FAB_TIME_MAX - 1 - fab_engine_now (self->engine);

  return fab_engine_after (self->engine, MIN (left_ps, fab_seconds_to_ps (delay_s * clock_per_s)), fn, self,
                           arg);
}

/* --- work --- */

/* Computing time of the first `run_s` seconds of a run, without the copies of checkpoints. */
static double
computed (const Life *self, double run_s)
{
  if (!isfinite (self->cycle_s))
    return run_s;
  double n = floor (run_s / self->cycle_s);
  return n * self->interval_s + fmin (run_s - n * self->cycle_s, self->interval_s);
}

/* Work of the first `run_s` seconds of a run, with the speeds that it had. */
static double
worked (const Life *self, double run_s)
{
  double work_s = 0;

  for (guint i = 0; i < self->segments->len; i++) {
    const Segment *segment = &g_array_index (self->segments, Segment, i);
    double until_s = i + 1 < self->segments->len ? segment[1].from_s : run_s;

    if (segment->from_s >= run_s)
      break;
    work_s += (computed (self, fmin (until_s, run_s)) - computed (self, segment->from_s)) * segment->speed;
  }
  return work_s;
}

/* The seconds of the run up to the last checkpoint that is complete, its copying included. */
static double
saved (const Life *self, double run_s)
{
  if (!isfinite (self->cycle_s) || run_s < self->cycle_s + self->rules->background_s)
    return 0;
  return floor ((run_s - self->rules->background_s) / self->cycle_s) * self->cycle_s;
}

static double
speed_now (const Life *self)
{
  double worst = 0, speed = 1;

  for (guint i = 0; i < self->rules->n_rates; i++)
    if (self->n_slow[i] > 0)
      worst = fmax (worst, self->rules->rates[i].slowdown);
  if (isfinite (self->cycle_s))
    speed = fab_goodput_writing_speed (self->rules, self->cycle_s);
  return speed / (1 + worst);
}

/* --- events --- */

static void
end_job (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Life *self = owner;

  enter (self, PLANNED, KEEPS);
  fab_engine_stop (self->engine);
}

/* Foretells when the job ends if nothing happens; the copies of checkpoints on the way are counted. */
static void
foretell_end (Life *self)
{
  double run_s = now (self) - self->state_s;
  double left_s = (self->work_s - self->done_s - worked (self, run_s)) / speed_now (self);
  double target_s = computed (self, run_s) + left_s, end_s = target_s;

  fab_engine_cancel (self->engine, self->stop);
  if (isfinite (self->cycle_s)) {
    double n = floor (target_s / self->interval_s);

    end_s = n * self->cycle_s + (target_s - n * self->interval_s);
  }
  self->stop = after (self, fmax (0, end_s - run_s), end_job, 0);
}

static void
change_speed (Life *self)
{
  if (self->state != RUNNING)
    return;
  g_array_append_val (self->segments, ((Segment){ now (self) - self->state_s, speed_now (self) }));
  foretell_end (self);
}

static void
come_back (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  Life *self = owner;

  self->n_broken--;
  if (self->state == WAITING && self->n_broken <= self->rules->n_spares)
    enter (self, DOWN, LOSES);
}

/* A node leaves for repair. Returns whether a spare takes its place. */
static gboolean
lose_node (Life *self, const FabFailureRate *rate)
{
  if (!rate->takes_node || self->rules->repair_s <= 0)
    return TRUE;
  self->n_broken++;
  after (self, draw_exponential (self, self->rules->repair_s), come_back, 0);
  return self->n_broken <= self->rules->n_spares;
}

static void
find_slow (gpointer owner, guint64 arg)
{
  Life *self = owner;

  self->n_slow[arg]--;
  change_speed (self);
  self->trial.n_planned++;
  if (!lose_node (self, &self->rules->rates[arg]))
    enter (self, WAITING, KEEPS);
  else if (self->state == RUNNING)
    enter (self, PLANNED, KEEPS);
}

static const FabFailureRate *
draw_class (Life *self, gboolean is_stop, double all_per_s)
{
  double at = draw (self) * all_per_s;
  const FabFailureRate *last = NULL;

  for (guint i = 0; i < self->rules->n_rates; i++) {
    const FabFailureRate *rate = &self->rules->rates[i];

    if ((rate->effect == FAB_FAILURE_STOPS) != is_stop || rate->per_s <= 0)
      continue;
    last = rate;
    at -= rate->per_s;
    if (at < 0)
      break;
  }
  return last;
}

static void
happen (gpointer owner, guint64 is_stop)
{
  Life *self = owner;
  const FabFailureRate *rate = draw_class (self, is_stop != 0,
                                           is_stop != 0 ? self->stops_per_s : self->planned_per_s);

  if (rate->effect == FAB_FAILURE_STOPS) {
    self->trial.n_stops++;
    enter (self, lose_node (self, rate) ? DOWN : WAITING, LOSES);
  } else if (rate->effect == FAB_FAILURE_PLANNED) {
    self->trial.n_planned++;
    enter (self, lose_node (self, rate) ? PLANNED : WAITING, KEEPS);
  } else {
    guint class = (guint) (rate - self->rules->rates);

    self->trial.n_slow++;
    self->n_slow[class]++;
    after (self, self->rules->slow_detection_s, find_slow, class);
    change_speed (self);
    schedule (self);
  }
}

static void
begin_running (gpointer owner, G_GNUC_UNUSED guint64 arg)
{
  enter (owner, RUNNING, KEEPS);
}

/* --- states --- */

/* Books the run that ends now: all of it is kept when somebody stopped it or it is done. */
static void
book_run (Life *self, double run_s, gboolean is_kept)
{
  FabTimeShares *shares = &self->trial.shares;
  double kept_s = is_kept ? run_s : saved (self, run_s);
  double work_s = worked (self, kept_s), computed_s = computed (self, kept_s);

  self->done_s += work_s;
  shares->useful += work_s;
  shares->slowed += computed_s - work_s;
  shares->checkpoint += kept_s - computed_s;
  shares->lost += run_s - kept_s;
  g_array_set_size (self->segments, 0);
}

static void
book (Life *self, Ending ending)
{
  double lasted_s = now (self) - self->state_s;

  switch (self->state) {
  case RUNNING: book_run (self, lasted_s, ending == KEEPS); break;
  case DOWN: self->trial.shares.down += lasted_s; break;
  case PLANNED: self->trial.shares.planned += lasted_s; break;
  case WAITING: self->trial.shares.waiting += lasted_s; break;
  }
}

/* Draws which event ends the state, or leads to the next: the first of all classes that may happen. */
static void
schedule (Life *self)
{
  double planned_per_s = self->state == RUNNING ? self->planned_per_s : 0;
  double all_per_s = self->stops_per_s + planned_per_s;

  fab_engine_cancel (self->engine, self->next);
  if (self->state == PLANNED || self->state == WAITING || all_per_s <= 0)
    return;
  gboolean is_stop = draw (self) * all_per_s < self->stops_per_s; /* drawn first, whatever the compiler */
  self->next = after (self, draw_exponential (self, 1 / all_per_s), happen, is_stop);
}

static void
enter (Life *self, State state, Ending ending)
{
  const FabReliability *rules = self->rules;

  book (self, ending);
  fab_engine_cancel (self->engine, self->stop);
  self->state = state;
  self->state_s = now (self);
  schedule (self);
  if (state == RUNNING)
    change_speed (self);
  else if (state != WAITING)
    self->stop = after (self,
                        rules->restart_s
                            + (state == DOWN ? rules->detection_s : rules->blocking_s + rules->background_s),
                        begin_running, 0);
}

/* --- trials --- */

static void
scale_shares (FabTimeShares *shares, double factor)
{
  double *const all[] = { &shares->useful, &shares->slowed,  &shares->checkpoint, &shares->lost,
                          &shares->down,   &shares->planned, &shares->waiting };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    *all[i] *= factor;
}

static void
add_shares (FabTimeShares *sum, const FabTimeShares *more, double weight)
{
  sum->useful += more->useful * weight;
  sum->slowed += more->slowed * weight;
  sum->checkpoint += more->checkpoint * weight;
  sum->lost += more->lost * weight;
  sum->down += more->down * weight;
  sum->planned += more->planned * weight;
  sum->waiting += more->waiting * weight;
}

FabFailureTrial
fab_failure_trial_play (const FabReliability *self, double interval_s, double work_s, guint64 seed)
{
  const double most_stretch = 1000; /* a job that makes no headway is given up */
  g_autoptr (FabEngine) engine = fab_engine_new ();
  g_autofree guint *n_slow = g_new0 (guint, self->n_rates + 1);
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (Segment));
  Life life = { .rules = self,
                .interval_s = interval_s,
                .cycle_s = interval_s + self->blocking_s,
                .work_s = work_s,
                .engine = engine,
                .seed = seed,
                .state = DOWN,
                .segments = segments,
                .n_slow = n_slow };

  for (guint i = 0; i < self->n_rates; i++)
    *(self->rates[i].effect == FAB_FAILURE_STOPS ? &life.stops_per_s
                                                 : &life.planned_per_s) += self->rates[i].per_s;
  enter (&life, RUNNING, KEEPS);
  fab_engine_run_until (engine, fab_seconds_to_ps (work_s * most_stretch * clock_per_s));
  life.trial.wall_s = now (&life);
  life.trial.n_events = fab_engine_events (engine);
  life.trial.goodput_fraction = life.trial.shares.useful / life.trial.wall_s;
  scale_shares (&life.trial.shares, 1 / life.trial.wall_s);
  return life.trial;
}

FabFailureTrials
fab_failure_trials_play (const FabReliability *self, double interval_s, double work_s, guint64 seed,
                         guint n_trials)
{
  FabFailureTrials all = { .n_trials = n_trials };
  g_autofree double *walls = g_new (double, n_trials);
  double sum_s = 0, squares = 0, useful_s = 0;

  for (guint i = 0; i < n_trials; i++) {
    FabFailureTrial trial = fab_failure_trial_play (self, interval_s, work_s, fab_mix (seed, i));

    walls[i] = trial.wall_s;
    sum_s += trial.wall_s;
    useful_s += trial.shares.useful * trial.wall_s;
    all.mean_stops += (double) trial.n_stops / n_trials;
    all.mean_planned += (double) trial.n_planned / n_trials;
    add_shares (&all.shares, &trial.shares, trial.wall_s);
  }
  scale_shares (&all.shares, 1 / sum_s);
  all.mean_wall_s = sum_s / n_trials;
  all.mean_goodput_fraction = useful_s / sum_s;
  for (guint i = 0; i < n_trials; i++)
    squares += (walls[i] - all.mean_wall_s) * (walls[i] - all.mean_wall_s);
  if (n_trials > 1)
    all.error_fraction = sqrt (squares / (n_trials - 1) / n_trials) / all.mean_wall_s;
  qsort (walls, n_trials, sizeof *walls, fab_order_doubles);
  all.low_wall_s = walls[fab_nearest_rank (n_trials, 0.05)];
  all.median_wall_s = walls[fab_nearest_rank (n_trials, 0.5)];
  all.high_wall_s = walls[fab_nearest_rank (n_trials, 0.95)];
  return all;
}
