/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg.c - where the time of a step goes, as bars: of several runs their last iterations, of one run
 * all of its iterations. */
#include "cli/report/report_svg.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/units.h"

/* Where the time of a step goes, as bars: of several runs their last iterations, of one run
 * all of its iterations. */

enum { LEFT = 250, RIGHT = 170, ROW = 24, BAR = 17, TOP = 40, MAX_BARS = 40 };

typedef struct {
  char *name;
  double step, alone, hidden, exposed, idle; /* seconds */
} Bar;

static void
clear_bar (gpointer data)
{
  g_free (((Bar *) data)->name);
}

static void
add_bar (GArray *bars, char *name, JsonObject *times)
{
  double hidden = json_object_get_double_member (times, "overlapped_s");
  Bar bar = { name,
              json_object_get_double_member (times, "step_s"),
              json_object_get_double_member (times, "compute_s") - hidden,
              hidden,
              json_object_get_double_member (times, "exposed_s"),
              json_object_get_double_member (times, "idle_s") };

  g_array_append_val (bars, bar);
}

static char *
name_of (const char *name, gint64 n_ranks)
{
  g_autofree char *cut = g_utf8_strlen (name, -1) > 26 ? g_utf8_substring (name, 0, 26) : g_strdup (name);

  return g_strdup_printf ("%s, %" G_GINT64_FORMAT " %s", cut, n_ranks,
                          fab_plural ((guint64) n_ranks, "GPU", "GPUs"));
}

static GArray *
bars_of (JsonArray *runs)
{
  GArray *bars = g_array_new (FALSE, FALSE, sizeof (Bar));
  guint n_runs = json_array_get_length (runs);

  g_array_set_clear_func (bars, clear_bar);
  for (guint i = 0; i < n_runs; i++) {
    JsonObject *run = json_array_get_object_element (runs, i);
    JsonArray *iterations = json_object_get_array_member (run, "iterations");
    guint n = json_array_get_length (iterations);

    for (guint k = n_runs > 1 || n > MAX_BARS ? n - 1 : 0; k < n; k++)
      add_bar (bars,
               n_runs > 1 ? name_of (json_object_get_string_member (run, "name"),
                                     json_object_get_int_member (run, "ranks"))
                          : g_strdup_printf ("iteration %u", k + 1),
               json_array_get_object_element (iterations, k));
  }
  return bars;
}

static void
draw_bar (GString *svg, const Bar *bar, double y, double most)
{
  const struct {
    const char *style;
    double s;
  } parts[] = {
    { "backward", bar->alone }, { "hidden", bar->hidden }, { "exposed", bar->exposed }, { "idle", bar->idle }
  };
  double x = LEFT, room = FAB_SVG_WIDTH - LEFT - RIGHT;
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, bar->step * FAB_PS_PER_S);
  g_autofree char *note = g_strdup_printf ("%s, exposed %.1f %%", step,
                                           bar->step > 0 ? 100 * bar->exposed / bar->step : 0);

  fab_report_svg_text (svg, LEFT - 8, y + BAR - 4, "end", bar->name);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    double width = most > 0 ? parts[i].s / most * room : 0;

    if (width > 0)
      fab_svg_rect (svg, x, y, MAX (width - 0.6, 0.3), BAR, fab_report_svg_fill (parts[i].style));
    x += width;
  }
  fab_report_svg_text (svg, x + 8, y + BAR - 4, "start", note);
}

static char *
svg_exposed (JsonObject *data, GError **error)
{
  static const char *const styles[] = { "backward", "hidden", "exposed", "idle" };
  static const char *const names[] = { "compute alone", "compute with communication", "exposed communication",
                                       "idle" };
  JsonArray *runs = json_object_get_array_member (data, "runs");
  g_autoptr (GArray) bars = bars_of (runs);
  double most = 0;

  if (bars->len == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "--svg exposed: there is no run to draw");
    return NULL;
  }
  for (guint i = 0; i < bars->len; i++)
    most = MAX (most, g_array_index (bars, Bar, i).step);
  GString *svg = fab_report_svg_begin (TOP + ROW * bars->len + 36, "Where the time of a step goes");
  for (guint i = 0; i < bars->len; i++)
    draw_bar (svg, &g_array_index (bars, Bar, i), TOP + ROW * i, most);
  fab_report_svg_key (svg, TOP + ROW * bars->len + 10, styles, names, G_N_ELEMENTS (styles));
  return fab_report_svg_end (svg);
}

/* The exposed share of the step over a sweep's axis as a curve, over two axes as a map. Of more
 * axes the two longest are drawn, at the first value of the others.
 */

