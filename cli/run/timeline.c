/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.c - a row per class of ranks, a letter per column: what filled most of the column's time.
 *
 * The time of a column is compute of some kind (by the first word of the span's name), exposed communication (a
 * collective is under way and compute is not) or idle; the largest is shown, compute before the others when equal.
 */
#include "cli/run/timeline.h"

#include <string.h>

#include "sim/execution/overlap.h"
#include "sim/result/probe.h"

static char *timeline_class_name (const FabRankClassRecord *rank_class);

enum { MAX_ROWS = 16, MAX_KINDS = 24 };

typedef struct {
  char *word; /* "forward" */
  char letter;
} Kind;

typedef struct {
  const FabProbe *probe;
  guint width;
  FabTimePs start_ps, duration_ps; /* of the iteration */
  GArray *kinds;                   /* Kind, in order of appearance */
} Picture;

static FabTimePs
timeline_classes_column_start (const Picture *picture, guint column)
{
  return picture->start_ps + (FabTimePs) ((__int128) picture->duration_ps * column / picture->width);
}

static guint
column_of (const Picture *picture, FabTimePs time_ps)
{
  FabTimePs offset_ps = CLAMP (time_ps - picture->start_ps, 0, MAX (picture->duration_ps - 1, 0));

  return (guint) ((__int128) offset_ps * picture->width / MAX (picture->duration_ps, 1));
}

static gboolean
is_taken (const GArray *kinds, char letter)
{
  for (guint i = 0; i < kinds->len; i++)
    if (g_array_index (kinds, Kind, i).letter == letter)
      return TRUE;
  return FALSE;
}

/* The first letter of the word that is free, large and then small; '*' when there is none. */
static char
choose_letter (const GArray *kinds, const char *word)
{
  for (const char *p = word; *p != '\0'; p++)
    for (guint small = 0; g_ascii_isalpha (*p) && small < 2; small++) {
      char letter = small ? g_ascii_tolower (*p) : g_ascii_toupper (*p);

      if (!is_taken (kinds, letter))
        return letter;
    }
  return '*';
}

static guint
kind_of (Picture *picture, const char *name)
{
  gsize length = strcspn (name, " ");

  for (guint i = 0; i < picture->kinds->len; i++) {
    const char *word = g_array_index (picture->kinds, Kind, i).word;

    if (strlen (word) == length && strncmp (word, name, length) == 0)
      return i;
  }
  if (picture->kinds->len == MAX_KINDS)
    return MAX_KINDS - 1;
  Kind added = { g_strndup (name, length), '*' };
  if (picture->kinds->len < MAX_KINDS - 1)
    added.letter = choose_letter (picture->kinds, added.word);
  g_array_append_val (picture->kinds, added);
  return picture->kinds->len - 1;
}

/* Adds a span's time to the columns that it covers. */
static void
add_compute (Picture *picture, const FabSpanRecord *span, FabTimePs *times_ps)
{
  guint kind = kind_of (picture, span->name), last = column_of (picture, span->end_ps - 1);

  for (guint i = column_of (picture, span->start_ps); i <= last; i++) {
    FabTimePs from_ps = MAX (span->start_ps, timeline_classes_column_start (picture, i));
    FabTimePs to_ps = MIN (span->end_ps, timeline_classes_column_start (picture, i + 1));

    times_ps[i * MAX_KINDS + kind] += MAX (to_ps - from_ps, 0);
  }
}

/* `busy`: when it computes or communicates. */
static char
letter_of (const Picture *picture, guint column, const FabTimePs *times_ps, const FabIntervalSet *compute,
           const FabIntervalSet *busy)
{
  FabTimePs start_ps = timeline_classes_column_start (picture, column),
            end_ps = timeline_classes_column_start (picture, column + 1);
  FabTimePs compute_ps = fab_interval_set_within_ps (compute, start_ps, end_ps);
  FabTimePs busy_ps = fab_interval_set_within_ps (busy, start_ps, end_ps);
  FabTimePs exposed_ps = busy_ps - compute_ps, idle_ps = end_ps - start_ps - busy_ps;
  guint most = 0;

  if (compute_ps < exposed_ps || compute_ps < idle_ps)
    return exposed_ps >= idle_ps ? '=' : '.';
  for (guint kind = 1; kind < picture->kinds->len; kind++)
    if (times_ps[kind] > times_ps[most])
      most = kind;
  return compute_ps > 0 ? g_array_index (picture->kinds, Kind, most).letter : ' ';
}

