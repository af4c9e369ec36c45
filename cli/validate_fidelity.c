/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/validate_fidelity.h"

#include "cli/compare.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "validate/fidelity/suite.h"

typedef struct {
  char *format_name, *accept_path, *cases_path, *fidelity;
} Options;

static const FabUsage usage = {
  .arguments = "[CASE...]",
  .summary =
      "Plays a suite of small scenarios at every fidelity of the network and shows how far they are apart: rings,\n"
      "trees, all-to-all, incast, oversubscribed fabrics, colliding paths, training steps.\n"
      "Exits with 1 when two fidelities are farther apart than what is accepted.",
  .examples = "  fabricast validate fidelity\n"
              "  fabricast validate fidelity incast-8 ecmp-permutation\n"
              "  fabricast validate fidelity --format markdown > docs/validation-fidelity.md\n",
  .max_rest = 1000,
};

typedef char *(*ToTextFn) (const FabFidelityReport *report);

static gboolean
find_printer (const char *name, ToTextFn *to_text, GError **error)
{
  static const ToTextFn printers[] = { [FAB_FORMAT_TEXT] = fab_fidelity_to_text,
                                       [FAB_FORMAT_JSON] = fab_fidelity_to_json,
                                       [FAB_FORMAT_CSV] = fab_fidelity_to_csv,
                                       [FAB_FORMAT_MARKDOWN] = fab_fidelity_to_markdown };
  FabFormat format;

  if (!fab_cli_page_format (name, &format, error))
    return FALSE;
  *to_text = printers[format];
  return TRUE;
}

/* Somebody's own cases come with their own limits, which name them. */
static char *
find_file (const char *path, const char *shipped, GError **error)
{
  return path ? g_strdup (path) : fab_cli_data_path (shipped, error);
}

/* The named cases, or all. (transfer full) */
static GPtrArray *
choose_cases (const FabFidelityLimits *limits, char **names, guint n, GError **error)
{
  g_autoptr (GPtrArray) chosen = g_ptr_array_new ();

  for (guint i = 0; i < n; i++) {
    const FabFidelityCase *which = fab_fidelity_limits_find (limits, names[i], error);

    if (which == NULL)
      return NULL;
    if (!g_ptr_array_find (chosen, which, NULL))
      g_ptr_array_add (chosen, (gpointer) which);
  }
  for (guint i = 0; n == 0 && i < fab_fidelity_limits_n (limits); i++)
    g_ptr_array_add (chosen, (gpointer) fab_fidelity_limits_case (limits, i));
  return g_steal_pointer (&chosen);
}

/* Those that are asked for, in the order of the suite. (transfer container) */
static const char **
choose_fidelities (const FabFidelityLimits *limits, const char *list, GError **error)
{
  g_autofree const char **known = fab_fidelity_limits_known (limits, &fab_models);
  g_autoptr (GString) mistakes = g_string_new (NULL);
  g_auto (GStrv) wanted = fab_compare_fidelities ("validate fidelity", list, mistakes);
  GPtrArray *chosen;

  if (mistakes->len > 0) {
    fab_throw (error, FAB_ERROR_INPUT, "%s", mistakes->str);
    return NULL;
  }
  chosen = g_ptr_array_new ();
  for (guint i = 0; known[i]; i++)
    if (g_strv_contains ((const char *const *) wanted, known[i]))
      g_ptr_array_add (chosen, (gpointer) known[i]);
  g_ptr_array_add (chosen, NULL);
  return (const char **) g_ptr_array_free (chosen, FALSE);
}

static FabExit
judge (const FabFidelityReport *report)
{
  g_auto (GStrv) lines = fab_fidelity_report_exceeded (report);

  for (guint i = 0; lines[i]; i++)
    g_printerr ("fabricast validate fidelity: %s\n", lines[i]);
  return lines[0] ? FAB_EXIT_UNMET : FAB_EXIT_DONE;
}

static gboolean
validate (const Options *o, char **names, guint n_names, FabExit *exit_code, GError **error)
{
  ToTextFn to_text;
  g_autofree char *accept = NULL, *folder = NULL;
  g_autofree const char **fidelities = NULL;
  g_autoptr (FabCatalog) catalog = NULL;
  g_autoptr (FabFidelityLimits) limits = NULL;
  g_autoptr (GPtrArray) cases = NULL;
  g_autoptr (FabFidelityReport) report = NULL;

  if (!find_printer (o->format_name, &to_text, error)
      || (accept = find_file (o->accept_path, "accept-fidelity.yaml", error)) == NULL
      || (folder = find_file (o->cases_path, "fidelity/cases", error)) == NULL
      || (catalog = fab_cli_catalog (error)) == NULL
      || (limits = fab_fidelity_limits_load (accept, &fab_models, error)) == NULL
      || (fidelities = choose_fidelities (limits, o->fidelity, error)) == NULL
      || (cases = choose_cases (limits, names, n_names, error)) == NULL)
    return FALSE;
  report = fab_fidelity_report_new (&(FabFidelitySuite){ limits, folder, catalog, &fab_models,
                                                         (const char *const *) fidelities,
                                                         fab_cli_threads () },
                                    cases, error);
  if (report == NULL)
    return FALSE;
  g_autofree char *text = to_text (report);
  g_print ("%s", text);
  *exit_code = judge (report);
  return TRUE;
}

FabExit
fab_cli_validate_fidelity (int argc, char **argv)
{
  Options o = { 0 };
  const GOptionEntry entries[] = {
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json, csv or markdown",
      "FORMAT" },
    { "fidelity", 0, 0, G_OPTION_ARG_STRING, &o.fidelity, "Only these, with commas between", "NAMES" },
    { "accept", 0, 0, G_OPTION_ARG_FILENAME, &o.accept_path,
      "Cases and accepted differences (default: the shipped accept-fidelity.yaml)", "FILE" },
    { "cases", 0, 0, G_OPTION_ARG_FILENAME, &o.cases_path,
      "Directory with the scenarios (default: the shipped ones)", "DIR" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  FabExit exit_code = FAB_EXIT_DONE;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && validate (&o, argv + 1, (guint) argc - 1, &exit_code, &error);

  g_free (o.format_name);
  g_free (o.accept_path);
  g_free (o.cases_path);
  g_free (o.fidelity);
  return is_done ? exit_code : fab_cli_fail ("validate fidelity", error);
}
