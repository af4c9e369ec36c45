/* SPDX-License-Identifier: Apache-2.0 */
/* net_text.h - a graph and messages over it, as peers/ns3.cpp reads them. */
#pragma once

#include "sim/fabric/router.h"

typedef struct {
  FabVertexId src, dst;
  FabBytes bytes;
  guint64 flow_hash; /* for a router that hashes */
} NetMessage;

/* Every message takes the router's path, paced at `pace` of its first link's rate. (transfer full) */
char *net_text (const FabGraph *graph, FabRouter *router, const NetMessage *messages, guint n_messages,
                double pace);
