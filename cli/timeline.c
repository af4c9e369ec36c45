/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/timeline.h"

#include <string.h>

#include "cli/timeline_classes.h"
#include "sim/work/overlap.h"

/* Spans of one stream that follow closely and do the same. */
typedef struct {
  FabTimePs start_ps, end_ps;
  char *label; /* first word of the spans' names */
  guint n;
  gboolean is_comm;
} Block;

typedef struct {
  const FabProbe *probe;
  FabIterationRecord times; /* of the rank class */
  guint width, name_width;
  GString *out;
} Drawing;

static void
block_clear (gpointer block)
{
  g_free (((Block *) block)->label);
}

static guint
column (const Drawing *drawing, FabTimePs time_ps)
{
  FabTimePs offset_ps = CLAMP (time_ps - drawing->times.start_ps, 0, drawing->times.duration_ps);

  return (guint) ((__int128) offset_ps * drawing->width / MAX (drawing->times.duration_ps, 1));
}

static FabTimePs
column_start (const Drawing *drawing, guint column)
{
  return drawing->times.start_ps
       + (FabTimePs) ((__int128) drawing->times.duration_ps * column / drawing->width);
}

static void
add_span (const Drawing *drawing, GArray *blocks, const FabSpanRecord *span)
{
  FabTimePs cell_ps = drawing->times.duration_ps / drawing->width + 1;
  Block *last = blocks->len > 0 ? &g_array_index (blocks, Block, blocks->len - 1) : NULL;
  gsize length = strcspn (span->name, " ");

  if (last && strlen (last->label) == length && strncmp (last->label, span->name, length) == 0
      && span->start_ps - last->end_ps < cell_ps) {
    last->end_ps = span->end_ps;
    last->n++;
    return;
  }
  Block added = { span->start_ps, span->end_ps, g_strndup (span->name, length), 1,
                  span->kind == FAB_SPAN_COMM };
  g_array_append_val (blocks, added);
}

/* [ label      ], or what of it fits. */
static void
draw_block (const Drawing *drawing, const Block *block, GString *row)
{
  guint first = column (drawing, block->start_ps), last = column (drawing, block->end_ps);
  g_autofree char *counted = block->n > 1 && block->is_comm
                               ? g_strdup_printf (" %s x%u", block->label, block->n)
                               : g_strdup_printf (" %s", block->label);

  if (last <= first || first < row->len)
    first = MAX (first, (guint) row->len);
  if (last <= first)
    return;
  for (guint i = (guint) row->len; i < first; i++)
    g_string_append_c (row, ' ');
  if (last - first == 1) {
    g_string_append_c (row, '|');
    return;
  }
  guint room = last - first - 2;
  if (strlen (counted) > room)
    counted[1 + strlen (block->label)] = '\0'; /* a number is whole or not there */
  g_string_append_printf (row, "[%-*.*s]", (int) room, (int) room, counted);
}

static void
finish_row (Drawing *drawing, const char *name, GString *row)
{
  if (*row->str)
    g_string_append_printf (drawing->out, "  %-*s %s\n", (int) drawing->name_width, name, row->str);
  else
    g_string_append_printf (drawing->out, "  %s\n", name);
}

static gboolean
is_of_stream (const Drawing *drawing, const FabSpanRecord *span, const char *stream)
{
  return span->rank_class == drawing->times.rank_class && strcmp (span->stream, stream) == 0
      && span->end_ps > drawing->times.start_ps
      && span->start_ps < drawing->times.start_ps + drawing->times.duration_ps;
}

static void
draw_stream (Drawing *drawing, const char *stream)
{
  g_autoptr (GArray) blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  g_autoptr (GString) row = g_string_new (NULL);

  g_array_set_clear_func (blocks, block_clear);
  for (guint i = 0; i < drawing->probe->spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (drawing->probe->spans, FabSpanRecord, i);

    if (is_of_stream (drawing, span, stream) && span->kind != FAB_SPAN_WAIT && span->end_ps > span->start_ps)
      add_span (drawing, blocks, span);
  }
  for (guint i = 0; i < blocks->len; i++)
    draw_block (drawing, &g_array_index (blocks, Block, i), row);
  if (blocks->len > 0)
    finish_row (drawing, stream, row);
}

