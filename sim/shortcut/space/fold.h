/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - lanes that nothing tells apart fare alike, so that one of them is played for all.
 *
 * Two lanes of a schedule are of one class when they have the same messages, depend on lanes of the same classes, and
 * cross links of the same classes with the same weights; two links are of one class when they have the same rate and
 * are crossed by lanes of the same classes with the same weights. This is the coarsest equitable partition, which
 * colour refinement finds. Max-min sharing treats equal lines equally, so on a network that shares links in this way
 * every lane of a class begins and ends each message at the same time.
 *
 * A link that has room for all lanes that may ever be on it, each as fast as it is alone, holds back none of them. Nor
 * does a link of which all lanes cross another one that is full earlier. Such links tell no lanes apart, and folded
 * lanes leave them out. Where the cost of a step in a ring is longer than the latency of every wire, latencies tell no
 * lanes apart either.
 *
 * A folded schedule has one lane of each class. The lane crosses one link of each class of links, and puts there what
 * all lanes of its class put on that link. Schedules that may be played at the same time must be folded together,
 * because they have to agree on the classes of links. What else crosses the links must be told: streams with their
 * footprints; links whose rate changes by themselves.
 */
#pragma once

#include "sim/collective/play/schedule.h"

typedef struct {
  FabSchedule *schedule;
  gboolean is_once; /* it is never played twice at the same time */
  /* What the ends of a collective can send at most, flags of the protocol included, as the play's limit; 0: no
   * limit. */
  double limit_bytes_per_s;
  FabTimePs steps_ps; /* the least that a play says its steps cost (FabPlaySpec) */
} FabFoldUse;

typedef struct {
  const FabFoldUse *uses; /* [n_uses], of one graph; none has been played */
  guint n_uses;
  const FabFootprint *const *streams; /* [n_streams] that may run at the same time */
  guint n_streams;
  const FabLinkId *apart; /* [n_apart] links that are like no others, because their rate will change */
  guint n_apart;
} FabFoldSpec;

/* Folds the schedules in place. They stay as they are where no two lanes are alike, and where it is not settled after
 * some rounds which are. O((lanes + dependencies + uses of links) x rounds): a round carries what tells lanes apart one
 * link further, and in the n-th round 2^n lanes further along a ring. */
void fab_schedules_fold (const FabGraph *graph, const FabFoldSpec *spec);
