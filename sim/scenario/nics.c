/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario/nics.h"

#include "sim/base/error.h"

/* The networks of a fabric. */
typedef struct {
  const FabCluster *cluster;
  guint *network;  /* [vertices] 1 + number; 0: none */
  GArray *reaches; /* guint per network: how many nodes have a NIC on it */
  guint widest;    /* the largest of the reaches */
} Networks;

/* Numbers everything that a NIC reaches through the fabric, but not through nodes. */
static void
spread (Networks *self, FabVertexId nic, guint number)
{
  const FabGraph *graph = self->cluster->graph;
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  self->network[nic] = number;
  g_array_append_val (queue, nic);
  for (guint i = 0; i < queue->len; i++) {
    FabVertexId vertex = g_array_index (queue, FabVertexId, i);
    guint32 node = fab_graph_vertex (graph, vertex)->node;
    FabLinkId first;
    guint n = fab_graph_out_links (graph, vertex, &first);

    for (FabLinkId link = first; link < first + n; link++) {
      FabVertexId next = fab_graph_link (graph, link)->dst;
      const FabVertex *to = fab_graph_vertex (graph, next);

      if (self->network[next] > 0
          || (to->node != FAB_NO_NODE && (to->node == node || to->kind != FAB_VERTEX_NIC)))
        continue;
      self->network[next] = number;
      g_array_append_val (queue, next);
    }
  }
}

static guint
count_nodes (const Networks *self, guint number)
{
  const FabCluster *cluster = self->cluster;
  guint n = 0;

  for (guint node = 0; node < cluster->n_nodes; node++)
    for (guint i = 0; i < cluster->nics_per_node; i++)
      if (self->network[cluster->nics[node * cluster->nics_per_node + i]] == number) {
        n++;
        break;
      }
  return n;
}

static gboolean
has_port (const FabGraph *graph, FabVertexId nic)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, nic, &first);

  for (FabLinkId link = first; link < first + n; link++)
    if (fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->node
        != fab_graph_vertex (graph, nic)->node)
      return TRUE;
  return FALSE;
}

static void
networks_init (Networks *self, const FabCluster *cluster)
{
  guint n_nics = cluster->n_nodes * cluster->nics_per_node;

  *self = (Networks){ cluster, g_new0 (guint, fab_graph_n_vertices (cluster->graph) + 1),
                      g_array_new (FALSE, FALSE, sizeof (guint)), 0 };
  for (guint i = 0; i < n_nics; i++) {
    FabVertexId nic = cluster->nics[i];

    if (self->network[nic] > 0 || !has_port (cluster->graph, nic))
      continue;
    spread (self, nic, self->reaches->len + 1);
    guint reach = count_nodes (self, self->reaches->len + 1);
    g_array_append_val (self->reaches, reach);
    self->widest = MAX (self->widest, reach);
  }
}

static void
networks_clear (Networks *self)
{
  g_clear_pointer (&self->network, g_free);
  g_clear_pointer (&self->reaches, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Networks, networks_clear)

guint
fab_nics_reach (const FabCluster *cluster)
{
  g_auto (Networks) networks = { 0 };

  networks_init (&networks, cluster);
  return networks.widest;
}

static gboolean
is_good (const Networks *self, guint node, guint slot)
{
  guint number = self->network[self->cluster->nics[node * self->cluster->nics_per_node + slot]];

  return number > 0 && g_array_index (self->reaches, guint, number - 1) == self->widest;
}

static guint
count_good (const Networks *self, guint node)
{
  guint n = 0;

  for (guint slot = 0; slot < self->cluster->nics_per_node; slot++)
    n += is_good (self, node, slot);
  return n;
}

/* --- a network in pieces --- */

static gboolean
throw_cut (const Networks *self, GError **error)
{
  guint in = G_MAXUINT, out = G_MAXUINT;

  for (guint node = self->cluster->n_nodes; node-- > 0;)
    if (count_good (self, node) > 0)
      in = node;
    else
      out = node;
  if (in == G_MAXUINT || out == G_MAXUINT)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "with these faults the machine is cut: no network joins all of its nodes");
  g_autofree char *a = fab_graph_vertex_name (self->cluster->graph,
                                              self->cluster->gpus[in * self->cluster->gpus_per_node]),
                  *b = fab_graph_vertex_name (self->cluster->graph,
                                              self->cluster->gpus[out * self->cluster->gpus_per_node]);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "with these faults the machine is cut in two: no network leads from the NICs of %s to those of %s", a,
      b);
}

