/* SPDX-License-Identifier: Apache-2.0 */
/* design.c - the finding about a machine whose design is not wholly published. */
#include "sim/scenario/catalog.h"
#include "sim/verdict/verdict.h"

static gboolean
is_text (const char *text)
{
  return text != NULL && *text != '\0';
}

void
fab_verdict_note_design (FabVerdict *self, const FabScenario *scenario)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabDesignSpec *design = fab_catalog_entry (fab_scenario_catalog (scenario), FAB_SECTION_DESIGNS,
                                                   cluster->design);
  const FabDesignSize *size = design != NULL ? fab_design_size (design, cluster->scalable_units) : NULL;
  gboolean of_all = design != NULL && is_text (design->assumed), of_size = size && is_text (size->assumed);

  if (!of_all && !of_size)
    return;
  fab_verdict_add (
      self, FAB_FINDING_ASSUMED_DESIGN,
      g_strdup_printf ("Not all of the design %s was published. %s%s%s", design->name,
                       of_all ? design->assumed : "", of_all && of_size ? " " : "",
                       of_size ? size->assumed : ""),
      g_strdup ("Write what you were offered into the cluster: its keys replace those of the design."));
}
