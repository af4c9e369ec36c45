/* SPDX-License-Identifier: Apache-2.0 */
/* title.h - one line that says what a resolved scenario is: its job, how the job is divided, and its machine.
 *
 * It stands in place of a summary that a person wrote for a scenario which has been edited since. Rows of parameter
 * tables with `is_in_title` are in it where their value is not the default.
 */
#pragma once

#include "sim/scenario/scenario_params.h"

/* "megatron, mixtral-8x7b, tensor 2, expert 8, pipeline 4 on 32 x dgx-h100, rail fabric". Every model of the
 * spec must have been found. (transfer full) */
char *fab_scenario_title (const FabScenarioSpec *spec);

/* Whether a summary may say something of this key. FALSE for keys that are no part of job and machine: name, summary,
 * seed, iterations, contention, fold, fidelity, cost. `key` may be followed by anything: "cluster.nodes=32". */
gboolean fab_title_tells_of (const char *key);
