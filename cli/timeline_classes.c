/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_classes.c - a row per class of ranks, a letter per column: what filled most of the column's time.
 *
 * The time of a column is compute of some kind (by the first word of the span's name), exposed communication (a
 * collective is under way and compute is not) or idle; the largest is shown, compute before the others when equal.
 */
#include "cli/timeline_classes.h"

#include <string.h>

#include "sim/work/overlap.h"

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
column_start (const Picture *picture, guint column)
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
    FabTimePs from_ps = MAX (span->start_ps, column_start (picture, i));
    FabTimePs to_ps = MIN (span->end_ps, column_start (picture, i + 1));

    times_ps[i * MAX_KINDS + kind] += MAX (to_ps - from_ps, 0);
  }
}

static char
letter_of (const Picture *picture, guint column, const FabTimePs *times_ps, const FabIntervalSet *compute,
           const FabIntervalSet *comm)
{
  FabTimePs start_ps = column_start (picture, column), end_ps = column_start (picture, column + 1);
  FabTimePs compute_ps = fab_interval_set_within_ps (compute, start_ps, end_ps);
  FabTimePs exposed_ps = MIN (fab_interval_set_within_ps (comm, start_ps, end_ps),
                              end_ps - start_ps - compute_ps);
  FabTimePs idle_ps = end_ps - start_ps - compute_ps - exposed_ps;
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
  g_autofree char *name = fab_timeline_class_name (rank_class);
  FabIntervalSet compute, comm;

  fab_interval_set_init (&compute);
  fab_interval_set_init (&comm);
  for (guint i = 0; i < picture->probe->spans->len; i++) {
    const FabSpanRecord *span = &g_array_index (picture->probe->spans, FabSpanRecord, i);

    if (span->rank_class != rank_class->rank_class || span->end_ps <= MAX (span->start_ps, picture->start_ps)
        || span->start_ps >= picture->start_ps + picture->duration_ps)
      continue;
    if (span->kind == FAB_SPAN_COMM)
      fab_interval_set_add (&comm, span->start_ps, span->end_ps);
    if (span->kind != FAB_SPAN_COMPUTE)
      continue;
    fab_interval_set_add (&compute, span->start_ps, span->end_ps);
    add_compute (picture, span, times_ps);
  }
  g_string_append_printf (out, "  %-*s ", (int) name_width, name);
  for (guint i = 0; i < picture->width; i++)
    g_string_append_c (out, letter_of (picture, i, &times_ps[i * MAX_KINDS], &compute, &comm));
  g_string_append_c (out, '\n');
  fab_interval_set_clear (&compute);
  fab_interval_set_clear (&comm);
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
    g_string_append (out, "* other compute, ");
  g_string_append (out, "= exposed communication, . idle\n");
}

static void
clear_kind (gpointer data)
{
  g_free (((Kind *) data)->word);
}

char *
fab_timeline_class_name (const FabRankClassRecord *rank_class)
{
  return g_strdup_printf ("rank %u", rank_class->first_rank);
}

void
fab_timeline_draw_classes (const FabProbe *probe, const FabRankClassRecord *classes, guint n_classes,
                           guint width, guint name_width, GString *out)
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
