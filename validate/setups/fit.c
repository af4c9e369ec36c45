/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - weighted medians and quantiles, with each source left out in turn. O(sources x points). */
#include "validate/setups/fit.h"

#include <math.h>
#include <string.h>

#include "sim/base/stats.h"

static const double band_drawn_by = 2; /* sources that all count as in a stack */
static const double least_reach = 0.5, most_reach = 3, reach_step = 0.01;

/* What a median or a band is of: points that calibrate, of a stack, but those of a source. */
typedef struct {
  const char *stack;   /* NULL: all */
  const char *without; /* source; NULL: none is left out */
} Part;

static gboolean
is_in (const Part *part, const FabSetupPoint *point)
{
  return point->is_calibration
      && (part->stack == NULL ? !point->is_apart : g_strcmp0 (part->stack, point->stack) == 0)
      && (part->without == NULL || strcmp (part->without, point->source) != 0);
}

/* --- weights --- */

/* Rows and groups of a part, by source; the texts are keys of hash tables. */
typedef struct {
  GHashTable *rows;   /* "source\ngroup" -> number of rows */
  GHashTable *groups; /* source -> number of groups */
  guint n_rows;
} Counts;

static void
counts_clear (Counts *self)
{
  g_hash_table_unref (self->rows);
  g_hash_table_unref (self->groups);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Counts, counts_clear)

static guint
count_up (GHashTable *table, const char *key)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (table, key)) + 1;

  g_hash_table_insert (table, g_strdup (key), GUINT_TO_POINTER (n));
  return n;
}

static char *
group_key (const FabSetupPoint *point)
{
  return g_strdup_printf ("%s\n%s", point->source, point->group);
}

static Counts
count_part (const FabSetupPoint *points, guint n, const Part *part)
{
  Counts self = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                  g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), 0 };

  for (guint i = 0; i < n; i++) {
    g_autofree char *key = group_key (&points[i]);

    if (!is_in (part, &points[i]))
      continue;
    self.n_rows++;
    if (count_up (self.rows, key) == 1)
      count_up (self.groups, points[i].source);
  }
  return self;
}

/* Numbers of a part with the weights of their points. */
typedef struct {
  double *values, *weights;
  guint n, n_sources;
} Weighted;

static void
weighted_clear (Weighted *self)
{
  g_free (self->values);
  g_free (self->weights);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Weighted, weighted_clear)

/* `numbers`: one of each point. */
static Weighted
weighted (const FabSetupPoint *points, guint n, const double *numbers, const Part *part)
{
  g_auto (Counts) counts = count_part (points, n, part);
  Weighted self = { g_new (double, n + 1), g_new (double, n + 1), 0, g_hash_table_size (counts.groups) };

  for (guint i = 0; i < n; i++) {
    g_autofree char *key = group_key (&points[i]);

    if (!is_in (part, &points[i]))
      continue;
    self.values[self.n] = numbers[i];
    self.weights[self.n++] = 1.0 / GPOINTER_TO_UINT (g_hash_table_lookup (counts.rows, key))
                           / GPOINTER_TO_UINT (g_hash_table_lookup (counts.groups, points[i].source));
  }
  return self;
}

static double
quantile (const Weighted *self, double fraction)
{
  return fab_weighted_quantile (self->values, self->weights, self->n, fraction);
}

/* --- the factor --- */

/* (transfer full) */
static double *
log_factors (const FabSetupPoint *points, guint n)
{
  double *logs = g_new0 (double, n + 1);

  for (guint i = 0; i < n; i++)
    logs[i] = points[i].log_factor;
  return logs;
}

static double
median_without (const FabSetupPoint *points, guint n, const char *without)
{
  g_autofree double *logs = log_factors (points, n);
  g_auto (Weighted) part = weighted (points, n, logs, &(Part){ NULL, without });

  return quantile (&part, 0.5);
}

/* --- residuals --- */

/* The distinct sources, in the order in which they stand. (transfer container) */
static GPtrArray *
sources_of (const FabSetupPoint *points, guint n)
{
  GPtrArray *sources = g_ptr_array_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n; i++)
    if (g_hash_table_add (seen, (gpointer) points[i].source))
      g_ptr_array_add (sources, (gpointer) points[i].source);
  return sources;
}

/* ln (measured / predicted time) of each point, its source left out. (transfer full) */
static double *
left_out_residuals (const FabSetupPoint *points, guint n)
{
  g_autoptr (GPtrArray) sources = sources_of (points, n);
  double *residuals = g_new0 (double, n + 1);

  for (guint s = 0; s < sources->len; s++) {
    const char *source = g_ptr_array_index (sources, s);
    double log_factor = median_without (points, n, source);

    for (guint i = 0; i < n; i++)
      if (strcmp (points[i].source, source) == 0)
        residuals[i] = points[i].log_factor - log_factor;
  }
  return residuals;
}

