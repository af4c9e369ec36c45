/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - `fabricast collective`: the nccl-tests table, predicted, or held against a measured one. */
#include "cli/run/collective.h"

#include "models/models.h"
#include "sim/base/error.h"

static gboolean
answer (const CollectiveOptions *o, const FabCatalog *catalog, FabDiagnostics *problems, gboolean *is_met,
        GError **error)
{
  g_autoptr (FabCollectiveCase) run = fab_collective_case_new (
      &o->request, o->scenario ? fab_scenario_catalog (o->scenario) : catalog, problems);
  g_autoptr (GError) cause = NULL;

  if (run == NULL)
    return fab_diagnostics_check (problems, error);
  if (o->json_path != NULL && !collective_check_json (o->json_path, error))
    return FALSE;
  CollectiveView view = { o, &o->request, run };
  g_autoptr (GArray) rows = fab_predict_collective (&run->prediction, catalog, &fab_models, error);
  if (rows == NULL || (o->json_path && !collective_write_json (&view, rows, error)))
    return FALSE;
  if (o->measured == NULL) {
    collective_print (&view, rows);
    return TRUE;
  }
  *is_met = collective_check (&view, rows, &cause);
  if (cause == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&cause));
  return FALSE;
}

static FabExit
run (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabDiagnostics) problems = fab_diagnostics_new ();
  g_autoptr (FabCatalog) catalog = NULL;
  g_autoptr (CollectiveOptions) options = collective_options_new (&argc, &argv, &catalog, problems, &error);
  gboolean is_met = TRUE;

  if (options == NULL || !answer (options, catalog, problems, &is_met, &error))
    return fab_cli_fail ("collective", error);
  return is_met ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_collective = {
  .name = "collective",
  .summary = "Predict the nccl-tests table of a machine",
  .run = run,
};
