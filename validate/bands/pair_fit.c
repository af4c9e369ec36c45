/* SPDX-License-Identifier: Apache-2.0 */
/* pair_fit.c - mixtures of pairs, sorted once for each family that is left out.
 *
 * With f families and p pairs, the search for a reach sorts f mixtures of each cell, and each of its steps reads every
 * pair. Coverage repeats that for every family: O(f^2 x p log p).
 */
#include "validate/bands/pair_fit.h"

#include <math.h>
#include <string.h>

#include "sim/base/stats.h"

static const double least_reach = 0.5, most_reach = 3; /* where the search begins and gives up */
static const double reach_step = 0.01;
static const double rounding = 1e-9;

static gboolean
has_family (const FabPair *pair, const char *family)
{
  return family != NULL
      && (strcmp (pair->families[0], family) == 0 || strcmp (pair->families[1], family) == 0);
}

/* --- shares --- */

/* Numbers of names, counted from 0. */
static guint
number_of (GHashTable *numbers, const char *name)
{
  gpointer number;

  if (!g_hash_table_lookup_extended (numbers, name, NULL, &number)) {
    number = GUINT_TO_POINTER (g_hash_table_size (numbers));
    g_hash_table_insert (numbers, g_strdup (name), number);
  }
  return GPOINTER_TO_UINT (number);
}

/* The pairs with their groups: two families, and two families and a kind. */
typedef struct {
  const FabPair *pairs;
  guint n;
  guint *group, *kind; /* [n] */
  guint n_groups, n_kinds;
} Set;

static void
set_clear (Set *self)
{
  g_free (self->group);
  g_free (self->kind);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Set, set_clear)

static Set
set_of (const FabPair *pairs, guint n)
{
  g_autoptr (GHashTable) groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) kinds = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Set self = { .pairs = pairs, .n = n, .group = g_new (guint, n + 1), .kind = g_new (guint, n + 1) };

  for (guint i = 0; i < n; i++) {
    guint first = strcmp (pairs[i].families[0], pairs[i].families[1]) <= 0 ? 0 : 1;
    g_autofree char *group = g_strconcat (pairs[i].families[first], "\n", pairs[i].families[1 - first], NULL);
    g_autofree char *kind = g_strconcat (group, "\n", pairs[i].kind, NULL);

    self.group[i] = number_of (groups, group);
    self.kind[i] = number_of (kinds, kind);
  }
  self.n_groups = g_hash_table_size (groups);
  self.n_kinds = g_hash_table_size (kinds);
  return self;
}

/* --- the mixture --- */

/* Sorted points; weights sum up to 1. */
typedef struct {
  GArray *points; /* FabWeighted: logarithms */
  guint n_pairs, n_tables, n_families;
} Mixture;

/* What is in a mixture, and which families are left out of it; NULL: none. */
typedef struct {
  guint place, size_class;
  const char *without[2];
} Scope;

static gboolean
holds (const Scope *self, const FabPair *pair)
{
  return self->place == pair->place && self->size_class == pair->size_class && pair->n > 0
      && !has_family (pair, self->without[0]) && !has_family (pair, self->without[1]);
}

/* How many groups there are, kinds of each group, and pairs of each kind. */
typedef struct {
  guint n_groups;
  guint *kinds, *pairs;
} Counts;

static Counts
count (const Set *set, const Scope *scope)
{
  Counts self = { .kinds = g_new0 (guint, set->n_groups + 1), .pairs = g_new0 (guint, set->n_kinds + 1) };

  for (guint i = 0; i < set->n; i++)
    if (holds (scope, &set->pairs[i]) && self.pairs[set->kind[i]]++ == 0)
      self.n_groups += self.kinds[set->group[i]]++ == 0;
  return self;
}

/* What a mixture rests on. */
static void
count_names (Mixture *self, const Set *set, const Scope *scope)
{
  g_autoptr (GHashTable) tables = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) families = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < set->n; i++)
    for (guint side = 0; side < 2 && holds (scope, &set->pairs[i]); side++) {
      g_hash_table_add (tables, (gpointer) set->pairs[i].tables[side]);
      g_hash_table_add (families, (gpointer) set->pairs[i].families[side]);
      self->n_pairs += side;
    }
  self->n_tables = g_hash_table_size (tables);
  self->n_families = g_hash_table_size (families);
}

static Mixture
mixture_of (const Set *set, const Scope *scope)
{
  Mixture self = { .points = g_array_new (FALSE, FALSE, sizeof (FabWeighted)) };
  Counts counts = count (set, scope);

  count_names (&self, set, scope);
  for (guint i = 0; i < set->n; i++) {
    const FabPair *pair = &set->pairs[i];

    for (guint k = 0; holds (scope, pair) && k < pair->n; k++) {
      FabWeighted point = { pair->logs[k], 1.0 / counts.n_groups / counts.kinds[set->group[i]]
                                               / counts.pairs[set->kind[i]] / pair->n };

      g_array_append_val (self.points, point);
    }
  }
  g_array_sort (self.points, fab_order_weighted);
  g_free (counts.kinds);
  g_free (counts.pairs);
  return self;
}

