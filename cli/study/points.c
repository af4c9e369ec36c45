/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/points.h"

#include <math.h>
#include <string.h>

#include "cli/study/spread_text.h"
#include "sim/base/json.h"
#include "sim/study/better.h"

/* --- text --- */

static glong
label_width (const FabPoints *points, guint column)
{
  glong width = g_utf8_strlen (points->columns[column], -1);

  for (guint i = 0; i < points->n_rows; i++)
    width = MAX (width, g_utf8_strlen (points->rows[i].labels[column], -1));
  return width;
}

static void
append_label (GString *text, const char *label, guint column, glong width)
{
  g_string_append_printf (text, "%s  %s%*s", column > 0 ? "\v" : "", label,
                          (int) (width - g_utf8_strlen (label, -1)), "");
}

enum { RANGE_WIDTH = 24, SHARES_WIDTH = 16 };

static void
append_range (GString *text, const char *figure, const FabPoint *point, int width)
{
  g_autofree char *range = fab_spread_show (fab_figure_find (figure), point);

  g_string_append_printf (text, "\v  %-*s", width, range);
}

/* The band that covers least; 0: no row has one. */
static double
coverage_of (const FabPoints *points)
{
  double least = 0;

  for (guint i = 0; i < points->n_rows; i++) {
    const FabBand *band = points->rows[i].band;

    if (band != NULL && (least <= 0 || band->coverage_fraction < least))
      least = band->coverage_fraction;
  }
  return least;
}

static void
append_band (GString *text, const FabBand *band)
{
  g_autofree char *low = band ? fab_units_show (FAB_UNIT_TIME, round (band->low[0] * FAB_PS_PER_S)) : NULL,
                  *high = band ? fab_units_show (FAB_UNIT_TIME, round (band->high[0] * FAB_PS_PER_S)) : NULL;
  g_autofree char *both = band ? g_strdup_printf ("%s to %s", low, high) : g_strdup ("-");

  g_string_append_printf (text, "\v  %-*s", RANGE_WIDTH, both);
}

static void
append_figures (GString *text, const FabPointsRow *row, gboolean has_ranges, gboolean has_bands,
                gboolean has_limits)
{
  const FabPoint *point = row->trial->point;
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, point->step_s * FAB_PS_PER_S);
  double exposed = point->step_s > 0 ? point->exposed_s / point->step_s : 0;

  g_string_append_printf (text, "\v %12s", step);
  if (has_bands)
    append_band (text, row->band);
  if (has_ranges)
    append_range (text, "step", point, RANGE_WIDTH);
  g_string_append_printf (text, "\v %8.1f %%", 100 * exposed);
  if (has_ranges)
    append_range (text, "exposed", point, SHARES_WIDTH);
  g_string_append_printf (text, "\v %6.1f %%\v %6.1f %%", 100 * fab_figure_find ("idle")->value (point),
                          100 * fab_figure_find ("waiting")->value (point));
  fab_points_append_rates (text, point, 9, 14);
  g_string_append_printf (text, "\v  %s", fab_points_limit (point, has_limits));
}

const char *
fab_points_limit (const FabPoint *point, gboolean has_limits)
{
  const char *name = has_limits ? fab_bottleneck_name (point->bottleneck) : point->binding_spec;

  return name != NULL ? name : "-";
}

const char *
fab_points_limit_heading (gboolean has_limits)
{
  return has_limits ? "limited by" : "slowest link";
}

void
fab_points_append_rates (GString *text, const FabPoint *point, int mfu_width, int tokens_width)
{
  if (fab_figure_is_known (fab_figure_find ("mfu"), point))
    g_string_append_printf (text, "\v %*.1f %%", mfu_width - 2, 100 * point->mfu_fraction);
  else
    g_string_append_printf (text, "\v %*s", mfu_width, "-");
  if (fab_figure_is_known (fab_figure_find ("tokens"), point))
    g_string_append_printf (text, "\v %*.0f", tokens_width, point->tokens_per_s);
  else
    g_string_append_printf (text, "\v %*s", tokens_width, "-");
}

