/* SPDX-License-Identifier: Apache-2.0 */
/* cost_params.h - the assumptions for money and energy: the section `cost` of a scenario. */
#pragma once

#include "sim/base/param.h"

typedef struct {
  double usd_per_kwh;
  /* power drawn by the site over power drawn by its machines (power usage effectiveness) */
  double pue_factor;
  double years;            /* time for which the purchase is used */
  double usd_per_gpu_hour; /* price of rented machines, which includes everything; 0: bought */
  double busy_fraction,
      /* Share of an accelerator's watts while a kernel computes, and while none does. */
      waiting_fraction;
  gint64 nic_cable_mm, switch_cable_mm; /* lengths of the cables */
} FabCostSpec;

extern const FabParam fab_cost_params[]; /* describes FabCostSpec */
