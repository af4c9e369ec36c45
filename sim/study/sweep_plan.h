/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_plan.h - the identity of a sweep: the scenario that it varies, and a fingerprint of everything on which its
 * points depend. */
#pragma once

#include "sim/study/grid.h"
#include "sim/study/study.h"

typedef struct {
  char *name, *summary; /* of the scenario; summary may be NULL */
  char
      /* The resolved scenario without the keys that vary; or with those of its first point when it is incomplete
       * without them. */
      *scenario_yaml;
  char *fingerprint;
} FabSweepPlan;

/* Returns NULL and *error when the scenario cannot be read, with or without the keys that vary. (transfer full) */
FabSweepPlan *fab_sweep_plan_new (const FabStudy *study, const FabGrid *grid, const char *version,
                                  GError **error);
void fab_sweep_plan_free (FabSweepPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepPlan, fab_sweep_plan_free)

/* Whether the scenario's files are unchanged. */
gboolean fab_sweep_plan_holds (const FabSweepPlan *self, const FabStudy *study, const FabGrid *grid);
