/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake_gpu/recorder.h"

#include <string.h>

static const gboolean all_kinds[FAB_N_MEASURE_KINDS] = { TRUE, TRUE, TRUE, TRUE, TRUE,
                                                         TRUE, TRUE, TRUE, TRUE, TRUE };

static char *
point_name (const char *title, FabBytes size_bytes)
{
  return g_strdup_printf ("%s @%" G_GUINT64_FORMAT, title, (guint64) size_bytes);
}

static gboolean
record_one (FabMeasureHost *base, const FabSeries *series, FabBytes size_bytes, FabTimedFunc func,
            gpointer data, GError **error)
{
  Recorder *self = (Recorder *) base;
  g_autofree char *title = fab_series_title (series);
  FabTimePs *time_ps = g_new0 (FabTimePs, 1);

  if (!g_hash_table_insert (self->times_ps, point_name (title, size_bytes), time_ps))
    g_error ("%s: measured twice", title);
  if (!func (data, size_bytes, RECORDER_MESSAGES, time_ps, error))
    return FALSE;
  *time_ps /= RECORDER_MESSAGES;
  return TRUE;
}

static gboolean
record (FabMeasureHost *base, const FabSeries *series, FabBytes max_bytes, FabTimedFunc func, gpointer data,
        GError **error)
{
  for (guint i = 0; i < base->plan->n_sizes; i++) {
    FabBytes size_bytes = base->plan->sizes_bytes[i];

    if ((max_bytes == 0 || size_bytes <= max_bytes)
        && !record_one (base, series, size_bytes, func, data, error))
      return FALSE;
  }
  return TRUE;
}

static void
machine (FabMeasureHost *base, const char *key, const char *value)
{
  g_hash_table_insert (((Recorder *) base)->machine, g_strdup (key), g_strdup (value));
}

static void
note (FabMeasureHost *base, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_ptr_array_add (((Recorder *) base)->notes, g_strdup_vprintf (format, args));
  va_end (args);
}

static gboolean
is_cancelled (G_GNUC_UNUSED FabMeasureHost *base)
{
  return FALSE;
}

Recorder *
recorder_new (const FabBytes *sizes_bytes, guint n_sizes)
{
  Recorder *self = g_new0 (Recorder, 1);

  self->plan = (FabMeasurePlan){ .sizes_bytes = sizes_bytes, .n_sizes = n_sizes, .kinds = all_kinds };
  self->base = (FabMeasureHost){ .plan = &self->plan,
                                 .measure = record,
                                 .measure_one = record_one,
                                 .machine = machine,
                                 .note = note,
                                 .is_cancelled = is_cancelled,
                                 .system = "a fake machine" };
  self->times_ps = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->machine = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->notes = g_ptr_array_new_with_free_func (g_free);
  return self;
}

void
recorder_free (Recorder *self)
{
  g_hash_table_unref (self->times_ps);
  g_hash_table_unref (self->machine);
  g_ptr_array_unref (self->notes);
  g_free (self);
}

gboolean
recorder_has (const Recorder *self, const char *title, FabBytes size_bytes)
{
  g_autofree char *name = point_name (title, size_bytes);

  return g_hash_table_contains (self->times_ps, name);
}

FabTimePs
recorder_time (const Recorder *self, const char *title, FabBytes size_bytes)
{
  g_autofree char *name = point_name (title, size_bytes);
  const FabTimePs *time_ps = g_hash_table_lookup (self->times_ps, name);
  g_autofree char **known = NULL;

  if (time_ps)
    return *time_ps;
  known = (char **) g_hash_table_get_keys_as_array (self->times_ps, NULL);
  for (guint i = 0; known[i]; i++)
    g_print ("%s\n", known[i]);
  g_error ("%s: not measured", name);
}

gboolean
recorder_noted (const Recorder *self, const char *part)
{
  for (guint i = 0; i < self->notes->len; i++)
    if (strstr (self->notes->pdata[i], part))
      return TRUE;
  return FALSE;
}