/* Columns in which communication runs and compute does not: for at least half of the column, or at least a tenth. */
static void
draw_exposed (Drawing *drawing)
{
  FabIntervalSet compute, comm;
  g_autoptr (GString) row = g_string_new (NULL);
  const FabIterationRecord *times = &drawing->times;

  fab_interval_set_init (&compute);
  fab_interval_set_init (&comm);
  for (guint i = 0; i < drawing->probe->spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (drawing->probe->spans, FabSpanRecord, i);

    if (span->rank_class == times->rank_class && span->kind == FAB_SPAN_COMPUTE)
      fab_interval_set_add (&compute, span->start_ps, span->end_ps);
    if (span->rank_class == times->rank_class && span->kind == FAB_SPAN_COMM)
      fab_interval_set_add (&comm, span->start_ps, span->end_ps);
  }
  for (guint i = 0; i < drawing->width; i++) {
    FabTimePs start_ps = column_start (drawing, i), end_ps = column_start (drawing, i + 1);
    FabTimePs comm_ps = fab_interval_set_within_ps (&comm, start_ps, end_ps);
    FabTimePs compute_ps = fab_interval_set_within_ps (&compute, start_ps, end_ps);

    FabTimePs exposed_ps = MIN (comm_ps, end_ps - start_ps - compute_ps), all_ps = end_ps - start_ps;

    g_string_append_c (row, exposed_ps * 2 > all_ps ? '=' : exposed_ps * 10 > all_ps ? '-' : ' ');
  }
  g_strchomp (row->str);
  finish_row (drawing, "exposed", row);
  fab_interval_set_clear (&compute);
  fab_interval_set_clear (&comm);
}

static void
draw_axis (Drawing *drawing)
{
  g_autofree char *total = fab_units_show (FAB_UNIT_TIME, (double) drawing->times.duration_ps);

  g_string_append_printf (drawing->out, "  %-*s 0%*s\n", (int) drawing->name_width, "",
                          (int) drawing->width - 1, total);
}

/* Columns in which nothing computes or communicates, for at least half of the column; no row when there is none. */
static void
draw_idle (Drawing *drawing)
{
  FabIntervalSet busy;
  g_autoptr (GString) row = g_string_new (NULL);
  const FabIterationRecord *times = &drawing->times;

  fab_interval_set_init (&busy);
  for (guint i = 0; i < drawing->probe->spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (drawing->probe->spans, FabSpanRecord, i);

    if (span->rank_class == times->rank_class
        && (span->kind == FAB_SPAN_COMPUTE || span->kind == FAB_SPAN_COMM))
      fab_interval_set_add (&busy, span->start_ps, span->end_ps);
  }
  for (guint i = 0; i < drawing->width; i++) {
    FabTimePs start_ps = column_start (drawing, i), end_ps = column_start (drawing, i + 1);

    g_string_append_c (row, fab_interval_set_within_ps (&busy, start_ps, end_ps) * 2 < end_ps - start_ps
                                ? '.'
                                : ' ');
  }
  g_strchomp (row->str);
  if (*row->str)
    finish_row (drawing, "idle", row);
  fab_interval_set_clear (&busy);
}

/* The streams of a class that have spans in the iteration, in order of appearance. */
static void
draw_streams (Drawing *drawing)
{
  g_autoptr (GPtrArray) streams = g_ptr_array_new ();

  for (guint i = 0; i < drawing->probe->spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (drawing->probe->spans, FabSpanRecord, i);

    if (is_of_stream (drawing, span, span->stream)
        && !g_ptr_array_find_with_equal_func (streams, span->stream, g_str_equal, NULL))
      g_ptr_array_add (streams, (gpointer) span->stream);
  }
  for (guint i = 0; i < streams->len; i++)
    draw_stream (drawing, g_ptr_array_index (streams, i));
}

/* As wide as the longest name of a row; 8 at least, as "compute" and "exposed" need. */
static guint
name_width (const FabProbe *probe, const FabRankClassRecord *classes, guint n_classes)
{
  gsize width = 8;

  for (guint i = 0; i < probe->spans->len; i++)
    width = MAX (width, strlen (g_array_index (probe->spans, FabSpanRecord, i).stream));
  for (guint i = 0; i < n_classes && n_classes > 1; i++) {
    g_autofree char *name = fab_timeline_class_name (&classes[i]);

    width = MAX (width, strlen (name));
  }
  return (guint) width;
}

char *
fab_timeline_draw (const FabProbe *probe, const FabRankClassRecord *classes, guint n_classes, guint width)
{
  Drawing drawing = { .probe = probe,
                      .width = MAX (width, 20),
                      .name_width = name_width (probe, classes, n_classes),
                      .out = g_string_new (NULL) };

  for (guint i = 0; i < probe->iterations->len; i++)
    if (g_array_index (probe->iterations, FabIterationRecord, i).rank_class == classes[0].rank_class)
      drawing.times = g_array_index (probe->iterations, FabIterationRecord, i);
  draw_axis (&drawing);
  if (n_classes > 1) {
    g_autofree char *first = fab_timeline_class_name (&classes[0]);

    fab_timeline_draw_classes (probe, classes, n_classes, drawing.width, drawing.name_width, drawing.out);
    g_string_append_printf (drawing.out, "  streams of %s:\n", first);
  }
  draw_streams (&drawing);
  draw_exposed (&drawing);
  draw_idle (&drawing);
  return g_string_free (drawing.out, FALSE);
}
