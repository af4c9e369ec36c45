/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - what `fabricast size` prints. */
#pragma once

#include "sim/study/size.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabAxis *axis;
  const FabTarget *target;
  const FabSize *size;
} FabSizeView;

/* (transfer full) */
char *fab_size_text (const FabSizeView *view);
char *fab_size_csv (const FabSizeView *view);
char *fab_size_json (const FabSizeView *view);
