/* SPDX-License-Identifier: Apache-2.0 */
/* flow_path.h - the way of a message from one rank to another without a collective library, at the cost of an RDMA
 * write: inside a node by the links of the GPUs, between nodes by the NIC that is nearest to each of the two GPUs.
 */
#pragma once

#include "sim/collective/collective.h"

typedef struct {
  const FabCluster *cluster;
  FabHop hop;
  FabFootprint *footprint; /* of the hop, per byte of a message */
} FabFlowPath;

/* Finds the way. A router that spreads flows over several paths takes `flow` as the flow's hash. `builder` is of the
 * cluster's graph, and empty. NULL and *error where no path leads there. (transfer full) */
FabFlowPath *fab_flow_path_new (const FabCluster *cluster, guint from, guint to, guint64 flow,
                                FabFootprintBuilder *builder, GError **error);
void fab_flow_path_free (FabFlowPath *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabFlowPath, fab_flow_path_free)

/* The plan of one message, as a send_recv of two ranks. It points to the way. */
FabCollectivePlan fab_flow_path_plan (const FabFlowPath *self, FabBytes bytes);
