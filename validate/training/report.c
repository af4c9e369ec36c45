/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - anchors, predictions, medians. A simulation per row, and three to six more per anchor. */
#include "validate/training/report.h"

#include <math.h>
#include <string.h>

#include "sim/run/run.h"

/* All pairs of a source's rows. O(rows^2 x factors), rows are few. */

static const double least_change = 0.02;

typedef struct {
  const FabTrainingResult *result;
  char **same, **factors;
} Pairs;

static const char *
cell (const Pairs *self, const FabTrainingComparison *row, const char *column)
{
  return row->measured->cells[fab_training_table_column (self->result->source->table, column)];
}

static gboolean
is_equal (const Pairs *self, const FabTrainingComparison *a, const FabTrainingComparison *b, char **columns,
          const char *but)
{
  for (guint i = 0; columns[i]; i++)
    if (*columns[i] != '\0' && g_strcmp0 (columns[i], but) != 0
        && strcmp (cell (self, a, columns[i]), cell (self, b, columns[i])) != 0)
      return FALSE;
  return TRUE;
}

static gboolean
read_number (const char *text, double *number)
{
  char *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0';
}

/* Some row like `a` and `b` in all else stands between them. */
static gboolean
has_between (const Pairs *self, const FabTrainingComparison *a, const FabTrainingComparison *b,
             const char *factor)
{
  double from, to, middle;

  if (!read_number (cell (self, a, factor), &from) || !read_number (cell (self, b, factor), &to))
    return FALSE;
  for (guint i = 0; i < self->result->rows->len; i++) {
    const FabTrainingComparison *row = &g_array_index (self->result->rows, FabTrainingComparison, i);

    if (row->role < FAB_RUN_FULL_MEMORY && is_equal (self, a, row, self->same, NULL)
        && is_equal (self, a, row, self->factors, factor) && read_number (cell (self, row, factor), &middle)
        && (middle - from) * (to - middle) > 0)
      return TRUE;
  }
  return FALSE;
}

static double
change (const FabTrainingRow *a, const FabTrainingRow *b, double a_step_s, double b_step_s)
{
  return b_step_s * b->gpus / b->batch / (a_step_s * a->gpus / a->batch) - 1;
}

static void
compare (const Pairs *self, const FabTrainingComparison *a, const FabTrainingComparison *b,
         const char *factor, FabDirections *count, GArray *wrong)
{
  double measured = change (a->measured, b->measured, a->measured->step_s, b->measured->step_s);
  double predicted = change (a->measured, b->measured, a->predicted.step_s, b->predicted.step_s);
  FabWrongDirection row = { self->result->source->spec->name,
                            g_intern_string (factor),
                            a->measured->id,
                            b->measured->id,
                            measured,
                            predicted };

  if (fabs (measured) < least_change)
    count->n_small++;
  else if (measured * predicted > 0)
    count->n_right++;
  else if (strcmp (factor, "gpus") == 0 && (b->measured->gpus > a->measured->gpus) == (measured < 0))
    count->n_odd++;
  else {
    count->n_wrong++;
    g_array_append_val (wrong, row);
  }
}

static void
compare_factor (const Pairs *self, const char *factor, FabDirections *count, GArray *wrong)
{
  const GArray *rows = self->result->rows;

  for (guint i = 0; i < rows->len; i++)
    for (guint k = i + 1; k < rows->len; k++) {
      const FabTrainingComparison *a = &g_array_index (rows, FabTrainingComparison, i);
      const FabTrainingComparison *b = &g_array_index (rows, FabTrainingComparison, k);
      gboolean is_inside = a->measured->nodes < 2 && b->measured->nodes < 2;

      if (a->role >= FAB_RUN_FULL_MEMORY || b->role >= FAB_RUN_FULL_MEMORY || is_inside
          || !is_equal (self, a, b, self->same, NULL) || !is_equal (self, a, b, self->factors, factor)
          || strcmp (cell (self, a, factor), cell (self, b, factor)) == 0 || has_between (self, a, b, factor))
        continue;
      compare (self, a, b, factor, count, wrong);
    }
}

