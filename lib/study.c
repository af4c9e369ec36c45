/* SPDX-License-Identifier: Apache-2.0 */
/* study.c - collectives size by size, sweeps over a grid, and the search for what is enough. */
#include <string.h>

#include "answer/predict.h"
#include "answer/study/hold.h"
#include "lib/private.h"
#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/study/size.h"
#include "sim/study/sweep.h"
#include "sim/study/sweep_record.h"

/* --- one collective --- */

static FabricastTable *
table_of_predictions (const GArray *rows)
{
  FabricastTable *table = lib_table_new ();
  static const char *const reals[] = {
    "time_us",     "startup_us",   "algbw_GBps",     "busbw_GBps",      "wire_GBps",
    "time_low_us", "time_high_us", "busbw_low_GBps", "busbw_high_GBps", "band_coverage_fraction"
  };
  static const char *const texts[] = { "algorithm", "protocol", "bound", "binding", "band_most" };
  guint size = lib_table_add (table, "size_bytes", FABRICAST_WHOLE), real = table->columns->len;

  for (guint i = 0; i < G_N_ELEMENTS (reals); i++)
    lib_table_add (table, reals[i], FABRICAST_REAL);
  guint channels = lib_table_add (table, "channels", FABRICAST_WHOLE);
  guint ranks = lib_table_add (table, "ranks", FABRICAST_WHOLE), text = table->columns->len;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    lib_table_add (table, texts[i], FABRICAST_TEXT);
  for (guint i = 0; i < rows->len; i++) {
    const FabPrediction *row = &g_array_index (rows, FabPrediction, i);
    const double numbers[] = { row->time_us,          row->startup_us,     row->algbw_GBps,
                               row->busbw_GBps,       row->wire_GBps,      row->low_us,
                               row->high_us,          row->busbw_low_GBps, row->busbw_high_GBps,
                               row->coverage_fraction };
    const char *const words[] = { row->algorithm, row->protocol, fab_bound_names[row->bound], row->binding,
                                  row->most };

    lib_table_whole (table, size, (gint64) row->size_bytes);
    for (guint k = 0; k < G_N_ELEMENTS (reals); k++)
      lib_table_real (table, real + k, numbers[k]);
    lib_table_whole (table, channels, row->n_channels);
    lib_table_whole (table, ranks, row->n_ranks);
    for (guint k = 0; k < G_N_ELEMENTS (texts); k++)
      lib_table_text (table, text + k, words[k]);
  }
  return table;
}

static int
predict (const FabricastScenario *scenario, const FabricastPredictOptions *options, FabricastTable **table,
         FabricastError **error)
{
  FabOp op = FAB_OP_ALL_REDUCE;
  gboolean has_op = fab_op_find (options->op, &op);
  FabForm form = FAB_FORM_STREAM;
  gboolean has_form = options->form == NULL || fab_form_find (options->form, &form);
  g_autofree FabBytes *sizes = g_new (FabBytes, options->n_sizes);
  GError *problem = NULL;

  if (!has_op || !has_form) {
    g_autofree char *known = g_strjoinv (", ", (char **) (has_op ? fab_form_names : fab_op_names));

    return lib_fail (error, FABRICAST_INPUT, "there is no %s '%s'; there are %s",
                     has_op ? "form" : "operation", has_op ? options->form : options->op, known);
  }
  for (gsize i = 0; i < options->n_sizes; i++) {
    if (options->sizes_bytes[i] < 1 || options->sizes_bytes[i] > G_MAXINT64)
      return lib_fail (error, FABRICAST_MISUSE, "size %" G_GSIZE_FORMAT " is not from 1 to 2^63 - 1 bytes",
                       i);
    sizes[i] = options->sizes_bytes[i];
  }
  g_mutex_lock ((GMutex *) &scenario->lock);
  g_autoptr (FabScenario) base = fab_scenario_copy (scenario->inner);
  g_mutex_unlock ((GMutex *) &scenario->lock);
  const FabPredictionRequest request = { .base = base,
                                         .op = op,
                                         .sizes_bytes = sizes,
                                         .n_sizes = (guint) options->n_sizes,
                                         .form = form,
                                         .has_band = options->has_band != 0 };
  g_autoptr (GArray) rows = fab_predict_collective (&request, scenario->context->catalog, &fab_models,
                                                    &problem);
  if (rows == NULL)
    return lib_fail_with (error, problem);
  *table = table_of_predictions (rows);
  return FABRICAST_OK;
}

