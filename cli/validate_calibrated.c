/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/validate_calibrated.h"

#include "models/models.h"
#include "sim/base/error.h"
#include "validate/compare/accept.h"
#include "validate/fit/calibrated.h"

typedef struct {
  char *format_name, *accept_path;
} Options;

static const FabUsage usage = {
  .arguments = "",
  .summary =
      "Predicts judged collectives of systems whose links were measured point to point, with four sorts of links:\n"
      "datasheets, datasheets and what point-to-point tables give, the catalogue, the catalogue and the same.\n"
      "Exits with 1 when the median error with catalogue and tables exceeds what is accepted.",
  .examples = "  fabricast validate calibrated\n"
              "  fabricast validate calibrated --format csv\n",
};

typedef char *(*ToTextFn) (const FabCalibratedReport *report);

static gboolean
find_printer (const char *name, ToTextFn *to_text, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_calibrated_to_text,
                                       [FAB_FORMAT_JSON] = fab_calibrated_to_json,
                                       [FAB_FORMAT_CSV] = fab_calibrated_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_calibrated_to_markdown };
  FabFormat format;

  if (!fab_cli_page_format (name, &format, error))
    return FALSE;
  *to_text = printers[format];
  return TRUE;
}

static FabExit
judge (const FabAccept *accept, const FabCalibratedReport *report)
{
  FabExit code = FAB_EXIT_DONE;

  for (guint i = 0; i < report->systems->len; i++) {
    const FabCalibratedSystem *system = g_ptr_array_index (report->systems, i);
    g_auto (GStrv) lines = fab_accept_exceeded (accept, system->reports[FAB_KNOWN_CATALOG_P2P]);

    for (guint k = 0; lines[k]; k++) {
      g_printerr ("fabricast validate calibrated: %s\n", lines[k]);
      code = FAB_EXIT_UNMET;
    }
  }
  return code;
}

static gboolean
validate (const Options *o, FabExit *exit_code, GError **error)
{
  ToTextFn to_text;
  g_autofree char *links = NULL, *systems = NULL, *tables = NULL, *limits = g_strdup (o->accept_path);
  g_autoptr (FabCatalog) catalog = NULL;
  g_autoptr (FabMeasured) measured = NULL;
  g_autoptr (FabPublished) published = NULL;
  g_autoptr (FabAccept) accept = NULL;
  g_autoptr (FabCalibratedReport) report = NULL;

  if (!find_printer (o->format_name, &to_text, error) || (catalog = fab_cli_catalog (error)) == NULL
      || (tables = fab_cli_data_path ("measured", error)) == NULL
      || (links = fab_cli_data_path ("measured/links", error)) == NULL
      || (systems = fab_cli_data_path ("calibrated.yaml", error)) == NULL
      || (limits == NULL && (limits = fab_cli_data_path ("accept-calibrated.yaml", error)) == NULL)
      || (measured = fab_measured_load (tables, catalog, &fab_models, error)) == NULL
      || (published = fab_published_load (links, systems, catalog, &fab_models, error)) == NULL
      || (accept = fab_accept_load (limits, measured, &fab_models, error)) == NULL)
    return FALSE;
  report = fab_calibrated_report_new (&(FabCalibratedRequest){ published, measured, catalog, &fab_models },
                                      error);
  if (report == NULL)
    return FALSE;
  g_autofree char *text = to_text (report);
  g_print ("%s", text);
  *exit_code = judge (accept, report);
  return TRUE;
}

FabExit
fab_cli_validate_calibrated (int argc, char **argv)
{
  Options o = { 0 };
  const GOptionEntry entries[] = { { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name,
                                     "text (default), json, csv or markdown", "FORMAT" },
                                   { "accept", 0, 0, G_OPTION_ARG_FILENAME, &o.accept_path,
                                     "Accepted errors (default: the shipped accept-calibrated.yaml)",
                                     "FILE" },
                                   G_OPTION_ENTRY_NULL };
  g_autoptr (GError) error = NULL;
  FabExit exit_code = FAB_EXIT_DONE;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && validate (&o, &exit_code, &error);

  g_free (o.format_name);
  g_free (o.accept_path);
  return is_done ? exit_code : fab_cli_fail ("validate calibrated", error);
}
