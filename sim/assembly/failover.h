/* SPDX-License-Identifier: Apache-2.0 */
/* failover.h - what other ports of a NIC do when one of them is dead.
 *
 * A port that is dead from the start is gone from the graph, and the router uses the others (sim/fabric/port_router.h).
 * One that dies while the job runs keeps its place in every path and plan. Its bytes go on by the others:
 *
 *   rate of each port of a NIC = its line rate x (ports - dead ports) / ports
 *
 * Together they carry what the ports that work can carry. That is exact where ports share the bytes evenly (merged),
 * and pessimistic for a bond whose only flow was on the dead port. Switching over takes no time.
 */
#pragma once

#include "sim/config/diagnostics.h"
#include "sim/machine/cluster.h"

/* Replaces the spells (FabSpell) in which ports of NICs with several carry nothing by spells of all ports of that NIC.
 * Where all of its ports are dead at once, they carry nothing. */
void fab_failover_spread (const FabGraph *graph, GArray *spells);

/* Whether any of these links is a port of a NIC with several. Then its switch needs no spells on other links. */
gboolean fab_failover_has_ports (const FabGraph *graph, const GArray *links);

/* Whether the NICs of each number reach each other in all nodes, without a change of the NIC. If not, *a and *b are two
 * that have no plane in common. O(vertices + links). */
gboolean fab_failover_meets (const FabCluster *cluster, FabVertexId *a, FabVertexId *b);
