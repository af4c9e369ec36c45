/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/effort.h"

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

double
fab_effort_s (const FabDag *dag, const FabNetOps *net, gconstpointer params, gboolean remembers)
{
  g_autoptr (GHashTable) known = g_hash_table_new (plan_hash, plan_equal);
  double sum_s = 0;

  for (guint c = 0; net->cost_s != NULL && c < dag->n_collectives; c++) {
    const FabCollectivePlan *plan = &dag->collectives[c].plan;

    if (plan->footprint == NULL || (!g_hash_table_add (known, (gpointer) plan) && remembers))
      continue;
    sum_s += net->cost_s (params, plan->footprint, plan->bytes);
  }
  return sum_s;
}
