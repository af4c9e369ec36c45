/* SPDX-License-Identifier: Apache-2.0 */
/* spending.h - the cost and the power of a job, from the bill of its machine and the time of a step.
 *
 *   watts         accelerators x (busy x computing + waiting x the rest of the step) + nodes + network, x PUE
 *   $ per hour    price / (years x 8766 h) + kW x $/kWh;  rented: $ per GPU and hour
 *   $ per step    $ per hour x step
 *   $ per token   $ per hour / tokens per hour
 *
 * A job on part of a machine pays the share of its accelerators.
 */
#pragma once

#include "sim/scenario/bill.h"

#define FAB_HOURS_PER_YEAR 8766.0

/* One iteration, as means over ranks; 0: there is none. */
typedef struct {
  guint64 n_accelerators; /* accelerators of the job */
  double step_s, compute_s, tokens_per_s, train_s;
} FabWork;

/* Unknown values are 0, and so is the cost per token of a job without tokens. */
typedef struct {
  double capex_usd, network_usd;                   /* of the whole machine */
  double power_watts, network_watts;               /* at the site's meter, the job's share */
  double bought_usd_per_hour, energy_usd_per_hour; /* 0 for rented machines */
  double usd_per_hour, usd_per_step, usd_per_million_tokens, train_usd;
  double step_joules, train_joules;
} FabSpending;

FabSpending fab_spending_of (const FabBill *bill, const FabCostSpec *cost, const FabWork *use);
