/* SPDX-License-Identifier: Apache-2.0 */
/* validate_collectives.c - `fabricast validate`: published measurements of collectives, size by size. */
#include "cli/hardware/validate.h"
#include "models/models.h"
#include "validate/compare/left_out.h"
#include "validate/compare/print.h"

typedef char *(*ToTextFn) (const FabReportView *view);

static gconstpointer
get_table (gconstpointer measured, guint index)
{
  return fab_measured_table (measured, index);
}

static gconstpointer
find_table (gconstpointer measured, const char *name, GError **error)
{
  return fab_measured_find (measured, name, error);
}

static FabLimits *
load_limits (const FabValidateOptions *o, const FabMeasured *measured, GError **error)
{
  g_autofree char *path = fab_validate_path (o->accept_path, "accept.yaml", error);

  return path ? fab_report_limits_load (path, measured, &fab_models, error) : NULL;
}

/* NULL without *error: somebody's own measurements have no families here. */
static FabReport *
report_left_out (const FabValidateOptions *o, const FabCatalog *catalog, const FabMeasured *measured,
                 const GPtrArray *tables, GError **error)
{
  g_autofree char *path = o->data_path == NULL ? fab_validate_path (NULL, "left-out.yaml", error) : NULL;
  g_autoptr (FabLeftOut) families = path ? fab_left_out_load (path, catalog, measured, &fab_models, error)
                                         : NULL;

  return families ? fab_left_out_report (families, tables, &fab_models, error) : NULL;
}

static gboolean
play (const FabValidateOptions *o, char **names, guint n, FabValidateAnswer *answer, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_report_to_text,
                                       [FAB_FORMAT_JSON] = fab_report_to_json,
                                       [FAB_FORMAT_CSV] = fab_report_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_report_to_markdown };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabMeasured) measured = catalog ? fab_validate_measured (o, catalog, error) : NULL;
  g_autoptr (FabLimits) limits = NULL;
  g_autoptr (FabScenario) overlay = NULL;
  g_autoptr (GPtrArray) tables = NULL;
  g_autoptr (FabReport) report = NULL, left_out = NULL;
  g_autoptr (GError) problem = NULL;

  if (measured == NULL || (fab_validate_has_limits (o) && (limits = load_limits (o, measured, error)) == NULL)
      || (tables = fab_validate_choose (&(FabValidateChoice){ measured, fab_measured_n_tables (measured),
                                                              get_table, find_table },
                                        names, n, error))
             == NULL
      || (o->with && (overlay = fab_cli_overlay (o->with, catalog, error)) == NULL))
    return FALSE;
  report = fab_report_new (tables, (const char *const *) o->sets,
                           overlay ? fab_scenario_catalog (overlay) : catalog, &fab_models, error);
  if (report == NULL)
    return FALSE;
  if (o->sets == NULL && o->with == NULL)
    left_out = report_left_out (o, catalog, measured, tables, &problem);
  if (problem != NULL) {
    g_propagate_error (error, g_steal_pointer (&problem));
    return FALSE;
  }
  answer->page = printers[o->format](&(FabReportView){ report, left_out, limits, o->is_summary });
  answer->exceeded = limits ? fab_report_exceeded (report, limits) : NULL;
  return TRUE;
}

const FabValidateKind fab_validate_collectives = {
  .name = "",
  .usage = {
  .arguments = "[TABLE...] | training [SOURCE...] | kernels [TABLE...] | memory [SOURCE...] | experts | "
               "fidelity [CASE...] | links FILE... | calibrated | bills [DESIGN...] | jobs [CONFIGURATION...] | "
               "bands | pairs | setups | accuracy",
  .summary =
      "Predicts published measurements of collectives, size by size, and shows the errors of the predictions.\n"
      "Exits with 1 when the median error of a table's small, middle or large sizes exceeds its limit.\n\n"
      "`validate training` does the same with whole training steps, and `validate links` with messages over one\n"
      "link. `validate kernels`, `validate memory` and `validate experts` look at parts of steps. `validate\n"
      "calibrated` shows the effect of measured links, and `validate fidelity` the differences between fidelities\n"
      "of the network. `validate bills` counts parts of designs, and `validate jobs` plays public\n"
      "configurations.\n\n"
      "`validate bands` and `validate setups` write the catalogue files of errors and of compute; `validate\n"
      "pairs` shows how far off ratios of two times are, and `validate accuracy` sums up. Each has its own --help.",
  .examples = "  fabricast validate --summary\n"
              "  fabricast validate dgxa100_allreduce_32\n"
              "  fabricast validate --set collectives.nvls=false --summary\n"
              "  fabricast validate --format markdown --summary > docs/reference/validation.md\n"
              "  fabricast validate training hf-playbook --summary\n"
              "  fabricast validate --with docs/examples/link.yaml --summary\n",
  .max_rest = 1000,
},
  .options = { { "format" },
               { "summary", "Print only the errors per size class, not every size" },
               { "accept", "Accepted errors (default: the shipped accept.yaml)" },
               { "measured", "Directory with INDEX.yaml and tables (default: the shipped ones)" },
               { "set" },
               { "with", "File of entries that replace those of the catalogue with the same name; "
                         "repeatable" } },
  .play = play,
};
