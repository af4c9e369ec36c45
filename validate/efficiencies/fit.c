/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - medians of groups, a ridge regression by coordinates, weighted quantiles. O(sources x groups x rounds). */
#include "validate/efficiencies/fit.h"

#include <math.h>
#include <string.h>

#include "sim/base/stats.h"

static const double robust_log = 0.3;  /* a third more or a quarter less */
static const double ridge = 1;         /* groups that say that an effect is none */
static const double drawn_by = 1;      /* groups that the effects count as in a cell */
static const double band_drawn_by = 2; /* sources that all count as in a part */
static const double least_reach = 0.5, most_reach = 3, reach_step = 0.01;
enum { ROUNDS = 60, AXES = 3, MOST_LEVELS = 64 };

static const char *
axis_of (const FabEfficiencyPoint *point, guint axis)
{
  return axis == 0 ? point->generation : axis == 1 ? point->precision : point->stack;
}

static gboolean
is_same_cell (const FabEfficiencyPoint *a, const FabEfficiencyPoint *b)
{
  for (guint axis = 0; axis < AXES; axis++)
    if (g_strcmp0 (axis_of (a, axis), axis_of (b, axis)) != 0)
      return FALSE;
  return TRUE;
}

/* --- groups --- */

typedef struct {
  const FabEfficiencyPoint *first;
  GArray *logs; /* double */
  double log_scale, weight;
  guint level[AXES];
} Group;

static void
clear_group (gpointer data)
{
  g_array_unref (((Group *) data)->logs);
}

static Group *
find_group (GArray *groups, const FabEfficiencyPoint *point)
{
  Group made = { .first = point };

  for (guint i = 0; i < groups->len; i++) {
    Group *group = &g_array_index (groups, Group, i);

    if (strcmp (group->first->source, point->source) == 0 && strcmp (group->first->group, point->group) == 0
        && is_same_cell (group->first, point))
      return group;
  }
  made.logs = g_array_new (FALSE, FALSE, sizeof (double));
  g_array_append_val (groups, made);
  return &g_array_index (groups, Group, groups->len - 1);
}

static void
weigh_groups (GArray *groups)
{
  for (guint i = 0; i < groups->len; i++) {
    Group *group = &g_array_index (groups, Group, i);
    guint n_alike = 0;

    for (guint k = 0; k < groups->len; k++) {
      const Group *other = &g_array_index (groups, Group, k);

      n_alike += strcmp (group->first->source, other->first->source) == 0
              && is_same_cell (group->first, other->first);
    }
    group->weight = 1 / (1 + (n_alike - 1) / 2.0);
    group->log_scale = fab_weighted_quantile ((const double *) (gpointer) group->logs->data, NULL,
                                              group->logs->len, 0.5);
  }
}

/* Of the points that calibrate, but those of a source; NULL: none is left out. (transfer full: Group) */
static GArray *
groups_of (const FabEfficiencyPoint *points, guint n, const char *without)
{
  GArray *groups = g_array_new (FALSE, FALSE, sizeof (Group));

  g_array_set_clear_func (groups, clear_group);
  for (guint i = 0; i < n; i++)
    if (points[i].is_calibration && (without == NULL || strcmp (points[i].source, without) != 0))
      g_array_append_val (find_group (groups, &points[i])->logs, points[i].log_scale);
  weigh_groups (groups);
  return groups;
}

/* --- effects --- */

typedef struct {
  GArray *groups;
  double mean;
  guint n_levels[AXES];
  const char *names[AXES][MOST_LEVELS];
  double effects[AXES][MOST_LEVELS];
} Model;

static void
model_clear (Model *self)
{
  if (self->groups != NULL)
    g_array_unref (self->groups);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Model, model_clear)

/* MOST_LEVELS: there is none. */
static guint
find_level (const Model *self, guint axis, const char *name)
{
  for (guint level = 0; level < self->n_levels[axis]; level++)
    if (g_strcmp0 (self->names[axis][level], name) == 0)
      return level;
  return MOST_LEVELS;
}

static void
name_levels (Model *self)
{
  for (guint i = 0; i < self->groups->len; i++)
    for (guint axis = 0; axis < AXES; axis++) {
      Group *group = &g_array_index (self->groups, Group, i);
      const char *name = axis_of (group->first, axis);

      group->level[axis] = find_level (self, axis, name);
      if (group->level[axis] < MOST_LEVELS)
        continue;
      g_assert (self->n_levels[axis] < MOST_LEVELS);
      group->level[axis] = self->n_levels[axis]++;
      self->names[axis][group->level[axis]] = name;
    }
}

