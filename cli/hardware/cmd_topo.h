/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_topo.h - what the formats of `fabricast topo` print: a node, and the fabric of several. */
#pragma once

#include "answer/topology/cabling.h"
#include "answer/topology/names.h"
#include "answer/topology/picture.h"

void fab_topo_print_text (const FabTopoPicture *picture);
void fab_topo_print_dot (const FabTopoPicture *picture);
void fab_topo_print_svg (const FabTopoPicture *picture);

/* For --check. Says whether the file at `path` lists a network or a machine, and is no scenario; "-" is taken as
 * such. */
gboolean fab_topo_is_network (const char *path);
/* (transfer full) */
FabCabling *fab_topo_read_network (const char *path, GError **error);
/* Looks for cables that are unlike their peers, and prints them. */
void fab_topo_print_check (FabCabling *cabling, gboolean is_json, gboolean is_whole);
