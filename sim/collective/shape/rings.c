/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/collective/shape/rings.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/machine/rails.h"
#include "sim/solve/ring_search.h"

/* How rings may pass through a node. */
typedef struct {
  const FabGroup *group;
  guint *counts; /* [gpus_per_node^2] direct links, of more than one GPU; NULL: there are none */
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

/* Of the GPUs that are as near to the NIC as `usual`, the next one with a wire to `first`: a way
 * over all GPUs by direct links ends beside its start more often than elsewhere. None has one: `usual`. */
static guint
wired_end (const Node *node, guint nic, guint first, guint usual, guint hops)
{
  const FabCluster *cluster = node->group->cluster;
  guint n = node->group->gpus_per_node;

  for (guint i = 0; i < n; i++) {
    guint local = (usual + i) % n;

    if (fab_cluster_nic_hops (cluster, local, nic) == hops && node->counts[first * n + local] > 0)
      return local;
  }
  return usual;
}

/* Where a ring enters a node and where it leaves; one GPU is both. */
static FabPackArc
ends_of (const Node *node, guint in_nic, guint out_nic, guint *hops)
{
  const FabGroup *group = node->group;
  guint first = fab_rails_gpu (group, in_nic, G_MAXUINT, hops);

  if (group->gpus_per_node == 1)
    return (FabPackArc){ first, first };
  guint last = fab_rails_gpu (group, out_nic, first, hops);
  return (FabPackArc){ first, node->counts != NULL ? wired_end (node, out_nic, first, last, *hops) : last };
}

/* Ring i comes in by rail i and goes out by rail i + shift. Sum of the hops from the last GPUs to their NICs. */
static guint64
hops_out (const Node *node, const guint *rails, guint n_rails, guint shift)
{
  guint64 sum = 0;

  for (guint i = 0; i < n_rails; i++) {
    guint hops;

    ends_of (node, rails[i], rails[(i + shift) % n_rails], &hops);
    sum += hops;
  }
  return sum;
}

/* The shifts whose ways out are shortest in sum, ascending: 0 alone where two GPUs stand beside every NIC. */
static GArray *
find_shifts (const Node *node, const guint *rails, guint n_rails)
{
  GArray *shifts = g_array_new (FALSE, FALSE, sizeof (guint));
  guint64 fewest = G_MAXUINT64;

  for (guint shift = 0; shift < n_rails; shift++) {
    guint64 hops = hops_out (node, rails, n_rails, shift);

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
    ends[i] = ends_of (node, rails[i], rails[(i + shift) % n_rails], &hops);
  return fab_ring_search_paths (node->counts, group->gpus_per_node, ends, n_rails);
}

/* Paths for the shift that has the best ones; the first of equals. */
static FabRingSet
find_best_paths (const Node *node, const guint *rails, guint n_rails, const GArray *shifts, guint *best_shift)
{
  /* A search takes long in larger nodes, and where there are more paths to find. */
  const guint usual_gpus = 16, usual_steps = 16 * usual_gpus, most_shifts = 2;
  gboolean is_usual = node->group->gpus_per_node <= usual_gpus
                   && n_rails * node->group->gpus_per_node <= usual_steps;
  guint n_shifts = is_usual ? shifts->len : MIN (shifts->len, most_shifts);
  FabRingSet best = { 0 };

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

/* Beside in_nic first, beside out_nic last, and between them along direct links. Without such links, NCCL goes round
 * the node by number (ncclTopoSearchNextGpuSort in its src/graph/search.cc). On 2 x 8 H100 its log says, in node 0:
 * 0 7 6 5 4 3 2 1 for channel 0, and 1 0 7 6 5 4 3 2 for channel 1. Where the ends are no neighbours by number, the
 * others come ascending, because a way round the node would cross to the other socket more often. (transfer full) */
static guint *
pass_by_number (const Node *node, guint in_nic, guint out_nic)
{
  guint n = node->group->gpus_per_node, hops;
  FabPackArc ends = ends_of (node, in_nic, out_nic, &hops);
  guint *order = g_new (guint, n), n_ordered = 0;
  gboolean goes_down = ends.to == (ends.from + 1) % n, goes_up = ends.from == (ends.to + 1) % n;

  if (node->counts != NULL) {
    fab_ring_search_way (node->counts, n, ends, order);
    return order;
  }
  order[n_ordered++] = ends.from;
  for (guint i = 1; i < n; i++) {
    guint next = goes_down ? (ends.from + n - i) % n : (ends.from + i) % n;

    if (!goes_down && !goes_up)
      next = i - (i <= ends.from);
    if (next != ends.to)
      order[n_ordered++] = next;
  }
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

/* --- rings that hold up the others --- */

/* Whether some rings have longer ways between their GPUs and NICs than others. */
static gboolean
are_uneven (const GArray *rings, const Node *node)
{
  guint first_hops = 0;

  for (guint i = 0; i < rings->len; i++) {
    const FabRing *ring = &g_array_index (rings, FabRing, i);
    guint hops;

    ends_of (node, ring->in_nic, ring->out_nic, &hops);
    if (i > 0 && hops != first_hops)
      return TRUE;
    first_hops = hops;
  }
  return FALSE;
}

/* What one ring puts on links in the first two nodes and between them. (transfer full) */
static FabFootprint *
load_of_ring (const FabRings *self, guint ring, FabFootprintBuilder *builder, GError **error)
{
  guint n_stops = 2 * self->group->gpus_per_node;

  for (guint stop = 0; stop < n_stops; stop++) {
    FabHop hop;

    if (!fab_rings_hop (self, ring, stop, &hop, error))
      return NULL;
    fab_hop_use (&hop, 1, 1, builder);
    fab_hop_clear (&hop);
  }
  return fab_footprint_builder_finish (builder);
}

typedef struct {
  const FabGraph *graph;
  GPtrArray *loads;  /* FabFootprint of each ring */
  gboolean *is_kept; /* [rings] */
  guint n_kept;
  double *line_bytes; /* [links] of the rings that are kept, per byte of each */
} Selection;

static void
selection_set (Selection *self, guint ring, gboolean is_kept)
{
  const FabFootprint *load = g_ptr_array_index (self->loads, ring);

  for (guint i = 0; i < load->n; i++)
    self->line_bytes[load->links[i]] += is_kept ? load->line_weights[i] : -load->line_weights[i];
  self->is_kept[ring] = is_kept;
  self->n_kept += is_kept ? 1 : -1U;
}

/* Returns the time of a byte that all kept rings share, in seconds, and the link that sets it. */
static double
selection_s_per_byte (const Selection *self, FabLinkId *slowest)
{
  double most = 0;

  for (FabLinkId link = 0; link < fab_graph_n_links (self->graph); link++) {
    double seconds = self->line_bytes[link] / (double) fab_graph_link (self->graph, link)->rate_bytes_per_s;

    if (seconds > most) {
      most = seconds;
      *slowest = link;
    }
  }
  return most / self->n_kept;
}

/* The last kept ring that puts most on a link. */
static guint
heaviest_ring (const Selection *self, FabLinkId link)
{
  guint heaviest = 0;
  double most = 0;

  for (guint ring = 0; ring < self->loads->len; ring++) {
    const FabFootprint *load = g_ptr_array_index (self->loads, ring);

    for (guint i = 0; self->is_kept[ring] && i < load->n; i++)
      if (load->links[i] == link && load->line_weights[i] >= most) {
        most = load->line_weights[i];
        heaviest = ring;
      }
  }
  return heaviest;
}

/* Leaves out rings over the slowest link one by one, and returns how many the fastest selection has. It is what remains
 * when the first ones of `dropped` are left out. */
static guint
find_fastest (Selection *self, guint *dropped)
{
  guint n = self->loads->len, n_best = 0;
  FabLinkId slowest = 0;
  double best_s = selection_s_per_byte (self, &slowest);

  for (guint n_dropped = 1; n_dropped < n; n_dropped++) {
    dropped[n_dropped - 1] = heaviest_ring (self, slowest);
    selection_set (self, dropped[n_dropped - 1], FALSE);
    double seconds = selection_s_per_byte (self, &slowest);
    if (seconds >= best_s * (1 - 1e-9))
      continue;
    best_s = seconds;
    n_best = n_dropped;
  }
  return n_best;
}

static gint
compare_descending (gconstpointer a, gconstpointer b)
{
  return *(const guint *) a < *(const guint *) b ? 1 : -1;
}

/* NCCL's search takes as many channels at such a speed that their product is largest (src/graph/search.cc), so that it
 * leaves out a NIC whose ring would slow all the others down. Behind switches, rings that all have the same ways are
 * kept without a look. Of groups of one shape. */
static gboolean
drop_slow_rings (FabRings *self, const Node *node, GError **error)
{
  const FabGraph *graph = self->group->cluster->graph;
  GArray *rings = self->shapes[0];
  guint n = rings->len;

  if (n < 2 || (node->counts == NULL && !are_uneven (rings, node)))
    return TRUE;
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (graph);
  g_autoptr (GPtrArray) loads = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_footprint_free);
  g_autofree gboolean *is_kept = g_new0 (gboolean, n);
  g_autofree guint *dropped = g_new (guint, n);
  g_autofree double *line_bytes = g_new0 (double, fab_graph_n_links (graph));
  Selection selection = { graph, loads, is_kept, 0, line_bytes };
  for (guint ring = 0; ring < n; ring++) {
    FabFootprint *load = load_of_ring (self, ring, builder, error);

    if (load == NULL)
      return FALSE;
    g_ptr_array_add (loads, load);
    selection_set (&selection, ring, TRUE);
  }
  guint n_dropped = find_fastest (&selection, dropped);
  qsort (dropped, n_dropped, sizeof (guint), compare_descending);
  for (guint i = 0; i < n_dropped; i++)
    g_array_remove_index (rings, dropped[i]);
  return TRUE;
}

static guint
count_rails (const GArray *rings)
{
  guint n_rails = 0;

  for (guint i = 0; i < rings->len; i++) {
    gboolean is_new = TRUE;

    for (guint k = 0; k < i && is_new; k++)
      is_new = g_array_index (rings, FabRing, k).in_nic != g_array_index (rings, FabRing, i).in_nic;
    n_rails += is_new;
  }
  return n_rails;
}

static gboolean
find_over_nodes (Found *self, const Node *node, guint n_nodes, gboolean is_even, GError **error)
{
  const FabGroup *group = self->group;
  guint n_rails;
  g_autofree guint *rails = fab_rails_list (group, &n_rails);
  g_autoptr (GArray) shifts = find_shifts (node, rails, n_rails);

  if (n_rails == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "%u nodes cannot reach each other, because the node has no NIC",
                      n_nodes);
  guint shift = g_array_index (shifts, guint, 0);
  FabRingSet set = { 0 };
  if (is_even && node->counts != NULL)
    set = find_best_paths (node, rails, n_rails, shifts, &shift);
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
  Found found = { .group = &group, .rings = g_array_new (FALSE, FALSE, sizeof (FabRing)) };
  gboolean is_over = self->group->n_nodes > 1, is_even = fab_group_n_shapes (self->group) == 1;

  g_array_set_clear_func (found.rings, ring_clear);
  self->shapes[self->n_shapes++] = found.rings;
  if (is_over
      && (!find_over_nodes (&found, &node, self->group->n_nodes, is_even, error)
          || (is_even && !drop_slow_rings (self, &node, error))))
    return FALSE;
  if (is_over)
    found.n_channels = count_rails (found.rings);
  else
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

gboolean
fab_rings_are_wired (const FabGroup *group)
{
  return group->gpus_per_node > 1 && has_direct_link (group, 0);
}

const guint *
fab_rings_order_from (const FabRings *self, guint shape, guint nic, guint nth)
{
  const GArray *rings = self->shapes[shape];
  guint n = 0;

  for (guint i = 0; i < rings->len; i++)
    n += g_array_index (rings, FabRing, i).in_nic == nic;
  for (guint i = 0, k = nth % MAX (n, 1); i < rings->len; i++)
    if (g_array_index (rings, FabRing, i).in_nic == nic && k-- == 0)
      return g_array_index (rings, FabRing, i).orders[0];
  return NULL;
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

  if (group->n_nodes == 1)
    return fab_hop_inside (group->cluster, from, to, hop, error);
  if (node == next_node)
    return fab_hop_inside_or_over (group, node, local_at (self, ring, node, index),
                                   local_at (self, ring, next_node, next_index), hop, error);
  const FabRing *here = ring_in (self, ring, node), *there = ring_in (self, ring, next_node);
  guint out_nic = node % 2 == 0 ? here->out_nic : here->in_nic;
  guint in_nic = next_node % 2 == 0 ? there->in_nic : there->out_nic;
  return fab_hop_over (group->cluster, from, fab_group_nic (group, node, out_nic),
                       fab_group_nic (group, next_node, in_nic), to, out_nic, hop, error);
}
