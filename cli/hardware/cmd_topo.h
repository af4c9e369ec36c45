/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_topo.h - what the formats of `fabricast topo` print: a node, and the fabric of several. */
#pragma once

#include "answer/topology/names.h"
#include "answer/topology/picture.h"

void fab_topo_print_text (const FabTopoPicture *picture);
void fab_topo_print_dot (const FabTopoPicture *picture);
void fab_topo_print_svg (const FabTopoPicture *picture);
