/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sharing/job_life.h"

#include <math.h>

FabJobLife
fab_job_life (const FabMixFailures *failures, double work_s)
{
  static const FabMixFailures none = { .interval_s = INFINITY, .slowing = 1 };

  return (FabJobLife){ .failures = failures != NULL ? failures : &none, .left_s = work_s };
}

/* Cycles that end with a checkpoint before the work is done; none where the interval is infinite. */
static double
cycles_left (const FabJobLife *self)
{
  double computing_s = self->left_s * self->failures->slowing;

  return fmax (0, ceil (computing_s / self->failures->interval_s - 1e-9) - 1);
}

double
fab_job_life_left (const FabJobLife *self)
{
  double blocking_s = cycles_left (self) * self->failures->blocking_s;

  return fmax (0, self->left_s * self->failures->slowing + blocking_s - self->position_s);
}

static void
forget_pending (FabJobLife *self)
{
  self->position_s = self->pending_s = self->places_s = self->sharing_s = 0;
}

/* Keeps whole cycles; what came after them is pending still. Slowdowns of what is pending are those of the last
 * `passed_s` of job time, or else the mean of all that was pending. */
static void
keep_cycles (FabJobLife *self, double n, double passed_s, double alone, double slowdown,
             FabMixOutcome *outcome)
{
  const FabMixFailures *failures = self->failures;
  double after_s = self->position_s - n * (failures->interval_s + failures->blocking_s);
  double work_s = n * failures->interval_s / failures->slowing, share = after_s / self->position_s;
  gboolean is_last = after_s <= passed_s;
  double places_s = is_last ? after_s * (alone - 1) : share * self->places_s;
  double sharing_s = is_last ? after_s * (slowdown - alone) : share * self->sharing_s;

  outcome->places_lost_s += self->places_s - places_s;
  outcome->sharing_lost_s += self->sharing_s - sharing_s;
  outcome->checkpoint_s += n * failures->blocking_s;
  outcome->slowed_s += n * failures->interval_s - work_s;
  self->left_s -= work_s;
  self->position_s = after_s;
  self->pending_s = after_s + places_s + sharing_s;
  self->places_s = places_s;
  self->sharing_s = sharing_s;
}

/* Cycles whose checkpoint is complete; below 0 before the first can be. */
static double
cycles_done (const FabJobLife *self)
{
  const FabMixFailures *failures = self->failures;
  double since_s = self->position_s - failures->background_s;

  return fmin (floor (since_s / (failures->interval_s + failures->blocking_s)), cycles_left (self));
}

void
fab_job_life_run (FabJobLife *self, double elapsed_s, double alone, double slowdown, FabMixOutcome *outcome)
{
  double passed_s = elapsed_s / slowdown, n;

  self->position_s += passed_s;
  self->pending_s += elapsed_s;
  self->places_s += passed_s * (alone - 1);
  self->sharing_s += passed_s * (slowdown - alone);
  n = cycles_done (self);
  if (n > 0)
    keep_cycles (self, n, passed_s, alone, slowdown, outcome);
}

void
fab_job_life_undo (FabJobLife *self, FabMixOutcome *outcome)
{
  outcome->undone_s += self->pending_s;
  forget_pending (self);
}

/* Of the job time since the last checkpoint, that in which it computed. */
static double
computed (const FabJobLife *self)
{
  const FabMixFailures *failures = self->failures;
  double cycle_s = failures->interval_s + failures->blocking_s, n;

  if (isinf (failures->interval_s))
    return self->position_s;
  n = floor (self->position_s / cycle_s);
  return n * failures->interval_s + fmin (self->position_s - n * cycle_s, failures->interval_s);
}

void
fab_job_life_save (FabJobLife *self, FabMixOutcome *outcome)
{
  double computed_s = fmin (computed (self), self->left_s * self->failures->slowing);
  double work_s = computed_s / self->failures->slowing;

  outcome->places_lost_s += self->places_s;
  outcome->sharing_lost_s += self->sharing_s;
  if (!isinf (self->failures->interval_s))
    outcome->checkpoint_s += fmax (0, self->position_s - computed_s);
  outcome->slowed_s += computed_s - work_s;
  self->left_s = fmax (0, self->left_s - work_s);
  forget_pending (self);
}
