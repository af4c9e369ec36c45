/* SPDX-License-Identifier: Apache-2.0 */
/* curve.c - finds the ends of regimes by dynamic programming. O(n^2) lines of O(n) once, then O(k n^2). */
#include "validate/fit/curve.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"

typedef struct {
  double scale_fraction;  /* standard deviation of the residuals without outliers; > 0 */
  double min_ps_per_byte; /* the time per byte of the fastest link there can be; > 0 */
} FabFitLimits;

/* The most rounds of least squares: while the ends of regimes are searched, and for the line of a regime that was
 * found. Each round weights the points anew; where many points lie near 1.345 scales it can take hundreds of rounds
 * until the line no longer moves. */
enum { FAB_FIT_SEARCH_ROUNDS = 30, FAB_FIT_LINE_ROUNDS = 1000 };

typedef struct {
  guint n_regimes;
  guint ends[FAB_FIT_MAX_REGIMES]; /* index after the last point of each regime */
  double cost;                     /* sum of fit_point_cost over the lines of all regimes */
} FabFitCuts;

/* Solves weighted least squares in two bounded unknowns; weights after Huber. O(n) per round. */

static const double fab_fit_huber = 1.345;
static const double cap_scales = 4, settled_fraction = 1e-9;

/* Weighted sums over x = 1 / t (of the overhead) and y = m / t (of ps_per_byte); the fit wants a x + s y = 1. */
typedef struct {
  double xx, xy, yy, x, y;
} Sums;

double
fab_fit_line_time_ps (const FabFitLine *line, double size_bytes)
{
  return line->overhead_ps + size_bytes * line->ps_per_byte;
}

static double
fit_line_residual (const FabFitLine *line, const FabFitPoint *point)
{
  return fab_fit_line_time_ps (line, point->size_bytes) / point->time_ps - 1;
}

/* Returns what a point adds to the cost of a regime: its squared residual, but at most that of 4 scales, so that no
 * regime is chosen for the sake of one outlier. */
static double
fit_point_cost (const FabFitLine *line, const FabFitPoint *point, double scale_fraction)
{
  double residual = fabs (fit_line_residual (line, point)), cap = cap_scales * scale_fraction;

  return MIN (residual, cap) * MIN (residual, cap);
}

static void
add (Sums *sums, const FabFitPoint *point, double weight)
{
  double x = 1 / point->time_ps, y = point->size_bytes / point->time_ps;

  sums->xx += weight * x * x;
  sums->xy += weight * x * y;
  sums->yy += weight * y * y;
  sums->x += weight * x;
  sums->y += weight * y;
}

/* Returns the weighted sum of squares of a x + s y - 1, less the sum of the weights, which no line changes. */
static double
squares (const Sums *sums, const FabFitLine *line)
{
  double a = line->overhead_ps, s = line->ps_per_byte;

  return a * a * sums->xx + 2 * a * s * sums->xy + s * s * sums->yy - 2 * (a * sums->x + s * sums->y);
}

/* Returns the minimum of the parabola within the bounds: the free one, else the better of the two edges. */
static FabFitLine
solve (const Sums *sums, double min_ps_per_byte)
{
  double determinant = sums->xx * sums->yy - sums->xy * sums->xy;
  FabFitLine no_overhead = { 0, MAX (sums->y / sums->yy, min_ps_per_byte) };
  FabFitLine fastest = { MAX ((sums->x - min_ps_per_byte * sums->xy) / sums->xx, 0), min_ps_per_byte };

  if (determinant > 1e-12 * sums->xx * sums->yy) {
    FabFitLine free = { (sums->x * sums->yy - sums->y * sums->xy) / determinant,
                        (sums->y * sums->xx - sums->x * sums->xy) / determinant };

    if (free.overhead_ps >= 0 && free.ps_per_byte >= min_ps_per_byte)
      return free;
  }
  return squares (sums, &fastest) < squares (sums, &no_overhead) ? fastest : no_overhead;
}

static gboolean
is_settled (const FabFitLine *a, const FabFitLine *b)
{
  return fabs (a->overhead_ps - b->overhead_ps) <= settled_fraction * a->overhead_ps
      && fabs (a->ps_per_byte - b->ps_per_byte) <= settled_fraction * a->ps_per_byte;
}

