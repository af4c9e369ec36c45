/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/rings.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/machine/nic_paths.h"
#include "sim/solve/ring_search.h"

/* How rings may pass through a node. */
typedef struct {
  const FabGroup *group;
  guint *counts; /* [gpus_per_node^2] direct links; NULL: there are none */
} Node;

/* --- wires between accelerators --- */

/* Links of a GPU straight into another, where the two may use them. */
static guint
count_links (const FabGroup *group, guint from, guint to)
{
  const FabGraph *graph = group->cluster->graph;
  FabVertexId src = fab_group_gpu (group, 0, from), dst = fab_group_gpu (group, 0, to);
  FabLinkId first;
  guint n_out = fab_graph_out_links (graph, src, &first), n_links = 0;
  FabHop hop;

  for (FabLinkId link = first; link < first + n_out; link++)
    if (fab_graph_link (graph, link)->dst == dst)
      n_links += fab_graph_link (graph, link)->count;
  if (n_links == 0 || !fab_hop_inside (group->cluster, src, dst, &hop, NULL))
    return 0;
  fab_hop_clear (&hop);
  return hop.kind == FAB_HOP_DIRECT ? n_links : 0;
}

static gboolean
has_direct_link (const FabGroup *group, guint from)
{
  const FabGraph *graph = group->cluster->graph;
  FabLinkId first;
  guint n_out = fab_graph_out_links (graph, fab_group_gpu (group, 0, from), &first);

  for (FabLinkId link = first; link < first + n_out; link++)
    if (fab_graph_vertex (graph, fab_graph_link (graph, link)->dst)->kind == FAB_VERTEX_ACCELERATOR)
      return TRUE;
  return FALSE;
}

/* (transfer full); NULL: behind switches all orders are alike. */
static guint *
count_all_links (const FabGroup *group)
{
  guint n = group->gpus_per_node, n_links = 0;
  g_autofree guint *counts = NULL;

  for (guint from = 0; from < n; from++) {
    if (!has_direct_link (group, from))
      continue;
    if (counts == NULL)
      counts = g_new0 (guint, n * n);
    for (guint to = 0; to < n; to++)
      if (to != from)
        n_links += counts[from * n + to] = count_links (group, from, to);
  }
  return n_links > 0 ? g_steal_pointer (&counts) : NULL;
}

/* --- one node --- */

/* The rings of one shape while they are found. */
typedef struct {
  const FabGroup *group;
  GArray *rings; /* FabRing */
  guint n_channels;
} Found;

static void
add_ring (Found *self, guint in_nic, guint out_nic, const guint *even, const guint *odd)
{
  gsize size = self->group->gpus_per_node * sizeof (guint);
  FabRing ring = { in_nic, out_nic, { g_memdup2 (even, size), g_memdup2 (odd, size) } };

  g_array_append_val (self->rings, ring);
}

static void
find_in_node (Found *self, const Node *node)
{
  guint n = self->group->gpus_per_node;
  FabRingSet set = node->counts ? fab_ring_search_cycles (node->counts, n) : (FabRingSet){ 0, 1, NULL };
  g_autofree guint *order = g_new (guint, n);

  for (guint i = 0; i < set.n_orders; i++)
    add_ring (self, 0, 0, set.orders + i * n, set.orders + i * n);
  self->n_channels = MAX (set.n_orders / set.load, 1);
  for (guint i = 0; i < n; i++)
    order[i] = i;
  if (set.n_orders == 0 && node->counts)
    fab_ring_search_order (node->counts, n, order);
  if (set.n_orders == 0)
    add_ring (self, 0, 0, order, order);
  fab_ring_set_clear (&set);
}

/* --- several nodes --- */

/* Where a ring enters a node and where it leaves; one GPU is both. */
static FabPackArc
ends_of (const FabGroup *group, guint in_nic, guint out_nic, guint *hops)
{
  guint first = fab_rails_gpu (group, in_nic, G_MAXUINT, hops);

  return (FabPackArc){ first,
                       group->gpus_per_node > 1 ? fab_rails_gpu (group, out_nic, first, hops) : first };
}

/* Ring i comes in by rail i and goes out by rail i + shift. Sum of the hops from the last GPUs to their NICs. */
static guint64
hops_out (const FabGroup *group, const guint *rails, guint n_rails, guint shift)
{
  guint64 sum = 0;

  for (guint i = 0; i < n_rails; i++) {
    guint hops;

    ends_of (group, rails[i], rails[(i + shift) % n_rails], &hops);
    sum += hops;
  }
  return sum;
}