/* The parts inside a node must be connected. Dead parts have no links and may be missing, but GPUs may not. */
static gboolean
check_whole (const FabCluster *cluster, GError **error)
{
  const FabGraph *graph = cluster->graph;
  guint n = fab_graph_n_vertices (graph);
  g_autofree guint8 *is_seen = g_new0 (guint8, n + 1);
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  g_array_append_val (queue, cluster->gpus[0]);
  is_seen[cluster->gpus[0]] = TRUE;
  for (guint i = 0; i < queue->len; i++) {
    FabLinkId first;
    guint n_out = fab_graph_out_links (graph, g_array_index (queue, FabVertexId, i), &first);

    for (FabLinkId link = first; link < first + n_out; link++) {
      FabVertexId next = fab_graph_link (graph, link)->dst;

      if (!is_seen[next])
        g_array_append_val (queue, next);
      is_seen[next] = TRUE;
    }
  }
  for (FabVertexId v = 0; v < n; v++)
    if (!is_seen[v] && fab_graph_vertex (graph, v)->kind == FAB_VERTEX_ACCELERATOR) {
      g_autofree char *name = fab_graph_vertex_name (graph, v);

      return fab_throw (error, FAB_ERROR_INPUT,
                        "with these faults the machine is in parts: no wires lead to %s", name);
    }
  return TRUE;
}

/* --- the choice --- */

/* Chooses the NICs that are good in most nodes, the first of equals; ascending. */
static void
choose_slots (const Networks *self, guint n_slots, gboolean *is_chosen)
{
  guint k = self->cluster->nics_per_node;
  g_autofree guint *votes = g_new0 (guint, k);

  for (guint node = 0; node < self->cluster->n_nodes; node++)
    for (guint slot = 0; slot < k; slot++)
      votes[slot] += is_good (self, node, slot);
  for (guint i = 0; i < n_slots; i++) {
    guint best = G_MAXUINT;

    for (guint slot = 0; slot < k; slot++)
      if (!is_chosen[slot] && (best == G_MAXUINT || votes[slot] > votes[best]))
        best = slot;
    is_chosen[best] = TRUE;
  }
}

static guint
nearest_spare (const Networks *self, guint node, guint slot, const gboolean *is_chosen,
               const gboolean *is_taken)
{
  guint best = G_MAXUINT;

  for (guint spare = 0; spare < self->cluster->nics_per_node; spare++) {
    if (is_chosen[spare] || is_taken[spare] || !is_good (self, node, spare))
      continue;
    if (best == G_MAXUINT || ABS ((int) spare - (int) slot) < ABS ((int) best - (int) slot))
      best = spare;
  }
  g_assert (best != G_MAXUINT); /* every node has as many good NICs as are chosen */
  return best;
}

static void
fill_node (const Networks *self, guint node, const gboolean *is_chosen, FabVertexId *nics)
{
  guint k = self->cluster->nics_per_node, n = 0;
  g_autofree gboolean *is_taken = g_new0 (gboolean, k);

  for (guint slot = 0; slot < k; slot++) {
    guint used = slot;

    if (!is_chosen[slot])
      continue;
    if (!is_good (self, node, slot))
      used = nearest_spare (self, node, slot, is_chosen, is_taken);
    is_taken[used] = TRUE;
    nics[n++] = self->cluster->nics[node * k + used];
  }
}

static void
keep_slots (FabCluster *cluster, const Networks *networks, const gboolean *is_chosen, guint n_slots)
{
  FabVertexId *nics = g_new (FabVertexId, (gsize) cluster->n_nodes * n_slots + 1);
  guint *hops = g_new (guint, (gsize) cluster->gpus_per_node * n_slots + 1), n = 0;

  for (guint node = 0; node < cluster->n_nodes; node++)
    fill_node (networks, node, is_chosen, nics + (gsize) node * n_slots);
  for (guint local = 0; local < cluster->gpus_per_node; local++)
    for (guint slot = 0; slot < cluster->nics_per_node; slot++)
      if (is_chosen[slot])
        hops[n++] = fab_cluster_nic_hops (cluster, local, slot);
  g_free (cluster->nics);
  g_free (cluster->nic_hops);
  cluster->nics = nics;
  cluster->nic_hops = hops;
  cluster->nics_per_node = n_slots;
}

gboolean
fab_nics_choose (FabCluster *cluster, guint reach_before, GError **error)
{
  g_auto (Networks) networks = { 0 };
  guint least = cluster->nics_per_node;

  networks_init (&networks, cluster);
  if (cluster->n_nodes > 1 && networks.widest < reach_before)
    return throw_cut (&networks, error);
  for (guint node = 0; node < cluster->n_nodes; node++)
    least = MIN (least, count_good (&networks, node));
  if (cluster->n_nodes > 1 && least == 0)
    return throw_cut (&networks, error);
  if (!check_whole (cluster, error))
    return FALSE;
  if (least == cluster->nics_per_node)
    return TRUE;
  g_autofree gboolean *is_chosen = g_new0 (gboolean, cluster->nics_per_node);
  choose_slots (&networks, least, is_chosen);
  keep_slots (cluster, &networks, is_chosen, least);
  return TRUE;
}
