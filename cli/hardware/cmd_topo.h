/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_topo.h - what the formats of `fabricast topo` print: a node, and the fabric of several. */
#pragma once

#include "cli/hardware/topo_fabric.h"
#include "cli/hardware/topo_units.h"
#include "sim/fabric/bisection.h"
#include "sim/machine/topology.h"
#include "sim/scenario/scenario.h"

typedef struct {
  const FabNodeSpec *node;
  const FabTopology *topology;
  const FabTopoUnits *units;
  gboolean has_node;           /* the node is to be shown */
  gboolean is_whole;           /* everything is to be shown, whether it is alike or not */
  const char *kind;            /* the fabric's model: "leaf_spine" */
  const FabTopoFabric *fabric; /* NULL: one node, or it is not to be shown */
  FabBisection bisection;      /* of the fabric, when there are several nodes */
} FabTopoPicture;

void fab_topo_print_text (const FabTopoPicture *picture);
void fab_topo_print_dot (const FabTopoPicture *picture);
void fab_topo_print_svg (const FabTopoPicture *picture);

/* Returns "2 x nvlink3, 50 GB/s": a link's bundle and its line rate in one direction. (transfer full) */
char *fab_topo_link_text (const FabGraph *graph, FabLinkId link);
/* Returns "gpu" of "gpu3" and of "node0/gpu3". (transfer full) */
char *fab_topo_part (const char *name);
/* Returns "oversubscribed 2 : 1", of the bisection. (transfer full) */
char *fab_topo_over_text (const FabTopoPicture *picture);
