/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_measure.c - `fabricast measure`: what the hardware of this machine does, into a file of measurements. */
#include "cli/hardware/cmd_measure.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/signals.h"
#include "cli/terminal/terminal.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/base/order.h"
#include "sim/base/shell.h"
#include "sim/config/schema.h"
#include "validate/measure/secret.h"
#include "validate/measure/stats.h"

#define NO_WINDOW G_MININT64 /* --window was not given */

/* The options as given; NULL: not given. */
typedef struct {
  char *listen, *peer, *sizes, *kinds, *precision, *time, *out, *format_name, *secret_file;
  char *gpu, *shapes; /* of `compute`: --set gpu=, --set shapes= */
  char **sets;
  gint64 min_samples, max_samples, window, timeout_s, session_s;
  gboolean once;
  FabFormat format;
} MeasureOptions;

/* What is to be measured, and how precisely. */
typedef struct {
  FabMeasurePlan plan;
  FabHostLimits limits;
  GArray *sizes_bytes;
  GBytes *secret;
  gboolean kinds[FAB_N_MEASURE_KINDS];
} MeasureRequest;

/* The options of `fabricast measure` as a plan: sizes, kinds, how sure, how long. */

#define DEFAULT_SIZES "8..64M"
#define DEFAULT_PRECISION "2%"
#define DEFAULT_TIME "5"
#define DEFAULT_SESSION_S 3600

#define MAX_SIZE_BYTES (G_GUINT64_CONSTANT (64) << 30)

enum {
  MAX_SIZES = 10000,
  MAX_SAMPLES = 1000000,
  MAX_WINDOW = 65536,
  MAX_TIMEOUT_S = 86400,
  MAX_SESSION_S = 31536000
};

/* --- sizes --- */

/* FROM, twice that and so on, and TO. */
static gboolean
add_range (GArray *sizes_bytes, const char *from, const char *to, GError **error)
{
  FabBytes first, last;

  if (!fab_cli_size ("--sizes", from, &first, error) || !fab_cli_size ("--sizes", to, &last, error))
    return FALSE;
  if (last < first)
    return fab_throw (error, FAB_ERROR_INPUT, "--sizes %s..%s: the second must not be smaller", from, to);
  if (last > MAX_SIZE_BYTES)
    return fab_throw (error, FAB_ERROR_INPUT, "--sizes %s: the limit of a message is 64G", to);
  for (FabBytes size = first; size < last; size *= 2)
    g_array_append_val (sizes_bytes, size);
  g_array_append_val (sizes_bytes, last);
  return TRUE;
}

static gboolean
add_item (GArray *sizes_bytes, const char *item, GError **error)
{
  const char *dots = strstr (item, "..");
  g_autofree char *from = g_strndup (item, dots ? (gsize) (dots - item) : strlen (item));

  return add_range (sizes_bytes, from, dots ? dots + 2 : from, error);
}

static void
sort_sizes (GArray *sizes_bytes)
{
  guint n = 0;

  g_array_sort (sizes_bytes, fab_order_uint64s);
  for (guint i = 0; i < sizes_bytes->len; i++) {
    FabBytes size = g_array_index (sizes_bytes, FabBytes, i);

    if (n == 0 || g_array_index (sizes_bytes, FabBytes, n - 1) != size)
      g_array_index (sizes_bytes, FabBytes, n++) = size;
  }
  g_array_set_size (sizes_bytes, n);
}

static gboolean
read_sizes (MeasureRequest *self, const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);

  self->sizes_bytes = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  for (guint i = 0; items[i]; i++)
    if (!add_item (self->sizes_bytes, g_strstrip (items[i]), error))
      return FALSE;
  if (self->sizes_bytes->len == 0 || self->sizes_bytes->len > MAX_SIZES)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--sizes: from 1 to %d sizes; write for example 8..64M or 1K,1M", MAX_SIZES);
  sort_sizes (self->sizes_bytes);
  return TRUE;
}

