/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - weighted quantiles. Every table is left out of a mixture that is sorted once; a step of the search for a
 * reach only reads it.
 */
#include "validate/bands/fit.h"

#include <math.h>
#include <string.h>

#include "sim/base/stats.h"
#include "validate/bands/spread.h"

static const double drawn_by = 2;                      /* families that all operations count as */
static const double own_drawn_by = 1;                  /* publications that all families count as */
static const double least_reach = 0.5, most_reach = 3; /* where the search for families begins and gives up */
static const double reach_step = 0.01;
static const double rounding = 1e-9; /* of shares, which are sums of weights in any order */

/* --- the mixture --- */

/* Of places, operations and size classes. */
enum { ANY = -1 };

/* What belongs to a cell, and what is left out of it; ANY or NULL: any. */
typedef struct {
  int place, operations, size_class;
  const char *family, *without_family, *without_publication;
} Scope;

static gboolean
holds (const Scope *self, const FabResiduals *one)
{
  return (self->place == ANY || self->place == (int) one->place)
      && (self->operations == ANY || self->operations == (int) one->operations)
      && (self->size_class == ANY || self->size_class == (int) one->size_class)
      && (self->family == NULL || strcmp (self->family, one->family) == 0)
      && (self->without_family == NULL || strcmp (self->without_family, one->family) != 0)
      && (self->without_publication == NULL || strcmp (self->without_publication, one->publication) != 0);
}

/* The sorted points of a cell; weights sum up to 1. */
typedef struct {
  GArray *points; /* FabWeighted: logarithms */
  guint n_tables, n_publications, n_families;
  FabMachinesSpread spread;
} Mixture;

/* How many tables a publication has of a family, and how many publications a family has. */
typedef struct {
  GHashTable *tables;       /* "family\npublication" -> number of tables */
  GHashTable *publications; /* family -> number of publications */
} Counts;

static guint
count_of (GHashTable *counts, const char *key)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (counts, key));
}

static guint
count_up (GHashTable *counts, const char *key)
{
  guint n = count_of (counts, key) + 1;

  g_hash_table_insert (counts, g_strdup (key), GUINT_TO_POINTER (n));
  return n;
}

static char *
publication_key (const FabResiduals *one)
{
  return g_strdup_printf ("%s\n%s", one->family, one->publication);
}

static Counts
counts_new (const FabResiduals *all, guint n, const Scope *scope)
{
  Counts self = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                  g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };

  for (guint i = 0; i < n; i++) {
    g_autofree char *key = publication_key (&all[i]);

    if (holds (scope, &all[i]) && count_up (self.tables, key) == 1)
      count_up (self.publications, all[i].family);
  }
  return self;
}

static void
add_points (Mixture *self, const FabResiduals *one, const Counts *counts)
{
  g_autofree char *key = publication_key (one);
  double weight = 1.0 / self->n_families / count_of (counts->publications, one->family)
                / count_of (counts->tables, key) / one->n;

  for (guint k = 0; k < one->n; k++) {
    FabWeighted point = { one->logs[k], weight };

    g_array_append_val (self->points, point);
  }
}

static Mixture
mixture_of (const FabResiduals *all, guint n, const Scope *scope)
{
  g_autoptr (GPtrArray) own = g_ptr_array_new ();
  Counts counts = counts_new (all, n, scope);
  Mixture self = { .points = g_array_new (FALSE, FALSE, sizeof (FabWeighted)),
                   .n_publications = g_hash_table_size (counts.tables),
                   .n_families = g_hash_table_size (counts.publications) };

  for (guint i = 0; i < n; i++)
    if (holds (scope, &all[i])) {
      self.n_tables++;
      add_points (&self, &all[i], &counts);
      g_ptr_array_add (own, (gpointer) &all[i]);
    }
  self.spread = fab_machines_spread (own);
  g_array_sort (self.points, fab_order_weighted);
  g_hash_table_unref (counts.tables);
  g_hash_table_unref (counts.publications);
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
  double outside = MAX (1 - reach, 0) / 2, stretch = MAX (reach, 1);

  return (FabBandEnds){ MIN (quantile (self, outside), 0) * stretch,
                        MAX (quantile (self, 1 - outside), 0) * stretch,
                        self->n_tables,
                        self->n_publications,
                        self->n_families,
                        self->spread.n_machines,
                        self->spread.log_ratio };
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

  scope.operations = ANY;
  self.others = mixture_of (all, n, &scope);
  if (self.others.n_tables > 0)
    return self;
  g_array_unref (self.others.points);
  scope.place = ANY;
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
  guint n = 0;

  for (guint i = 0; i < residuals->n; i++)
    if (residuals->logs[i] >= ends->low - rounding && residuals->logs[i] <= ends->high + rounding)
      n++;
  return (double) n / residuals->n;
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
  return draw (own, own.n_publications, own_drawn_by, self->fixed);
}