/* Fits a line. Two points of different sizes determine both parameters; with one point the line passes through it. */
static FabFitLine
fit_line (const FabFitPoint *points, guint n, const FabFitLimits *limits, guint max_rounds)
{
  double bend = fab_fit_huber * limits->scale_fraction;
  FabFitLine line = { 0 };

  for (guint round = 0; round < max_rounds; round++) {
    FabFitLine before = line;
    Sums sums = { 0 };

    for (guint i = 0; i < n; i++) {
      double residual = round == 0 ? 0 : fabs (fit_line_residual (&line, &points[i]));

      add (&sums, &points[i], residual > bend ? bend / residual : 1);
    }
    line = solve (&sums, limits->min_ps_per_byte);
    if (is_settled (&line, &before))
      break;
  }
  return line;
}

/* Finds the ends of regimes by dynamic programming. O(n^2) lines of O(n) once, then O(k n^2). */

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

/* Estimates the standard deviation of the relative error of single points, at least FAB_FIT_MIN_SIZES of different
 * sizes: the median deviation of each point from the straight line between its neighbours, so that outliers and the
 * ends of regimes do not count. Returns at least half a percent. */
static double
fit_scale (const FabFitPoint *points, guint n)
{
  static const double normal = 1.4826; /* of normal numbers: standard deviation over median magnitude */
  g_autofree double *bends = g_new (double, n);
  guint count = 0;

  g_assert (n >= FAB_FIT_MIN_SIZES);
  for (guint i = 1; i + 1 < n; i++)
    bends[count++] = bend_of (&points[i]);
  qsort (bends, count, sizeof *bends, fab_order_doubles);
  return MAX (normal * bends[fab_upper_median (count)], straight_fraction);
}

/* Returns the cost of a run fitted as one regime. */
static double
fit_run_cost (const FabFitPoint *points, guint n, const FabFitLimits *limits)
{
  FabFitLine line = fit_line (points, n, limits, FAB_FIT_SEARCH_ROUNDS);
  double cost = 0;

  for (guint i = 0; i < n; i++)
    cost += fit_point_cost (&line, &points[i], limits->scale_fraction);
  return cost;
}

/* Returns costs: runs[from * (n + 1) + to] is that of the points from..to-1 as one regime; infinite where they cannot
 * be one. (transfer full) */