/* --- the rest --- */

static gboolean
read_kinds (MeasureRequest *self, const char *text, GError **error)
{
  g_auto (GStrv) names = text ? g_strsplit (text, ",", -1) : NULL;

  for (guint i = 0; text == NULL && i < FAB_N_MEASURE_KINDS; i++)
    self->kinds[i] = TRUE;
  for (guint i = 0; names && names[i]; i++) {
    FabMeasureKind kind;

    if (!fab_measure_kind_find (names[i], &kind)) {
      g_autofree char *all = g_strjoinv (", ", (char **) fab_measure_kind_names);
      g_autofree char *note = fab_nearest_note (names[i], all);

      return fab_throw (error, FAB_ERROR_INPUT, "--kinds: unknown '%s'%s; there are %s", names[i], note, all);
    }
    self->kinds[kind] = TRUE;
  }
  return TRUE;
}

static gboolean
read_precision (MeasureRequest *self, const char *text, GError **error)
{
  double *fraction = &self->limits.precision_fraction;

  if (fab_units_parse_real (FAB_UNIT_FRACTION, text, fraction, NULL) && *fraction > 0 && *fraction < 1)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "--precision %s: must lie between 0%% and 100%%; write for example 2%%", text);
}

/* "5" is 5 s. */
static gboolean
read_time (MeasureRequest *self, const char *text, GError **error)
{
  gboolean is_plain = strspn (text, "0123456789.") == strlen (text);
  g_autofree char *spelt = g_strconcat (text, is_plain ? "s" : "", NULL);

  if (fab_units_parse_whole (FAB_UNIT_TIME, spelt, &self->limits.max_time_ps, NULL)
      && self->limits.max_time_ps > 0)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT, "--time %s: not a time; write for example 5 or 500ms", text);
}

static gboolean
check_count (const char *option, gint64 value, gint64 min, gint64 max, GError **error)
{
  return (value >= min && value <= max)
      || fab_throw (error, FAB_ERROR_INPUT,
                    "%s %" G_GINT64_FORMAT ": from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, option, value,
                    min, max);
}

/* Reads the secret: the text of the file without the line end. Others must not be able to read the file. */
static gboolean
read_secret (MeasureRequest *self, const char *path, GError **error)
{
  GStatBuf state;
  g_autofree char *text = NULL;
  gsize size;

  if (path == NULL)
    return TRUE;
  if (!fab_cli_read_file (path, FAB_SECRET_MAX_BYTES, &text, &size, error))
    return FALSE;
  if (g_stat (path, &state) == 0 && S_ISREG (state.st_mode) && (state.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    g_autofree char *word = fab_shell_word (path);

    return fab_throw (error, FAB_ERROR_INPUT, "--secret-file %s: others may open it; use `chmod 600 %s`",
                      path, word);
  }
  while (size > 0 && g_ascii_isspace (text[size - 1]))
    size--;
  if (size < FAB_SECRET_MIN_BYTES)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "--secret-file %s: a secret needs at least %d characters; `head -c 32 /dev/urandom | base64` "
        "makes one",
        path, FAB_SECRET_MIN_BYTES);
  self->secret = g_bytes_new (text, size);
  return TRUE;
}

