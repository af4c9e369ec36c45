/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/trees.h"

#include "sim/base/error.h"

#define FAR G_MAXUINT

static gboolean
is_network_switch (const FabGraph *graph, FabVertexId vertex)
{
  const FabVertex *v = fab_graph_vertex (graph, vertex);

  return v->kind == FAB_VERTEX_SWITCH && v->node == FAB_NO_NODE;
}

/* The switch that the NIC is plugged into, if it reduces. */
static gboolean
find_leaf (const FabGraph *graph, FabVertexId nic, FabVertexId *leaf)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, nic, &first);

  for (FabLinkId link = first; link < first + n; link++) {
    *leaf = fab_graph_link (graph, link)->dst;
    if (is_network_switch (graph, *leaf) && fab_graph_link_class (graph, link)->has_reduction)
      return TRUE;
  }
  return FALSE;
}

/* Distances over switches from `start`, and from where each was reached first; returns the order of the visit. */
static GArray *
visit (const FabGraph *graph, FabVertexId start, guint *distances, FabVertexId *from)
{
  GArray *order = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  for (guint v = 0; v < fab_graph_n_vertices (graph); v++)
    distances[v] = FAR;
  distances[start] = 0;
  g_array_append_val (order, start);
  for (guint i = 0; i < order->len; i++) {
    FabVertexId vertex = g_array_index (order, FabVertexId, i);
    FabLinkId first;
    guint n = fab_graph_out_links (graph, vertex, &first);

    for (FabLinkId link = first; link < first + n; link++) {
      FabVertexId next = fab_graph_link (graph, link)->dst;

      if (!is_network_switch (graph, next) || distances[next] != FAR)
        continue;
      distances[next] = distances[vertex] + 1;
      from[next] = vertex;
      g_array_append_val (order, next);
    }
  }
  return order;
}

/* The switch whose farthest leaf is nearest; the lowest number of equals. FALSE: none reaches all. */
static gboolean
find_root (const FabGraph *graph, const FabVertexId *leaves, guint n_leaves, FabVertexId *root)
{
  guint n = fab_graph_n_vertices (graph), least = FAR;
  g_autofree guint *distances = g_new (guint, n);
  g_autofree guint *farthest = g_new0 (guint, n);
  g_autofree gboolean *is_done = g_new0 (gboolean, n);
  g_autofree FabVertexId *from = g_new (FabVertexId, n);

  for (guint i = 0; i < n_leaves; i++) {
    if (is_done[leaves[i]])
      continue;
    is_done[leaves[i]] = TRUE;
    g_array_unref (visit (graph, leaves[i], distances, from));
    for (guint v = 0; v < n; v++)
      farthest[v] = MAX (farthest[v], distances[v]);
  }
  for (guint v = 0; v < n; v++)
    if (is_network_switch (graph, v) && farthest[v] < least) {
      least = farthest[v];
      *root = v;
    }
  return least != FAR;
}

/* The switches on the ways from the root to the leaves. */
static void
span (FabSwitchTree *self, const FabGraph *graph, FabVertexId root)
{
  guint n = fab_graph_n_vertices (graph);
  g_autofree guint *distances = g_new (guint, n);
  g_autofree guint *n_below = g_new0 (guint, n);
  g_autofree guint *indices = g_new0 (guint, n);
  g_autofree FabVertexId *from = g_new (FabVertexId, n);
  g_autoptr (GArray) order = visit (graph, root, distances, from);

  for (guint i = 0; i < self->n_nodes; i++)
    n_below[self->leaves[i]]++;
  for (guint i = order->len; i-- > 1;) {
    FabVertexId vertex = g_array_index (order, FabVertexId, i);

    n_below[from[vertex]] += n_below[vertex];
  }
  self->switches = g_new (FabVertexId, order->len);
  self->parents = g_new (guint, order->len);
  self->n_below = g_new (guint, order->len);
  for (guint i = 0; i < order->len; i++) {
    FabVertexId vertex = g_array_index (order, FabVertexId, i);

    if (n_below[vertex] == 0)
      continue;
    indices[vertex] = self->n_switches;
    self->switches[self->n_switches] = vertex;
    self->parents[self->n_switches] = vertex == root ? G_MAXUINT : indices[from[vertex]];
    self->n_below[self->n_switches++] = n_below[vertex];
  }
}