static double *
cost_runs (const FabFitPoint *points, guint n, const FabFitLimits *limits)
{
  double *runs = g_new (double, (gsize) (n + 1) * (n + 1));

  for (guint from = 0; from < n; from++)
    for (guint to = from + 1; to <= n; to++)
      runs[from * (n + 1) + to] = to - from >= FAB_FIT_MIN_POINTS
                                    ? fit_run_cost (points + from, to - from, limits)
                                    : INFINITY;
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
    for (guint to = FAB_FIT_MIN_POINTS; to <= n; to++) {
      double *best = &table.best[k * (n + 1) + to];

      *best = k == 0 ? runs[to] : INFINITY;
      for (guint from = FAB_FIT_MIN_POINTS; k > 0 && from < to; from++) {
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

/* Cuts the points, at least FAB_FIT_MIN_POINTS, into the number of regimes that the criterion chooses. */
static FabFitCuts
fit_segments (const FabFitPoint *points, guint n, const FabFitLimits *limits)
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

/* Fits the line of each regime, then its covariance. O(n) per regime and round. */

enum { ENOUGH_DEGREES = 4 };

double
fab_fit_student_95 (guint degrees)
{
  static const double first[] = { INFINITY, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706 };
  const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, d = degrees;

  if (degrees < G_N_ELEMENTS (first))
    return first[degrees];
  return z + (z3 + z) / (4 * d) + (5 * z5 + 16 * z3 + 3 * z) / (96 * d * d)
       + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * d * d * d);
}

/* Returns the standard deviation of the residuals of some regimes by Huber's estimator: the bounded residuals'
 * squares over the share of points inside the bound. */
static double
scatter (const FabFitPoint *points, const FabFitRegime *regimes, guint n_regimes, double bend, guint *degrees)
{
  double squares = 0;
  guint n = 0, n_inside = 0, n_unknowns = 0;

  for (guint k = 0; k < n_regimes; k++) {
    n_unknowns += !regimes[k].is_without_overhead + !regimes[k].is_without_rate;
    for (guint i = regimes[k].first; i < regimes[k].end; i++, n++) {
      double residual = fabs (fit_line_residual (&regimes[k].line, &points[i]));

      squares += MIN (residual, bend) * MIN (residual, bend);
      n_inside += residual <= bend;
    }
  }
  *degrees = n > n_unknowns ? n - n_unknowns : 1;
  return sqrt (squares / *degrees) * n / MAX (n_inside, 1);
}

/* Sets the intervals from the inverse of the normal matrix; a parameter held at its bound has none. */
static void
widen (FabFitRegime *regime, const FabFitPoint *points, double reach)
{
  double xx = 0, xy = 0, yy = 0;

  for (guint i = regime->first; i < regime->end; i++) {
    double x = 1 / points[i].time_ps, y = points[i].size_bytes / points[i].time_ps;

    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (regime->is_without_overhead || regime->is_without_rate)
    xy = 0;
  double left = MAX (1 - xy * xy / (xx * yy), 1e-12);
  regime->overhead_half_ps = reach / sqrt (xx * left);
  regime->ps_per_byte_half = reach / sqrt (yy * left);
}

static void
find_lines (const FabFitPoint *points, const FabFitCuts *cuts, const FabFitLimits *limits,
            FabFitRegime *regimes)
{
  for (guint k = 0; k < cuts->n_regimes; k++) {
    guint first = k > 0 ? cuts->ends[k - 1] : 0;

    regimes[k] = (FabFitRegime){ .first = first, .end = cuts->ends[k] };
    regimes[k].line = fit_line (points + first, cuts->ends[k] - first, limits, FAB_FIT_LINE_ROUNDS);
    regimes[k].is_without_overhead = regimes[k].line.overhead_ps <= 0;
    regimes[k].is_without_rate = regimes[k].line.ps_per_byte <= limits->min_ps_per_byte;
  }
}

/* Returns the scale of the residuals where it is larger than the one estimated from neighbouring points: the curve
 * may bend more than neighbours show. */
static double
widen_scale (const FabFitPoint *points, const FabFitCuts *cuts, const FabFitRegime *regimes,
             double scale_fraction)
{
  static const double normal = 1.4826;
  guint n = cuts->ends[cuts->n_regimes - 1];
  g_autofree double *residuals = g_new (double, n);

  for (guint k = 0; k < cuts->n_regimes; k++)
    for (guint i = regimes[k].first; i < regimes[k].end; i++)
      residuals[i] = fabs (fit_line_residual (&regimes[k].line, &points[i]));
  qsort (residuals, n, sizeof *residuals, fab_order_doubles);
  return MAX (scale_fraction, normal * residuals[fab_upper_median (n)]);
}

/* Returns half of the 95 % interval of a point. It comes from the regime's own points where they are enough, because
 * large messages scatter less than small ones, else from all points. */
static double
reach_of (const FabFitPoint *points, const FabFitRegime *regime, double bend, double all)
{
  guint degrees;
  double own = scatter (points, regime, 1, bend, &degrees);

  return degrees >= ENOUGH_DEGREES ? own * fab_fit_student_95 (degrees) : all;
}

/* Writes cuts->n_regimes regimes. Returns the standard deviation of the relative error of a point. */
static double
fit_refine (const FabFitPoint *points, const FabFitCuts *cuts, const FabFitLimits *limits,
            FabFitRegime *regimes)
{
  FabFitLimits wider = *limits;
  guint degrees;
  double deviation, bend, all;

  find_lines (points, cuts, limits, regimes);
  wider.scale_fraction = widen_scale (points, cuts, regimes, limits->scale_fraction);
  find_lines (points, cuts, &wider, regimes);
  bend = fab_fit_huber * wider.scale_fraction;
  deviation = scatter (points, regimes, cuts->n_regimes, bend, &degrees);
  all = deviation * fab_fit_student_95 (degrees);
  for (guint k = 0; k < cuts->n_regimes; k++)
    widen (&regimes[k], points, reach_of (points, &regimes[k], bend, all));
  return deviation;
}

/* The times that a message can take at all: 1 ns to 1000 s. */
static const double max_bytes_per_s = 1e14, min_ps = 1e3, max_ps = 1e15;
static const double may_fall_to = 0.5, refused_fraction = 0.2;

const char *const fab_fit_part_names[FAB_N_FIT_PARTS] = { "fitted", "held-out", "outside" };

static int
compare_points (const void *a, const void *b)
{
  const FabFitPoint *x = a, *y = b;
  int by_size = fab_order_doubles (&x->size_bytes, &y->size_bytes);

  return by_size != 0 ? by_size : fab_order_doubles (&x->time_ps, &y->time_ps);
}

GArray *
fab_fit_merge_sizes (const FabFitPoint *points, guint n)
{
  g_autofree FabFitPoint *sorted = g_new (FabFitPoint, n + 1);
  GArray *merged = g_array_new (FALSE, FALSE, sizeof (FabFitPoint));

  for (guint i = 0; i < n; i++)
    sorted[i] = points[i];
  qsort (sorted, n, sizeof *sorted, compare_points);
  for (guint first = 0, end; first < n; first = end) {
    for (end = first; end < n && sorted[end].size_bytes == sorted[first].size_bytes;)
      end++;
    FabFitPoint middle = sorted[(first + end) / 2];

    if ((end - first) % 2 == 0)
      middle.time_ps = (middle.time_ps + sorted[(first + end) / 2 - 1].time_ps) / 2;
    g_array_append_val (merged, middle);
  }
  return merged;
}

gboolean
fab_fit_check_point (const FabFitPoint *point, GError **error)
{
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, point->size_bytes);

  if (!(point->size_bytes >= 1 && point->time_ps >= min_ps && point->time_ps <= max_ps))
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s in %.6g us: no message takes less than 1 ns or more than 1000 s; is the unit right?", size,
        point->time_ps / 1e6);
  if (point->size_bytes / point->time_ps * 1e12 > max_bytes_per_s)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s in %.6g us are %.0f TB/s: no link is as fast; is the unit right?", size,
                      point->time_ps / 1e6, point->size_bytes / point->time_ps);
  return TRUE;
}

