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

static NcclWires
look_at (const FabGraph *graph, const FabFootprint *footprint)
{
  NcclWires wires = { G_MAXDOUBLE, G_MAXDOUBLE, G_MAXDOUBLE };

  for (guint i = 0; i < footprint->n; i++) {
    const FabLink *link = fab_graph_link (graph, footprint->links[i]);
    const FabVertex *src = fab_graph_vertex (graph, link->src), *dst = fab_graph_vertex (graph, link->dst);
    double rate = (double) link->rate_bytes_per_s / footprint->line_weights[i];

    if (src->node != FAB_NO_NODE || dst->node != FAB_NO_NODE)
      wires.node_bytes_per_s = MIN (wires.node_bytes_per_s, rate);
    if (has_every_channel (src, dst))
      wires.every_bytes_per_s = MIN (wires.every_bytes_per_s, rate);
    else
      wires.other_bytes_per_s = MIN (wires.other_bytes_per_s, rate);
  }
  return wires;
}

const NcclWires *
nccl_wires (GHashTable *known, const FabGroup *group, const FabCollectiveForm *form)
{
  NcclWires *wires = g_hash_table_lookup (known, form);

  if (wires == NULL) {
    wires = g_new (NcclWires, 1);
    *wires = look_at (group->cluster->graph, form->footprint);
    g_hash_table_insert (known, (gpointer) form, wires);
  }
  return wires;
}
