/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/testbed.h"

#include "cli/cli.h"
#include "cli/shipped.h"
#include "models/models.h"
#include "sim/base/error.h"

FabTestbed *
fab_cli_testbed (const FabTestbedRequest *request, const char *path, const FabCatalog *catalog,
                 GError **error)
{
  FabTestbedRequest asked = *request;
  g_autoptr (FabScenario) scenario = NULL;

  if ((path != NULL) + (request->node != NULL) + (request->design != NULL) != 1) {
    fab_throw (error, FAB_ERROR_INPUT,
               "give either --node NAME or a SCENARIO; `fabricast describe nodes` lists the nodes");
    return NULL;
  }
  if (path != NULL && (request->nodes != 0 || request->gpus_per_node != 0)) {
    fab_throw (error, FAB_ERROR_INPUT,
               "numbers of nodes and GPUs need --node; for a scenario use --set cluster.nodes=N");
    return NULL;
  }
  if (path == NULL) {
    asked.nodes = request->nodes != 0 || request->design != NULL ? request->nodes : 1;
    return fab_testbed_new (&asked, catalog, &fab_models, error);
  }
  g_autofree char *file = fab_cli_scenario_path (path);
  scenario = fab_scenario_open (file, &fab_models, catalog, error);
  if (scenario == NULL) {
    fab_cli_name_shipped (path, error);
    return NULL;
  }
  fab_scenario_edit (scenario, request->edits);
  return fab_scenario_check (scenario, error) ? fab_testbed_new_of (g_steal_pointer (&scenario), error)
                                              : NULL;
}
