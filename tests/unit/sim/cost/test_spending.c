/* SPDX-License-Identifier: Apache-2.0 */
/* test_spending.c - what an hour, a step and a token cost and draw, by hand, from a bill whose sums are given. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/cost/bill.h"

/* 10 accelerators of 100 W, a node of 500 W and a network of 300 W, for $8766: a dollar an hour if it works all hours
 * of one year. */
static const FabBill bill = { .total = { 8766, 8766, 8766 },
                              .network = { 1000, 1000, 1000 },
                              .accelerator_watts = 1000,
                              .cap_fraction = 1,
                              .node_watts = 500,
                              .network_watts = 300,
                              .n_accelerators = 10,
                              .is_priced = TRUE,
                              .is_powered = TRUE };

/* Everything is used for one year, and only the purchase costs. */
static const FabCostSpec cost = { .pue_factor = 1, .years = 1, .busy_fraction = 1, .waiting_fraction = 0.5 };

static const FabWork all_work = { .n_accelerators = 10, .step_s = 2, .compute_s = 2 };

/* Busy for the share of the step that computes, which is at most all of it; a power cap takes what is above it, busy or
 * waiting. A job has the share of the accelerators, and the site draws more by its factor. */
static void
power_is_that_of_the_share_that_computes (G_GNUC_UNUSED void **state)
{
  static const struct {
    double step_s, compute_s, cap, pue;
    guint64 n_accelerators;
    double watts, network;
  } rows[] = {
    { 2, 2, 1, 1, 10, 1000 + 500 + 300, 300 },
    { 2, 1, 1, 1, 10, 750 + 500 + 300, 300 },
    { 2, 0, 1, 1, 10, 500 + 500 + 300, 300 },
    { 2, 3, 1, 1, 10, 1000 + 500 + 300, 300 },
    { 0.5, 0.25, 1, 1, 10, 750 + 500 + 300, 300 },
    { 0, 1, 1, 1, 10, 500 + 500 + 300, 300 },
    { 2, 1, 0.7, 1, 10, 350 + 250 + 500 + 300, 300 },
    { 2, 1, 0.4, 1, 10, 200 + 200 + 500 + 300, 300 },
    { 2, 2, 1, 2, 10, 2 * 1800, 600 },
    { 2, 2, 1, 1, 5, 900, 150 },
    { 2, 2, 1, 1, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabBill capped = bill;
    FabCostSpec own = cost;

    capped.cap_fraction = rows[i].cap;
    own.pue_factor = rows[i].pue;
    FabSpending made = fab_spending_of (
        &capped, &own, &(FabWork){ rows[i].n_accelerators, rows[i].step_s, rows[i].compute_s, 0, 7200 });
    assert_near (made.power_watts, rows[i].watts, 1e-12);
    assert_near (made.network_watts, rows[i].network, 1e-12);
    assert_near (made.step_joules, rows[i].watts * rows[i].step_s, 1e-12);
    assert_near (made.train_joules, rows[i].watts * 7200, 1e-12);
  }
}

/* A machine without accelerators has no share, and what has no watts or no price has no hour, unless it is rented. */
static void
what_is_not_known_costs_nothing (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint64 n_accelerators;
    gboolean is_priced, is_powered;
    double rent, per_gpu;
    double hour, capex;
  } rows[] = {
    { 10, TRUE, TRUE, 0, 0, 1, 8766 },   { 0, TRUE, TRUE, 0, 0, 0, 8766 },
    { 10, FALSE, TRUE, 0, 0, 0, 0 },     { 10, TRUE, FALSE, 0, 0, 0, 8766 },
    { 10, FALSE, FALSE, 40, 0, 40, 0 },  { 10, FALSE, FALSE, 0, 3, 30, 0 },
    { 10, TRUE, TRUE, 40, 3, 40, 8766 }, { 20, TRUE, TRUE, 40, 3, 20, 8766 },
    { 20, TRUE, TRUE, 0, 3, 30, 8766 },  { 1, TRUE, TRUE, 0, 0, 10, 8766 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabBill own = bill;
    FabCostSpec rent = cost;

    own.n_accelerators = rows[i].n_accelerators;
    own.is_priced = rows[i].is_priced;
    own.is_powered = rows[i].is_powered;
    own.rent_per_hour = (FabMoney){ rows[i].rent, rows[i].rent, rows[i].rent };
    rent.usd_per_gpu_hour = rows[i].per_gpu;
    FabSpending made = fab_spending_of (&own, &rent, &all_work);
    assert_near (made.usd_per_hour, rows[i].hour, 1e-12);
    assert_near (made.capex_usd, rows[i].capex, 1e-12);
    assert_near (made.network_usd, rows[i].is_priced ? 1000 : 0, 1e-12);
    assert_near (made.bought_usd_per_hour, rows[i].rent + rows[i].per_gpu > 0 ? 0 : rows[i].hour, 1e-12);
    assert_near (made.low_usd_per_hour, rows[i].hour, 1e-12);
    assert_near (made.high_usd_per_hour, rows[i].hour, 1e-12);
    assert_near (made.power_watts,
                 rows[i].is_powered && rows[i].n_accelerators > 0
                     ? 1800 * 10.0 / (double) rows[i].n_accelerators
                     : 0,
                 1e-12);
  }
}

/* Half of the hours make each twice as dear. A step of 2 s is 1/1800 of an hour, and 500 tokens a second are 1.8
 * million an hour. */
static void
an_hour_is_divided_into_steps_and_tokens (G_GNUC_UNUSED void **state)
{
  FabCostSpec half = cost;
  FabWork work = all_work;

  half.utilisation_fraction = 0.5;
  half.usd_per_kwh = 0.1; /* 1.8 kW */
  work.tokens_per_s = 500;
  work.train_s = 7200;
  FabSpending made = fab_spending_of (&bill, &half, &work);
  assert_near (made.bought_usd_per_hour, 2, 1e-12);
  assert_near (made.energy_usd_per_hour, 0.18, 1e-12);
  assert_near (made.usd_per_hour, 2.18, 1e-12);
  assert_near (made.usd_per_step, 2.18 / 1800, 1e-12);
  assert_near (made.train_usd, 4.36, 1e-12);
  assert_near (made.usd_per_million_tokens, 2.18 / 1.8, 1e-12);
  work.tokens_per_s = 0;
  assert_near (fab_spending_of (&bill, &half, &work).usd_per_million_tokens, 0, 0);
}

/* An hour of 1 + 0.1 + 0.2 + 0.3 + 0.18 x 2 dollars: purchase, maintenance, staff, site, and 1.8 kW for 20 cents at
 * a PUE of 1. Each number by itself goes to its ends, and what it adds or takes is known; without an end nothing
 * moves. */
static void
every_number_has_its_ends (G_GNUC_UNUSED void **state)
{
  static const double bought = 1, maintenance = 0.1, staff = 0.2, site = 0.3, energy = 0.36;
  static const FabCostSpec whole = { .pue_factor = 1,
                                     .years = 1,
                                     .busy_fraction = 1,
                                     .waiting_fraction = 0.5,
                                     .usd_per_kwh = 0.2,
                                     .maintenance_fraction = 0.1,
                                     .staff_usd_per_year = 0.2 * 8766,
                                     .site_usd_per_kw_month = 0.3 * 8766 / (12 * 1.8),
                                     .utilisation_fraction = 1 };
  const struct {
    FabCostEndSpec low, high;
    double fall, rise;
  } rows[] = {
    { { .years = 0 }, { .years = 0 }, 0, 0 },
    { { .usd_per_kwh = 0.1 }, { .usd_per_kwh = 0.6 }, energy / 2, 2 * energy },
    { { .usd_per_kwh = 0.1 }, { .years = 0 }, energy / 2, 0 },
    { { .years = 0 }, { .pue_factor = 1.5 }, 0, energy / 2 },
    { { .years = 2 }, { .years = 0.5 }, bought / 2, bought },
    { { .maintenance_fraction = 0.05 }, { .maintenance_fraction = 0.3 }, maintenance / 2, 2 * maintenance },
    { { .staff_usd_per_year = 0.1 * 8766 }, { .staff_usd_per_year = 0.4 * 8766 }, staff / 2, staff },
    { { .site_usd_per_kw_month = 0.1 * 8766 / (12 * 1.8) },
      { .site_usd_per_kw_month = 0.6 * 8766 / (12 * 1.8) },
      0.2,
      site },
    { { .years = 0 }, { .utilisation_fraction = 0.5 }, 0, bought + maintenance + staff + site },
    { { .usd_per_gpu_hour = 0.01 }, { .usd_per_gpu_hour = 100 }, 0, 0 }, /* it is bought */
    { { .usd_per_kwh = 0.1, .years = 2 },
      { .years = 0 },
      sqrt (energy * energy / 4 + bought * bought / 4),
      0 },
    { { .usd_per_kwh = 0.3 }, { .usd_per_kwh = 0.4 }, 0, energy }, /* the larger of both rises */
  };
  double hour = bought + maintenance + staff + site + energy;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabCostSpec own = whole;

    own.low = rows[i].low;
    own.high = rows[i].high;
    FabSpending made = fab_spending_of (&bill, &own, &all_work);
    assert_near (made.usd_per_hour, hour, 1e-12);
    assert_near (made.low_usd_per_hour, hour - rows[i].fall, 1e-12);
    assert_near (made.high_usd_per_hour, hour + rows[i].rise, 1e-12);
  }
}

