/* SPDX-License-Identifier: Apache-2.0 */
/* bisection.h - what a fabric carries between two halves of its machines.
 *
 * A split halves the nodes (the smaller half has floor (n / 2)). Its bandwidth is the maximum flow, one direction,
 * from the NICs of one half to those of the other, over the links outside nodes at line rate: routing is taken to be
 * perfect, and NICs and nodes relay nothing. The bisection is that of the worst of these splits, in the order of
 * nodes: the first half against the second; and for every d that divides n / 2, blocks of d nodes that fall to the
 * halves in turn. On a fabric whose places are numbered leaf by leaf (or axis by axis) these are the splits along
 * its own structure: every second leaf, half of every pod, half of every axis of a torus.
 */
#pragma once

#include "sim/fabric/graph.h"

typedef struct {
  double injection_bytes_per_s;  /* line rate of all ports of the smaller half's NICs, one direction */
  double bisection_bytes_per_s;  /* of the worst split */
  double first_half_bytes_per_s; /* of the split into first and second half */
  guint worst_block;             /* nodes of a block in the worst split; the largest of equals */
  double oversubscription;       /* injection / bisection; 1: non-blocking; infinite where nothing crosses */
} FabBisection;

/* `nics` is [n_nodes * nics_per_node], as in FabCluster. Fewer than two nodes or no NIC: all zero, oversubscription
 * 1. */
FabBisection fab_bisection_of (const FabGraph *graph, const FabVertexId *nics, guint n_nodes,
                               guint nics_per_node);