/* What is known: points and their residuals. */
typedef struct {
  const FabSetupPoint *points;
  guint n;
  const double *residuals;
  double tail_fraction; /* left out at each end */
} Known;

/* Quantiles of the part alone, and of how many sources it is. */
static FabSetupEnds
own_ends (const Known *known, const Part *part, guint *n_sources)
{
  g_auto (Weighted) own = weighted (known->points, known->n, known->residuals, part);

  *n_sources = own.n_sources;
  return (FabSetupEnds){ MIN (quantile (&own, known->tail_fraction), 0),
                         MAX (quantile (&own, 1 - known->tail_fraction), 0) };
}

/* Drawn towards those of all. */
static FabSetupEnds
ends_of (const Known *known, const Part *part)
{
  guint n_all, n_own;
  FabSetupEnds all = own_ends (known, &(Part){ .without = part->without }, &n_all);
  FabSetupEnds own = own_ends (known, part, &n_own);

  return (FabSetupEnds){ (n_own * own.low + band_drawn_by * all.low) / (n_own + band_drawn_by),
                         (n_own * own.high + band_drawn_by * all.high) / (n_own + band_drawn_by) };
}

/* --- reach --- */

/* Ends for each row, made without its source. (transfer full) */
static FabSetupEnds *
left_out_ends (const Known *known)
{
  FabSetupEnds *ends = g_new0 (FabSetupEnds, known->n + 1);

  for (guint i = 0; i < known->n; i++) {
    const FabSetupPoint *point = &known->points[i];
    guint k = 0;

    while (k < i
           && !(strcmp (known->points[k].source, point->source) == 0
                && g_strcmp0 (known->points[k].stack, point->stack) == 0))
      k++;
    ends[i] = k < i ? ends[k] : ends_of (known, &(Part){ point->stack, point->source });
  }
  return ends;
}

/* Which rows of a source are counted: calibrating ones alone, or all; those that are apart, or the others. */
typedef struct {
  gboolean only_calibration, is_apart;
} Counted;

/* Share of the rows of a source that the ends hold; -1: it has none. */
static double
covered (const Known *known, const FabSetupEnds *ends, const char *source, double reach,
         const Counted *counted)
{
  guint n = 0, n_covered = 0;

  for (guint i = 0; i < known->n; i++) {
    if (strcmp (known->points[i].source, source) != 0 || known->points[i].is_apart != counted->is_apart
        || (counted->only_calibration && !known->points[i].is_calibration))
      continue;
    n++;
    n_covered += known->residuals[i] >= reach * ends[i].low && known->residuals[i] <= reach * ends[i].high;
  }
  return n > 0 ? (double) n_covered / n : -1;
}

/* The least at which sources that are left out are covered as often as asked for, on the mean; `without` one. */
static double
find_reach (const Known *known, const FabSetupEnds *ends, const char *without, gboolean is_apart)
{
  const Counted counted = { TRUE, is_apart };
  g_autoptr (GPtrArray) sources = sources_of (known->points, known->n);

  for (double reach = least_reach; reach < most_reach; reach += reach_step) {
    double sum = 0;
    guint n = 0;

    for (guint s = 0; s < sources->len; s++) {
      const char *source = g_ptr_array_index (sources, s);
      double share = g_strcmp0 (source, without) != 0 ? covered (known, ends, source, reach, &counted) : -1;

      sum += MAX (share, 0);
      n += share >= 0;
    }
    if (n == 0)
      return 1;
    if (sum / n >= 1 - 2 * known->tail_fraction)
      return reach;
  }
  return most_reach;
}

/* --- entries --- */

/* Whether a stack is one of points that are apart. */
static gboolean
is_apart (const Known *known, const char *stack)
{
  for (guint i = 0; stack != NULL && i < known->n; i++)
    if (strcmp (known->points[i].stack, stack) == 0)
      return known->points[i].is_apart;
  return FALSE;
}

static FabSetupEnds
stretched (FabSetupEnds ends, double reach)
{
  return (FabSetupEnds){ reach * ends.low, reach * ends.high };
}

