/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - adds our files and the knobs to the page of `fabricast report`.
 *
 * Nothing of a scenario becomes markup: the knobs are JSON in a block that browsers do not run, with every '<' as
 * \u003c.
 */
#include "cli/explore/page.h"

#include <gio/gio.h>
#include <string.h>

#include "cli/report/report.h"
#include "sim/base/json.h"

/* (transfer full) */
static char *
resource (const char *name)
{
  g_autofree char *path = g_strconcat ("/fabricast/explore/", name, NULL);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

  g_assert (bytes != NULL); /* compiled in */
  return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

/* Takes `text`; (transfer full) */
static char *
replaced (char *text, const char *place, const char *by)
{
  g_autofree char *taken = text;
  g_auto (GStrv) parts = g_strsplit (taken, place, -1);

  return g_strjoinv (by, parts);
}

/* Returns "{knobs: [...], answer: {...}}". (transfer full) */
static char *
board_json (const FabExplored *explored, const FabAnswer *answer)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);
  g_autofree char *text = fab_answer_json (answer, FALSE);

  fab_json_begin_object (json, NULL);
  fab_knob_board_add_json (json, "knobs", explored->board);
  fab_json_end (json);
  g_autofree char *knobs = fab_json_finish (json);
  *strrchr (knobs, '}') = '\0';
  return replaced (g_strconcat (knobs, ", \"answer\": ", text, "}", NULL), "<", "\\u003c");
}

char *
fab_explore_page (const FabExplored *explored, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (explored->board->scenario);
  g_auto (FabAnswer) answer = fab_explored_answer (explored, &explored->board->start, TRUE);
  g_autofree char *script = resource ("explore.js"), *style = resource ("explore.css");

  if (answer.report == NULL) {
    g_propagate_error (error, g_error_copy (answer.problem));
    return NULL;
  }
  g_autofree char *board = board_json (explored, &answer);
  g_autofree char *controls = replaced (resource ("controls.html"), "@board@", board);
  return fab_report_page (&(FabReportPage){ .data = answer.report,
                                            .title = spec->name,
                                            .controls = controls,
                                            .style = style,
                                            .script = script,
                                            .asks_server = TRUE },
                          error);
}
