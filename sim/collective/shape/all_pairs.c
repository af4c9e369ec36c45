/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/all_pairs.h"

#include <string.h>

#include "sim/collective/shape/form_hops.h"
#include "sim/machine/nic_paths.h"
#include "sim/machine/rank_symmetry.h"

/* Bytes between one NIC of a node and one of another node: from all ranks of the one to all of the other. */
typedef struct {
  guint out_nic, in_nic; /* index of the NIC in its node */
  guint from_local;      /* a rank that sends them, where ways depend on it */
  double weight, line;   /* sums of the weights, and of weight x stretch */
  FabTimePs inside_ps;   /* longest latency of the ways inside the two nodes */
} Flow;

typedef struct {
  const FabGroup *group;
  const FabGraph *graph;
  const FabAlgorithmEnv *env;
  FabRankSymmetry *symmetry;
  FabFootprintBuilder *builder;
  FabCollectiveForm *form;
  GArray *flows; /* Flow */
  gboolean is_hashed;
  FabSlowestHops slowest;
} AllPairs;

/* --- inside nodes, with those of number 0 and 1 for all --- */

static gboolean
add_pair (AllPairs *self, guint from, guint to, double weight)
{
  FabHop hop;

  if (!fab_hop_ranks (self->group, from, to, &hop, NULL))
    return FALSE;
  gboolean is_usual = fab_rank_symmetry_takes (&hop);
  if (is_usual) {
    fab_slowest_hops_note_step (&self->slowest, &hop, self->form);
    fab_rank_symmetry_use (self->symmetry, 0, &hop, weight, self->env->net_stretch);
  }
  fab_hop_clear (&hop);
  return is_usual;
}

/* In the order in which all_to_all takes its messages, so that of equally slow hops the same one is the first: counted
 * round two nodes, of which the second has none. */
static gboolean
add_inside (AllPairs *self, double weight)
{
  guint n = self->group->gpus_per_node;

  for (guint distance = 1; distance < 2 * n; distance++)
    for (guint from = 0; from < n; from++) {
      guint to = (from + distance) % (2 * n);

      if (to < n && !add_pair (self, from, to, weight))
        return FALSE;
    }
  return TRUE;
}

static guint32
node_of (const AllPairs *self, FabVertexId vertex)
{
  return fab_graph_vertex (self->graph, vertex)->node;
}

/* Splits the links of a hop: those inside the sender's node, and those inside the receiver's, which become those of the
 * model node. The rest is the way between the NICs. */
static void
use_ends (AllPairs *self, const FabHop *hop, FabUse use)
{
  guint32 model = node_of (self, fab_group_gpu (self->group, 0, 0));
  guint32 other = node_of (self, fab_group_gpu (self->group, 1, 0));
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (FabShare));

  for (guint i = 0; i < hop->shares->len; i++) {
    FabShare share = g_array_index (hop->shares, FabShare, i);
    const FabLink *link = fab_graph_link (self->graph, share.link);
    guint32 src = node_of (self, link->src), dst = node_of (self, link->dst);

    if (src != dst || (src != model && src != other))
      continue;
    if (src == other)
      share.link = fab_rank_symmetry_model_link (self->symmetry, 1, share.link);
    g_array_append_val (ends, share);
  }
  fab_rank_symmetry_use_shares (self->symmetry, 0, ends, use);
}

static FabTimePs
wire_ps (const AllPairs *self, guint out_node, guint out_nic, guint in_node, guint in_nic)
{
  FabPath path = { 0 };

  return fab_router_append (self->group->cluster->router, fab_group_nic (self->group, out_node, out_nic),
                            fab_group_nic (self->group, in_node, in_nic), 0, &path)
           ? fab_path_latency_ps (self->graph, &path)
           : FAB_TIME_MAX;
}

