/* SPDX-License-Identifier: Apache-2.0 */
/* topo.h - draws the pictures of `fabricast topo`, one function per format. */
#pragma once

#include "sim/fabric/bisection.h"
#include "sim/scenario/scenario.h"
#include "sim/work/topology.h"

typedef struct {
  const FabNodeSpec *node;
  const FabTopology *topology;
  FabBisection bisection; /* of the fabric, when there are several nodes */
} FabTopoPicture;

void fab_topo_print_text (const FabTopoPicture *picture);
void fab_topo_print_matrix (const FabTopoPicture *picture);
void fab_topo_print_dot (const FabTopoPicture *picture);
void fab_topo_print_svg (const FabTopoPicture *picture);
void fab_topo_print_json (const FabTopoPicture *picture);

/* The switches of the fabric that share a name: "leaf", "spine". */
typedef struct {
  char *name;
  guint n;
} FabTier;

/* Returns the tiers in order of their first switch; the array frees what its rows own. (transfer full) */
GArray *fab_topo_tiers (const FabGraph *graph);

/* Returns "2 x nvlink3, 50 GB/s": a link's bundle and its line rate in one direction. (transfer full) */
char *fab_topo_link_text (const FabGraph *graph, FabLinkId link);