/* The shifts whose ways out are shortest in sum, ascending: 0 alone where two GPUs stand beside every NIC. */
static GArray *
find_shifts (const FabGroup *group, const guint *rails, guint n_rails)
{
  GArray *shifts = g_array_new (FALSE, FALSE, sizeof (guint));
  guint64 fewest = G_MAXUINT64;

  for (guint shift = 0; shift < n_rails; shift++) {
    guint64 hops = hops_out (group, rails, n_rails, shift);

    if (hops < fewest)
      g_array_set_size (shifts, 0);
    fewest = MIN (fewest, hops);
    if (hops == fewest)
      g_array_append_val (shifts, shift);
  }
  return shifts;
}

static FabRingSet
find_paths (const Node *node, const guint *rails, guint n_rails, guint shift)
{
  const FabGroup *group = node->group;
  g_autofree FabPackArc *ends = g_new (FabPackArc, n_rails);
  guint hops;

  for (guint i = 0; i < n_rails; i++)
    ends[i] = ends_of (group, rails[i], rails[(i + shift) % n_rails], &hops);
  return fab_ring_search_paths (node->counts, group->gpus_per_node, ends, n_rails);
}

/* Paths for the shift that has the best ones; the first of equals. */
static FabRingSet
find_best_paths (const Node *node, const guint *rails, guint n_rails, const GArray *shifts, guint *best_shift)
{
  const guint usual_gpus = 16, most_shifts = 2; /* a search takes long in larger nodes */
  guint n_shifts = node->group->gpus_per_node > usual_gpus ? MIN (shifts->len, most_shifts) : shifts->len;
  FabRingSet best = { 0, 1, NULL };

  for (guint i = 0; i < n_shifts && (best.n_orders == 0 || best.load > 1); i++) {
    guint shift = g_array_index (shifts, guint, i);
    FabRingSet found = find_paths (node, rails, n_rails, shift);

    if (fab_ring_set_is_better (&found, &best)) {
      fab_ring_set_clear (&best);
      best = found;
      *best_shift = shift;
    } else {
      fab_ring_set_clear (&found);
    }
  }
  return best;
}

/* Back by the same way on odd nodes, so that a hop between nodes stays on its rail. */
static void
add_paths (Found *self, const FabRingSet *set, const guint *rails, guint n_rails, guint shift)
{
  guint n = self->group->gpus_per_node, copies = set->n_orders / n_rails;
  g_autofree guint *back = g_new (guint, n);

  for (guint i = 0; i < set->n_orders; i++) {
    guint rail = i / copies;
    const guint *order = set->orders + i * n;

    for (guint k = 0; k < n; k++)
      back[k] = order[n - 1 - k];
    add_ring (self, rails[rail], rails[(rail + shift) % n_rails], order, shift == 0 ? order : back);
  }
}

/* Beside in_nic first, beside out_nic last, between them ascending or along direct links. (transfer full) */
static guint *
pass_by_number (const Node *node, guint in_nic, guint out_nic)
{
  guint n = node->group->gpus_per_node, hops;
  FabPackArc ends = ends_of (node->group, in_nic, out_nic, &hops);
  guint *order = g_new (guint, n), n_ordered = 0;

  if (node->counts && n > 1) {
    fab_ring_search_way (node->counts, n, ends, order);
    return order;
  }
  order[n_ordered++] = ends.from;
  for (guint i = 0; i < n; i++)
    if (i != ends.from && i != ends.to)
      order[n_ordered++] = i;
  if (n > 1)
    order[n_ordered] = ends.to;
  return order;
}

static void
add_passages (Found *self, const Node *node, const guint *rails, guint n_rails, guint shift)
{
  for (guint i = 0; i < n_rails; i++) {
    guint in_nic = rails[i], out_nic = rails[(i + shift) % n_rails];
    g_autofree guint *even = pass_by_number (node, in_nic, out_nic);
    g_autofree guint *odd = pass_by_number (node, out_nic, in_nic);

    add_ring (self, in_nic, out_nic, even, odd);
  }
}

