/* SPDX-License-Identifier: Apache-2.0 */
/* bottleneck_find.h - finds what limits a step (bottleneck.h) by playing the scenario with each lever.
 *
 * The scenario is played with each lever by itself, on the same draws. The library chooses its algorithms again, as it
 * would on that machine. Where faster links between nodes do not help and faster links everywhere do, they are played
 * with one other lever each, and the best pair says why.
 *
 * A scenario whose network sends messages is played on it where one play on all draws takes at most
 * FAB_LEVER_EVENTS events: a dozen levers then take a second or two. Otherwise all of this is played on a network of
 * flows, the step without a lever too.
 */
#pragma once

#include "sim/decision/bottleneck.h"

enum { FAB_LEVER_EVENTS = 6000000 };

/* What is known of a scenario that was played. */
typedef struct {
  guint
      n_draws; /* on which its levers are played; 0: as many as it has (fab_draw_count ()), FAB_DRAWS at most */
  guint64 n_events; /* of one play on its own network */
} FabPlayedOnce;

/* Plays the scenario, which was checked, with every lever that it has. A lever that cannot be built, or does not
 * end, is left out. NULL and *error: the scenario itself cannot be played, or it was cancelled. (transfer full) */
FabBottleneck *fab_bottleneck_find (const FabDecisionEnv *env, const FabScenario *scenario,
                                    FabPlayedOnce played, GError **error);
