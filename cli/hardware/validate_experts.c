/* SPDX-License-Identifier: Apache-2.0 */
/* validate_experts.c - `fabricast validate experts`: dispatch and combine against measured tables. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "validate/compare/experts.h"

static gboolean
play (const FabValidateOptions *o, G_GNUC_UNUSED char **names, guint n, FabValidateAnswer *answer,
      GError **error)
{
  g_autofree char *path = NULL;
  g_autoptr (FabCatalog) catalog = NULL;
  g_autoptr (FabExpertsReport) report = NULL;

  if (n > 0)
    return fab_throw (error, FAB_ERROR_INPUT, "all tables are compared; leave out their names");
  if (o->format != FAB_FORMAT_TEXT && o->format != FAB_FORMAT_CSV)
    return fab_throw (error, FAB_ERROR_INPUT, "--format must be text (a line per table) or csv (every row)");
  catalog = fab_cli_catalog (error);
  path = catalog ? fab_validate_path (o->data_path, "measured/experts", error) : NULL;
  report = path ? fab_experts_report_new (path, catalog, &fab_models, error) : NULL;
  if (report == NULL)
    return FALSE;
  answer->page = o->format == FAB_FORMAT_CSV ? fab_experts_report_csv (report)
                                             : fab_experts_report_text (report);
  return TRUE;
}

const FabValidateKind fab_validate_experts = {
  .name = "experts",
  .usage = {
  .arguments = "",
  .summary =
    "Compares predicted times of dispatch and combine (parallel.moe) with published ones.",
  .examples = "  fabricast validate experts\n"
              "  fabricast validate experts --format csv\n",
},
  .options = { { "format", "text (default): a line per table; csv: every row" },
               { "measured", "Directory with INDEX.yaml and tables (default: the shipped ones)" } },
  .play = play,
};
