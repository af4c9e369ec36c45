/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - `fabricast sweep`: the ranks that share its work, and its output. */
#pragma once

#include "cli/cli.h"
#include "sim/study/sweep.h"

/* Finds the ranks that mpirun or srun started with this process; *ranks is NULL when it is alone. FALSE and *error: it
 * was started so, but cannot reach them. */
gboolean fab_sweep_find_ranks (FabRanks **ranks, GError **error);

typedef struct {
  const FabSweepPlan *plan;
  const FabGrid *grid;
  FabStore *store;
  const FabSweepOutcome *outcome;
  const char *db;
} FabSweepView;

/* Prints the points of the file; *n_played is how many could run. NULL and *error: the file cannot be read. (transfer
 * full) */
char *fab_sweep_print (const FabSweepView *view, FabFormat format, gint64 *n_played, GError **error);