static double
additive (const Model *self, const Group *group)
{
  double sum = self->mean;

  for (guint axis = 0; axis < AXES; axis++)
    sum += self->effects[axis][group->level[axis]];
  return sum;
}

/* The weight of a group that is this far off. */
static double
robust_weight (const Group *group, double residual)
{
  return group->weight * (fabs (residual) > robust_log ? robust_log / fabs (residual) : 1);
}

/* One step of an effect, or of the mean (axis AXES): the weighted mean of what the others leave. */
static void
improve (Model *self, guint axis, guint level)
{
  double *effect = axis < AXES ? &self->effects[axis][level] : &self->mean;
  double sum = 0, weights = axis < AXES ? ridge : 0;

  for (guint i = 0; i < self->groups->len; i++) {
    const Group *group = &g_array_index (self->groups, Group, i);

    if (axis < AXES && group->level[axis] != level)
      continue;
    double residual = group->log_scale - additive (self, group);
    double weight = robust_weight (group, residual);
    sum += weight * (residual + *effect);
    weights += weight;
  }
  *effect = weights > 0 ? sum / weights : 0;
}

static Model
fit_model (const FabEfficiencyPoint *points, guint n, const char *without)
{
  Model self = { .groups = groups_of (points, n, without) };

  name_levels (&self);
  for (guint round = 0; round < ROUNDS; round++) {
    improve (&self, AXES, 0);
    for (guint axis = 0; axis < AXES; axis++)
      for (guint level = 0; level < self.n_levels[axis]; level++)
        improve (&self, axis, level);
  }
  return self;
}

static double
sum_of_effects (const Model *self, const FabEfficiencyPoint *point)
{
  double sum = self->mean;

  for (guint axis = 0; axis < AXES; axis++) {
    guint level = find_level (self, axis, axis_of (point, axis));

    sum += level < MOST_LEVELS ? self->effects[axis][level] : 0;
  }
  return sum;
}

/* Of the cell of a point, measured or not. */
static double
cell_log (const Model *self, const FabEfficiencyPoint *point)
{
  double effects = sum_of_effects (self, point), sum = drawn_by * effects, weights = drawn_by;

  for (guint i = 0; i < self->groups->len; i++) {
    const Group *group = &g_array_index (self->groups, Group, i);
    double weight = robust_weight (group, group->log_scale - effects);

    if (!is_same_cell (group->first, point))
      continue;
    sum += weight * group->log_scale;
    weights += weight;
  }
  return sum / weights;
}

/* --- residuals --- */

/* The distinct sources, in the order in which they stand. (transfer container) */
static GPtrArray *
sources_of (const FabEfficiencyPoint *points, guint n)
{
  GPtrArray *sources = g_ptr_array_new ();
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n; i++)
    if (g_hash_table_add (seen, (gpointer) points[i].source))
      g_ptr_array_add (sources, (gpointer) points[i].source);
  return sources;
}

/* ln (measured / predicted time) of each point, its source left out. */
static double *
left_out_residuals (const FabEfficiencyPoint *points, guint n)
{
  g_autoptr (GPtrArray) sources = sources_of (points, n);
  double *residuals = g_new0 (double, n + 1);

  for (guint s = 0; s < sources->len; s++) {
    const char *source = g_ptr_array_index (sources, s);
    g_auto (Model) model = fit_model (points, n, source);

    for (guint i = 0; i < n; i++)
      if (strcmp (points[i].source, source) == 0)
        residuals[i] = cell_log (&model, &points[i]) - points[i].log_scale;
  }
  return residuals;
}

/* What a band is of: points that calibrate and agree in what it names, but those of a source. */
typedef struct {
  const char *generation, *precision, *stack; /* NULL: all */
  const char *without;                        /* source; NULL: none is left out */
} Part;

static gboolean
is_in (const Part *part, const FabEfficiencyPoint *point)
{
  return point->is_calibration
      && (part->generation == NULL || g_strcmp0 (part->generation, point->generation) == 0)
      && (part->precision == NULL || g_strcmp0 (part->precision, point->precision) == 0)
      && (part->stack == NULL || g_strcmp0 (part->stack, point->stack) == 0)
      && (part->without == NULL || strcmp (part->without, point->source) != 0);
}

