/* SPDX-License-Identifier: Apache-2.0 */
/* points.h - points of a study as a table: what they are called, then their figures. */
#pragma once

#include "sim/base/json.h"

#include "sim/result/table.h"
#include "sim/study/study.h"

typedef struct {
  const char *const *labels; /* one per column of the points */
  const FabTry *trial;       /* played, or with its problem */
  const char *mark;          /* at the end of the line of text: "<"; NULL: none */
} FabPointsRow;

typedef struct {
  const char *const *columns; /* of labels, NULL-ended: "value", "is_met" */
  guint n_shown;              /* of them in text; all in tables for programs */
  guint
      n_numbers; /* of all of them the last so many: numbers, or NULL, which tables for programs hold as such */
  const FabPointsRow *rows;
  guint n_rows;
} FabPoints;

/* Labels, step, exposed communication, MFU, tokens per second, and the class of the binding link; or the problem's
 * first line. */
void fab_points_append_text (GString *text, const FabPoints *points);

/* Labels, every figure of fab_figures under its column, the binding link, its class, the problem. (transfer full) */
FabTable *fab_points_table (const FabPoints *points);

/* The same rows as an array under `key`. */
void fab_points_add_json (FabJson *json, const char *key, const FabPoints *points);

/* The rows of any table, likewise. */
void fab_cli_add_json_rows (FabJson *json, const char *key, const FabTable *table);
