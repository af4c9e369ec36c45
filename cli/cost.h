/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - the output of `fabricast cost`: the bill of a machine, then the cost of the job on it. */
#pragma once

#include "sim/study/point.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabCostSpec *cost;
  const FabBill *bill;
  const FabPoint *point;
} FabCostView;

/* Format the view. (transfer full) */
char *fab_cost_text (const FabCostView *view);
char *fab_cost_csv (const FabCostView *view);
char *fab_cost_json (const FabCostView *view);