static void
note_flow (AllPairs *self, const FabHop *hop, guint from_local, double weight)
{
  const FabCluster *cluster = self->group->cluster;
  double stretch = fab_hop_stretch (hop, self->env->net_stretch);
  guint out_nic = fab_cluster_find_nic (cluster, fab_graph_link (self->graph, hop->out_port)->src),
        in_nic = fab_cluster_find_nic (cluster, fab_graph_link (self->graph, hop->in_port)->dst);
  Flow flow = { out_nic % cluster->nics_per_node, in_nic % cluster->nics_per_node, from_local, 0, 0, 0 };
  FabTimePs inside_ps = hop->latency_ps - wire_ps (self, 0, flow.out_nic, 1, flow.in_nic);
  Flow *known = NULL;

  for (guint i = 0; known == NULL && i < self->flows->len; i++) {
    Flow *other = &g_array_index (self->flows, Flow, i);

    if (other->out_nic == flow.out_nic && other->in_nic == flow.in_nic
        && (!self->is_hashed || other->from_local == from_local))
      known = other;
  }
  if (known == NULL) {
    g_array_append_val (self->flows, flow);
    known = &g_array_index (self->flows, Flow, self->flows->len - 1);
  }
  known->weight += weight;
  known->line += weight * stretch;
  known->inside_ps = MAX (known->inside_ps, inside_ps);
}

/* What goes from node 0 to node 1 goes from every node to every other one. */
static gboolean
add_ends (AllPairs *self, guint from, guint to, double weight, const FabNicPaths *ways)
{
  guint n = self->group->gpus_per_node, n_others = self->group->n_nodes - 1;
  g_autoptr (GArray) hops = fab_nic_paths_hops ();

  if (!fab_nic_paths_between (ways, from, n + to, hops, NULL))
    return FALSE;
  for (guint i = 0; i < hops->len; i++) {
    const FabHop *hop = &g_array_index (hops, FabHop, i);
    double share = weight / hops->len;

    if (hop->duplex_stretch > 1 || hop->device_stretch > 1 || hop->drive != FAB_DRIVE_COPY)
      return FALSE;
    fab_slowest_hops_note_step (&self->slowest, hop, self->form);
    note_flow (self, hop, from, share);
    use_ends (self, hop,
              (FabUse){ .weight = share * n_others,
                        .drive = hop->drive,
                        .stretch = fab_hop_stretch (hop, self->env->net_stretch) });
  }
  return TRUE;
}

static gboolean
add_all_ends (AllPairs *self, double weight)
{
  guint n = self->group->gpus_per_node;
  FabNicPaths *ways = fab_nic_paths_new (self->group);
  gboolean is_whole = TRUE;

  for (guint distance = 1; is_whole && distance < 2 * n; distance++)
    for (guint from = 0; is_whole && from < n; from++)
      if (from + distance >= n && from + distance < 2 * n)
        is_whole = add_ends (self, from, from + distance - n, weight, ways);
  fab_nic_paths_free (ways);
  return is_whole;
}

/* --- between NICs --- */

/* The link out of a NIC to the switch; FAB_NO_LINK: it has none or several. */
static FabLinkId
port_of (const AllPairs *self, guint node, guint nic)
{
  FabVertexId vertex = fab_group_nic (self->group, node, nic);
  FabLinkId first, port = FAB_NO_LINK;
  guint n = fab_graph_out_links (self->graph, vertex, &first), n_ports = 0;

  for (FabLinkId link = first; link < first + n; link++)
    if (node_of (self, fab_graph_link (self->graph, link)->dst) != node_of (self, vertex)) {
      port = link;
      n_ports++;
    }
  return n_ports == 1 ? port : FAB_NO_LINK;
}

/* Whether all NICs of a number have one port each, and these are alike. */
static gboolean
has_like_ports (const AllPairs *self, guint nic)
{
  FabLinkId model = port_of (self, 0, nic);

  for (guint node = 1; node < self->group->n_nodes; node++) {
    FabLinkId port = port_of (self, node, nic);

    if (model == FAB_NO_LINK || port == FAB_NO_LINK)
      return FALSE;
    const FabLink *a = fab_graph_link (self->graph, model), *b = fab_graph_link (self->graph, port);
    const FabLink *a_back = fab_graph_link (self->graph, a->reverse),
                  *b_back = fab_graph_link (self->graph, b->reverse);
    if (a->class_index != b->class_index || a->rate_bytes_per_s != b->rate_bytes_per_s
        || a->latency_ps != b->latency_ps || a_back->rate_bytes_per_s != b_back->rate_bytes_per_s
        || a_back->latency_ps != b_back->latency_ps)
      return FALSE;
  }
  return TRUE;
}

