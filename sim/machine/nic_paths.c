/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/machine/nic_paths.h"

#include "sim/machine/rails.h"

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
  FabVertexId relay = fab_rails_are_same (group->cluster, out_nic, in_nic)
                        ? src
                        : fab_relay_towards (group, from, to, in_nic, &out_nic);
  FabHop first;

  if (!fab_hop_over (group->cluster, relay, fab_group_nic (group, from_node, out_nic),
                     fab_group_nic (group, to_node, in_nic), dst, from, hop, error)
      || (relay != src && !fab_hop_wire (group->cluster, src, relay, FAB_DRIVE_COPY, &first, error))) {
    fab_hop_clear (hop);
    return FALSE;
  }
  if (relay != src)
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
  guint from_local, to_local;
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

    if (!find_hop (self, from, to, out_nic, in_nic, &hop, error))
      return FALSE;
    g_array_append_val (hops, hop);
  }
  return TRUE;
}
