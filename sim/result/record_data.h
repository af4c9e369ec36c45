/* SPDX-License-Identifier: Apache-2.0 */
/* record_data.h - the figures of a record for programs: members of JSON and cells of CSV, made from the rows of
 * columns.h.
 *
 * A figure is a column that is no place. Its key is its name, but for two things that readers of JSON and CSV need not
 * know: picoseconds are given in seconds, `waiting_ps` as `waiting_s`; and counts lose the `n_` of the table.
 */
#pragma once

#include "sim/base/json.h"
#include "sim/result/columns.h"

/* The key of a column: "waiting_s". (transfer full) */
char *fab_column_key (const FabColumn *column);

/* Its value under that key: a time in seconds. */
FabField fab_column_value (const FabColumn *column, gconstpointer record);

/* Adds a member for each figure of the record, or for one column; what is not known is null. */
void fab_column_add_json (FabJson *json, const FabColumn *column, gconstpointer record);
void fab_record_add_json (FabJson *json, FabTableKind kind, gconstpointer record);

/* Appends ",KEY" for each figure, or ",VALUE" for each of the record (NULL: as many empty cells). */
void fab_record_append_keys (GString *csv, FabTableKind kind);
void fab_record_append_values (GString *csv, FabTableKind kind, gconstpointer record);
