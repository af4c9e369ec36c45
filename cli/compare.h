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

/* The fidelities of a list with commas, each once; all that there are for NULL. What is wrong with it is added to
 * `mistakes`, a line each. (transfer full) */
char **fab_compare_fidelities (const char *command, const char *list, GString *mistakes);
void fab_compare_note_unknown (const char *command, const char *option, const char *name, GString *mistakes);

char *fab_compare_text (const FabCompareView *view);
char *fab_compare_csv (const FabCompareView *view);
char *fab_compare_json (const FabCompareView *view);
