/* SPDX-License-Identifier: Apache-2.0 */
/* test_report_steps.c - the timeline of an iteration and steps that go by, drawn from spans that are made here.
 *
 * What is drawn at a pixel must be what happens at its time. The reference asks every span at every time.
 */
#include "tests/support/test.h"

#include <json-glib/json-glib.h>

#include "cli/report/report_svg.h"
#include "sim/base/units.h"
#include "tests/support/drawing.h"
#include "tests/unit/cli/report/svg_text.h"

enum { LETTER = 6, MOST_SPANS = 64, PIXEL_NS = 10 };

typedef enum { FORWARD, BACKWARD, COMPUTE, HIDDEN, EXPOSED, WAIT, LOAD, IDLE, NOTHING } Look;

static const char *const styles[] = { "forward", "backward", "compute", "hidden",
                                      "exposed", "wait",     "load",    "idle" };
static const char *const names[] = { "forward 1", "backward 1", "optimizer", "all_reduce", "pause", "host" };

typedef struct {
  guint rank_class;
  const char *stream;
  guint kind; /* 0: compute, 1: communication, 2: host work, 3: waiting */
  gint64 start, end;
  guint name;
} Span;

typedef struct {
  Span spans[MOST_SPANS];
  guint n, n_classes;
  gint64 duration;
} Step;

static void
add (Step *self, guint rank_class, const char *stream, guint kind, guint name, gint64 start, gint64 end)
{
  self->spans[self->n++] = (Span){ rank_class, stream, kind, start, end, name };
  self->n_classes = MAX (self->n_classes, rank_class + 1);
}

/* (transfer full) */
static char *
run_of (const Step *self, const char *name, double step_s, double exposed_s)
{
  g_autoptr (GString) lanes = g_string_new (NULL), classes = g_string_new (NULL), texts = g_string_new (NULL);

  for (guint i = 0; i < self->n; i++) {
    const Span *span = &self->spans[i], *last = i > 0 ? span - 1 : NULL;
    gboolean is_same = last != NULL && last->rank_class == span->rank_class
                    && strcmp (last->stream, span->stream) == 0;

    if (!is_same)
      g_string_append_printf (lanes, "%s{\"class\":%u,\"stream\":\"%s\",\"spans\":[", i > 0 ? "]}," : "",
                              span->rank_class, span->stream);
    g_string_append_printf (lanes, "%s%u,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%u,-1,1",
                            is_same ? "," : "", span->kind, span->start - (is_same ? last->start : 0),
                            span->end - span->start, span->name);
  }
  for (guint i = 0; i < self->n_classes; i++)
    g_string_append_printf (classes, "%s{\"name\":\"class %u\"}", i > 0 ? "," : "", i);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_string_append_printf (texts, "%s\"%s\"", i > 0 ? "," : "", names[i]);
  return g_strdup_printf ("{\"name\":\"%s\",\"ranks\":8,\"classes\":[%s],"
                          "\"iterations\":[{\"step_s\":9,\"exposed_s\":9},{\"step_s\":%g,\"exposed_s\":%g}],"
                          "\"timeline\":{\"iteration\":1,\"duration_ns\":%" G_GINT64_FORMAT
                          ",\"names\":[%s],\"lanes\":[%s%s]}}",
                          name, classes->str, step_s, exposed_s, self->duration, texts->str, lanes->str,
                          self->n > 0 ? "]}" : "");
}

/* (transfer full) */
static GPtrArray *
drawn (const char *runs, const char *figure)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *data = g_strdup_printf ("{\"runs\":[%s]}", runs);
  g_autofree char *svg = fab_report_svg (data, figure, &error);

  assert_null (error);
  GPtrArray *drawing = drawing_read (svg);
  drawing_assert_tidy (drawing, LETTER);
  return drawing;
}

static GPtrArray *
drawn_timeline (const Step *step)
{
  g_autofree char *run = run_of (step, "one", 1, 0.5);

  return drawn (run, "timeline");
}

/* --- reference --- */

static gboolean
happens (const Step *self, guint rank_class, guint kind, double at)
{
  for (guint i = 0; i < self->n; i++) {
    const Span *span = &self->spans[i];

    if (span->rank_class == rank_class && span->kind == kind && (double) span->start <= at
        && at < (double) span->end)
      return TRUE;
  }
  return FALSE;
}

