/* SPDX-License-Identifier: Apache-2.0 */
/* effort.h - about how long a network will take to play an iteration of a job, said before it is played.
 *
 *   all   = sum over the collectives of what the network says one costs
 *   alike = the same sum, in which collectives that are alike count once
 *
 * Two collectives are alike when they put the same bytes on the same links: the second reuses the result of the first
 * where both meet the same traffic (sim/shortcut/memo/episodes.h). Collectives that overlap differently each time are
 * played each time. How often that is nobody knows beforehand, so both ends are said. Steady flows are not played
 * packet by packet, and rounds and rails that repeat are played once, so that it is seldom as much as either: 170 s
 * for 2.7 (scenarios/compare-domain-8.yaml). O(collectives).
 */
#pragma once

#include "sim/execution/dag.h"
#include "sim/net/net.h"

/* Seconds of one processor; 0 for a network that plays anything in no time. */
typedef struct {
  double alike_s; /* if what is alike is played once */
  double all_s;   /* if everything is played; at least alike_s */
} FabEffort;

/* `params` are the network's. */
FabEffort fab_effort (const FabDag *dag, const FabNetOps *net, gconstpointer params);
/* Returns "at most about 5 h, or 12 min if collectives that are alike are simulated once", without the second half
 * where it says the same. (transfer full) */
char *fab_effort_show (const FabEffort *effort);
