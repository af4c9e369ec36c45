/* SPDX-License-Identifier: Apache-2.0 */
/* validate_calibrated.c - `fabricast validate calibrated`: what measured links change in forecasts of collectives. */
#include "cli/hardware/validate.h"
#include "cli/shipped.h"
#include "models/models.h"
#include "validate/fit/calibrated.h"

typedef char *(*ToTextFn) (const FabCalibratedReport *report);

/* (transfer full) */
static char **
find_exceeded (const FabLimits *limits, const FabCalibratedReport *report)
{
  GPtrArray *all = g_ptr_array_new ();

  for (guint i = 0; i < report->systems->len; i++) {
    const FabCalibratedSystem *system = g_ptr_array_index (report->systems, i);
    g_auto (GStrv) lines = fab_report_exceeded (system->reports[FAB_KNOWN_CATALOG_P2P], limits);

    for (guint k = 0; lines[k]; k++)
      g_ptr_array_add (all, g_strdup (lines[k]));
  }
  g_ptr_array_add (all, NULL);
  return (char **) g_ptr_array_free (all, FALSE);
}

static gboolean
play (const FabValidateOptions *o, G_GNUC_UNUSED char **names, G_GNUC_UNUSED guint n,
      FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_calibrated_to_text,
                                       [FAB_FORMAT_JSON] = fab_calibrated_to_json,
                                       [FAB_FORMAT_CSV] = fab_calibrated_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_calibrated_to_markdown };
  g_autofree char *links = NULL, *systems = NULL, *tables = NULL, *accept = NULL;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabMeasured) measured = NULL;
  g_autoptr (FabPublished) published = NULL;
  g_autoptr (FabLimits) limits = NULL;
  g_autoptr (FabCalibratedReport) report = NULL;

  if (catalog == NULL || (tables = fab_cli_data_path ("measured", error)) == NULL
      || (links = fab_cli_data_path ("measured/links", error)) == NULL
      || (systems = fab_cli_data_path ("calibrated.yaml", error)) == NULL
      || (accept = fab_validate_path (o->accept_path, "accept-calibrated.yaml", error)) == NULL
      || (measured = fab_measured_load (tables, catalog, &fab_models, error)) == NULL
      || (published = fab_published_load (links, systems, catalog, &fab_models, error)) == NULL
      || (limits = fab_report_limits_load (accept, measured, &fab_models, error)) == NULL)
    return FALSE;
  report = fab_calibrated_report_new (&(FabCalibratedRequest){ published, measured, catalog, &fab_models },
                                      error);
  if (report == NULL)
    return FALSE;
  answer->page = printers[o->format](report);
  answer->exceeded = find_exceeded (limits, report);
  return TRUE;
}

const FabValidateKind fab_validate_calibrated = {
  .name = "calibrated",
  .usage = {
  .arguments = "",
  .summary =
      "Predicts judged collectives of systems whose links were measured point to point. It uses four sets of\n"
      "links: datasheets, datasheets with point-to-point tables, the catalogue, and the catalogue with these\n"
      "tables. Exits with 1 when the median error of the last set exceeds its limit.",
  .examples = "  fabricast validate calibrated\n"
              "  fabricast validate calibrated --format csv\n",
},
  .options = { { "format" }, { "accept", "Accepted errors (default: the shipped accept-calibrated.yaml)" } },
  .play = play,
};
