/* SPDX-License-Identifier: Apache-2.0 */
/* pairs_compute.c - pairs of runs, by the time that they compute. O(rows^2 x columns) of every source.
 *
 * A residual is that of the blind prediction (validate/training/report.h). Of two accelerators it is that of
 * setups which are fitted without the source. These have one factor, which is the same in both residuals, so the pair
 * is the two factors that the rows themselves would have. Left out are rows that `validate setups` leaves out: doubtful
 * ones, experts that are divided, rows that expose over a quarter of the step, and runs at less than a fifth of the
 * roofline.
 */
#include <math.h>
#include <string.h>

#include "validate/bands/pairs.h"

static const double most_exposed_fraction = 0.25;

static const char by_nothing[] = "measured again", by_accelerator[] = "accelerator";

/* What a column of a table says; NULL ends the list. A run with other NICs computes the same. */
static const struct {
  const char *columns, *kind;
} kinds[] = {
  { "gpus", "number of GPUs" },
  { "model", "model" },
  { "batch micro_batch accumulation tokens sequence", "batch or sequence" },
  { "tensor pipeline context expert data zero strategy", "parallelism" },
  { "kernel recompute autocast sequence_parallel", "kernels" },
};

/* The rows of a source that say something of compute. */
typedef struct {
  const FabTrainingResult *result;
  const char **columns; /* of `same` and `factors`, NULL-ended */
  char **words;
  GArray *rows; /* const FabTrainingComparison * */
} Source;

static void
source_clear (gpointer data)
{
  Source *self = data;

  g_free (self->columns);
  g_strfreev (self->words);
  g_array_unref (self->rows);
}

/* What the row's own compute would have as its scale. */
static double
own_log_factor (const FabTrainingComparison *row)
{
  return log (row->blind.step.cell.time_factor) + row->blind.residual;
}

static gboolean
is_taken (const FabTrainingComparison *row)
{
  const FabTrainingStep *step = &row->blind.step;

  return row->blind.is_predicted && row->role != FAB_RUN_FULL_MEMORY && !row->measured->doubtful
      && row->traits.expert == 1 && step->cell.stack != NULL
      && step->exposed_s <= most_exposed_fraction * step->step_s
      && own_log_factor (row) <= -log (FAB_TRAINING_LEAST_SCALE);
}

static Source
source_of (const FabTrainingResult *result)
{
  const FabTrainingSourceSpec *spec = result->source->spec;
  g_autofree char *names = g_strjoin (" ", spec->same ? spec->same : "", spec->factors ? spec->factors : "",
                                      NULL);
  Source self = { .result = result,
                  .words = g_strsplit (names, " ", -1),
                  .rows = g_array_new (FALSE, FALSE, sizeof (gpointer)) };
  guint n = 0;

  self.columns = g_new0 (const char *, g_strv_length (self.words) + 1);
  for (guint i = 0; self.words[i] != NULL; i++)
    if (*self.words[i] != '\0' && fab_training_table_column (result->source->table, self.words[i]) >= 0)
      self.columns[n++] = self.words[i];
  for (guint i = 0; i < result->rows->len; i++) {
    const FabTrainingComparison *row = &g_array_index (result->rows, FabTrainingComparison, i);

    if (is_taken (row))
      g_array_append_val (self.rows, row);
  }
  return self;
}

static const FabTrainingComparison *
row_at (const Source *self, guint i)
{
  return g_array_index (self->rows, const FabTrainingComparison *, i);
}

/* "": the table has no such column. */
static const char *
cell_of (const Source *self, const FabTrainingComparison *row, const char *column)
{
  gint index = fab_training_table_column (self->result->source->table, column);

  return index >= 0 ? row->measured->cells[index] : "";
}

static const char *
kind_of (const char *column)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_auto (GStrv) words = g_strsplit (kinds[i].columns, " ", -1);

    if (g_strv_contains ((const char *const *) words, column))
      return kinds[i].kind;
  }
  return NULL;
}

/* Of two runs of one cell. NULL: they differ in more than one thing, or in one that compute knows nothing of. */
static const char *
what_differs (const Source *self, const FabTrainingComparison *a, const FabTrainingComparison *b)
{
  const char *column = NULL;

  for (guint i = 0; self->columns[i] != NULL; i++)
    if (strcmp (cell_of (self, a, self->columns[i]), cell_of (self, b, self->columns[i])) != 0) {
      if (column != NULL)
        return NULL;
      column = self->columns[i];
    }
  return column != NULL ? kind_of (column) : by_nothing;
}

/* --- pairs --- */

static FabPairSide
side_of (const FabTrainingComparison *row, FabPairRelation relation)
{
  const FabTrainingCell *cell = &row->blind.step.cell;
  double residual = relation == FAB_PAIR_OTHER ? own_log_factor (row) : row->blind.residual;

  return (FabPairSide){ residual, log (cell->low_factor), log (cell->high_factor) };
}

static void
add_pair (FabPairs *self, const Source *source, const char *kind, FabPairRelation relation,
          const FabTrainingComparison *a, const FabTrainingComparison *b)
{
  FabPairMaker maker = fab_pair_maker (self, 1);

  maker.pair.kind = kind;
  maker.pair.families[0] = maker.pair.families[1] = source->result->source->spec->name;
  maker.pair.tables[0] = a->measured->id;
  maker.pair.tables[1] = b->measured->id;
  fab_pair_maker_add (&maker, side_of (a, relation), side_of (b, relation));
  g_array_append_val (self->compute[relation].pairs, maker.pair);
}

static gboolean
is_text_equal (const char *a, const char *b)
{
  return g_strcmp0 (a, b) == 0;
}

/* Of one cell of `setups`. */
static gboolean
is_one_cell (const FabTrainingCell *a, const FabTrainingCell *b)
{
  return is_text_equal (a->generation, b->generation) && is_text_equal (a->precision, b->precision)
      && is_text_equal (a->stack, b->stack);
}

/* One model on two accelerators, with the same software. */
static gboolean
is_other_accelerator (const Source *self, const FabTrainingComparison *a, const FabTrainingComparison *b)
{
  const FabTrainingCell *one = &a->blind.step.cell, *two = &b->blind.step.cell;

  return !is_text_equal (one->generation, two->generation) && is_text_equal (one->precision, two->precision)
      && is_text_equal (one->stack, two->stack)
      && strcmp (cell_of (self, a, "model"), cell_of (self, b, "model")) == 0;
}

static void
add_source (FabPairs *self, const Source *source)
{
  for (guint i = 0; i < source->rows->len; i++)
    for (guint k = i + 1; k < source->rows->len; k++) {
      const FabTrainingComparison *a = row_at (source, i), *b = row_at (source, k);
      const char *kind = what_differs (source, a, b);

      if (is_one_cell (&a->blind.step.cell, &b->blind.step.cell) && kind != NULL)
        add_pair (self, source, kind, kind == by_nothing ? FAB_PAIR_SAME : FAB_PAIR_ALIKE, a, b);
      if (is_other_accelerator (source, a, b))
        add_pair (self, source, by_accelerator, FAB_PAIR_OTHER, a, b);
    }
}

void
fab_pairs_add_compute (FabPairs *self, const FabTrainingReport *report)
{
  g_autoptr (GArray) sources = g_array_new (FALSE, FALSE, sizeof (Source));

  g_array_set_clear_func (sources, source_clear);
  for (guint i = 0; i < report->results->len; i++) {
    Source source = source_of (g_ptr_array_index (report->results, i));

    g_array_append_val (sources, source);
  }
  for (guint i = 0; i < sources->len; i++)
    add_source (self, &g_array_index (sources, Source, i));
}