/* What a stream does; `stream` "exposed": what its class is held up by. */
static Look
look_of (const Step *self, guint rank_class, const char *stream, double at)
{
  gboolean computes = happens (self, rank_class, 0, at);

  if (strcmp (stream, "exposed") == 0)
    return !computes && happens (self, rank_class, 1, at) ? EXPOSED : NOTHING;
  for (guint i = 0; i < self->n; i++) {
    const Span *span = &self->spans[i];

    if (span->rank_class != rank_class || strcmp (span->stream, stream) != 0 || at < (double) span->start
        || at >= (double) span->end)
      continue;
    switch (span->kind) {
    case 1: return computes ? HIDDEN : EXPOSED;
    case 2: return LOAD;
    case 3: return WAIT;
    default: return span->name == 0 ? FORWARD : span->name == 1 ? BACKWARD : COMPUTE;
    }
  }
  return NOTHING;
}

/* Of more than two classes each has one row. */
static Look
folded_look_of (const Step *self, guint rank_class, double at)
{
  return happens (self, rank_class, 0, at) ? BACKWARD : happens (self, rank_class, 1, at) ? EXPOSED : IDLE;
}

/* --- what is drawn --- */

/* Where time 0 and the end are, in pixels: the first and the last line of the axis that are named. */
static double
pixel_of (const GPtrArray *drawing, double at_ns)
{
  g_autoptr (GPtrArray) lines = drawing_find (drawing, "line", "#d8dde4");
  const DrawnElement *first = drawing_at (lines, 0), *last = drawing_at (lines, lines->len - 1);
  double step_ns = 0, from = drawn_number (first, "x1"), to = drawn_number (last, "x1");

  for (guint i = 1; i < 10000 && step_ns == 0; i++) { /* the distance of the lines, by what they are named */
    for (guint k = 0; k < 3; k++) {
      double each = (k == 0 ? 1 : k == 1 ? 2 : 5) * pow (10, i - 1);
      g_autofree char *name = fab_units_show (FAB_UNIT_TIME, each * 1e3);

      if (step_ns == 0 && drawing_says (drawing, name))
        step_ns = each;
    }
  }
  return from + (to - from) * at_ns / (step_ns * (lines->len - 1));
}

/* The look of the block at a point; NOTHING: there is none. */
static Look
look_at (const GPtrArray *drawing, double x, double y)
{
  Look found = NOTHING;

  for (Look look = FORWARD; look < NOTHING; look++) {
    g_autoptr (GArray) blocks = drawing_blocks (drawing, fab_report_svg_fill (styles[look]));

    for (guint i = 0; i < blocks->len; i++) {
      const DrawnBlock *block = &g_array_index (blocks, DrawnBlock, i);

      if (block->x <= x && x < block->x + block->width && block->y <= y && y < block->y + block->height) {
        assert_int_equal (found, NOTHING); /* nothing lies over anything */
        found = look;
      }
    }
  }
  return found;
}

/* The middle of the row of a name, the nth of these names. */
static double
row_of (const GPtrArray *drawing, const char *name, guint nth)
{
  g_autoptr (GPtrArray) texts = drawing_find (drawing, "text", NULL);

  for (guint i = 0; i < texts->len; i++) {
    const DrawnElement *text = drawing_at (texts, i);

    if (strcmp (text->words->str, name) == 0 && g_strcmp0 (drawn_word (text, "text-anchor"), "end") == 0
        && nth-- == 0)
      return drawn_number (text, "y") - 4;
  }
  fail_msg ("there is no row '%s'", name);
  return 0;
}

/* Asks the middles of stretches of ten pixels: at their ends neighbours may have a gap between them. */
static void
assert_row (const GPtrArray *drawing, const Step *step, guint rank_class, const char *stream, guint nth)
{
  double y = row_of (drawing, stream, nth);

  for (gint64 at = 5 * PIXEL_NS; at < step->duration; at += 10 * PIXEL_NS) {
    Look drawn_look = look_at (drawing, pixel_of (drawing, (double) at), y),
         look = look_of (step, rank_class, stream, (double) at);

    if (drawn_look != look)
      fail_msg ("%s at %" G_GINT64_FORMAT " ns is drawn as %u, and is %u", stream, at, drawn_look, look);
  }
}

/* Spans that begin and end at multiples of 100 ns, which are ten pixels. */
static Step
a_step (void)
{
  Step step = { .duration = 588 * PIXEL_NS };

  add (&step, 0, "compute", 0, 0, 0, 1200);
  add (&step, 0, "compute", 0, 1, 1200, 2500);
  add (&step, 0, "compute", 3, 4, 2500, 2900);
  add (&step, 0, "compute", 0, 2, 4800, 5500);
  add (&step, 0, "ring", 1, 3, 800, 1600);
  add (&step, 0, "ring", 1, 3, 2300, 3600);
  add (&step, 0, "ring", 1, 3, 4500, 5100);
  add (&step, 0, "tree", 1, 3, 1000, 1300);
  add (&step, 0, "tree", 1, 3, 3300, 4000);
  add (&step, 0, "loader", 2, 5, 500, 5600);
  return step;
}

