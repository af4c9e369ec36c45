/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/effort.h"

#include <string.h>

/* What makes two collectives alike. */
static guint
plan_hash (gconstpointer data)
{
  const FabCollectivePlan *plan = data;

  return g_direct_hash (plan->footprint) ^ g_int64_hash (&plan->bytes);
}

static gboolean
plan_equal (gconstpointer a, gconstpointer b)
{
  const FabCollectivePlan *x = a, *y = b;

  return x->footprint == y->footprint && x->bytes == y->bytes;
}

FabEffort
fab_effort (const FabDag *dag, const FabNetOps *net, gconstpointer params)
{
  g_autoptr (GHashTable) known = g_hash_table_new (plan_hash, plan_equal);
  FabEffort effort = { 0 };

  for (guint c = 0; net->cost_s != NULL && c < dag->n_collectives; c++) {
    const FabCollectivePlan *plan = &dag->collectives[c].plan;

    if (plan->footprint == NULL)
      continue;
    double cost_s = net->cost_s (params, plan->footprint, plan->bytes);
    effort.all_s += cost_s;
    if (g_hash_table_add (known, (gpointer) plan))
      effort.alike_s += cost_s;
  }
  return effort;
}

/* "93 s", "12 min", "5 h": it is no more exact. */
static char *
show_roughly (double seconds)
{
  const double minute_s = 60, hour_s = 3600;

  if (seconds < 2 * minute_s)
    return g_strdup_printf ("%.0f s", seconds);
  return seconds < 2 * hour_s ? g_strdup_printf ("%.0f min", seconds / minute_s)
                              : g_strdup_printf ("%.0f h", seconds / hour_s);
}

char *
fab_effort_show (const FabEffort *effort)
{
  g_autofree char *most = show_roughly (effort->all_s), *least = show_roughly (effort->alike_s);

  if (strcmp (most, least) == 0)
    return g_strdup_printf ("at most about %s", most);
  return g_strdup_printf ("at most about %s, or %s if collectives that are alike are simulated once", most,
                          least);
}