/* What is known: points and their residuals. */
typedef struct {
  const FabEfficiencyPoint *points;
  guint n;
  const double *residuals;
  double tail_fraction; /* left out at each end */
} Known;

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
group_key (const FabEfficiencyPoint *point)
{
  return g_strdup_printf ("%s\n%s", point->source, point->group);
}

static Counts
count_part (const Known *known, const Part *part)
{
  Counts self = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                  g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), 0 };

  for (guint i = 0; i < known->n; i++) {
    g_autofree char *key = group_key (&known->points[i]);

    if (!is_in (part, &known->points[i]))
      continue;
    self.n_rows++;
    if (count_up (self.rows, key) == 1)
      count_up (self.groups, known->points[i].source);
  }
  return self;
}

/* Quantiles of the part alone, and of how many sources it is. */
static FabEfficiencyEnds
own_ends (const Known *known, const Part *part, guint *n_sources)
{
  g_auto (Counts) counts = count_part (known, part);
  g_autofree double *values = g_new (double, known->n + 1), *weights = g_new (double, known->n + 1);
  guint n = 0;

  for (guint i = 0; i < known->n; i++) {
    g_autofree char *key = group_key (&known->points[i]);

    if (!is_in (part, &known->points[i]))
      continue;
    values[n] = known->residuals[i];
    weights[n++] = 1.0 / GPOINTER_TO_UINT (g_hash_table_lookup (counts.rows, key))
                 / GPOINTER_TO_UINT (g_hash_table_lookup (counts.groups, known->points[i].source));
  }
  *n_sources = g_hash_table_size (counts.groups);
  return (FabEfficiencyEnds){ MIN (fab_weighted_quantile (values, weights, n, known->tail_fraction), 0),
                              MAX (fab_weighted_quantile (values, weights, n, 1 - known->tail_fraction), 0) };
}

/* Drawn towards those of all. */
static FabEfficiencyEnds
ends_of (const Known *known, const Part *part)
{
  guint n_all, n_own;
  FabEfficiencyEnds all = own_ends (known, &(Part){ .without = part->without }, &n_all);
  FabEfficiencyEnds own = own_ends (known, part, &n_own);

  return (FabEfficiencyEnds){ (n_own * own.low + band_drawn_by * all.low) / (n_own + band_drawn_by),
                              (n_own * own.high + band_drawn_by * all.high) / (n_own + band_drawn_by) };
}

/* What the catalogue would say of a point: the cell's ends, or the widest of the effects'. */
static FabEfficiencyEnds
catalogue_ends (const Known *known, const FabEfficiencyPoint *point, const char *without)
{
  const Part cell = { point->generation, point->precision, point->stack, without };
  const Part effects[] = { { NULL, NULL, NULL, without },
                           { point->generation, NULL, NULL, without },
                           { NULL, point->precision, NULL, without },
                           { NULL, NULL, point->stack, without } };
  FabEfficiencyEnds widest = { 0, 0 };
  guint n_sources;

  own_ends (known, &cell, &n_sources);
  if (n_sources > 0)
    return ends_of (known, &cell);
  for (guint i = 0; i < G_N_ELEMENTS (effects); i++) {
    FabEfficiencyEnds ends = ends_of (known, &effects[i]);

    widest = (FabEfficiencyEnds){ MIN (widest.low, ends.low), MAX (widest.high, ends.high) };
  }
  return widest;
}

/* --- reach --- */

/* Ends for each row, made without its source. Rows of one cell of one source have the same. (transfer full) */
static FabEfficiencyEnds *
left_out_ends (const Known *known)
{
  FabEfficiencyEnds *ends = g_new0 (FabEfficiencyEnds, known->n + 1);

  for (guint i = 0; i < known->n; i++) {
    guint k = 0;

    while (k < i
           && !(strcmp (known->points[k].source, known->points[i].source) == 0
                && is_same_cell (&known->points[k], &known->points[i])))
      k++;
    ends[i] = k < i ? ends[k] : catalogue_ends (known, &known->points[i], known->points[i].source);
  }
  return ends;
}

