/* SPDX-License-Identifier: Apache-2.0 */
/* cost_params.c - the keys of `cost`, each default with its source. Constant data only.
 *
 * usd_per_kwh  0.06 to 0.12 in cost models of GPU clusters (v2-pseo-ai.pages.dev "GPU TCO analysis", 2026); about the
 *              mean of US industry in 2024 (see EIA, Electric Power Monthly)
 * pue          1.10 at best, 1.20 to 1.30 at large clouds, 1.56 the mean of all who were asked in 2024 (Uptime
 *              Institute, quoted by lynx-cortex.pages.dev and datasetsearch.research.google.com)
 * years        5: Amazon's annual report for 2024 (from six to five years for part of its servers, for AI); clouds for
 *              AI 4 to 6 (research-viewer.pages.dev "GPU useful life")
 * gpu_busy     peaks of training reach the board's watts (Patel et al., "Characterizing Power Management Opportunities
 *              for LLMs in the Cloud", ASPLOS 2024)
 * gpu_waiting  between iterations 20 to 75 % are left, model by model (see the same paper); "near idle" in Choukse
 *              et al., arXiv 2508.14318
 * cables       taken: a row of racks, and across some
 */
#include "sim/scenario/cost_params.h"

#define ROW(key_, type_, field_, fallback_, help_)                                         \
  .key = key_, .type = FAB_PARAM_##type_, .offset = G_STRUCT_OFFSET (FabCostSpec, field_), \
  .fallback = fallback_, .help = help_

const FabParam fab_cost_params[] = {
  { ROW ("usd_per_kwh", FACTOR, usd_per_kwh, "0.08", "Price of electricity, US dollars per kWh."),
    .max = 100 },
  { ROW ("pue", FACTOR, pue_factor, "1.3", "What the site draws over what its machines draw."), .min = 1,
    .max = 10 },
  { ROW ("years", FACTOR, years, "5",
         "How long what is bought is used, day and night; its price is spread over it."),
    .min = 0.01, .max = 100 },
  { ROW ("usd_per_gpu_hour", FACTOR, usd_per_gpu_hour, "0",
         "Rent of one GPU for an hour with all that belongs to it; 0: the machine is bought."),
    .max = 1e6 },
  { ROW ("gpu_busy", FRACTION, busy_fraction, "100%",
         "Share of its watts that a GPU draws while it computes."),
    .max = 1 },
  { ROW ("gpu_waiting", FRACTION, waiting_fraction, "50%",
         "And while it does not: exposed communication and idle time."),
    .max = 1 },
  { ROW ("nic_cable", LENGTH, nic_cable_mm, "30m",
         "How long cables from NICs to switches are: which kind they need."),
    .max = 1e8 },
  { ROW ("switch_cable", LENGTH, switch_cable_mm, "50m", "Likewise between switches."), .max = 1e8 },
  { .key = NULL },
};