static double
median_time (const FabFitPoint *points, guint n)
{
  g_autofree double *times = g_new (double, n);

  for (guint i = 0; i < n; i++)
    times[i] = points[i].time_ps;
  qsort (times, n, sizeof *times, fab_order_doubles);
  return times[fab_upper_median (n)];
}

/* Fails when many sizes are faster than messages of a tenth of their size: such times are not those of messages. A
 * few sizes may be disturbed. */
static gboolean
check_growth (const FabFitPoint *points, guint n, GError **error)
{
  guint n_falling = 0, from = 0, last = 0;

  for (guint i = 0; i < n; i++) {
    while (points[from].size_bytes * 10 <= points[i].size_bytes)
      from++;
    if (from > 0 && points[i].time_ps < may_fall_to * median_time (points, from)) {
      n_falling++;
      last = i;
    }
  }
  if (n_falling < refused_fraction * n || n_falling == 0)
    return TRUE;
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, points[last].size_bytes);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "no link has times that fall with size: at %u of %u sizes (%s: %.4g us) a message takes less than "
      "half the time of messages ten times smaller; measure again, or choose sizes with --min-size and "
      "--max-size",
      n_falling, n, size, points[last].time_ps / 1e6);
}

/* Less than half are held out, so that the first never is one of them. */
static gboolean
is_held_out (guint i, guint n, double hold_out)
{
  const double whole = 1e-9; /* rounding: 3 x 1/3 must give 1 */

  return i + 1 < n && floor ((i + 1) * hold_out + whole) > floor (i * hold_out + whole);
}

/* A regime ends where its line crosses the next one, if that is between the two points, else at its last point. */
static FabBytes
end_of (const FabFitRegime *lower, const FabFitRegime *upper, const FabFitPoint *points)
{
  double from = points[lower->end - 1].size_bytes, to = points[upper->first].size_bytes;
  double slope = lower->line.ps_per_byte - upper->line.ps_per_byte;
  double cross = (upper->line.overhead_ps - lower->line.overhead_ps)
               / slope; /* not finite: they are parallel */

  return (FabBytes) (cross > from && cross < to ? cross : from);
}

static void
fill_rows (FabFitCurve *self, const GArray *points, double hold_out)
{
  for (guint i = 0; i < points->len; i++) {
    const FabFitPoint *point = &g_array_index (points, FabFitPoint, i);
    FabFitRow row = { .size_bytes = (FabBytes) point->size_bytes,
                      .measured_ps = point->time_ps,
                      .predicted_ps = fab_fit_curve_time_ps (self, point->size_bytes),
                      .part = is_held_out (i, points->len, hold_out) ? FAB_FIT_HELD_OUT : FAB_FIT_FITTED };

    row.error_fraction = row.predicted_ps / row.measured_ps - 1;
    g_array_append_val (self->rows, row);
  }
  for (FabFitPart part = 0; part < FAB_N_FIT_PARTS; part++)
    self->errors[part] = fab_fit_errors (self->rows, part);
}

