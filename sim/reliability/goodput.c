/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/reliability/goodput.h"

#include <math.h>

const char *const fab_failure_effect_names[] = {
  [FAB_FAILURE_STOPS] = "stops", [FAB_FAILURE_SLOWS] = "slows", [FAB_FAILURE_PLANNED] = "planned", NULL
};

double
fab_goodput_useful (double per_s, double interval_s, double blocking_s, double background_s, double down_s)
{
  double cycle_s = interval_s + blocking_s;

  if (per_s <= 0)
    return interval_s / cycle_s;
  return per_s * interval_s * exp (-per_s * (down_s + background_s)) / expm1 (per_s * cycle_s);
}

double
fab_goodput_young_interval (double per_s, double blocking_s)
{
  return sqrt (2 * blocking_s / per_s);
}

double
fab_goodput_daly_interval (double per_s, double blocking_s)
{
  double mean_s = 1 / per_s, ratio = blocking_s / (2 * mean_s);

  if (blocking_s >= 2 * mean_s)
    return mean_s;
  return sqrt (2 * blocking_s * mean_s) * (1 + sqrt (ratio) / 3 + ratio / 9) - blocking_s;
}

double
fab_goodput_best_interval (double per_s, double blocking_s, double least_s)
{
  const guint n_halvings = 200;
  double low_s = 0, high_s = 1 / per_s;

  if (per_s <= 0)
    return INFINITY;
  for (guint i = 0; i < n_halvings && low_s < high_s; i++) {
    double mid_s = (low_s + high_s) / 2;

    /* log of both sides, which does not overflow */
    if (log1p (-per_s * mid_s) + per_s * (mid_s + blocking_s) > 0)
      low_s = mid_s;
    else
      high_s = mid_s;
  }
  return fmax (least_s, low_s);
}

double
fab_erlang_loss (guint n, double load)
{
  double loss = 1;

  for (guint i = 1; i <= n; i++)
    loss = load * loss / (i + load * loss);
  return loss;
}

static double
sum_rates (const FabReliability *self, FabFailureEffect effect)
{
  double per_s = 0;

  for (guint i = 0; i < self->n_rates; i++)
    if (self->rates[i].effect == effect)
      per_s += self->rates[i].per_s;
  return per_s;
}

/* Rate at which nodes leave for repair. */
static double
node_rate (const FabReliability *self)
{
  double per_s = 0;

  for (guint i = 0; i < self->n_rates; i++)
    if (self->rates[i].takes_node)
      per_s += self->rates[i].per_s;
  return per_s;
}

/* The mean of 1 / (1 + slowdown of the worst part that is slow): from the worst class down, each is the worst with the
 * probability that it is present and no worse one is. */
static double
mean_speed (const FabReliability *self)
{
  double speed = 0, left = 1;
  double last = INFINITY;

  for (;;) {
    double worst = 0, per_s = 0;

    for (guint i = 0; i < self->n_rates; i++)
      if (self->rates[i].effect == FAB_FAILURE_SLOWS && self->rates[i].slowdown < last)
        worst = fmax (worst, self->rates[i].slowdown);
    if (worst <= 0)
      return speed + left;
    for (guint i = 0; i < self->n_rates; i++)
      if (self->rates[i].effect == FAB_FAILURE_SLOWS && !(self->rates[i].slowdown < worst)
          && self->rates[i].slowdown < last)
        per_s += self->rates[i].per_s;
    double absent = exp (-per_s * self->slow_detection_s);

    speed += left * (1 - absent) / (1 + worst);
    left *= absent;
    last = worst;
  }
}

static double
waiting_share (const FabReliability *self, guint n_spares)
{
  return self->repair_s > 0 ? fab_erlang_loss (n_spares + 1, node_rate (self) * self->repair_s) : 0;
}

guint
fab_goodput_spares (const FabReliability *self, double share, guint most)
{
  guint n = 0;

  while (n < most && waiting_share (self, n) > share)
    n++;
  return n;
}

double
fab_goodput_writing_speed (const FabReliability *self, double cycle_s)
{
  double writing = fmin (1, self->background_s / cycle_s);

  return 1 - writing * self->background_slowdown / (1 + self->background_slowdown);
}

static double
writing_speed (const FabReliability *self, double interval_s)
{
  return fab_goodput_writing_speed (self, interval_s + self->blocking_s);
}

static double
useful_beside (const FabReliability *self, double per_s, double interval_s)
{
  return fab_goodput_useful (per_s, interval_s, self->blocking_s, 0, 0) * writing_speed (self, interval_s);
}

/* The best interval where writing slows the job: there is one maximum, which thirds of the logarithm close in on. */
static double
best_beside (const FabReliability *self, double per_s, double least_s)
{
  const guint n_steps = 200;
  const double little = 1e-3; /* of a second: an interval cannot be 0 */
  double low = log (fmax (least_s, little)), high = fmax (low, log (1 / per_s));

  for (guint i = 0; i < n_steps; i++) {
    double a = low + (high - low) / 3, b = high - (high - low) / 3;

    if (useful_beside (self, per_s, exp (a)) < useful_beside (self, per_s, exp (b)))
      low = a;
    else
      high = b;
  }
  return exp (low);
}

/* While a checkpoint is written in the background, the next one is put off. */
static double
interval_of (const FabReliability *self, double per_s)
{
  double least_s = fmax (self->least_interval_s, self->background_s);

  if (self->interval_s > 0)
    return fmax (self->interval_s, least_s);
  if (self->background_slowdown * self->background_s > 0 && per_s > 0)
    return best_beside (self, per_s, least_s);
  return fab_goodput_best_interval (per_s, self->blocking_s, least_s);
}

FabGoodputForm
fab_goodput_form (const FabReliability *self)
{
  FabGoodputForm form = { .stops_per_s = sum_rates (self, FAB_FAILURE_STOPS) };
  double down_s = self->detection_s + self->restart_s;
  double planned_s = self->blocking_s + self->background_s + self->restart_s;
  double interval_s = interval_of (self, form.stops_per_s), speed = mean_speed (self);
  gboolean is_saved = isfinite (interval_s); /* FALSE: nothing fails, so no checkpoint is worth its time */
  double up = exp (-form.stops_per_s * down_s);
  double kept = is_saved ? fab_goodput_useful (form.stops_per_s, interval_s, self->blocking_s,
                                               self->background_s, down_s)
                         : 1;

  form.interval_s = interval_s;
  form.planned_per_s = sum_rates (self, FAB_FAILURE_PLANNED) + sum_rates (self, FAB_FAILURE_SLOWS);
  if (is_saved)
    speed *= writing_speed (self, interval_s);
  double stopped = form.planned_per_s * planned_s * up;
  double waiting = waiting_share (self, self->n_spares);
  double active = (1 - waiting) / (1 + stopped);
  double checkpoint = is_saved ? kept * self->blocking_s / interval_s : 0;

  form.shares = (FabTimeShares){ .useful = active * kept * speed,
                                 .slowed = active * kept * (1 - speed),
                                 .checkpoint = active * checkpoint,
                                 .lost = active * fmax (0, up - kept - checkpoint),
                                 .down = active * (1 - up),
                                 .planned = active * stopped,
                                 .waiting = waiting };
  form.ettr_fraction = active * kept;
  form.goodput_fraction = form.shares.useful;
  return form;
}
