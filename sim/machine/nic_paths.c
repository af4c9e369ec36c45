/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/machine/nic_paths.h"

/* Returns how many NICs were dealt. */
static guint
deal_nics (const FabGroup *shape, GArray **lists)
{
  guint n_nics;
  g_autofree guint *rails = fab_rails_list (shape, &n_nics);

  for (guint i = 0; i < n_nics; i++) {
    guint hops, local = fab_rails_gpu (shape, rails[i], G_MAXUINT, &hops);

    g_array_append_val (lists[local], rails[i]);
  }
  for (guint local = 0; local < shape->gpus_per_node; local++) {
    guint nearest = lists[local]->len > 0 ? G_MAXUINT : fab_cluster_nic_of (shape->cluster, local);

    if (nearest != G_MAXUINT)
      g_array_append_val (lists[local], nearest);
  }
  return n_nics;
}

FabNicPaths *
fab_nic_paths_new (const FabGroup *group)
{
  FabNicPaths *self = g_new0 (FabNicPaths, 1);
  guint n_shapes = fab_group_n_shapes (group);

  self->group = group;
  self->firsts = g_new0 (guint, n_shapes + 1);
  for (guint shape = 0; shape < n_shapes; shape++)
    self->firsts[shape + 1] = self->firsts[shape] + fab_group_of_shape (group, shape).gpus_per_node;
  self->lists = g_new (GArray *, self->firsts[n_shapes]);
  for (guint i = 0; i < self->firsts[n_shapes]; i++)
    self->lists[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint shape = 0; group->n_nodes > 1 && shape < n_shapes; shape++) {
    FabGroup one = fab_group_of_shape (group, shape);
    guint n_nics = deal_nics (&one, self->lists + self->firsts[shape]);
    self->n_nics = shape == 0 ? n_nics : self->n_nics;
  }
  return self;
}

void
fab_nic_paths_free (FabNicPaths *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->firsts[fab_group_n_shapes (self->group)]; i++)
    g_array_unref (self->lists[i]);
  g_free (self->lists);
  g_free (self->firsts);
  g_free (self);
}

GArray *
fab_nic_paths_hops (void)
{
  GArray *hops = g_array_new (FALSE, FALSE, sizeof (FabHop));

  g_array_set_clear_func (hops, (GDestroyNotify) fab_hop_clear);
  return hops;
}

/* What goes by `first` goes on by `hop`: makes one of both. */
static void
hop_prepend (FabHop *hop, FabHop *first)
{
  g_array_prepend_vals (hop->shares, first->shares->data, first->shares->len);
  hop->latency_ps = fab_ps_add (first->latency_ps, hop->latency_ps);
  if (first->rate_bytes_per_s < hop->rate_bytes_per_s) {
    hop->rate_bytes_per_s = first->rate_bytes_per_s;
    hop->technology = first->technology;
  }
  fab_hop_clear (first);
}

/* One NIC of the sender, one of the receiver. */
static gboolean
find_hop (const FabNicPaths *self, guint from, guint to, guint out_nic, guint in_nic, FabHop *hop,
          GError **error)
{
  const FabGroup *group = self->group;
  guint from_local, to_local;
  guint from_node = fab_group_node_of (group, from, &from_local),
        to_node = fab_group_node_of (group, to, &to_local);
  FabVertexId src = fab_group_gpu (group, from_node, from_local),
              dst = fab_group_gpu (group, to_node, to_local);
  FabVertexId relay = out_nic != in_nic ? fab_relay_towards (group, from, to, in_nic) : src;
  FabHop first;

  if (!fab_hop_over (group->cluster, relay, fab_group_nic (group, from_node, relay != src ? in_nic : out_nic),
                     fab_group_nic (group, to_node, in_nic), dst, from, hop, error))
    return FALSE;
  if (relay == src)
    return TRUE;
  if (!fab_hop_wire (group->cluster, src, relay, FAB_DRIVE_COPY, &first, error)) {
    fab_hop_clear (hop);
    return FALSE;
  }
  hop_prepend (hop, &first);
  return TRUE;
}

