/* SPDX-License-Identifier: Apache-2.0 */
/* measure_run.c - one end of a measurement: parameters, file, progress, interruption.
 *
 * SIGINT, SIGTERM and SIGHUP are held back and asked for between samples, so that the sample under way is finished
 * and nothing that a library does is broken off.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "cli/measure.h"
#include "cli/signals.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/scenario/schema.h"
#include "validate/measure/stats.h"

#define DEFAULT_FILE "fabricast.meas"
#define PROGRESS_US (G_USEC_PER_SEC / 5)
#define CLEAR_LINE "\r\033[K"

typedef struct {
  const MeasureOptions *options;
  const FabMeasureBackend *backend;
  MeasureRequest request;
  FabDiagnostics *diagnostics;
  FabYamlDoc *doc;
  FabSchemaReader *reader; /* owns what parameters point to */
  gpointer params;
  const char *path;
  gboolean is_terminal, has_progress;
  gint64 shown_us;
} Session;

/* --- the person --- */

static void
clear_progress (Session *self)
{
  if (self->has_progress)
    g_printerr (CLEAR_LINE);
  self->has_progress = FALSE;
}

static void
show_note (gpointer data, const char *note)
{
  g_autofree char *text = fab_cli_printable (note);

  clear_progress (data);
  g_printerr ("%s\n", text);
}

static void
show_progress (gpointer data, const FabHostProgress *progress)
{
  Session *self = data;
  const FabMeasuredPoint *point = progress->point;
  gint64 now_us = g_get_monotonic_time ();

  if (!self->is_terminal || now_us - self->shown_us < PROGRESS_US)
    return;
  g_autofree char *raw_title = fab_series_title (progress->series);
  g_autofree char *title = fab_cli_printable (raw_title);
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) point->size_bytes);
  g_printerr (CLEAR_LINE "%s: %s (%u of %u), ", title, size, MIN (progress->n_done + 1, progress->n_sizes),
              progress->n_sizes);
  if (point->n_samples > 0)
    g_printerr ("%u samples, +-%.1f %%", point->n_samples, fab_stats_half_width (point) * 100);
  else
    g_printerr ("warming up");
  self->has_progress = TRUE;
  self->shown_us = now_us;
}

/* --- one end --- */

static gboolean
read_params (Session *self, GError **error)
{
  static const FabParam none[] = { { 0 } };
  const FabModelInfo *info = &self->backend->info;

  self->params = g_malloc0 (MAX (info->params_size, 1));
  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (&fab_models, self->diagnostics);
  self->doc = fab_yaml_doc_new ("--set");
  for (char **set = self->options->sets; set && *set; set++)
    fab_yaml_doc_set (self->doc, *set, self->diagnostics);
  fab_schema_read (self->reader, fab_yaml_doc_root (self->doc), info->params ? info->params : none,
                   self->params);
  return fab_diagnostics_check (self->diagnostics, error);
}

static gboolean
serve (Session *self, GError **error)
{
  const FabHostPerson person = { .data = self, .note = show_note, .is_cancelled = fab_cli_is_interrupted };
  FabMeasureHost *host = fab_host_new (&self->request.plan, &self->request.limits, NULL, &person);
  gboolean is_served = self->backend->serve (host, self->params, error);

  fab_host_free (host);
  return is_served;
}

/* What became of it when it did not come to its end. */
static void
explain_end (Session *self, gboolean has_begun, gboolean is_new)
{
  if (has_begun)
    g_printerr ("%s keeps what was measured; the same command goes on from there\n", self->path);
  else if (is_new)
    g_unlink (self->path);
}

static gboolean
ask (Session *self, GError **error)
{
  const FabHostPerson person = {
    .data = self, .progress = show_progress, .note = show_note, .is_cancelled = fab_cli_is_interrupted
  };
  gboolean is_new = !g_file_test (self->path, G_FILE_TEST_EXISTS), is_measured, has_begun;
  g_autoptr (FabSamples) samples = fab_samples_open (self->path, FAB_SAMPLES_WRITE, error);

  if (samples == NULL)
    return FALSE;
  FabMeasureHost *host = fab_host_new (&self->request.plan, &self->request.limits, samples, &person);
  fab_machine_describe (host);
  is_measured = self->backend->measure (host, self->params, error);
  has_begun = fab_host_has_any (host);
  clear_progress (self);
  g_clear_pointer (&samples, fab_samples_free);
  if (is_measured)
    is_measured = measure_print (self->path, host, self->options->format, error);
  else
    explain_end (self, has_begun, is_new);
  fab_host_free (host);
  return is_measured;
}

static gboolean
check_ends (const MeasureOptions *o, const FabMeasureBackend *backend, GError **error)
{
  const char *name = backend->info.name;

  if (o->listen == NULL)
    return o->once
             ? fab_throw (error, FAB_ERROR_INPUT, "--once is for the end that listens; give --listen too")
             : TRUE;
  if (o->peer)
    return fab_throw (error, FAB_ERROR_INPUT, "either --listen or --peer: one end listens, the other asks");
  if (o->out)
    return fab_throw (error, FAB_ERROR_INPUT, "--out is for the end that asks: it keeps what was measured");
  return backend->serve != NULL
      || fab_throw (error, FAB_ERROR_INPUT, "%s has no other end; leave out --listen", name);
}

static gboolean
run_session (Session *self, GError **error)
{
  const FabMeasureBackend *backend = self->backend;

  if (!check_ends (self->options, backend, error)
      || !measure_request_read (&self->request, self->options, error) || !read_params (self, error)
      || (backend->probe && !backend->probe (error)))
    return FALSE;
  fab_cli_hold_signals ();
  return self->options->listen || (backend->is_helper && backend->is_helper ()) ? serve (self, error)
                                                                                : ask (self, error);
}

gboolean
measure_run (const MeasureOptions *o, const FabMeasureBackend *backend, GError **error)
{
  Session self = { .options = o,
                   .backend = backend,
                   .path = o->out ? o->out : DEFAULT_FILE,
                   .is_terminal = isatty (STDERR_FILENO) == 1 };
  gboolean is_done = run_session (&self, error);

  measure_request_clear (&self.request);
  g_clear_pointer (&self.reader, fab_schema_reader_free);
  g_clear_pointer (&self.doc, fab_yaml_doc_free);
  g_clear_pointer (&self.diagnostics, fab_diagnostics_free);
  g_free (self.params);
  return is_done;
}
