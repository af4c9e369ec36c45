/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - a scenario that is simulated, and the figures of its last iteration. */
#include <math.h>
#include <string.h>

#include "lib/private.h"
#include "sim/base/error.h"
#include "sim/result/record_data.h"

typedef struct {
  const FabricastRunOptions *options;
  const LibDoor *door;
} Telling;

static gboolean
tell (gpointer owner, guint n_done, gint64 n_all, G_GNUC_UNUSED double wall_s)
{
  const Telling *self = owner;

  return lib_door_tell (self->door, self->options->progress, self->options->user, n_done, n_all);
}

static void
result_free (FabricastResult *self)
{
  fab_point_free (self->point);
  fab_run_result_clear (&self->run);
  fab_scenario_free (self->scenario);
  g_free (self->link);
  g_free (self->link_entry);
  g_free (self->most);
  g_free (self->codes);
  g_mutex_clear (&self->lock);
  lib_context_unref (self->context);
  g_free (self);
}

void
fabricast_result_free (FabricastResult *result)
{
  if (result != NULL)
    result_free (result);
}

/* Everything that only the run itself knows; what else can be asked is computed when it is asked for. */
static gboolean
play (FabricastResult *self, const FabricastRunOptions *options, const FabRunRequest *request, GError **error)
{
  FabRunResult *run = &self->run;

  if (!fab_run_play (self->scenario, NULL, request, run, error))
    return FALSE;
  if (options->has_jobs && !fab_run_find_jobs (self->scenario, request, run, error))
    return FALSE;
  if (options->has_band && !fab_run_find_band (self->scenario, request, run, error))
    return FALSE;
  if (options->save_to != NULL && options->has_band && !fab_run_store_outlook (options->save_to, run, error))
    return FALSE;
  self->point = fab_point_of (self->scenario, run->simulation, &fab_models, error);
  return self->point != NULL;
}

static void
name_link (FabricastResult *self)
{
  self->link = fab_run_link_name (&self->run, self->run.pace.binding_link);
  if (self->link != NULL)
    self->link_entry = g_strdup (fab_run_link_entry (&self->run, self->run.pace.binding_link));
  if (self->run.band != NULL)
    self->most = fab_band_most (self->run.band, self->run.steps->len - 1);
  self->codes = fab_verdict_codes (self->run.verdict);
}

static int
run (const FabricastScenario *scenario, const FabricastRunOptions *options, const LibDoor *door,
     FabricastResult **result, FabricastError **error)
{
  Telling telling = { options, door };
  GError *problem = NULL;
  FabScenario *checked = lib_scenario_checked (scenario, &problem);
  FabricastResult *self;
  const FabRunRequest request = { .registry = &fab_models,
                                  .db = options->save_to,
                                  .cancel = options->cancel,
                                  .progress = tell,
                                  .owner = &telling,
                                  .n_threads = 1,
                                  .advises = TRUE };

  if (checked == NULL)
    return lib_fail_with (error, problem);
  self = g_new0 (FabricastResult, 1);
  self->context = lib_context_ref (scenario->context);
  self->scenario = checked;
  g_mutex_init (&self->lock);
  if (!play (self, options, &request, &problem)) {
    result_free (self);
    return lib_fail_with (error, problem);
  }
  name_link (self);
  *result = self;
  return FABRICAST_OK;
}

int
fabricast_run (const FabricastScenario *scenario, const FabricastRunOptions *options,
               FabricastResult **result, FabricastError **error)
{
  FabricastRunOptions own;
  LibDoor door;
  int status;

  LIB_NEED (scenario, error);
  LIB_NEED (result, error);
  if (!lib_take (&own, sizeof own, options, error))
    return FABRICAST_MISUSE;
  lib_door_enter (&door);
  status = run (scenario, &own, &door, result, error);
  lib_door_leave (&door);
  return status;
}

/* --- figures --- */

static FabricastValue
real (double value, const char *unit)
{
  return (FabricastValue){ sizeof (FabricastValue), FABRICAST_REAL, 0, value, NULL, unit };
}

