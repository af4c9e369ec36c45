/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - what `fabricast compare` prints. Columns are variants, whatever makes them differ. (transfer full) */
#pragma once

#include "validate/fidelity/contrast.h"

/* `title`: the first line; `left_out`: what could not be played and why, a line each, NULL-ended, or NULL. */
typedef struct {
  const FabContrast *contrast;
  const char *title;
  char **left_out;
} FabCompareView;

char *fab_compare_text (const FabCompareView *view);
char *fab_compare_csv (const FabCompareView *view);
char *fab_compare_json (const FabCompareView *view);
