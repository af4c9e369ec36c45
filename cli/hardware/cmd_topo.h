/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/fabric/bisection.h"
#include "sim/machine/topology.h"
#include "sim/scenario/scenario.h"

typedef struct {
  const FabNodeSpec *node;
  const FabTopology *topology;
  FabBisection bisection; /* of the fabric, when there are several nodes */
} FabTopoPicture;
void fab_topo_print_svg (const FabTopoPicture *picture);

/* Returns "2 x nvlink3, 50 GB/s": a link's bundle and its line rate in one direction. (transfer full) */
char *fab_topo_link_text (const FabGraph *graph, FabLinkId link);
