/* SPDX-License-Identifier: Apache-2.0 */
/* directions.c - what makes a sample cheaper or dearer: pairs of a source's rows that differ in one factor.
 *
 * All pairs of the rows of a group. O(rows^2 x factors) string comparisons in the worst case.
 */
#include <math.h>
#include <string.h>

#include "validate/training/report_parts.h"

static const double least_change = 0.02;

/* Columns by number, ended by -1. */
typedef struct {
  const FabTrainingResult *result;
  gint *same, *factors;
} Pairs;

static const char *
cell (const FabTrainingComparison *row, gint column)
{
  return row->measured->cells[column];
}

static gboolean
is_equal (const FabTrainingComparison *a, const FabTrainingComparison *b, const gint *columns, gint but)
{
  for (guint i = 0; columns[i] >= 0; i++)
    if (columns[i] != but && strcmp (cell (a, columns[i]), cell (b, columns[i])) != 0)
      return FALSE;
  return TRUE;
}

/* (transfer full) */
static gint *
columns_of (const FabTrainingTable *table, const char *names)
{
  g_auto (GStrv) words = g_strsplit (names ? names : "", " ", -1);
  gint *columns = g_new (gint, g_strv_length (words) + 1);
  guint n = 0;

  for (guint i = 0; words[i]; i++)
    if (*words[i] != '\0' && fab_training_table_column (table, words[i]) >= 0)
      columns[n++] = fab_training_table_column (table, words[i]);
  columns[n] = -1;
  return columns;
}

static gboolean
read_number (const char *text, double *number)
{
  char *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0';
}

/* Some row like `a` and `b` in all else stands between them. */
static gboolean
has_between (const Pairs *self, const FabTrainingComparison *a, const FabTrainingComparison *b, gint factor)
{
  double from, to, middle;

  if (!read_number (cell (a, factor), &from) || !read_number (cell (b, factor), &to))
    return FALSE;
  for (guint i = 0; i < self->result->rows->len; i++) {
    const FabTrainingComparison *row = &g_array_index (self->result->rows, FabTrainingComparison, i);

    if (row->role <= FAB_RUN_LAST_PREDICTED && is_equal (a, row, self->same, -1)
        && is_equal (a, row, self->factors, factor) && read_number (cell (row, factor), &middle)
        && (middle - from) * (to - middle) > 0)
      return TRUE;
  }
  return FALSE;
}

static double
change (const FabTrainingRow *a, const FabTrainingRow *b, double a_step_s, double b_step_s)
{
  return b_step_s * b->gpus / b->batch / (a_step_s * a->gpus / a->batch) - 1;
}

static void
compare (const Pairs *self, const FabTrainingComparison *a, const FabTrainingComparison *b, gint factor,
         FabDirections *count, GArray *wrong)
{
  double measured = change (a->measured, b->measured, a->measured->step_s, b->measured->step_s);
  double predicted = change (a->measured, b->measured, a->predicted.step_s, b->predicted.step_s);
  FabWrongDirection row = { self->result->source->spec->name,
                            self->result->source->table->columns[factor],
                            a->measured->id,
                            b->measured->id,
                            measured,
                            predicted };

  if (fabs (measured) < least_change)
    count->n_small++;
  else if (measured * predicted > 0)
    count->n_right++;
  else if (strcmp (row.factor, "gpus") == 0 && (b->measured->gpus > a->measured->gpus) == (measured < 0))
    count->n_odd++;
  else {
    count->n_wrong++;
    g_array_append_val (wrong, row);
  }
}

static void
compare_factor (const Pairs *self, gint factor, FabDirections *count, GArray *wrong)
{
  const GArray *rows = self->result->rows;

  for (guint i = 0; i < rows->len; i++)
    for (guint k = i + 1; k < rows->len; k++) {
      const FabTrainingComparison *a = &g_array_index (rows, FabTrainingComparison, i);
      const FabTrainingComparison *b = &g_array_index (rows, FabTrainingComparison, k);
      gboolean is_inside = a->measured->nodes < 2 && b->measured->nodes < 2;

      if (a->role > FAB_RUN_LAST_PREDICTED || b->role > FAB_RUN_LAST_PREDICTED || is_inside
          || !is_equal (a, b, self->same, -1) || !is_equal (a, b, self->factors, factor)
          || strcmp (cell (a, factor), cell (b, factor)) == 0 || has_between (self, a, b, factor))
        continue;
      compare (self, a, b, factor, count, wrong);
    }
}

void
fab_training_directions (FabTrainingResult *result, GArray *wrong)
{
  const FabTrainingSourceSpec *spec = result->source->spec;
  g_autofree gint *same = columns_of (result->source->table, spec->same);
  g_autofree gint *factors = columns_of (result->source->table, spec->factors);
  Pairs pairs = { result, same, factors };

  for (guint i = 0; factors[i] >= 0; i++)
    compare_factor (&pairs, factors[i], &result->directions, wrong);
}
