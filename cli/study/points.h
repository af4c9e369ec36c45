/* SPDX-License-Identifier: Apache-2.0 */
/* points.h - prints points of a study as a table: their labels, then their figures. */
#pragma once

#include "sim/base/json.h"

#include "sim/result/table.h"
#include "sim/study/study_band.h"

typedef struct {
  const char *const *labels; /* one for each of FabPoints.columns */
  const FabTry *trial;       /* its result, or its problem */
  const char *mark;          /* appended to the line of text: "<"; NULL: nothing */
  const FabBand *band;       /* of the step; NULL: none */
} FabPointsRow;

typedef struct {
  const char *const *columns; /* headings of the labels, NULL-ended: "value", "is_met" */
  guint n_shown;              /* labels shown in text; tables for programs have all */
  guint
      n_numbers; /* how many of the last labels are numbers (NULL: missing); tables for programs hold them as numbers */
  const FabPointsRow *rows;
  guint n_rows;
  const char *hold; /* which batch the points hold: "batch" or "micro_batch"; NULL: none */
} FabPoints;

/* A table of points that owns its labels. */
typedef struct {
  FabPoints points;
  char **labels;      /* in row order; owned */
  FabPointsRow *made; /* the rows */
} FabPointsList;

/* Makes room for `n_rows`; `columns` must outlive it. */
void fab_points_list_init (FabPointsList *self, const char *const *columns, guint n_shown, guint n_numbers,
                           guint n_rows);
/* Sets a row. Takes ownership of the labels, one per column. */
void fab_points_list_set (FabPointsList *self, guint row, char *const *labels, const FabTry *trial);
void fab_points_list_clear (FabPointsList *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabPointsList, fab_points_list_clear)

/* The most seeds that a point of the table was simulated with. */
guint fab_points_n_seeds (const FabPoints *points);

/* Appends a line per point: labels, step, exposed communication (both with their ranges over several seeds), idle and
 * waiting, MFU, tokens per second, and the class of the binding link; or the first line of its problem. */
void fab_points_append_text (GString *text, const FabPoints *points);

/* Appends MFU and tokens per second in columns of these widths, or "-" where the job has none. */
void fab_points_append_rates (GString *text, const FabPoint *point, int mfu_width, int tokens_width);

/* What the last column of a table shows of a point: what limits its step, or its slowest link where no point of
 * the table was asked for that. */
const char *fab_points_limit (const FabPoint *point, gboolean has_limits);
/* The heading of that column. */
const char *fab_points_limit_heading (gboolean has_limits);

/* Appends "  does not fit: 219 of 80 GB" where that is so. */
void fab_points_append_misfit (GString *text, const FabPoint *point);

/* Returns labels, which batch is held, the global batch, every figure of fab_figures, the number of seeds with
 * ranges, the slowest link, its class, what limits the step, the problem, and the codes of the verdict joined by
 * ";". (transfer full) */
FabTable *fab_points_table (const FabPoints *points);

/* Adds these rows as an array under `key`, each with its verdict as a list, and its "spread" where it
 * has several seeds. */
void fab_points_add_json (FabJson *json, const char *key, const FabPoints *points);

/* Adds the rows of any table as an array under `key`. */
void fab_cli_add_json_rows (FabJson *json, const char *key, const FabTable *table);
