/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h - the output of `fabricast scale`. */
#pragma once

#include "sim/study/scaling.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabScalingSpec *spec;
  const FabScaling *scaling;
} FabScaleView;

/* Format the view. (transfer full) */
char *fab_scale_text (const FabScaleView *view);
char *fab_scale_csv (const FabScaleView *view);
char *fab_scale_json (const FabScaleView *view);
