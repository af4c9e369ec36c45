/* SPDX-License-Identifier: Apache-2.0 */
/* assemble.h - a checked scenario becomes a graph with placed ranks.
 *
 * Per node the parts and wires of its catalogue entry, cut to the GPUs and NICs that the scenario asks for;
 * between nodes the fabric. Everything here can fail; nothing after it can.
 */
#pragma once

#include "sim/net/unrest.h"
#include "sim/scenario/scenario.h"
#include "sim/work/cluster.h"

/* "What would a faster one change": every link of this class at a multiple of its rate, and its times changed by a part
 * of them (0.1: a tenth longer). */
typedef struct {
  const char *link_class; /* NULL: no link is changed */
  double rate_factor;
  gboolean keeps_messages; /* which were measured by themselves; else their bytes are as much faster */
  double latency_change, endpoint_change, messages_change;
  gboolean is_intact; /* faults and background loads are left out */
} FabWhatIf;

typedef struct {
  FabGraph *graph;
  FabRouter *router;
  FabCluster cluster;    /* points into the two above */
  FabUnrestPlan *unrest; /* what happens while the job runs; NULL: nothing */
} FabPlant;

/* NULL when the scenario cannot be built: a graph in parts, say, or a fault of a part that is not there. */
FabPlant *fab_plant_new (const FabScenario *scenario, const FabWhatIf *what_if, GError **error);
void fab_plant_free (FabPlant *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlant, fab_plant_free)
