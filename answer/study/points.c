/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/points.h"

#include <string.h>

#include "answer/study/spread.h"

FabPoints *
fab_points_new (const char *const *columns, guint n_shown, guint n_numbers, const char *hold)
{
  FabPoints *self = g_new0 (FabPoints, 1);

  *self = (FabPoints){ g_strdupv ((char **) columns), n_shown, n_numbers,
                       g_array_new (FALSE, FALSE, sizeof (FabPointsRow)), hold };
  return self;
}

FabPointsRow *
fab_points_add (FabPoints *self, char *const *labels, const FabPoint *point, const char *problem)
{
  guint n_columns = g_strv_length (self->columns);
  FabPointsRow row = { g_new (char *, n_columns + 1), point, problem, NULL, NULL };

  memcpy (row.labels, labels, n_columns * sizeof *labels);

  g_array_append_val (self->rows, row);
  return fab_points_row (self, self->rows->len - 1);
}

void
fab_points_free (FabPoints *self)
{
  if (self == NULL)
    return;
  for (guint r = 0; r < self->rows->len; r++) {
    for (guint c = 0; self->columns[c] != NULL; c++)
      g_free (fab_points_row (self, r)->labels[c]);
    g_free (fab_points_row (self, r)->labels);
  }
  g_array_unref (self->rows);
  g_strfreev (self->columns);
  g_free (self);
}

guint
fab_points_n_seeds (const FabPoints *self)
{
  guint most = 1;

  for (guint i = 0; i < self->rows->len; i++)
    most = MAX (most, fab_spread_n_seeds (fab_points_row (self, i)->point));
  return most;
}

double
fab_points_coverage (const FabPoints *self)
{
  double least = 0;

  for (guint i = 0; i < self->rows->len; i++) {
    const FabBand *band = fab_points_row (self, i)->band;

    if (band != NULL)
      least = least > 0 ? MIN (least, band->coverage_fraction) : band->coverage_fraction;
  }
  return least;
}

gboolean
fab_points_has_limits (const FabPoints *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    if (fab_points_row (self, i)->point != NULL && fab_points_row (self, i)->point->bottleneck != NULL)
      return TRUE;
  return FALSE;
}

/* --- cells --- */

const char fab_points_verdict_column[] = "verdict";

static const char *const spread_columns[] = { "seeds", "step_low_s", "step_high_s", "exposed_low_fraction",
                                              "exposed_high_fraction" };

/* As many cells as there are of these columns. */
static void
add_spread (FabTable *table, const FabPoint *point)
{
  static const char *const names[] = { "step", "exposed" };

  if (point == NULL) {
    for (guint i = 0; i < G_N_ELEMENTS (spread_columns); i++)
      fab_table_add_null (table);
    return;
  }
  fab_table_add_integer (table, fab_spread_n_seeds (point));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    FabSpread spread = fab_spread_of (fab_figure_find (names[i]), point);

    fab_table_add_real (table, spread.low);
    fab_table_add_real (table, spread.high);
  }
}

static const char *const band_columns[] = { "step_band_low_s", "step_band_high_s", "band_coverage_fraction" };

/* As many cells as there are of these columns. */
static void
add_band (FabTable *table, const FabBand *band)
{
  for (guint i = 0; band == NULL && i < G_N_ELEMENTS (band_columns); i++)
    fab_table_add_null (table);
  if (band == NULL)
    return;
  fab_table_add_real (table, band->low[0]);
  fab_table_add_real (table, band->high[0]);
  fab_table_add_real (table, band->coverage_fraction);
}

/* JSON has what is held, and the spread, beside the points. */
static FabTable *
new_table (const FabPoints *points, gboolean has_spread)
{
  g_autoptr (GPtrArray) columns = g_ptr_array_new ();

  for (guint c = 0; points->columns[c] != NULL; c++)
    g_ptr_array_add (columns, points->columns[c]);
  if (has_spread)
    g_ptr_array_add (columns, (gpointer) "hold");
  g_ptr_array_add (columns, (gpointer) "global_batch");
  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++)
    g_ptr_array_add (columns, (gpointer) figure->column);
  for (guint i = 0; has_spread && i < G_N_ELEMENTS (spread_columns); i++)
    g_ptr_array_add (columns, (gpointer) spread_columns[i]);
  for (guint i = 0; fab_points_coverage (points) > 0 && i < G_N_ELEMENTS (band_columns); i++)
    g_ptr_array_add (columns, (gpointer) band_columns[i]);
  g_ptr_array_add (columns, (gpointer) "binding_link");
  g_ptr_array_add (columns, (gpointer) "binding_link_spec");
  g_ptr_array_add (columns, (gpointer) "limited_by");
  g_ptr_array_add (columns, (gpointer) "problem");
  g_ptr_array_add (columns, (gpointer) fab_points_verdict_column);
  g_ptr_array_add (columns, NULL);
  return fab_table_new ((const char *const *) columns->pdata);
}

static void
add_figure (FabTable *table, const FabFigure *figure, const FabPoint *point)
{
  if (!fab_point_has (point, figure))
    fab_table_add_null (table);
  else if (figure->kind == FAB_FIGURE_BYTES)
    fab_table_add_integer (table, (gint64) figure->value (point));
  else
    fab_table_add_real (table, figure->value (point));
}

static void
add_number (FabTable *table, const char *number)
{
  if (number == NULL)
    fab_table_add_null (table);
  else if (strpbrk (number, ".e") != NULL)
    fab_table_add_real (table, g_ascii_strtod (number, NULL));
  else
    fab_table_add_integer (table, g_ascii_strtoll (number, NULL, 10));
}

static void
add_labels (FabTable *table, const FabPoints *points, const FabPointsRow *row)
{
  guint n = g_strv_length (points->columns);

  for (guint c = 0; c < n; c++)
    if (c + points->n_numbers < n)
      fab_table_add_text (table, row->labels[c]);
    else
      add_number (table, row->labels[c]);
}

static void
add_batch (FabTable *table, const FabPoint *point)
{
  if (point == NULL || point->global_batch == 0)
    fab_table_add_null (table);
  else
    fab_table_add_integer (table, (gint64) point->global_batch);
}

FabTable *
fab_points_table (const FabPoints *points, gboolean has_spread)
{
  FabTable *table = new_table (points, has_spread);
  gboolean has_bands = fab_points_coverage (points) > 0;

  for (guint i = 0; i < points->rows->len; i++) {
    const FabPointsRow *row = fab_points_row (points, i);
    const FabPoint *point = row->point;

    add_labels (table, points, row);
    if (has_spread)
      fab_table_add_text (table, points->hold);
    add_batch (table, point);
    for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++)
      add_figure (table, figure, point);
    if (has_spread)
      add_spread (table, point);
    if (has_bands)
      add_band (table, row->band);
    fab_table_add_text (table, point ? point->binding : NULL);
    fab_table_add_text (table, point ? point->binding_spec : NULL);
    fab_table_add_text (table, point ? fab_bottleneck_name (point->bottleneck) : NULL);
    fab_table_add_text (table, row->problem);
    g_autofree char *codes = point ? fab_verdict_codes (point->verdict) : NULL;
    fab_table_add_text (table, codes);
  }
  return table;
}
