/* SPDX-License-Identifier: Apache-2.0 */
/* wires.c - the rates that the links of a form allow. They are found once for each form, because a job has a plan for
 * every bucket. */
#include "models/library/nccl/parts.h"

/* Accelerators are joined to switches of their node only, or of the domain that several nodes share. Such a switch
 * belongs to no node. */
static gboolean
has_every_channel (const FabVertex *src, const FabVertex *dst)
{
  return (src->kind == FAB_VERTEX_ACCELERATOR && dst->kind == FAB_VERTEX_SWITCH)
      || (dst->kind == FAB_VERTEX_ACCELERATOR && src->kind == FAB_VERTEX_SWITCH);
}

/* Adds a link whose rate is shared by `n_rails` rails. Where there are more kinds than the table holds, the last one
 * stands for all that do not fit: it has the fewest rails of them, which makes the others slower than they are. */
static void
share (NcclWires *self, guint n_rails, double bytes_per_s)
{
  guint i = 0;

  while (i < self->n_shared && self->shared[i].n_rails != n_rails)
    i++;
  if (i == NCCL_MOST_SHARED_WIRES) {
    i--;
    self->shared[i].n_rails = MIN (self->shared[i].n_rails, n_rails);
  } else if (i == self->n_shared) {
    self->shared[self->n_shared++] = (NcclSharedWires){ n_rails, bytes_per_s };
  }
  self->shared[i].bytes_per_s = MIN (self->shared[i].bytes_per_s, bytes_per_s);
}

/* What other ports of the NIC carry that link `i` leaves, where it uses its ports together. */
static double
weight_of_others (const FabCluster *cluster, const FabFootprint *footprint, guint i)
{
  const FabGraph *graph = cluster->graph;
  FabVertexId nic = fab_graph_link (graph, footprint->links[i])->src;
  double sum = 0;
  guint at = i;

  if (cluster->nic_ports <= 1
      || fab_graph_vertex (graph, fab_graph_link (graph, footprint->links[i])->dst)->node != FAB_NO_NODE)
    return 0;
  while (at > 0 && fab_graph_link (graph, footprint->links[at - 1])->src == nic)
    at--;
  for (; at < footprint->n && fab_graph_link (graph, footprint->links[at])->src == nic; at++)
    if (at != i
        && fab_graph_vertex (graph, fab_graph_link (graph, footprint->links[at])->dst)->node == FAB_NO_NODE)
      sum += footprint->weights[at];
  return sum;
}

/* What one rail puts on a NIC, which it has for itself: the least that any NIC sends. Links are in the order of their
 * sources. */
static double
weight_of_rail (const FabCluster *cluster, const FabFootprint *footprint)
{
  const FabGraph *graph = cluster->graph;
  double least = G_MAXDOUBLE;

  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (graph, footprint->links[i]);

    if (fab_graph_vertex (graph, link->src)->kind == FAB_VERTEX_NIC)
      least = MIN (least, footprint->weights[i] + weight_of_others (cluster, footprint, i));
  }
  return least;
}

/* Nodes are alike, so that one with all of its ranks stands for all. */
static double
pair_bytes_per_s (const FabGroup *group)
{
  guint n = fab_group_n_locals (group, 0);
  double least = G_MAXDOUBLE;

  for (guint to = 1; to < n; to++) {
    FabPath path = { 0 };

    fab_router_append (group->cluster->router, fab_group_gpu (group, 0, 0), fab_group_gpu (group, 0, to), 0,
                       &path);
    for (guint i = 0; i < path.n; i++)
      least = MIN (least, (double) fab_graph_link (group->cluster->graph, path.links[i])->rate_bytes_per_s);
  }
  return least < G_MAXDOUBLE ? least : 0;
}

/* The rate that NCCL counts for a link inside a node: what it carries for kernels. NCCL does not know what host memory
 * costs. */
static double
counted_bytes_per_s (const FabGraph *graph, const FabCollectiveForm *form, guint i)
{
  const FabFootprint *footprint = form->footprint;
  FabLinkId id = footprint->links[i];
  double rate = (double) fab_graph_link (graph, id)->rate_bytes_per_s;

  return form->intra_kind == FAB_HOP_STAGED
           ? rate / footprint->weights[i] / fab_graph_link_class (graph, id)->cost[FAB_DRIVE_KERNEL]
           : rate / footprint->line_weights[i];
}

/* How much longer than its own line takes a link of an accelerator is busy through host memory, where bytes go both
 * ways. */
static double
device_stretch (const FabCluster *cluster, const FabFootprint *footprint, guint i)
{
  const FabLink *link = fab_graph_link (cluster->graph, footprint->links[i]);
  const FabProcessor *processor = cluster->processor;
  double usual = fab_slowdown_stretch (&processor->staged_kernel)
               * fab_slowdown_stretch (&processor->staged_both_ways);

  if (fab_graph_vertex (cluster->graph, link->src)->kind != FAB_VERTEX_ACCELERATOR)
    return 1;
  return footprint->line_weights[i] / footprint->weights[i]
       / fab_graph_link_class (cluster->graph, footprint->links[i])->cost[FAB_DRIVE_KERNEL] / usual;
}

static NcclWires
look_at (const FabCluster *cluster, const FabCollectiveForm *form)
{
  const FabGraph *graph = cluster->graph;
  const FabFootprint *footprint = form->footprint;
  NcclWires wires = { .device_stretch = 1,
                      .node_bytes_per_s = G_MAXDOUBLE,
                      .every_bytes_per_s = G_MAXDOUBLE };
  double rail = weight_of_rail (cluster, footprint);

  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (graph, footprint->links[i]);
    const FabVertex *src = fab_graph_vertex (graph, link->src), *dst = fab_graph_vertex (graph, link->dst);
    double rate = (double) link->rate_bytes_per_s / footprint->line_weights[i];

    if (src->kind == FAB_VERTEX_NIC && (dst->node == FAB_NO_NODE || dst->kind == FAB_VERTEX_NIC))
      wires.port = fab_graph_link_class (graph, footprint->links[i]);
    if (src->node != FAB_NO_NODE || dst->node != FAB_NO_NODE)
      wires.node_bytes_per_s = MIN (wires.node_bytes_per_s, counted_bytes_per_s (graph, form, i));
    wires.device_stretch = MAX (wires.device_stretch, device_stretch (cluster, footprint, i));
    if (has_every_channel (src, dst))
      wires.every_bytes_per_s = MIN (wires.every_bytes_per_s, rate);
    else
      share (&wires, MAX ((guint) (footprint->weights[i] / rail + 0.5), 1), rate);
  }
  return wires;
}

const NcclWires *
nccl_wires (GHashTable *known, const FabGroup *group, const FabCollectiveForm *form)
{
  NcclWires *wires = g_hash_table_lookup (known, form);

  if (wires == NULL) {
    wires = g_new (NcclWires, 1);
    *wires = look_at (group->cluster, form);
    wires->pair_bytes_per_s = pair_bytes_per_s (group);
    g_hash_table_insert (known, (gpointer) form, wires);
  }
  return wires;
}
