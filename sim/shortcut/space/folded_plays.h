/* SPDX-License-Identifier: Apache-2.0 */
/* plays.h - the collectives of a job as messages: one schedule of each kind, folded (sim/collective/fold.h) where the
 * job is alone on a network that allows it.
 *
 * Kinds that may be under way together are folded together. Fewer of them usually fold further: for an episode in
 * which only some are under way there are versions of their schedules, folded for those alone. All versions end at the
 * same times, to within what sums of double differ by in another order.
 */
#pragma once

#include "sim/execution/dag.h"
#include "sim/shortcut/memo/rehearsals.h"

typedef struct _FabPlays FabPlays;

typedef struct {
  FabNet *net;
  const FabDag *dag;
  gboolean has_next;      /* another iteration may be under way */
  gboolean is_alone;      /* nothing but the DAG loads the network */
  const FabLinkId *apart; /* [n_apart] links that change their rate */
  guint n_apart;
} FabPlaysEnv;

/* What the environment points to must outlive the plays. */
FabPlays *fab_plays_new (const FabPlaysEnv *env);
void fab_plays_free (FabPlays *self); /* accepts NULL; all plays must have been freed */

/* Whether a plan is played as messages; otherwise it is a stream. */
gboolean fab_plays_has_messages (const FabPlays *self, const FabCollectivePlan *plan);

/* Returns a plan of the DAG as it begins on a network. The plays must outlive it. */
FabEpisodeInput fab_plays_input (FabPlays *self, const FabCollectivePlan *plan, const char *traffic);
