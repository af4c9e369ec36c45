/* SPDX-License-Identifier: Apache-2.0 */
/* cost_params.h - the keys of `cost`: prices and shares for counting money and energy. */
#pragma once

#include "sim/base/param.h"

/* The numbers of `cost` that are not known exactly, at the end where machines are cheap or where they are dear. */
typedef struct {
  double usd_per_kwh, pue_factor, years, usd_per_gpu_hour, maintenance_fraction, staff_usd_per_year,
      site_usd_per_kw_month, utilisation_fraction; /* 0: as in `cost` itself */
} FabCostEndSpec;

typedef struct {
  double usd_per_kwh;
  /* power drawn by the site over power drawn by its machines (power usage effectiveness) */
  double pue_factor;
  double years;                 /* time for which the purchase is used */
  double usd_per_gpu_hour;      /* price of rented machines, which includes everything; 0: bought */
  const char *rent;             /* product of kind RENT; NULL: none */
  double maintenance_fraction;  /* of the purchase price, for each year */
  double staff_usd_per_year;    /* of the whole machine */
  double site_usd_per_kw_month; /* of what the machines draw at most */
  double utilisation_fraction;  /* hours in which the machine works over all hours; 0: all */
  FabCostEndSpec low, high;
  double busy_fraction,
      /* Share of an accelerator's watts while a kernel computes, and while none does. */
      waiting_fraction;
  gint64 nic_cable_mm, switch_cable_mm; /* lengths of the cables */
} FabCostSpec;

extern const FabParam fab_cost_params[]; /* of FabCostSpec */
