/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/base/clock.h"

/* f V(f)^2, which grows with f. */
static double
switching (const FabClockCurve *self, double clock)
{
  double above = clock - self->knee_fraction;
  double voltage = above > 0 ? 1 + (self->voltage_factor - 1) * above / (1 - self->knee_fraction) : 1;

  return clock * voltage * voltage;
}

double
fab_clock_within (const FabClockCurve *self, double draw_fraction, double power_fraction)
{
  const guint n_halvings = 60;
  double low = 0, high = 1, most;

  if (power_fraction >= draw_fraction)
    return 1;
  if (power_fraction <= self->static_fraction)
    return 0;
  most = switching (self, 1) * (power_fraction - self->static_fraction)
       / (draw_fraction - self->static_fraction);
  for (guint i = 0; i < n_halvings; i++) {
    double middle = (low + high) / 2;

    if (switching (self, middle) <= most)
      low = middle;
    else
      high = middle;
  }
  return low;
}

FabCappedClock
fab_clock_capped (const FabClockCurve *self, double busy_fraction, double cap_fraction)
{
  double draw = busy_fraction < 1 ? busy_fraction : MAX (self->draw_fraction, 1);
  FabCappedClock capped = { .full_fraction = fab_clock_within (self, draw, 1),
                            .fraction = fab_clock_within (self, draw, cap_fraction),
                            .power_fraction = MIN (busy_fraction, cap_fraction) };

  capped.slowdown = capped.fraction > 0 ? capped.full_fraction / capped.fraction : 1;
  return capped;
}

FabClockBand
fab_clock_band (const FabClockCurve *self, double cap_fraction)
{
  return cap_fraction >= self->near.from_fraction ? self->near : self->deep;
}

gboolean
fab_clock_is_tried (const FabClockCurve *self, double cap_fraction)
{
  return cap_fraction >= self->deep.from_fraction;
}
