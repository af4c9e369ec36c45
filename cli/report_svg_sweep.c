/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg_sweep.c - the exposed share of the step over a sweep's axis as a curve, over two axes as a map. Of more
 * axes the two longest are drawn, at the first value of the others.
 */
#include <math.h>

#include "cli/report_svg.h"
#include "sim/base/error.h"

enum { LEFT = 130, RIGHT = 20, TOP = 40, BOTTOM = 46, HEIGHT = 320, CELL = 26, MAX_AXES = 8, TEXT = 16 };

typedef struct {
  JsonObject *sweep;
  JsonArray *axes;
  guint n_axes, across, down; /* down: n_axes when there is one axis */
  double *share;              /* by item of `down` and item of `across`; NAN: not there */
  guint n_across, n_down;
} Map;

static JsonArray *
values_of (const Map *map, guint axis)
{
  return json_object_get_array_member (json_array_get_object_element (map->axes, axis), "values");
}

static guint
length_of (const Map *map, guint axis)
{
  return axis < map->n_axes ? json_array_get_length (values_of (map, axis)) : 1;
}

/* The longest axis but `without`. */
static guint
longest (const Map *map, guint without)
{
  guint best = map->n_axes;

  for (guint i = 0; i < map->n_axes; i++)
    if (i != without && length_of (map, i) > (best < map->n_axes ? length_of (map, best) : 1))
      best = i;
  return best;
}

/* FALSE: it is at another value of an axis that is not drawn. */
static gboolean
cell_of (const Map *map, gint64 point, guint *x, guint *y)
{
  *x = *y = 0;
  for (guint i = map->n_axes; i-- > 0;) {
    guint n = length_of (map, i), item = (guint) (point % n);

    point /= n;
    if (i == map->across)
      *x = item;
    else if (i == map->down)
      *y = item;
    else if (item > 0)
      return FALSE;
  }
  return TRUE;
}

/* Columns of a point: its number, step_s, compute_s, comm_s, overlapped_s, exposed_s, ... */
static void
read_points (Map *map)
{
  JsonArray *points = json_object_get_array_member (map->sweep, "points");
  guint x, y;

  map->share = g_new (double, (gsize) map->n_across * map->n_down);
  for (guint i = 0; i < map->n_across * map->n_down; i++)
    map->share[i] = NAN;
  for (guint i = 0; i < json_array_get_length (points); i++) {
    JsonArray *point = json_array_get_array_element (points, i);
    double step = json_array_get_null_element (point, 1) ? 0 : json_array_get_double_element (point, 1);

    if (step > 0 && cell_of (map, json_array_get_int_element (point, 0), &x, &y))
      map->share[y * map->n_across + x] = json_array_get_double_element (point, 5) / step;
  }
}

static double
largest (const Map *map)
{
  double most = 0;

  for (guint i = 0; i < map->n_across * map->n_down; i++)
    most = isnan (map->share[i]) ? most : MAX (most, map->share[i]);
  return most;
}

/* (transfer full) */
static char *
percent (double fraction)
{
  return g_strdup_printf ("%.1f %%", 100 * fraction);
}

static void
name_axis (GString *svg, const Map *map, guint axis, double x, double y, const char *anchor)
{
  fab_svg_text (svg, x, y, anchor,
                json_object_get_string_member (json_array_get_object_element (map->axes, axis), "key"));
}

/* As many values as fit. */
static void
name_columns (GString *svg, const Map *map, double left, double each, double y)
{
  guint every = (guint) ceil (64 / each);

  for (guint i = 0; i < map->n_across; i += every) {
    const char *value = json_array_get_string_element (values_of (map, map->across), i);
    g_autofree char *cut = g_utf8_strlen (value, -1) > 10 ? g_utf8_substring (value, 0, 10)
                                                          : g_strdup (value);

    fab_svg_text (svg, left + (i + 0.5) * each, y, "middle", cut);
  }
}

/* --- curve --- */

