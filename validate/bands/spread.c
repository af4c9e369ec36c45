/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c - medians by machine and publication. */
#include "validate/bands/spread.h"

#include "sim/base/stats.h"

static double
median_of (const GArray *values)
{
  return fab_weighted_quantile ((const double *) (gpointer) values->data, NULL, values->len, 0.5);
}

static gpointer
get_or_add (GHashTable *table, const char *key, gpointer (*make) (void))
{
  gpointer found = g_hash_table_lookup (table, key);

  if (found == NULL) {
    found = make ();
    g_hash_table_insert (table, (gpointer) key, found);
  }
  return found;
}

static gpointer
make_publications (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);
}

static gpointer
make_medians (void)
{
  return g_array_new (FALSE, FALSE, sizeof (double));
}

static void
add_machine (FabMachinesSpread *self, GHashTable *publications)
{
  double low = G_MAXDOUBLE, high = -G_MAXDOUBLE;
  GHashTableIter iter;
  gpointer medians;

  if (g_hash_table_size (publications) < 2)
    return;
  g_hash_table_iter_init (&iter, publications);
  while (g_hash_table_iter_next (&iter, NULL, &medians)) {
    double median = median_of (medians);

    low = MIN (low, median);
    high = MAX (high, median);
  }
  self->n_machines++;
  self->log_ratio = MAX (self->log_ratio, high - low);
}

FabMachinesSpread
fab_machines_spread (const GPtrArray *residuals)
{
  g_autoptr (GHashTable) machines = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                                           (GDestroyNotify) g_hash_table_unref);
  FabMachinesSpread self = { 0 };
  GHashTableIter iter;
  gpointer publications;

  for (guint i = 0; i < residuals->len; i++) {
    const FabResiduals *one = g_ptr_array_index (residuals, i);
    double median = fab_weighted_quantile (one->logs, NULL, one->n, 0.5);

    if (one->machine == NULL)
      continue;
    publications = get_or_add (machines, one->machine, make_publications);
    g_array_append_val ((GArray *) get_or_add (publications, one->publication, make_medians), median);
  }
  g_hash_table_iter_init (&iter, machines);
  while (g_hash_table_iter_next (&iter, NULL, &publications))
    add_machine (&self, publications);
  return self;
}
