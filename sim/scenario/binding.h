/* SPDX-License-Identifier: Apache-2.0 */
/* binding.h - finds the link that limits a job's communication. */
#pragma once

#include "sim/fabric/graph.h"
#include "sim/result/probe.h"

typedef struct {
  FabLinkId link; /* FAB_NO_LINK: no link binds */
  /* Share of the exposed time of the iteration's collectives; when nothing is exposed, of all of their time. */
  double fraction;
} FabBinding;

/* Returns the link that binds the collectives with the most exposed time; of equal links, the lowest id. O(collectives
 * + links). */
FabBinding fab_binding_find (const FabProbe *probe, const FabGraph *graph);
