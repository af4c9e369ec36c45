/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/growth.h"

#include "answer/study/upgrade.h"

static void
add_usd (FabTable *table, const FabGrowthPath *path, double usd)
{
  if (path->is_priced)
    fab_table_add_real (table, usd);
  else
    fab_table_add_null (table);
}

FabTable *
fab_growth_table (const GPtrArray *paths, FabHold hold)
{
  static const char *const columns[] = { "path",          "today_usd",      "later_usd", "total_usd",
                                         "total_low_usd", "total_high_usd", "step_s",    "step_later_s",
                                         "cables",        "cables_kept",    "left_over", "buys_later",
                                         "leaves_over",   "hold",           NULL };
  FabTable *table = fab_table_new (columns);

  for (guint i = 0; i < paths->len; i++) {
    const FabGrowthPath *path = g_ptr_array_index (paths, i);
    g_autofree char *buys = fab_upgrade_parts (path->purchase, FAB_UPGRADE_BUYS),
                    *leaves = fab_upgrade_parts (path->purchase, FAB_UPGRADE_LEAVES);

    fab_table_add_text (table, path->name);
    add_usd (table, path, path->today.bill->total.usd);
    add_usd (table, path, path->purchase->money.usd);
    add_usd (table, path, path->total.usd);
    add_usd (table, path, path->total.low_usd);
    add_usd (table, path, path->total.high_usd);
    fab_table_add_real (table, path->today.trial.point->step_s);
    fab_table_add_real (table, path->later.trial.point->step_s);
    fab_table_add_integer (table, (gint64) path->n_links);
    fab_table_add_integer (table, (gint64) path->n_kept);
    fab_table_add_integer (table, (gint64) path->n_left);
    fab_table_add_text (table, buys);
    fab_table_add_text (table, leaves);
    fab_table_add_text (table, hold == FAB_HOLD_BATCH ? "batch" : "micro_batch");
  }
  return table;
}
