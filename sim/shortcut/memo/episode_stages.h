/* SPDX-License-Identifier: Apache-2.0 */
/* episode_stages.h - networks on which episodes (episodes.h) are played at the same time, each with an engine of its
 * own.
 *
 * The first stage is the network that the caller made. Others are made like it when they are needed, and are used
 * again.
 */
#pragma once

#include "sim/net/net.h"

typedef struct {
  FabEngine *engine;
  FabNet *net;
} FabEpisodeStage;

typedef struct _FabEpisodeStages FabEpisodeStages;

/* Borrows the network and its parameters. */
FabEpisodeStages *fab_episode_stages_new (FabNet *net, gconstpointer params);
void fab_episode_stages_free (FabEpisodeStages *self);

/* Lends a stage on which nothing is on its way. (transfer none) */
FabEpisodeStage *fab_episode_stages_take (FabEpisodeStages *self);
void fab_episode_stages_give (FabEpisodeStages *self, FabEpisodeStage *stage);

/* Sums over all stages. */
guint64 fab_episode_stages_events (const FabEpisodeStages *self);
guint64 fab_episode_stages_n_skipped (const FabEpisodeStages *self);
