/* SPDX-License-Identifier: Apache-2.0 */
/* dry_run.h - which episodes (episodes.h) of several collectives a job will have, as far as that can be known before
 * the clock starts.
 *
 * The first iteration is run without a network: a collective takes the time that it takes alone, and those of one
 * episode share the time evenly. That is done twice, the second time with all collectives a little slower. A collective
 * that begins at the same distance both times begins at this distance in truth, too, whatever the network does: the
 * distance to the begin of the episode, or to the end of one of its collectives. An episode is expected if that holds
 * for all of its collectives.
 */
#pragma once

#include "sim/execution/executor_env.h"
#include "sim/shortcut/memo/episode_books.h"

/* A collective that begins in an expected episode. */
typedef struct {
  guint32 plan;
  guint32 after;      /* the place of the collective whose end it follows; FAB_AFTER_BEGIN: of none */
  FabTimePs delay_ps; /* since that end, or since the begin of the episode */
} FabExpectedInput;

#define FAB_AFTER_BEGIN G_MAXUINT32

/* Returns the episodes that differ, at most `most` of them in the order in which they end, each a GArray of
 * FabExpectedInput. It needs warm-ups of all collectives; without them it returns none. `input` says how a collective
 * of the job is begun. (transfer full) */
GPtrArray *fab_dry_run (FabEpisodeBooks *books, const FabExecutorEnv *env,
                        FabEpisodeInput (*input) (gpointer owner, const FabJobCollective *collective),
                        gpointer owner, guint most);
