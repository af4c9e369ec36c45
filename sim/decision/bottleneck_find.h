/* SPDX-License-Identifier: Apache-2.0 */
/* bottleneck_find.h - finds what limits a step (bottleneck.h) by playing the scenario with each lever.
 *
 * The scenario is played with each lever by itself, on the same draws. The library chooses its algorithms again, as it
 * would on that machine. Where faster links between nodes do not help and faster links everywhere do, they are played
 * with one other lever each, and the best pair says why.
 *
 * A scenario whose network sends messages is played on a network of flows for this, the step without a lever too.
 */
#pragma once

#include "sim/decision/bottleneck.h"

/* Plays the scenario, which was checked, with every lever that it has. A lever that cannot be built, or does not
 * end, is left out. `n_draws` 0: as many as the scenario has (fab_draw_count ()). NULL and *error: the scenario
 * itself cannot be played, or it was cancelled. (transfer full) */
FabBottleneck *fab_bottleneck_find (const FabDecisionEnv *env, const FabScenario *scenario, guint n_draws,
                                    GError **error);