static void
test_a_pixel_is_what_happens_at_its_time (G_GNUC_UNUSED void **state)
{
  static const char *const streams[] = { "compute", "ring", "tree", "loader", "exposed" };
  Step step = a_step ();
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  double last_y = 0;

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++) {
    double y = row_of (drawing, streams[i], 0);

    assert_row (drawing, &step, 0, streams[i], 0);
    assert_true (y > last_y + 16); /* rows do not overlap, compute on top, what is exposed last */
    last_y = y;
  }
  assert_non_null (drawing_text (drawing, "one, iteration 2"));
}

/* A stream whose first span computes stands on top, whatever the order of the lanes. */
static void
test_compute_is_on_top (G_GNUC_UNUSED void **state)
{
  Step step = { .duration = 588 * PIXEL_NS };

  add (&step, 0, "ring", 1, 3, 800, 1600);
  add (&step, 0, "work", 0, 1, 0, 1200);
  add (&step, 0, "loader", 2, 5, 0, 1200);
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  assert_true (row_of (drawing, "work", 0) < row_of (drawing, "ring", 0));
  assert_true (row_of (drawing, "ring", 0) < row_of (drawing, "loader", 0));
  assert_true (row_of (drawing, "loader", 0) < row_of (drawing, "exposed", 0));
}

static void
test_two_classes_have_rows_of_their_own (G_GNUC_UNUSED void **state)
{
  Step step = a_step ();

  add (&step, 1, "compute", 0, 1, 3000, 4000);
  add (&step, 1, "ring", 1, 3, 3500, 4500);
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  assert_row (drawing, &step, 0, "ring", 0);
  assert_row (drawing, &step, 0, "exposed", 0);
  assert_row (drawing, &step, 1, "compute", 1);
  assert_row (drawing, &step, 1, "ring", 1);
  assert_row (drawing, &step, 1, "exposed", 1);
  assert_true (row_of (drawing, "compute", 1) > row_of (drawing, "exposed", 0));
}

static void
test_many_classes_have_a_row_each (G_GNUC_UNUSED void **state)
{
  Step step = a_step ();

  add (&step, 1, "compute", 0, 1, 3000, 4000);
  add (&step, 1, "ring", 1, 3, 3500, 4500);
  add (&step, 2, "ring", 1, 3, 200, 700);
  add (&step, 2, "tree", 1, 3, 500, 900);
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  for (guint c = 0; c < 3; c++) {
    g_autofree char *name = g_strdup_printf ("class %u", c);
    double y = row_of (drawing, name, 0);

    for (gint64 at = 5 * PIXEL_NS; at < step.duration; at += 10 * PIXEL_NS)
      assert_int_equal (look_at (drawing, pixel_of (drawing, (double) at), y),
                        folded_look_of (&step, c, (double) at));
  }
  assert_non_null (drawing_text (drawing, "compute"));
  assert_false (drawing_says (drawing, "backward"));
}

/* Of more than 32 classes the first 32 are drawn. */
static void
test_a_drawing_has_at_most_32_classes (G_GNUC_UNUSED void **state)
{
  Step step = { .duration = 588 * PIXEL_NS };

  for (guint c = 0; c < 34; c++)
    add (&step, c, "all", 0, 1, 0, 100 * (c + 1));
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  assert_true (drawing_says (drawing, "class 31"));
  assert_false (drawing_says (drawing, "class 32"));
}

/* The key has what is drawn, and nothing else. */
static void
test_the_key_has_what_is_drawn (G_GNUC_UNUSED void **state)
{
  Step step = { .duration = 588 * PIXEL_NS };

  add (&step, 0, "compute", 0, 1, 0, 1000);
  add (&step, 0, "ring", 1, 3, 500, 700);
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  assert_true (drawing_says (drawing, "backward"));
  assert_true (drawing_says (drawing, "communication, hidden under compute"));
  assert_false (drawing_says (drawing, "forward"));
  assert_false (drawing_says (drawing, "communication, exposed"));
  assert_false (drawing_says (drawing, "idle"));
  assert_false (drawing_says (drawing, "host work"));
}

/* Spans of less than two pixels: a column is as high as the share of its pixels that they take, from below. A block
 * that starts in the middle of a pixel leaves a share of it. */
