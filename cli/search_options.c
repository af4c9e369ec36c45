/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/search_options.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"

gboolean
fab_search_option_check_out (const FabStudy *study, const char *path, GError **error)
{
  fab_cli_keep_stdout (path);
  return fab_cli_check_scenario_out ("--out", path, study->base, NULL, error);
}

gboolean
fab_search_option_out (const FabStudy *study, const FabEdits *edits, const char *why, const char *path,
                       GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, edits, error);

  if (scenario == NULL)
    return FALSE;
  g_autofree char *resolved = fab_scenario_resolved (scenario);
  g_autofree char *head = fab_cli_printable (why);
  g_autofree char *text = g_strdup_printf ("# %s\n%s", head, resolved);
  return fab_cli_write_file (path, text, error);
}

const FabFigure *
fab_search_option_by (const char *name, GError **error)
{
  const FabFigure *figure = fab_figure_find (name ? name : "tokens");

  if (figure == NULL) {
    g_autofree char *names = fab_figure_names ();
    g_autofree char *note = fab_nearest_note (name, names);

    fab_throw (error, FAB_ERROR_INPUT, "--by %s: there is no such figure%s; these are: %s", name, note,
               names);
  }
  return figure;
}

gboolean
fab_search_option_memory (const char *text, FabBytes *bytes, GError **error)
{
  gint64 whole = 0;
  g_autoptr (GError) cause = NULL;

  if (text != NULL && (!fab_units_parse_whole (FAB_UNIT_BYTES, text, &whole, &cause) || whole < 1))
    return fab_throw (error, FAB_ERROR_INPUT, "--memory %s: write for example 80GB or 40GiB", text);
  *bytes = (FabBytes) whole;
  return TRUE;
}

char *
fab_search_gigabytes (double bytes)
{
  double gb = bytes / 1e9;

  return g_strdup_printf (gb >= 100 ? "%.0f" : gb >= 1e-3 ? "%.3g" : "0", gb);
}
