/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/cost/tiers.h"

enum { NO_TIER = 255 }; /* no switch of the fabric */

gboolean
fab_tiers_is_switch (const FabGraph *graph, FabVertexId id)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, id, &first);

  if (fab_graph_vertex (graph, id)->kind != FAB_VERTEX_SWITCH
      || fab_graph_vertex (graph, id)->node != FAB_NO_NODE)
    return FALSE;
  for (FabLinkId link = first; link < first + n; link++) {
    const FabVertex *other = fab_graph_vertex (graph, fab_graph_link (graph, link)->dst);

    if (other->kind != FAB_VERTEX_NIC && (other->kind != FAB_VERTEX_SWITCH || other->node != FAB_NO_NODE))
      return FALSE;
  }
  return TRUE;
}

static gboolean
is_nic (const FabGraph *graph, FabVertexId id)
{
  return fab_graph_vertex (graph, id)->kind == FAB_VERTEX_NIC;
}

/* Whether a neighbour of the switch is a NIC (`tier` NO_TIER), or a switch of this tier. */
static gboolean
is_beside (const FabGraph *graph, FabVertexId id, const guint8 *tiers, guint8 tier)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, id, &first);

  for (FabLinkId link = first; link < first + n; link++) {
    FabVertexId other = fab_graph_link (graph, link)->dst;

    if (tier == NO_TIER ? is_nic (graph, other) : tiers[other] == tier)
      return TRUE;
  }
  return FALSE;
}

/* Per vertex. (transfer full) */
static guint8 *
find_tiers (const FabGraph *graph)
{
  guint n = fab_graph_n_vertices (graph);
  guint8 *tiers = g_new (guint8, n);

  for (FabVertexId id = 0; id < n; id++)
    tiers[id] = fab_tiers_is_switch (graph, id) ? FAB_N_TIERS - 1 : NO_TIER;
  for (FabVertexId id = 0; id < n; id++)
    if (tiers[id] != NO_TIER && is_beside (graph, id, tiers, NO_TIER))
      tiers[id] = 0;
  for (FabVertexId id = 0; id < n; id++)
    if (tiers[id] == FAB_N_TIERS - 1 && is_beside (graph, id, tiers, 0))
      tiers[id] = 1;
  return tiers;
}

static void
count_switches (const FabGraph *graph, const guint8 *tiers, guint links_per_optic, FabTiers *self)
{
  for (FabVertexId id = 0; id < fab_graph_n_vertices (graph); id++) {
    FabLinkId first;
    guint n = tiers[id] != NO_TIER ? fab_graph_out_links (graph, id, &first) : 0;
    guint64 n_ports = 0;

    for (guint i = 0; i < n; i++)
      n_ports += fab_graph_link (graph, first + i)->count;
    self->n_switch_optics += (n_ports + links_per_optic - 1) / links_per_optic;
    if (tiers[id] != NO_TIER)
      self->n_switches[tiers[id]]++;
  }
}

/* Counts cables, and the links of each node to the fabric: `per_node` is a number by the node. */
static void
count_cables (const FabGraph *graph, const guint8 *tiers, GHashTable *per_node, FabTiers *self)
{
  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);
    guint8 from = tiers[link->src], to = tiers[link->dst];

    if (to == NO_TIER)
      continue;
    if (is_nic (graph, link->src)) {
      gpointer node = GUINT_TO_POINTER (fab_graph_vertex (graph, link->src)->node);
      gsize n = GPOINTER_TO_SIZE (g_hash_table_lookup (per_node, node)) + link->count;

      g_hash_table_insert (per_node, node, GSIZE_TO_POINTER (n));
      self->n_cables[0] += link->count;
    } else if (from != NO_TIER && id < link->reverse) {
      self->n_cables[MIN (MIN (from, to) + 1, FAB_N_TIERS - 1)] += link->count;
    }
  }
}

FabTiers
fab_tiers_of (const FabGraph *graph, guint links_per_optic, guint links_per_node_optic)
{
  FabTiers self = { 0 };
  g_autofree guint8 *tiers = find_tiers (graph);
  g_autoptr (GHashTable) per_node = g_hash_table_new (NULL, NULL);
  GHashTableIter nodes;
  gpointer n;

  count_switches (graph, tiers, links_per_optic, &self);
  count_cables (graph, tiers, per_node, &self);
  g_hash_table_iter_init (&nodes, per_node);
  while (g_hash_table_iter_next (&nodes, NULL, &n))
    self.n_node_optics += (GPOINTER_TO_SIZE (n) + links_per_node_optic - 1) / links_per_node_optic;
  return self;
}
