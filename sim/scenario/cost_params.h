/* SPDX-License-Identifier: Apache-2.0 */
/* cost_params.h - what money and energy are counted with: the section `cost` of a scenario. */
#pragma once

#include "sim/base/param.h"

typedef struct {
  double usd_per_kwh;
  double pue_factor;       /* what the site draws over what its machines draw */
  double years;            /* that what is bought is used */
  double usd_per_gpu_hour; /* rented: everything is in it; 0: bought */
  double busy_fraction,
      waiting_fraction; /* of an accelerator's watts, while a kernel computes and while none does */
  gint64 nic_cable_mm, switch_cable_mm; /* how long they are */
} FabCostSpec;

extern const FabParam fab_cost_params[]; /* of FabCostSpec */
