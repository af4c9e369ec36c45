/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/cli.h"
#include "sim/study/sweep.h"

/* Finds the ranks that mpirun or srun started with this process; *ranks is NULL when it is alone. FALSE and
 * *error: it was started so, but cannot reach them. */
gboolean fab_sweep_find_ranks (FabRanks **ranks, GError **error);