void
fab_points_append_misfit (GString *text, const FabPoint *point)
{
  if (!fab_point_fits (point))
    g_string_append_printf (text, "  does not fit: %.3g of %.3g GB", (double) point->memory_bytes / 1e9,
                            (double) point->memory_max_bytes / 1e9);
}

static void
append_row (GString *text, const FabPoints *points, const FabPointsRow *row, const glong *widths,
            gboolean has_ranges, gboolean has_bands, gboolean has_limits)
{
  for (guint c = 0; c < points->n_shown; c++)
    append_label (text, row->labels[c], c, widths[c]);
  if (row->trial->point != NULL) {
    append_figures (text, row, has_ranges, has_bands, has_limits);
    fab_points_append_misfit (text, row->trial->point);
  } else {
    g_auto (GStrv) lines = g_strsplit (row->trial->problem, "\n", 2);

    g_string_append_printf (text, "\v  cannot be simulated: %s", lines[0]);
  }
  g_string_append_printf (text, "%s%s\n", row->mark ? "  " : "", row->mark ? row->mark : "");
}

guint
fab_points_n_seeds (const FabPoints *points)
{
  guint most = 1;

  for (guint i = 0; i < points->n_rows; i++)
    most = MAX (most, fab_spread_most (&(const FabPoint *){ points->rows[i].trial->point }, 1));
  return most;
}

static gboolean
has_limits_of (const FabPoints *points)
{
  for (guint i = 0; i < points->n_rows; i++)
    if (points->rows[i].trial->point != NULL && points->rows[i].trial->point->bottleneck != NULL)
      return TRUE;
  return FALSE;
}

void
fab_points_append_text (GString *text, const FabPoints *points)
{
  double coverage = coverage_of (points);
  gboolean has_ranges = fab_points_n_seeds (points) > 1, has_limits = has_limits_of (points);
  g_autofree char *bands = g_strdup_printf ("%.0f %% band", 100 * coverage);
  g_autofree glong *widths = g_new (glong, points->n_shown);

  for (guint c = 0; c < points->n_shown; c++) {
    widths[c] = label_width (points, c);
    append_label (text, points->columns[c], c, widths[c]);
  }
  g_string_append_printf (text, "\v %12s", "step");
  if (coverage > 0)
    g_string_append_printf (text, "\v  %-*s", RANGE_WIDTH, bands);
  if (has_ranges)
    g_string_append_printf (text, "\v  %-*s", RANGE_WIDTH, "low to high");
  g_string_append_printf (text, "\v %10s", "exposed");
  if (has_ranges)
    g_string_append_printf (text, "\v  %-*s", SHARES_WIDTH, "low to high");
  g_string_append_printf (text, "\v %8s\v %8s\v %9s\v %14s\v  %s\n", "idle", "waiting", "MFU", "tokens/s",
                          fab_points_limit_heading (has_limits));
  for (guint i = 0; i < points->n_rows; i++)
    append_row (text, points, &points->rows[i], widths, has_ranges, coverage > 0, has_limits);
}

/* --- for programs --- */

static const char verdict_column[] = "verdict";

static gboolean
is_known (const FabFigure *figure, const FabPoint *point)
{
  return point != NULL && (figure->is_known == NULL || figure->is_known (point));
}

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
  fab_table_add_integer (table, fab_spread_most (&point, 1));
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
    g_ptr_array_add (columns, (gpointer) points->columns[c]);
  if (has_spread)
    g_ptr_array_add (columns, (gpointer) "hold");
  g_ptr_array_add (columns, (gpointer) "global_batch");
  for (const FabFigure *figure = fab_figures; figure->name != NULL; figure++)
    g_ptr_array_add (columns, (gpointer) figure->column);
  for (guint i = 0; has_spread && i < G_N_ELEMENTS (spread_columns); i++)
    g_ptr_array_add (columns, (gpointer) spread_columns[i]);
  for (guint i = 0; coverage_of (points) > 0 && i < G_N_ELEMENTS (band_columns); i++)
    g_ptr_array_add (columns, (gpointer) band_columns[i]);
  g_ptr_array_add (columns, (gpointer) "binding_link");
  g_ptr_array_add (columns, (gpointer) "binding_link_spec");
  g_ptr_array_add (columns, (gpointer) "limited_by");
  g_ptr_array_add (columns, (gpointer) "problem");
  g_ptr_array_add (columns, (gpointer) verdict_column);
  g_ptr_array_add (columns, NULL);
  return fab_table_new ((const char *const *) columns->pdata);
}

