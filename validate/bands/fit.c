/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - weighted quantiles. Every table is left out of a mixture that is sorted once; a step of the search for a
 * reach only reads it.
 */
#include "validate/bands/fit.h"

#include <math.h>
#include <string.h>

#include "sim/base/stats.h"

enum { LEAST_OWN_TABLES = 2 };

static const double drawn_by = 2;                      /* families that all operations count as */
static const double own_drawn_by = 1;                  /* tables that all families count as */
static const double least_reach = 0.5, most_reach = 3; /* where the search begins and gives up */
static const double reach_step = 0.01;

/* --- the mixture --- */

/* What belongs to a cell, and what is left out of it; negative or NULL: any. */
typedef struct {
  int place, operations, size_class;
  const char *family, *without_family, *without_table;
} Scope;

static gboolean
holds (const Scope *self, const FabResiduals *one)
{
  return (self->place < 0 || self->place == (int) one->place)
      && (self->operations < 0 || self->operations == (int) one->operations)
      && (self->size_class < 0 || self->size_class == (int) one->size_class)
      && (self->family == NULL || strcmp (self->family, one->family) == 0)
      && (self->without_family == NULL || strcmp (self->without_family, one->family) != 0)
      && (self->without_table == NULL || strcmp (self->without_table, one->table) != 0) && one->n > 0;
}

/* The sorted points of a cell; weights sum up to 1. */
typedef struct {
  GArray *points; /* FabWeighted: logarithms */
  guint n_tables, n_families;
} Mixture;

static guint
count_of (GHashTable *counts, const char *family)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (counts, family));
}

static Mixture
mixture_of (const FabResiduals *all, guint n, const Scope *scope)
{
  g_autoptr (GHashTable) n_tables = g_hash_table_new (g_str_hash, g_str_equal);
  Mixture self = { .points = g_array_new (FALSE, FALSE, sizeof (FabWeighted)) };

  for (guint i = 0; i < n; i++)
    if (holds (scope, &all[i])) {
      g_hash_table_insert (n_tables, (gpointer) all[i].family,
                           GUINT_TO_POINTER (count_of (n_tables, all[i].family) + 1));
      self.n_tables++;
    }
  self.n_families = g_hash_table_size (n_tables);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; holds (scope, &all[i]) && k < all[i].n; k++) {
      FabWeighted point = { all[i].logs[k],
                            1.0 / self.n_families / count_of (n_tables, all[i].family) / all[i].n };

      g_array_append_val (self.points, point);
    }
  g_array_sort (self.points, fab_order_weighted);
  return self;
}

static double
quantile (const Mixture *self, double share)
{
  return fab_weighted_nearest_rank ((const FabWeighted *) (gpointer) self->points->data, self->points->len,
                                    share);
}

/* Share `p` of the weight lies below the low end, and as much above the high one. A prediction is in its own band. */
static FabBandEnds
ends_of (const Mixture *self, double reach)
{
  double share = MIN (reach, 1), outside = (1 - share) / 2, stretch = MAX (reach, 1);

  return (FabBandEnds){ MIN (quantile (self, outside), 0) * stretch,
                        MAX (quantile (self, 1 - outside), 0) * stretch, self->n_tables, self->n_families };
}

static FabBandEnds
ends_in (const FabResiduals *all, guint n, const Scope *scope, double reach)
{
  Mixture mixture = mixture_of (all, n, scope);
  FabBandEnds ends = ends_of (&mixture, reach);

  g_array_unref (mixture.points);
  return ends;
}

static FabBandEnds
draw (FabBandEnds own, guint k, double weight, const FabBandEnds *others)
{
  own.low = (k * own.low + weight * others->low) / (k + weight);
  own.high = (k * own.high + weight * others->high) / (k + weight);
  return own;
}

/* --- a cell --- */

/* Its own mixture, and that of all operations of its place (of every place where that has none). */
typedef struct {
  Mixture own, others;
} Cell;

static Cell
cell_of (const FabResiduals *all, guint n, Scope scope)
{
  Cell self = { .own = mixture_of (all, n, &scope) };

  scope.operations = -1;
  self.others = mixture_of (all, n, &scope);
  if (self.others.n_tables > 0)
    return self;
  g_array_unref (self.others.points);
  scope.place = -1;
  self.others = mixture_of (all, n, &scope);
  return self;
}

static void
cell_clear (Cell *self)
{
  g_array_unref (self->own.points);
  g_array_unref (self->others.points);
}

