/* SPDX-License-Identifier: Apache-2.0 */
/* processor.h - what the sockets of a node make of bytes that pass them: an entry of the catalogue's `processors`. */
#pragma once

#include "sim/base/units.h"

/* Two rates that were measured: without what slows the bytes down, and with it. 0 and 0: nothing was measured. */
typedef struct {
  FabBytesPerS plain_bytes_per_s, reached_bytes_per_s;
  const char *source;
} FabSlowdown;

/* Line time per byte over that of the plain case: >= 1; 1 where nothing was measured. */
double fab_slowdown_stretch (const FabSlowdown *self);

typedef struct {
  const char *name; /* what `cpu` of a node says; owned by the catalogue */
  const char *summary;
  FabTimePs proxy_ps;                     /* of a collective's thread that hands one step to a NIC */
  FabSlowdown staged_copy, staged_kernel; /* bytes that wait in host memory between two devices */
  FabBytesPerS
      staged_most_bytes_per_s;  /* copies through host memory are never faster; 0: no limit is known */
  FabSlowdown staged_both_ways; /* bytes that go into host memory while others come out of it, in sum */
  /* What a GPU's kernels send through host memory at most while they receive as much, to a GPU of the same socket and
   * to one of another socket; 0: no limit is known. */
  FabBytesPerS staged_kernel_most_bytes_per_s, staged_kernel_far_bytes_per_s;
  /* Two GPUs alone in a node reach each other's memory so far, where the node itself allows less; NONE: no farther. */
  int pair_p2p;            /* FabReach */
  FabSlowdown bridge_read; /* a NIC reads a GPU's memory through a host bridge */
  const char *source, *date;
} FabProcessor;
