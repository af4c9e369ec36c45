/* SPDX-License-Identifier: Apache-2.0 */
/* rotate.h - lanes of schedules that a rotation turns into each other, so that one of them is played for all on a
 * network of packets.
 *
 * A port of such a network serves its queues in turn. So it is not enough that lanes cannot be told apart (fold.h):
 * each port has to see the same lanes as before. That is so where a rotation turns the whole machine with all its lanes
 * into itself, and leaves no lane where it is, and no link but bundles between switches that have a link for each of
 * those that share them. Two kinds of rotations are looked for:
 *
 *   in nodes   GPU m of every node takes the place of GPU m + s: rails change places
 *   of nodes   in blocks of B nodes, node n takes the place of node n + t: rings turn
 *
 * A rotation is verified, not assumed: the path of every lane must turn into that of another lane, link by link, links
 * into links of the same rate and latency, and what a lane depends on into what the other one depends on. The largest
 * rotation of each kind that holds is taken. Both are used where they can be applied in any order.
 *
 * A port decides by its number who is first where everything else is equal. Such ties may be decided otherwise in a
 * folded network, by up to a packet per port and message.
 */
#pragma once

#include "sim/collective/play/schedule.h"
#include "sim/net/net.h"

typedef struct {
  const FabNet *net;             /* that will play the schedules; it must have `plays_alike` */
  FabSchedule *const *schedules; /* [n] that may be played at the same time; none has been folded */
  guint n;
  const FabLinkId *apart; /* [n_apart] links that are like no others, because their rate will change */
  guint n_apart;
} FabRotateSpec;

/* Keeps one lane of those that turn into each other. FALSE: the schedules stay as they are, because no rotation holds,
 * a lane is spread over several paths, or the network does not play equal packets alike. O((lanes + dependencies +
 * links) x rotations to look at). */
gboolean fab_schedules_rotate (const FabRotateSpec *spec);
