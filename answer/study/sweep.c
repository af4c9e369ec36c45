/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/sweep.h"

#include "answer/study/choices.h"
#include "answer/study/hold.h"
#include "answer/study/spread.h"
#include "sim/base/order.h"
#include "sim/base/thread_pool.h"
#include "sim/study/sweep_record.h"

static void
free_try (gpointer data)
{
  fab_try_clear (data);
  g_free (data);
}

/* FabSweepPointFunc */
static void
take_point (const FabSweepPointRecord *record, gpointer data)
{
  FabSweepAnswer *self = data;
  gint64 number = (gint64) record->point;

  if (number >= self->grid->n_points) /* the file was changed by hand */
    return;
  FabTry *trial = g_new0 (FabTry, 1);
  fab_sweep_record_to_try (record, trial);
  self->n_played += trial->point != NULL;
  self->n_accepted += fab_study_accepts (self->study, trial->point);
  g_ptr_array_add (self->tries, trial);
  g_array_append_val (self->numbers, number);
}

/* --- bands --- */

/* A band that cannot be had is none: the point itself was played. */
static void
find_band (gpointer data, guint row)
{
  const FabSweepAnswer *self = data;
  const FabTry *trial = g_ptr_array_index (self->tries, row);
  const FabFigure *const figures[] = { fab_figure_find ("step") };
  g_autoptr (FabEdits) edits = fab_grid_edits (self->grid, g_array_index (self->numbers, gint64, row));
  g_autoptr (GError) problem = NULL;

  if (trial->point != NULL)
    fab_study_band (self->study, edits, trial->point, &(FabBandFigures){ figures, 1 }, &self->bands[row],
                    &problem);
}

static void
find_bands (FabSweepAnswer *self, guint n_threads)
{
  self->bands = g_new0 (FabBand *, self->tries->len + 1);
  fab_thread_pool_run (n_threads, self->tries->len, find_band, self);
}

/* --- order --- */

/* The most tokens, or where there are none the shortest step, is before; then what does not fit into memory, unless
 * that is allowed; what cannot be played is last. */
static int
compare_tries (const FabStudy *study, const FabTry *a, const FabTry *b)
{
  gboolean is_a_good = fab_study_accepts (study, a->point), is_b_good = fab_study_accepts (study, b->point);

  if (is_a_good != is_b_good)
    return is_a_good ? -1 : 1;
  if (a->point == NULL || b->point == NULL)
    return (a->point == NULL) - (b->point == NULL);
  if (a->point->tokens_per_s != b->point->tokens_per_s)
    return a->point->tokens_per_s > b->point->tokens_per_s ? -1 : 1;
  return (a->point->step_s > b->point->step_s) - (a->point->step_s < b->point->step_s);
}

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  guint row_a = *(const guint *) a, row_b = *(const guint *) b;
  const FabSweepAnswer *self = data;

  return compare_tries (self->study, fab_sweep_try (self, row_a), fab_sweep_try (self, row_b));
}

static void
sort (FabSweepAnswer *self)
{
  guint n = self->tries->len;

  self->order = g_new (guint, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    self->order[i] = i;
  fab_order_numbers (self->order, n, compare_rows, self);
}

static void
add_pairs (FabSweepAnswer *self)
{
  g_autofree const FabPoint **points = g_new0 (const FabPoint *, (gsize) self->grid->n_points);

  self->pairs = fab_choice_pairs_new ();
  for (guint i = 0; i < self->tries->len; i++)
    points[g_array_index (self->numbers, gint64, i)] = fab_sweep_try (self, i)->point;
  fab_choice_pairs_add_grid (self->pairs, self->grid, points);
}

/* --- the answer --- */

FabSweepAnswer *
fab_sweep_answer (const FabStudy *study, const FabGrid *grid, FabStore *store, gint64 sweep_id,
                  gboolean has_band, GError **error)
{
  g_autoptr (FabSweepAnswer) self = g_new0 (FabSweepAnswer, 1);

  *self = (FabSweepAnswer){ .grid = grid,
                            .study = study,
                            .tries = g_ptr_array_new_with_free_func (free_try),
                            .numbers = g_array_new (FALSE, FALSE, sizeof (gint64)) };
  if (!fab_store_each_point (store, sweep_id, take_point, self, error))
    return NULL;
  if (has_band)
    find_bands (self, study->n_threads);
  sort (self);
  add_pairs (self);
  return g_steal_pointer (&self);
}

void
fab_sweep_answer_free (FabSweepAnswer *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; self->bands != NULL && i < self->tries->len; i++)
    fab_band_free (self->bands[i]);
  g_free (self->bands);
  g_free (self->order);
  g_clear_pointer (&self->pairs, g_array_unref);
  g_ptr_array_unref (self->tries);
  g_array_unref (self->numbers);
  g_free (self);
}

/* --- rows --- */

static FabPoints *
points_of (const FabSweepAnswer *self, const guint *order, guint n)
{
  guint n_axes = self->grid->axes->len;
  g_auto (GStrv) columns = g_new0 (char *, n_axes + 1);
  g_autofree char **labels = g_new0 (char *, n_axes + 1);

  for (guint a = 0; a < n_axes; a++)
    columns[a] = fab_grid_axis_key (self->grid, a);
  FabPoints *points = fab_points_new ((const char *const *) columns, n_axes, 0, fab_hold_of (self->study));
  for (guint i = 0; i < n; i++) {
    guint row = order != NULL ? order[i] : i;
    gint64 number = g_array_index (self->numbers, gint64, row);
    const FabTry *trial = fab_sweep_try (self, row);

    for (guint a = 0; a < n_axes; a++)
      labels[a] = fab_grid_axis_value (self->grid, a, fab_grid_item (self->grid, number, a));
    fab_points_add (points, labels, trial->point, trial->problem)->band = self->bands != NULL
                                                                            ? self->bands[row]
                                                                            : NULL;
  }
  return points;
}

FabPoints *
fab_sweep_points (const FabSweepAnswer *self)
{
  return points_of (self, NULL, self->tries->len);
}

FabPoints *
fab_sweep_best_points (const FabSweepAnswer *self, guint n)
{
  return points_of (self, self->order, MIN (n, self->tries->len));
}

gboolean
fab_sweep_mark_best (const FabSweepAnswer *self, FabPoints *points)
{
  guint best = self->order[0];
  const FabPoint *first = fab_sweep_try (self, best)->point;
  gboolean is_any = FALSE;

  for (guint i = 0; i < self->tries->len; i++) {
    const FabPoint *point = fab_sweep_try (self, i)->point;

    if (i != best && point != NULL && fab_spread_is_within (fab_figure_find ("step"), first, point)) {
      fab_points_row (points, i)->mark = "=";
      is_any = TRUE;
    }
  }
  fab_points_row (points, best)->mark = "<";
  return is_any;
}