static void
test_short_spans_are_columns (G_GNUC_UNUSED void **state)
{
  Step step = { .duration = 588 * PIXEL_NS };
  double area = 0, bottom = 0, least = 1e9, most = 0;

  /* From 1000 ns on half of each pixel is forward, and a quarter of it backward: 100 pixels. */
  for (guint i = 0; i < 20; i++) {
    gint64 at = 1000 + 50 * i;

    add (&step, 0, "all", 0, 0, at, at + 10);      /* a whole pixel of five */
    add (&step, 0, "all", 0, 1, at + 20, at + 25); /* half a pixel of five */
  }
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  g_autoptr (GArray) whole = drawing_blocks (drawing, fab_report_svg_fill ("forward")),
                     half = drawing_blocks (drawing, fab_report_svg_fill ("backward"));
  assert_int_equal (whole->len, 20);
  assert_int_equal (half->len, 20);
  for (guint i = 0; i < 20; i++) {
    const DrawnBlock *one = &g_array_index (whole, DrawnBlock, i),
                     *other = &g_array_index (half, DrawnBlock, i);

    assert_near (one->width, 1, 1e-9);
    assert_near (other->width, 1, 1e-9);
    assert_near (one->height, 2 * other->height, 1e-9);
    assert_near (one->y + one->height, other->y + other->height, 1e-9);
    assert_near (one->x, pixel_of (drawing, 1000 + 50 * i), 2e-3);
    assert_near (other->x, one->x + 2, 1e-9);
    area += one->width * one->height;
    bottom = one->y + one->height;
    least = MIN (least, one->x);
    most = MAX (most, one->x);
  }
  assert_near (area, 20 * (bottom - g_array_index (whole, DrawnBlock, 0).y), 1e-9);
  assert_near (most - least, 95, 1e-9);
}

/* What shares a pixel stands one on the other, in the order of the key, and no higher than a bar. */
static void
test_columns_stand_on_one_another (G_GNUC_UNUSED void **state)
{
  Step step = { .duration = 588 * PIXEL_NS };

  add (&step, 0, "all", 0, 0, 1000, 1005);
  add (&step, 0, "all", 0, 1, 1005, 1010);
  add (&step, 0, "all", 0, 0, 2000, 2010); /* two in one pixel, which is full */
  add (&step, 0, "all", 0, 1, 2000, 2010);
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  g_autoptr (GArray) below = drawing_blocks (drawing, fab_report_svg_fill ("forward")),
                     above = drawing_blocks (drawing, fab_report_svg_fill ("backward"));
  const DrawnBlock *low = &g_array_index (below, DrawnBlock, 0),
                   *high = &g_array_index (above, DrawnBlock, 0),
                   *full = &g_array_index (below, DrawnBlock, 1);
  assert_int_equal (above->len, 1);
  assert_near (high->x, low->x, 1e-9);
  assert_near (high->y + high->height, low->y, 1e-9);
  assert_near (high->height + low->height, full->height, 1e-9);
  assert_near (high->y, full->y, 1e-9);
}

/* Lines of the axis are as far apart as their names say, and none is beyond the end. */
static void
test_the_axis_has_the_times (G_GNUC_UNUSED void **state)
{
  for (gint64 duration = 7; duration < 4e12; duration = duration * 7 / 3) {
    Step step = { .duration = duration };
    double step_ns = fab_report_svg_round_step ((double) duration);

    add (&step, 0, "all", 0, 0, 0, duration);
    g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
    g_autoptr (GPtrArray) lines = drawing_find (drawing, "line", "#d8dde4");
    g_autoptr (GArray) blocks = drawing_blocks (drawing, fab_report_svg_fill ("forward"));
    const DrawnBlock *all = &g_array_index (blocks, DrawnBlock, 0);
    double left = drawn_number (drawing_at (lines, 0), "x1"), right = all->x + all->width;

    assert_int_equal (lines->len, (guint) floor ((double) duration / step_ns) + 1);
    for (guint i = 0; i < lines->len; i++) {
      g_autofree char *name = fab_units_show (FAB_UNIT_TIME, i * step_ns * 1e3);
      double x = drawn_number (drawing_at (lines, i), "x1");

      assert_true (drawing_says (drawing, name));
      assert_true (fabs (x - left - (right - left) * i * step_ns / (double) duration) < 0.2);
    }
  }
}

static void
test_no_spans (G_GNUC_UNUSED void **state)
{
  Step empty = { .duration = 100 };
  g_autofree char *run = run_of (&empty, "one", 1, 0.5);
  g_autofree char *data = g_strdup_printf ("{\"runs\":[%s]}", run);
  g_autoptr (GError) error = NULL;

  assert_null (fab_report_svg (data, "timeline", &error));
  assert_non_null (strstr (error->message, "there is no run with spans"));
  g_clear_error (&error);
  assert_null (fab_report_svg ("{\"runs\":[]}", "timeline", &error));
  assert_non_null (strstr (error->message, "there is no run with spans"));
  g_clear_error (&error);
  assert_null (fab_report_svg ("{\"runs\":[]}", "wait", &error));
  assert_non_null (strstr (error->message, "there is no run with a step"));
}

