/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/growth_text.h"

#include "answer/study/growth.h"
#include "cli/study/points_text.h"
#include "cli/study/upgrade_text.h"
#include "sim/base/units.h"

static const FabGrowthPath *
at (const GPtrArray *paths, guint i)
{
  return g_ptr_array_index (paths, i);
}

static char *
price_of (const FabGrowthPath *path, double usd)
{
  return fab_upgrade_show_price (path->is_priced ? usd : -1);
}

static void
append_row (GString *text, const FabGrowthPath *path)
{
  g_autofree char *today = price_of (path, path->today.bill->total.usd),
                  *later = price_of (path, path->purchase->money.usd),
                  *total = price_of (path, path->total.usd);
  g_autofree char *step = fab_figure_show (FAB_FIGURE_TIME, path->today.trial.point->step_s),
                  *then = fab_figure_show (FAB_FIGURE_TIME, path->later.trial.point->step_s);

  g_string_append_printf (text,
                          "  %-26s\v %10s\v %10s\v %10s\v %10s\v %10s\v %9.0f %%\v %10" G_GUINT64_FORMAT "\n",
                          path->name, today, later, total, step, then,
                          path->n_links > 0 ? 100.0 * (double) path->n_kept / (double) path->n_links : 100.0,
                          path->n_left);
}

static char *
growth_text (const char *title, const GPtrArray *paths, FabHold hold)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n\n  %u %s today, %u later, %s\n\n", title,
                          at (paths, 0)->today.trial.point->n_nodes,
                          fab_plural (at (paths, 0)->today.trial.point->n_nodes, "node", "nodes"),
                          at (paths, 0)->later.trial.point->n_nodes,
                          hold == FAB_HOLD_BATCH ? "for the same global batch" : "as much work for each GPU");
  g_string_append_printf (text, "  %-26s\v %10s\v %10s\v %10s\v %10s\v %10s\v %11s\v %10s\n", "path", "today",
                          "later", "in all", "step", "step later", "cables kept", "left over");
  for (guint i = 0; i < paths->len; i++)
    append_row (text, at (paths, i));
  for (guint i = 0; i < paths->len; i++) {
    static const char *const words[] = { "buys later", "leaves over" };
    g_autofree char *buys = fab_upgrade_parts (at (paths, i)->purchase, FAB_UPGRADE_BUYS),
                    *leaves = fab_upgrade_parts (at (paths, i)->purchase, FAB_UPGRADE_LEAVES);
    const char *const parts[] = { buys, leaves };

    g_string_append_printf (text, "\n  %s\n", at (paths, i)->name);
    for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
      if (parts[k] != NULL)
        g_string_append_printf (text, "    %-12s%s\n", words[k], parts[k]);
  }
  g_string_append (text,
                   "\n  US dollars of the catalogue, without labour and without what old parts bring\n");
  return g_string_free (text, FALSE);
}

char *
fab_growth_show (const char *title, const GPtrArray *paths, FabHold hold, FabFormat format)
{
  g_autoptr (FabTable) table = fab_growth_table (paths, hold);
  g_autoptr (FabJson) json = NULL;

  if (format == FAB_FORMAT_TEXT)
    return growth_text (title, paths, hold);
  if (format == FAB_FORMAT_CSV)
    return fab_table_to_csv (table);
  json = fab_json_new (FAB_JSON_PAGE);
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", title);
  fab_cli_add_json_rows (json, "paths", table);
  fab_json_end (json);
  return fab_json_finish (json);
}
