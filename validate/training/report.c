/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - opens every row, anchors, predicts; then the limits. A simulation or two per row, and three to six more
 * per anchor, on all processors.
 */
#include "validate/training/report.h"

#include <math.h>

#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "validate/training/report_parts.h"

const char *const fab_run_role_names[] = {
  [FAB_RUN_ANCHOR] = "anchor",           [FAB_RUN_LAYOUT_ANCHOR] = "layout anchor",
  [FAB_RUN_ONE_NODE] = "one node",       [FAB_RUN_JUDGED] = "judged",
  [FAB_RUN_FULL_MEMORY] = "memory full", [FAB_RUN_DOUBTFUL] = "doubtful",
  [FAB_RUN_UNANCHORED] = "no anchor",    [FAB_RUN_SKIPPED] = "skipped",
  [FAB_RUN_NOT_PLAYED] = "not played",   NULL
};

/* --- rows --- */

/* What the threads share; each item is a row of the result. */
typedef struct {
  FabTrainingResult *result;
  const FabTrainingEnv *env;
} Work;

static void
skip (FabTrainingComparison *row, const GError *problem)
{
  fab_training_run_free (row->run);
  row->run = NULL;
  row->role = FAB_RUN_SKIPPED;
  g_free (row->problem);
  row->problem = g_strdup (problem->message);
}

static gboolean
predict_blind (FabTrainingComparison *row, GError **error)
{
  FabTrainingBlind *blind = &row->blind;

  if (row->traits.knob != FAB_TRAINING_SCALE)
    return TRUE;
  if (!fab_training_run_play (row->run, 1, &blind->step, error))
    return FALSE;
  blind->is_predicted = TRUE;
  blind->error_fraction = blind->step.step_s / row->measured->step_s - 1;
  blind->residual = fab_training_residual (&blind->step, row->measured->step_s);
  blind->is_inside = blind->residual >= log (blind->step.cell.low_factor)
                  && blind->residual <= log (blind->step.cell.high_factor);
  return TRUE;
}

/* Reads a row and predicts it blind, from where a fit begins. */
static void
open_row (gpointer data, guint item)
{
  const Work *self = data;
  FabTrainingComparison *row = fab_training_row_of (self->result, item);
  g_autoptr (GError) problem = NULL;

  if (row->role == FAB_RUN_NOT_PLAYED)
    return;
  row->run = fab_training_run_open (self->result->source, item, self->env, &problem);
  if (row->run != NULL)
    row->traits = *fab_training_run_traits (row->run);
  if (row->run == NULL || !predict_blind (row, &problem))
    skip (row, problem);
}

/* The only anchor of its layout has been played with its efficiency. */
static gboolean
is_played (const FabTrainingComparison *row)
{
  return row->fitted > 0 && row->predicted.step_s > 0 && fabs (row->efficiency / row->fitted - 1) < 1e-9;
}

static void
predict_row (gpointer data, guint item)
{
  const Work *self = data;
  FabTrainingComparison *row = fab_training_row_of (self->result, item);
  g_autoptr (GError) problem = NULL;

  if (row->run == NULL || row->efficiency <= 0)
    return;
  if (!is_played (row) && !fab_training_run_play (row->run, row->efficiency, &row->predicted, &problem)) {
    skip (row, problem);
    return;
  }
  row->error_fraction = row->predicted.step_s / row->measured->step_s - 1;
}

/* --- results --- */

static void
clear_row (gpointer data)
{
  FabTrainingComparison *row = data;

  fab_training_run_free (row->run);
  g_free (row->problem);
}

static FabTrainingResult *
new_result (const FabTrainingSource *source)
{
  FabTrainingResult *self = g_new0 (FabTrainingResult, 1);

  self->source = source;
  self->remarks = g_ptr_array_new_with_free_func (g_free);
  self->rows = g_array_new (FALSE, FALSE, sizeof (FabTrainingComparison));
  g_array_set_clear_func (self->rows, clear_row);
  for (guint i = 0; i < source->table->rows->len; i++) {
    FabTrainingComparison row = { .measured = fab_training_table_row (source->table, i), .row = i };

    g_array_append_val (self->rows, row);
  }
  return self;
}

static void
free_result (gpointer data)
{
  FabTrainingResult *self = data;

  g_array_unref (self->rows);
  g_ptr_array_unref (self->remarks);
  g_free (self);
}