gboolean
fab_switch_tree_is_possible (const FabGroup *group, guint nic)
{
  FabVertexId leaf;

  for (guint node = 0; node < group->n_nodes; node++)
    if (!find_leaf (group->cluster->graph, fab_group_nic (group, node, nic), &leaf))
      return FALSE;
  return TRUE;
}

static FabSwitchTree *
not_joined (guint nic, GError **error)
{
  fab_throw (error, FAB_ERROR_INPUT,
             "the switches that NIC %u of all nodes reaches must be connected and must reduce", nic);
  return NULL;
}

FabSwitchTree *
fab_switch_tree_new (const FabGroup *group, guint nic, GError **error)
{
  const FabGraph *graph = group->cluster->graph;
  g_autoptr (FabSwitchTree) self = g_new0 (FabSwitchTree, 1);
  FabVertexId root = 0;

  self->nic = nic;
  self->n_nodes = group->n_nodes;
  self->leaves = g_new (FabVertexId, group->n_nodes);
  for (guint node = 0; node < group->n_nodes; node++)
    if (!find_leaf (graph, fab_group_nic (group, node, nic), &self->leaves[node]))
      return not_joined (nic, error);
  if (!find_root (graph, self->leaves, self->n_nodes, &root))
    return not_joined (nic, error);
  span (self, graph, root);
  return g_steal_pointer (&self);
}

void
fab_switch_tree_free (FabSwitchTree *self)
{
  if (self == NULL)
    return;
  g_free (self->leaves);
  g_free (self->switches);
  g_free (self->parents);
  g_free (self->n_below);
  g_free (self);
}

typedef struct {
  const FabSwitchTree *tree;
  FabSendGraph *sends;
  const FabGroup *group;
  guint local;
  const FabSwitchPass *pass;
  const GPtrArray *nodes; /* lists */
  GPtrArray *switches;    /* lists: what has come up, then what brings the result */
  GError **error;
} PassBuild;

static guint
index_of (const FabSwitchTree *self, FabVertexId vertex)
{
  guint i = 0;

  while (self->switches[i] != vertex)
    i++;
  return i;
}

/* A list becomes that one send. */
static void
set_list (GArray *list, guint send)
{
  g_array_set_size (list, 0);
  g_array_append_val (list, send);
}

/* Between a node's GPU and the leaf, over the NIC. */
static gboolean
add_port (PassBuild *build, guint node, gboolean is_up)
{
  const FabCluster *cluster = build->group->cluster;
  FabVertexId gpu = fab_group_gpu (build->group, node, build->local);
  FabVertexId nic = fab_group_nic (build->group, node, build->tree->nic), leaf = build->tree->leaves[node];
  GArray *at_leaf = fab_send_list (build->switches, index_of (build->tree, leaf));
  GArray *at_node = fab_send_list (build->nodes, node);
  FabHop hop;
  guint send;

  if (!(is_up ? fab_hop_over (cluster, gpu, nic, leaf, leaf, build->tree->nic, &hop, build->error)
              : fab_hop_over (cluster, leaf, leaf, nic, gpu, build->tree->nic, &hop, build->error)))
    return FALSE;
  send = fab_send_graph_add (build->sends, &hop, is_up ? build->pass->up : build->pass->down, 1,
                             is_up ? at_node : at_leaf);
  if (is_up)
    g_array_append_val (at_leaf, send);
  else
    set_list (at_node, send);
  return TRUE;
}

