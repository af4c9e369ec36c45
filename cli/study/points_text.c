/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/points_text.h"

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

  for (guint i = 0; i < points->rows->len; i++)
    width = MAX (width, g_utf8_strlen (fab_points_row (points, i)->labels[column], -1));
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
  const FabPoint *point = row->point;
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

  if (has_limits && point->bottleneck == NULL && point->step_s > 0)
    return "not asked";
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
  if (row->point != NULL) {
    append_figures (text, row, has_ranges, has_bands, has_limits);
    fab_points_append_misfit (text, row->point);
  } else {
    g_auto (GStrv) lines = g_strsplit (row->problem, "\n", 2);

    g_string_append_printf (text, "\v  cannot be simulated: %s", lines[0]);
  }
  g_string_append_printf (text, "%s%s\n", row->mark ? "  " : "", row->mark ? row->mark : "");
}

void
fab_points_append_text (GString *text, const FabPoints *points)
{
  double coverage = fab_points_coverage (points);
  gboolean has_ranges = fab_points_n_seeds (points) > 1, has_limits = fab_points_has_limits (points);
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
  for (guint i = 0; i < points->rows->len; i++)
    append_row (text, points, fab_points_row (points, i), widths, has_ranges, coverage > 0, has_limits);
}

/* --- for programs --- */

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
    if (strcmp (table->columns[c], fab_points_verdict_column) == 0)
      fab_verdict_add_json (point != NULL ? point->verdict : NULL, json, fab_points_verdict_column);
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

char *
fab_points_csv (const FabPoints *points)
{
  g_autoptr (FabTable) table = fab_points_table (points, TRUE);

  return fab_table_to_csv (table);
}

void
fab_points_add_json (FabJson *json, const char *key, const FabPoints *points)
{
  g_autoptr (FabTable) table = fab_points_table (points, FALSE);

  fab_json_begin_array (json, key);
  for (guint r = 0; r < table->n_rows; r++) {
    fab_json_begin_object (json, NULL);
    add_row (json, table, r, fab_points_row (points, r)->point);
    fab_spread_add (json, fab_points_row (points, r)->point);
    fab_json_end (json);
  }
  fab_json_end (json);
}