/* Checks the options; `o` must outlive the request. */
static gboolean
measure_request_read (MeasureRequest *self, const MeasureOptions *o, const char *usual_sizes, GError **error)
{
  gint64 window = o->window == NO_WINDOW ? 0 : o->window;

  if (!read_sizes (self,
                   o->sizes      ? o->sizes
                   : usual_sizes ? usual_sizes
                                 : DEFAULT_SIZES,
                   error)
      || !read_kinds (self, o->kinds, error)
      || !read_precision (self, o->precision ? o->precision : DEFAULT_PRECISION, error)
      || !read_time (self, o->time ? o->time : DEFAULT_TIME, error)
      || !check_count ("--min-samples", o->min_samples, 1, MAX_SAMPLES, error)
      || !check_count ("--max-samples", o->max_samples, o->min_samples, MAX_SAMPLES, error)
      || !check_count ("--window", window, 0, MAX_WINDOW, error)
      || !check_count ("--timeout", o->timeout_s, 1, MAX_TIMEOUT_S, error)
      || !check_count ("--session-limit", o->session_s, 1, MAX_SESSION_S, error)
      || !read_secret (self, o->secret_file, error))
    return FALSE;
  self->limits.min_samples = (guint) o->min_samples;
  self->limits.max_samples = (guint) o->max_samples;
  self->plan = (FabMeasurePlan){ .sizes_bytes = (const FabBytes *) self->sizes_bytes->data,
                                 .n_sizes = self->sizes_bytes->len,
                                 .kinds = self->kinds,
                                 .window = (guint) window,
                                 .peer = o->peer,
                                 .listen = o->listen,
                                 .timeout_s = (guint) o->timeout_s,
                                 .session_s = (guint) o->session_s,
                                 .secret = self->secret,
                                 .once = o->once };
  return TRUE;
}

static void
measure_request_clear (MeasureRequest *self)
{
  g_clear_pointer (&self->sizes_bytes, g_array_unref);
  g_clear_pointer (&self->secret, g_bytes_unref);
}

/* A file of measurements for a person: machine, notes, a table per series. */

static void
print_line (const char *before, const char *text)
{
  g_autofree char *plain = fab_cli_printable (text);

  g_print ("%s%s\n", before, plain);
}

static void
print_machine (char **machine)
{
  if (machine[0])
    g_print ("machine\n");
  for (char **row = machine; row[0] && row[1]; row += 2) {
    g_autofree char *key = fab_cli_printable (row[0]), *value = fab_cli_printable (row[1]);

    g_print ("  %-12s %s\n", key, value);
  }
}

/* "-" where a time is not known. */
static char *
show_time (FabTimePs time_ps)
{
  return time_ps > 0 ? fab_units_show (FAB_UNIT_TIME, (double) time_ps) : g_strdup ("-");
}

static void
print_point (GString *page, const FabMeasuredPoint *point)
{
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) point->size_bytes);
  g_autofree char *median = show_time (point->time_ps), *p05 = show_time (point->p05_ps);
  g_autofree char *p95 = show_time (point->p95_ps);
  g_autofree char *rate = fab_units_show (FAB_UNIT_RATE, fab_point_rate (point));
  g_autofree char *n = point->n_samples > 0 ? g_strdup_printf ("%u", point->n_samples) : g_strdup ("-");
  g_autofree char *n_outliers = point->n_samples > 0 ? g_strdup_printf ("%u", point->n_outliers)
                                                     : g_strdup ("-");
  g_autofree char *half = point->high_ps > 0 ? g_strdup_printf ("%.1f %%", fab_stats_half_width (point) * 100)
                                             : g_strdup ("-");

  g_string_append_printf (page, "%11s\v %8s\v %11s\v %8s%s\v %11s\v %11s\v %8s\v %13s\n", size, n, median,
                          half, point->n_samples > 0 && !point->is_complete ? "*" : " ", p05, p95, n_outliers,
                          rate);
}

guint
measure_print_series (const FabMeasuredSeries *series)
{
  g_autofree char *title = fab_series_title (&series->series);
  g_autoptr (GString) page = g_string_new (NULL);
  guint n_unsure = 0;

  g_print ("\n");
  print_line ("", title);
  if (series->series.system)
    print_line ("  on ", series->series.system);
  if (series->series.source)
    print_line ("  from ", series->series.source);
  if (series->series.note)
    print_line ("  ", series->series.note);
  g_string_append_printf (page, "%11s\v %8s\v %11s\v %8s\v  %11s\v %11s\v %8s\v %13s\n", "size", "samples",
                          "median", "+-95 %", "p5", "p95", "outliers", "rate");
  for (guint i = 0; i < series->points->len; i++) {
    const FabMeasuredPoint *point = &g_array_index (series->points, FabMeasuredPoint, i);

    print_point (page, point);
    n_unsure += point->n_samples > 0 && !point->is_complete;
  }
  fab_terminal_print_page (page->str);
  return n_unsure;
}

