/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/cost/ports.h"

#include <math.h>
#include <string.h>

#include "sim/assembly/assemble.h"
#include "sim/scenario/catalog.h"

/* What is found on the links of one switch. */
typedef struct {
  guint n_nics, n_switches; /* neighbours */
  gboolean has_nic_uphill;  /* a neighbouring switch has NICs too */
  double down, up;          /* rates of the links to NICs and to switches */
  FabLinkId fastest;
} Links;

typedef struct {
  const FabScenario *scenario;
  const FabCatalog *catalog;
  const FabGraph *graph;
  GHashTable *totals;         /* part -> number of switches */
  const FabProductSpec *leaf; /* product of some switch with NICs */
  guint n_nic_ports, nics_per_port;
  FabPortUse *use;
} Count;

static const double rate_rounding = 1e-6, fill_rounding = 1e-9;

static gboolean
is_free_switch (const FabGraph *graph, FabVertexId id)
{
  const FabVertex *vertex = fab_graph_vertex (graph, id);

  return vertex->kind == FAB_VERTEX_SWITCH && vertex->node == FAB_NO_NODE;
}

static double
rate_of_one (const FabLink *link)
{
  return (double) link->rate_bytes_per_s / link->count;
}

/* FALSE: it is a switch of machines (NVLink), and not one of the fabric. */
static gboolean
look_at_links (const FabGraph *graph, FabVertexId id, Links *links)
{
  FabLinkId first;
  guint n;

  *links = (Links){ .fastest = FAB_NO_LINK };
  if (!is_free_switch (graph, id))
    return FALSE;
  n = fab_graph_out_links (graph, id, &first);
  for (FabLinkId at = first; at < first + n; at++) {
    const FabLink *link = fab_graph_link (graph, at);
    gboolean is_nic = fab_graph_vertex (graph, link->dst)->kind == FAB_VERTEX_NIC;

    if (!is_nic && !is_free_switch (graph, link->dst))
      return FALSE;
    *(is_nic ? &links->n_nics : &links->n_switches) += 1;
    *(is_nic ? &links->down : &links->up) += (double) link->rate_bytes_per_s;
    links->has_nic_uphill |= !is_nic && fab_graph_has_nic (graph, link->dst);
    if (links->fastest == FAB_NO_LINK
        || rate_of_one (link) > rate_of_one (fab_graph_link (graph, links->fastest)))
      links->fastest = at;
  }
  return TRUE;
}

static const FabProductSpec *
product_of (const Count *self, FabLinkId id)
{
  const FabLinkClass *link_class = fab_graph_link_class (self->graph, id);

  return fab_product_find (self->catalog, &(FabNeed){ .kind = FAB_PRODUCT_SWITCH,
                                                      .name = link_class->name,
                                                      .technology = link_class->technology->name,
                                                      .rate_bytes_per_s = (FabBytesPerS) rate_of_one (
                                                          fab_graph_link (self->graph, id)) });
}

/* How many of these links fit on one port of the product. */
static guint
links_per_port (const Count *self, const FabProductSpec *product, const FabLink *link)
{
  double port = (double) fab_link_spec_line_rate (fab_catalog_link (self->catalog, product->link));

  return MAX (1, (guint) MIN (port / rate_of_one (link) * (1 + rate_rounding),
                              (double) product->links_per_port));
}

/* Ports that lead somewhere. Slower links to several neighbours share a port that can be split. */
static guint
used_ports (const Count *self, FabVertexId id, const Links *links, const FabProductSpec *product)
{
  double fill = links->up > links->down ? links->down / links->up : 1; /* there are NICs below */
  FabLinkId first;
  guint n = fab_graph_out_links (self->graph, id, &first);
  double ports = 0;

  for (FabLinkId at = first; at < first + n; at++) {
    const FabLink *link = fab_graph_link (self->graph, at);
    gboolean is_up = fab_graph_vertex (self->graph, link->dst)->kind != FAB_VERTEX_NIC;

    ports += ceil (link->count * (is_up ? fill : 1) * (1 - fill_rounding))
           / links_per_port (self, product, link);
  }
  return (guint) ceil (ports * (1 - fill_rounding));
}

/* "leaf" of "leaf12". (transfer full) */
static char *
name_of (const FabGraph *graph, FabVertexId id)
{
  char *name = fab_graph_vertex_name (graph, id);
  gsize n = strlen (name);

  while (n > 1 && g_ascii_isdigit (name[n - 1]))
    n--;
  name[n] = '\0';
  return name;
}

static void
row_clear (gpointer data)
{
  g_free (((FabEmptyPorts *) data)->name);
}