static guint
common_multiple (guint a, guint b)
{
  guint multiple = MAX (a, b);

  while (MIN (a, b) > 0 && multiple % MIN (a, b) != 0)
    multiple += MAX (a, b);
  return multiple;
}

gboolean
fab_nic_paths_between (const FabNicPaths *self, guint from, guint to, GArray *hops, GError **error)
{
  guint before = hops->len, from_local, to_local;
  guint from_node = fab_group_node_of (self->group, from, &from_local),
        to_node = fab_group_node_of (self->group, to, &to_local);
  const GArray *out = fab_nic_paths_nics (self, from_node, from_local),
               *in = fab_nic_paths_nics (self, to_node, to_local);
  guint n_ways = common_multiple (out->len, in->len); /* every NIC of either end has an equal share */
  FabHop hop;

  if (from_node == to_node || out->len * in->len <= 1) {
    if (!fab_hop_ranks (self->group, from, to, &hop, error))
      return FALSE;
    g_array_append_val (hops, hop);
    return TRUE;
  }
  for (guint i = 0; i < n_ways; i++) {
    guint out_nic = g_array_index (out, guint, i % out->len), in_nic = g_array_index (in, guint, i % in->len);

    if (!find_hop (self, from, to, out_nic, in_nic, &hop, error)) {
      g_array_set_size (hops, before);
      return FALSE;
    }
    g_array_append_val (hops, hop);
  }
  return TRUE;
}

guint
fab_rails_gpu (const FabGroup *group, guint nic, guint taken, guint *hops)
{
  guint n = group->gpus_per_node, n_equal = 0;
  g_autofree guint *equals = g_new (guint, n);

  *hops = G_MAXUINT;
  for (guint local = 0; local < n; local++) {
    guint distance = fab_cluster_nic_hops (group->cluster, local, nic);

    if (local == taken || distance > *hops)
      continue;
    if (distance < *hops)
      n_equal = 0;
    *hops = distance;
    equals[n_equal++] = local;
  }
  return equals[nic % n_equal];
}

guint *
fab_rails_list (const FabGroup *group, guint *n_rails)
{
  guint n_nics = group->cluster->nics_per_node, least = G_MAXUINT;
  guint *rails = g_new (guint, n_nics + 1);

  *n_rails = 0;
  for (guint nic = 0; nic < n_nics; nic++) {
    guint hops;

    fab_rails_gpu (group, nic, G_MAXUINT, &hops);
    if (hops < least)
      *n_rails = 0;
    least = MIN (least, hops);
    if (hops == least)
      rails[(*n_rails)++] = nic;
  }
  return rails;
}

gboolean
fab_relay_can (const FabCluster *cluster, FabVertexId from, FabVertexId relay)
{
  FabPath path;

  if (!cluster->has_relays
      || fab_cluster_reach (cluster, from, relay, &path) > MIN (cluster->p2p, FAB_REACH_NVL))
    return FALSE;
  for (guint i = 0; i < path.n; i++)
    if (!fab_graph_link_class (cluster->graph, path.links[i])->technology->can_relay)
      return FALSE;
  return TRUE;
}

static FabVertexId
nearest_gpu (const FabCluster *cluster, FabVertexId nic)
{
  FabGroup all = { cluster, cluster->n_nodes, cluster->gpus_per_node };
  guint at = fab_cluster_find_nic (cluster, nic), node = at / cluster->nics_per_node, nearest = 0;
  FabGroup shape = fab_group_of_shape (&all, fab_group_shape (&all, node));

  at %= cluster->nics_per_node;
  for (guint local = 1; local < shape.gpus_per_node; local++)
    if (fab_cluster_nic_hops (shape.cluster, local, at) < fab_cluster_nic_hops (shape.cluster, nearest, at))
      nearest = local;
  return fab_group_gpu (&all, node, nearest);
}

