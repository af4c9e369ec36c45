/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - the first of many values that meets a target, by few trials.
 *
 * A grid over all values first, its points at once; then the gap before the first point that meets the target is
 * divided, several trials at once, until it is closed. So plateaus and jumps cost nothing. Where what is met at a
 * smaller value is not met at a larger one, that is seen as far as the grid shows it, and said.
 */
#pragma once

#include <glib.h>

typedef struct {
  gboolean is_met;
  double gap; /* how far it is from that; of what does not meet it the least is the best */
} FabTrial;

/* Tries `n` values by their numbers, ascending; they may be tried at once. FALSE and *error: one cannot be tried. */
typedef gboolean (*FabTrialFn) (gpointer data, const guint *items, guint n, FabTrial *trials, GError **error);

typedef struct {
  guint first; /* that meets it; n: none of those tried does */
  guint best;  /* of those tried: `first`, or the one with the least gap */
  guint n_trials;
  gboolean is_unsteady; /* a larger one does not meet it */
} FabSearch;

enum { FAB_SEARCH_GRID = 9, FAB_SEARCH_AT_ONCE = 4 };

/* Of n > 0 values. Up to 2 x FAB_SEARCH_GRID of them are all tried; else FAB_SEARCH_GRID + O(log n), and where the
 * grid meets it nowhere, twice more around its best point. */
gboolean fab_search_first (guint n, FabTrialFn trial, gpointer data, FabSearch *result, GError **error);