/* Of a family that was not measured. */
static FabBandEnds
cell_ends (const Cell *self, double reach)
{
  FabBandEnds own = ends_of (&self->own, reach), others = ends_of (&self->others, reach);

  return own.n_tables > 0 ? draw (own, own.n_families, drawn_by, &others) : others;
}

static Scope
scope_of (const FabResiduals *one)
{
  return (Scope){ (int) one->place, (int) one->operations, (int) one->size_class, NULL, NULL, NULL };
}

/* --- reach --- */

double
fab_bands_covered (const FabResiduals *residuals, const FabBandEnds *ends)
{
  const double rounding = 1e-9;
  guint n = 0;

  for (guint i = 0; i < residuals->n; i++)
    if (residuals->logs[i] >= ends->low - rounding && residuals->logs[i] <= ends->high + rounding)
      n++;
  return residuals->n > 0 ? (double) n / residuals->n : 1;
}

/* Residuals that were left out of a cell. `fixed` is drawn to in place of the cell's others when it is not NULL. */
typedef struct {
  const FabResiduals *residuals;
  Cell cell;
  const FabBandEnds *fixed;
  double weight;
} Trial;

static void
clear_trial (gpointer data)
{
  cell_clear (&((Trial *) data)->cell);
}

static FabBandEnds
trial_ends (const Trial *self, double reach)
{
  FabBandEnds own;

  if (self->fixed == NULL)
    return cell_ends (&self->cell, reach);
  own = ends_of (&self->cell.own, reach);
  return draw (own, own.n_tables, own_drawn_by, self->fixed);
}

static double
covered_by (const GArray *trials, double reach)
{
  double sum = 0, weights = 0;

  for (guint i = 0; i < trials->len; i++) {
    const Trial *trial = &g_array_index (trials, Trial, i);
    FabBandEnds ends = trial_ends (trial, reach);

    sum += trial->weight * fab_bands_covered (trial->residuals, &ends);
    weights += trial->weight;
  }
  return weights > 0 ? sum / weights : 1;
}

/* The least reach that covers enough: wider ends never cover less. */
static double
find_reach (const GArray *trials, double coverage_fraction)
{
  guint low = 0, high = (guint) lround ((most_reach - least_reach) / reach_step);

  while (low < high) {
    guint middle = (low + high) / 2;

    if (covered_by (trials, least_reach + middle * reach_step) >= coverage_fraction)
      high = middle;
    else
      low = middle + 1;
  }
  return least_reach + low * reach_step;
}

static guint
n_of_family (const FabResiduals *all, guint n, const char *family)
{
  guint n_of = 0;

  for (guint i = 0; i < n; i++)
    n_of += strcmp (all[i].family, family) == 0;
  return n_of;
}

/* Every family left out once. Each weighs the same. */
static GArray *
try_families (const FabResiduals *all, guint n)
{
  GArray *trials = g_array_new (FALSE, FALSE, sizeof (Trial));

  g_array_set_clear_func (trials, clear_trial);
  for (guint i = 0; i < n; i++) {
    Scope scope = scope_of (&all[i]);
    Trial trial = { .residuals = &all[i], .weight = 1.0 / n_of_family (all, n, all[i].family) };

    scope.without_family = all[i].family;
    trial.cell = cell_of (all, n, scope);
    g_array_append_val (trials, trial);
  }
  return trials;
}

static double
reach_of_families (const FabResiduals *all, guint n, double coverage_fraction)
{
  g_autoptr (GArray) trials = try_families (all, n);

  return find_reach (trials, coverage_fraction);
}

/* --- fit --- */

static void
fit_all (FabBandsFit *self, const FabResiduals *all, guint n)
{
  FabFamilyBands bands = { .family = NULL };

  for (int place = 0; place < FAB_N_PLAN_PLACES; place++)
    for (int operations = 0; operations < FAB_N_PLAN_OPERATIONS; operations++)
      for (int c = 0; c < FAB_N_SIZE_CLASSES; c++) {
        Cell cell = cell_of (all, n, (Scope){ place, operations, c, NULL, NULL, NULL });

        bands.cells[place][operations][c] = cell_ends (&cell, self->reach);
        cell_clear (&cell);
      }
  g_array_append_val (self->families, bands);
}

static const FabBandEnds *
cell_at (const FabBandsFit *self, guint family, const FabResiduals *one)
{
  return &g_array_index (self->families, FabFamilyBands, family)
              .cells[one->place][one->operations][one->size_class];
}

