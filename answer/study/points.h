/* SPDX-License-Identifier: Apache-2.0 */
/* points.h - points of a study as a table: their labels, then their figures. Text, CSV, JSON and hosts read the same
 * rows. */
#pragma once

#include "sim/result/table.h"
#include "sim/study/study_band.h"

typedef struct {
  char **labels;         /* one for each of FabPoints.columns, NULL: missing; owned by the table */
  const FabPoint *point; /* NULL: it was not simulated, and `problem` may say why */
  const char *problem;
  const char *mark;    /* appended to the line of text: "<"; NULL: nothing */
  const FabBand *band; /* of the step; NULL: none */
} FabPointsRow;

typedef struct {
  char **columns;   /* headings of the labels, NULL-ended: "value", "is_met" */
  guint n_shown;    /* labels shown in text; tables for programs have all */
  guint n_numbers;  /* how many of the last labels are numbers; tables for programs hold them as numbers */
  GArray *rows;     /* FabPointsRow */
  const char *hold; /* which batch the points hold: "batch" or "micro_batch"; NULL: none */
} FabPoints;

/* An empty table. (transfer full) */
FabPoints *fab_points_new (const char *const *columns, guint n_shown, guint n_numbers, const char *hold);
/* Appends a row, and takes its labels, one for each column. The point and the problem outlive the table. Returns the
 * row, which stays where it is until the next one. */
FabPointsRow *fab_points_add (FabPoints *self, char *const *labels, const FabPoint *point,
                              const char *problem);
void fab_points_free (FabPoints *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPoints, fab_points_free)

static inline FabPointsRow *
fab_points_row (const FabPoints *self, guint row)
{
  return &g_array_index (self->rows, FabPointsRow, row);
}

/* Whether the point has the figure, also where its step takes no time. */
static inline gboolean
fab_point_has (const FabPoint *point, const FabFigure *figure)
{
  return point != NULL && (figure->is_known == NULL || figure->is_known (point));
}

/* The most seeds that a point of the table was simulated with. */
guint fab_points_n_seeds (const FabPoints *self);
/* The share of cases of the band that covers least; 0: no row has a band. */
double fab_points_coverage (const FabPoints *self);
/* Whether it is known of a point what limits its step. */
gboolean fab_points_has_limits (const FabPoints *self);

/* The name of the column with the codes of the verdict, joined by ";". */
extern const char fab_points_verdict_column[];

/* Returns labels, which batch is held, the global batch, every figure of fab_figures, the number of seeds with
 * ranges, the slowest link, its class, what limits the step, the problem, and the codes of the verdict. Without
 * `has_spread` there is no column of what is held and of seeds, which JSON has beside the points. (transfer full) */
FabTable *fab_points_table (const FabPoints *self, gboolean has_spread);
