/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/spending.h"

static double
share_of (const FabBill *bill, const FabWork *use)
{
  return bill->n_accelerators > 0 ? (double) use->n_accelerators / (double) bill->n_accelerators : 0;
}

static void
take_power (FabSpending *self, const FabBill *bill, const FabCostSpec *cost, const FabWork *use)
{
  double computing = use->step_s > 0 ? MIN (use->compute_s / use->step_s, 1) : 0;
  double load = cost->busy_fraction * computing + cost->waiting_fraction * (1 - computing);
  double site = share_of (bill, use) * cost->pue_factor;

  if (!bill->is_powered)
    return;
  self->network_watts = bill->network_watts * site;
  self->power_watts = (bill->accelerator_watts * load + bill->node_watts) * site + self->network_watts;
  self->step_joules = self->power_watts * use->step_s;
  self->train_joules = self->power_watts * use->train_s;
}

static void
take_hour (FabSpending *self, const FabBill *bill, const FabCostSpec *cost, const FabWork *use)
{
  if (cost->usd_per_gpu_hour > 0) {
    self->usd_per_hour = cost->usd_per_gpu_hour * (double) use->n_accelerators;
    return;
  }
  if (!bill->is_priced || !bill->is_powered)
    return;
  self->bought_usd_per_hour = bill->total.usd * share_of (bill, use) / (cost->years * FAB_HOURS_PER_YEAR);
  self->energy_usd_per_hour = self->power_watts / 1000 * cost->usd_per_kwh;
  self->usd_per_hour = self->bought_usd_per_hour + self->energy_usd_per_hour;
}

FabSpending
fab_spending_of (const FabBill *bill, const FabCostSpec *cost, const FabWork *use)
{
  FabSpending self = { 0 };

  if (bill->is_priced) {
    self.capex_usd = bill->total.usd;
    self.network_usd = bill->network.usd;
  }
  take_power (&self, bill, cost, use);
  take_hour (&self, bill, cost, use);
  self.usd_per_step = self.usd_per_hour / 3600 * use->step_s;
  self.train_usd = self.usd_per_hour / 3600 * use->train_s;
  if (use->tokens_per_s > 0)
    self.usd_per_million_tokens = self.usd_per_hour / (use->tokens_per_s * 3600) * 1e6;
  return self;
}
