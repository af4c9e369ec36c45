/* SPDX-License-Identifier: Apache-2.0 */
/* plays.h - runs collectives of an executor message by message, and keeps the schedule of each plan for reuse. The
 * object owns the schedules and runs on the engine's thread. */
#pragma once

#include "sim/work/collective.h"
#include "sim/work/play.h"

typedef struct _FabPlays FabPlays;

FabPlays *fab_plays_new (FabNet *net);
void fab_plays_free (FabPlays *self);

/* Begins a plan now; `traffic` as in FabConnection. NULL: the plan has to run as a stream. The caller owns the play
 * and must free it before the plays. */
FabPlay *fab_plays_begin (FabPlays *self, const FabCollectivePlan *plan, const char *traffic, FabDone done);
