/* SPDX-License-Identifier: Apache-2.0 */
/* segments.c - finds the ends of regimes by dynamic programming. O(n^2) lines of O(n) once, then O(k n^2). */
#include "validate/fit/segments.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/order.h"

static const double straight_fraction = 0.005;

/* Returns a point's distance from the line between its neighbours, in standard deviations of a single point. */
static double
bend_of (const FabFitPoint *at)
{
  const FabFitPoint *before = at - 1, *after = at + 1;
  double share = (at->size_bytes - before->size_bytes) / (after->size_bytes - before->size_bytes);
  double left = (1 - share) * before->time_ps, right = share * after->time_ps, line = left + right;

  return fabs (at->time_ps / line - 1) / sqrt (1 + (left * left + right * right) / (line * line));
}

double
fab_fit_scale (const FabFitPoint *points, guint n)
{
  static const double normal = 1.4826; /* of normal numbers: standard deviation over median magnitude */
  g_autofree double *bends = g_new (double, n + 1);
  guint count = 0;

  for (guint i = 1; i + 1 < n; i++)
    if (points[i + 1].size_bytes > points[i - 1].size_bytes)
      bends[count++] = bend_of (&points[i]);
  if (count == 0)
    return straight_fraction;
  qsort (bends, count, sizeof *bends, fab_order_doubles);
  return MAX (normal * bends[count / 2], straight_fraction);
}

double
fab_fit_run_cost (const FabFitPoint *points, guint n, const FabFitLimits *limits)
{
  FabFitLine line = fab_fit_line (points, n, limits, FAB_FIT_SEARCH_ROUNDS);
  double cost = 0;

  for (guint i = 0; i < n; i++)
    cost += fab_fit_point_cost (&line, &points[i], limits->scale_fraction);
  return cost;
}

/* Returns costs: runs[from * (n + 1) + to] is that of the points from..to-1 as one regime; infinite where they cannot
 * be one. (transfer full) */
static double *
cost_runs (const FabFitPoint *points, guint n, const FabFitLimits *limits)
{
  double *runs = g_new (double, (gsize) (n + 1) * (n + 1));

  for (guint from = 0; from < n; from++)
    for (guint to = from + 1; to <= n; to++) {
      gboolean is_cut_well = (from == 0 || points[from].size_bytes > points[from - 1].size_bytes)
                          && (to == n || points[to].size_bytes > points[to - 1].size_bytes);

      runs[from * (n + 1) + to] = is_cut_well && to - from >= FAB_FIT_MIN_POINTS
                                    ? fab_fit_run_cost (points + from, to - from, limits)
                                    : INFINITY;
    }
  return runs;
}

/* best[k][to] is the cost of the cheapest k + 1 regimes of the points before `to`; from[k][to] is where the last
 * begins. */
typedef struct {
  guint n;
  double *best;
  guint *from;
} Table;

static Table
table_new (const double *runs, guint n)
{
  Table table = { n, g_new (double, FAB_FIT_MAX_REGIMES *(n + 1)),
                  g_new0 (guint, FAB_FIT_MAX_REGIMES * (n + 1)) };

  for (guint k = 0; k < FAB_FIT_MAX_REGIMES; k++)
    for (guint to = 0; to <= n; to++) {
      double *best = &table.best[k * (n + 1) + to];

      *best = k == 0 && to > 0 ? runs[to] : INFINITY;
      for (guint from = 1; k > 0 && from < to; from++) {
        double cost = table.best[(k - 1) * (n + 1) + from] + runs[from * (n + 1) + to];

        if (cost < *best) {
          *best = cost;
          table.from[k * (n + 1) + to] = from;
        }
      }
    }
  return table;
}

static void
table_clear (Table *table)
{
  g_free (table->best);
  g_free (table->from);
}

static gboolean
read_cuts (const Table *table, guint n_regimes, FabFitCuts *cuts)
{
  guint to = table->n;

  *cuts = (FabFitCuts){ n_regimes, { 0 }, table->best[(n_regimes - 1) * (table->n + 1) + to] };
  if (isinf (cuts->cost))
    return FALSE;
  for (guint k = n_regimes; k-- > 0;) {
    cuts->ends[k] = to;
    to = table->from[k * (table->n + 1) + to];
  }
  return TRUE;
}

FabFitCuts
fab_fit_segments (const FabFitPoint *points, guint n, const FabFitLimits *limits)
{
  g_autofree double *runs = cost_runs (points, n, limits);
  Table table = table_new (runs, n);
  FabFitCuts best = { 1, { n }, INFINITY };
  double least = INFINITY;

  for (guint k = 1; k <= FAB_FIT_MAX_REGIMES; k++) {
    FabFitCuts cuts;

    if (!read_cuts (&table, k, &cuts))
      continue;
    double criterion = n * log (cuts.cost / n + straight_fraction * straight_fraction)
                     + (4 * k - 1) * log (n);
    if (criterion < least) {
      least = criterion;
      best = cuts;
    }
  }
  table_clear (&table);
  return best;
}
