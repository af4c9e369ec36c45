/* SPDX-License-Identifier: Apache-2.0 */
/* topo.h - the pictures of `fabricast topo`: one function per format. */
#pragma once

#include "sim/fabric/bisection.h"
#include "sim/scenario/scenario.h"
#include "sim/work/topology.h"

typedef struct {
  const FabNodeSpec *node;
  const FabTopology *topology;
  FabBisection bisection; /* of the fabric, over several nodes */
} FabTopoPicture;

void fab_topo_print_text (const FabTopoPicture *picture);
void fab_topo_print_matrix (const FabTopoPicture *picture);
void fab_topo_print_dot (const FabTopoPicture *picture);
void fab_topo_print_svg (const FabTopoPicture *picture);
void fab_topo_print_json (const FabTopoPicture *picture);

/* Switches of the fabric with one name: "leaf", "spine". */
typedef struct {
  char *name;
  guint n;
} FabTier;

/* In order of their first switch; frees what its rows own. */
GArray *fab_topo_tiers (const FabGraph *graph);

/* "2 x nvlink3, 50 GB/s": a link's bundle and its line rate, one direction. (transfer full) */
char *fab_topo_link_text (const FabGraph *graph, FabLinkId link);
