/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/hall.h"

#include <string.h>

static void
write_count (FabYamlWriter *writer, const char *key, gint64 value)
{
  g_autofree char *text = fab_units_write_whole (FAB_UNIT_COUNT, value);

  fab_yaml_writer_key (writer, key);
  fab_yaml_writer_scalar (writer, text);
}

/* A scenario must have a job: the smallest there is. */
static void
write_job (FabYamlWriter *writer)
{
  fab_yaml_writer_key (writer, "job");
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writer, "kind");
  fab_yaml_writer_text (writer, "collective");
  fab_yaml_writer_key (writer, "operations");
  fab_yaml_writer_begin (writer, FAB_YAML_SEQUENCE);
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writer, "op");
  fab_yaml_writer_text (writer, "all_reduce");
  fab_yaml_writer_key (writer, "size");
  fab_yaml_writer_scalar (writer, "1B");
  fab_yaml_writer_end (writer);
  fab_yaml_writer_end (writer);
  fab_yaml_writer_end (writer);
}

static char *
write_scenario (const FabHallRequest *request)
{
  FabYamlWriter *writer = fab_yaml_writer_new ();

  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writer, "name");
  fab_yaml_writer_text (writer, request->node);
  fab_yaml_writer_key (writer, "cluster");
  fab_yaml_writer_begin (writer, FAB_YAML_MAPPING);
  fab_yaml_writer_key (writer, "node");
  fab_yaml_writer_text (writer, request->node);
  write_count (writer, "nodes", request->nodes);
  write_count (writer, "gpus_per_node", request->gpus_per_node);
  fab_yaml_writer_end (writer);
  write_job (writer);
  fab_yaml_writer_end (writer);
  return fab_yaml_writer_finish (writer);
}

FabHall *
fab_hall_new_of (FabScenario *scenario, GError **error)
{
  g_autoptr (FabHall) self = g_new0 (FabHall, 1);

  self->scenario = scenario;
  self->plant = fab_plant_new (scenario, NULL, error);
  return self->plant != NULL ? g_steal_pointer (&self) : NULL;
}

FabHall *
fab_hall_new (const FabHallRequest *request, const FabCatalog *catalog, const FabRegistry *registry,
              GError **error)
{
  g_autofree char *yaml = write_scenario (request);
  FabScenario *scenario = fab_scenario_parse ("request", yaml, strlen (yaml), request->sets, registry,
                                              catalog, error);

  return scenario != NULL ? fab_hall_new_of (scenario, error) : NULL;
}

void
fab_hall_free (FabHall *self)
{
  if (self == NULL)
    return;
  fab_plant_free (self->plant);
  fab_scenario_free (self->scenario);
  g_free (self);
}
