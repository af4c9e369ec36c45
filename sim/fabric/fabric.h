/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.h - how the NICs of all nodes are joined: the interface; the fabrics are in models/fabric. */
#pragma once

#include "sim/base/param.h"
#include "sim/fabric/graph.h"

typedef struct {
  FabGraphBuilder *builder;
  guint n_nodes, nics_per_node;
  const FabVertexId *nics; /* [n_nodes * nics_per_node] */
  FabLinkForm port;        /* one link of the kind that the NICs have, count 1 */
} FabFabricEnv;

typedef struct {
  FabModelInfo info;
  /* Adds switches and joins every NIC to them. Called only when there are NICs. */
  gboolean (*build) (const FabFabricEnv *env, gconstpointer params, GError **error);
} FabFabricOps;
