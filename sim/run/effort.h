/* SPDX-License-Identifier: Apache-2.0 */
/* effort.h - about how long a network will take to play an iteration of a job, said before it is played.
 *
 *   effort = sum over the collectives of which no two are alike of what the network says one costs
 *
 * Two collectives are alike when they put the same bytes on the same links: the second reuses the result of the first
 * (sim/shortcut/memo/episodes.h). Collectives that overlap differently each time are played more often, so the
 * effort is a hint: it tells seconds from hours. Steady flows are not played packet by packet, and rounds and rails
 * that repeat are played once, so that it is seldom as much: 170 s for 2.7 (scenarios/compare-domain-8.yaml).
 * O(collectives).
 */
#pragma once

#include "sim/execution/dag.h"
#include "sim/net/net.h"

/* Returns seconds of one processor; 0 for a network that plays anything in no time. `params` are the network's.
 * Without `remembers` every collective counts. */
double fab_effort_s (const FabDag *dag, const FabNetOps *net, gconstpointer params, gboolean remembers);