static gboolean
find_over_nodes (Found *self, const Node *node, guint n_nodes, gboolean is_even, GError **error)
{
  const FabGroup *group = self->group;
  guint n_rails;
  g_autofree guint *rails = fab_rails_list (group, &n_rails);
  g_autoptr (GArray) shifts = find_shifts (group, rails, n_rails);

  if (n_rails == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%u nodes cannot talk: the node has no NIC", n_nodes);
  guint shift = g_array_index (shifts, guint, 0);
  FabRingSet set = { 0, 1, NULL };
  if (is_even && node->counts && group->gpus_per_node > 1)
    set = find_best_paths (node, rails, n_rails, shifts, &shift);
  self->n_channels = n_rails;
  if (set.n_orders > 0)
    add_paths (self, &set, rails, n_rails, shift);
  else
    add_passages (self, node, rails, n_rails, shift);
  fab_ring_set_clear (&set);
  return TRUE;
}

/* --- all --- */

static void
ring_clear (gpointer data)
{
  FabRing *ring = data;

  g_free (ring->orders[0]);
  g_free (ring->orders[1]);
}

void
fab_rings_clear (FabRings *self)
{
  for (guint shape = 0; shape < self->n_shapes; shape++)
    g_array_unref (self->shapes[shape]);
  g_clear_pointer (&self->shapes, g_free);
  self->n_shapes = 0;
}

static gboolean
find_in_shape (FabRings *self, guint shape, GError **error)
{
  FabGroup group = fab_group_of_shape (self->group, shape);
  g_autofree guint *counts = count_all_links (&group);
  Node node = { &group, counts };
  Found found = { &group, g_array_new (FALSE, FALSE, sizeof (FabRing)), 1 };
  gboolean is_over = self->group->n_nodes > 1;

  g_array_set_clear_func (found.rings, ring_clear);
  self->shapes[self->n_shapes++] = found.rings;
  if (is_over
      && !find_over_nodes (&found, &node, self->group->n_nodes, fab_group_n_shapes (self->group) == 1, error))
    return FALSE;
  if (!is_over)
    find_in_node (&found, &node);
  self->n_rings = shape == 0 ? found.rings->len : MIN (self->n_rings, found.rings->len);
  self->n_channels = shape == 0 ? found.n_channels : MIN (self->n_channels, found.n_channels);
  return TRUE;
}

gboolean
fab_rings_find (const FabGroup *group, FabRings *rings, GError **error)
{
  guint n_shapes = fab_group_n_shapes (group);

  *rings = (FabRings){ .group = group, .shapes = g_new0 (GArray *, n_shapes) };
  for (guint shape = 0; shape < n_shapes; shape++)
    if (!find_in_shape (rings, shape, error))
      return FALSE;
  return TRUE;
}

static const FabRing *
ring_in (const FabRings *self, guint ring, guint node)
{
  return &g_array_index (self->shapes[fab_group_shape (self->group, node)], FabRing, ring);
}

static guint
local_at (const FabRings *self, guint ring, guint node, guint index)
{
  return ring_in (self, ring, node)->orders[node % 2][index];
}

guint
fab_rings_root (const FabRings *self, guint ring)
{
  guint stop = 0;

  while (local_at (self, ring, 0, stop) != 0)
    stop++;
  return stop;
}

gboolean
fab_rings_hop (const FabRings *self, guint ring, guint stop, FabHop *hop, GError **error)
{
  const FabGroup *group = self->group;
  guint n_ranks = fab_group_n_ranks (group), index, next_index;
  guint node = fab_group_node_of (group, stop % n_ranks, &index),
        next_node = fab_group_node_of (group, (stop + 1) % n_ranks, &next_index);
  FabVertexId from = fab_group_gpu (group, node, local_at (self, ring, node, index));
  FabVertexId to = fab_group_gpu (group, next_node, local_at (self, ring, next_node, next_index));

  if (group->n_nodes == 1 || (next_index > 0 && node == next_node))
    return fab_hop_inside (group->cluster, from, to, hop, error);
  const FabRing *here = ring_in (self, ring, node), *there = ring_in (self, ring, next_node);
  guint out_nic = node % 2 == 0 ? here->out_nic : here->in_nic;
  guint in_nic = next_node % 2 == 0 ? there->in_nic : there->out_nic;
  return fab_hop_over (group->cluster, from, fab_group_nic (group, node, out_nic),
                       fab_group_nic (group, next_node, in_nic), to, out_nic, hop, error);
}
