/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_ranks.h - rank 0's side of the other ranks: who has which points, and who is still there.
 *
 * Ranks ask for points and report what they played; a rank of which nothing is heard for a while is taken for dead, and
 * its points are given to others. Should it speak again, what it reports is taken: a point is the same twice.
 */
#pragma once

#include "sim/study/ranks.h"
#include "sim/study/sweep_record.h"

typedef struct _FabSweepRanks FabSweepRanks;

/* Messages begin with one of these. */
typedef enum {
  FAB_RANKS_HELLO = 'h',  /* to 0: fingerprint, host, process id, problem, each with its end */
  FAB_RANKS_REPORT = 'r', /* to 0: guint32 of points that it wants, records that it played */
  FAB_RANKS_BYE = 'b',    /* to 0 */
  FAB_RANKS_POINTS = 'p', /* from 0: gint64 each; without one: rank 0 is still there */
  FAB_RANKS_END = 'e',    /* from 0: guint8, all ranks are still here */
} FabRanksKind;

/* Takes the first `n` of the points that nobody has yet; fewer where there are no more. */
typedef guint (*FabSweepGiveFunc) (gpointer data, gint64 *points, guint n);
typedef void (*FabSweepNoteFunc) (gpointer data, const char *sentence);

FabSweepRanks *fab_sweep_ranks_new (FabRanks *ranks, const char *fingerprint, FabSweepNoteFunc note,
                                    gpointer data);

/* Hears what the others say: records go to `played` (transfer full), points of ranks that died to `lost` (gint64). */
void fab_sweep_ranks_hear (FabSweepRanks *self, GPtrArray *played, GArray *lost);

/* Gives points to those that want some. */
void fab_sweep_ranks_feed (FabSweepRanks *self, FabSweepGiveFunc give, gpointer data);

/* No rank that is there has a point. */
gboolean fab_sweep_ranks_are_idle (const FabSweepRanks *self);

/* Tells all to end, waits for them, leaves and frees it. */
void fab_sweep_ranks_end (FabSweepRanks *self);