static void
draw_class (Picture *picture, const FabRankClassRecord *rank_class, guint name_width, GString *out)
{
  g_autofree FabTimePs *times_ps = g_new0 (FabTimePs, (gsize) picture->width * MAX_KINDS);
  g_autofree char *name = timeline_class_name (rank_class);
  FabIntervalSet compute, busy;

  fab_interval_set_init (&compute);
  fab_interval_set_init (&busy);
  for (guint i = 0; i < picture->probe->spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (picture->probe->spans, FabSpanRecord, i);

    if (span->rank_class != rank_class->rank_class || span->end_ps <= MAX (span->start_ps, picture->start_ps)
        || span->start_ps >= picture->start_ps + picture->duration_ps)
      continue;
    if (span->kind == FAB_SPAN_COMM || span->kind == FAB_SPAN_COMPUTE)
      fab_interval_set_add (&busy, span->start_ps, span->end_ps);
    if (span->kind != FAB_SPAN_COMPUTE)
      continue;
    fab_interval_set_add (&compute, span->start_ps, span->end_ps);
    add_compute (picture, span, times_ps);
  }
  g_string_append_printf (out, "  %-*s ", (int) name_width, name);
  for (guint i = 0; i < picture->width; i++)
    g_string_append_c (out, letter_of (picture, i, &times_ps[i * MAX_KINDS], &compute, &busy));
  g_string_append_c (out, '\n');
  fab_interval_set_clear (&compute);
  fab_interval_set_clear (&busy);
}

static void
draw_legend (const Picture *picture, guint name_width, GString *out)
{
  g_string_append_printf (out, "  %-*s ", (int) name_width, "");
  for (guint i = 0; i < picture->kinds->len; i++) {
    const Kind *kind = &g_array_index (picture->kinds, Kind, i);

    if (kind->letter != '*')
      g_string_append_printf (out, "%c %s, ", kind->letter, kind->word);
  }
  if (is_taken (picture->kinds, '*'))
    g_string_append (out, "* * other compute, ");
  g_string_append (out, "= exposed communication, . idle\n");
}

static void
clear_kind (gpointer data)
{
  g_free (((Kind *) data)->word);
}

/* Returns "rank 8". (transfer full) */
static char *
timeline_class_name (const FabRankClassRecord *rank_class)
{
  return g_strdup_printf ("rank %u", rank_class->first_rank);
}

/* Draws a row per class, and the key of its letters. `name_width` columns stand before each row. */
static void
timeline_draw_classes (const FabProbe *probe, const FabRankClassRecord *classes, guint n_classes, guint width,
                       guint name_width, GString *out)
{
  Picture picture = { .probe = probe, .width = width, .kinds = g_array_new (FALSE, FALSE, sizeof (Kind)) };
  guint n_left_out = n_classes > MAX_ROWS ? n_classes - MAX_ROWS : 0;

  g_array_set_clear_func (picture.kinds, clear_kind);
  if (probe->iterations->len > 0) {
    const FabIterationRecord *times = &g_array_index (probe->iterations, FabIterationRecord, 0);

    picture.start_ps = times->start_ps;
    picture.duration_ps = times->duration_ps;
  }
  for (guint i = 0; i < n_classes; i++) {
    if (n_left_out > 0 && i == MAX_ROWS / 2) {
      g_string_append_printf (out, "  %-*s (%u more)\n", (int) name_width, "...", n_left_out);
      i += n_left_out;
    }
    draw_class (&picture, &classes[i], name_width, out);
  }
  draw_legend (&picture, name_width, out);
  g_array_unref (picture.kinds);
}

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