int
fabricast_predict (const FabricastScenario *scenario, const FabricastPredictOptions *options,
                   FabricastTable **table, FabricastError **error)
{
  FabricastPredictOptions own;
  LibDoor door;
  int status;

  LIB_NEED (scenario, error);
  LIB_NEED (options, error);
  LIB_NEED (table, error);
  if (!lib_take (&own, sizeof own, options, error))
    return FABRICAST_MISUSE;
  const char *op = own.op;
  const uint64_t *sizes_bytes = own.sizes_bytes;
  LIB_NEED (op, error);
  LIB_NEED (sizes_bytes, error);
  if (own.n_sizes < 1 || own.n_sizes > G_MAXINT / 2)
    return lib_fail (error, FABRICAST_MISUSE, "n_sizes is %" G_GSIZE_FORMAT ": at least one is needed",
                     own.n_sizes);
  lib_door_enter (&door);
  status = predict (scenario, &own, table, error);
  lib_door_leave (&door);
  return status;
}

/* --- studies --- */

/* The rows of a table of points: one text per key that varies, and the columns of the results file. */
typedef struct {
  FabricastTable *table;
  const FabGrid *grid;
  guint met, answer, first; /* the last is the first column of the records */
} Points;

static void
points_init (Points *self, const FabGrid *grid, gboolean is_search)
{
  self->table = lib_table_new ();
  self->grid = grid;
  for (guint a = 0; a < grid->axes->len; a++) {
    const FabGridAxis *axis = g_ptr_array_index (grid->axes, a);

    for (guint k = 0; k < axis->keys->len; k++)
      lib_table_add (self->table, ((const FabAxis *) g_ptr_array_index (axis->keys, k))->key, FABRICAST_TEXT);
  }
  if (is_search) {
    self->met = lib_table_add (self->table, "is_met", FABRICAST_WHOLE);
    self->answer = lib_table_add (self->table, "is_answer", FABRICAST_WHOLE);
  }
  self->first = self->table->columns->len;
  lib_table_add_records (self->table, &fab_record_tables[FAB_TABLE_SWEEP_POINT]);
}

static void
points_add (Points *self, gint64 point, const FabTry *trial)
{
  FabSweepPointRecord *record = fab_sweep_record_new (self->grid, point, trial);
  guint column = 0;

  for (guint a = 0; a < self->grid->axes->len; a++) {
    const FabGridAxis *axis = g_ptr_array_index (self->grid->axes, a);
    guint item = fab_grid_item (self->grid, point, a);

    for (guint k = 0; k < axis->keys->len; k++)
      lib_table_text (self->table, column++,
                      g_ptr_array_index (((const FabAxis *) g_ptr_array_index (axis->keys, k))->values,
                                         item));
  }
  lib_table_append_records (self->table, self->first, &fab_record_tables[FAB_TABLE_SWEEP_POINT], record, 1);
  fab_sweep_record_free (record);
}

/* What a study needs while it is under way. */
typedef struct {
  const FabricastStudyOptions *options;
  const LibDoor *door;
  FabStudy *study;
  FabGrid *grid;
} Work;

static gboolean
work_begin (Work *self, const FabricastScenario *scenario, GError **error)
{
  g_mutex_lock ((GMutex *) &scenario->lock);
  self->study = fab_study_of ("scenario", scenario->inner, scenario->context->catalog, &fab_models);
  g_mutex_unlock ((GMutex *) &scenario->lock);
  self->study->n_threads = scenario->context->n_threads;
  self->study->cancel = self->options->cancel;
  self->study->allows_oversized = self->options->allows_oversized != 0;
  if (self->options->hold != NULL && !fab_hold_parse (self->options->hold, &self->study->hold, error))
    return FALSE;
  self->grid = fab_grid_new (self->options->vary, self->options->zip, error);
  return self->grid != NULL;
}

static void
work_end (Work *self)
{
  if (self->grid != NULL)
    fab_grid_free (self->grid);
  fab_study_free (self->study);
}

/* Plays `n` points from `first` on, and adds them in their order. */
static gboolean
play_points (Work *self, Points *points, gint64 first, guint n, GError **error)
{
  g_autofree FabTry *trials = g_new0 (FabTry, n);
  g_autofree FabTry **pointers = g_new (FabTry *, n);
  g_autoptr (GPtrArray) edits = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_edits_free);
  gboolean is_played;

  for (guint i = 0; i < n; i++) {
    g_ptr_array_add (edits, fab_grid_edits (self->grid, first + i));
    trials[i].edits = g_ptr_array_index (edits, i);
    pointers[i] = &trials[i];
  }
  is_played = fab_study_play (self->study, pointers, n, error);
  for (guint i = 0; i < n; i++) {
    if (is_played)
      points_add (points, first + i, &trials[i]);
    fab_try_clear (&trials[i]);
  }
  return is_played;
}

