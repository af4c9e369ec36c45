/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.c - a stream of trace events into a file.
 *
 * The format is "Trace Event Format" (Google Docs, document 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): objects
 * with ph, pid, tid, ts and dur in microseconds. One event per line. A FabJson would build the whole document in
 * memory, and its doubles take 17 digits.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/trace.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

static gboolean
fail (const char *path, int code, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "%s: %s", path, g_strerror (code));
}

/* A plain file, or one that is not there yet: beside it, under another name, until all is written. */
static gboolean
open_part (FabTraceFile *self, GError **error)
{
  int descriptor;

  self->part = g_strconcat (self->path, ".XXXXXX", NULL);
  descriptor = g_mkstemp_full (self->part, O_WRONLY, 0666);
  if (descriptor < 0)
    return fail (self->path, errno, error);
  self->stream = fdopen (descriptor, "wb");
  return TRUE;
}

gboolean
fab_trace_file_open (FabTraceFile *self, const char *path, GError **error)
{
  gboolean is_link = g_file_test (path, G_FILE_TEST_IS_SYMLINK);

  *self = (FabTraceFile){ .path = is_link ? realpath (path, NULL) : NULL, .event = g_string_new (NULL) };
  if (self->path == NULL)
    self->path = g_strdup (path);
  if (strcmp (path, "-") == 0) {
    self->stream = stdout;
    return TRUE;
  }
  if (g_file_test (self->path, G_FILE_TEST_IS_DIR))
    return fail (path, EISDIR, error);
  if (!g_file_test (self->path, G_FILE_TEST_EXISTS) || g_file_test (self->path, G_FILE_TEST_IS_REGULAR))
    return open_part (self, error);
  self->stream = fopen (self->path, "wb"); /* a device or a pipe */
  return self->stream != NULL || fail (path, errno, error);
}

static void
clear (FabTraceFile *self)
{
  if (self->event)
    g_string_free (self->event, TRUE);
  g_free (self->path);
  g_free (self->part);
  *self = (FabTraceFile){ 0 };
}

void
fab_trace_file_abandon (FabTraceFile *self)
{
  if (self->stream && self->stream != stdout)
    fclose (self->stream);
  if (self->part)
    g_unlink (self->part);
  clear (self);
}

gboolean
fab_trace_file_close (FabTraceFile *self, GError **error)
{
  int code = ferror (self->stream) ? EIO : 0;

  errno = 0;
  if (fflush (self->stream) != 0)
    code = errno;
  if (self->stream != stdout && fclose (self->stream) != 0)
    code = errno;
  self->stream = NULL;
  if (code == 0 && self->part && g_rename (self->part, self->path) != 0)
    code = errno;
  if (code != 0) {
    fail (self->path, code, error);
    fab_trace_file_abandon (self);
    return FALSE;
  }
  clear (self);
  return TRUE;
}

void
fab_trace_raw (FabTraceFile *self, const char *text)
{
  self->n_bytes += strlen (text);
  fputs (text, self->stream);
}

static void
key (FabTraceFile *self, const char *name)
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
append_us (FabTraceFile *self, const char *name, gint64 ns)
{
  key (self, name);
  g_string_append_printf (self->event, "%" G_GINT64_FORMAT ".%03d", ns / 1000, (int) (ns % 1000));
}

void
fab_trace_begin (FabTraceFile *self, char phase, const char *category, const char *name, gint64 process,
                 gint64 thread, FabTimePs time_ps)
{
  g_string_assign (self->event, "{\"ph\":\"");
  g_string_append_c (self->event, phase);
  g_string_append_c (self->event, '"');
  self->has_member = TRUE;
  fab_trace_text (self, "cat", category);
  fab_trace_text (self, "name", name);
  fab_trace_whole (self, "pid", process);
  fab_trace_whole (self, "tid", thread);
  append_us (self, "ts", whole_ns (time_ps));
}

void
fab_trace_lasts (FabTraceFile *self, FabTimePs start_ps, FabTimePs end_ps)
{
  append_us (self, "dur", whole_ns (end_ps) - whole_ns (start_ps));
}

void
fab_trace_args (FabTraceFile *self)
{
  key (self, "args");
  g_string_append_c (self->event, '{');
  self->has_member = FALSE;
  self->in_args = TRUE;
}

void
fab_trace_text (FabTraceFile *self, const char *name, const char *value)
{
  if (value == NULL)
    return;
  key (self, name);
  fab_json_append_text (self->event, value);
}

void
fab_trace_whole (FabTraceFile *self, const char *name, gint64 value)
{
  key (self, name);
  g_string_append_printf (self->event, "%" G_GINT64_FORMAT, value);
}

void
fab_trace_real (FabTraceFile *self, const char *name, double value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  key (self, name);
  g_string_append (self->event,
                   isfinite (value) ? g_ascii_formatd (digits, sizeof digits, "%.9g", value) : "null");
}

void
fab_trace_end (FabTraceFile *self)
{
  g_string_append (self->event, self->in_args ? "}}" : "}");
  self->in_args = FALSE;
  if (self->n_events++ > 0)
    fab_trace_raw (self, ",\n");
  fab_trace_raw (self, self->event->str);
}