static double
quantile (const Mixture *self, double share)
{
  return fab_weighted_nearest_rank ((const FabWeighted *) (gpointer) self->points->data, self->points->len,
                                    share);
}

static double
end_of (const Mixture *self, double reach)
{
  return quantile (self, MIN (reach, 1)) * MAX (reach, 1);
}

/* --- cells --- */

/* The cells of a place, of which some families are left out. */
typedef struct {
  Mixture classes[FAB_N_PAIR_CLASSES];
} Cells;

static void
cells_free (gpointer data)
{
  Cells *self = data;

  for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
    g_array_unref (self->classes[c].points);
  g_free (self);
}

static Cells *
cells_new (const Set *set, guint place, const char *first, const char *second)
{
  Cells *self = g_new (Cells, 1);

  for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
    self->classes[c] = mixture_of (set, &(Scope){ place, c, { first, second } });
  return self;
}

/* --- reach --- */

static double
held_by (const FabPair *pair, double log)
{
  guint n = 0;

  for (guint i = 0; i < pair->n; i++)
    n += pair->logs[i] <= log + rounding;
  return (double) n / pair->n;
}

/* A mean in which every kind weighs the same, and in a kind every pair. */
typedef struct {
  GHashTable *kinds; /* kind -> Share */
} Mean;

typedef struct {
  double sum;
  guint n;
} Share;

static void
mean_add (Mean *self, const char *kind, double value)
{
  Share *share;

  if (self->kinds == NULL)
    self->kinds = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  share = g_hash_table_lookup (self->kinds, kind);
  if (share == NULL) {
    share = g_new0 (Share, 1);
    g_hash_table_insert (self->kinds, (gpointer) kind, share);
  }
  share->sum += value;
  share->n++;
}

/* Negative: of nothing. It is empty afterwards. */
static double
mean_take (Mean *self)
{
  double sum = 0;
  guint n = 0;
  GHashTableIter iter;
  gpointer value;

  if (self->kinds == NULL)
    return -1;
  for (g_hash_table_iter_init (&iter, self->kinds); g_hash_table_iter_next (&iter, NULL, &value); n++) {
    const Share *share = value;

    sum += share->sum / share->n;
  }
  g_clear_pointer (&self->kinds, g_hash_table_unref);
  return sum / n;
}

/* The families of a place, in the order in which they first stand. (transfer container) */
static GPtrArray *
list_families (const Set *set, guint place, const char *without)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *families = g_ptr_array_new ();

  for (guint i = 0; i < set->n; i++)
    for (guint side = 0; side < 2; side++) {
      const FabPair *pair = &set->pairs[i];

      if (pair->place == place && pair->n > 0 && !has_family (pair, without)
          && g_hash_table_add (seen, (gpointer) pair->families[side]))
        g_ptr_array_add (families, (gpointer) pair->families[side]);
    }
  return families;
}

/* Families that are left out in turn, each with the cells of the others. */
typedef struct {
  const Set *set;
  guint place;
  const char *without; /* left out of everything; NULL: none */
  GPtrArray *families, *cells;
} Search;

/* The share of the pairs of one family that the others' cells hold. */
static double
held_of (const Search *self, guint f, double reach)
{
  const Cells *cells = g_ptr_array_index (self->cells, f);
  double ends[FAB_N_PAIR_CLASSES];
  Mean mean = { NULL };

  for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++)
    ends[c] = end_of (&cells->classes[c], reach);
  for (guint i = 0; i < self->set->n; i++) {
    const FabPair *pair = &self->set->pairs[i];

    if (pair->place == self->place && pair->n > 0 && !has_family (pair, self->without)
        && has_family (pair, g_ptr_array_index (self->families, f)))
      mean_add (&mean, pair->kind, held_by (pair, ends[pair->size_class]));
  }
  return mean_take (&mean);
}

static double
covered_by (const Search *self, double reach)
{
  double sum = 0;

  for (guint f = 0; f < self->families->len; f++)
    sum += held_of (self, f, reach);
  return self->families->len > 0 ? sum / self->families->len : 1;
}

/* The least reach that covers enough: wider ends never cover less. */
static double
find_reach (const Set *set, guint place, const char *without, double coverage_fraction)
{
  g_autoptr (GPtrArray) families = list_families (set, place, without);
  g_autoptr (GPtrArray) cells = g_ptr_array_new_with_free_func (cells_free);
  const Search search = { set, place, without, families, cells };
  guint low = 0, high = (guint) lround ((most_reach - least_reach) / reach_step);

  for (guint f = 0; f < families->len; f++)
    g_ptr_array_add (cells, cells_new (set, place, without, g_ptr_array_index (families, f)));
  while (low < high) {
    guint middle = (low + high) / 2;

    if (covered_by (&search, least_reach + middle * reach_step) >= coverage_fraction)
      high = middle;
    else
      low = middle + 1;
  }
  return least_reach + low * reach_step;
}

