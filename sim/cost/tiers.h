/* SPDX-License-Identifier: Apache-2.0 */
/* tiers.h - counts the switches and cables of a fabric by their tier, as tables of reference architectures do.
 *
 *   leaf    a switch of the fabric that has NICs; routers of a dragonfly or torus are leaves
 *   spine   a switch that has leaves below it, and no NIC
 *   core    all others
 *
 * These are the vertices of the graph: one that stands for a layer counts as one.
 */
#pragma once

#include "sim/fabric/graph.h"

enum { FAB_N_TIERS = 3 };

typedef struct {
  guint64 n_switches[FAB_N_TIERS]; /* leaves, spines, cores */
  guint64 n_cables[FAB_N_TIERS];   /* from NICs; from leaves to each other and to spines; the others */
  guint64 n_switch_optics;         /* transceivers in switches */
  guint64 n_node_optics;           /* and in nodes */
} FabTiers;

/* Whether a vertex is a switch of the fabric: it lies outside all machines, and has only NICs and such switches as
 * neighbours. A rack's own switches are not part of the fabric. */
gboolean fab_tiers_is_switch (const FabGraph *graph, FabVertexId id);

/* `links_per_optic` and `links_per_node_optic` links share one transceiver of a switch and of a node. O(links). */
FabTiers fab_tiers_of (const FabGraph *graph, guint links_per_optic, guint links_per_node_optic);
