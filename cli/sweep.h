/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - `fabricast sweep`: the other ranks that it may have, and what it prints. */
#pragma once

#include "cli/cli.h"
#include "sim/study/sweep.h"

/* The ranks that this process was started with by mpirun or srun; *ranks is NULL where it is alone. FALSE and *error:
 * it was started so, but cannot reach them. */
gboolean fab_sweep_find_ranks (FabRanks **ranks, GError **error);

typedef struct {
  const FabSweepPlan *plan;
  const FabGrid *grid;
  FabStore *store;
  const FabSweepOutcome *outcome;
  const char *db;
} FabSweepView;

/* The points of the file; *n_played: how many of them could be played. NULL and *error: the file cannot be read.
 * (transfer full) */
char *fab_sweep_print (const FabSweepView *view, FabFormat format, gint64 *n_played, GError **error);
