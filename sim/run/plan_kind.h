/* SPDX-License-Identifier: Apache-2.0 */
/* plan_kind.h - which measured collectives a planned one is like: what carries it, between whom, doing what.
 *
 * Its family is what its links are, not whose machine it is: between nodes the technology and the rate of the NIC's
 * port ("infiniband-400"); inside a node or a rack the technology of the accelerators' links, the architecture of the
 * accelerators, and how these are joined ("nvlink-hopper-reducing-switch", "pcie-ada-host").
 */
#pragma once

#include "sim/assembly/assemble.h"

typedef enum {
  FAB_PLAN_INSIDE,  /* no NIC: one node, or nodes that share the switches of their accelerators */
  FAB_PLAN_BETWEEN, /* over NICs */
  FAB_N_PLAN_PLACES,
} FabPlanPlace;

/* Operations that libraries run by the same mechanisms. */
typedef enum {
  FAB_PLAN_RINGS, /* all-reduce and what rings and trees do beside it */
  FAB_PLAN_PAIRS, /* all-to-all and send-receive: every pair of ranks by itself */
  FAB_N_PLAN_OPERATIONS,
} FabPlanOperations;

/* "inside", "between"; "rings", "pairs"; NULL-ended */
extern const char *const fab_plan_place_names[FAB_N_PLAN_PLACES + 1];
extern const char *const fab_plan_operations_names[FAB_N_PLAN_OPERATIONS + 1];

FabPlanOperations fab_plan_operations (FabOp op);

enum { FAB_FAMILY_BYTES = 96 };

typedef struct {
  char family[FAB_FAMILY_BYTES];
  const char *library; /* that plans it */
  FabPlanPlace place;
  FabPlanOperations operations;
  int evidence;           /* FabEvidence: the weakest of its links */
  gboolean is_calibrated; /* a link that it uses says how sure its numbers are */
} FabPlanKind;

/* Whether the entry says how sure a number is that the link has. */
gboolean fab_link_is_unsure (const FabLinkSpec *spec);

/* Of a plan with a footprint, of a cluster of this scenario. O(links of the footprint). */
FabPlanKind fab_plan_kind (const FabScenario *scenario, const FabCluster *cluster,
                           const FabCollectivePlan *plan);

/* The same of the table of kinds that were asked before (footprint -> FabPlanKind, which it frees),
 * until the next call. */
const FabPlanKind *fab_plan_kind_kept (GHashTable *kinds, const FabScenario *scenario,
                                       const FabCluster *cluster, const FabCollectivePlan *plan);