/* Counts the pairs of a result into it and appends the wrong ones (FabWrongDirection). */
static void
training_directions (FabTrainingResult *result, GArray *wrong)
{
  const FabTrainingSourceSpec *spec = result->source->spec;
  g_auto (GStrv) same = g_strsplit (spec->same, " ", -1);
  g_auto (GStrv) factors = g_strsplit (spec->factors ? spec->factors : "", " ", -1);
  Pairs pairs = { result, same, factors };

  for (guint i = 0; factors[i]; i++)
    if (*factors[i] != '\0')
      compare_factor (&pairs, factors[i], &result->directions, wrong);
}

const char *const fab_run_role_names[] = {
  [FAB_RUN_ANCHOR] = "anchor",           [FAB_RUN_ONE_NODE] = "one node", [FAB_RUN_JUDGED] = "judged",
  [FAB_RUN_FULL_MEMORY] = "memory full", [FAB_RUN_DOUBTFUL] = "doubtful", NULL
};

static FabTrainingComparison *
row_of (const FabTrainingResult *self, guint index)
{
  return &g_array_index (self->rows, FabTrainingComparison, index);
}

static gboolean
is_same_group (const FabTrainingResult *self, char **same, guint a, guint b)
{
  const FabTrainingTable *table = self->source->table;

  for (guint i = 0; same[i]; i++) {
    gint column = fab_training_table_column (table, same[i]);

    if (*same[i] != '\0'
        && strcmp (row_of (self, a)->measured->cells[column], row_of (self, b)->measured->cells[column]) != 0)
      return FALSE;
  }
  return TRUE;
}

/* Smaller comes first: marked rows, then those inside a node, then fewer GPUs. */
static guint64
anchor_order (const FabTrainingRow *row)
{
  if (row->is_anchor)
    return 0;
  return (row->nodes > 1 ? (guint64) 1 << 40 : 1) + row->gpus;
}

static gboolean
is_equal_in (const FabTrainingResult *self, const char *columns, const char *but, guint a, guint b)
{
  g_auto (GStrv) names = g_strsplit (columns ? columns : "", " ", -1);

  for (guint i = 0; names[i]; i++)
    if (strcmp (names[i], but) == 0)
      *names[i] = '\0';
  return is_same_group (self, names, a, b);
}

static double
cost (const FabTrainingRow *row)
{
  return row->step_s * row->gpus / row->batch;
}

/* More GPUs cannot make a GPU faster; memory that is nearly full makes it slower. */
static gboolean
is_short_of_memory (const FabTrainingResult *self, char **same, guint index)
{
  const double least_ratio = 1.1;
  const FabTrainingRow *row = row_of (self, index)->measured;

  for (guint i = 0; i < self->rows->len; i++) {
    const FabTrainingRow *other = row_of (self, i)->measured;

    if (other->gpus > row->gpus && !other->doubtful && cost (row) > least_ratio * cost (other)
        && is_same_group (self, same, index, i)
        && is_equal_in (self, self->source->spec->factors, "gpus", index, i))
      return TRUE;
  }
  return FALSE;
}

/* The group of a row that is in none yet: its rows get their roles. */
static void
choose_anchors (FabTrainingResult *self, char **same, guint first, gboolean *is_grouped)
{
  guint64 best = G_MAXUINT64;
  guint anchor = first;

  for (guint i = first; i < self->rows->len; i++) {
    const FabTrainingRow *row = row_of (self, i)->measured;

    if (!is_same_group (self, same, first, i) || row->doubtful || anchor_order (row) >= best
        || (!row->is_anchor && is_short_of_memory (self, same, i)))
      continue;
    best = anchor_order (row);
    anchor = i;
  }
  for (guint i = first; i < self->rows->len; i++) {
    FabTrainingComparison *row = row_of (self, i);

    if (!is_same_group (self, same, first, i))
      continue;
    gboolean is_before = anchor_order (row->measured) < best; /* passed over: its memory was full */
    is_grouped[i] = TRUE;
    row->anchor = anchor;
    row->role = row->measured->doubtful              ? FAB_RUN_DOUBTFUL
              : is_before                            ? FAB_RUN_FULL_MEMORY
              : anchor_order (row->measured) == best ? FAB_RUN_ANCHOR
              : row->measured->nodes > 1             ? FAB_RUN_JUDGED
                                                     : FAB_RUN_ONE_NODE;
  }
}