/* A purchase of half to three times as much; one whose ends are not known stays what it is. Rent has ends of its own,
 * by the product or by the number of `cost`. */
static void
prices_have_their_ends (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabMoney total, rent;
    double per_gpu, low_per_gpu, high_per_gpu;
    double low, usd, high;
  } rows[] = {
    { { 8766, 4383, 3 * 8766 }, { 0, 0, 0 }, 0, 0, 0, 0.5, 1, 3 },
    { { 8766, 0, 3 * 8766 }, { 0, 0, 0 }, 0, 0, 0, 1, 1, 1 },
    { { 8766, 4383, 0 }, { 0, 0, 0 }, 0, 0, 0, 1, 1, 1 },
    { { 8766, 4383, 3 * 8766 }, { 10, 8, 15 }, 0, 0, 0, 8, 10, 15 },
    { { 8766, 4383, 3 * 8766 }, { 0, 0, 0 }, 2, 1, 5, 10, 20, 50 },
    { { 8766, 4383, 3 * 8766 }, { 0, 0, 0 }, 0.05, 0.04, 0.08, 0.4, 0.5, 0.8 },
    { { 8766, 4383, 3 * 8766 }, { 0.9, 0.8, 1.5 }, 0, 0, 0, 0.8, 0.9, 1.5 },
    { { 0.8766, 0.4383, 3 * 0.8766 }, { 0, 0, 0 }, 0, 0, 0, 5e-5, 1e-4, 3e-4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    FabBill own = bill;
    FabCostSpec ends = cost;

    own.total = rows[i].total;
    own.rent_per_hour = rows[i].rent;
    ends.usd_per_gpu_hour = rows[i].per_gpu;
    ends.low.usd_per_gpu_hour = rows[i].low_per_gpu;
    ends.high.usd_per_gpu_hour = rows[i].high_per_gpu;
    FabSpending made = fab_spending_of (&own, &ends, &all_work);
    assert_near (made.usd_per_hour, rows[i].usd, 1e-12);
    assert_near (made.low_usd_per_hour, rows[i].low, 1e-12);
    assert_near (made.high_usd_per_hour, rows[i].high, 1e-12);
  }
}

