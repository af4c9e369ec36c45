/* SPDX-License-Identifier: Apache-2.0 */
/* upgrade_rank.h - which changes of a machine are worth combining, and which of all come first (upgrade.h). Nothing is
 * played here: the changes have their savings, their states and what they cost. */
#pragma once

#include "sim/study/upgrade.h"

/* What is worth combining: the best of every kind, two settings, and two numbers of nodes. What costs most comes first,
 * settings last. Sorts the candidates by what they save, and of every setting only the best value gains after that.
 * (transfer container) */
GPtrArray *fab_upgrade_rank_parts (GPtrArray *candidates);

typedef struct {
  FabUpgrade *joined, *a, *b; /* made of the other two, and not of this list */
} FabUpgradeJoined;

/* All pairs (FabUpgradeJoined) of parts that do not set the same key. (transfer container) */
GArray *fab_upgrade_rank_pairs (const GPtrArray *parts);
/* The best pair with each of the other parts, and so the best pair with each number of nodes. (transfer container) */
GArray *fab_upgrade_rank_triples (const GPtrArray *parts, const GArray *pairs);
/* What it saves must be more than what the larger of its two parts saves. */
void fab_upgrade_rank_check (const FabUpgradeJoined *self);

/* Adds all single changes that gain; of the combinations that no other one surpasses in both price and gain, those that
 * save most and those of which a percent costs least. The others of `gains` do not gain after that. */
void fab_upgrade_rank (const GPtrArray *gains, GPtrArray *ranking);
/* Sure ones first, by their price; others by what they save. */
void fab_upgrade_rank_sort (GPtrArray *ranking);

/* The band of what is saved, from that of the step; `work_ratio`: steps before over steps after that do the same work.
 */
void fab_upgrade_take_band (FabUpgrade *self, double work_ratio);