static FabricastValue
whole (gint64 value, const char *unit)
{
  return (FabricastValue){ sizeof (FabricastValue), FABRICAST_WHOLE, value, (double) value, NULL, unit };
}

static FabricastValue
text (const char *value)
{
  return (FabricastValue){
    sizeof (FabricastValue), value != NULL ? FABRICAST_TEXT : FABRICAST_NONE, 0, 0, value, NULL
  };
}

static FabricastValue
value_of (const FabField *field, const char *unit)
{
  return field->kind == FAB_CELL_INTEGER ? whole (field->integer, unit)
       : field->kind == FAB_CELL_REAL    ? real (field->real, unit)
                                         : text (field->text);
}

/* The figures of a record, by the names of the columns and, times in seconds, by those of JSON: "duration_ps" and
 * "duration_s". `record` NULL: none of them is known. */
static gboolean
find_column (FabTableKind kind, gconstpointer record, const char *name, FabricastValue *value)
{
  const FabRecordTable *table = &fab_record_tables[kind];

  for (const FabColumn *column = table->columns; column < table->columns + table->n_columns; column++) {
    g_autofree char *key = fab_column_key (column);
    gboolean is_named = strcmp (column->name, name) == 0;

    if (column->is_place || (!is_named && strcmp (key, name) != 0))
      continue;
    FabField field = record == NULL ? (FabField){ FAB_CELL_NULL }
                   : is_named       ? fab_column_read (column, record, 0)
                                    : fab_column_value (column, record);
    *value = value_of (&field, is_named ? fab_column_unit (column) : "s");
    return TRUE;
  }
  return FALSE;
}

static gboolean
find_record (const FabricastResult *self, const char *name, FabricastValue *value)
{
  const FabRunResult *run = &self->run;

  return find_column (FAB_TABLE_STEP, fab_run_last_step (run), name, value)
      || find_column (FAB_TABLE_PACE, self->link != NULL ? &run->pace : NULL, name, value);
}

