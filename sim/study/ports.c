/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/ports.h"

#include <string.h>

enum { MOST_PER_TECHNOLOGY = 2 };

static const double rate_rounding = 1e-6;

static void
port_free (gpointer data)
{
  FabPort *self = data;

  if (self == NULL)
    return;
  fab_try_clear (&self->trial);
  g_free (self->sets[0]);
  g_free (self->sets[1]);
  g_free (self);
}

static FabPort *
port_new (const FabLinkSpec *link)
{
  FabPort *self = g_new0 (FabPort, 1);

  self->link = link;
  self->sets[0] = g_strconcat ("cluster.nic=", link->name, NULL);
  self->sets[1] = g_strdup ("cluster.nic_rate=0Gb/s");
  self->trial.sets = (const char *const *) self->sets;
  return self;
}

static int
compare_rates (gconstpointer a, gconstpointer b)
{
  FabBytesPerS x = fab_link_spec_line_rate ((*(const FabPort *const *) a)->link),
               y = fab_link_spec_line_rate ((*(const FabPort *const *) b)->link);

  return x < y ? -1 : x > y;
}

/* Whether a port can be bought or is the one that the machine has. */
static gboolean
is_product (const FabCatalog *catalog, const char *link)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS);

  for (guint i = 0; names[i] != NULL; i++) {
    const FabProductSpec *product = fab_catalog_product (catalog, names[i]);

    if (product->kind == FAB_PRODUCT_NIC && strcmp (product->link, link) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Returns the ports of a technology that are fast enough, the slowest first. */
static GPtrArray *
candidates (const FabCatalog *catalog, const char *technology, double rate)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
  GPtrArray *all = g_ptr_array_new_with_free_func (port_free);
  gboolean has_products = FALSE;

  for (guint pass = 0; pass < 2 && !has_products;
       pass++) /* first the products, then, when there are none, all ports */
    for (guint i = 0; names[i] != NULL; i++) {
      const FabLinkSpec *link = fab_catalog_link (catalog, names[i]);

      if (g_strcmp0 (link->technology, technology) != 0 || link->endpoint_ps == 0
          || (pass == 0 && !is_product (catalog, link->name)))
        continue;
      has_products |= pass == 0;
      if ((double) fab_link_spec_line_rate (link) >= rate * (1 - rate_rounding))
        g_ptr_array_add (all, port_new (link));
    }
  g_ptr_array_sort (all, compare_rates);
  if (all->len > MOST_PER_TECHNOLOGY)
    g_ptr_array_set_size (all, MOST_PER_TECHNOLOGY);
  return all;
}

static gboolean
add_until_met (GPtrArray *result, GPtrArray *ports, const FabStudy *study, const FabTarget *targets,
               guint n_targets, GError **error)
{
  for (guint i = 0; i < ports->len; i++) {
    FabPort *port = g_ptr_array_index (ports, i);
    FabTry *tries[] = { &port->trial };

    if (!fab_study_play (study, tries, 1, error))
      return FALSE;
    port->is_met = port->trial.point != NULL && fab_targets_are_met (targets, n_targets, port->trial.point);
    g_ptr_array_add (result, port);
    ports->pdata[i] = NULL;
    if (port->is_met)
      return TRUE;
  }
  return TRUE;
}

static const char *
own_technology (const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_load (study, NULL, error);

  if (scenario == NULL)
    return NULL;
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);
  const char *nic = cluster->nic ? cluster->nic : node->nic;
  const FabLinkSpec *link = nic ? fab_catalog_link (study->catalog, nic) : NULL;

  return link != NULL && link->technology != NULL ? link->technology : "";
}

GPtrArray *
fab_ports_near (const FabStudy *study, const char *rate, const FabTarget *targets, guint n_targets,
                GError **error)
{
  static const char *const bought[] = { "InfiniBand", "Ethernet" };
  const char *own = own_technology (study, error);
  g_autoptr (GPtrArray) result = g_ptr_array_new_with_free_func (port_free);
  gint64 bytes_per_s;

  if (own == NULL || !fab_units_parse_whole (FAB_UNIT_RATE, rate, &bytes_per_s, error))
    return NULL;
  for (guint t = 0; t <= G_N_ELEMENTS (bought); t++) {
    const char *technology = t == 0 ? own : bought[t - 1];

    if (t > 0 && strcmp (technology, own) == 0)
      continue;
    g_autoptr (GPtrArray) ports = candidates (study->catalog, technology, (double) bytes_per_s);
    if (!add_until_met (result, ports, study, targets, n_targets, error))
      return NULL;
  }
  return g_steal_pointer (&result);
}
