/* SPDX-License-Identifier: Apache-2.0 */
/* prop_regimes.c - curves of random times have the regimes, lines and intervals that their definition (curve.h) gives.
 * All ways to cut the points are tried here, and squares are summed point by point.
 */
#include "tests/support/test.h"

#include "sim/base/error.h"
#include "tests/support/random.h"
#include "validate/fit/curve.h"

enum { N_CURVES = 1000, MOST_POINTS = 20, SEARCH_ROUNDS = 30, LINE_ROUNDS = 1000 };

static const double huber = 1.345, straight = 0.005, normal_scale = 1.4826;

/* --- the definition --- */

typedef struct {
  guint n;                         /* regimes */
  guint ends[FAB_FIT_MAX_REGIMES]; /* index after the last point of each */
  double cost;
} Cuts;

typedef struct {
  const FabFitPoint *points;
  guint n;
  double scale, least_ps_per_byte;
} Problem;

static double
residual_of (const FabFitLine *line, const FabFitPoint *point)
{
  return (line->overhead_ps + point->size_bytes * line->ps_per_byte) / point->time_ps - 1;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Of an even number the upper one of the two in the middle. */
static double
upper_median (double *values, guint n)
{
  qsort (values, n, sizeof *values, compare_doubles);
  return values[n / 2];
}

static double
weighted_squares (const Problem *problem, const double *weights, guint from, guint to, FabFitLine line)
{
  double sum = 0;

  for (guint i = from; i < to; i++)
    sum += weights[i] * pow (residual_of (&line, &problem->points[i]), 2);
  return sum;
}

/* The line of least weighted squares with overhead >= 0 and a time per byte of at least the bound. */
static FabFitLine
least_line (const Problem *problem, const double *weights, guint from, guint to)
{
  double least = problem->least_ps_per_byte, xx = 0, xy = 0, yy = 0, x = 0, y = 0, rest = 0, of_rest = 0;

  for (guint i = from; i < to; i++) {
    double a = 1 / problem->points[i].time_ps, b = problem->points[i].size_bytes / problem->points[i].time_ps;

    xx += weights[i] * a * a;
    xy += weights[i] * a * b;
    yy += weights[i] * b * b;
    x += weights[i] * a;
    y += weights[i] * b;
  }
  /* What of the sizes the overhead cannot say tells the rate. */
  for (guint i = from; i < to; i++) {
    double a = 1 / problem->points[i].time_ps, b = problem->points[i].size_bytes / problem->points[i].time_ps;

    rest += weights[i] * (b - a * xy / xx) * (b - a * xy / xx);
    of_rest += weights[i] * (b - a * xy / xx);
  }
  FabFitLine free = { 0, of_rest / rest };
  free.overhead_ps = (x - free.ps_per_byte * xy) / xx;
  if (free.overhead_ps >= 0 && free.ps_per_byte >= least)
    return free;
  FabFitLine no_overhead = { 0, MAX (y / yy, least) }, fastest = { MAX ((x - least * xy) / xx, 0), least };
  return weighted_squares (problem, weights, from, to, fastest)
               < weighted_squares (problem, weights, from, to, no_overhead)
           ? fastest
           : no_overhead;
}

static FabFitLine
line_of (const Problem *problem, double scale, guint from, guint to, guint rounds)
{
  double weights[MOST_POINTS];
  FabFitLine line = { 0 };

  for (guint i = from; i < to; i++)
    weights[i] = 1;
  for (guint round = 0; round < rounds; round++) {
    FabFitLine before = line;

    line = least_line (problem, weights, from, to);
    if (round > 0 && is_near (line.overhead_ps, before.overhead_ps, 1e-9)
        && is_near (line.ps_per_byte, before.ps_per_byte, 1e-9))
      break;
    for (guint i = from; i < to; i++)
      weights[i] = MIN (huber * scale / fabs (residual_of (&line, &problem->points[i])), 1);
  }
  return line;
}

static double
cost_of (const Problem *problem, guint from, guint to)
{
  FabFitLine line = line_of (problem, problem->scale, from, to, SEARCH_ROUNDS);
  double sum = 0;

  for (guint i = from; i < to; i++)
    sum += pow (MIN (fabs (residual_of (&line, &problem->points[i])), 4 * problem->scale), 2);
  return sum;
}

/* The cheapest way to cut what lies from `from` on into `n_more` regimes. */
static void
cut (const Problem *problem, const double costs[][MOST_POINTS + 1], Cuts *cuts, guint from, guint n_more,
     Cuts *best)
{
  if (n_more == 0) {
    if (from == problem->n && cuts->cost < best->cost)
      *best = *cuts;
    return;
  }
  for (guint to = from + FAB_FIT_MIN_POINTS; to <= problem->n; to++) {
    Cuts more = *cuts;

    more.ends[more.n++] = to;
    more.cost += costs[from][to];
    cut (problem, costs, &more, to, n_more - 1, best);
  }
}

/* The number of regimes with the least n ln (cost / n + floor^2) + (4 k - 1) ln n; *margin: how much more the next one
 * has. */
static Cuts
cuts_of (const Problem *problem, double *margin)
{
  double costs[MOST_POINTS][MOST_POINTS + 1], n = problem->n, least = INFINITY;
  Cuts chosen = { 0 };

  for (guint from = 0; from < problem->n; from++)
    for (guint to = from + FAB_FIT_MIN_POINTS; to <= problem->n; to++)
      costs[from][to] = cost_of (problem, from, to);
  *margin = INFINITY;
  for (guint k = 1; k <= FAB_FIT_MAX_REGIMES; k++) {
    Cuts none = { 0 }, best = { .cost = INFINITY };

    cut (problem, costs, &none, 0, k, &best);
    double criterion = n * log (best.cost / n + straight * straight) + (4.0 * k - 1) * log (n);
    if (best.n == 0)
      continue;
    *margin = criterion < least ? least - criterion : MIN (*margin, criterion - least);
    if (criterion < least) {
      least = criterion;
      chosen = best;
    }
  }
  return chosen;
}

/* The standard deviation of a single size: how far each lies from the line between its neighbours. */
static double
scale_of (const FabFitPoint *points, guint n)
{
  double bends[MOST_POINTS];

  for (guint i = 1; i + 1 < n; i++) {
    double share = (points[i].size_bytes - points[i - 1].size_bytes)
                 / (points[i + 1].size_bytes - points[i - 1].size_bytes);
    double left = (1 - share) * points[i - 1].time_ps, right = share * points[i + 1].time_ps;

    bends[i - 1] = fabs (points[i].time_ps / (left + right) - 1)
                 / sqrt (1 + pow (left / (left + right), 2) + pow (right / (left + right), 2));
  }
  return MAX (normal_scale * upper_median (bends, n - 2), straight);
}

static Problem
problem_of (const FabFitPoint *points, guint n)
{
  Problem problem = { points, n, scale_of (points, n), INFINITY };

  for (guint i = 0; i < n; i++)
    problem.least_ps_per_byte = MIN (problem.least_ps_per_byte,
                                     points[i].time_ps / points[i].size_bytes / 100);
  return problem;
}

typedef struct {
  FabFitLine lines[FAB_FIT_MAX_REGIMES];
  gboolean has_overhead[FAB_FIT_MAX_REGIMES], has_rate[FAB_FIT_MAX_REGIMES];
  double scale;
} Lines;

static void
set_lines (const Problem *problem, const Cuts *cuts, Lines *lines)
{
  for (guint k = 0; k < cuts->n; k++) {
    lines->lines[k] = line_of (problem, lines->scale, k == 0 ? 0 : cuts->ends[k - 1], cuts->ends[k],
                               LINE_ROUNDS);
    lines->has_overhead[k] = lines->lines[k].overhead_ps > 0;
    lines->has_rate[k] = lines->lines[k].ps_per_byte > problem->least_ps_per_byte;
  }
}

/* Lines with the scale of the neighbours, and again where points lie further from them than that. */
static Lines
lines_of (const Problem *problem, const Cuts *cuts)
{
  Lines lines = { .scale = problem->scale };
  double residuals[MOST_POINTS];

  set_lines (problem, cuts, &lines);
  for (guint i = 0, k = 0; i < problem->n; i++) {
    k += i == cuts->ends[k];
    residuals[i] = fabs (residual_of (&lines.lines[k], &problem->points[i]));
  }
  lines.scale = MAX (problem->scale, normal_scale * upper_median (residuals, problem->n));
  set_lines (problem, cuts, &lines);
  return lines;
}

/* The standard deviation of regimes `first` to `last`, and its degrees of freedom. */
static double
deviation_of (const Problem *problem, const Cuts *cuts, const Lines *lines, guint first, guint last,
              guint *degrees)
{
  double bound = huber * lines->scale, sum = 0;
  guint n = 0, n_inside = 0, n_unknowns = 0;

  for (guint k = first; k <= last; k++) {
    n_unknowns += (lines->has_overhead[k] ? 1 : 0) + (lines->has_rate[k] ? 1 : 0);
    for (guint i = k == 0 ? 0 : cuts->ends[k - 1]; i < cuts->ends[k]; i++) {
      double residual = fabs (residual_of (&lines->lines[k], &problem->points[i]));

      n++;
      n_inside += residual <= bound ? 1 : 0;
      sum += pow (MIN (residual, bound), 2);
    }
  }
  *degrees = n > n_unknowns ? n - n_unknowns : 1;
  return sqrt (sum / *degrees) * n / n_inside;
}

/* --- random times --- */

typedef struct {
  FabFitPoint points[MOST_POINTS];
  guint n;
} Times;

/* One to six regimes, with or without overhead and rate, of sizes at least twice as large as the one before; noise of
 * 0.02 % to a tenth, and sometimes one size
 * far off, or fast large messages. */
static Times
random_times (Random *random)
{
  static const double noises[] = { 0.0002, 0.001, 0.004, 0.02, 0.1 };
  Times times = { .n = random_between (random, FAB_FIT_MIN_SIZES, MOST_POINTS) };
  guint n_regimes = random_between (random, 1, MAX (times.n / FAB_FIT_MIN_POINTS, 1)),
        kind = random_below (random, 6);
  double size_bytes = random_scale (random, 1, 1e4), noise = noises[random_below (random, 5)];
  double overhead_ps = 0, ps_per_byte = 0;

  for (guint i = 0; i < times.n; i++) {
    if (i == 0 || i * n_regimes / times.n != (i - 1) * n_regimes / times.n) {
      overhead_ps = kind == 0 ? 0 : MAX (overhead_ps, 1e5) * random_scale (random, 1, 20);
      ps_per_byte = kind == 1 ? 1e-3 : random_scale (random, 10, 1000);
    }
    times.points[i] = (FabFitPoint){ floor (size_bytes), 0 };
    times.points[i].time_ps = (overhead_ps + times.points[i].size_bytes * ps_per_byte)
                            * (1 + noise * (2 * random_unit (random) - 1));
    size_bytes = times.points[i].size_bytes * 2 + random_below (random, 3);
  }
  if (random_chance (random, 30))
    times.points[random_below (random, times.n)].time_ps *= random_scale (random, 1.02, 3);
  if (random_chance (random, 20))
    for (guint i = random_below (random, times.n); i < times.n; i++)
      times.points[i].time_ps = times.points[0].time_ps * random_scale (random, 0.3, 1);
  return times;
}

/* How many sizes take less than half the time of those a tenth as large: the upper median of these. */
static guint
count_falling (const Times *times)
{
  guint n_falling = 0;

  for (guint i = 0; i < times->n; i++) {
    double smaller[MOST_POINTS];
    guint n = 0;

    for (guint k = 0; k < times->n; k++)
      if (10 * times->points[k].size_bytes <= times->points[i].size_bytes)
        smaller[n++] = times->points[k].time_ps;
    n_falling += n > 0 && times->points[i].time_ps < upper_median (smaller, n) / 2;
  }
  return n_falling;
}

/* --- properties --- */

static void
assert_ends (const Times *times, const FabFitCurve *curve)
{
  for (guint k = 0; k + 1 < curve->n_regimes; k++) {
    const FabFitRegime *this = &curve->regimes[k], *next = this + 1;
    double from = times->points[this->end - 1].size_bytes, to = times->points[this->end].size_bytes,
           cross = from;

    if (this->line.ps_per_byte != next->line.ps_per_byte)
      cross = (next->line.overhead_ps - this->line.overhead_ps)
            / (this->line.ps_per_byte - next->line.ps_per_byte);
    assert_int_equal (curve->up_to_bytes[k], (FabBytes) (cross > from && cross < to ? cross : from));
  }
  assert_int_equal (curve->up_to_bytes[curve->n_regimes - 1],
                    (FabBytes) times->points[times->n - 1].size_bytes);
}

static void
assert_intervals (const Problem *problem, const Cuts *cuts, const Lines *lines, const FabFitCurve *curve)
{
  guint degrees;
  double all = deviation_of (problem, cuts, lines, 0, cuts->n - 1, &degrees);

  assert_near (curve->scatter_fraction, all, 1e-6);
  all *= fab_fit_student_95 (degrees);
  for (guint k = 0; k < cuts->n; k++) {
    double own = deviation_of (problem, cuts, lines, k, k, &degrees), xx = 0, xy = 0, yy = 0, apart = 1;
    double reach = degrees >= 4 ? own * fab_fit_student_95 (degrees) : all;

    for (guint i = k == 0 ? 0 : cuts->ends[k - 1]; i < cuts->ends[k]; i++) {
      double x = 1 / problem->points[i].time_ps,
             y = problem->points[i].size_bytes / problem->points[i].time_ps;

      xx += x * x;
      xy += x * y;
      yy += y * y;
    }
    if (lines->has_overhead[k] && lines->has_rate[k])
      apart = 1 - xy * xy / (xx * yy);
    assert_near (curve->regimes[k].overhead_half_ps, reach / sqrt (xx * apart), 1e-6);
    assert_near (curve->regimes[k].ps_per_byte_half, reach / sqrt (yy * apart), 1e-6);
  }
}

static gboolean
is_same_line (const FabFitLine *a, const FabFitLine *b)
{
  return is_near (a->overhead_ps, b->overhead_ps, 1e-6) && is_near (a->ps_per_byte, b->ps_per_byte, 1e-6);
}

/* Where two numbers of regimes are as good as each other, or two ways to cut, the rounding decides. */
static gboolean
assert_curve (const Times *times, const FabFitCurve *curve)
{
  Problem problem = problem_of (times->points, times->n);
  double margin;
  Cuts cuts = cuts_of (&problem, &margin);
  Lines lines;

  if (margin < 1e-6)
    return FALSE;
  assert_int_equal (curve->n_regimes, cuts.n);
  for (guint k = 0; k < cuts.n; k++)
    if (cuts.ends[k] != curve->regimes[k].end) {
      double cost = 0;

      for (guint j = 0; j < cuts.n; j++)
        cost += cost_of (&problem, curve->regimes[j].first, curve->regimes[j].end);
      assert_near (cost + 1e-9, cuts.cost + 1e-9, 1e-6);
      return FALSE;
    }
  lines = lines_of (&problem, &cuts);
  for (guint k = 0; k < cuts.n; k++) {
    const FabFitRegime *regime = &curve->regimes[k];

    assert_int_equal (regime->first, k == 0 ? 0 : cuts.ends[k - 1]);
    if (!is_same_line (&regime->line, &lines.lines[k]))
      fail_msg ("line %u of %u: %.12g %.12g and %.12g %.12g", k, cuts.n, regime->line.overhead_ps,
                regime->line.ps_per_byte, lines.lines[k].overhead_ps, lines.lines[k].ps_per_byte);
    assert_int_equal (regime->is_without_overhead, !lines.has_overhead[k]);
    assert_int_equal (regime->is_without_rate, !lines.has_rate[k]);
  }
  assert_intervals (&problem, &cuts, &lines, curve);
  assert_ends (times, curve);
  return TRUE;
}

static void
curves_are_those_of_their_definition (G_GNUC_UNUSED void **state)
{
  Random random = { 4 };
  guint n_by_regimes[FAB_FIT_MAX_REGIMES + 1] = { 0 }, n_refused = 0, n_same = 0;

  for (guint i = 0; i < N_CURVES; i++) {
    Times times = random_times (&random);
    guint n_falling = count_falling (&times);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabFitCurve) curve = fab_fit_curve_new (times.points, times.n, 0, &error);

    assert_int_equal (curve == NULL, n_falling > 0 && 5 * n_falling >= times.n);
    if (curve == NULL) {
      n_refused++;
      continue;
    }
    n_same += assert_curve (&times, curve);
    n_by_regimes[curve->n_regimes]++;
  }
  print_message ("regimes: 1: %u, 2: %u, 3: %u, 4: %u, 5: %u, 6: %u; refused: %u; compared: %u\n",
                 n_by_regimes[1], n_by_regimes[2], n_by_regimes[3], n_by_regimes[4], n_by_regimes[5],
                 n_by_regimes[6], n_refused, n_same);
  assert_true (n_same > N_CURVES / 2 && n_refused > 0);
  for (guint k = 1; k <= FAB_FIT_MAX_REGIMES; k++)
    assert_true (n_by_regimes[k] > 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (curves_are_those_of_their_definition),
  };

  return cmocka_run_group_tests_name ("regimes", tests, NULL, NULL);
}
