/* SPDX-License-Identifier: Apache-2.0 */
/* plays.h - collectives of an executor message by message: the schedules of its plans, each made once. */
#pragma once

#include "sim/work/collective.h"
#include "sim/work/play.h"

typedef struct _FabPlays FabPlays;

FabPlays *fab_plays_new (FabNet *net);
void fab_plays_free (FabPlays *self);

/* Begins a plan now, as `traffic` (FabConnection); NULL: it is to be played as a stream. The play is the caller's,
 * until the plays are freed. */
FabPlay *fab_plays_begin (FabPlays *self, const FabCollectivePlan *plan, const char *traffic, FabDone done);
