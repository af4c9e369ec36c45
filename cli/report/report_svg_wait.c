/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg_wait.c - the last iterations of runs, which go by together: GPUs that compute and wait, and the network.
 *
 * The steps stand there as a whole, and so does a picture that cannot move, or should not. Then a cover moves off each
 * step at the speed of its time, so that a shorter step is over earlier; then all begin again. Texts are large enough
 * to be read where a phone shows the picture at its width.
 */
#include <math.h>

#include "cli/report/report_svg.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

enum {
  WIDTH = 480,
  EDGE = 8,
  TEXT = 16,
  GPU = 30,
  NETWORK = 16,
  GAP = 4,
  MOST_RUNS = 4,
  MOST_NAME = 30,
  CYCLE_S =
      8, /* of which the steps stand whole for WHOLE_PERCENT, the longest goes by in RUN_PERCENT, and stands */
  WHOLE_PERCENT = 20,
  RUN_PERCENT = 70
};

typedef struct {
  GString *svg;
  double per_ns; /* pixels */
  double y;
} Scene;

static double
duration_ns (JsonObject *run)
{
  return (double) json_object_get_int_member (json_object_get_object_member (run, "timeline"), "duration_ns");
}

static void
add_text (Scene *scene, double x, double y, const char *anchor, gboolean is_head, const char *text)
{
  fab_svg_open (scene->svg, "text");
  fab_svg_real (scene->svg, "x", x);
  fab_svg_real (scene->svg, "y", y);
  fab_svg_word (scene->svg, "text-anchor", anchor);
  if (is_head)
    fab_svg_whole (scene->svg, "font-weight", 600);
  fab_svg_word (scene->svg, "fill", "#1b2330");
  fab_svg_end_text (scene->svg, text);
}

/* A bar for each interval; neighbours within half a pixel are one. */
static void
add_intervals (Scene *scene, const GArray *intervals, double y, double height, const char *fill)
{
  double from = -1, to = -1;

  for (guint i = 0; i <= intervals->len; i++) {
    const FabSvgInterval *one = i < intervals->len ? &g_array_index (intervals, FabSvgInterval, i) : NULL;
    double start = one != NULL ? EDGE + one->start * scene->per_ns : INFINITY;

    if (from >= 0 && start > to + 0.5)
      fab_svg_rect (scene->svg, from, y, MAX (to - from, 0.3), height, fill);
    if (one != NULL && (from < 0 || start > to + 0.5))
      from = start;
    if (one != NULL)
      to = EDGE + one->end * scene->per_ns;
  }
}

/* Hides what has not gone by yet. */
static void
add_cover (Scene *scene, guint run, double width)
{
  g_string_append_printf (scene->svg, "<g class=\"cover c%u\">", run);
  fab_svg_rect (scene->svg, EDGE, scene->y - 2, WIDTH - EDGE, GPU + GAP + NETWORK + 4, "#ffffff");
  fab_svg_line (scene->svg, EDGE, scene->y - 2, EDGE, scene->y + GPU + GAP + NETWORK + 2, "#1b2330");
  g_string_append (scene->svg, "</g>\n");
  g_string_append_printf (
      scene->svg,
      "<style>@keyframes k%u{0%%,%d%%,%.0f%%,100%%{transform:translateX(%.0fpx)}%d.1%%{transform:translateX(0)}}"
      ".c%u{transform:translateX(%.0fpx);animation:k%u %ds linear infinite}</style>\n",
      run, WHOLE_PERCENT, WHOLE_PERCENT + round (RUN_PERCENT * width / (WIDTH - 2 * EDGE)), width,
      WHOLE_PERCENT, run, width, run, CYCLE_S);
}

static void
add_run (Scene *scene, JsonObject *run, guint index)
{
  JsonArray *iterations = json_object_get_array_member (run, "iterations");
  JsonObject *last = json_array_get_object_element (iterations, json_array_get_length (iterations) - 1);
  double step_s = json_object_get_double_member (last, "step_s"), duration = duration_ns (run);
  const char *name = json_object_get_string_member (run, "name");
  g_autofree char *cut = g_utf8_strlen (name, -1) > MOST_NAME ? g_utf8_substring (name, 0, MOST_NAME)
                                                              : g_strdup (name);
  g_autofree char *shown = fab_printable (cut);
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, step_s * FAB_PS_PER_S);
  g_autofree char *said = g_strdup_printf (
      "%s, waits %.0f %%", step,
      step_s > 0 ? 100 * json_object_get_double_member (last, "exposed_s") / step_s : 0);
  g_autoptr (GArray) compute = fab_report_svg_intervals (run, FAB_SVG_COMPUTE),
                     comm = fab_report_svg_intervals (run, FAB_SVG_COMM);

  add_text (scene, EDGE, scene->y + TEXT, "start", TRUE, shown);
  add_text (scene, WIDTH - EDGE, scene->y + TEXT, "end", FALSE, said);
  scene->y += TEXT + 10;
  fab_svg_rect (scene->svg, EDGE, scene->y, duration * scene->per_ns, GPU, fab_report_svg_fill ("exposed"));
  add_intervals (scene, compute, scene->y, GPU, fab_report_svg_fill ("backward"));
  add_intervals (scene, comm, scene->y + GPU + GAP, NETWORK, fab_report_svg_fill ("hidden"));
  add_cover (scene, index, duration * scene->per_ns);
  scene->y += GPU + GAP + NETWORK + 14;
}

static void
add_key (Scene *scene)
{
  static const struct {
    const char *style, *name;
  } entries[] = { { "backward", "GPUs compute" }, { "exposed", "GPUs wait" }, { "hidden", "network sends" } };
  double x = EDGE;

  for (guint i = 0; i < G_N_ELEMENTS (entries); i++) {
    fab_svg_rect (scene->svg, x, scene->y, 18, 14, fab_report_svg_fill (entries[i].style));
    add_text (scene, x + 24, scene->y + 13, "start", FALSE, entries[i].name);
    x += 158;
  }
}

char *
fab_report_svg_wait (JsonObject *data, GError **error)
{
  JsonArray *runs = json_object_get_array_member (data, "runs");
  guint n = MIN (json_array_get_length (runs), MOST_RUNS);
  double longest = 0;

  for (guint i = 0; i < n; i++)
    longest = MAX (longest, duration_ns (json_array_get_object_element (runs, i)));
  if (longest <= 0) {
    fab_throw (error, FAB_ERROR_INPUT, "--svg wait: there is no run with a step to draw");
    return NULL;
  }
  Scene scene = { g_string_new (NULL), (WIDTH - 2 * EDGE) / longest, 4 };
  fab_svg_begin (scene.svg, WIDTH, n * (TEXT + 10 + GPU + GAP + NETWORK + 14) + 26, TEXT - 1,
                 "Steps as they go by: GPUs compute, or wait for the network", "#ffffff");
  fab_report_svg_add_patterns (scene.svg);
  g_string_append (scene.svg,
                   "<style>@media (prefers-reduced-motion:reduce){.cover{display:none}}</style>\n");
  for (guint i = 0; i < n; i++)
    add_run (&scene, json_array_get_object_element (runs, i), i);
  add_key (&scene);
  return fab_report_svg_end (scene.svg);
}