enum {
  REPORT_SVG_SWEEP_LEFT = 130,
  REPORT_SVG_SWEEP_RIGHT = 20,
  REPORT_SVG_SWEEP_TOP = 40,
  BOTTOM = 46,
  HEIGHT = 320,
  CELL = 26,
  MAX_AXES = 8,
  TEXT = 16
};

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
  fab_report_svg_text (svg, x, y, anchor,
                       json_object_get_string_member (json_array_get_object_element (map->axes, axis),
                                                      "key"));
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

    fab_report_svg_text (svg, left + (i + 0.5) * each, y, "middle", cut);
  }
}

/* --- curve --- */

double
fab_report_svg_round_step (double most)
{
  static const double factors[] = { 1, 2, 5 };
  double power = pow (10, floor (log10 (most / 5)));

  for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
    if (5 * factors[i] * power >= most)
      return factors[i] * power;
  return 10 * power;
}

static char *
draw_curve (const Map *map, const char *title)
{
  double step = fab_report_svg_round_step (MAX (largest (map), 1e-6)),
         n_lines = ceil (largest (map) / step - 1e-9), most = MAX (n_lines, 1) * step,
         room = HEIGHT - REPORT_SVG_SWEEP_TOP - BOTTOM,
         each = (FAB_SVG_WIDTH - REPORT_SVG_SWEEP_LEFT - REPORT_SVG_SWEEP_RIGHT) / (double) map->n_across;
  double last_x = NAN, last_y = 0;
  GString *svg = fab_report_svg_begin (HEIGHT, title);

  for (guint i = 0; i * step <= most + 1e-9; i++) {
    double y = REPORT_SVG_SWEEP_TOP + room * (1 - i * step / most);
    g_autofree char *text = percent (i * step);

    fab_svg_line (svg, REPORT_SVG_SWEEP_LEFT, y, FAB_SVG_WIDTH - REPORT_SVG_SWEEP_RIGHT, y, "#d8dde4");
    fab_report_svg_text (svg, REPORT_SVG_SWEEP_LEFT - 8, y + 4, "end", text);
  }
  for (guint i = 0; i < map->n_across; i++) {
    double x = REPORT_SVG_SWEEP_LEFT + (i + 0.5) * each,
           y = REPORT_SVG_SWEEP_TOP + room * (1 - map->share[i] / most);

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
  name_columns (svg, map, REPORT_SVG_SWEEP_LEFT, each, HEIGHT - BOTTOM + 16);
  name_axis (svg, map, map->across, FAB_SVG_WIDTH / 2.0, HEIGHT - 10, "middle");
  return fab_report_svg_end (svg);
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
  fab_report_svg_text (svg, x + width / 2, y + TEXT, "middle", text);
  g_string_append (svg, "</g>\n");
}

static char *
draw_map (const Map *map, const char *title)
{
  double most = largest (map),
         each = (FAB_SVG_WIDTH - REPORT_SVG_SWEEP_LEFT - REPORT_SVG_SWEEP_RIGHT) / (double) map->n_across,
         bottom = REPORT_SVG_SWEEP_TOP + 16 + map->n_down * CELL;
  GString *svg = fab_report_svg_begin (bottom + BOTTOM, title);

  name_axis (svg, map, map->down, 12, REPORT_SVG_SWEEP_TOP + 4, "start");
  for (guint y = 0; y < map->n_down; y++) {
    fab_report_svg_text (svg, REPORT_SVG_SWEEP_LEFT - 8, REPORT_SVG_SWEEP_TOP + 16 + y * CELL + TEXT, "end",
                         json_array_get_string_element (values_of (map, map->down), y));
    for (guint x = 0; x < map->n_across; x++)
      draw_cell (svg, map->share[y * map->n_across + x], most, REPORT_SVG_SWEEP_LEFT + x * each,
                 REPORT_SVG_SWEEP_TOP + 16 + y * CELL, each);
  }
  name_columns (svg, map, REPORT_SVG_SWEEP_LEFT, each, bottom + 14);
  name_axis (svg, map, map->across, FAB_SVG_WIDTH / 2.0, bottom + 34, "middle");
  return fab_report_svg_end (svg);
}

static char *
svg_sweep (JsonObject *data, GError **error)
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

enum { MAX_TEXT = 70, KEY_ROW = 20, LETTER = 6 };

/* The colours of cli/report/page.css in its light theme. */
static const struct {
  const char *style, *fill;
} fills[] = {
  { "forward", "#6aa5d6" }, { "backward", "#2f78b7" },    { "compute", "#174e80" }, { "hidden", "#2a9d7c" },
  { "load", "#b0659a" },    { "exposed", "url(#hatch)" }, { "wait", "url(#bars)" }, { "idle", "url(#dots)" },
};

static const char patterns[] =
    "<defs>"
    "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
    "<rect width=\"6\" height=\"6\" fill=\"#c8500a\"/><rect width=\"2\" height=\"6\" fill=\"#e9b18f\"/></pattern>"
    "<pattern id=\"dots\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"5\" height=\"5\" fill=\"#f0f2f4\"/>"
    "<circle cx=\"2.5\" cy=\"2.5\" r=\"0.9\" fill=\"#8b939e\"/></pattern>"
    "<pattern id=\"bars\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"4\" height=\"4\" fill=\"#f6deab\"/><rect width=\"1.4\" height=\"4\" fill=\"#e0a21b\"/></pattern>"
    "</defs>\n";

void
fab_report_svg_add_patterns (GString *svg)
{
  g_string_append (svg, patterns);
}

const char *
fab_report_svg_fill (const char *style)
{
  for (guint i = 0; i < G_N_ELEMENTS (fills); i++)
    if (strcmp (fills[i].style, style) == 0)
      return fills[i].fill;
  g_assert_not_reached ();
}

/* What anybody wrote, in one line of a figure. (transfer full) */
static char *
shortened (const char *text)
{
  g_autofree char *head = g_utf8_strlen (text, -1) > MAX_TEXT ? g_utf8_substring (text, 0, MAX_TEXT - 1)
                                                              : NULL;
  g_autofree char *cut = head ? g_strconcat (head, "\u2026", NULL) : g_strdup (text);

  return fab_printable (cut);
}

GString *
fab_report_svg_begin (double height, const char *title)
{
  GString *svg = g_string_new (NULL);
  g_autofree char *name = shortened (title);

  fab_svg_begin (svg, FAB_SVG_WIDTH, height, 11, name, "#ffffff");
  fab_report_svg_add_patterns (svg);
  fab_svg_open (svg, "text");
  fab_svg_whole (svg, "x", 12);
  fab_svg_whole (svg, "y", 22);
  fab_svg_whole (svg, "font-size", 14);
  fab_svg_whole (svg, "font-weight", 600);
  fab_svg_end_text (svg, name);
  return svg;
}

void
fab_report_svg_text (GString *svg, double x, double y, const char *anchor, const char *text)
{
  g_autofree char *shown = shortened (text);

  fab_svg_open (svg, "text");
  fab_svg_real (svg, "x", x);
  fab_svg_real (svg, "y", y);
  fab_svg_word (svg, "text-anchor", anchor);
  fab_svg_end_text (svg, shown);
}

void
fab_report_svg_key (GString *svg, double y, const char *const *styles, const char *const *names, guint n)
{
  double x = 12;

  for (guint i = 0; i < n; i++) {
    double width = 36 + LETTER * (double) g_utf8_strlen (names[i], -1);

    if (x + width > FAB_SVG_WIDTH && x > 12) {
      x = 12;
      y += KEY_ROW;
    }
    fab_svg_rect (svg, x, y, 16, 11, fab_report_svg_fill (styles[i]));
    fab_report_svg_text (svg, x + 21, y + 10, "start", names[i]);
    x += width;
  }
}

char *
fab_report_svg_end (GString *svg)
{
  fab_svg_finish (svg);
  return g_string_free (svg, FALSE);
}

char *
fab_report_svg (const char *data, const char *figure, GError **error)
{
  static const struct {
    const char *name;
    char *(*draw) (JsonObject *data, GError **error);
  } figures[] = { { "timeline", fab_report_svg_timeline },
                  { "exposed", svg_exposed },
                  { "sweep", svg_sweep },
                  { "wait", fab_report_svg_wait } };
  static const char *const names[] = { "timeline", "exposed", "sweep", "wait", NULL };
  g_autoptr (JsonParser) parser = json_parser_new ();

  for (guint i = 0; i < G_N_ELEMENTS (figures); i++)
    if (strcmp (figures[i].name, figure) == 0)
      return json_parser_load_from_data (parser, data, -1, error)
               ? figures[i].draw (json_node_get_object (json_parser_get_root (parser)), error)
               : NULL;
  const char *nearest = fab_nearest (figure, names);
  fab_throw (error, FAB_ERROR_INPUT,
             "--svg %s: there is no such figure%s%s; there are timeline, exposed, sweep and wait", figure,
             nearest ? "; nearest is " : "", nearest ? nearest : "");
  return NULL;
}
