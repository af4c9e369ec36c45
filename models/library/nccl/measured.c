/* SPDX-License-Identifier: Apache-2.0 */
/* measured.c - bus bandwidths that a user has measured on the cluster, in place of what its links allow.
 *
 *   measured: [{op: all_reduce, nodes: 2, busbw: 361.7GB/s}, {op: all_reduce, nodes: 4, busbw: 160.1GB/s}]
 *
 * For an operation between nodes that has rows, the rate in bytes of size is busbw / factor (nccl-tests); the startup
 * is counted as without a measurement. Between the numbers of nodes of two rows busbw is a power of the number of
 * nodes: a straight line where both axes are logarithmic. Outside of the rows it is that of the nearest row.
 *
 * A measurement is of all GPUs of every node in one group. A group with g of the G GPUs of each node has the busbw x
 * g / G, because G / g such groups run side by side and share the adapters of a node. A measurement never makes links
 * faster than they are, because the footprint still limits the stream.
 */
#include <math.h>

#include "models/library/nccl/parts.h"

const FabParam nccl_measured_params[] = {
  { .key = "op",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (NcclMeasured, op),
    .choices = fab_op_names,
    .help = "Operation that was measured." },
  { .key = "nodes",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (NcclMeasured, nodes),
    .min = 2,
    .max = 1e6,
    .help = "Nodes in the measurement, each with all of its GPUs." },
  { .key = "busbw",
    .type = FAB_PARAM_RATE,
    .offset = G_STRUCT_OFFSET (NcclMeasured, busbw_bytes_per_s),
    .help = "Bus bandwidth at large sizes, as nccl-tests defines it." },
  { .key = NULL },
};

/* The row with the most nodes up to `n_nodes`, or with the fewest from there on; NULL: there is none. */
static const NcclMeasured *
nearest (const FabParamList *rows, FabOp op, guint n_nodes, gboolean is_below)
{
  const NcclMeasured *all = rows->data, *best = NULL;

  for (guint i = 0; i < rows->n; i++) {
    gboolean is_there = is_below ? all[i].nodes <= n_nodes : all[i].nodes >= n_nodes;
    gboolean is_nearer = best == NULL || (is_below ? all[i].nodes > best->nodes : all[i].nodes < best->nodes);

    if ((FabOp) all[i].op == op && is_there && is_nearer)
      best = &all[i];
  }
  return best;
}

double
nccl_measured_bytes_per_s (const FabParamList *rows, const FabGroup *group, FabOp op)
{
  const NcclMeasured *below = nearest (rows, op, group->n_nodes, TRUE),
                     *above = nearest (rows, op, group->n_nodes, FALSE);
  double share = (double) group->gpus_per_node / group->cluster->gpus_per_node, busbw;

  if (group->n_nodes < 2 || (below == NULL && above == NULL))
    return 0;
  below = below ? below : above;
  above = above ? above : below;
  busbw = (double) below->busbw_bytes_per_s;
  if (above->nodes > below->nodes)
    busbw *= pow ((double) above->busbw_bytes_per_s / busbw,
                  log ((double) group->n_nodes / (double) below->nodes)
                      / log ((double) above->nodes / (double) below->nodes));
  return busbw * share / fab_op_bus_factor (op, fab_group_n_ranks (group));
}