/* --- steps that go by --- */

/* The rectangles of a colour in a row, from above: `top` is that of the row. */
static GPtrArray *
in_row (const GPtrArray *drawing, const char *style, double top, double bottom)
{
  g_autoptr (GPtrArray) rects = drawing_find (drawing, "rect", fab_report_svg_fill (style));
  GPtrArray *row = g_ptr_array_new ();

  for (guint i = 0; i < rects->len; i++)
    if (drawn_number (drawing_at (rects, i), "y") > top && drawn_number (drawing_at (rects, i), "y") < bottom)
      g_ptr_array_add (row, g_ptr_array_index (rects, i));
  return row;
}

static void
assert_rect (const GPtrArray *row, guint i, double x, double width)
{
  assert_true (fabs (drawn_number (drawing_at (row, i), "x") - x) < 0.11);
  assert_true (fabs (drawn_number (drawing_at (row, i), "width") - width) < 0.11);
}

/* 464 pixels are the longest step. What the first class of ranks does is drawn, whichever stream does it. */
static void
test_steps_go_by_together (G_GNUC_UNUSED void **state)
{
  Step slow = { .duration = 4640 }, fast = { .duration = 2320 };
  double left = 8;

  add (&slow, 0, "a", 0, 0, 0, 1000);
  add (&slow, 0, "a", 0, 0, 2000, 3000);
  add (&slow, 0, "b", 0, 0, 2500, 3500);
  add (&slow, 0, "c", 1, 3, 3500, 4640);
  add (&slow, 1, "a", 0, 0, 0, 4640);
  add (&fast, 0, "a", 0, 0, 0, 1000);
  add (&fast, 0, "a", 0, 0, 1003, 2000); /* less than half a pixel away */
  add (&fast, 0, "c", 1, 3, 100, 101);
  g_autofree char *one = run_of (&slow, "slow-with-more-than-thirty-letters", 0.5, 0.2),
                  *other = run_of (&fast, "fast", 0.25, 0);
  g_autofree char *both = g_strdup_printf ("%s,%s", one, other);
  g_autoptr (GPtrArray) drawing = drawn (both, "wait");
  double first = drawn_number (drawing_text (drawing, "slow-with-more-than-thirty-let"), "y"),
         second = drawn_number (drawing_text (drawing, "fast"), "y"),
         key = drawn_number (drawing_text (drawing, "GPUs wait"), "y") - 14;
  g_autoptr (GPtrArray) slow_compute = in_row (drawing, "backward", first, second),
                        fast_compute = in_row (drawing, "backward", second, key),
                        slow_network = in_row (drawing, "hidden", first, second),
                        fast_network = in_row (drawing, "hidden", second, key),
                        slow_wait = in_row (drawing, "exposed", first, second),
                        fast_wait = in_row (drawing, "exposed", second, key);

  assert_near (drawn_number (drawing_text (drawing, "500 ms, waits 40 %"), "y"), first, 1e-9);
  assert_near (drawn_number (drawing_text (drawing, "250 ms, waits 0 %"), "y"), second, 1e-9);
  /* the name is the head of a row */
  assert_string_equal (drawn_word (drawing_text (drawing, "fast"), "font-weight"), "600");
  assert_string_equal (drawn_word (drawing_text (drawing, "fast"), "text-anchor"), "start");
  assert_null (drawn_word (drawing_text (drawing, "250 ms, waits 0 %"), "font-weight"));
  assert_string_equal (drawn_word (drawing_text (drawing, "250 ms, waits 0 %"), "text-anchor"), "end");
  assert_null (drawn_word (drawing_text (drawing, "GPUs wait"), "font-weight"));
  assert_int_equal (slow_compute->len, 2);
  assert_rect (slow_compute, 0, left, 100);
  assert_rect (slow_compute, 1, left + 200, 150);
  assert_int_equal (slow_network->len, 1);
  assert_rect (slow_network, 0, left + 350, 114);
  assert_int_equal (fast_compute->len, 1);
  assert_rect (fast_compute, 0, left, 200);
  assert_int_equal (fast_network->len, 1);
  assert_rect (fast_network, 0, left + 10, 0.3); /* however short, it is seen */
  assert_rect (slow_wait, 0, left, 464);
  assert_rect (fast_wait, 0, left, 232);
  assert_near (drawn_number (drawing_at (fast_wait, 0), "y"),
               drawn_number (drawing_at (fast_compute, 0), "y"), 1e-9);
  assert_true (drawn_number (drawing_at (slow_network, 0), "y")
               >= drawn_number (drawing_at (slow_compute, 0), "y")
                      + drawn_number (drawing_at (slow_compute, 0), "height"));
}

