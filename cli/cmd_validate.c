/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_validate.c - `fabricast validate`: predictions held against published measurements. */
#include <string.h>

#include "cli/fit_options.h"
#include "cli/validate_calibrated.h"
#include "cli/validate_fidelity.h"
#include "cli/validate_links.h"
#include "cli/validate_training.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "validate/compare/print.h"

typedef struct {
  char *format_name, *accept_path, *measured_path;
  char **sets, **with;
  gboolean is_summary;
} ValidateOptions;

static const FabUsage usage = {
  .arguments = "[TABLE...] | training [SOURCE...] | fidelity [CASE...] | links FILE... | calibrated",
  .summary =
      "Predicts published collective measurements size by size and shows how far off the predictions are.\n"
      "Exits with 1 when the median error of a table's small, middle or large sizes exceeds what is accepted.\n"
      "`validate training` does the same with whole training steps, `validate links` with messages over one link;\n"
      "`validate calibrated` shows what measured links change, `validate fidelity` how far fidelities of the\n"
      "network are apart. Each has its own --help.",
  .examples = "  fabricast validate --summary\n"
              "  fabricast validate dgxa100_allreduce_32\n"
              "  fabricast validate --set collectives.nvls=false --summary\n"
              "  fabricast validate --format markdown --summary > docs/validation.md\n"
              "  fabricast validate training --summary\n"
              "  fabricast validate --with docs/examples/link.yaml --summary\n",
  .max_rest = 1000,
};

typedef char *(*ToTextFn) (const FabReportView *view);

static gboolean
find_printer (const char *name, ToTextFn *to_text, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_report_to_text,
                                       [FAB_FORMAT_JSON] = fab_report_to_json,
                                       [FAB_FORMAT_CSV] = fab_report_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_report_to_markdown };
  FabFormat format;

  if (!fab_cli_page_format (name, &format, error))
    return FALSE;
  *to_text = printers[format];
  return TRUE;
}

static FabMeasured *
load_measured (const ValidateOptions *o, const FabCatalog *catalog, GError **error)
{
  g_autofree char *shipped = o->measured_path ? NULL : fab_cli_data_path ("measured", error);
  const char *path = o->measured_path ? o->measured_path : shipped;

  return path ? fab_measured_load (path, catalog, &fab_models, error) : NULL;
}

/* *accept stays NULL for somebody's own measurements without --accept. */
static gboolean
load_accept (const ValidateOptions *o, const FabMeasured *measured, FabAccept **accept, GError **error)
{
  g_autofree char *path = g_strdup (o->accept_path);

  if (path == NULL && o->measured_path)
    return TRUE;
  if (path == NULL)
    path = fab_cli_data_path ("accept.yaml", error);
  if (path)
    *accept = fab_accept_load (path, measured, &fab_models, error);
  return *accept != NULL;
}

/* The named tables, or all. (transfer full) */
static GPtrArray *
choose_tables (const FabMeasured *measured, char **names, guint n, GError **error)
{
  g_autoptr (GPtrArray) tables = g_ptr_array_new ();

  for (guint i = 0; i < n; i++) {
    const FabMeasuredTable *table = fab_measured_find (measured, names[i], error);

    if (table == NULL)
      return NULL;
    if (!g_ptr_array_find (tables, table, NULL))
      g_ptr_array_add (tables, (gpointer) table);
  }
  for (guint i = 0; n == 0 && i < fab_measured_n_tables (measured); i++)
    g_ptr_array_add (tables, (gpointer) fab_measured_table (measured, i));
  return g_steal_pointer (&tables);
}

static FabExit
judge (const FabAccept *accept, const FabReport *report)
{
  g_auto (GStrv) lines = accept ? fab_accept_exceeded (accept, report) : NULL;

  for (guint i = 0; lines && lines[i]; i++)
    g_printerr ("fabricast validate: %s\n", lines[i]);
  return lines && lines[0] ? FAB_EXIT_UNMET : FAB_EXIT_DONE;
}

static gboolean
validate (const ValidateOptions *o, char **names, guint n_names, FabExit *exit_code, GError **error)
{
  ToTextFn to_text;
  g_autoptr (FabCatalog) catalog = find_printer (o->format_name, &to_text, error) ? fab_cli_catalog (error)
                                                                                  : NULL;
  g_autoptr (FabMeasured) measured = catalog ? load_measured (o, catalog, error) : NULL;
  g_autoptr (FabAccept) accept = NULL;
  g_autoptr (FabScenario) overlay = NULL;
  g_autoptr (GPtrArray) tables = NULL;
  g_autoptr (FabReport) report = NULL;

  if (measured == NULL || !load_accept (o, measured, &accept, error)
      || (tables = choose_tables (measured, names, n_names, error)) == NULL
      || (o->with && (overlay = fab_cli_overlay (o->with, catalog, error)) == NULL))
    return FALSE;
  report = fab_report_new (tables, (const char *const *) o->sets,
                           overlay ? fab_scenario_catalog (overlay) : catalog, &fab_models, error);
  if (report == NULL)
    return FALSE;
  g_autofree char *text = to_text (&(FabReportView){ report, accept, o->is_summary });
  g_print ("%s", text);
  *exit_code = judge (accept, report);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  const struct {
    const char *name;
    char title[32]; /* what messages call it */
    FabExit (*run) (int argc, char **argv);
  } parts[] = { { "training", "validate training", fab_cli_validate_training },
                { "fidelity", "validate fidelity", fab_cli_validate_fidelity },
                { "links", "validate links", fab_cli_validate_links },
                { "calibrated", "validate calibrated", fab_cli_validate_calibrated } };

  for (guint i = 0; argc > 1 && i < G_N_ELEMENTS (parts); i++)
    if (strcmp (argv[1], parts[i].name) == 0) {
      argv[1] = (char *) parts[i].title;
      return parts[i].run (argc - 1, argv + 1);
    }
  ValidateOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json, csv or markdown",
      "FORMAT" },
    { "summary", 0, 0, G_OPTION_ARG_NONE, &o.is_summary, "Only the errors per size class, not every size",
      NULL },
    { "accept", 0, 0, G_OPTION_ARG_FILENAME, &o.accept_path,
      "Accepted errors (default: the shipped accept.yaml)", "FILE" },
    { "measured", 0, 0, G_OPTION_ARG_FILENAME, &o.measured_path,
      "Directory with INDEX.yaml and tables (default: the shipped ones)", "DIR" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets,
      "Override a key of every scenario behind it; repeatable", "KEY=VALUE" },
    { "with", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o.with,
      "Entries that win over the catalogue's of the same name; repeatable", "FILE" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  FabExit exit_code = FAB_EXIT_DONE;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && validate (&o, argv + 1, (guint) argc - 1, &exit_code, &error);

  g_free (o.format_name);
  g_free (o.accept_path);
  g_free (o.measured_path);
  g_strfreev (o.sets);
  g_strfreev (o.with);
  return is_done ? exit_code : fab_cli_fail ("validate", error);
}

const FabCommand fab_command_validate = {
  .name = "validate",
  .summary = "Hold predictions against published measurements",
  .run = run,
};