static void
tell (FabTrainingResult *self)
{
  self->n_skipped = self->source->table->skipped->len;
  for (guint i = 0; i < self->n_skipped; i++)
    g_ptr_array_add (self->remarks, g_strdup (g_ptr_array_index (self->source->table->skipped, i)));
  for (guint i = 0; i < self->rows->len; i++) {
    const FabTrainingComparison *row = fab_training_row_of (self, i);

    self->n_skipped += row->role == FAB_RUN_SKIPPED;
    self->n_played += row->role != FAB_RUN_NOT_PLAYED;
    if (row->problem != NULL)
      g_ptr_array_add (self->remarks, g_strdup (row->problem));
  }
}

/* Runs are not needed any more, and hold a scenario each. */
static void
close_rows (FabTrainingResult *self)
{
  for (guint i = 0; i < self->rows->len; i++) {
    FabTrainingComparison *row = fab_training_row_of (self, i);

    g_clear_pointer (&row->run, fab_training_run_free);
  }
}

static void
predict (FabTrainingResult *self, const FabTrainingEnv *env)
{
  Work work = { self, env };

  if (!env->plays_all)
    fab_training_sample (self);
  fab_thread_pool_run (0, self->rows->len, open_row, &work);
  fab_training_assign_calibration (self);
  fab_training_group_rows (self);
  fab_training_choose_anchors (self);
  fab_thread_pool_run (0, self->rows->len, predict_row, &work);
  tell (self);
  close_rows (self);
}

/* FALSE and *error, that of the first row, when there is none that could be simulated. */
static gboolean
has_any (const FabTrainingReport *self, GError **error)
{
  const char *first = NULL;

  for (guint r = 0; r < self->results->len; r++) {
    const FabTrainingResult *result = g_ptr_array_index (self->results, r);

    for (guint i = 0; i < result->rows->len; i++)
      if (fab_training_row_of (result, i)->role < FAB_RUN_SKIPPED)
        return TRUE;
    if (first == NULL && result->remarks->len > 0)
      first = g_ptr_array_index (result->remarks, 0);
  }
  return fab_throw (error, FAB_ERROR_INPUT, "%s", first ? first : "there is no row");
}

FabTrainingReport *
fab_training_report_new (const GPtrArray *sources, const FabTrainingEnv *env, GError **error)
{
  g_autoptr (FabTrainingReport) self = g_new0 (FabTrainingReport, 1);

  self->results = g_ptr_array_new_with_free_func (free_result);
  self->strategies = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));
  self->divisions = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));
  self->cases = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));
  self->generations = g_array_new (FALSE, FALSE, sizeof (FabTrainingAccount));
  self->wrong = g_array_new (FALSE, FALSE, sizeof (FabWrongDirection));
  for (guint i = 0; i < sources->len; i++) {
    FabTrainingResult *result = new_result (g_ptr_array_index (sources, i));

    g_ptr_array_add (self->results, result);
    predict (result, env);
    fab_training_directions (result, self->wrong);
  }
  if (!has_any (self, error))
    return NULL;
  fab_training_summarise (self);
  return g_steal_pointer (&self);
}

void
fab_training_report_free (FabTrainingReport *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->results);
  g_array_unref (self->strategies);
  g_array_unref (self->divisions);
  g_array_unref (self->cases);
  g_array_unref (self->generations);
  g_array_unref (self->wrong);
  g_free (self);
}

/* --- limits --- */

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
      const FabDirections *directions, guint n_skipped)
{
  guint n_accepted = limit ? (guint) limit->n_skipped : 0;

  fab_limits_hold (lines, name, errors, limit ? limit->medians[0] : -1);
  if (limit && directions->n_wrong > limit->n_wrong)
    g_ptr_array_add (lines, g_strdup_printf ("%s: %u changes have the wrong direction, %" G_GINT64_FORMAT
                                             " are accepted",
                                             name, directions->n_wrong, limit->n_wrong));
  if (n_skipped > n_accepted)
    g_ptr_array_add (lines, g_strdup_printf ("%s: %u rows are skipped, %u are accepted", name, n_skipped,
                                             n_accepted));
}

char **
fab_training_report_exceeded (const FabTrainingReport *self, const FabLimits *limits)
{
  GPtrArray *lines = g_ptr_array_new ();
  const FabLimit *all = fab_limits_all (limits);

  for (guint i = 0; i < self->results->len; i++) {
    const FabTrainingResult *result = g_ptr_array_index (self->results, i);
    const char *name = result->source->spec->name;

    hold (lines, name, fab_limits_find (limits, name), &result->errors, &result->directions,
          result->n_skipped);
  }
  if (all->medians[0] > 0 && fab_limits_is_whole (limits, self->results->len))
    hold (lines, "all sources", all, &self->errors, &self->directions, 0);
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