static char *
draw_curve (const Map *map, const char *title)
{
  double most = MAX (largest (map), 1e-6), room = HEIGHT - TOP - BOTTOM,
         each = (FAB_SVG_WIDTH - LEFT - RIGHT) / (double) map->n_across;
  double last_x = NAN, last_y = 0;
  GString *svg = fab_svg_begin (HEIGHT, title);

  for (guint i = 0; i <= 4; i++) {
    double y = TOP + room * (1 - i / 4.0);
    g_autofree char *text = percent (most * i / 4);

    fab_svg_line (svg, LEFT, y, FAB_SVG_WIDTH - RIGHT, y, "#d8dde4");
    fab_svg_text (svg, LEFT - 8, y + 4, "end", text);
  }
  for (guint i = 0; i < map->n_across; i++) {
    double x = LEFT + (i + 0.5) * each, y = TOP + room * (1 - map->share[i] / most);

    if (isnan (map->share[i])) {
      last_x = NAN;
      continue;
    }
    if (!isnan (last_x))
      fab_svg_line (svg, last_x, last_y, x, y, "#2f78b7");
    fab_svg_rect (svg, x - 3, y - 3, 6, 6, "#174e80");
    last_x = x;
    last_y = y;
  }
  name_columns (svg, map, LEFT, each, HEIGHT - BOTTOM + 16);
  name_axis (svg, map, map->across, FAB_SVG_WIDTH / 2.0, HEIGHT - 10, "middle");
  return fab_svg_end (svg);
}

/* --- map --- */

/* From dark blue to yellow, which print and every eye tell apart; `part` is 0 to 1. (transfer full) */
static char *
colour_of (double part)
{
  static const guint8 stops[][3] = { { 0, 34, 78 },     { 53, 69, 108 },   { 102, 105, 112 },
                                     { 148, 142, 119 }, { 200, 184, 102 }, { 254, 232, 56 } };
  double at = CLAMP (part, 0, 1) * (G_N_ELEMENTS (stops) - 1);
  guint low = MIN ((guint) at, G_N_ELEMENTS (stops) - 2), mixed[3];

  for (guint i = 0; i < 3; i++)
    mixed[i] = (guint) lround (stops[low][i] + (at - low) * (stops[low + 1][i] - stops[low][i]));
  return g_strdup_printf ("#%02x%02x%02x", mixed[0], mixed[1], mixed[2]);
}

static void
draw_cell (GString *svg, double share, double most, double x, double y, double width)
{
  g_autofree char *colour = isnan (share) ? NULL : colour_of (most > 0 ? share / most : 0);
  g_autofree char *text = isnan (share) ? g_strdup ("\u00d7") : percent (share);
  gboolean is_dark = !isnan (share) && share < 0.55 * most;

  fab_svg_rect (svg, x, y, width - 1, CELL - 1, colour ? colour : "#f0f2f4");
  if (width < 44 && !isnan (share))
    return;
  g_string_append_printf (svg, "<g fill=\"%s\">", is_dark ? "#ffffff" : "#1b2330");
  fab_svg_text (svg, x + width / 2, y + TEXT, "middle", text);
  g_string_append (svg, "</g>\n");
}

static char *
draw_map (const Map *map, const char *title)
{
  double most = largest (map), each = (FAB_SVG_WIDTH - LEFT - RIGHT) / (double) map->n_across,
         bottom = TOP + 16 + map->n_down * CELL;
  GString *svg = fab_svg_begin (bottom + BOTTOM, title);

  name_axis (svg, map, map->down, 12, TOP + 4, "start");
  for (guint y = 0; y < map->n_down; y++) {
    fab_svg_text (svg, LEFT - 8, TOP + 16 + y * CELL + TEXT, "end",
                  json_array_get_string_element (values_of (map, map->down), y));
    for (guint x = 0; x < map->n_across; x++)
      draw_cell (svg, map->share[y * map->n_across + x], most, LEFT + x * each, TOP + 16 + y * CELL, each);
  }
  name_columns (svg, map, LEFT, each, bottom + 14);
  name_axis (svg, map, map->across, FAB_SVG_WIDTH / 2.0, bottom + 34, "middle");
  return fab_svg_end (svg);
}

char *
fab_svg_sweep (JsonObject *data, GError **error)
{
  JsonArray *sweeps = json_object_get_array_member (data, "sweeps");
  Map map = { 0 };

  if (json_array_get_length (sweeps) == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "--svg sweep: there is no sweep to draw");
    return NULL;
  }
  map.sweep = json_array_get_object_element (sweeps, 0);
  map.axes = json_object_get_array_member (map.sweep, "axes");
  map.n_axes = json_array_get_length (map.axes);
  map.across = MIN (longest (&map, map.n_axes), map.n_axes - 1);
  map.down = longest (&map, map.across);
  map.n_across = length_of (&map, map.across);
  map.n_down = length_of (&map, map.down);
  read_points (&map);
  g_autofree char *title = g_strdup_printf ("Exposed communication, share of the step: %s",
                                            json_object_get_string_member (map.sweep, "name"));
  char *svg = map.n_down > 1 ? draw_map (&map, title) : draw_curve (&map, title);
  g_free (map.share);
  return svg;
}
