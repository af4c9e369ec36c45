/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - Trace Event Format (Google Docs, document 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): objects with ph,
 * pid, tid, ts and dur in microseconds. One event per line. A FabJson would build the whole document in memory, and its
 * doubles take 17 digits. */
#include "formats/export/events.h"

#include <math.h>

#include "sim/base/json.h"

gboolean
fab_trace_events_open (FabTraceEvents *self, const char *path, GError **error)
{
  *self = (FabTraceEvents){ .event = g_string_new (NULL) };
  return fab_output_open (&self->file, path, error);
}

static void
clear (FabTraceEvents *self)
{
  if (self->event)
    g_string_free (self->event, TRUE);
  *self = (FabTraceEvents){ 0 };
}

void
fab_trace_events_abandon (FabTraceEvents *self)
{
  fab_output_abandon (&self->file);
  clear (self);
}

gboolean
fab_trace_events_close (FabTraceEvents *self, GError **error)
{
  gboolean is_whole = fab_output_close (&self->file, error);

  clear (self);
  return is_whole;
}

void
fab_trace_events_raw (FabTraceEvents *self, const char *text)
{
  fab_output_write (&self->file, text);
}

static void
key (FabTraceEvents *self, const char *name)
{
  if (self->has_member)
    g_string_append_c (self->event, ',');
  self->has_member = TRUE;
  g_string_append_c (self->event, '"');
  g_string_append (self->event, name); /* of ours: nothing to escape */
  g_string_append (self->event, "\":");
}

static gint64
whole_ns (FabTimePs time_ps)
{
  return (time_ps + 500) / 1000;
}

static void
append_us (FabTraceEvents *self, const char *name, gint64 ns)
{
  key (self, name);
  g_string_append_printf (self->event, "%" G_GINT64_FORMAT ".%03d", ns / 1000, (int) (ns % 1000));
}

void
fab_event_begin (FabTraceEvents *self, char phase, const char *category, const char *name, gint64 process,
                 gint64 thread, FabTimePs time_ps)
{
  g_string_assign (self->event, "{\"ph\":\"");
  g_string_append_c (self->event, phase);
  g_string_append_c (self->event, '"');
  self->has_member = TRUE;
  fab_event_text (self, "cat", category);
  fab_event_text (self, "name", name);
  fab_event_whole (self, "pid", process);
  fab_event_whole (self, "tid", thread);
  append_us (self, "ts", whole_ns (time_ps));
}

void
fab_event_lasts (FabTraceEvents *self, FabTimePs start_ps, FabTimePs end_ps)
{
  append_us (self, "dur", whole_ns (end_ps) - whole_ns (start_ps));
}

void
fab_event_args (FabTraceEvents *self)
{
  key (self, "args");
  g_string_append_c (self->event, '{');
  self->has_member = FALSE;
  self->in_args = TRUE;
}

void
fab_event_text (FabTraceEvents *self, const char *name, const char *value)
{
  if (value == NULL)
    return;
  key (self, name);
  fab_json_append_text (self->event, value);
}

void
fab_event_whole (FabTraceEvents *self, const char *name, gint64 value)
{
  key (self, name);
  g_string_append_printf (self->event, "%" G_GINT64_FORMAT, value);
}

void
fab_event_real (FabTraceEvents *self, const char *name, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  key (self, name);
  g_string_append (self->event,
                   isfinite (value) ? g_ascii_formatd (digits, sizeof digits, "%.9g", value) : "null");
}

void
fab_event_end (FabTraceEvents *self)
{
  g_string_append (self->event, self->in_args ? "}}" : "}");
  self->in_args = FALSE;
  if (self->n_events++ > 0)
    fab_trace_events_raw (self, ",\n");
  fab_trace_events_raw (self, self->event->str);
}
