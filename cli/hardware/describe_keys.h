/* SPDX-License-Identifier: Apache-2.0 */
/* describe_keys.h - the keys of a scenario as text: a table of them, or those that a user names. */
#pragma once

#include "sim/base/param.h"

/* Appends a line for each key of a table with its type, range and default, and below it what it means. Keys of tables
 * within it follow, further to the right. */
void fab_describe_params (GString *page, const FabParam *table, guint indent);

/* Returns the keys of a scenario with this path ("cluster.nic_rate", "job.micro_batch"), or, if there are none, those
 * whose path ends with it ("nic_rate"). Indices of lists may stand in it, as --set takes them. NULL: there are none.
 * O(keys). (transfer full) */
char *fab_describe_key (const char *path, gboolean only_names);