static void
print_text (const char *path, char **machine, char **notes, const GPtrArray *all)
{
  guint n_unsure = 0;

  g_print ("%s\n", path);
  print_machine (machine);
  if (notes[0])
    g_print ("notes\n");
  for (char **note = notes; *note; note++)
    print_line ("  ", *note);
  for (guint i = 0; i < all->len; i++)
    n_unsure += measure_print_series (g_ptr_array_index (all, i));
  if (all->len == 0)
    g_print ("\nNo size has been measured completely yet.\n");
  if (n_unsure > 0)
    g_print ("\n* --time or --max-samples ended this size before its median was precise\n");
}

/* Prints the series of a file; with `only`, those that this host measured. */
static gboolean
measure_print (const char *path, const FabMeasureHost *only, FabFormat format, GError **error)
{
  g_autoptr (FabSamples) samples = fab_samples_open (path, FAB_SAMPLES_READ, error);
  g_autoptr (GPtrArray) all = samples ? fab_samples_load (samples, error) : NULL;
  g_auto (GStrv) machine = all ? fab_samples_machine (samples, error) : NULL;
  g_auto (GStrv) notes = machine ? fab_samples_notes (samples, error) : NULL;
  g_autofree char *text = NULL;

  if (notes == NULL)
    return FALSE;
  for (guint i = all->len; only && i-- > 0;)
    if (!fab_host_has_series (only, &((const FabMeasuredSeries *) g_ptr_array_index (all, i))->series))
      g_ptr_array_remove_index (all, i);
  if (format == FAB_FORMAT_TEXT) {
    print_text (path, machine, notes, all);
    return TRUE;
  }
  text = format == FAB_FORMAT_JSON ? measure_json (path, machine, notes, all) : measure_csv (all);
  g_print ("%s", text);
  return TRUE;
}

/* One end of a measurement: parameters, file, progress, interruption.
 *
 * SIGINT, SIGTERM and SIGHUP are held back and asked for between samples, so that the sample under way is finished
 * and nothing that a library does is broken off.
 */

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

/* --gpu 1 is --set gpu=1. */
static void
set_short (Session *self, const char *key, const char *value)
{
  g_autofree char *set = value ? g_strdup_printf ("%s=%s", key, value) : NULL;

  if (set)
    fab_yaml_doc_set (self->doc, "--set", set, self->diagnostics);
}