/* Marks all switches outside nodes that are joined to this one, directly or by way of others. */
static void
mark_part (const AllPairs *self, FabVertexId start, guint32 part, guint32 *parts)
{
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (FabVertexId));

  parts[start] = part;
  g_array_append_val (queue, start);
  for (guint i = 0; i < queue->len; i++) {
    FabLinkId first;
    guint n = fab_graph_out_links (self->graph, g_array_index (queue, FabVertexId, i), &first);

    for (FabLinkId link = first; link < first + n; link++) {
      FabVertexId next = fab_graph_link (self->graph, link)->dst;

      if (parts[next] > 0 || node_of (self, next) != FAB_NO_NODE
          || fab_graph_vertex (self->graph, next)->kind != FAB_VERTEX_SWITCH)
        continue;
      parts[next] = part;
      g_array_append_val (queue, next);
    }
  }
}

/* [nics_per_node] the part of the fabric that the NICs of each number are joined to, from 1. NULL: they have several
 * ports or none, or are joined to different parts. (transfer full) */
static guint32 *
find_parts (const AllPairs *self)
{
  guint n = self->group->cluster->nics_per_node;
  guint32 n_parts = 0;
  g_autofree guint32 *parts = g_new0 (guint32, fab_graph_n_vertices (self->graph));
  g_autofree guint32 *of_nics = g_new0 (guint32, n);

  for (guint node = 0; node < self->group->n_nodes; node++)
    for (guint nic = 0; nic < n; nic++) {
      FabLinkId port = port_of (self, node, nic);

      if (port == FAB_NO_LINK)
        return NULL;
      FabVertexId leaf = fab_graph_link (self->graph, port)->dst;
      if (parts[leaf] == 0)
        mark_part (self, leaf, ++n_parts, parts);
      if (node == 0)
        of_nics[nic] = parts[leaf];
      else if (parts[leaf] != of_nics[nic])
        return NULL;
    }
  return g_steal_pointer (&of_nics);
}

/* Whether two NICs are joined or not alike in all nodes, so that every pair of nodes changes NICs inside a node where
 * the first two do (find_way_out in sim/machine/hop.c). */
static gboolean
has_same_ways (const AllPairs *self)
{
  guint n = self->group->cluster->nics_per_node;
  g_autofree guint32 *parts = NULL;

  for (guint out = 0; out < n; out++)
    for (guint in = 0; in < n; in++) {
      if (wire_ps (self, 0, out, 1, in) < FAB_TIME_MAX)
        continue;
      if (parts == NULL)
        parts = find_parts (self);
      if (parts == NULL || parts[out] == parts[in])
        return FALSE;
    }
  return TRUE;
}

/* The nodes whose NIC of one number leads to the same switch. */
typedef struct {
  FabVertexId leaf;
  guint n, nodes[2]; /* how many, and the first two of them */
} Leaf;

/* [n_nodes] number of the leaf of each node, and the leaves (Leaf). */
static GArray *
leaves_of (const AllPairs *self, guint nic, guint *numbers)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  GArray *leaves = g_array_new (FALSE, FALSE, sizeof (Leaf));

  for (guint node = 0; node < self->group->n_nodes; node++) {
    FabVertexId vertex = fab_graph_link (self->graph, port_of (self, node, nic))->dst;
    guint at = GPOINTER_TO_UINT (g_hash_table_lookup (known, GUINT_TO_POINTER (vertex)));

    if (at == 0) {
      Leaf leaf = { vertex, 0, { node, node } };

      g_array_append_val (leaves, leaf);
      at = leaves->len;
      g_hash_table_insert (known, GUINT_TO_POINTER (vertex), GUINT_TO_POINTER (at));
    }
    Leaf *leaf = &g_array_index (leaves, Leaf, at - 1);
    if (leaf->n == 1)
      leaf->nodes[1] = node;
    leaf->n++;
    numbers[node] = at - 1;
  }
  return leaves;
}

/* Adds the links between the ports of two NICs, for `n` pairs of nodes. */
static gboolean
add_way (AllPairs *self, const Flow *flow, guint out_node, guint in_node, double n, guint64 hash)
{
  g_autoptr (GArray) shares = g_array_new (FALSE, FALSE, sizeof (FabShare));
  FabVertexId out = fab_group_nic (self->group, out_node, flow->out_nic),
              in = fab_group_nic (self->group, in_node, flow->in_nic);
  FabUse use = { .weight = flow->weight * n, .drive = FAB_DRIVE_COPY, .stretch = flow->line / flow->weight };
  FabPath path = { 0 };

  if (!fab_router_append (self->group->cluster->router, out, in, hash, &path)
      || !fab_router_spread_path (self->group->cluster->router, out, in, hash, &path, shares))
    return FALSE;
  FabTimePs latency_ps = fab_ps_add (fab_path_latency_ps (self->graph, &path), flow->inside_ps);
  self->form->inter_latency_ps = MAX (self->form->inter_latency_ps, latency_ps);
  for (guint i = shares->len; i-- > 0;) {
    const FabLink *link = fab_graph_link (self->graph, g_array_index (shares, FabShare, i).link);

    if (link->src == out || link->dst == in)
      g_array_remove_index (shares, i);
  }
  fab_footprint_builder_add_shares (self->builder, shares, use);
  return TRUE;
}

