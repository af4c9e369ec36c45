/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - what a scenario says itself, without the defaults: to say the same in another scenario. */
#pragma once

#include "sim/scenario/scenario.h"

/* The keys of `table` that the scenario writes in the struct `in`, as YAML on one line without the braces around it:
 * "model: gpt2-xl, parallel: {tensor: 8}". Keys of `but` (NULL-ended, or NULL) are left out; "" where it writes none.
 * (transfer full) */
char *fab_scenario_written (const FabScenario *self, const FabParam *table, gconstpointer in,
                            const char *const *but);

/* `text` as a value of YAML on one line: in quotes where it needs them. (transfer full) */
char *fab_yaml_flow_text (const char *text);