static void
assign_roles (FabTrainingResult *self)
{
  g_auto (GStrv) same = g_strsplit (self->source->spec->same, " ", -1);
  g_autofree gboolean *is_grouped = g_new0 (gboolean, self->rows->len);

  for (guint i = 0; i < self->rows->len; i++)
    if (!is_grouped[i])
      choose_anchors (self, same, i, is_grouped);
}

/* The efficiency of the group whose first anchor is `anchor`. */
static gboolean
fit_group (FabTrainingResult *self, guint anchor, const FabTrainingEnv *env, GError **error)
{
  double seconds_per_flop = 0, mfu_fraction;
  guint n_anchors = 0;

  for (guint i = 0; i < self->rows->len; i++) {
    const FabTrainingComparison *row = row_of (self, i);

    if (row->anchor != anchor || (row->role != FAB_RUN_ANCHOR && i != anchor))
      continue;
    if (!fab_training_fit (self->source, i, env, &mfu_fraction, error))
      return FALSE;
    seconds_per_flop += 1 / mfu_fraction;
    n_anchors++;
  }
  double slowest = fab_training_slowest (row_of (self, anchor)->measured->gpus);
  for (guint i = 0; i < self->rows->len; i++)
    if (row_of (self, i)->anchor == anchor)
      row_of (self, i)->mfu_fraction = MIN (n_anchors / seconds_per_flop * slowest
                                                / fab_training_slowest (row_of (self, i)->measured->gpus),
                                            1);
  return TRUE;
}

static gboolean
predict (FabTrainingResult *self, const FabTrainingEnv *env, GError **error)
{
  for (guint i = 0; i < self->rows->len; i++)
    if (row_of (self, i)->anchor == i && !fit_group (self, i, env, error))
      return FALSE;
  for (guint i = 0; i < self->rows->len; i++) {
    FabTrainingComparison *row = row_of (self, i);

    if (!fab_training_step (self->source, i, row->mfu_fraction, env, &row->predicted, error))
      return FALSE;
    row->error_fraction = row->predicted.step_s / row->measured->step_s - 1;
  }
  return TRUE;
}

/* Of the rows with a role in some results, and of one strategy unless it is NULL. */
static FabErrors
summarise (FabTrainingResult *const *results, guint n_results, FabRunRole role, const char *strategy)
{
  g_autoptr (GArray) errors = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (FabBytes));

  for (guint r = 0; r < n_results; r++)
    for (guint i = 0; i < results[r]->rows->len; i++) {
      const FabTrainingComparison *row = row_of (results[r], i);
      FabBytes place = row->measured->gpus;

      if (row->role != role || (strategy && strcmp (strategy, row->measured->strategy) != 0))
        continue;
      g_array_append_val (errors, row->error_fraction);
      g_array_append_val (places, place);
    }
  return fab_errors_of ((const double *) (gpointer) errors->data, (const FabBytes *) (gpointer) places->data,
                        errors->len);
}

static gboolean
has_strategy (const FabTrainingReport *self, const char *strategy)
{
  for (guint i = 0; i < self->strategies->len; i++)
    if (strcmp (g_array_index (self->strategies, FabStrategyErrors, i).strategy, strategy) == 0)
      return TRUE;
  return FALSE;
}

static void
summarise_strategies (FabTrainingReport *self)
{
  FabTrainingResult *const *results = (FabTrainingResult *const *) self->results->pdata;

  for (guint r = 0; r < self->results->len; r++)
    for (guint i = 0; i < results[r]->rows->len; i++) {
      FabStrategyErrors errors = { .strategy = row_of (results[r], i)->measured->strategy };

      if (has_strategy (self, errors.strategy))
        continue;
      errors.errors = summarise (results, self->results->len, FAB_RUN_JUDGED, errors.strategy);
      g_array_append_val (self->strategies, errors);
    }
}

static FabTrainingResult *
new_result (const FabTrainingSource *source)
{
  FabTrainingResult *self = g_new0 (FabTrainingResult, 1);

  self->source = source;
  self->rows = g_array_new (FALSE, TRUE, sizeof (FabTrainingComparison));
  g_array_set_size (self->rows, source->table->rows->len);
  for (guint i = 0; i < self->rows->len; i++) {
    row_of (self, i)->measured = fab_training_table_row (source->table, i);
    row_of (self, i)->row = i;
  }
  assign_roles (self);
  return self;
}

