/* SPDX-License-Identifier: Apache-2.0 */
/* report_svg_timeline.c - an iteration: of one or two classes of ranks each stream, of more a row per class.
 *
 * As on the page: what is at least two pixels wide is a block; narrower spans are added up pixel by pixel, and a
 * column is as high as the share of the pixel's time that they take.
 */
#include <math.h>
#include <string.h>

#include "cli/report/report_svg.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

enum {
  LEFT = 120,
  WIDTH = FAB_SVG_WIDTH - LEFT - 12,
  ROW = 22,
  BAR = 16,
  TOP = 36,
  MAX_CLASSES = 32,
  WIDE = 2,
  PER_SPAN = 6
};

typedef enum { FORWARD, BACKWARD, COMPUTE, HIDDEN, EXPOSED, WAIT, LOAD, IDLE, N_STYLES } Style;

static const char *const styles[] = { "forward", "backward", "compute", "hidden",
                                      "exposed", "wait",     "load",    "idle" };
static const char *const style_names[] = { "forward",
                                           "backward",
                                           "other compute",
                                           "communication, hidden under compute",
                                           "communication, exposed",
                                           "waiting for other ranks",
                                           "host work",
                                           "idle" };

typedef struct {
  double start, end; /* ns */
  guint kind;
  const char *name;
} Span;

typedef struct {
  GString *svg;
  double scale, y; /* pixels per ns; top of the bar */
  gboolean used[N_STYLES];
  GString *paths[N_STYLES]; /* blocks of the row, by style */
  float cover[N_STYLES][WIDTH + 1];
} Painter;

/* --- painting --- */

static void
block (Painter *self, Style style, double x, double y, double width, double height)
{
  char numbers[4][G_ASCII_DTOSTR_BUF_SIZE];
  const double values[] = { LEFT + x, y, width, height };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    g_ascii_formatd (numbers[i], sizeof numbers[i], "%.1f", values[i]);
  if (self->paths[style] == NULL)
    self->paths[style] = g_string_new (NULL);
  g_string_append_printf (self->paths[style], "M%s %sh%sv%sh-%sz", numbers[0], numbers[1], numbers[2],
                          numbers[3], numbers[2]);
}

static void
add (Painter *self, Style style, double start, double end)
{
  double x0 = start * self->scale, x1 = end * self->scale;

  if (x1 <= x0)
    return;
  self->used[style] = TRUE;
  if (x1 - x0 >= WIDE) {
    block (self, style, x0 + (x1 - x0 > 4 ? 0.5 : 0), self->y, x1 - x0 - (x1 - x0 > 4 ? 0.5 : 0), BAR);
    return;
  }
  for (guint x = (guint) MAX (x0, 0); x < WIDTH && x <= x1; x++)
    self->cover[style][x] += (float) MAX (0, MIN (x1, x + 1) - MAX (x0, x));
}

/* How high the column of a style is at a pixel, and where it stands: on those of the styles before it. */
static guint
column_at (const Painter *self, Style style, guint x, guint *foot)
{
  guint height = 0;

  *foot = 0;
  for (guint s = 0; s <= style; s++) {
    float cover = MIN (self->cover[s][x], 1);

    *foot = MIN (*foot + height, BAR);
    height = cover > 0 ? MAX (1, (guint) lroundf (cover * BAR)) : 0;
  }
  return MIN (height, BAR - *foot);
}

static void
end_row (Painter *self)
{
  for (guint s = 0; s < N_STYLES; s++)
    for (guint x = 0; x < WIDTH;) {
      guint foot, other, from = x, height = column_at (self, s, x, &foot);

      do
        x++;
      while (x < WIDTH && column_at (self, s, x, &other) == height && other == foot);
      if (height > 0)
        block (self, s, from, self->y + BAR - foot - height, x - from, height);
    }
  for (guint s = 0; s < N_STYLES; s++)
    if (self->paths[s] != NULL) {
      fab_svg_open (self->svg, "path");
      fab_svg_word (self->svg, "fill", fab_report_svg_fill (styles[s]));
      fab_svg_word (self->svg, "d", self->paths[s]->str);
      fab_svg_end (self->svg);
      g_string_free (self->paths[s], TRUE);
      self->paths[s] = NULL;
    }
  memset (self->cover, 0, sizeof self->cover);
  self->y += ROW;
}

static Style
style_of (const Span *span)
{
  if (span->kind >= 2)
    return span->kind == 2 ? LOAD : WAIT;
  return g_str_has_prefix (span->name, "forward")  ? FORWARD
       : g_str_has_prefix (span->name, "backward") ? BACKWARD
                                                   : COMPUTE;
}

/* --- spans --- */

static GArray *
spans_of (JsonObject *lane, JsonArray *names)
{
  JsonArray *numbers = json_object_get_array_member (lane, "spans");
  GArray *spans = g_array_new (FALSE, FALSE, sizeof (Span));
  double at = 0;

  for (guint i = 0; i + PER_SPAN <= json_array_get_length (numbers); i += PER_SPAN) {
    at += (double) json_array_get_int_element (numbers, i + 1);
    Span span = { at, at + (double) json_array_get_int_element (numbers, i + 2),
                  (guint) json_array_get_int_element (numbers, i),
                  json_array_get_string_element (names,
                                                 (guint) json_array_get_int_element (numbers, i + 3)) };

    g_array_append_val (spans, span);
  }
  return spans;
}