/* Every table left out of its family's own cell, where that has enough. */
static GArray *
try_tables (const FabBandsFit *self, const FabResiduals *all, guint n)
{
  GArray *trials = g_array_new (FALSE, FALSE, sizeof (Trial));

  g_array_set_clear_func (trials, clear_trial);
  for (guint i = 0; i < n; i++) {
    Scope scope = scope_of (&all[i]);
    Trial trial = { .residuals = &all[i], .weight = 1, .fixed = cell_at (self, 0, &all[i]) };

    scope.family = all[i].family;
    scope.without_table = all[i].table;
    trial.cell = cell_of (all, n, scope);
    if (trial.cell.own.n_tables + 1 >= LEAST_OWN_TABLES)
      g_array_append_val (trials, trial);
    else
      cell_clear (&trial.cell);
  }
  return trials;
}

static FabFamilyBands *
bands_of_family (FabBandsFit *self, const char *family)
{
  FabFamilyBands bands = { .family = family };

  for (guint i = 1; i < self->families->len; i++)
    if (strcmp (g_array_index (self->families, FabFamilyBands, i).family, family) == 0)
      return &g_array_index (self->families, FabFamilyBands, i);
  g_array_append_val (self->families, bands);
  return &g_array_index (self->families, FabFamilyBands, self->families->len - 1);
}

/* Also of a family without a cell of its own: that it was measured is worth knowing. */
static void
fit_families (FabBandsFit *self, const FabResiduals *all, guint n)
{
  for (guint i = 0; i < n; i++) {
    Scope scope = scope_of (&all[i]);

    scope.family = all[i].family;
    FabBandEnds own = ends_in (all, n, &scope, self->own_reach);
    FabFamilyBands *bands = bands_of_family (self, all[i].family);

    if (own.n_tables >= LEAST_OWN_TABLES)
      bands->cells[all[i].place][all[i].operations][all[i].size_class] = draw (own, own.n_tables,
                                                                               own_drawn_by,
                                                                               cell_at (self, 0, &all[i]));
  }
}

FabBandsFit *
fab_bands_fit (const FabResiduals *all, guint n, double coverage_fraction)
{
  FabBandsFit *self = g_new0 (FabBandsFit, 1);
  g_autoptr (GArray) trials = NULL;

  self->coverage_fraction = coverage_fraction;
  self->families = g_array_new (FALSE, FALSE, sizeof (FabFamilyBands));
  self->reach = reach_of_families (all, n, coverage_fraction);
  fit_all (self, all, n);
  trials = try_tables (self, all, n);
  self->own_reach = find_reach (trials, coverage_fraction);
  fit_families (self, all, n);
  return self;
}

void
fab_bands_fit_free (FabBandsFit *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->families);
  g_free (self);
}

/* --- coverage of families that were left out --- */

/* (transfer full) */
static FabResiduals *
without_family (const FabResiduals *all, guint n, const char *family, guint *n_left)
{
  FabResiduals *left = g_new (FabResiduals, n + 1);

  *n_left = 0;
  for (guint i = 0; i < n; i++)
    if (strcmp (all[i].family, family) != 0)
      left[(*n_left)++] = all[i];
  return left;
}

static FabLeftOutCoverage
leave_out (const FabResiduals *all, guint n, const char *family, double coverage_fraction)
{
  g_autoptr (GHashTable) tables = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_left;
  g_autofree FabResiduals *left = without_family (all, n, family, &n_left);
  double reach = reach_of_families (left, n_left, coverage_fraction);
  FabLeftOutCoverage self = { .family = family };

  for (guint i = 0; i < n; i++) {
    FabSizeClass c = all[i].size_class;

    if (strcmp (all[i].family, family) != 0 || all[i].n == 0)
      continue;
    Cell cell = cell_of (left, n_left, scope_of (&all[i]));
    FabBandEnds ends = cell_ends (&cell, reach);

    self.covered_fraction[c] = (self.covered_fraction[c] * self.n[c] + fab_bands_covered (&all[i], &ends))
                             / (self.n[c] + 1);
    self.n[c]++;
    g_hash_table_add (tables, (gpointer) all[i].table);
    cell_clear (&cell);
  }
  self.n_tables = g_hash_table_size (tables);
  return self;
}

GArray *
fab_bands_left_out (const FabResiduals *all, guint n, double coverage_fraction)
{
  GArray *coverage = g_array_new (FALSE, FALSE, sizeof (FabLeftOutCoverage));
  g_autoptr (GHashTable) done = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n; i++)
    if (g_hash_table_add (done, (gpointer) all[i].family)) {
      FabLeftOutCoverage one = leave_out (all, n, all[i].family, coverage_fraction);

      g_array_append_val (coverage, one);
    }
  return coverage;
}