static void
free_result (gpointer data)
{
  g_array_unref (((FabTrainingResult *) data)->rows);
  g_free (data);
}

FabTrainingReport *
fab_training_report_new (const GPtrArray *sources, const FabTrainingEnv *env, GError **error)
{
  g_autoptr (FabTrainingReport) self = g_new0 (FabTrainingReport, 1);

  self->results = g_ptr_array_new_with_free_func (free_result);
  self->strategies = g_array_new (FALSE, FALSE, sizeof (FabStrategyErrors));
  self->wrong = g_array_new (FALSE, FALSE, sizeof (FabWrongDirection));
  for (guint i = 0; i < sources->len; i++) {
    FabTrainingResult *result = new_result (g_ptr_array_index (sources, i));

    g_ptr_array_add (self->results, result);
    if (!predict (result, env, error))
      return NULL;
    training_directions (result, self->wrong);
    result->errors = summarise (&result, 1, FAB_RUN_JUDGED, NULL);
    result->one_node_errors = summarise (&result, 1, FAB_RUN_ONE_NODE, NULL);
    self->directions.n_right += result->directions.n_right;
    self->directions.n_wrong += result->directions.n_wrong;
    self->directions.n_small += result->directions.n_small;
    self->directions.n_odd += result->directions.n_odd;
  }
  self->errors = summarise ((FabTrainingResult *const *) self->results->pdata, self->results->len,
                            FAB_RUN_JUDGED, NULL);
  summarise_strategies (self);
  return g_steal_pointer (&self);
}

void
fab_training_report_free (FabTrainingReport *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->results);
  g_array_unref (self->strategies);
  g_array_unref (self->wrong);
  g_free (self);
}

static const char *
find_source (gconstpointer sources, const char *name, GError **error)
{
  const FabTrainingSource *source = fab_training_sources_find (sources, name, error);

  return source ? source->spec->name : NULL;
}

FabLimits *
fab_training_limits_load (const char *path, const FabTrainingSources *sources, const FabRegistry *registry,
                          GError **error)
{
  return fab_limits_load (path, &(FabLimitsRequest){ FAB_LIMITS_OF_TRAINING, find_source, sources, registry },
                          error);
}

static void
hold (GPtrArray *lines, const char *name, const FabLimit *limit, const FabErrors *errors,
      const FabDirections *directions)
{
  fab_limits_hold (lines, name, errors, limit ? limit->medians[0] : -1);
  if (limit && directions->n_wrong > limit->n_wrong)
    g_ptr_array_add (lines, g_strdup_printf ("%s: %u changes have the wrong direction, %" G_GINT64_FORMAT
                                             " are accepted",
                                             name, directions->n_wrong, limit->n_wrong));
}

char **
fab_training_report_exceeded (const FabTrainingReport *self, const FabLimits *limits)
{
  GPtrArray *lines = g_ptr_array_new ();
  const FabLimit *all = fab_limits_all (limits);

  for (guint i = 0; i < self->results->len; i++) {
    const FabTrainingResult *result = g_ptr_array_index (self->results, i);
    const char *name = result->source->spec->name;

    hold (lines, name, fab_limits_find (limits, name), &result->errors, &result->directions);
  }
  if (all->medians[0] > 0 && fab_limits_is_whole (limits, self->results->len))
    hold (lines, "all sources", all, &self->errors, &self->directions);
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}

/* Runs of the simulator in this process.
 *
 * The step's time rises with x = 1 / mfu, with a slope between 0 (compute hidden behind communication) and that of
 * the compute time c / x. Newton's step with the second slope, x' = x (1 + (T - t(x)) / c(x)), falls short of the root
 * or meets it exactly where all communication is exposed; it is kept within what is known to be too fast and too slow.
 */

static const double deviation_fraction = 0.08 / 5.4;
static const double least_fraction = 0.001; /* that the mfu model takes */

/* A row of a source, read once. */
typedef struct {
  char *name;
  FabScenario *base; /* without the assignments of the user */
  FabEdits *edits;   /* those */
  const FabTrainingEnv *env;
} Row;

