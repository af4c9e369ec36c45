/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - what `fabricast whatif` prints. */
#pragma once

#include "sim/study/change.h"
#include "validate/fidelity/blast.h"
#include "validate/fidelity/sides.h"

typedef struct {
  const char *title;
  GPtrArray *changes; /* FabChange */
  /* FabSide: the scenario, each change, and all of them, where they can be together. One without a point hangs. */
  GPtrArray *sides;
  const FabContrast *contrast; /* of those with points, the scenario first */
  const char *apart; /* why there is no "together", as a sentence; NULL: there is, or one change only */
} FabWhatIfView;

/* The column of a side in the contrast; -1: it hangs. */
gint fab_whatif_column (const FabWhatIfView *view, guint side);

/* The change behind a side; NULL: the scenario itself, or all of them. */
const FabChange *fab_whatif_change (const FabWhatIfView *view, guint side);

/* Why the step is another one, which link binds then, and for faults how far it reaches. (transfer full) */
char *fab_whatif_words (const FabWhatIfView *view, guint side);

/* (transfer full) */
char *fab_whatif_text (const FabWhatIfView *view);
char *fab_whatif_csv (const FabWhatIfView *view);
char *fab_whatif_json (const FabWhatIfView *view);
