/* SPDX-License-Identifier: Apache-2.0 */
/* directions.c - all pairs of a source's rows. O(rows^2 x factors), rows are few. */
#include "validate/training/directions.h"

#include <math.h>
#include <string.h>

static const double least_change = 0.02;

typedef struct {
  const FabTrainingResult *result;
  char **same, **factors;
} Pairs;

static const char *
cell (const Pairs *self, const FabTrainingComparison *row, const char *column)
{
  return row->measured->cells[fab_training_table_column (self->result->source->table, column)];
}

static gboolean
is_equal (const Pairs *self, const FabTrainingComparison *a, const FabTrainingComparison *b, char **columns,
          const char *but)
{
  for (guint i = 0; columns[i]; i++)
    if (*columns[i] != '\0' && g_strcmp0 (columns[i], but) != 0
        && strcmp (cell (self, a, columns[i]), cell (self, b, columns[i])) != 0)
      return FALSE;
  return TRUE;
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
has_between (const Pairs *self, const FabTrainingComparison *a, const FabTrainingComparison *b,
             const char *factor)
{
  double from, to, middle;

  if (!read_number (cell (self, a, factor), &from) || !read_number (cell (self, b, factor), &to))
    return FALSE;
  for (guint i = 0; i < self->result->rows->len; i++) {
    const FabTrainingComparison *row = &g_array_index (self->result->rows, FabTrainingComparison, i);

    if (row->role < FAB_RUN_FULL_MEMORY && is_equal (self, a, row, self->same, NULL)
        && is_equal (self, a, row, self->factors, factor) && read_number (cell (self, row, factor), &middle)
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
compare (const Pairs *self, const FabTrainingComparison *a, const FabTrainingComparison *b,
         const char *factor, FabDirections *count, GArray *wrong)
{
  double measured = change (a->measured, b->measured, a->measured->step_s, b->measured->step_s);
  double predicted = change (a->measured, b->measured, a->predicted.step_s, b->predicted.step_s);
  FabWrongDirection row = { self->result->source->spec->name,
                            g_intern_string (factor),
                            a->measured->id,
                            b->measured->id,
                            measured,
                            predicted };

  if (fabs (measured) < least_change)
    count->n_small++;
  else if (measured * predicted > 0)
    count->n_right++;
  else if (strcmp (factor, "gpus") == 0 && (b->measured->gpus > a->measured->gpus) == (measured < 0))
    count->n_odd++;
  else {
    count->n_wrong++;
    g_array_append_val (wrong, row);
  }
}

static void
compare_factor (const Pairs *self, const char *factor, FabDirections *count, GArray *wrong)
{
  const GArray *rows = self->result->rows;

  for (guint i = 0; i < rows->len; i++)
    for (guint k = i + 1; k < rows->len; k++) {
      const FabTrainingComparison *a = &g_array_index (rows, FabTrainingComparison, i);
      const FabTrainingComparison *b = &g_array_index (rows, FabTrainingComparison, k);
      gboolean is_inside = a->measured->nodes < 2 && b->measured->nodes < 2;

      if (a->role >= FAB_RUN_FULL_MEMORY || b->role >= FAB_RUN_FULL_MEMORY || is_inside
          || !is_equal (self, a, b, self->same, NULL) || !is_equal (self, a, b, self->factors, factor)
          || strcmp (cell (self, a, factor), cell (self, b, factor)) == 0 || has_between (self, a, b, factor))
        continue;
      compare (self, a, b, factor, count, wrong);
    }
}

void
fab_training_directions (FabTrainingResult *result, GArray *wrong)
{
  const FabTrainingSourceSpec *spec = result->source->spec;
  g_auto (GStrv) same = g_strsplit (spec->same, " ", -1);
  g_auto (GStrv) factors = g_strsplit (spec->factors ? spec->factors : "", " ", -1);
  Pairs pairs = { result, same, factors };

  for (guint i = 0; factors[i]; i++)
    if (*factors[i] != '\0')
      compare_factor (&pairs, factors[i], &result->directions, wrong);
}
