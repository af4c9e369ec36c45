/* SPDX-License-Identifier: Apache-2.0 */
/* assemble.h - builds the graph of a checked scenario and places its ranks.
 *
 * Each node gets the parts and wires of its catalogue entry, reduced to the GPUs and NICs that the scenario asks for.
 * The fabric connects the nodes. Everything here can fail; nothing after it can.
 */
#pragma once

#include "sim/net/unrest.h"
#include "sim/scenario/scenario.h"
#include "sim/work/cluster.h"

/* A what-if question: every link of one class gets a multiple of its rate, and its times change by a fraction (0.1:
 * ten per cent longer). */
typedef struct {
  const char *link_class; /* NULL: no link changes */
  double rate_factor;
  /* message times were measured separately and stay; otherwise they get faster with the rate */
  gboolean keeps_messages;
  double latency_change, endpoint_change, messages_change;
  gboolean is_intact; /* leaves out faults and background loads */
} FabWhatIf;

typedef struct {
  FabGraph *graph;
  FabRouter *router;
  FabCluster cluster;    /* points into graph and router */
  FabUnrestPlan *unrest; /* disturbances during the job; NULL: none */
} FabPlant;

/* Builds the graph. Returns NULL with *error when the scenario cannot be built: for example when the graph falls
 * apart, or a fault names a missing part. what_if may be NULL. The plant owns its members; its graph may be read from
 * any thread, its router used by one at a time. (transfer full) */
FabPlant *fab_plant_new (const FabScenario *scenario, const FabWhatIf *what_if, GError **error);
void fab_plant_free (FabPlant *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlant, fab_plant_free)
