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

/* A table of points that owns its labels. */
typedef struct {
  FabPoints points;
  char **labels;      /* row by row */
  FabPointsRow *made; /* the rows */
} FabPointsList;

/* Makes room for `n_rows`; `columns` must outlive it. */
void fab_points_list_init (FabPointsList *self, const char *const *columns, guint n_shown, guint n_numbers,
                           guint n_rows);
/* Sets a row; the labels, one per column, are the list's from then on. */
void fab_points_list_set (FabPointsList *self, guint row, char *const *labels, const FabTry *trial);
void fab_points_list_clear (FabPointsList *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabPointsList, fab_points_list_clear)

/* Labels, step, exposed communication, MFU, tokens per second, and the class of the binding link; or the problem's
 * first line. */
void fab_points_append_text (GString *text, const FabPoints *points);

/* Labels, every figure of fab_figures under its column, the binding link, its class, the problem. (transfer full) */
FabTable *fab_points_table (const FabPoints *points);

/* The same rows as an array under `key`. */
void fab_points_add_json (FabJson *json, const char *key, const FabPoints *points);

/* The rows of any table, likewise. */
void fab_cli_add_json_rows (FabJson *json, const char *key, const FabTable *table);