/* When the class computes, which is in `busy` too, or communicates. `compute` may be NULL. */
static void
take_times (const Drawing *drawing, FabIntervalSet *compute, FabIntervalSet *busy)
{
  fab_interval_set_init (busy);
  if (compute != NULL)
    fab_interval_set_init (compute);
  for (guint i = 0; i < drawing->probe->spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (drawing->probe->spans, FabSpanRecord, i);

    if (span->rank_class != drawing->times.rank_class)
      continue;
    if (span->kind == FAB_SPAN_COMPUTE || span->kind == FAB_SPAN_COMM)
      fab_interval_set_add (busy, span->start_ps, span->end_ps);
    if (span->kind == FAB_SPAN_COMPUTE && compute != NULL)
      fab_interval_set_add (compute, span->start_ps, span->end_ps);
  }
}

/* Columns in which communication runs and compute does not: for more than half of the column, or more than a tenth. */
static void
draw_exposed (Drawing *drawing)
{
  FabIntervalSet compute, busy;
  g_autoptr (GString) row = g_string_new (NULL);

  take_times (drawing, &compute, &busy);
  for (guint i = 0; i < drawing->width; i++) {
    FabTimePs start_ps = column_start (drawing, i), end_ps = column_start (drawing, i + 1);
    FabTimePs exposed_ps = fab_interval_set_within_ps (&busy, start_ps, end_ps)
                         - fab_interval_set_within_ps (&compute, start_ps, end_ps);
    FabTimePs all_ps = end_ps - start_ps;

    g_string_append_c (row, exposed_ps * 2 > all_ps ? '=' : exposed_ps * 10 > all_ps ? '-' : ' ');
  }
  g_strchomp (row->str);
  finish_row (drawing, "exposed", row);
  fab_interval_set_clear (&compute);
  fab_interval_set_clear (&busy);
}

static void
draw_axis (Drawing *drawing)
{
  g_autofree char *total = fab_units_show (FAB_UNIT_TIME, (double) drawing->times.duration_ps);

  g_string_append_printf (drawing->out, "  %-*s 0%*s\n", (int) drawing->name_width, "",
                          (int) drawing->width - 1, total);
}

/* Columns in which nothing computes or communicates, for more than half of the column; no row when there is none. */
static void
draw_idle (Drawing *drawing)
{
  FabIntervalSet busy;
  g_autoptr (GString) row = g_string_new (NULL);

  take_times (drawing, NULL, &busy);
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
    g_autofree char *name = timeline_class_name (&classes[i]);

    width = MAX (width, strlen (name));
  }
  return (guint) width;
}

char *
fab_timeline_draw (const FabProbe *probe, const FabRankClassRecord *classes, guint n_classes, guint width,
                   guint page_columns)
{
  Drawing drawing = { .probe = probe,
                      .width = MAX (width, 20),
                      .name_width = name_width (probe, classes, n_classes),
                      .out = g_string_new (NULL) };

  if (page_columns > 0)
    drawing.width = MAX (page_columns, 20 + drawing.name_width + 3) - drawing.name_width - 3;
  for (guint i = 0; i < probe->iterations->len; i++)
    if (g_array_index (probe->iterations, FabIterationRecord, i).rank_class == classes[0].rank_class)
      drawing.times = g_array_index (probe->iterations, FabIterationRecord, i);
  draw_axis (&drawing);
  if (n_classes > 1) {
    g_autofree char *first = timeline_class_name (&classes[0]);

    timeline_draw_classes (probe, classes, n_classes, drawing.width, drawing.name_width, drawing.out);
    g_string_append_printf (drawing.out, "  streams of %s:\n", first);
  }
  draw_streams (&drawing);
  draw_exposed (&drawing);
  draw_idle (&drawing);
  return g_string_free (drawing.out, FALSE);
}