static gboolean
read_params (Session *self, GError **error)
{
  static const FabParam none[] = { { 0 } };
  const FabModelInfo *info = &self->backend->info;

  self->params = g_malloc0 (MAX (info->params_size, 1));
  self->diagnostics = fab_diagnostics_new ();
  self->reader = fab_schema_reader_new (&fab_models, self->diagnostics);
  self->doc = fab_yaml_doc_new ("--set");
  set_short (self, "gpu", self->options->gpu);
  set_short (self, "shapes", self->options->shapes);
  for (char **set = self->options->sets; set && *set; set++)
    fab_yaml_doc_set (self->doc, "--set", *set, self->diagnostics);
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
    g_printerr ("%s keeps the samples; run the same command again to continue\n", self->path);
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

  if (o->secret_file && o->listen == NULL && o->peer == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--secret-file needs two ends; give --listen or --peer too");
  if (o->listen == NULL && (o->once || o->session_s != DEFAULT_SESSION_S))
    return fab_throw (error, FAB_ERROR_INPUT, "%s is for the listening end; give --listen too",
                      o->once ? "--once" : "--session-limit");
  if (o->listen == NULL)
    return TRUE;
  if (o->peer)
    return fab_throw (error, FAB_ERROR_INPUT, "give --listen or --peer, not both: one end listens");
  if (o->out)
    return fab_throw (error, FAB_ERROR_INPUT, "--out is for the asking end, which keeps the measurements");
  return backend->serve != NULL
      || fab_throw (error, FAB_ERROR_INPUT, "%s has no other end; leave out --listen", name);
}

static gboolean
run_session (Session *self, GError **error)
{
  const FabMeasureBackend *backend = self->backend;

  if (!check_ends (self->options, backend, error)
      || !measure_request_read (&self->request, self->options, backend->usual_sizes, error)
      || !read_params (self, error) || (backend->probe && !backend->probe (error)))
    return FALSE;
  fab_cli_hold_signals ();
  /* tcp needs no file any more; the other backends load drivers and open devices later */
  if (self->options->listen && strcmp (backend->info.name, "tcp") == 0)
    fab_cli_confine ((const char *const[]){ NULL });
  return self->options->listen || (backend->is_helper && backend->is_helper ()) ? serve (self, error)
                                                                                : ask (self, error);
}

/* Measures or serves, and prints what it measured. */
static gboolean
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

/* Which backends work here. */

const FabMeasureBackend *
measure_backend (const char *name, GError **error)
{
  g_autofree char *built = g_build_filename ("validate", "measure", name, NULL);
  g_autoptr (GPtrArray) directories = fab_cli_module_directories (built);

  return fab_backend_load (name, (const char *const *) directories->pdata, error);
}

/* Lists the backends: name, whether it works here, and what it measures or why it does not work. (transfer full) */
static FabTable *
measure_backends (void)
{
  FabTable *table = fab_table_new ((const char *const[]){ "backend", "works", "what", NULL });

  for (guint i = 0; fab_backend_rows[i].name; i++) {
    g_autoptr (GError) problem = NULL;
    const FabMeasureBackend *backend = measure_backend (fab_backend_rows[i].name, &problem);
    gboolean works = backend && (backend->probe == NULL || backend->probe (&problem));

    fab_table_add_text (table, fab_backend_rows[i].name);
    fab_table_add_text (table, works ? "yes" : "no");
    fab_table_add_text (table, works ? fab_backend_rows[i].summary : problem->message);
  }
  return table;
}

static const FabUsage usage = {
  .arguments = "[BACKEND | show FILE]",
  .summary =
      "Measures links: the times of messages by size, each until its median is precise. Backend `compute` measures\n"
      "kernels of a GPU. Every sample is kept in a file, from which `fabricast calibrate` makes entries of links and\n"
      "of the accelerator. The same command continues an interrupted measurement.\n\n"
      "Without a BACKEND, it lists the backends and those that work on this machine. `show` prints a file.",
  .examples =
      "  fabricast measure\n"
      "  fabricast measure tcp --listen :7471 --once & fabricast measure tcp --peer localhost --sizes 8,64,1K "
      "--time 0.1 -o lab.meas\n"
      "  fabricast measure show lab.meas --format csv\n"
      "  fabricast measure compute --gpu 0 --shapes 4096x14336x4096,8192x8192x8192 -o gpu.meas\n",
  .max_rest = 2,
};

static void
print_backends (FabFormat format)
{
  g_autoptr (FabTable) table = measure_backends ();

  fab_cli_print_table (format, table);
}

static gboolean
measure (MeasureOptions *o, int argc, char **argv, GError **error)
{
  const FabMeasureBackend *backend;

  if (!fab_cli_format (o->format_name, &o->format, error))
    return FALSE;
  if (argc == 1) {
    print_backends (o->format);
    return TRUE;
  }
  if (strcmp (argv[1], "show") == 0)
    return argc == 3
             ? measure_print (argv[2], NULL, o->format, error)
             : fab_throw (error, FAB_ERROR_INPUT, "the file is missing; write `fabricast measure show FILE`");
  if (argc == 3)
    return fab_throw (error, FAB_ERROR_INPUT, "unexpected argument '%s'; one backend is measured at a time",
                      argv[2]);
  backend = measure_backend (argv[1], error);
  return backend && measure_run (o, backend, error);
}

static void
options_clear (MeasureOptions *o)
{
  char *texts[] = { o->listen, o->peer,        o->sizes,       o->kinds, o->precision, o->time,
                    o->out,    o->format_name, o->secret_file, o->gpu,   o->shapes };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (o->sets);
}

static FabExit
run (int argc, char **argv)
{
  MeasureOptions o = { .min_samples = 10,
                       .max_samples = 1000,
                       .window = NO_WINDOW,
                       .timeout_s = 30,
                       .session_s = DEFAULT_SESSION_S };
  const GOptionEntry entries[] = {
    { "listen", 0, 0, G_OPTION_ARG_STRING, &o.listen,
      "Be the listening end and wait for the asking end. :PORT accepts this machine only, 0.0.0.0:PORT all",
      "[HOST]:PORT" },
    { "peer", 0, 0, G_OPTION_ARG_STRING, &o.peer, "Address of the listening end (default port: 7471)",
      "HOST[:PORT]" },
    { "sizes", 0, 0, G_OPTION_ARG_STRING, &o.sizes,
      "Sizes, doubling from one to the other, or a list (8..64M; of compute 64K..1G)", "FROM..TO,..." },
    { "kinds", 0, 0, G_OPTION_ARG_STRING, &o.kinds,
      "latency, exchange, bandwidth, bidirectional, collective; of compute product, memory_bound, copy, launch "
      "(default: all of the backend)",
      "KIND,..." },
    { "precision", 0, 0, G_OPTION_ARG_STRING, &o.precision,
      "Half the 95 % confidence interval of a median at which a size is done (2%)", "PERCENT" },
    { "min-samples", 0, 0, G_OPTION_ARG_INT64, &o.min_samples, "Fewest samples of a size (10)", "N" },
    { "max-samples", 0, 0, G_OPTION_ARG_INT64, &o.max_samples, "Most samples of a size (1000)", "N" },
    { "time", 0, 0, G_OPTION_ARG_STRING, &o.time, "Longest time for a size, without warm-up (5)", "SECONDS" },
    { "window", 0, 0, G_OPTION_ARG_INT64, &o.window,
      "Messages under way in bandwidth kinds (0: the backend's own)", "N" },
    { "timeout", 0, 0, G_OPTION_ARG_INT64, &o.timeout_s, "Seconds to wait for the other end (30)", "N" },
    { "session-limit", 0, 0, G_OPTION_ARG_INT64, &o.session_s,
      "With --listen: seconds that one asking end may take in total (3600)", "N" },
    { "secret-file", 0, 0, G_OPTION_ARG_FILENAME, &o.secret_file,
      "File with a secret that both ends must know to measure", "FILE" },
    { "once", 0, 0, G_OPTION_ARG_NONE, &o.once, "With --listen: stop after the first asking end", NULL },
    { "gpu", 0, 0, G_OPTION_ARG_STRING, &o.gpu, "compute: number of the GPU (0)", "N" },
    { "shapes", 0, 0, G_OPTION_ARG_STRING, &o.shapes,
      "compute: products to measure, rows x columns x depth (layers of GPT-2 XL and Llama 3)", "MxNxK,..." },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets,
      "Parameter of the backend (`fabricast describe measure BACKEND`); may be repeated", "KEY=VALUE" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, "File of measurements (default fabricast.meas)", "FILE" },
    FAB_FORMAT_ENTRY (&o.format_name),
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && measure (&o, argc, argv, &error);

  options_clear (&o);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
    g_printerr ("fabricast measure: %s\n", error->message);
    return FAB_EXIT_UNMET;
  }
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("measure", error);
}

const FabCommand fab_command_measure = {
  .name = "measure",
  .summary = "Measure the links of this machine, and those between two machines",
  .run = run,
};
