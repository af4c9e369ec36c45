/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - the members of a series by name, and its key and title made of them. */
#include "formats/measurement/series.h"

#include <string.h>

const char *const fab_measure_kind_names[] = { "latency",       "bandwidth",  "exchange",
                                               "bidirectional", "collective", "product",
                                               "memory_bound",  "copy",       "launch",
                                               "attention",     NULL };

#define FIELD(member, name)                   \
  {                                           \
    name, G_STRUCT_OFFSET (FabSeries, member) \
  }

const FabSeriesField fab_series_texts[] = {
  FIELD (backend, "backend"),
  FIELD (system, "system"),
  FIELD (from, "from_end"),
  FIELD (to, "to_end"),
  FIELD (from_memory, "from_memory"),
  FIELD (to_memory, "to_memory"),
  FIELD (method, "method"),
  FIELD (op, "op"),
  FIELD (algorithm, "algorithm"),
  FIELD (precision, "precision"),
  FIELD (shape, "shape"),
  FIELD (source, "source"),
  FIELD (note, "note"),
  { NULL, 0 },
};

const FabSeriesField fab_series_counts[] = {
  FIELD (n_ranks, "n_ranks"),     FIELD (n_pairs, "n_pairs"),
  FIELD (window, "window"),       FIELD (n_queue_pairs, "n_queue_pairs"),
  FIELD (mtu_bytes, "mtu_bytes"), { NULL, 0 },
};

gboolean
fab_series_read_shape (const char *shape, guint n, double numbers[])
{
  static const guint64 largest = G_GUINT64_CONSTANT (1) << 40;
  g_auto (GStrv) words = shape ? g_strsplit (shape, "x", (gint) n + 1) : NULL;

  for (guint i = 0; i < n; i++) {
    guint64 number;

    if (words == NULL || words[i] == NULL
        || !g_ascii_string_to_unsigned (words[i], 10, 1, largest, &number, NULL))
      return FALSE;
    numbers[i] = (double) number;
  }
  return words != NULL && words[n] == NULL;
}

gboolean
fab_measure_kind_find (const char *name, FabMeasureKind *kind)
{
  for (guint i = 0; fab_measure_kind_names[i]; i++)
    if (g_strcmp0 (fab_measure_kind_names[i], name) == 0) {
      *kind = (FabMeasureKind) i;
      return TRUE;
    }
  return FALSE;
}

void
fab_series_copy (FabSeries *to, const FabSeries *from)
{
  *to = *from;
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    G_STRUCT_MEMBER (char *, to, field->offset) = g_strdup (G_STRUCT_MEMBER (char *, from, field->offset));
}

void
fab_series_clear (FabSeries *series)
{
  for (const FabSeriesField *field = fab_series_texts; field->name; field++)
    g_free (G_STRUCT_MEMBER (char *, series, field->offset));
  memset (series, 0, sizeof *series);
}

FabMeasuredSeries *
fab_measured_series_new (const FabSeries *series)
{
  FabMeasuredSeries *self = g_new0 (FabMeasuredSeries, 1);

  fab_series_copy (&self->series, series);
  self->points = g_array_new (FALSE, TRUE, sizeof (FabMeasuredPoint));
  return self;
}

void
fab_measured_series_free (gpointer data)
{
  FabMeasuredSeries *self = data;

  if (self == NULL)
    return;
  fab_series_clear (&self->series);
  g_array_unref (self->points);
  g_free (self);
}

/* Appends ";name=value", so that no text can be taken for two. */
static void
append_text (GString *key, const char *name, const char *text)
{
  g_string_append_printf (key, ";%s=", name);
  for (const char *c = text; *c; c++) {
    if (*c == ';' || *c == '\\')
      g_string_append_c (key, '\\');
    g_string_append_c (key, *c);
  }
}

char *
fab_series_key (const FabSeries *series)
{
  GString *key = g_string_new (fab_measure_kind_names[series->kind]);

  for (const FabSeriesField *field = fab_series_texts; field->name; field++) {
    const char *text = G_STRUCT_MEMBER (char *, series, field->offset);

    if (text != NULL && field->offset != G_STRUCT_OFFSET (FabSeries, note))
      append_text (key, field->name, text);
  }
  for (const FabSeriesField *field = fab_series_counts; field->name; field++) {
    guint count = G_STRUCT_MEMBER (guint, series, field->offset);

    if (count > 0)
      g_string_append_printf (key, ";%s=%u", field->name, count);
  }
  return g_string_free (key, FALSE);
}

static void
append_memory (GString *title, const FabSeries *series)
{
  if (series->from_memory && series->to_memory && strcmp (series->from_memory, series->to_memory) != 0)
    g_string_append_printf (title, ", %s to %s memory", series->from_memory, series->to_memory);
  else if (series->from_memory && strcmp (series->from_memory, "host") != 0
           && !fab_measure_kind_is_kernel (series->kind))
    g_string_append_printf (title, ", %s memory", series->from_memory);
}

char *
fab_series_title (const FabSeries *series)
{
  GString *title = g_string_new (NULL);
  gboolean is_collective = series->kind == FAB_MEASURE_COLLECTIVE;

  g_string_append_printf (title, "%s %s", series->backend ? series->backend : "measured",
                          is_collective && series->op ? series->op : fab_measure_kind_names[series->kind]);
  if (is_collective && series->n_ranks > 0)
    g_string_append_printf (title, ", %u ranks", series->n_ranks);
  if (fab_measure_kind_is_kernel (series->kind) && series->op)
    g_string_append_printf (title, " %s", series->op);
  if (series->precision)
    g_string_append_printf (title, " %s", series->precision);
  if (series->shape)
    g_string_append_printf (title, " %s", series->shape);
  if (series->from && series->to && g_strcmp0 (series->from, series->to) == 0
      && fab_measure_kind_is_kernel (series->kind))
    g_string_append_printf (title, ", %s", series->from);
  else if (series->from && series->to)
    g_string_append_printf (title, ", %s to %s", series->from, series->to);
  if (series->algorithm)
    g_string_append_printf (title, ", %s", series->algorithm);
  if (series->method)
    g_string_append_printf (title, ", %s", series->method);
  append_memory (title, series);
  if (series->n_pairs > 1)
    g_string_append_printf (title, ", %u pairs", series->n_pairs);
  if (series->n_queue_pairs > 1)
    g_string_append_printf (title, ", %u queue pairs", series->n_queue_pairs);
  if (series->window > 1)
    g_string_append_printf (title, ", window %u", series->window);
  return g_string_free (title, FALSE);
}

double
fab_point_rate (const FabMeasuredPoint *point)
{
  return point->time_ps > 0 ? (double) point->size_bytes / fab_ps_to_seconds (point->time_ps) : 0;
}

void
fab_measurements_free (FabMeasurements *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->series);
  g_ptr_array_unref (self->notes);
  g_free (self);
}
