/* SPDX-License-Identifier: Apache-2.0 */
/* spending.c - what an hour, a step and a token cost and draw. */
#include <math.h>

#include "sim/cost/bill.h"

static const double hours_per_year = 8766, months_per_year = 12;

/* What one hour is computed from. */
typedef struct {
  double price_usd;         /* of the whole machine */
  double rent_usd_per_hour; /* of the whole machine, by a product */
  FabCostSpec cost;
} Inputs;

static double
share_of (const FabBill *bill, const FabWork *use)
{
  return bill->n_accelerators > 0 ? (double) use->n_accelerators / (double) bill->n_accelerators : 0;
}

static void
take_power (FabSpending *self, const FabBill *bill, const FabCostSpec *cost, const FabWork *use)
{
  double computing = use->step_s > 0 ? MIN (use->compute_s / use->step_s, 1) : 0;
  double load = MIN (cost->busy_fraction, bill->cap_fraction) * computing
              + MIN (cost->waiting_fraction, bill->cap_fraction) * (1 - computing);
  double site = share_of (bill, use) * cost->pue_factor;

  if (!bill->is_powered)
    return;
  self->network_watts = bill->network_watts * site;
  self->power_watts = (bill->accelerator_watts * load + bill->node_watts) * site + self->network_watts;
}

/* What the machines are rated at, in kW: what a site has to provide. */
static double
rated_kw (const FabBill *bill)
{
  return (bill->accelerator_watts * bill->cap_fraction + bill->node_watts + bill->network_watts) / 1000;
}

static void
take_hour (FabSpending *self, const FabBill *bill, const Inputs *inputs, const FabWork *use)
{
  const FabCostSpec *cost = &inputs->cost;
  double share = share_of (bill, use);
  double hours = hours_per_year * (cost->utilisation_fraction > 0 ? cost->utilisation_fraction : 1);

  if (inputs->rent_usd_per_hour > 0 || cost->usd_per_gpu_hour > 0) {
    self->usd_per_hour = inputs->rent_usd_per_hour > 0
                           ? inputs->rent_usd_per_hour * share
                           : cost->usd_per_gpu_hour * (double) use->n_accelerators;
    return;
  }
  if (!bill->is_priced || !bill->is_powered)
    return;
  self->bought_usd_per_hour = inputs->price_usd * share / (cost->years * hours);
  self->maintenance_usd_per_hour = inputs->price_usd * share * cost->maintenance_fraction / hours;
  self->staff_usd_per_hour = cost->staff_usd_per_year * share / hours;
  self->site_usd_per_hour = rated_kw (bill) * share * cost->site_usd_per_kw_month * months_per_year / hours;
  self->energy_usd_per_hour = self->power_watts / 1000 * cost->usd_per_kwh;
  self->usd_per_hour = self->bought_usd_per_hour + self->maintenance_usd_per_hour + self->staff_usd_per_hour
                     + self->site_usd_per_hour + self->energy_usd_per_hour;
}

static double
hour_of (const FabBill *bill, const Inputs *inputs, const FabWork *use)
{
  FabSpending self = { 0 };

  take_power (&self, bill, &inputs->cost, use);
  take_hour (&self, bill, inputs, use);
  return self.usd_per_hour;
}

/* --- ranges --- */

/* Of everything that was tried, how far the value falls and rises. */
typedef struct {
  double value, falls, rises; /* squares */
} Spread;

static void
spread_add (Spread *self, double a, double b)
{
  double fall = self->value - MIN (MIN (a, b), self->value),
         rise = MAX (MAX (a, b), self->value) - self->value;

  self->falls += fall * fall;
  self->rises += rise * rise;
}

/* Sets one number of `cost` to its ends, where it has them. */
static void
spread_number (Spread *self, const FabBill *bill, const Inputs *inputs, const FabWork *use, gsize offset,
               gsize end_offset)
{
  const FabCostEndSpec *ends[] = { &inputs->cost.low, &inputs->cost.high };
  double hours[] = { self->value, self->value };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++) {
    double end = *(const double *) (gconstpointer) ((const char *) ends[i] + end_offset);
    Inputs other = *inputs;

    if (end <= 0)
      continue;
    *(double *) (gpointer) ((char *) &other.cost + offset) = end;
    hours[i] = hour_of (bill, &other, use);
  }
  spread_add (self, hours[0], hours[1]);
}

