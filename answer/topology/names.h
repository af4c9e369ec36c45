/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - what parts and links of a machine are called in its pictures. */
#pragma once

#include "sim/fabric/graph.h"

/* Returns "2 x nvlink3, 50 GB/s": a link's bundle and its line rate in one direction. (transfer full) */
char *fab_topo_link_text (const FabGraph *graph, FabLinkId link);
/* Returns "gpu" of "gpu3" and of "node0/gpu3". (transfer full) */
char *fab_topo_part (const char *name);
