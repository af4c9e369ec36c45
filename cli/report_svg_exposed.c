/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg_exposed.c - where the time of a step goes, as bars: of several runs their last iterations, of one run
 * all of its iterations. */
#include "cli/report_svg.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

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

  return g_strdup_printf ("%s, %" G_GINT64_FORMAT " GPUs", cut, n_ranks);
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

  fab_svg_text (svg, LEFT - 8, y + BAR - 4, "end", bar->name);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    double width = most > 0 ? parts[i].s / most * room : 0;

    if (width > 0)
      fab_svg_rect (svg, x, y, MAX (width - 0.6, 0.3), BAR, fab_svg_fill (parts[i].style));
    x += width;
  }
  fab_svg_text (svg, x + 8, y + BAR - 4, "start", note);
}

char *
fab_svg_exposed (JsonObject *data, GError **error)
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
  GString *svg = fab_svg_begin (TOP + ROW * bars->len + 36, "Where the time of a step goes");
  for (guint i = 0; i < bars->len; i++)
    draw_bar (svg, &g_array_index (bars, Bar, i), TOP + ROW * i, most);
  fab_svg_key (svg, TOP + ROW * bars->len + 10, styles, names, G_N_ELEMENTS (styles));
  return fab_svg_end (svg);
}
