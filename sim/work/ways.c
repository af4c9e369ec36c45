/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/work/ways.h"

#include "sim/work/rails.h"
#include "sim/work/relay.h"

static void
deal_nics (FabWays *self)
{
  const FabGroup *group = self->group;
  g_autofree guint *rails = fab_rails_list (group, &self->n_nics);

  for (guint i = 0; i < self->n_nics; i++) {
    guint hops, local = fab_rails_gpu (group, rails[i], G_MAXUINT, &hops);

    g_array_append_val (self->lists[local], rails[i]);
  }
  for (guint local = 0; local < group->gpus_per_node; local++) {
    guint nearest = self->lists[local]->len > 0 ? G_MAXUINT : fab_cluster_nic_of (group->cluster, local);

    if (nearest != G_MAXUINT)
      g_array_append_val (self->lists[local], nearest);
  }
}

FabWays *
fab_ways_new (const FabGroup *group)
{
  FabWays *self = g_new0 (FabWays, 1);

  self->group = group;
  self->lists = g_new (GArray *, group->gpus_per_node);
  for (guint local = 0; local < group->gpus_per_node; local++)
    self->lists[local] = g_array_new (FALSE, FALSE, sizeof (guint));
  if (group->n_nodes > 1)
    deal_nics (self);
  return self;
}

void
fab_ways_free (FabWays *self)
{
  if (self == NULL)
    return;
  for (guint local = 0; local < self->group->gpus_per_node; local++)
    g_array_unref (self->lists[local]);
  g_free (self->lists);
  g_free (self);
}

GArray *
fab_ways_hops (void)
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

/* One NIC of the sender, one of the receiver. The GPU beside the latter has its number in the sender's node. */
static gboolean
find_hop (const FabWays *self, guint from, guint to, guint out_nic, guint in_nic, FabHop *hop, GError **error)
{
  const FabGroup *group = self->group;
  guint n = group->gpus_per_node;
  FabVertexId src = fab_group_gpu (group, from / n, from % n), dst = fab_group_gpu (group, to / n, to % n);
  FabVertexId relay = fab_group_gpu (group, from / n, to % n);
  gboolean is_relayed = out_nic != in_nic && relay != src && fab_relay_can (group->cluster, src, relay);
  guint leaves = is_relayed ? in_nic : out_nic;
  FabHop first;

  if (!fab_hop_over (group->cluster, is_relayed ? relay : src, fab_group_nic (group, from / n, leaves),
                     fab_group_nic (group, to / n, in_nic), dst, from, hop, error))
    return FALSE;
  if (!is_relayed)
    return TRUE;
  if (!fab_hop_wire (group->cluster, src, relay, FAB_DRIVE_COPY, &first, error)) {
    fab_hop_clear (hop);
    return FALSE;
  }
  hop_prepend (hop, &first);
  return TRUE;
}

gboolean
fab_ways_between (const FabWays *self, guint from, guint to, GArray *hops, GError **error)
{
  guint n = self->group->gpus_per_node, before = hops->len;
  const GArray *out = self->lists[from % n], *in = self->lists[to % n];
  guint n_ways = MAX (out->len, in->len);
  FabHop hop;

  if (from / n == to / n || out->len * in->len <= 1) {
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