/* The local rank of the sender's node where the receiver is; G_MAXUINT: no rank of the group is there. */
static guint
counterpart (const FabGroup *group, guint from_node, guint to_node, guint to_local, guint in_nic)
{
  FabGroup senders = fab_group_of_shape (group, fab_group_shape (group, from_node)),
           receivers = fab_group_of_shape (group, fab_group_shape (group, to_node));
  guint hops, local;

  if (fab_group_shape (group, from_node) == fab_group_shape (group, to_node))
    return to_local;
  local = fab_rails_gpu (&senders, in_nic, G_MAXUINT, &hops);
  return hops <= fab_cluster_nic_hops (receivers.cluster, to_local, in_nic) ? local : G_MAXUINT;
}

FabVertexId
fab_relay_towards (const FabGroup *group, guint from, guint to, guint in_nic)
{
  guint from_local, to_local;
  guint from_node = fab_group_node_of (group, from, &from_local),
        to_node = fab_group_node_of (group, to, &to_local);
  guint local = counterpart (group, from_node, to_node, to_local, in_nic);

  if (local == G_MAXUINT || local == from_local)
    return fab_group_gpu (group, from_node, from_local);
  FabVertexId src = fab_group_gpu (group, from_node, from_local),
              relay = fab_group_gpu (group, from_node, local);
  return fab_relay_can (group->cluster, src, relay) ? relay : src;
}

FabVertexId
fab_relay_to_nic (const FabCluster *cluster, FabVertexId from, FabVertexId out_nic)
{
  FabPath path;

  if (!cluster->has_relays || fab_graph_vertex (cluster->graph, from)->kind != FAB_VERTEX_ACCELERATOR
      || fab_graph_vertex (cluster->graph, out_nic)->kind != FAB_VERTEX_NIC
      || fab_cluster_reach (cluster, from, out_nic, &path) <= FAB_REACH_PXB)
    return from;
  FabVertexId relay = nearest_gpu (cluster, out_nic);
  gboolean is_better = relay != from
                    && fab_cluster_reach (cluster, relay, out_nic, &path) <= MIN (cluster->gdr, FAB_REACH_PXB)
                    && fab_relay_can (cluster, from, relay);
  return is_better ? relay : from;
}

static gboolean
is_seen (const GArray *seen, FabVertexId vertex)
{
  for (guint i = 0; i < seen->len; i++)
    if (g_array_index (seen, FabVertexId, i) == vertex)
      return TRUE;
  return FALSE;
}

static gboolean
is_on_the_way (FabVertexKind kind)
{
  return kind == FAB_VERTEX_SWITCH || kind == FAB_VERTEX_BRIDGE || kind == FAB_VERTEX_HOST;
}

/* Appends the vertices one link from `vertex` inside its node. */
static void
look_around (const FabGraph *graph, FabVertexId vertex, GArray *seen)
{
  FabLinkId first;
  guint n = fab_graph_out_links (graph, vertex, &first);

  for (FabLinkId link = first; link < first + n; link++) {
    FabVertexId next = fab_graph_link (graph, link)->dst;

    if (fab_graph_vertex (graph, next)->node == fab_graph_vertex (graph, vertex)->node
        && !is_seen (seen, next))
      g_array_append_val (seen, next);
  }
}

/* Visits in the order of distance: a node is small enough to examine all of it. */
gboolean
fab_staging_near (const FabGraph *graph, FabVertexId vertex, FabVertexId *staging)
{
  g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (FabVertexId));
  gboolean has_host = FALSE;

  g_array_append_val (seen, vertex);
  for (guint i = 0; i < seen->len; i++) {
    FabVertexId here = g_array_index (seen, FabVertexId, i);
    FabVertexKind kind = fab_graph_vertex (graph, here)->kind;

    if (kind == FAB_VERTEX_MEMORY || (kind == FAB_VERTEX_HOST && !has_host))
      *staging = here;
    if (kind == FAB_VERTEX_MEMORY)
      return TRUE;
    has_host = has_host || kind == FAB_VERTEX_HOST;
    if (here == vertex || is_on_the_way (kind))
      look_around (graph, here, seen);
  }
  return has_host;
}
