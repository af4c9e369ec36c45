/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - the output of `fabricast whatif`. */
#pragma once

#include "sim/study/change.h"
#include "validate/fidelity/blast.h"
#include "validate/fidelity/sides.h"

typedef struct {
  const char *title;
  GPtrArray *changes; /* FabChange */
  /* FabSide: the scenario, each change, and all changes together where that is possible. A side without a point
   * hangs. */
  GPtrArray *sides;
  const FabContrast *contrast; /* of the sides with points, the scenario first */
  const char *apart; /* a sentence why there is no "together"; NULL: there is, or there is one change only */
} FabWhatIfView;

/* Returns the column of a side in the contrast; -1: it hangs. */
gint fab_whatif_column (const FabWhatIfView *view, guint side);

/* Returns the change of a side; NULL: the scenario itself, or all changes together. */
const FabChange *fab_whatif_change (const FabWhatIfView *view, guint side);

/* Says why the step differs, which link then binds, and for faults how far the effect reaches. (transfer full) */
char *fab_whatif_words (const FabWhatIfView *view, guint side);

/* Format the view. (transfer full) */
char *fab_whatif_text (const FabWhatIfView *view);
char *fab_whatif_csv (const FabWhatIfView *view);
char *fab_whatif_json (const FabWhatIfView *view);
