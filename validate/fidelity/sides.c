/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/fidelity/sides.h"

#include <string.h>

#include "sim/base/crew.h"
#include "sim/scenario/run.h"

FabSide *
fab_side_new (const char *name, const FabStudy *study, FabEdits *edits)
{
  FabSide *self = g_new0 (FabSide, 1);

  self->name = g_strdup (name);
  self->path = g_strdup (study->path);
  self->study = study;
  self->edits = edits;
  return self;
}

FabSide *
fab_side_failed (const char *path, GError *problem)
{
  FabSide *self = g_new0 (FabSide, 1);

  self->path = g_strdup (path);
  self->problem = problem;
  return self;
}

void
fab_side_free (FabSide *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_free (self->path);
  fab_edits_free (self->edits);
  g_free (self->summary);
  fab_point_free (self->point);
  fab_variant_free (self->variant);
  g_clear_error (&self->problem);
  g_free (self);
}

static FabBytesPerS
nic_rate (const FabScenario *scenario)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  const char *name = cluster->nic ? cluster->nic : fab_catalog_node (catalog, cluster->node)->nic;
  const FabLinkSpec *link = name ? fab_catalog_link (catalog, name) : NULL;

  if (cluster->nic_rate_bytes_per_s > 0)
    return cluster->nic_rate_bytes_per_s;
  return link ? fab_link_spec_line_rate (link) : 0;
}

static void
take (FabSide *self, const FabScenario *scenario, const FabSimulation *simulation)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);

  self->point = fab_point_of (scenario, simulation, &self->problem);
  if (self->point == NULL)
    return;
  self->variant = fab_variant_of (scenario, simulation);
  self->nic_bytes_per_s = nic_rate (scenario);
  self->summary = g_strdup (spec->summary);
  if (self->name == NULL)
    self->name = g_strdup (spec->name);
  g_free (self->variant->name);
  self->variant->name = g_strdup (self->name);
}

static void
play_one (gpointer data, guint item)
{
  FabSide *self = fab_sides_at (data, item);

  if (self->point != NULL || self->problem != NULL)
    return;
  g_autoptr (FabScenario) scenario = fab_study_scenario (self->study, self->edits, &self->problem);
  g_autoptr (FabSimulation) simulation = scenario ? fab_scenario_run (scenario, self->study->registry, NULL,
                                                                      NULL, &self->problem)
                                                  : NULL;
  if (simulation != NULL)
    take (self, scenario, simulation);
}

void
fab_sides_play (GPtrArray *sides)
{
  guint n_threads = 0;

  for (guint i = 0; i < sides->len; i++)
    if (fab_sides_at (sides, i)->study != NULL)
      n_threads = fab_sides_at (sides, i)->study->n_threads;

  fab_crew_run (n_threads, sides->len, play_one, sides);
}

gboolean
fab_sides_check (const GPtrArray *sides, GError **error)
{
  for (guint i = 0; i < sides->len; i++) {
    const FabSide *side = fab_sides_at (sides, i);

    if (side->problem == NULL)
      continue;
    g_propagate_error (error, g_error_copy (side->problem));
    if (strchr (side->problem->message, '\n') == NULL)
      g_prefix_error (error, "%s: ", side->name ? side->name : side->path);
    return FALSE;
  }
  return TRUE;
}

FabContrast *
fab_sides_contrast (GPtrArray *sides, guint base)
{
  GPtrArray *variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);
  guint first = 0;

  for (guint i = 0; i < sides->len; i++) {
    FabSide *side = fab_sides_at (sides, i);

    if (i == base)
      first = variants->len;
    if (side->variant != NULL)
      g_ptr_array_add (variants, g_steal_pointer (&side->variant));
  }
  return fab_contrast_new (variants, first);
}