static void
add_entry (FabSetupsFit *self, const Known *known, const char *stack)
{
  const Part part = { stack, NULL };
  g_auto (Counts) counts = count_part (known->points, known->n, &part);
  double reach = is_apart (known, stack) ? self->apart_reach : self->reach;
  FabSetupEntry entry = { stack, stretched (ends_of (known, &part), reach), counts.n_rows,
                          g_hash_table_size (counts.rows), g_hash_table_size (counts.groups) };

  g_array_append_val (self->entries, entry);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (transfer container) */
static GPtrArray *
stacks_of (const Known *known)
{
  GPtrArray *stacks = g_ptr_array_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < known->n; i++)
    if (known->points[i].is_calibration && g_hash_table_add (seen, (gpointer) known->points[i].stack))
      g_ptr_array_add (stacks, (gpointer) known->points[i].stack);
  g_ptr_array_sort (stacks, compare_names);
  return stacks;
}

FabSetupsFit *
fab_setups_fit (const FabSetupPoint *points, guint n, double coverage_fraction)
{
  FabSetupsFit *self = g_new0 (FabSetupsFit, 1);
  g_autofree double *residuals = left_out_residuals (points, n);
  const Known known = { points, n, residuals, (1 - coverage_fraction) / 2 };
  g_autofree FabSetupEnds *ends = left_out_ends (&known);
  g_autoptr (GPtrArray) stacks = stacks_of (&known);

  self->coverage_fraction = coverage_fraction;
  self->entries = g_array_new (FALSE, FALSE, sizeof (FabSetupEntry));
  self->reach = find_reach (&known, ends, NULL, FALSE);
  self->apart_reach = find_reach (&known, ends, NULL, TRUE);
  self->log_factor = median_without (points, n, NULL);
  add_entry (self, &known, NULL);
  for (guint i = 0; i < stacks->len; i++)
    add_entry (self, &known, g_ptr_array_index (stacks, i));
  return self;
}

void
fab_setups_fit_free (FabSetupsFit *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->entries);
  g_free (self);
}

/* --- sources that are left out --- */

static FabSetupLeftOut
left_out_of (const Known *known, const FabSetupEnds *ends, const char *source, gboolean is_apart)
{
  const Counted counted = { FALSE, is_apart };
  g_autofree double *logs = g_new (double, known->n + 1), *errors = g_new (double, known->n + 1);
  FabSetupLeftOut self = { .source = source };

  for (guint i = 0; i < known->n; i++)
    if (strcmp (known->points[i].source, source) == 0 && known->points[i].is_apart == is_apart) {
      logs[self.n_rows] = -known->residuals[i];
      errors[self.n_rows++] = fabs (expm1 (-known->residuals[i]));
    }
  self.covered_fraction = covered (known, ends, source, find_reach (known, ends, source, is_apart), &counted);
  self.median_log = fab_weighted_quantile (logs, NULL, self.n_rows, 0.5);
  self.error_fraction = fab_weighted_quantile (errors, NULL, self.n_rows, 0.5);
  return self;
}

/* Of every source that has such points, with the residuals that are known. */
static GArray *
left_out_of_all (const FabSetupPoint *points, guint n, const double *residuals, double coverage_fraction,
                 gboolean is_apart)
{
  GArray *left_out = g_array_new (FALSE, FALSE, sizeof (FabSetupLeftOut));
  const Known known = { points, n, residuals, (1 - coverage_fraction) / 2 };
  g_autofree FabSetupEnds *ends = left_out_ends (&known);
  g_autoptr (GPtrArray) sources = sources_of (points, n);

  for (guint s = 0; s < sources->len; s++) {
    FabSetupLeftOut one = left_out_of (&known, ends, g_ptr_array_index (sources, s), is_apart);

    if (one.n_rows > 0)
      g_array_append_val (left_out, one);
  }
  return left_out;
}

GArray *
fab_setups_left_out (const FabSetupPoint *points, guint n, double coverage_fraction, gboolean is_apart)
{
  g_autofree double *residuals = left_out_residuals (points, n);

  return left_out_of_all (points, n, residuals, coverage_fraction, is_apart);
}

/* --- residuals that are given --- */

FabSetupEnds
fab_residual_ends (const FabSetupPoint *points, guint n, double coverage_fraction)
{
  g_autofree double *residuals = log_factors (points, n);
  const Known known = { points, n, residuals, (1 - coverage_fraction) / 2 };
  g_autofree FabSetupEnds *ends = left_out_ends (&known);

  return stretched (ends_of (&known, &(Part){ .without = NULL }), find_reach (&known, ends, NULL, FALSE));
}

GArray *
fab_residuals_left_out (const FabSetupPoint *points, guint n, double coverage_fraction)
{
  g_autofree double *residuals = log_factors (points, n);

  return left_out_of_all (points, n, residuals, coverage_fraction, FALSE);
}