static gint
by_start (gconstpointer a, gconstpointer b)
{
  const Span *x = a, *y = b;

  return (x->start > y->start) - (x->start < y->start);
}

/* Spans of one kind of a class as intervals without overlaps. (transfer full) */
static GArray *
merged (GPtrArray *lanes, guint kind)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Span));
  GArray *out = g_array_new (FALSE, FALSE, sizeof (Span));

  for (guint i = 0; i < lanes->len; i++) {
    const GArray *spans = g_ptr_array_index (lanes, i);

    for (guint k = 0; k < spans->len; k++)
      if (g_array_index (spans, Span, k).kind == kind)
        g_array_append_val (all, g_array_index (spans, Span, k));
  }
  g_array_sort (all, by_start);
  for (guint i = 0; i < all->len; i++) {
    const Span *span = &g_array_index (all, Span, i);
    Span *last = out->len > 0 ? &g_array_index (out, Span, out->len - 1) : NULL;

    if (last != NULL && span->start <= last->end)
      last->end = MAX (last->end, span->end);
    else
      g_array_append_val (out, *span);
  }
  return out;
}

GArray *
fab_report_svg_intervals (JsonObject *run, guint kind)
{
  JsonObject *timeline = json_object_get_object_member (run, "timeline");
  JsonArray *lanes = json_object_get_array_member (timeline, "lanes"),
            *names = json_object_get_array_member (timeline, "names");
  g_autoptr (GPtrArray) spans = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  GArray *out = g_array_new (FALSE, FALSE, sizeof (FabSvgInterval));

  for (guint i = 0; i < json_array_get_length (lanes); i++) {
    JsonObject *lane = json_array_get_object_element (lanes, i),
               *first = json_array_get_object_element (lanes, 0);

    if (json_object_get_int_member (lane, "class") == json_object_get_int_member (first, "class"))
      g_ptr_array_add (spans, spans_of (lane, names));
  }
  g_autoptr (GArray) all = merged (spans, kind);
  for (guint i = 0; i < all->len; i++) {
    const Span *span = &g_array_index (all, Span, i);
    const FabSvgInterval interval = { span->start, span->end };

    g_array_append_val (out, interval);
  }
  return out;
}

/* [start, end] in two styles: where an interval lies over it, and where none does. `from` goes on over calls. */
static void
add_split (Painter *painter, const Span *span, const GArray *over, guint *from, Style inside, Style outside)
{
  double at = span->start;

  while (*from < over->len && g_array_index (over, Span, *from).end <= span->start)
    ++*from;
  for (guint i = *from; i < over->len && g_array_index (over, Span, i).start < span->end; i++) {
    const Span *cover = &g_array_index (over, Span, i);

    if (outside < N_STYLES)
      add (painter, outside, at, cover->start);
    if (inside < N_STYLES)
      add (painter, inside, MAX (at, cover->start), MIN (cover->end, span->end));
    at = MAX (at, MIN (cover->end, span->end));
  }
  if (outside < N_STYLES)
    add (painter, outside, at, span->end);
}

/* --- rows --- */

static void
draw_stream (Painter *painter, const GArray *spans, const GArray *compute)
{
  guint from = 0;

  for (guint i = 0; i < spans->len; i++) {
    const Span *span = &g_array_index (spans, Span, i);

    if (span->kind == 1)
      add_split (painter, span, compute, &from, HIDDEN, EXPOSED);
    else
      add (painter, style_of (span), span->start, span->end);
  }
}

static void
draw_exposed (Painter *painter, const GArray *compute, const GArray *comm)
{
  guint from = 0;

  for (guint i = 0; i < comm->len; i++)
    add_split (painter, &g_array_index (comm, Span, i), compute, &from, N_STYLES, EXPOSED);
}

/* Compute, exposed communication, and nothing of both. */
static void
draw_summary (Painter *painter, const GArray *compute, const GArray *comm, double duration)
{
  g_autoptr (GPtrArray) both = g_ptr_array_new ();
  g_autoptr (GArray) busy = g_array_new (FALSE, FALSE, sizeof (Span));
  guint from = 0;

  g_array_append_vals (busy, compute->data, compute->len);
  for (guint i = 0; i < comm->len; i++) {
    Span span = g_array_index (comm, Span, i);

    span.kind = 0; /* with compute, to be merged */
    g_array_append_val (busy, span);
  }
  g_ptr_array_add (both, busy);
  g_autoptr (GArray) any = merged (both, 0);
  for (guint i = 0; i < compute->len; i++)
    add (painter, BACKWARD, g_array_index (compute, Span, i).start, g_array_index (compute, Span, i).end);
  draw_exposed (painter, compute, comm);
  add_split (painter, &(Span){ .start = 0, .end = duration }, any, &from, N_STYLES, IDLE);
}