static void
note_half_used (Count *self, FabVertexId id, guint n_used, guint n_ports)
{
  g_autofree char *name = name_of (self->graph, id);
  FabEmptyPorts *row = NULL;

  for (guint i = 0; i < self->use->half_used->len && row == NULL; i++) {
    FabEmptyPorts *other = &g_array_index (self->use->half_used, FabEmptyPorts, i);

    row = g_str_equal (other->name, name) && other->n_ports == n_ports ? other : NULL;
  }
  if (row == NULL) {
    guint part = fab_graph_vertex (self->graph, id)->part;
    FabEmptyPorts fresh = { g_steal_pointer (&name),
                            0,
                            GPOINTER_TO_UINT (g_hash_table_lookup (self->totals, GUINT_TO_POINTER (part))),
                            n_used,
                            n_used,
                            n_ports };

    g_array_append_val (self->use->half_used, fresh);
    row = &g_array_index (self->use->half_used, FabEmptyPorts, self->use->half_used->len - 1);
  }
  row->n++;
  row->n_least_ports = MIN (row->n_least_ports, n_used);
  row->n_most_ports = MAX (row->n_most_ports, n_used);
}

/* Where every node is on a switch of its own that leads to others with nodes, as in a torus, one NIC is meant. */
static void
note_lone (Count *self, FabVertexId id, const Links *links)
{
  guint part = fab_graph_vertex (self->graph, id)->part;

  if (links->n_nics != 1 || links->has_nic_uphill)
    return;
  if (self->use->lone_name == NULL)
    self->use->lone_name = name_of (self->graph, id);
  self->use->n_lone++;
  self->use->n_all_lone = GPOINTER_TO_UINT (g_hash_table_lookup (self->totals, GUINT_TO_POINTER (part)));
}

static void
look_at_switch (Count *self, FabVertexId id)
{
  Links links;

  if (!look_at_links (self->graph, id, &links))
    return;
  const FabProductSpec *product = links.n_nics > 0 ? product_of (self, links.fastest) : NULL;
  note_lone (self, id, &links);
  if (product == NULL)
    return;
  guint n_used = used_ports (self, id, &links, product);
  self->leaf = product;
  self->nics_per_port = links_per_port (self, product, fab_graph_link (self->graph, links.fastest));
  self->n_nic_ports += links.n_nics;
  if (2 * n_used < (guint) product->n_ports)
    note_half_used (self, id, n_used, (guint) product->n_ports);
}

static void
count_names (Count *self)
{
  for (FabVertexId id = 0; id < fab_graph_n_vertices (self->graph); id++) {
    gpointer part = GUINT_TO_POINTER (fab_graph_vertex (self->graph, id)->part);

    if (is_free_switch (self->graph, id))
      g_hash_table_insert (self->totals, part,
                           GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (self->totals, part))
                                             + 1));
  }
}

/* The switches that the fabric has, and those that would do. */
static void
count_switches (Count *self)
{
  g_autoptr (FabBill) bill = fab_bill_of_graph (self->scenario, self->graph);
  FabPortGroup ports = { self->n_nic_ports, 1, MAX (self->nics_per_port, 1) };

  self->use->n_switches = bill->n_switches;
  self->use->n_nic_ports = self->n_nic_ports;
  if (self->leaf != NULL)
    self->use->n_enough = fab_bill_switch_count (&ports, 1, FALSE, (guint) self->leaf->n_ports).n_switches;
}

FabPortUse *
fab_port_use_new (const FabScenario *scenario, const FabGraph *graph)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  g_autoptr (FabPlant) intact = fab_scenario_spec (scenario)->faults.n > 0
                                  ? fab_plant_new (scenario, &(FabWhatIf){ .is_intact = TRUE }, NULL)
                                  : NULL;
  g_autoptr (GHashTable) totals = g_hash_table_new (NULL, NULL);
  FabPortUse *self = g_new0 (FabPortUse, 1);
  Count count = { .scenario = scenario,
                  .catalog = fab_scenario_catalog (scenario),
                  .graph = intact != NULL ? intact->graph : graph,
                  .totals = totals,
                  .use = self };

  self->half_used = g_array_new (FALSE, FALSE, sizeof (FabEmptyPorts));
  g_array_set_clear_func (self->half_used, row_clear);
  if (cluster->nodes < 2 || cluster->places > cluster->nodes)
    return self;
  count_names (&count);
  for (FabVertexId id = 0; id < fab_graph_n_vertices (count.graph); id++)
    look_at_switch (&count, id);
  if (self->half_used->len > 0 || self->n_lone > 0)
    count_switches (&count);
  if (self->n_switches == 1) { /* one switch does, however the fabric is drawn */
    g_array_set_size (self->half_used, 0);
    self->n_lone = 0;
  }
  return self;
}

void
fab_port_use_free (FabPortUse *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->half_used);
  g_free (self->lone_name);
  g_free (self);
}