static gboolean
find_band (const FabricastResult *self, const char *name, FabricastValue *value)
{
  const FabBand *band = self->run.band;
  guint last = self->run.steps->len - 1, n = self->run.steps->len;
  const struct {
    const char *name;
    double value;
    const char *unit;
  } all[] = {
    { "duration_low_s", band != NULL ? band->low[last] : 0, "s" },
    { "duration_high_s", band != NULL ? band->high[last] : 0, "s" },
    { "exposed_low_s", band != NULL ? band->low[n + last] : 0, "s" },
    { "exposed_high_s", band != NULL ? band->high[n + last] : 0, "s" },
    { "band_coverage_fraction", band != NULL ? band->coverage_fraction : 0, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (strcmp (all[i].name, name) == 0) {
      *value = band != NULL ? real (all[i].value, all[i].unit) : text (NULL);
      return TRUE;
    }
  return FALSE;
}

static gboolean
find_text (const FabricastResult *self, const char *name, FabricastValue *value)
{
  const FabScenarioSpec *spec = fab_scenario_spec (self->scenario);
  const struct {
    const char *name, *value;
  } all[] = {
    { "name", spec->name },         { "fidelity", spec->fidelity.info->name }, { "version", FAB_VERSION },
    { "binding_link", self->link }, { "binding_link_spec", self->link_entry }, { "band_most", self->most },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (strcmp (all[i].name, name) == 0) {
      *value = text (all[i].value);
      return TRUE;
    }
  return FALSE;
}

/* What limits the step takes many plays, so that it is found when somebody asks; the verdict says it too. */
static const FabBottleneck *
need_bottleneck (FabricastResult *self)
{
  const FabRunRequest request = { .registry = &fab_models, .n_threads = 1 };

  g_mutex_lock (&self->lock);
  if (self->run.bottleneck == NULL && fab_run_find_bottleneck (self->scenario, &request, &self->run, NULL)) {
    g_free (self->codes);
    self->codes = fab_verdict_codes (self->run.verdict);
  }
  g_mutex_unlock (&self->lock);
  return self->run.bottleneck;
}

static gboolean
find_limit (FabricastResult *self, const char *name, FabricastValue *value)
{
  static const char *const names[] = { "limited_by", "limited_by_change", "limited_by_saved_fraction",
                                       "verdict", NULL };

  if (!g_strv_contains (names, name))
    return FALSE;
  const FabBottleneck *bottleneck = need_bottleneck (self);
  const FabLever *first = fab_bottleneck_first (bottleneck);
  if (strcmp (name, "verdict") == 0)
    *value = text (self->codes);
  else if (strcmp (name, "limited_by") == 0)
    *value = text (fab_bottleneck_name (bottleneck));
  else if (strcmp (name, "limited_by_change") == 0)
    *value = text (first != NULL ? first->change : NULL);
  else
    *value = first != NULL ? real (fab_lever_saved (first), NULL) : text (NULL);
  return TRUE;
}

static gboolean
find_number (const FabricastResult *self, const char *name, FabricastValue *value)
{
  const FabRunResult *run = &self->run;
  const struct {
    const char *name;
    gboolean is_known;
    FabricastValue value;
  } all[] = {
    { "ranks", TRUE, whole (fab_cluster_n_ranks (fab_simulation_cluster (run->simulation)), NULL) },
    { "nodes", TRUE, whole (fab_simulation_cluster (run->simulation)->n_nodes, NULL) },
    { "iterations", TRUE, whole (run->steps->len, NULL) },
    { "events", TRUE, whole ((gint64) fab_simulation_events (run->simulation), NULL) },
    { "run_id", run->run_id > 0, whole (run->run_id, NULL) },
    { "wall_s", TRUE, real (run->wall_s, "s") },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (strcmp (all[i].name, name) == 0) {
      *value = all[i].is_known ? all[i].value : text (NULL);
      return TRUE;
    }
  return FALSE;
}

static gboolean
find_figure (const FabricastResult *self, const char *name, FabricastValue *value)
{
  static const char *const units[] = {
    [FAB_FIGURE_TIME] = "s",  [FAB_FIGURE_FRACTION] = NULL, [FAB_FIGURE_RATE] = "1/s",
    [FAB_FIGURE_BYTES] = "B", [FAB_FIGURE_MONEY] = "USD",   [FAB_FIGURE_ENERGY] = "J",
    [FAB_FIGURE_POWER] = "W"
  };
  const FabFigure *figure = fab_figure_find (name);

  if (figure == NULL)
    return FALSE;
  *value = figure->is_known == NULL || figure->is_known (self->point)
             ? real (figure->value (self->point), units[figure->kind])
             : text (NULL);
  return TRUE;
}

static int
find (const FabricastResult *self, const char *name, FabricastValue *value, FabricastError **error)
{
  FabricastValue own;

  if (!find_record (self, name, &own) && !find_band (self, name, &own) && !find_text (self, name, &own)
      && !find_limit ((FabricastResult *) self, name, &own) && !find_number (self, name, &own)
      && !find_figure (self, name, &own)) {
    g_autofree char *known = fab_figure_names ();

    return lib_fail (error, FABRICAST_INPUT,
                     "there is no figure '%s'; there are %s, and those of `fabricast run --format json`",
                     name, known);
  }
  if (!lib_give (&own, sizeof own, value))
    return lib_fail (error, FABRICAST_MISUSE, "struct_size of the value is not set");
  return FABRICAST_OK;
}

int
fabricast_result_figure (const FabricastResult *result, const char *name, FabricastValue *value,
                         FabricastError **error)
{
  LibDoor door;
  int status;

  LIB_NEED (result, error);
  LIB_NEED (name, error);
  LIB_NEED (value, error);
  lib_door_enter (&door);
  status = find (result, name, value, error);
  lib_door_leave (&door);
  return status;
}