/* Bounds the time per byte: a rate above a hundred times the best one seen is not determined by the points. */
static FabFitLimits
limits_of (const FabFitPoint *points, guint n)
{
  FabFitLimits limits = { fit_scale (points, n), INFINITY };

  for (guint i = 0; i < n; i++)
    limits.min_ps_per_byte = MIN (limits.min_ps_per_byte, points[i].time_ps / points[i].size_bytes / 100);
  return limits;
}

static void
fit (FabFitCurve *self, const FabFitPoint *points, guint n)
{
  FabFitLimits limits = limits_of (points, n);
  FabFitCuts cuts = fit_segments (points, n, &limits);

  self->n_regimes = cuts.n_regimes;
  self->scatter_fraction = fit_refine (points, &cuts, &limits, self->regimes);
  for (guint k = 0; k + 1 < cuts.n_regimes; k++)
    self->up_to_bytes[k] = end_of (&self->regimes[k], &self->regimes[k + 1], points);
  self->up_to_bytes[cuts.n_regimes - 1] = (FabBytes) points[n - 1].size_bytes;
}

FabFitCurve *
fab_fit_curve_new (const FabFitPoint *points, guint n, double hold_out, GError **error)
{
  g_autoptr (GArray) merged = NULL, chosen = g_array_new (FALSE, FALSE, sizeof (FabFitPoint));
  FabFitCurve *self;

  g_assert (hold_out >= 0 && hold_out < 0.5);
  merged = fab_fit_merge_sizes (points, n);
  for (guint i = 0; i < merged->len; i++)
    if (!is_held_out (i, merged->len, hold_out))
      g_array_append_val (chosen, g_array_index (merged, FabFitPoint, i));
  if (chosen->len < FAB_FIT_MIN_SIZES) {
    fab_throw (error, FAB_ERROR_INPUT,
               "%u sizes, %u of them held out: %d are needed to fit overhead and rate", merged->len,
               merged->len - chosen->len, FAB_FIT_MIN_SIZES);
    return NULL;
  }
  if (!check_growth ((const FabFitPoint *) (gpointer) merged->data, merged->len, error))
    return NULL;
  self = g_new0 (FabFitCurve, 1);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabFitRow));
  fit (self, (const FabFitPoint *) (gpointer) chosen->data, chosen->len);
  fill_rows (self, merged, hold_out);
  return self;
}

void
fab_fit_curve_free (FabFitCurve *self)
{
  if (self != NULL)
    g_array_unref (self->rows);
  g_free (self);
}

static guint
fit_curve_regime (const FabFitCurve *self, double size_bytes)
{
  guint k = 0;

  while (k + 1 < self->n_regimes && size_bytes > (double) self->up_to_bytes[k])
    k++;
  return k;
}

double
fab_fit_curve_time_ps (const FabFitCurve *self, double size_bytes)
{
  return fab_fit_line_time_ps (&self->regimes[fit_curve_regime (self, size_bytes)].line, size_bytes);
}

double
fab_fit_regime_rate (const FabFitRegime *regime)
{
  return (double) FAB_PS_PER_S / regime->line.ps_per_byte;
}

double
fab_fit_regime_rate_half (const FabFitRegime *regime)
{
  return fab_fit_regime_rate (regime) * regime->ps_per_byte_half / regime->line.ps_per_byte;
}

gboolean
fab_fit_regime_has_rate (const FabFitRegime *regime)
{
  return !regime->is_without_rate && regime->ps_per_byte_half < regime->line.ps_per_byte / 2;
}

FabErrors
fab_fit_errors (const GArray *rows, FabFitPart part)
{
  g_autofree double *errors = g_new (double, rows->len + 1);
  g_autofree FabBytes *sizes = g_new (FabBytes, rows->len + 1);
  guint n = 0;

  for (guint i = 0; i < rows->len; i++) {
    const FabFitRow *row = &g_array_index (rows, FabFitRow, i);

    if (row->part != part)
      continue;
    errors[n] = row->error_fraction;
    sizes[n++] = row->size_bytes;
  }
  return fab_errors_of (errors, sizes, n);
}
