/* SPDX-License-Identifier: Apache-2.0 */
/* binding.h - the link that sets the pace of a job's communication. */
#pragma once

#include "sim/fabric/graph.h"
#include "sim/result/probe.h"

typedef struct {
  FabLinkId link; /* FAB_NO_LINK: no link binds */
  double
      fraction; /* of the exposed time of the iteration's collectives, or of all of their time where none is */
} FabBinding;

/* Of collectives bound by one link, those with most exposed time; of equal links the lowest. O(collectives + links). */
FabBinding fab_binding_find (const FabProbe *probe, const FabGraph *graph);
