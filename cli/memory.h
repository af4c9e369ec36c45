/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - refuses what this machine has no memory for, before it is built. */
#pragma once

#include "sim/scenario/scenario.h"
#include "sim/study/axis.h"

/* Estimates the memory that a run of a large scenario takes, and fails with FAB_ERROR_UNSUPPORTED when that is more
 * than is free: the least of what the kernel says, the limit of a control group, and `ulimit -v`. FABRICAST_MEMORY of
 * the environment ("64GB", or "all") says otherwise. From then on the program may not take more than that either: what
 * was not estimated ends with a sentence, too.
 *
 * The estimate comes from runs of the same scenario with few nodes, and with few micro-batches, in this process: how
 * the peak of its memory grows with them (memory_growth.h). Small scenarios, and those that cannot be
 * played with a few, pass.
 *
 * What-ifs and points of a study run beside each other on *n_threads threads (0: as many as there are processors), and
 * each holds all of a run. *n_threads becomes as many as there is memory for, at least 1; it fails where one thread
 * needs too much. Call it on the main thread while no other one works. */
gboolean fab_cli_check_memory (const FabScenario *scenario, guint *n_threads, GError **error);

/* Of keys that change together, adds the values that make the largest run: those whose numbers of nodes, micro-
 * batches and requests, and global batches, have the largest product. Adds nothing where none of the keys is one of
 * these numbers. */
void fab_cli_add_largest (FabEdits *edits, const FabAxis *const *keys, guint n);

/* Takes --allow-large out of the arguments, which lets a scenario take what it takes. */
void fab_cli_take_allow_large (int *argc, char **argv);