/* Of the trials of a size class. */
static double
covered_by (const GArray *trials, FabSizeClass size_class, double reach)
{
  double sum = 0, weights = 0;

  for (guint i = 0; i < trials->len; i++) {
    const Trial *trial = &g_array_index (trials, Trial, i);
    FabBandEnds ends;

    if (trial->residuals->size_class != size_class)
      continue;
    ends = trial_ends (trial, reach);
    sum += trial->weight * fab_bands_covered (trial->residuals, &ends);
    weights += trial->weight;
  }
  return weights > 0 ? sum / weights : 1;
}

/* The least reach from `least` on that covers enough: wider ends never cover less. */
static double
find_reach (const GArray *trials, FabSizeClass size_class, double coverage_fraction, double least)
{
  guint low = 0, high = (guint) lround ((most_reach - least) / reach_step);

  while (low < high) {
    guint middle = (low + high) / 2;

    if (covered_by (trials, size_class, least + middle * reach_step) >= coverage_fraction - rounding)
      high = middle;
    else
      low = middle + 1;
  }
  return least + low * reach_step;
}

static void
find_reaches (const GArray *trials, double coverage_fraction, double least,
              double reaches[FAB_N_SIZE_CLASSES])
{
  for (guint c = 0; c < FAB_N_SIZE_CLASSES; c++)
    reaches[c] = find_reach (trials, (FabSizeClass) c, coverage_fraction, least);
}

/* Tables of a size class that its family has, or one publication of its family. */
static guint
n_like (const FabResiduals *all, guint n, const FabResiduals *one, gboolean of_publication)
{
  guint n_of = 0;

  for (guint i = 0; i < n; i++)
    n_of += all[i].size_class == one->size_class && strcmp (all[i].family, one->family) == 0
         && (!of_publication || strcmp (all[i].publication, one->publication) == 0);
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
    Trial trial = { .residuals = &all[i], .weight = 1.0 / n_like (all, n, &all[i], FALSE) };

    scope.without_family = all[i].family;
    trial.cell = cell_of (all, n, scope);
    g_array_append_val (trials, trial);
  }
  return trials;
}

