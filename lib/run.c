/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - a scenario that is simulated. */
#include "lib/private.h"

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
  fab_sweep_record_free (self->record);
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
  if (self->point == NULL)
    return FALSE;
  self->record = fab_sweep_record_of (self->point);
  return TRUE;
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
