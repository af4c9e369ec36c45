/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - what `fabricast cost` prints: the bill of a machine, then what the job costs on it. */
#pragma once

#include "sim/study/point.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabCostSpec *cost;
  const FabBill *bill;
  const FabPoint *point;
} FabCostView;

/* (transfer full) */
char *fab_cost_text (const FabCostView *view);
char *fab_cost_csv (const FabCostView *view);
char *fab_cost_json (const FabCostView *view);
