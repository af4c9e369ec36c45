/* SPDX-License-Identifier: Apache-2.0 */
/* folded_plays.h - the collectives of a job as messages: one schedule of each kind, folded (fold.h) where the
 * job is alone on a network that allows it.
 *
 * Kinds that may be under way together are folded together. Fewer of them usually fold further: for an episode in
 * which only some are under way there are versions of their schedules, folded for those alone. All versions end at the
 * same times, to within what sums of double differ by in another order.
 */
#pragma once

#include "sim/execution/play_watch.h"
#include "sim/shortcut/memo/warm_up.h"

typedef struct _FabFoldedPlays FabFoldedPlays;

/* Lanes of collectives that were begun as messages, one or more times. */
typedef struct {
  guint64 n_lanes; /* that were simulated */
  guint64 n_alike; /* for which others were */
} FabLanesCount;

typedef struct {
  FabWatchedJobEnv job;
  const FabMessageWatch *messages; /* who hears of all messages; NULL: nobody */
  FabLanesCount *lanes;            /* to which lanes are added; NULL: nobody counts */
} FabFoldedPlaysEnv;

/* What the environment points to must outlive the plays. */
FabFoldedPlays *fab_folded_plays_new (const FabFoldedPlaysEnv *env);
void fab_folded_plays_free (FabFoldedPlays *self); /* accepts NULL; all plays must have been freed */

/* Returns a collective of the job as it begins on a network. The plays must outlive it. */
FabEpisodeInput fab_folded_plays_input (FabFoldedPlays *self, const FabJobCollective *collective);