/* Between a switch and the one above it. */
static gboolean
add_trunk (PassBuild *build, guint index, gboolean is_up)
{
  const FabSwitchTree *tree = build->tree;
  const FabSwitchPass *pass = build->pass;
  FabVertexId below = tree->switches[index], above = tree->switches[tree->parents[index]];
  GArray *at_below = fab_send_list (build->switches, index);
  GArray *at_above = fab_send_list (build->switches, tree->parents[index]);
  guint n_below = tree->n_below[index], send;
  double weight = is_up ? pass->up * (pass->is_summed_up ? 1 : n_below)
                        : pass->down * (pass->is_copied_down ? 1 : n_below);
  FabHop hop;

  if (!fab_hop_wire (build->group->cluster, is_up ? below : above, is_up ? above : below, FAB_DRIVE_COPY,
                     &hop, build->error))
    return FALSE;
  hop.kind = FAB_HOP_NET;
  send = fab_send_graph_add (build->sends, &hop, weight, 1, is_up ? at_below : at_above);
  if (is_up)
    g_array_append_val (at_above, send);
  else
    set_list (at_below, send);
  return TRUE;
}

static gboolean
go_up_and_down (PassBuild *build)
{
  const FabSwitchTree *tree = build->tree;

  for (guint node = 0; node < tree->n_nodes; node++)
    if (!add_port (build, node, TRUE))
      return FALSE;
  for (guint i = tree->n_switches; i-- > 1;)
    if (!add_trunk (build, i, TRUE))
      return FALSE;
  for (guint i = 1; i < tree->n_switches; i++)
    if (!add_trunk (build, i, FALSE))
      return FALSE;
  for (guint node = 0; node < tree->n_nodes; node++)
    if (!add_port (build, node, FALSE))
      return FALSE;
  return TRUE;
}

gboolean
fab_switch_tree_pass (const FabSwitchTree *self, FabSendGraph *sends, const FabGroup *group, guint local,
                      const FabSwitchPass *pass, const GPtrArray *lists, GError **error)
{
  g_autoptr (GPtrArray) switches = fab_send_lists_new (self->n_switches);
  PassBuild build = { self, sends, group, local, pass, lists, switches, error };

  return go_up_and_down (&build);
}

/* Which node stands at a place of the tree. */
static guint
node_at (guint n, guint which, FabTreeRoots roots, guint place)
{
  if (which == 0)
    return place;
  if (roots == FAB_TREE_ROOTS_APART)
    return n % 2 == 0 ? n - 1 - place : (place + 1) % n;
  if (place == 0)
    return 0;
  return n % 2 == 1 ? n - place : 1 + place % (n - 1);
}

/* Places of level `bit` hang under the next place of a higher level; past the end under the one before. */
static guint
parent_place (guint n, guint place, guint bit)
{
  guint above = (place ^ bit) | (bit << 1);

  return above < n ? above : place ^ bit;
}

FabTree *
fab_tree_new (guint n, guint which, FabTreeRoots roots)
{
  FabTree *self = g_new0 (FabTree, 1);
  guint n_ordered = 0;

  g_assert (n > 0 && n <= G_MAXINT32);
  self->n = n;
  self->parents = g_new (guint, n);
  self->order = g_new (guint, n);
  self->n_children = g_new0 (guint, n);
  self->order[n_ordered++] = node_at (n, which, roots, 0);
  self->parents[self->order[0]] = G_MAXUINT;
  for (guint bit = 1u << 30; bit > 0; bit >>= 1)
    for (guint place = bit; place < n; place += 2 * bit) {
      guint node = node_at (n, which, roots, place);

      self->order[n_ordered++] = node;
      self->parents[node] = node_at (n, which, roots, parent_place (n, place, bit));
      self->n_children[self->parents[node]]++;
    }
  return self;
}

void
fab_tree_free (FabTree *self)
{
  if (self == NULL)
    return;
  g_free (self->parents);
  g_free (self->order);
  g_free (self->n_children);
  g_free (self);
}
