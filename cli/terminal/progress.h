/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - a line on stderr that says how far a long command is. On a terminal it is there after a second, and gone
 * before the answer is printed. Elsewhere a line of its own comes after 10 s, 20 s, 40 s and so on.
 *
 * Once, after two seconds, it says how long the command takes in all, where that is more than 10 s: by its own pace, or
 * by what its network knows (FabPulse.all_s). From 1 GB on it says how much memory the program holds.
 */
#pragma once

#include "sim/base/pulse.h"

typedef struct _FabProgress FabProgress;

/* Begins to show what the command sets in fab_progress_pulse (). `what` are its plays: "points"; it outlives them. NULL
 * where FABRICAST_PROGRESS of the environment is "never". (transfer full) */
FabProgress *fab_progress_start (const char *what);
/* What is played from now on: "what-ifs", none of which has begun. On the thread that plays. */
void fab_progress_next (FabProgress *self, const char *what);
/* Returns what the command sets; NULL: nobody looks. */
FabPulse *fab_progress_pulse (FabProgress *self);
/* Takes the line away, for good. Any thread that the command started must have ended. */
void fab_progress_stop (FabProgress *self);
void fab_progress_free (FabProgress *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabProgress, fab_progress_free)