static void
add_figure (FabTable *table, const FabFigure *figure, const FabPoint *point)
{
  if (!is_known (figure, point))
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
  guint n = g_strv_length ((char **) points->columns);

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

static FabTable *
make_table (const FabPoints *points, gboolean has_spread)
{
  FabTable *table = new_table (points, has_spread);
  gboolean has_bands = coverage_of (points) > 0;

  for (guint i = 0; i < points->n_rows; i++) {
    const FabPointsRow *row = &points->rows[i];
    const FabPoint *point = row->trial->point;

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
    fab_table_add_text (table, row->trial->problem);
    g_autofree char *codes = point ? fab_verdict_codes (point->verdict) : NULL;
    fab_table_add_text (table, codes);
  }
  return table;
}

FabTable *
fab_points_table (const FabPoints *points)
{
  return make_table (points, TRUE);
}

static void
add_cell (FabJson *json, const char *key, const FabCell *cell)
{
  if (cell->kind == FAB_CELL_REAL)
    fab_json_add_real (json, key, cell->real);
  else if (cell->kind == FAB_CELL_INTEGER)
    fab_json_add_whole (json, key, cell->integer);
  else
    fab_json_add_text (json, key, cell->text);
}

/* The verdict of a point as a list; `point` NULL: the row is of none. */
static void
add_row (FabJson *json, const FabTable *table, guint row, const FabPoint *point)
{
  for (guint c = 0; c < table->n_columns; c++)
    if (strcmp (table->columns[c], verdict_column) == 0)
      fab_verdict_add_json (point != NULL ? point->verdict : NULL, json, verdict_column);
    else
      add_cell (json, table->columns[c], fab_table_cell (table, row, c));
}

void
fab_cli_add_json_rows (FabJson *json, const char *key, const FabTable *table)
{
  fab_json_begin_array (json, key);
  for (guint r = 0; r < table->n_rows; r++) {
    fab_json_begin_object (json, NULL);
    add_row (json, table, r, NULL);
    fab_json_end (json);
  }
  fab_json_end (json);
}

void
fab_points_add_json (FabJson *json, const char *key, const FabPoints *points)
{
  g_autoptr (FabTable) table = make_table (points, FALSE);

  fab_json_begin_array (json, key);
  for (guint r = 0; r < table->n_rows; r++) {
    fab_json_begin_object (json, NULL);
    add_row (json, table, r, points->rows[r].trial->point);
    fab_spread_add (json, points->rows[r].trial->point);
    fab_json_end (json);
  }
  fab_json_end (json);
}

void
fab_points_list_init (FabPointsList *self, const char *const *columns, guint n_shown, guint n_numbers,
                      guint n_rows)
{
  self->made = g_new0 (FabPointsRow, n_rows);
  self->labels = g_new0 (char *, (gsize) n_rows *g_strv_length ((char **) columns) + 1);
  self->points = (FabPoints){ columns, n_shown, n_numbers, self->made, n_rows, NULL };
}

void
fab_points_list_set (FabPointsList *self, guint row, char *const *labels, const FabTry *trial)
{
  guint n_columns = g_strv_length ((char **) self->points.columns);
  char **own = self->labels + (gsize) row * n_columns;

  memcpy (own, labels, n_columns * sizeof *own);
  self->made[row] = (FabPointsRow){ (const char *const *) own, trial, NULL, NULL };
}

void
fab_points_list_clear (FabPointsList *self)
{
  gsize n = (gsize) self->points.n_rows * g_strv_length ((char **) self->points.columns);

  for (gsize i = 0; i < n; i++)
    g_free (self->labels[i]);
  g_free (self->labels);
  g_free (self->made);
}