static void
name_row (Painter *painter, const char *name)
{
  g_autofree char *cut = g_utf8_strlen (name, -1) > 18 ? g_utf8_substring (name, 0, 18) : g_strdup (name);

  fab_report_svg_text (painter->svg, LEFT - 8, painter->y + BAR - 4, "end", cut);
}

static gboolean
computes (const GArray *spans)
{
  return spans->len > 0 && g_array_index (spans, Span, 0).kind == 0;
}

/* Lanes of one class, from `first` on; returns the one after them. */
static guint
draw_class (Painter *painter, JsonObject *run, guint first, gboolean is_folded)
{
  JsonObject *timeline = json_object_get_object_member (run, "timeline");
  JsonArray *lanes = json_object_get_array_member (timeline, "lanes");
  JsonArray *names = json_object_get_array_member (timeline, "names"),
            *classes = json_object_get_array_member (run, "classes");
  gint64 index = json_object_get_int_member (json_array_get_object_element (lanes, first), "class");
  g_autoptr (GPtrArray) spans = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  guint end = first;

  while (end < json_array_get_length (lanes)
         && json_object_get_int_member (json_array_get_object_element (lanes, end), "class") == index)
    g_ptr_array_add (spans, spans_of (json_array_get_object_element (lanes, end++), names));
  g_autoptr (GArray) compute = merged (spans, 0);
  g_autoptr (GArray) comm = merged (spans, 1);
  if (is_folded) {
    name_row (painter,
              json_object_get_string_member (json_array_get_object_element (classes, (guint) index), "name"));
    draw_summary (painter, compute, comm, (double) json_object_get_int_member (timeline, "duration_ns"));
    end_row (painter);
    return end;
  }
  for (guint pass = 0; pass < 2; pass++) /* compute on top */
    for (guint i = 0; i < spans->len; i++) {
      const GArray *lane = g_ptr_array_index (spans, i);

      if (computes (lane) == (pass == 1))
        continue;
      name_row (painter,
                json_object_get_string_member (json_array_get_object_element (lanes, first + i), "stream"));
      draw_stream (painter, lane, compute);
      end_row (painter);
    }
  name_row (painter, "exposed");
  draw_exposed (painter, compute, comm);
  end_row (painter);
  return end;
}

static void
draw_axis (Painter *painter, double duration_ns)
{
  const double half_text = 24; /* pixels of half a number with its unit */
  double step_ns = fab_report_svg_round_step (MAX (duration_ns, 1));

  for (guint i = 0; i * step_ns <= duration_ns; i++) {
    double x = LEFT + painter->scale * i * step_ns;
    g_autofree char *text = fab_units_show (FAB_UNIT_TIME, i * step_ns * 1e3);

    fab_svg_line (painter->svg, x, TOP - 2, x, painter->y, "#d8dde4");
    fab_report_svg_text (painter->svg, x, painter->y + 14,
                         i == 0                         ? "start"
                         : x + half_text > LEFT + WIDTH ? "end"
                                                        : "middle",
                         text);
  }
}

static void
draw_key (const Painter *painter, gboolean is_folded)
{
  const char *used[N_STYLES], *names[N_STYLES];
  guint n = 0;

  for (guint s = 0; s < N_STYLES; s++)
    if (painter->used[s]) {
      used[n] = styles[s];
      names[n++] = is_folded && s == BACKWARD ? "compute" : style_names[s];
    }
  fab_report_svg_key (painter->svg, painter->y + 26, used, names, n);
}

char *
fab_report_svg_timeline (JsonObject *data, GError **error)
{
  JsonArray *runs = json_object_get_array_member (data, "runs");
  JsonObject *run = json_array_get_length (runs) > 0 ? json_array_get_object_element (runs, 0) : NULL;
  JsonObject *timeline = run ? json_object_get_object_member (run, "timeline") : NULL;
  guint n_lanes = timeline ? json_array_get_length (json_object_get_array_member (timeline, "lanes")) : 0;
  g_autofree Painter *painter = g_new0 (Painter, 1);
  guint n_classes = run ? json_array_get_length (json_object_get_array_member (run, "classes")) : 0;

  if (n_lanes == 0) {
    fab_throw (error, FAB_ERROR_INPUT, "--svg timeline: there is no run with spans to draw");
    return NULL;
  }
  gboolean is_folded = n_classes > 2;
  guint n_rows = is_folded ? MIN (n_classes, MAX_CLASSES) : n_lanes + n_classes;
  double duration_ns = (double) json_object_get_int_member (timeline, "duration_ns");
  g_autofree char *title = g_strdup_printf ("%s, iteration %" G_GINT64_FORMAT,
                                            json_object_get_string_member (run, "name"),
                                            json_object_get_int_member (timeline, "iteration") + 1);
  painter->svg = fab_report_svg_begin (TOP + n_rows * ROW + 72, title);
  painter->y = TOP;
  painter->scale = WIDTH / MAX (duration_ns, 1);
  for (guint lane = 0, c = 0; lane < n_lanes && c < MAX_CLASSES; c++)
    lane = draw_class (painter, run, lane, is_folded);
  draw_axis (painter, duration_ns);
  draw_key (painter, is_folded);
  return fab_report_svg_end (painter->svg);
}
