/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - whether two points of a study differ beyond the spread of their seeds, and how that is said. */
#pragma once

#include "sim/study/spread.h"

/* The number of plays behind a point; 1 where it is NULL. */
guint fab_spread_n_seeds (const FabPoint *point);

/* By how much the step differs from the base's, as a fraction of it, seed by seed. */
FabDifference fab_spread_step_change (const FabPoint *base, const FabPoint *point);
/* The same in words: "-35.6 to +0.3 %". (transfer full) */
char *fab_spread_show_change (const FabPoint *base, const FabPoint *point);

/* Whether the figures differ by no more than the spread of their seeds. FALSE: they differ, or there is one seed. */
gboolean fab_spread_is_within (const FabFigure *figure, const FabPoint *base, const FabPoint *point);

/* The words for a difference of two points. `why` is the sentence for single plays: it is replaced where the difference
 * lies within the spread, and followed by the range where it does not. (transfer full) */
char *fab_spread_words (const char *why, const char *base_name, const FabPoint *base, const char *name,
                        const FabPoint *point);
