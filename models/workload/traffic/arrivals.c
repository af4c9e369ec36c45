/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/traffic/arrivals.h"

#include <math.h>

#include "sim/base/mix.h"

/* Which of the numbers of a flow is drawn; others are drawn by the traffic itself. */
enum { GAP_SEED = 0x67617073, ANGLE_SEED = 0x616e676c };

double
arrivals_draw (guint64 seed, guint64 key)
{
  return ((double) (fab_mix (seed, key) >> 11) + 0.5) * 0x1p-53;
}

/* Standard normal, by G. Box and M. Muller, Annals of Mathematical Statistics 29 (1958). */
static double
draw_normal (guint64 seed, guint64 key)
{
  double radius = sqrt (-2 * log (arrivals_draw (seed ^ GAP_SEED, key)));

  return radius * cos (2 * G_PI * arrivals_draw (seed ^ ANGLE_SEED, key));
}

FabTimePs
arrivals_gap_ps (const Arrivals *self, guint64 k)
{
  double factor;

  if (self->kind == ARRIVALS_LOGNORMAL)
    factor = exp (self->sigma * draw_normal (self->seed, k) - self->sigma * self->sigma / 2);
  else
    factor = -log (arrivals_draw (self->seed ^ GAP_SEED, k));
  return (FabTimePs) MIN (self->mean_ps * factor, (double) FAB_TIME_MAX / 4);
}
