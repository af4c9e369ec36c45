/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - the distance between two vertices of a node, in the words of `nvidia-smi topo -m` and NCCL.
 *
 * The order is that of NCCL's path types (src/include/graph.h): each reach includes those before it. An accelerator
 * never forwards traffic, so NCCL's NVB (NVLink through another GPU) does not exist here.
 *
 * When a coherent link connects an accelerator to its socket (FAB_JOINS_COHERENTLY), NCCL does not count that
 * socket as a host bridge. It orders C2C (to another accelerator of the socket) and P2C (to a PCIe device of it) before
 * PHB, so both count as PXB here, which GPUDirect uses by default.
 */
#pragma once

#include "sim/fabric/path.h"

typedef enum {
  FAB_REACH_NONE, /* the same vertex */
  FAB_REACH_NVL,  /* accelerator links and their switches only: NVLink, xGMI */
  FAB_REACH_PIX,  /* at most one PCIe switch */
  FAB_REACH_PXB,  /* several PCIe switches, but no host bridge */
  FAB_REACH_PHB,  /* through a host bridge */
  FAB_REACH_NODE, /* between host bridges of one socket */
  FAB_REACH_SYS,  /* between sockets */
  FAB_N_REACHES,
} FabReach;

extern const char *const fab_reach_names[FAB_N_REACHES + 1]; /* "none", "nvl", "pix", ...; NULL-ended */

gboolean fab_reach_parse (const char *name, FabReach *reach);

/* Returns the reach of a path inside one node, from the vertices that it passes. The reach of an empty path is
 * NONE. */
FabReach fab_reach_of_path (const FabGraph *graph, const FabPath *path);

/* Returns the line time of kernels' bytes over that of the links alone: the largest `host_stretch` of the
 * technologies that connect the sockets on the path to others; 1 where the path passes no such socket. */
double fab_path_host_stretch (const FabGraph *graph, const FabPath *path);

/* Whether every link of the path lets devices reach each other's memory. */
gboolean fab_path_has_p2p (const FabGraph *graph, const FabPath *path);
