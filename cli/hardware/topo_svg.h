/* SPDX-License-Identifier: Apache-2.0 */
/* topo_svg.h - what the panels of a drawing share: its body, its width so far, and the colours of its kinds of links.
 */
#pragma once

#include "cli/hardware/cmd_topo.h"
#include "cli/svg.h"

enum { FAB_TOPO_SVG_MARGIN = 30, FAB_TOPO_SVG_LETTER = 6 /* width of a letter of 11 pixels */ };

typedef struct {
  GString *body;
  double width;
  GPtrArray *forms; /* text of every kind of link, in the order of their colours */
} FabTopoSvg;

/* Returns the colour of a link's kind. */
const char *fab_topo_svg_colour (FabTopoSvg *svg, const FabGraph *graph, FabLinkId link);

/* Ends the rectangle of a box: its corners, colours and edge. */
void fab_topo_svg_end_box (GString *svg, const char *fill);

/* Draws the fabric below `top`; returns where it ends. */
double fab_topo_svg_fabric (const FabTopoPicture *picture, FabTopoSvg *svg, double top);

/* Draws the node below `top`; returns where it ends. */
double fab_topo_svg_node (const FabTopoPicture *picture, FabTopoSvg *svg, double top);
