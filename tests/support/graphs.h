/* SPDX-License-Identifier: Apache-2.0 */
/* graphs.h - small graphs from text: a letter for each vertex, and the pairs that are joined.
 *
 * Vertices have the numbers of their letters: a accelerator, s switch, n NIC, h host, b bridge, m memory, d drive. A
 * digit before a letter begins the node of that number, which is 0 at first, and a minus the fabric outside of all
 * nodes: "0asn1asn-s" is two nodes of an accelerator, a switch and a NIC each, and a switch between them, which has
 * number 6. Each link takes 10 ps, and copies cost 1.25 times their bytes.
 */
#pragma once

#include "sim/fabric/graph.h"

typedef struct {
  guint a, b;
  FabBytesPerS rate_bytes_per_s; /* of one link */
  guint count;                   /* parallel links; 0: one */
} GraphJoin;

/* `joins` ends with a rate of 0. (transfer full) */
FabGraph *graph_of (const char *vertices, const GraphJoin *joins);

/* Links of a technology, at a rate of 8 bytes per s each. */
typedef struct {
  guint a, b;
  const FabTechnology *technology;
  guint count; /* parallel links */
} GraphWire;

/* `wires` ends with no technology. (transfer full) */
FabGraph *graph_of_wires (const char *vertices, const GraphWire *wires);
