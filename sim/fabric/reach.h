/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - how far apart two vertices of a node are, in the words of `nvidia-smi topo -m` and NCCL.
 *
 * The order is that of NCCL's path types (src/include/graph.h): each reach includes those before it. An accelerator
 * never forwards, so NCCL's NVB (NVLink through another GPU) is no reach here.
 *
 * Where an accelerator is joined to its socket by a coherent link (technology "...-C2C": Grace Hopper and Grace
 * Blackwell), that socket is no host bridge on the way: NCCL's C2C (to another accelerator of the socket) and P2C (to
 * a PCIe device of it) lie before PHB, so both count as PXB here, as far as GPUDirect goes by default.
 */
#pragma once

#include "sim/fabric/path.h"

typedef enum {
  FAB_REACH_NONE, /* the vertex itself */
  FAB_REACH_NVL,  /* accelerator links only, switches of theirs included: NVLink, xGMI */
  FAB_REACH_PIX,  /* at most one PCIe switch */
  FAB_REACH_PXB,  /* several PCIe switches, no host bridge */
  FAB_REACH_PHB,  /* through a host bridge */
  FAB_REACH_NODE, /* between host bridges of one socket */
  FAB_REACH_SYS,  /* between sockets */
  FAB_N_REACHES,
} FabReach;

extern const char *const fab_reach_names[FAB_N_REACHES + 1]; /* "none", "nvl", "pix", ...; NULL-ended */

gboolean fab_reach_parse (const char *name, FabReach *reach);

/* Of a path inside one node, by the vertices that it passes. An empty path: NONE. */
FabReach fab_reach_of_path (const FabGraph *graph, const FabPath *path);

/* Whether bytes pass a socket that UPI or QPI joins to another: one of Intel. */
gboolean fab_path_passes_intel_host (const FabGraph *graph, const FabPath *path);
