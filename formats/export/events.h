/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - a file of events in the Trace Event Format, which chrome://tracing, Perfetto and readers of Kineto
 * open. */
#pragma once

#include "sim/base/output.h"
#include "sim/base/units.h"

typedef struct {
  FabOutput file;
  GString *event; /* the event that is being built */
  guint64 n_events;
  gboolean has_member, in_args;
} FabTraceEvents;

gboolean fab_trace_events_open (FabTraceEvents *self, const char *path, GError **error);
gboolean fab_trace_events_close (FabTraceEvents *self, GError **error); /* as fab_output_close */
void fab_trace_events_abandon (FabTraceEvents *self);                   /* as fab_output_abandon */
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabTraceEvents, fab_trace_events_abandon)

/* Writes text between events: heads and tails. */
void fab_trace_events_raw (FabTraceEvents *self, const char *text);

/* These write an event: begin, members, optionally args and their members, end. `phase` is a letter of the format;
 * `category` may be NULL. */
void fab_event_begin (FabTraceEvents *self, char phase, const char *category, const char *name,
                      gint64 process, gint64 thread, FabTimePs time_ps);
void fab_event_args (FabTraceEvents *self);
void fab_event_text (FabTraceEvents *self, const char *key, const char *value); /* NULL: left out */
void fab_event_whole (FabTraceEvents *self, const char *key, gint64 value);
void fab_event_real (FabTraceEvents *self, const char *key, double value);

/* Writes the duration in microseconds with three decimals, as the difference of the two rounded ends. */
void fab_event_lasts (FabTraceEvents *self, FabTimePs start_ps, FabTimePs end_ps);
void fab_event_end (FabTraceEvents *self);