static void
add_port (AllPairs *self, FabLinkId port, const Flow *flow)
{
  FabPath path = { .n = 1, .links = { port } };
  FabUse use = { .weight = flow->weight * (self->group->n_nodes - 1),
                 .drive = FAB_DRIVE_COPY,
                 .stretch = flow->line / flow->weight };

  fab_footprint_builder_add (self->builder, &path, use);
}

/* Nodes that send from one leaf to another, without those that are at both and would send to themselves. */
static gboolean
add_leaves (AllPairs *self, const Flow *flow, const GArray *outs, const GArray *ins, const guint *selves)
{
  for (guint o = 0; o < outs->len; o++)
    for (guint i = 0; i < ins->len; i++) {
      const Leaf *out = &g_array_index (outs, Leaf, o), *in = &g_array_index (ins, Leaf, i);
      double n = (double) out->n * in->n - selves[o * ins->len + i];
      guint in_node = in->nodes[in->nodes[0] == out->nodes[0]];
      guint out_node = out->nodes[in_node == out->nodes[0]];

      if (n > 0 && !add_way (self, flow, out_node, in_node, n, 0))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_by_leaves (AllPairs *self, const Flow *flow)
{
  guint n_nodes = self->group->n_nodes;
  g_autofree guint *out_of = g_new (guint, n_nodes);
  g_autofree guint *in_of = g_new (guint, n_nodes);
  g_autoptr (GArray) outs = leaves_of (self, flow->out_nic, out_of);
  g_autoptr (GArray) ins = leaves_of (self, flow->in_nic, in_of);
  g_autofree guint *selves = g_new0 (guint, (gsize) outs->len * ins->len);

  for (guint node = 0; node < n_nodes; node++)
    selves[out_of[node] * ins->len + in_of[node]]++;
  return add_leaves (self, flow, outs, ins, selves);
}

/* Counts the links between the ports on the path of one flow. */
static gboolean
count_way (AllPairs *self, const Flow *flow, guint out_node, guint in_node, guint *counts)
{
  FabPath path;

  path.n = 0;
  if (!fab_router_append (self->group->cluster->router, fab_group_nic (self->group, out_node, flow->out_nic),
                          fab_group_nic (self->group, in_node, flow->in_nic),
                          out_node * self->group->gpus_per_node + flow->from_local, &path))
    return FALSE;
  FabTimePs latency_ps = fab_ps_add (fab_path_latency_ps (self->graph, &path), flow->inside_ps);
  self->form->inter_latency_ps = MAX (self->form->inter_latency_ps, latency_ps);
  for (guint i = 1; i + 1 < path.n; i++)
    counts[path.links[i]]++;
  return TRUE;
}

static gboolean
is_as_heavy (const Flow *a, const Flow *b)
{
  return memcmp (&a->weight, &b->weight, sizeof a->weight) == 0
      && memcmp (&a->line, &b->line, sizeof a->line) == 0;
}

/* Of the flows from `first` on, those that weigh as much as it, which are counted together. */
static gboolean
count_ways (AllPairs *self, guint first, guint *counts)
{
  const Flow *flows = (const Flow *) (gconstpointer) self->flows->data;
  guint n_nodes = self->group->n_nodes;

  for (guint out = 0; out < n_nodes; out++)
    for (guint in = 0; in < n_nodes; in++)
      for (guint i = first; in != out && i < self->flows->len; i++)
        if (is_as_heavy (&flows[i], &flows[first]) && !count_way (self, &flows[i], out, in, counts))
          return FALSE;
  return TRUE;
}

/* Each flow is spread over several paths, which the hash decides. */
static gboolean
add_spread_by_nodes (AllPairs *self)
{
  guint n_nodes = self->group->n_nodes;

  for (guint out = 0; out < n_nodes; out++)
    for (guint in = 0; in < n_nodes; in++)
      for (guint i = 0; in != out && i < self->flows->len; i++) {
        const Flow *flow = &g_array_index (self->flows, Flow, i);

        if (!add_way (self, flow, out, in, 1, out * self->group->gpus_per_node + flow->from_local))
          return FALSE;
      }
  return TRUE;
}

/* A hash of each pair of nodes decides, so all pairs are asked, and nothing of a pair is kept. */
static gboolean
add_by_nodes (AllPairs *self)
{
  const Flow *flows = (const Flow *) (gconstpointer) self->flows->data;
  guint n_links = fab_graph_n_links (self->graph);
  g_autofree guint *counts = g_new0 (guint, n_links + 1);

  for (guint first = 0; first < self->flows->len; first++) {
    gboolean is_done = FALSE;

    for (guint i = 0; i < first && !is_done; i++)
      is_done = is_as_heavy (&flows[i], &flows[first]);
    if (!is_done && !count_ways (self, first, counts))
      return FALSE;
    for (FabLinkId link = 0; !is_done && link < n_links; link++) {
      FabPath path = { .n = 1, .links = { link } };

      if (counts[link] > 0)
        fab_footprint_builder_add (self->builder, &path,
                                   (FabUse){ .weight = flows[first].weight * counts[link],
                                             .drive = FAB_DRIVE_COPY,
                                             .stretch = flows[first].line / flows[first].weight });
      counts[link] = 0;
    }
  }
  return TRUE;
}

/* Flows between the same NICs follow one another, so that the router keeps what it has found between them. */
static gint
compare_flows (gconstpointer a, gconstpointer b)
{
  const Flow *x = a, *y = b;
  guint64 x_nics = (guint64) x->out_nic << 32 | x->in_nic, y_nics = (guint64) y->out_nic << 32 | y->in_nic;

  return x_nics < y_nics ? -1 : x_nics > y_nics;
}

/* The ports, and what is between them unless a hash of the flow decides. */
static gboolean
add_flow (AllPairs *self, const Flow *flow)
{
  if (!has_like_ports (self, flow->out_nic) || !has_like_ports (self, flow->in_nic))
    return FALSE;
  for (guint node = 0; node < self->group->n_nodes; node++) {
    add_port (self, port_of (self, node, flow->out_nic), flow);
    add_port (self, fab_graph_link (self->graph, port_of (self, node, flow->in_nic))->reverse, flow);
  }
  return self->is_hashed || add_by_leaves (self, flow);
}

static gboolean
add_all (AllPairs *self, double weight)
{
  for (guint node = 0; node < self->group->n_nodes; node++)
    if (!fab_rank_symmetry_has (self->symmetry, node))
      return FALSE;
  if (!has_same_ways (self) || !add_inside (self, weight) || !add_all_ends (self, weight))
    return FALSE;
  g_array_sort (self->flows, compare_flows);
  for (guint i = 0; i < self->flows->len; i++)
    if (!add_flow (self, &g_array_index (self->flows, Flow, i)))
      return FALSE;
  gboolean is_spread = self->group->cluster->router->ops->spread != NULL;
  if (self->is_hashed && !(is_spread ? add_spread_by_nodes (self) : add_by_nodes (self)))
    return FALSE;
  fab_rank_symmetry_add (self->symmetry, self->builder);
  return TRUE;
}

gboolean
fab_all_pairs_form (const FabGroup *group, double weight, const FabAlgorithmEnv *env, FabCollectiveForm *form)
{
  g_autoptr (FabRankSymmetry) symmetry = group->n_nodes > 1 ? fab_rank_symmetry_new (group, 1) : NULL;
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (group->cluster->graph);
  g_autoptr (GArray) flows = g_array_new (FALSE, FALSE, sizeof (Flow));
  FabCollectiveForm made = { .n_channels = 1, .n_inter_steps = 1 };
  AllPairs self = { .group = group,
                    .graph = group->cluster->graph,
                    .env = env,
                    .symmetry = symmetry,
                    .builder = builder,
                    .form = &made,
                    .flows = flows,
                    .is_hashed = group->cluster->router->ops->is_hashed };

  if (symmetry == NULL || !add_all (&self, weight))
    return FALSE;
  made.footprint = fab_footprint_builder_finish (builder);
  *form = made;
  return TRUE;
}