/* Where the bar of the network ends that begins between these heights. */
static double
network_bottom (const GPtrArray *drawing, double top, double bottom)
{
  g_autoptr (GPtrArray) bars = in_row (drawing, "hidden", top, bottom);

  return drawn_number (drawing_at (bars, 0), "y") + drawn_number (drawing_at (bars, 0), "height");
}

/* The key has a square of each colour with its words beside it. A step of no time waits for nothing, and whoever wants
 * no motion sees whole steps. */
static void
test_the_key_of_steps_that_go_by (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *style, *words;
  } key[] = { { "backward", "GPUs compute" }, { "exposed", "GPUs wait" }, { "hidden", "network sends" } };
  Step step = { .duration = 4640 };
  double before = 0;

  add (&step, 0, "a", 0, 0, 0, 1000);
  g_autofree char *one = run_of (&step, "one", 0.5, 0.2), *none = run_of (&step, "none", 0, 0);
  g_autofree char *both = g_strdup_printf ("%s,%s", one, none);
  g_autoptr (GPtrArray) drawing = drawn (both, "wait");
  g_autoptr (GPtrArray) texts = drawing_find (drawing, "text", NULL);
  g_autoptr (GString) styles_of_all = g_string_new (NULL);
  assert_true (drawing_says (drawing, "0 s, waits 0 %"));
  for (guint i = 0; i < texts->len; i++)
    assert_string_equal (drawn_word (drawing_at (texts, i), "fill"), "#1b2330");
  for (guint i = 0; i < G_N_ELEMENTS (key); i++) {
    const DrawnElement *words = drawing_text (drawing, key[i].words);
    g_autoptr (GPtrArray) rects = drawing_find (drawing, "rect", fab_report_svg_fill (key[i].style));
    const DrawnElement *square = drawing_at (rects, rects->len - 1);
    double right = drawn_number (square, "x") + drawn_number (square, "width"),
           bottom = drawn_number (square, "y") + drawn_number (square, "height");

    assert_near (drawn_number (words, "x"), right + 6, 1e-9);
    assert_near (drawn_number (words, "y"), bottom - 1, 1e-9); /* the line on which the letters stand */
    assert_near (drawn_number (square, "height"), 14, 1e-9);
    assert_true (i == 0 || drawn_number (square, "x") - before == 158);
    before = drawn_number (square, "x");
  }
  for (guint i = 0; i < drawing->len; i++)
    if (strcmp (drawing_at (drawing, i)->name, "style") == 0)
      g_string_append (styles_of_all, drawing_at (drawing, i)->words->str);
  assert_non_null (
      strstr (styles_of_all->str, "@media (prefers-reduced-motion:reduce){.cover{display:none}}"));
}

/* Columns of the same height side by side are one block. */
static void
test_equal_columns_are_one (G_GNUC_UNUSED void **state)
{
  Step step = { .duration = 588 * PIXEL_NS };

  for (guint i = 0; i < 40; i++)
    add (&step, 0, "all", 0, 0, 1000 + PIXEL_NS * i, 1000 + PIXEL_NS * i + PIXEL_NS / 2);
  g_autoptr (GPtrArray) drawing = drawn_timeline (&step);
  g_autoptr (GArray) blocks = drawing_blocks (drawing, fab_report_svg_fill ("forward"));
  assert_int_equal (blocks->len, 1);
  assert_near (g_array_index (blocks, DrawnBlock, 0).width, 40, 1e-9);
}

/* The steps stand whole for a fifth of the time. Then a cover moves as far as its step is long, the longest one in 70 %
 * of the time, and one of a quarter in a quarter of that. */
