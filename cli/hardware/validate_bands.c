/* SPDX-License-Identifier: Apache-2.0 */
/* validate_bands.c - `fabricast validate bands`: how far off predictions of collectives may be, by family. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "validate/bands/bands.h"

static FabMeasured *
load_measured (const FabValidateOptions *o, const FabCatalog *catalog, GError **error)
{
  g_autofree char *path = fab_validate_path (o->data_path, "measured", error);

  return path ? fab_measured_load (path, catalog, &fab_models, error) : NULL;
}

static gboolean
play (const FabValidateOptions *o, G_GNUC_UNUSED char **names, G_GNUC_UNUSED guint n,
      FabValidateAnswer *answer, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabMeasured) measured = catalog ? load_measured (o, catalog, error) : NULL;
  g_autoptr (GPtrArray) tables = g_ptr_array_new ();
  g_autoptr (FabReport) report = NULL;
  g_autoptr (FabBands) bands = NULL;

  if (measured == NULL)
    return FALSE;
  for (guint i = 0; i < fab_measured_n_tables (measured); i++)
    g_ptr_array_add (tables, (gpointer) fab_measured_table (measured, i));
  report = fab_report_new (tables, NULL, catalog, &fab_models, error);
  if (report == NULL)
    return FALSE;
  bands = fab_bands_new (report);
  answer->page = fab_bands_to_yaml (bands);
  return TRUE;
}

const FabValidateKind fab_validate_bands = {
  .name = "bands",
  .usage = {
  .arguments = "",
  .summary =
      "Writes the catalogue file that says how far predictions of collectives are from measurements, by family of\n"
      "links, operations and size: what every figure's band comes from.",
  .examples = "  fabricast validate bands > models/catalog/bands.yaml\n",
},
  .options = { { "measured", "Directory with INDEX.yaml and tables (default: the shipped ones)" } },
  .play = play,
};
