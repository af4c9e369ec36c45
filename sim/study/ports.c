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
  fab_edits_free (self->edits);
  g_free (self);
}

static FabPort *
port_new (const FabLinkSpec *link, const FabTechnology *technology)
{
  FabPort *self = g_new0 (FabPort, 1);

  self->link = link;
  self->technology = technology;
  self->edits = fab_edits_new ();
  fab_edits_set (self->edits, "cluster.nic", fab_value_text (link->name));
  fab_edits_set (self->edits, "cluster.nic_rate", fab_value_whole (FAB_UNIT_RATE, 0));
  self->trial.edits = self->edits;
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
candidates (const FabCatalog *catalog, const FabTechnology *technology, double rate)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);
  GPtrArray *all = g_ptr_array_new_with_free_func (port_free);
  gboolean has_products = FALSE;

  for (guint pass = 0; pass < 2 && !has_products;
       pass++) /* first the products, then, when there are none, all ports */
    for (guint i = 0; names[i] != NULL; i++) {
      const FabLinkSpec *link = fab_catalog_link (catalog, names[i]);

      if (fab_catalog_link_technology (catalog, link) != technology || link->endpoint_ps == 0
          || (pass == 0 && !is_product (catalog, link->name)))
        continue;
      has_products |= pass == 0;
      if ((double) fab_link_spec_line_rate (link) >= rate * (1 - rate_rounding))
        g_ptr_array_add (all, port_new (link, technology));
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

/* NULL without an error: the link is the scenario's own, and has no like in the catalogue. */
static const FabTechnology *
own_technology (const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);

  if (scenario == NULL)
    return NULL;
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);
  const char *nic = cluster->nic ? cluster->nic : node->nic;
  const FabLinkSpec *link = nic ? fab_catalog_link (study->catalog, nic) : NULL;

  return link != NULL ? fab_catalog_link_technology (study->catalog, link) : NULL;
}

GPtrArray *
fab_ports_near (const FabStudy *study, const char *rate, const FabTarget *targets, guint n_targets,
                GError **error)
{
  GError *problem = NULL;
  const FabTechnology *own = own_technology (study, &problem);
  g_autoptr (GPtrArray) result = g_ptr_array_new_with_free_func (port_free);
  g_autoptr (GPtrArray) technologies = g_ptr_array_new ();
  g_autofree const char **names = fab_catalog_names (study->catalog, FAB_SECTION_TECHNOLOGIES);
  gint64 bytes_per_s;

  if (problem != NULL) {
    g_propagate_error (error, problem);
    return NULL;
  }
  if (!fab_units_parse_whole (FAB_UNIT_RATE, rate, &bytes_per_s, error))
    return NULL;
  if (own != NULL)
    g_ptr_array_add (technologies, (gpointer) own);
  for (guint i = 0; names[i] != NULL; i++) {
    const FabTechnology *technology = fab_catalog_technology (study->catalog, names[i]);

    if (technology->is_for_any_node && technology != own)
      g_ptr_array_add (technologies, (gpointer) technology);
  }
  for (guint i = 0; i < technologies->len; i++) {
    g_autoptr (GPtrArray) ports = candidates (study->catalog, g_ptr_array_index (technologies, i),
                                              (double) bytes_per_s);

    if (!add_until_met (result, ports, study, targets, n_targets, error))
      return NULL;
  }
  return g_steal_pointer (&result);
}