static gboolean
sweep (Work *self, Points *points, GError **error)
{
  const gint64 at_once = 4 * (gint64) fab_thread_pool_size (self->study->n_threads),
               all = self->grid->n_points;
  /* Fails where no point can be read: then a key is wrong, and not a value. */
  g_autoptr (FabSweepPlan) plan = fab_sweep_plan_new (self->study, self->grid, FAB_VERSION, error);

  if (plan == NULL)
    return FALSE;
  points_init (points, self->grid, FALSE);
  for (gint64 done = 0; done < all;) {
    guint n = (guint) MIN (at_once, all - done);

    if (!play_points (self, points, done, n, error))
      return FALSE;
    done += n;
    if (!lib_door_tell (self->door, self->options->progress, self->options->user, done, all))
      return fab_throw (error, FAB_ERROR_CANCELLED, "the sweep was cancelled");
  }
  return TRUE;
}

/* --- what is enough --- */

static gboolean
parse_targets (const char *const *texts, GArray *targets, GError **error)
{
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++) {
    FabTarget target;

    if (!fab_target_parse (texts[i], &target, error))
      return FALSE;
    g_array_append_val (targets, target);
  }
  return targets->len > 0 || fab_throw (error, FAB_ERROR_INPUT, "a target is missing, as exposed<=5%%");
}

static void
add_tried (Points *points, const FabSize *size, const FabSizeSpec *spec)
{
  for (guint i = 0; i < size->n; i++) {
    const FabTry *trial = &size->points[i].trial;

    if (trial->point == NULL && trial->problem == NULL)
      continue;
    points_add (points, i, trial);
    lib_table_whole (points->table, points->met,
                     trial->point != NULL
                         && fab_targets_are_met (spec->targets, spec->n_targets, trial->point));
    lib_table_whole (points->table, points->answer, (gint64) i == size->answer);
  }
}

/* Targets of the whole training hold the global batch, unless the host says what to hold. */
static void
hold_for (Work *self, const GArray *targets)
{
  g_autofree const FabFigure **figures = g_new (const FabFigure *, targets->len);

  for (guint i = 0; i < targets->len; i++)
    figures[i] = g_array_index (targets, FabTarget, i).figure;
  if (self->options->hold == NULL)
    fab_hold_decide (self->study, figures, targets->len);
}

static gboolean
find_size (Work *self, Points *points, GError **error)
{
  g_autoptr (GArray) targets = g_array_new (FALSE, FALSE, sizeof (FabTarget));
  const FabGridAxis *axis = g_ptr_array_index (self->grid->axes, 0);

  if (self->grid->axes->len != 1 || axis->keys->len != 1)
    return fab_throw (error, FAB_ERROR_INPUT, "one key can be searched, as KEY=VALUES in `vary`");
  if (!parse_targets (self->options->targets, targets, error))
    return FALSE;
  hold_for (self, targets);
  const FabSizeSpec spec = { g_ptr_array_index (axis->keys, 0), (const FabTarget *) (gpointer) targets->data,
                             targets->len };
  g_autoptr (FabSize) size = fab_size_find (self->study, &spec, error);
  if (size == NULL)
    return FALSE;
  points_init (points, self->grid, TRUE);
  add_tried (points, size, &spec);
  lib_door_tell (self->door, self->options->progress, self->options->user, size->n_tried, size->n_tried);
  return TRUE;
}

/* --- the calls --- */

/* Plays a study into the rows of `points`. Where it fails, what it made of them is freed. */
typedef gboolean (*PlayFn) (Work *self, Points *points, GError **error);

static int
play_study (const FabricastScenario *scenario, const FabricastStudyOptions *options, PlayFn play,
            FabricastTable **table, FabricastError **error)
{
  FabricastStudyOptions own;
  GError *problem = NULL;
  Points rows = { 0 };
  LibDoor door;
  int status = FABRICAST_OK;

  if (!lib_take (&own, sizeof own, options, error))
    return FABRICAST_MISUSE;
  lib_door_enter (&door);
  Work work = { .options = &own, .door = &door };
  if (work_begin (&work, scenario, &problem) && play (&work, &rows, &problem)) {
    *table = rows.table;
  } else {
    fabricast_table_free (rows.table);
    status = lib_fail_with (error, problem);
  }
  work_end (&work);
  lib_door_leave (&door);
  return status;
}

int
fabricast_sweep (const FabricastScenario *scenario, const FabricastStudyOptions *options,
                 FabricastTable **points, FabricastError **error)
{
  LIB_NEED (scenario, error);
  LIB_NEED (options, error);
  LIB_NEED (points, error);
  return play_study (scenario, options, sweep, points, error);
}

int
fabricast_size (const FabricastScenario *scenario, const FabricastStudyOptions *options,
                FabricastTable **tried, FabricastError **error)
{
  LIB_NEED (scenario, error);
  LIB_NEED (options, error);
  LIB_NEED (tried, error);
  return play_study (scenario, options, find_size, tried, error);
}
