/* SPDX-License-Identifier: Apache-2.0 */
/* bisection.h - the bandwidth of a fabric between two halves of its machines.
 *
 * A split divides the nodes into two halves (the smaller half has floor (n / 2)). Its bandwidth is the maximum flow,
 * in one direction, from the NICs of one half to the NICs of the other, over the links outside nodes at line rate.
 * This assumes perfect routing, and that NICs and nodes relay nothing. The bisection is the lowest bandwidth of these
 * splits, taken in the order of nodes: the first half against the second half; and, for every d that divides n / 2,
 * blocks of d nodes that go to the two halves in turn. On a fabric whose places are numbered leaf by leaf (or axis by
 * axis), these splits follow its own structure: every second leaf, half of every pod, half of every axis of a torus.
 */
#pragma once

#include "sim/fabric/graph.h"

typedef struct {
  double injection_bytes_per_s;  /* line rate of all NIC ports of the smaller half, one direction */
  double bisection_bytes_per_s;  /* bandwidth of the worst split */
  double first_half_bytes_per_s; /* bandwidth of the split into first and second half */
  guint worst_block;             /* nodes per block in the worst split; of equal splits, the largest block */
  double oversubscription;       /* injection / bisection; 1: non-blocking; infinite: nothing crosses */
} FabBisection;

/* `nics` is [n_nodes * nics_per_node], as in FabCluster. With fewer than two nodes or without NICs, all bandwidths
 * are zero and the oversubscription is 1. */
FabBisection fab_bisection_of (const FabGraph *graph, const FabVertexId *nics, guint n_nodes,
                               guint nics_per_node);
