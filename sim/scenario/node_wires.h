/* SPDX-License-Identifier: Apache-2.0 */
/* node_wires.h - which members of a node's parts its wires connect, and what follows from that. */
#pragma once

#include "sim/scenario/entries.h"

/* Ends of a wire: the part's index in `parts`, the first of its members that the name means, and how many they are:
 * "gpu" means all members, "gpu3" one of them. The catalogue has checked that there is such a part. */
typedef struct {
  guint part, first, n;
} FabWireEnd;

FabWireEnd fab_wire_end (const FabNodeSpec *node, const char *name);

/* Whether the wire connects member i of its end `from` to member j of its end `to`; both count from the end's first. */
gboolean fab_wire_joins (const FabWireSpec *wire, const FabWireEnd *from, guint i, const FabWireEnd *to,
                         guint j);

/* Returns how many machines with an operating system of their own the node is: its sockets, where wires between two
 * sockets make them one machine. A rack of 18 trays that is one node has 18; a node without sockets is one. A process
 * drives the accelerators of one such machine only. */
guint fab_node_spec_n_systems (const FabNodeSpec *node);
