/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - the output of `fabricast size`. */
#pragma once

#include "sim/study/ports.h"
#include "sim/study/sureness.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabSizeSpec *spec;
  const FabSize *size;
  const FabSureness *sureness;
  const GPtrArray *ports; /* FabPort; NULL: the key is not a rate of ports, or no value meets the target */
} FabSizeView;

/* Format the view. (transfer full) */
char *fab_size_text (const FabSizeView *view);
char *fab_size_csv (const FabSizeView *view);
char *fab_size_json (const FabSizeView *view);