static void
test_covers_move_at_one_speed (G_GNUC_UNUSED void **state)
{
  Step slow = { .duration = 4640 }, fast = { .duration = 1160 };

  add (&slow, 0, "a", 0, 0, 0, 1000);
  add (&slow, 0, "c", 1, 3, 0, 1000);
  add (&fast, 0, "a", 0, 0, 0, 1000);
  add (&fast, 0, "c", 1, 3, 0, 1000);
  g_autofree char *one = run_of (&slow, "slow", 0.4, 0.2), *other = run_of (&fast, "fast", 0.1, 0);
  g_autofree char *both = g_strdup_printf ("%s,%s,%s,%s,%s", one, other, other, other, other);
  g_autoptr (GPtrArray) drawing = drawn (both, "wait"), covers = NULL;
  g_autoptr (GString) moves = g_string_new (NULL);
  for (guint i = 0; i < drawing->len; i++)
    if (strcmp (drawing_at (drawing, i)->name, "style") == 0)
      g_string_append (moves, drawing_at (drawing, i)->words->str);
  assert_non_null (
      strstr (moves->str, "k0{0%,20%,90%,100%{transform:translateX(464px)}20.1%{transform:translateX(0)}}"));
  assert_non_null (
      strstr (moves->str, "k1{0%,20%,38%,100%{transform:translateX(116px)}20.1%{transform:translateX(0)}}"));
  assert_non_null (strstr (moves->str, ".c3{transform:translateX(116px);animation:k3 8s"));
  assert_null (strstr (moves->str, "k4")); /* of more than four runs the first four */
  covers = drawing_find (drawing, "rect", "#ffffff");
  g_autoptr (GPtrArray) edges = drawing_find (drawing, "line", NULL);
  assert_int_equal (edges->len, 4);
  assert_int_equal (covers->len, 5); /* with the background */
  for (guint i = 1; i < covers->len; i++) {
    const DrawnElement *cover = drawing_at (covers, i);
    g_autoptr (GPtrArray) bars = in_row (drawing, "exposed", drawn_number (cover, "y"),
                                         drawn_number (cover, "y") + drawn_number (cover, "height"));

    assert_int_equal (bars->len, 1);
    assert_near (drawn_number (cover, "x"), drawn_number (drawing_at (bars, 0), "x"), 1e-9);
    /* its left edge is a line, as high as the cover, which reaches as far above the bars as below them */
    const DrawnElement *edge = drawing_at (edges, i - 1), *bar = drawing_at (bars, 0);
    double top = drawn_number (cover, "y"), bottom = top + drawn_number (cover, "height"),
           above = drawn_number (bar, "y") - top;
    assert_near (drawn_number (edge, "x1"), drawn_number (cover, "x"), 1e-9);
    assert_near (drawn_number (edge, "x2"), drawn_number (cover, "x"), 1e-9);
    assert_near (drawn_number (edge, "y1"), top, 1e-9);
    assert_near (drawn_number (edge, "y2"), bottom, 1e-9);
    assert_true (above > 0);
    assert_near (bottom - above, network_bottom (drawing, top, bottom), 1e-9);
  }
}

static const char timeline_text[] =
    "720 x 174\n"
    "<text x='12' y='22' font-size='14' font-weight='600'>one, iteration 2</text>\n"
    "<text x='112.0' y='48.0' text-anchor='end'>all</text>\n"
    "<path fill='#6aa5d6' d='M120.5 36.0h99.5v16.0h-99.5z'/>\n"
    "<path fill='#2f78b7' d='M420.0 36.0h4.0v16.0h-4.0z'/>\n"
    "<path fill='#174e80' d='M520.0 36.0h1.0v16.0h-1.0z'/>\n"
    "<path fill='url(#bars)' d='M521.0 36.0h1.0v16.0h-1.0z'/>\n"
    "<text x='112.0' y='70.0' text-anchor='end'>net</text>\n"
    "<path fill='#2a9d7c' d='M170.5 58.0h49.5v16.0h-49.5z'/>\n"
    "<path fill='url(#hatch)' d='M220.5 58.0h49.5v16.0h-49.5z'/>\n"
    "<text x='112.0' y='92.0' text-anchor='end'>exposed</text>\n"
    "<path fill='url(#hatch)' d='M220.5 80.0h49.5v16.0h-49.5z'/>\n"
    "<line x1='120.0' y1='34.0' x2='120.0' y2='102.0' stroke='#d8dde4'/>\n"
    "<text x='120.0' y='116.0' text-anchor='start'>0 s</text>\n"
    "<line x1='320.0' y1='34.0' x2='320.0' y2='102.0' stroke='#d8dde4'/>\n"
    "<text x='320.0' y='116.0' text-anchor='middle'>200 ns</text>\n"
    "<line x1='520.0' y1='34.0' x2='520.0' y2='102.0' stroke='#d8dde4'/>\n"
    "<text x='520.0' y='116.0' text-anchor='middle'>400 ns</text>\n"
    "<rect x='12.0' y='128.0' width='16.0' height='11.0' fill='#6aa5d6'/>\n"
    "<text x='33.0' y='138.0' text-anchor='start'>forward</text>\n"
    "<rect x='90.0' y='128.0' width='16.0' height='11.0' fill='#2f78b7'/>\n"
    "<text x='111.0' y='138.0' text-anchor='start'>backward</text>\n"
    "<rect x='174.0' y='128.0' width='16.0' height='11.0' fill='#174e80'/>\n"
    "<text x='195.0' y='138.0' text-anchor='start'>other compute</text>\n"
    "<rect x='288.0' y='128.0' width='16.0' height='11.0' fill='#2a9d7c'/>\n"
    "<text x='309.0' y='138.0' text-anchor='start'>communication, hidden under compute</text>\n"
    "<rect x='534.0' y='128.0' width='16.0' height='11.0' fill='url(#hatch)'/>\n"
    "<text x='555.0' y='138.0' text-anchor='start'>communication, exposed</text>\n"
    "<rect x='12.0' y='148.0' width='16.0' height='11.0' fill='url(#bars)'/>\n"
    "<text x='33.0' y='158.0' text-anchor='start'>waiting for other ranks</text>\n"
    "</svg>\n";
