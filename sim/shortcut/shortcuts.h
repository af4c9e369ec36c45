/* SPDX-License-Identifier: Apache-2.0 */
/* shortcuts.h - what of a run is not simulated, because something else already says how it goes. The door of this room.
 *
 *   space/  lanes that nothing tells apart, or that a rotation turns into each other, are simulated once (fold.h,
 *           rotate.h)
 *   time/   rounds that repeat are not simulated again (skips.h)
 *   memo/   what was simulated before is remembered: traffic from idle to idle (episodes.h), collectives that were
 *           simulated alone beforehand on threads (warm_up.h), forms of a machine with other rates (form_book.h)
 *
 * docs/explanation/shortcuts.md has a section for each: what it assumes, when it holds, how far off it can be, and the
 * key that switches it off. No other room knows how they work: a run makes one watch for its network and hands it to
 * the executors (sim/execution/play_watch.h).
 */
#pragma once

#include "sim/execution/play_watch.h"
#include "sim/shortcut/memo/episodes.h"
#include "sim/shortcut/space/folded_plays.h"

typedef struct _FabShortcuts FabShortcuts;

/* As fab_episodes_new (). (transfer full) */
FabShortcuts *fab_shortcuts_new (FabEngine *engine, FabNet *net, gconstpointer params, gboolean remembers);
void fab_shortcuts_free (FabShortcuts *self); /* accepts NULL; after the executors */

/* What the executors are given. */
FabPlayWatch *fab_shortcuts_watch (FabShortcuts *self);

/* Simulates collectives of the job (FabJobCollective) that differ from each other, before the clock starts, on threads
 * (fab_episodes_warm_up ()). */
void fab_shortcuts_warm_up (FabShortcuts *self, const FabWarmUpEnv *env, FabWatchedJob *job,
                            const GArray *collectives);

/* Simulates what collectives of the job will do to each other, as far as that can be known before the clock starts, on
 * threads (fab_episodes_rehearse ()); after the warm-ups. `executor` is what the executor of the job was made with. */
void fab_shortcuts_rehearse (FabShortcuts *self, const FabWarmUpEnv *env, FabWatchedJob *job,
                             const FabExecutorEnv *executor);

/* Those of the network, and what was counted. */
FabEpisodes *fab_shortcuts_episodes (const FabShortcuts *self);
FabLanesCount fab_shortcuts_lanes (const FabShortcuts *self);
