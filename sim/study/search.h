/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - finds the first of many values that meets a target, with few trials.
 *
 * First a grid over all values is tried, its points in parallel. Then the gap before the first point that meets the
 * target is divided, with several trials in parallel, until it is closed. So plateaus and jumps do no harm. When a
 * smaller value meets the target and a larger one does not, the search notices it as far as the grid shows it, and
 * reports it.
 */
#pragma once

#include <glib.h>

typedef struct {
  gboolean is_met;
  double gap; /* distance from the target; of values that miss it, the smallest gap is the best */
} FabTrial;

/* Tries `n` values, given by their index, in ascending order; it may try them in parallel. FALSE and *error: one
 * cannot be tried. */
typedef gboolean (*FabTrialFn) (gpointer data, const guint *items, guint n, FabTrial *trials, GError **error);

typedef struct {
  guint first; /* the first that meets the target; n: none of those tried does */
  guint best;  /* of those tried: `first`, or the value with the smallest gap */
  guint n_trials;
  gboolean is_unsteady; /* a larger value misses the target */
} FabSearch;

enum { FAB_SEARCH_GRID = 9, FAB_SEARCH_AT_ONCE = 4 };

/* Searches n > 0 values. Up to 2 x FAB_SEARCH_GRID values are all tried. Otherwise it tries FAB_SEARCH_GRID + O(log
 * n), and when no grid point meets the target, two more rounds around the best point. */
gboolean fab_search_first (guint n, FabTrialFn trial, gpointer data, FabSearch *result, GError **error);
