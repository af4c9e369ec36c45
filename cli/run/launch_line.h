/* SPDX-License-Identifier: Apache-2.0 */
/* launch_line.h - a line that starts nccl-tests, as people paste it, as options of `fabricast collective`. */
#pragma once

#include "sim/base/error.h"

/* Where the arguments contain a launcher (mpirun, mpiexec, srun) or a program of nccl-tests (alltoall_perf, ...), all
 * from there on become options beside those that stand before it. *expanded
 * owns the new array and its texts while they are used; NULL: there was no such line. FALSE and *error for a line that
 * starts no program of nccl-tests, or whose ranks do not fill its nodes. */
gboolean launch_line_expand (int *argc, char ***argv, char ***expanded, GError **error);
