/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/search.h"

enum { MOST_AT_ONCE = 2 * FAB_SEARCH_GRID };

typedef struct {
  guint n;
  FabTrialFn trial;
  gpointer data;
  FabSearch *result;
  double best_gap;
} Search;

static void
note (Search *self, guint item, const FabTrial *trial)
{
  FabSearch *result = self->result;

  result->n_trials++;
  if (trial->is_met && item < result->first)
    result->first = result->best = item;
  if (result->first == self->n && trial->gap < self->best_gap) {
    self->best_gap = trial->gap;
    result->best = item;
  }
}

/* Tries `n_items` values at equal distances from `from` to `to`, both included, each once. */
static gboolean
try_between (Search *self, guint from, guint to, guint n_items, GError **error)
{
  guint items[MOST_AT_ONCE] = { 0 }, n = 0;
  FabTrial trials[MOST_AT_ONCE] = { { FALSE, 0 } };

  for (guint i = 0; i < n_items; i++) {
    guint item = n_items == 1 ? from : from + (guint) ((guint64) (to - from) * i / (n_items - 1));

    if (n == 0 || items[n - 1] != item)
      items[n++] = item;
  }
  if (!self->trial (self->data, items, n, trials, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    note (self, items[i], &trials[i]);
  for (guint i = 0; i < n; i++)
    self->result->is_unsteady |= !trials[i].is_met && items[i] > self->result->first;
  return TRUE;
}

/* Closes the gap between the largest value known to miss the target and `first`. */
static gboolean
close_in (Search *self, guint unmet, GError **error)
{
  while (self->result->first - unmet > 1) {
    guint first = self->result->first, inside = first - unmet - 1;
    guint n = MIN (inside, FAB_SEARCH_AT_ONCE), step = (inside + 1) / (n + 1);
    guint from = unmet + MAX (step, 1), to = first - MAX (step, 1);

    if (!try_between (self, from, MAX (from, to), n, error))
      return FALSE;
    /* Of the values tried below the first that meets the target, none meets it. */
    for (guint i = n; i-- > 0;) {
      guint item = n == 1 ? from : from + (guint) ((guint64) (MAX (from, to) - from) * i / (n - 1));

      if (item < self->result->first) {
        unmet = MAX (unmet, item);
        break;
      }
    }
  }
  return TRUE;
}

/* Tries two more rounds, each between the neighbours of the best point. */
static gboolean
look_around (Search *self, guint spacing, GError **error)
{
  for (guint round = 0; round < 2 && self->result->first == self->n && spacing > 1; round++) {
    guint best = self->result->best;
    guint from = best > spacing ? best - spacing : 0, to = MIN (best + spacing, self->n - 1);

    if (!try_between (self, from, to, FAB_SEARCH_GRID, error))
      return FALSE;
    spacing = MAX ((to - from) / (FAB_SEARCH_GRID - 1), 1);
  }
  return TRUE;
}

gboolean
fab_search_first (guint n, FabTrialFn trial, gpointer data, FabSearch *result, GError **error)
{
  Search self = { n, trial, data, result, G_MAXDOUBLE };
  guint n_grid = n <= MOST_AT_ONCE ? n : FAB_SEARCH_GRID, unmet = 0;

  g_assert (n > 0);
  *result = (FabSearch){ .first = n };
  if (!try_between (&self, 0, n - 1, n_grid, error))
    return FALSE;
  if (n_grid == n || result->first == 0)
    return TRUE;
  guint spacing = (n - 1) / (n_grid - 1) + 1;
  if (result->first == n && !look_around (&self, spacing, error))
    return FALSE;
  if (result->first == n)
    return TRUE;
  unmet = result->first > spacing ? result->first - spacing : 0;
  for (guint i = 0; i < n_grid; i++) {
    guint item = (guint) ((guint64) (n - 1) * i / (n_grid - 1));

    if (item < result->first)
      unmet = MAX (unmet, item);
  }
  return close_in (&self, unmet, error);
}
