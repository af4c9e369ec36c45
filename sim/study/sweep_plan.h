/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_plan.h - what a sweep is: the scenario that it varies, and a fingerprint of all that its points depend on. */
#pragma once

#include "sim/study/grid.h"
#include "sim/study/study.h"

typedef struct {
  char *name, *summary; /* of the scenario; summary may be NULL */
  char
      *scenario_yaml; /* resolved: without what varies, or as its first point where it is not whole without */
  char *fingerprint;
} FabSweepPlan;

/* NULL and *error when the scenario cannot be read, or not with what varies. */
FabSweepPlan *fab_sweep_plan_new (const FabStudy *study, const FabGrid *grid, const char *version,
                                  GError **error);
void fab_sweep_plan_free (FabSweepPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepPlan, fab_sweep_plan_free)

/* The scenario's files still say the same. */
gboolean fab_sweep_plan_holds (const FabSweepPlan *self, const FabStudy *study, const FabGrid *grid);