static void
row_clear (Row *self)
{
  g_free (self->name);
  fab_scenario_free (self->base);
  fab_edits_free (self->edits);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Row, row_clear)

static gboolean
row_open (Row *self, const FabTrainingSource *source, guint row, const FabTrainingEnv *env, GError **error)
{
  const double any_fraction = 0.4; /* play sets the one that is wanted */
  g_autofree char *yaml = fab_training_source_scenario (source, row, any_fraction, error);

  *self = (Row){ .name = g_strdup_printf ("%s row %s", source->spec->name,
                                          fab_training_table_row (source->table, row)->id),
                 .edits = fab_edits_of (env->sets),
                 .env = env };
  if (yaml == NULL) {
    g_prefix_error (error, "%s: ", self->name);
    return FALSE;
  }
  self->base = fab_scenario_open_text (self->name, yaml, strlen (yaml), env->registry, env->catalog, error);
  return self->base != NULL;
}

/* Nine digits, as a person would write an efficiency. */
static double
nine_digits (double fraction)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.9g", fraction), NULL);
}

static gboolean
row_play (const Row *self, double mfu_fraction, FabTrainingStep *step, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (self->base);
  g_autoptr (FabEdits) edits = fab_edits_new ();

  fab_edits_set (edits, "job.compute.mfu", fab_value_real (FAB_UNIT_FRACTION, nine_digits (mfu_fraction)));
  fab_edits_append (edits, self->edits);
  fab_scenario_edit (scenario, edits);
  if (!fab_scenario_check (scenario, error))
    return FALSE;
  g_autoptr (FabSimulation) simulation = fab_scenario_run (scenario, self->env->registry, NULL, NULL, error);
  if (simulation == NULL) {
    g_prefix_error (error, "%s: ", self->name);
    return FALSE;
  }
  const FabIterationRecord *times = &fab_simulation_probe (simulation)->step.times;
  *step = (FabTrainingStep){ .step_s = fab_ps_to_seconds (times->duration_ps),
                             .compute_s = fab_ps_to_seconds (times->compute_ps),
                             .comm_s = fab_ps_to_seconds (times->comm_ps),
                             .exposed_s = fab_ps_to_seconds (times->exposed_ps) };
  return TRUE;
}

gboolean
fab_training_step (const FabTrainingSource *source, guint row, double mfu_fraction, const FabTrainingEnv *env,
                   FabTrainingStep *step, GError **error)
{
  g_auto (Row) self = { NULL };

  return row_open (&self, source, row, env, error) && row_play (&self, mfu_fraction, step, error);
}

gboolean
fab_training_fit (const FabTrainingSource *source, guint row, const FabTrainingEnv *env, double *mfu_fraction,
                  GError **error)
{
  const double wanted_s = fab_training_table_row (source->table, row)->step_s, tolerance = 1e-4;
  const guint most_runs = 40;
  double low = 1, high = 1 / least_fraction, x = 2.5; /* 1 / mfu; 40 % is a usual one */
  g_auto (Row) self = { NULL };

  if (!row_open (&self, source, row, env, error))
    return FALSE;
  for (guint i = 0; i < most_runs; i++) {
    FabTrainingStep step;

    if (!row_play (&self, 1 / x, &step, error))
      return FALSE;
    *mfu_fraction = 1 / x;
    if (fabs (step.step_s / wanted_s - 1) < tolerance || high / low < 1 + tolerance / 10)
      return TRUE;
    if (step.step_s < wanted_s)
      low = x;
    else
      high = x;
    x *= 1 + (wanted_s - step.step_s) / step.compute_s;
    if (x <= low)
      x = low > 1 ? sqrt (low * high) : 1;
    if (x >= high)
      x = high < 1 / least_fraction ? sqrt (low * high) : 1 / least_fraction;
  }
  return TRUE;
}

double
fab_training_slowest (guint n_gpus)
{
  const double quantile = (n_gpus - 0.375) / (n_gpus + 0.25);
  double low = 0, high = 10; /* standard deviations */

  while (high - low > 1e-9) {
    double middle = (low + high) / 2;

    if (0.5 * erfc (-middle / G_SQRT2) < quantile)
      low = middle;
    else
      high = middle;
  }
  return 1 + deviation_fraction * low;
}
