/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - the output of `fabricast plan`. */
#pragma once

#include "sim/study/plan.h"

typedef struct {
  const char *title;   /* of the scenario */
  const char *machine; /* "128 x a100-sxm4-80gb on 16 x dgx-a100" */
  FabBytes most_bytes; /* the most memory that a rank may need; 0: any */
  double sequences;    /* sequences of a step */
  const FabFigure *by;
  const FabPlan *plan;
  guint top; /* rows of the ranking that are shown; the best of each strategy is always shown */
} FabPlanView;

/* Format the view. (transfer full) */
char *fab_plan_text (const FabPlanView *view);
char *fab_plan_csv (const FabPlanView *view);
char *fab_plan_json (const FabPlanView *view);

/* Returns "zero3, micro-batch 2 x 4, recompute full". (transfer full) */
char *fab_plan_name (const FabCandidate *candidate);