/* The hour and the step are added in squares, each way: falls of 3 and 4 are 5. No sum falls below nothing, and what is
 * not known has no range. */
static void
money_has_the_range_of_the_hour_and_of_the_step (G_GNUC_UNUSED void **state)
{
  static const struct {
    double hour, low_hour, high_hour, usd, step_s, low_s, high_s;
    double low, high;
  } rows[] = {
    { 10, 7, 13, 10, 1, 0.6, 1.4, 5, 15 },   { 10, 7, 13, 10, 0, 0.6, 1.4, 7, 13 },
    { 10, 7, 13, 20, 2, 2, 2, 14, 26 },      { 10, 10, 10, 10, 1, 0.6, 2, 6, 20 },
    { 10, 1, 10, 10, 1, 0.1, 1, 0, 10 },     { 0, 0, 0, 10, 1, 0.6, 1.4, 10, 10 },
    { 10, 7, 13, 0, 1, 0.6, 1.4, 0, 0 },     { 10, 7, 13, 0.5, 1, 0.6, 1.4, 0.25, 0.75 },
    { 10, 7, 13, 10, 0.5, 0.3, 0.7, 5, 15 }, { 0.5, 0.35, 0.65, 10, 1, 0.6, 1.4, 5, 15 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabSpending of = { .usd_per_hour = rows[i].hour,
                             .low_usd_per_hour = rows[i].low_hour,
                             .high_usd_per_hour = rows[i].high_hour };
    FabMoney range = fab_spending_range (&of, rows[i].usd, rows[i].step_s, rows[i].low_s, rows[i].high_s);

    assert_near (range.usd, rows[i].usd, 0);
    assert_near (range.low_usd, rows[i].low, 1e-12);
    assert_near (range.high_usd, rows[i].high, 1e-12);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (power_is_that_of_the_share_that_computes),
    cmocka_unit_test (what_is_not_known_costs_nothing),
    cmocka_unit_test (an_hour_is_divided_into_steps_and_tokens),
    cmocka_unit_test (every_number_has_its_ends),
    cmocka_unit_test (prices_have_their_ends),
    cmocka_unit_test (money_has_the_range_of_the_hour_and_of_the_step),
  };

  return cmocka_run_group_tests_name ("spending", tests, NULL, NULL);
}
