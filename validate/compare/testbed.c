/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/testbed.h"

/* A scenario must have a job: the smallest there is. */
static FabValue *
smallest_job (void)
{
  FabValue *job = fab_value_mapping (), *operations = fab_value_list (), *operation = fab_value_mapping ();

  fab_value_put (operation, "op", fab_value_text ("all_reduce"));
  fab_value_put (operation, "size", fab_value_whole (FAB_UNIT_BYTES, 1));
  fab_value_append (operations, operation);
  fab_value_put (job, "kind", fab_value_text ("collective"));
  fab_value_put (job, "operations", operations);
  return job;
}

FabTestbed *
fab_testbed_new_of (FabScenario *scenario, GError **error)
{
  g_autoptr (FabTestbed) self = g_new0 (FabTestbed, 1);

  self->scenario = scenario;
  self->plant = fab_plant_new (scenario, NULL, error);
  return self->plant != NULL ? g_steal_pointer (&self) : NULL;
}

/* What is not written comes from the design. */
static void
edit_design (FabEdits *edits, const FabTestbedRequest *request)
{
  fab_edits_set (edits, "name", fab_value_text (request->design));
  fab_edits_set (edits, "cluster.design", fab_value_text (request->design));
  if (request->units > 0)
    fab_edits_set (edits, "cluster.scalable_units", fab_value_count (request->units));
  if (request->nodes > 0)
    fab_edits_set (edits, "cluster.nodes", fab_value_count (request->nodes));
}

static void
edit_node (FabEdits *edits, const FabTestbedRequest *request)
{
  fab_edits_set (edits, "name", fab_value_text (request->node));
  fab_edits_set (edits, "cluster.node", fab_value_text (request->node));
  fab_edits_set (edits, "cluster.nodes", fab_value_count (request->nodes));
  fab_edits_set (edits, "cluster.gpus_per_node", fab_value_count (request->gpus_per_node));
}

FabTestbed *
fab_testbed_new (const FabTestbedRequest *request, const FabCatalog *catalog, const FabRegistry *registry,
                 GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_new ("request", registry, catalog);
  g_autoptr (FabEdits) edits = fab_edits_new ();

  (request->design != NULL ? edit_design : edit_node) (edits, request);
  fab_edits_set (edits, "job", smallest_job ());
  fab_edits_append (edits, request->edits);
  fab_scenario_edit (scenario, edits);
  return fab_scenario_check (scenario, error) ? fab_testbed_new_of (g_steal_pointer (&scenario), error)
                                              : NULL;
}

void
fab_testbed_free (FabTestbed *self)
{
  if (self == NULL)
    return;
  fab_plant_free (self->plant);
  fab_scenario_free (self->scenario);
  g_free (self);
}
