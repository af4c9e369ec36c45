/* SPDX-License-Identifier: Apache-2.0 */
/* cost_params.c - each default with its source. Constant data only.
 *
 * usd_per_kwh  0.06 to 0.12 in cost models of GPU clusters (v2-pseo-ai.pages.dev "GPU TCO analysis", 2026); about the
 *              mean of US industry in 2024 (see EIA, Electric Power Monthly)
 * pue          1.10 at best, 1.20 to 1.30 at large clouds, 1.56 the mean of all who were asked in 2024 (Uptime
 *              Institute, quoted by lynx-cortex.pages.dev and datasetsearch.research.google.com)
 * years        5: Amazon's annual report for 2024 (from six to five years for part of its servers, for AI); clouds
 *              for AI 4 to 6 (research-viewer.pages.dev "GPU useful life")
 * maintenance  annual contracts 4 to 8 % of the purchase price (CTWatch Quarterly, May 2006, icl.utk.edu)
 * site         colocation 150 to 250 dollars per kW and month (v2-pseo-ai.pages.dev, 2026)
 * low, high    the same sources: 0.06 and 0.12 $/kWh, PUE 1.1 and 1.56, six and four years
 * gpu_busy     peaks of training reach the board's watts (Patel et al., "Characterizing Power Management
 *              Opportunities for LLMs in the Cloud", ASPLOS 2024)
 * gpu_waiting  between iterations 20 to 75 % are left, model by model (see the same paper); "near idle" in Choukse
 *              et al., arXiv 2508.14318
 * cables       taken: a row of racks, and across some
 */
#include "sim/scenario/cost_params.h"

#define COST_PARAMS_ROW(key_, type_, field_, fallback_, help_)                             \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabCostSpec, field_), \
  .fallback = fallback_, .help = help_

#define COST_END_ROW(key_, type_, field_, fallback_, help_)                                   \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabCostEndSpec, field_), \
  .fallback = fallback_, .help = help_

#define COST_END_ROWS(kwh_, pue_, years_)                                                                    \
  {                                                                                                          \
    { COST_END_ROW ("usd_per_kwh", FACTOR, usd_per_kwh, kwh_,                                                \
                    "Price of electricity at this end of the range."),                                       \
      .max = 100 },                                                                                          \
        { COST_END_ROW ("pue", FACTOR, pue_factor, pue_,                                                     \
                        "Power of the whole site over that of its machines, "                                \
                        "at this end."),                                                                     \
          .max = 10 },                                                                                       \
        { COST_END_ROW ("years", FACTOR, years, years_,                                                      \
                        "Years of use of the machine at this end of the range."),                            \
          .max = 100 },                                                                                      \
        { COST_END_ROW ("usd_per_gpu_hour", FACTOR, usd_per_gpu_hour, "0",                                   \
                        "Rent of one GPU at this end of the range."),                                        \
          .max = 1e6 },                                                                                      \
        { COST_END_ROW ("maintenance", FRACTION, maintenance_fraction, "0%",                                 \
                        "Maintenance per year as a share of the purchase price, at this end of the range."), \
          .max = 1 },                                                                                        \
        { COST_END_ROW ("staff_usd_per_year", FACTOR, staff_usd_per_year, "0",                               \
                        "Cost of staff at this end of the range."),                                          \
          .max = 1e12 },                                                                                     \
        { COST_END_ROW ("site_usd_per_kw_month", FACTOR, site_usd_per_kw_month, "0",                         \
                        "Cost of building and cooling at this end of the range."),                           \
          .max = 1e6 },                                                                                      \
        { COST_END_ROW ("utilisation", FRACTION, utilisation_fraction, "0%",                                 \
                        "Share of the hours in which the machine works, at this end of the range."),         \
          .max = 1 },                                                                                        \
    {                                                                                                        \
      .key = NULL                                                                                            \
    }                                                                                                        \
  }

static const FabParam cost_low_params[] = COST_END_ROWS ("0.06", "1.1", "6");
static const FabParam cost_high_params[] = COST_END_ROWS ("0.12", "1.56", "4");

const FabParam fab_cost_params[] = {
  { COST_PARAMS_ROW ("usd_per_kwh", FACTOR, usd_per_kwh, "0.08",
                     "Price of electricity in US dollars per kWh."),
    .max = 100 },
  { COST_PARAMS_ROW ("pue", FACTOR, pue_factor, "1.3",
                     "Power usage effectiveness: power of the whole site divided by that of its machines."),
    .min = 1, .max = 10 },
  { COST_PARAMS_ROW ("years", FACTOR, years, "5",
                     "Years of use of the machine, day and night, over which its price is spread."),
    .min = 0.01, .max = 100 },
  { COST_PARAMS_ROW ("usd_per_gpu_hour", FACTOR, usd_per_gpu_hour, "0",
                     "Rent of one GPU for an hour, with its share of the machine; 0: the machine is bought."),
    .max = 1e6 },
  { COST_PARAMS_ROW (
      "rent", TEXT, rent, "",
      "The product of kind rent by which the machine is rented; empty: usd_per_gpu_hour, or it "
      "is bought.") },
  { COST_PARAMS_ROW (
        "maintenance", FRACTION, maintenance_fraction, "0%",
        "Maintenance of what is bought for each year, as a share of its price; 0 %: not counted."),
    .max = 1 },
  { COST_PARAMS_ROW ("staff_usd_per_year", FACTOR, staff_usd_per_year, "0",
                     "People who run the whole machine, US dollars per year; 0: not counted."),
    .max = 1e12 },
  { COST_PARAMS_ROW ("site_usd_per_kw_month", FACTOR, site_usd_per_kw_month, "0",
                     "Building and cooling plant, US dollars per kW of machines and month; 0: not counted."),
    .max = 1e6 },
  { COST_PARAMS_ROW (
        "utilisation", FRACTION, utilisation_fraction, "100%",
        "Share of the hours in which a machine that was bought works; the others are paid for too."),
    .min = 0.01, .max = 1 },
  { COST_PARAMS_ROW ("low", TABLE, low, NULL,
                     "The numbers above where they make the machine cheapest; 0: as above."),
    .table = cost_low_params, .table_size = sizeof (FabCostEndSpec) },
  { COST_PARAMS_ROW ("high", TABLE, high, NULL,
                     "The numbers above where they make the machine dearest; 0: as above."),
    .table = cost_high_params, .table_size = sizeof (FabCostEndSpec) },
  { COST_PARAMS_ROW ("gpu_busy", FRACTION, busy_fraction, "100%",
                     "Share of its power that a GPU draws while it computes."),
    .max = 1 },
  { COST_PARAMS_ROW ("gpu_waiting", FRACTION, waiting_fraction, "50%",
                     "Share of its power that a GPU draws in exposed communication and idle time."),
    .max = 1 },
  { COST_PARAMS_ROW ("nic_cable", LENGTH, nic_cable_mm, "30m",
                     "Length of cables from NICs to switches, which decides their kind."),
    .max = 1e8 },
  { COST_PARAMS_ROW ("switch_cable", LENGTH, switch_cable_mm, "50m",
                     "Length of cables between switches, which decides their kind."),
    .max = 1e8 },
  { .key = NULL },
};