/* Of the rows of a source; -1: it has none. Calibrating ones alone, or all. */
static double
covered (const Known *known, const FabEfficiencyEnds *ends, const char *source, double reach,
         gboolean only_calibration)
{
  guint n = 0, n_covered = 0;

  for (guint i = 0; i < known->n; i++) {
    if (strcmp (known->points[i].source, source) != 0
        || (only_calibration && !known->points[i].is_calibration))
      continue;
    n++;
    n_covered += known->residuals[i] >= reach * ends[i].low && known->residuals[i] <= reach * ends[i].high;
  }
  return n > 0 ? (double) n_covered / n : -1;
}

/* The least at which sources that are left out are covered as often as asked for, on the mean; `without` one. */
static double
find_reach (const Known *known, const FabEfficiencyEnds *ends, const char *without)
{
  g_autoptr (GPtrArray) sources = sources_of (known->points, known->n);

  for (double reach = least_reach; reach < most_reach; reach += reach_step) {
    double sum = 0;
    guint n = 0;

    for (guint s = 0; s < sources->len; s++) {
      const char *source = g_ptr_array_index (sources, s);
      double share = g_strcmp0 (source, without) != 0 ? covered (known, ends, source, reach, TRUE) : -1;

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

static FabEfficiencyEnds
stretched (FabEfficiencyEnds ends, double reach)
{
  return (FabEfficiencyEnds){ reach * ends.low, reach * ends.high };
}

static void
add_entry (FabEfficienciesFit *self, const Known *known, const Part *part, double log_scale)
{
  g_auto (Counts) counts = count_part (known, part);
  FabEfficiencyEntry entry = { part->generation,
                               part->precision,
                               part->stack,
                               log_scale,
                               stretched (ends_of (known, part), self->reach),
                               counts.n_rows,
                               g_hash_table_size (counts.rows),
                               g_hash_table_size (counts.groups) };

  g_array_append_val (self->entries, entry);
}

static gint
compare_entries (gconstpointer a, gconstpointer b)
{
  const FabEfficiencyEntry *first = a, *second = b;
  gint order = g_strcmp0 (first->generation, second->generation);

  order = order != 0 ? order : g_strcmp0 (first->precision, second->precision);
  return order != 0 ? order : g_strcmp0 (first->stack, second->stack);
}

/* Sorts the entries from `first` on. */
static void
sort_from (FabEfficienciesFit *self, guint first)
{
  qsort (&g_array_index (self->entries, FabEfficiencyEntry, first), self->entries->len - first,
         sizeof (FabEfficiencyEntry), compare_entries);
}

static void
add_effects (FabEfficienciesFit *self, const Known *known, const Model *model)
{
  add_entry (self, known, &(Part){ NULL, NULL, NULL, NULL }, model->mean);
  for (guint axis = 0; axis < AXES; axis++) {
    guint first = self->entries->len;

    for (guint level = 0; level < model->n_levels[axis]; level++) {
      const char *name = model->names[axis][level];

      add_entry (self, known,
                 &(Part){ axis == 0 ? name : NULL, axis == 1 ? name : NULL, axis == 2 ? name : NULL, NULL },
                 model->effects[axis][level]);
    }
    sort_from (self, first);
  }
}

static void
add_cells (FabEfficienciesFit *self, const Known *known, const Model *model)
{
  guint first = self->entries->len;

  for (guint i = 0; i < model->groups->len; i++) {
    const FabEfficiencyPoint *point = g_array_index (model->groups, Group, i).first;
    gboolean is_there = FALSE;

    for (guint k = 0; k < i; k++)
      is_there = is_there || is_same_cell (point, g_array_index (model->groups, Group, k).first);
    if (!is_there)
      add_entry (self, known, &(Part){ point->generation, point->precision, point->stack, NULL },
                 cell_log (model, point));
  }
  sort_from (self, first);
}

FabEfficienciesFit *
fab_efficiencies_fit (const FabEfficiencyPoint *points, guint n, double coverage_fraction)
{
  FabEfficienciesFit *self = g_new0 (FabEfficienciesFit, 1);
  g_auto (Model) model = fit_model (points, n, NULL);
  g_autofree double *residuals = left_out_residuals (points, n);
  const Known known = { points, n, residuals, (1 - coverage_fraction) / 2 };
  g_autofree FabEfficiencyEnds *ends = left_out_ends (&known);

  self->coverage_fraction = coverage_fraction;
  self->entries = g_array_new (FALSE, FALSE, sizeof (FabEfficiencyEntry));
  self->reach = find_reach (&known, ends, NULL);
  add_effects (self, &known, &model);
  add_cells (self, &known, &model);
  return self;
}

void
fab_efficiencies_fit_free (FabEfficienciesFit *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->entries);
  g_free (self);
}

static gboolean
fits (const FabEfficiencyEntry *entry, const FabEfficiencyPoint *point)
{
  return (entry->generation == NULL || g_strcmp0 (entry->generation, point->generation) == 0)
      && (entry->precision == NULL || g_strcmp0 (entry->precision, point->precision) == 0)
      && (entry->stack == NULL || g_strcmp0 (entry->stack, point->stack) == 0);
}

FabEfficiencyEntry
fab_efficiencies_of (const FabEfficienciesFit *self, const FabEfficiencyPoint *point)
{
  FabEfficiencyEntry product = { point->generation, point->precision, point->stack, 0, { 0, 0 }, 0, 0, 0 };

  for (guint i = 0; i < self->entries->len; i++) {
    const FabEfficiencyEntry *entry = &g_array_index (self->entries, FabEfficiencyEntry, i);

    if (!fits (entry, point))
      continue;
    if (entry->generation != NULL && entry->precision != NULL && entry->stack != NULL)
      return *entry;
    product.log_scale += entry->log_scale;
    product.ends.low = MIN (product.ends.low, entry->ends.low);
    product.ends.high = MAX (product.ends.high, entry->ends.high);
  }
  return product;
}

/* --- sources that are left out --- */

static FabEfficiencyLeftOut
left_out_of (const Known *known, const FabEfficiencyEnds *ends, const char *source)
{
  g_autofree double *logs = g_new (double, known->n + 1), *errors = g_new (double, known->n + 1);
  FabEfficiencyLeftOut self = { .source = source };

  for (guint i = 0; i < known->n; i++)
    if (strcmp (known->points[i].source, source) == 0) {
      logs[self.n_rows] = -known->residuals[i];
      errors[self.n_rows++] = fabs (expm1 (-known->residuals[i]));
    }
  self.covered_fraction = covered (known, ends, source, find_reach (known, ends, source), FALSE);
  self.median_log = fab_weighted_quantile (logs, NULL, self.n_rows, 0.5);
  self.error_fraction = fab_weighted_quantile (errors, NULL, self.n_rows, 0.5);
  return self;
}

/* Of every source, with the residuals that are known. */
static GArray *
left_out_of_all (const FabEfficiencyPoint *points, guint n, const double *residuals, double coverage_fraction)
{
  GArray *left_out = g_array_new (FALSE, FALSE, sizeof (FabEfficiencyLeftOut));
  const Known known = { points, n, residuals, (1 - coverage_fraction) / 2 };
  g_autofree FabEfficiencyEnds *ends = left_out_ends (&known);
  g_autoptr (GPtrArray) sources = sources_of (points, n);

  for (guint s = 0; s < sources->len; s++) {
    FabEfficiencyLeftOut one = left_out_of (&known, ends, g_ptr_array_index (sources, s));

    g_array_append_val (left_out, one);
  }
  return left_out;
}

GArray *
fab_efficiencies_left_out (const FabEfficiencyPoint *points, guint n, double coverage_fraction)
{
  g_autofree double *residuals = left_out_residuals (points, n);

  return left_out_of_all (points, n, residuals, coverage_fraction);
}

/* --- residuals that are given --- */

/* (transfer full) */
static double *
given_residuals (const FabEfficiencyPoint *points, guint n)
{
  double *residuals = g_new0 (double, n + 1);

  for (guint i = 0; i < n; i++)
    residuals[i] = points[i].log_scale;
  return residuals;
}

FabEfficiencyEnds
fab_residual_ends (const FabEfficiencyPoint *points, guint n, double coverage_fraction)
{
  g_autofree double *residuals = given_residuals (points, n);
  const Known known = { points, n, residuals, (1 - coverage_fraction) / 2 };
  g_autofree FabEfficiencyEnds *ends = left_out_ends (&known);

  return stretched (ends_of (&known, &(Part){ .without = NULL }), find_reach (&known, ends, NULL));
}

GArray *
fab_residuals_left_out (const FabEfficiencyPoint *points, guint n, double coverage_fraction)
{
  g_autofree double *residuals = given_residuals (points, n);

  return left_out_of_all (points, n, residuals, coverage_fraction);
}