static const char wait_text[] =
    "480 x 116\n"
    "<style>@media (prefers-reduced-motion:reduce){.cover{display:none}}</style>\n"
    "<text x='8.0' y='20.0' text-anchor='start' font-weight='600' fill='#1b2330'>one</text>\n"
    "<text x='472.0' y='20.0' text-anchor='end' fill='#1b2330'>1 s, waits 50 %</text>\n"
    "<rect x='8.0' y='30.0' width='464.0' height='30.0' fill='url(#hatch)'/>\n"
    "<rect x='108.0' y='30.0' width='100.0' height='30.0' fill='#2f78b7'/>\n"
    "<rect x='158.0' y='64.0' width='150.0' height='16.0' fill='#2a9d7c'/>\n"
    "<g class='cover c0'><rect x='8.0' y='28.0' width='472.0' height='54.0' fill='#ffffff'/>\n"
    "<line x1='8.0' y1='28.0' x2='8.0' y2='82.0' stroke='#1b2330'/>\n"
    "</g>\n"
    "<style>@keyframes k0{0%,20%,90%,100%{transform:translateX(464px)}20.1%{transform:translateX(0)}}"
    ".c0{transform:translateX(464px);animation:k0 8s linear infinite}</style>\n"
    "<rect x='8.0' y='94.0' width='18.0' height='14.0' fill='#2f78b7'/>\n"
    "<text x='32.0' y='107.0' text-anchor='start' fill='#1b2330'>GPUs compute</text>\n"
    "<rect x='166.0' y='94.0' width='18.0' height='14.0' fill='url(#hatch)'/>\n"
    "<text x='190.0' y='107.0' text-anchor='start' fill='#1b2330'>GPUs wait</text>\n"
    "<rect x='324.0' y='94.0' width='18.0' height='14.0' fill='#2a9d7c'/>\n"
    "<text x='348.0' y='107.0' text-anchor='start' fill='#1b2330'>network sends</text>\n"
    "</svg>\n";

/* (transfer full) */
static char *
text_of (const char *runs, const char *figure)
{
  g_autofree char *data = g_strdup_printf ("{\"runs\":[%s]}", runs);

  return svg_text (data, figure);
}

/* 588 pixels begin at 120, so that one is 1 ns here; rows are 22 apart, and bars 16 high. */
static void
test_each_place_of_a_timeline (G_GNUC_UNUSED void **state)
{
  Step step = { .duration = 588 };

  add (&step, 0, "net", 1, 3, 50, 150);
  add (&step, 0, "all", 0, 0, 0, 100);
  add (&step, 0, "all", 0, 1, 300, 304);
  add (&step, 0, "all", 0, 2, 400, 401);
  add (&step, 0, "all", 3, 4, 401, 402);
  g_autofree char *run = run_of (&step, "one", 1, 0.5), *text = text_of (run, "timeline");

  assert_string_equal (text, timeline_text);
}

static void
test_each_place_of_steps_that_go_by (G_GNUC_UNUSED void **state)
{
  Step step = { .duration = 464 };

  add (&step, 0, "all", 0, 0, 100, 200);
  add (&step, 0, "net", 1, 3, 150, 300);
  g_autofree char *run = run_of (&step, "one", 1, 0.5), *text = text_of (run, "wait");

  assert_string_equal (text, wait_text);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_pixel_is_what_happens_at_its_time),
    cmocka_unit_test (test_compute_is_on_top),
    cmocka_unit_test (test_two_classes_have_rows_of_their_own),
    cmocka_unit_test (test_many_classes_have_a_row_each),
    cmocka_unit_test (test_a_drawing_has_at_most_32_classes),
    cmocka_unit_test (test_the_key_has_what_is_drawn),
    cmocka_unit_test (test_short_spans_are_columns),
    cmocka_unit_test (test_columns_stand_on_one_another),
    cmocka_unit_test (test_the_axis_has_the_times),
    cmocka_unit_test (test_no_spans),
    cmocka_unit_test (test_steps_go_by_together),
    cmocka_unit_test (test_covers_move_at_one_speed),
    cmocka_unit_test (test_each_place_of_a_timeline),
    cmocka_unit_test (test_each_place_of_steps_that_go_by),
    cmocka_unit_test (test_the_key_of_steps_that_go_by),
    cmocka_unit_test (test_equal_columns_are_one),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