static void
spread_prices (Spread *self, const FabBill *bill, const Inputs *inputs, const FabWork *use)
{
  Inputs low = *inputs, high = *inputs;

  low.price_usd = bill->total.low_usd;
  high.price_usd = bill->total.high_usd;
  low.rent_usd_per_hour = bill->rent_per_hour.low_usd;
  high.rent_usd_per_hour = bill->rent_per_hour.high_usd;
  if (low.price_usd <= 0 || high.price_usd <= 0)
    low.price_usd = high.price_usd = inputs->price_usd;
  spread_add (self, hour_of (bill, &low, use), hour_of (bill, &high, use));
}

#define NUMBER(field_)                                                              \
  {                                                                                 \
    G_STRUCT_OFFSET (FabCostSpec, field_), G_STRUCT_OFFSET (FabCostEndSpec, field_) \
  }

static void
take_range (FabSpending *self, const FabBill *bill, const Inputs *inputs, const FabWork *use)
{
  static const struct {
    gsize offset, end_offset;
  } numbers[] = { NUMBER (usd_per_kwh),           NUMBER (pue_factor),           NUMBER (years),
                  NUMBER (usd_per_gpu_hour),      NUMBER (maintenance_fraction), NUMBER (staff_usd_per_year),
                  NUMBER (site_usd_per_kw_month), NUMBER (utilisation_fraction) };
  Spread spread = { .value = self->usd_per_hour };

  if (self->usd_per_hour <= 0)
    return;
  spread_prices (&spread, bill, inputs, use);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    /* A machine that is bought has no rent, whatever the ends of the rent are. */
    if (numbers[i].offset == G_STRUCT_OFFSET (FabCostSpec, usd_per_gpu_hour)
        && inputs->cost.usd_per_gpu_hour <= 0)
      continue;
    spread_number (&spread, bill, inputs, use, numbers[i].offset, numbers[i].end_offset);
  }
  self->low_usd_per_hour = MAX (spread.value - sqrt (spread.falls), 0);
  self->high_usd_per_hour = spread.value + sqrt (spread.rises);
}

FabMoney
fab_spending_range (const FabSpending *self, double usd, double step_s, double low_s, double high_s)
{
  Spread spread = { .value = usd };

  if (usd <= 0 || self->usd_per_hour <= 0)
    return (FabMoney){ usd, usd, usd };
  spread_add (&spread, usd * self->low_usd_per_hour / self->usd_per_hour,
              usd * self->high_usd_per_hour / self->usd_per_hour);
  if (step_s > 0)
    spread_add (&spread, usd * low_s / step_s, usd * high_s / step_s);
  return (FabMoney){ usd, MAX (usd - sqrt (spread.falls), 0), usd + sqrt (spread.rises) };
}

FabSpending
fab_spending_of (const FabBill *bill, const FabCostSpec *cost, const FabWork *use)
{
  const Inputs inputs = { bill->total.usd, bill->rent_per_hour.usd, *cost };
  FabSpending self = { 0 };

  if (bill->is_priced) {
    self.capex_usd = bill->total.usd;
    self.network_usd = bill->network.usd;
  }
  take_power (&self, bill, cost, use);
  self.step_joules = self.power_watts * use->step_s;
  self.train_joules = self.power_watts * use->train_s;
  take_hour (&self, bill, &inputs, use);
  take_range (&self, bill, &inputs, use);
  self.usd_per_step = self.usd_per_hour / 3600 * use->step_s;
  self.train_usd = self.usd_per_hour / 3600 * use->train_s;
  if (use->tokens_per_s > 0)
    self.usd_per_million_tokens = self.usd_per_hour / (use->tokens_per_s * 3600) * 1e6;
  return self;
}