static void
reaches_of_families (const FabResiduals *all, guint n, double coverage_fraction,
                     double reaches[FAB_N_SIZE_CLASSES])
{
  g_autoptr (GArray) trials = try_families (all, n);

  find_reaches (trials, coverage_fraction, least_reach, reaches);
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

        bands.cells[place][operations][c] = cell_ends (&cell, self->reach[c]);
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

/* Every publication left out of its family's own cell, where others are left. Each weighs the same. */
static GArray *
try_publications (const FabBandsFit *self, const FabResiduals *all, guint n)
{
  GArray *trials = g_array_new (FALSE, FALSE, sizeof (Trial));

  g_array_set_clear_func (trials, clear_trial);
  for (guint i = 0; i < n; i++) {
    Scope scope = scope_of (&all[i]);
    Trial trial = { .residuals = &all[i],
                    .weight = 1.0 / n_like (all, n, &all[i], TRUE),
                    .fixed = cell_at (self, 0, &all[i]) };

    scope.family = all[i].family;
    scope.without_publication = all[i].publication;
    trial.cell = cell_of (all, n, scope);
    if (trial.cell.own.n_tables > 0)
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

static void
fit_families (FabBandsFit *self, const FabResiduals *all, guint n)
{
  for (guint i = 0; i < n; i++) {
    FabFamilyBands *bands = bands_of_family (self, all[i].family); /* which may move those of all */
    Scope scope = scope_of (&all[i]);
    FabBandEnds own;

    scope.family = all[i].family;
    own = ends_in (all, n, &scope, self->own_reach[all[i].size_class]);
    bands->cells[all[i].place][all[i].operations][all[i].size_class] = draw (own, own.n_publications,
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
  reaches_of_families (all, n, coverage_fraction, self->reach);
  fit_all (self, all, n);
  trials = try_publications (self, all, n);
  /* few families were measured by several, so what one of them measured is never left out */
  find_reaches (trials, coverage_fraction, coverage_fraction, self->own_reach);
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

/* --- coverage of what was left out --- */

static const char *
family_of (const FabResiduals *one)
{
  return one->family;
}

static const char *
publication_of (const FabResiduals *one)
{
  return one->publication;
}

/* What is left out together. */
typedef const char *(*NameOf) (const FabResiduals *);

/* (transfer full) */
static FabResiduals *
without (const FabResiduals *all, guint n, NameOf name_of, const char *name, guint *n_left)
{
  FabResiduals *left = g_new (FabResiduals, n);

  *n_left = 0;
  for (guint i = 0; i < n; i++)
    if (strcmp (name_of (&all[i]), name) != 0)
      left[(*n_left)++] = all[i];
  return left;
}

/* Of a family that others have measured its own, else of all. */
static FabBandEnds
ends_for (const FabBandsFit *self, const FabResiduals *one)
{
  for (guint i = 1; i < self->families->len; i++)
    if (strcmp (g_array_index (self->families, FabFamilyBands, i).family, one->family) == 0
        && cell_at (self, i, one)->n_tables > 0)
      return *cell_at (self, i, one);
  return *cell_at (self, 0, one);
}

static FabLeftOutCoverage
leave_out (const FabResiduals *all, guint n, NameOf name_of, const char *name, double coverage_fraction)
{
  g_autoptr (GHashTable) tables = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_left;
  g_autofree FabResiduals *left = without (all, n, name_of, name, &n_left);
  g_autoptr (FabBandsFit) fit = fab_bands_fit (left, n_left, coverage_fraction);
  FabLeftOutCoverage self = { .name = name };

  for (guint i = 0; i < n; i++) {
    FabSizeClass c = all[i].size_class;
    FabBandEnds ends;

    if (strcmp (name_of (&all[i]), name) != 0)
      continue;
    ends = ends_for (fit, &all[i]);
    self.covered_fraction[c] = (self.covered_fraction[c] * self.n[c] + fab_bands_covered (&all[i], &ends))
                             / (self.n[c] + 1);
    self.n[c]++;
    g_hash_table_add (tables, (gpointer) all[i].table);
  }
  self.n_tables = g_hash_table_size (tables);
  return self;
}

static GArray *
leave_each_out (const FabResiduals *all, guint n, NameOf name_of, double coverage_fraction)
{
  GArray *coverage = g_array_new (FALSE, FALSE, sizeof (FabLeftOutCoverage));
  g_autoptr (GHashTable) done = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n; i++)
    if (g_hash_table_add (done, (gpointer) name_of (&all[i]))) {
      FabLeftOutCoverage one = leave_out (all, n, name_of, name_of (&all[i]), coverage_fraction);

      g_array_append_val (coverage, one);
    }
  return coverage;
}

GArray *
fab_bands_left_out (const FabResiduals *all, guint n, double coverage_fraction)
{
  return leave_each_out (all, n, family_of, coverage_fraction);
}

GArray *
fab_bands_publications_left_out (const FabResiduals *all, guint n, double coverage_fraction)
{
  return leave_each_out (all, n, publication_of, coverage_fraction);
}
