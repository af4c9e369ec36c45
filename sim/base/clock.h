/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the clock of an accelerator under a power cap.
 *
 * A board holds itself to its power limit by its clock. Power is a part that does not depend on the clock, and
 * switching power, which is proportional to the clock f times the square of the voltage V. Below a knee the voltage
 * is at its least; above it the voltage grows with the clock in a straight line:
 *
 *   power (f) = static + (draw - static) x f V(f)^2 / V(1)^2     f = 1: the highest clock
 *   V (f)     = 1 where f <= knee, else 1 + (voltage - 1) (f - knee) / (1 - knee)
 *
 * `draw` is what the kernels would draw at the highest clock. Where that is more than the limit, the clock is
 * lower without a cap already. Under a cap the clock is the highest at which power is within it. Kernels that
 * multiply matrices slow down with the clock; memory and networks have clocks of their own.
 *
 * All powers are shares of the board's limit. Pure functions: any thread may call them.
 */
#pragma once

#include <glib.h>

/* Measured times under a cap beside predicted ones, for caps of at least `from_fraction`. */
typedef struct {
  double from_fraction;
  double low_factor, high_factor; /* 90 % of measured slow-downs over predicted ones */
} FabClockBand;

typedef struct {
  double static_fraction;  /* power that does not depend on the clock */
  double knee_fraction;    /* of the highest clock */
  double voltage_factor;   /* voltage at the highest clock over that at the knee */
  double draw_fraction;    /* of matrix kernels at the highest clock; may exceed 1 */
  gboolean is_measured;    /* on such accelerators; FALSE: on others */
  FabClockBand near, deep; /* of caps that take away little, and of lower ones */
  const char *source;
} FabClockCurve;

typedef struct {
  double full_fraction;  /* clock without a cap, of the highest */
  double fraction;       /* clock under the cap, of the highest */
  double slowdown;       /* time of matrix kernels over that without a cap, at least 1 */
  double power_fraction; /* that kernels draw under the cap, of the limit */
} FabCappedClock;

/* The highest clock at which kernels that draw `draw` at clock 1 are within `power`; 0 where the part that does not
 * depend on the clock is more than that. */
double fab_clock_within (const FabClockCurve *self, double draw_fraction, double power_fraction);

/* Under a cap. `busy_fraction` is what kernels draw without one: at 1 the limit holds them back, and they would draw
 * `draw_fraction`; below 1 nothing does. */
FabCappedClock fab_clock_capped (const FabClockCurve *self, double busy_fraction, double cap_fraction);

/* How far off a slow-down under such a cap may be; below both bands, that of the lower one. */
FabClockBand fab_clock_band (const FabClockCurve *self, double cap_fraction);

/* Whether slow-downs at such a cap were measured. */
gboolean fab_clock_is_tried (const FabClockCurve *self, double cap_fraction);
