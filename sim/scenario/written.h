/* SPDX-License-Identifier: Apache-2.0 */
/* written.h - the keys that a scenario writes itself, without the defaults, for use in another scenario. */
#pragma once

#include "sim/scenario/scenario.h"

/* Returns the keys of `table` that the scenario writes in the struct `in`, as YAML on one line without braces: "model:
 * gpt2-xl, parallel: {tensor: 8}". Keys in `but` (NULL-ended, or NULL) are left out; "" when it writes none. (transfer
 * full) */
char *fab_scenario_written (const FabScenario *self, const FabParam *table, gconstpointer in,
                            const char *const *but);

/* Returns `text` as a value of YAML on one line, quoted where needed. (transfer full) */
char *fab_yaml_flow_text (const char *text);
