/* SPDX-License-Identifier: Apache-2.0 */
/* points_text.h - prints points of a study as a table: their labels, then their figures. */
#pragma once

#include "answer/study/points.h"
#include "sim/base/json.h"

/* Appends a line per point: labels, step, exposed communication (both with their ranges over several seeds), idle and
 * waiting, MFU, tokens per second, and the class of the binding link; or the first line of its problem. */
void fab_points_append_text (GString *text, const FabPoints *points);

/* Appends MFU and tokens per second in columns of these widths, or "-" where the job has none. */
void fab_points_append_rates (GString *text, const FabPoint *point, int mfu_width, int tokens_width);

/* What the last column of a table shows of a point: what limits its step, or its slowest link where no point of
 * the table was asked for that; of a point that was not asked, "not asked". */
const char *fab_points_limit (const FabPoint *point, gboolean has_limits);
/* The heading of that column. */
const char *fab_points_limit_heading (gboolean has_limits);

/* Appends "  does not fit: 219 of 80 GB" where that is so. */
void fab_points_append_misfit (GString *text, const FabPoint *point);

/* Returns the rows as CSV. (transfer full) */
char *fab_points_csv (const FabPoints *points);

/* Adds these rows as an array under `key`, each with its verdict as a list, and its "spread" where it
 * has several seeds. */
void fab_points_add_json (FabJson *json, const char *key, const FabPoints *points);

/* Adds the rows of any table as an array under `key`. */
void fab_cli_add_json_rows (FabJson *json, const char *key, const FabTable *table);