FabPairFit
fab_pair_fit (const FabPair *pairs, guint n, double coverage_fraction)
{
  g_auto (Set) set = set_of (pairs, n);
  FabPairFit self = { .coverage_fraction = coverage_fraction };

  for (guint place = 0; place < FAB_N_PAIR_PLACES; place++) {
    Cells *cells = cells_new (&set, place, NULL, NULL);

    self.reach[place] = find_reach (&set, place, NULL, coverage_fraction);
    for (guint c = 0; c < FAB_N_PAIR_CLASSES; c++) {
      const Mixture *mixture = &cells->classes[c];

      self.ends[place][c] = (FabPairEnd){ end_of (mixture, self.reach[place]), mixture->n_pairs,
                                          mixture->n_tables, mixture->n_families };
    }
    cells_free (cells);
  }
  return self;
}

/* --- coverage --- */

static double
opposite_held (const FabPair *pair)
{
  guint n = 0;

  for (guint i = 0; i < pair->n; i++)
    n += pair->opposite_low[i] <= rounding && pair->opposite_high[i] >= -rounding;
  return (double) n / pair->n;
}

/* Every pair of a place and a family against the others. */
static void
try_family (const Set *set, guint place, const char *family, double coverage_fraction, GArray *trials)
{
  double reach = find_reach (set, place, family, coverage_fraction);
  Cells *cells = cells_new (set, place, family, NULL);

  for (guint i = 0; i < set->n; i++) {
    const FabPair *pair = &set->pairs[i];

    if (pair->place == place && pair->n > 0 && has_family (pair, family)) {
      double log = end_of (&cells->classes[pair->size_class], reach);
      FabPairTrial trial = { pair, family, log, held_by (pair, log), opposite_held (pair) };

      g_array_append_val (trials, trial);
    }
  }
  cells_free (cells);
}

GArray *
fab_pairs_left_out (const FabPair *pairs, guint n, double coverage_fraction)
{
  g_auto (Set) set = set_of (pairs, n);
  GArray *trials = g_array_new (FALSE, FALSE, sizeof (FabPairTrial));

  for (guint place = 0; place < FAB_N_PAIR_PLACES; place++) {
    g_autoptr (GPtrArray) families = list_families (&set, place, NULL);

    for (guint f = 0; f < families->len; f++)
      try_family (&set, place, g_ptr_array_index (families, f), coverage_fraction, trials);
  }
  return trials;
}

static gboolean
is_of (const FabPairTrial *trial, const FabPairFilter *filter)
{
  return (filter->kind == NULL || strcmp (trial->pair->kind, filter->kind) == 0)
      && (filter->place < 0 || filter->place == (int) trial->pair->place)
      && (filter->size_class < 0 || filter->size_class == (int) trial->pair->size_class);
}

static double
median_of (const GArray *values)
{
  return fab_weighted_quantile ((const double *) (gconstpointer) values->data, NULL, values->len, 0.5);
}

static double
opposite_log (const FabPair *pair)
{
  double sum = 0;

  for (guint i = 0; i < pair->n; i++)
    sum += (pair->opposite_high[i] - pair->opposite_low[i]) / 2;
  return sum / pair->n;
}

/* Means over the families of the trials. */
static void
sum_up (FabPairCoverage *self, const GArray *trials, const FabPairFilter *filter, GHashTable *families)
{
  GHashTableIter iter;
  gpointer family;

  self->n_families = g_hash_table_size (families);
  for (g_hash_table_iter_init (&iter, families); g_hash_table_iter_next (&iter, &family, NULL);) {
    Mean held = { NULL }, opposite = { NULL };

    for (guint i = 0; i < trials->len; i++) {
      const FabPairTrial *trial = &g_array_index (trials, FabPairTrial, i);

      if (!is_of (trial, filter) || strcmp (trial->family, family) != 0)
        continue;
      mean_add (&held, trial->pair->kind, trial->held_fraction);
      mean_add (&opposite, trial->pair->kind, trial->opposite_fraction);
    }
    self->held_fraction += mean_take (&held) / self->n_families;
    self->opposite_fraction += mean_take (&opposite) / self->n_families;
  }
}

FabPairCoverage
fab_pair_coverage (const GArray *trials, FabPairFilter filter)
{
  g_autoptr (GHashTable) families = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) pairs = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) logs = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) opposite_logs = g_array_new (FALSE, FALSE, sizeof (double));
  FabPairCoverage self = { 0 };

  for (guint i = 0; i < trials->len; i++) {
    const FabPairTrial *trial = &g_array_index (trials, FabPairTrial, i);
    double opposite = opposite_log (trial->pair);

    if (!is_of (trial, &filter))
      continue;
    g_hash_table_add (families, (gpointer) trial->family);
    g_hash_table_add (pairs, (gpointer) trial->pair);
    g_array_append_val (logs, trial->log);
    g_array_append_val (opposite_logs, opposite);
  }
  self.n_pairs = g_hash_table_size (pairs);
  sum_up (&self, trials, &filter, families);
  self.median_log = median_of (logs);
  self.median_opposite_log = median_of (opposite_logs);
  return self;
}
