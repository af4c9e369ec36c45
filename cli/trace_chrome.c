/* SPDX-License-Identifier: Apache-2.0 */
/* trace_chrome.c - a run as Chrome Trace Event JSON, for chrome://tracing and ui.perfetto.dev.
 *
 * A process per class of ranks and a thread per stream; thread 1 of each shows the iterations. The last process is the
 * fabric, with a counter per busy link. An arrow leads from the compute that ends at the very ps at which a
 * collective is reached: that compute released it (a collective that queued behind another has no arrow).
 */
#include <string.h>

#include "cli/trace.h"
#include "sim/base/json.h"

enum { ITERATION_THREAD = 1 };

typedef struct {
  gint64 thread;
  FabTimePs start_ps, end_ps;
  guint rank_class;
} Release; /* a compute span, by its end */

typedef struct {
  const FabTraceSource *source;
  FabTraceFile file;
  GHashTable *threads;  /* "class/stream" -> thread */
  GHashTable *releases; /* of the iteration being written: Release -> itself */
  guint iteration;
  gint64 n_arrows;
} Chrome;

static guint
release_hash (gconstpointer key)
{
  const Release *release = key;

  return g_int64_hash (&release->end_ps) * 31 + release->rank_class;
}

static gboolean
release_equal (gconstpointer a, gconstpointer b)
{
  const Release *x = a, *y = b;

  return x->end_ps == y->end_ps && x->rank_class == y->rank_class;
}

static gint64
process_of (guint rank_class)
{
  return (gint64) rank_class + 1;
}

/* Names */

static void
name_thing (FabTraceFile *file, const char *what, gint64 process, gint64 thread, const char *name)
{
  fab_trace_begin (file, 'M', NULL, what, process, thread, 0);
  fab_trace_args (file);
  fab_trace_text (file, "name", name);
  fab_trace_end (file);
}

static void
place_thing (FabTraceFile *file, const char *what, gint64 process, gint64 thread)
{
  fab_trace_begin (file, 'M', NULL, what, process, thread, 0);
  fab_trace_args (file);
  fab_trace_whole (file, "sort_index", strcmp (what, "process_sort_index") == 0 ? process : thread);
  fab_trace_end (file);
}

static void
write_classes (Chrome *chrome)
{
  for (guint i = 0; i < chrome->source->classes->len; i++) {
    const FabTraceClass *class = &g_array_index (chrome->source->classes, FabTraceClass, i);
    gint64 process = process_of (class->rank_class);
    g_autofree char *ranks = class->n_ranks > 1
                               ? g_strdup_printf ("rank %u (x%u)", class->first_rank, class->n_ranks)
                               : g_strdup_printf ("rank %u", class->first_rank);
    g_autofree char *name = class->name && *class->name ? g_strdup_printf ("%s %s", ranks, class->name)
                                                        : g_strdup (ranks);

    name_thing (&chrome->file, "process_name", process, ITERATION_THREAD, name);
    place_thing (&chrome->file, "process_sort_index", process, ITERATION_THREAD);
    name_thing (&chrome->file, "thread_name", process, ITERATION_THREAD, "iterations");
    place_thing (&chrome->file, "thread_sort_index", process, ITERATION_THREAD);
  }
}

static gint64
thread_of (Chrome *chrome, const FabTraceSpan *span)
{
  g_autofree char *key = g_strdup_printf ("%u/%s", span->rank_class, span->stream);
  gint64 thread = GPOINTER_TO_INT (g_hash_table_lookup (chrome->threads, key));

  if (thread > 0)
    return thread;
  thread = ITERATION_THREAD + 1 + (gint64) g_hash_table_size (chrome->threads);
  g_hash_table_insert (chrome->threads, g_steal_pointer (&key), GINT_TO_POINTER ((gint) thread));
  name_thing (&chrome->file, "thread_name", process_of (span->rank_class), thread, span->stream);
  place_thing (&chrome->file, "thread_sort_index", process_of (span->rank_class), thread);
  return thread;
}

/* Iterations */

static void
write_iteration (const FabIterationRecord *times, gpointer data)
{
  Chrome *chrome = data;
  FabTraceFile *file = &chrome->file;
  FabTimePs end_ps = times->start_ps + times->duration_ps;
  g_autofree char *name = g_strdup_printf ("iteration %u", times->iteration);

  fab_trace_begin (file, 'X', "iteration", name, process_of (times->rank_class), ITERATION_THREAD,
                   times->start_ps);
  fab_trace_lasts (file, times->start_ps, end_ps);
  fab_trace_args (file);
  fab_trace_real (file, "compute_us", (double) times->compute_ps / 1e6);
  fab_trace_real (file, "comm_us", (double) times->comm_ps / 1e6);
  fab_trace_real (file, "overlapped_us", (double) times->overlapped_ps / 1e6);
  fab_trace_real (file, "exposed_us", (double) times->exposed_ps / 1e6);
  fab_trace_real (file, "idle_us", (double) times->idle_ps / 1e6);
  fab_trace_end (file);
  if (times->rank_class != 0)
    return;
  fab_trace_begin (file, 'i', "iteration", name, process_of (0), ITERATION_THREAD, times->start_ps);
  fab_trace_text (file, "s", "g");
  fab_trace_end (file);
}

/* Spans */

static void
write_collective_args (FabTraceFile *file, const FabTraceSpan *span)
{
  fab_trace_whole (file, "collective", span->collective);
  fab_trace_text (file, "op", span->op);
  fab_trace_text (file, "algorithm", span->algorithm);
  fab_trace_text (file, "protocol", span->protocol);
  fab_trace_text (file, "dimension", span->dimension);
  fab_trace_whole (file, "channels", span->n_channels);
  fab_trace_whole (file, "ranks", span->n_ranks);
  fab_trace_whole (file, "bytes", span->bytes);
  fab_trace_real (file, "algbw_GB_per_s", span->algbw_bytes_per_s / 1e9);
  fab_trace_real (file, "busbw_GB_per_s", span->busbw_bytes_per_s / 1e9);
  fab_trace_real (file, "wait_us", (double) span->wait_ps / 1e6);
  fab_trace_real (file, "exposed_us", (double) span->exposed_ps / 1e6);
  fab_trace_text (file, "binding_link", span->binding_link);
}

static void
write_arrow (Chrome *chrome, const FabTraceSpan *span, gint64 thread)
{
  Release key = { 0, 0, span->start_ps, span->rank_class };
  const Release *release = g_hash_table_lookup (chrome->releases, &key);
  gint64 process = process_of (span->rank_class);

  if (release == NULL || release->end_ps - release->start_ps < 2000)
    return;
  /* An arrow begins inside of its slice: 1 ns before the end. */
  fab_trace_begin (&chrome->file, 's', "release", "releases", process, release->thread,
                   release->end_ps - 1000);
  fab_trace_whole (&chrome->file, "id", ++chrome->n_arrows);
  fab_trace_end (&chrome->file);
  fab_trace_begin (&chrome->file, 'f', "release", "releases", process, thread, span->start_ps);
  fab_trace_text (&chrome->file, "bp", "e");
  fab_trace_whole (&chrome->file, "id", chrome->n_arrows);
  fab_trace_end (&chrome->file);
}

static void
remember_compute (Chrome *chrome, const FabTraceSpan *span, gint64 thread)
{
  Release *release = g_new (Release, 1);

  *release = (Release){ thread, span->start_ps, span->end_ps, span->rank_class };
  if (span->iteration != chrome->iteration)
    g_hash_table_remove_all (chrome->releases);
  chrome->iteration = span->iteration;
  g_hash_table_add (chrome->releases, release);
}

static void
write_span (const FabTraceSpan *span, gpointer data)
{
  Chrome *chrome = data;
  FabTraceFile *file = &chrome->file;
  gint64 thread = thread_of (chrome, span);
  gboolean is_wait = strcmp (span->kind, "wait") == 0;
  g_autofree char *name = is_wait ? g_strdup_printf ("wait for %s", span->name) : NULL;

  fab_trace_begin (file, 'X', span->kind, name ? name : span->name, process_of (span->rank_class), thread,
                   span->start_ps);
  fab_trace_lasts (file, span->start_ps, span->end_ps);
  fab_trace_args (file);
  fab_trace_whole (file, "iteration", span->iteration);
  if (span->collective >= 0)
    write_collective_args (file, span);
  fab_trace_end (file);
  if (span->collective >= 0)
    write_arrow (chrome, span, thread);
  else if (strcmp (span->kind, "compute") == 0)
    remember_compute (chrome, span, thread);
}

static gboolean
write_events (Chrome *chrome, GError **error)
{
  gint64 fabric = (gint64) chrome->source->classes->len + 1;

  write_classes (chrome);
  name_thing (&chrome->file, "process_name", fabric, 0, "fabric");
  place_thing (&chrome->file, "process_sort_index", fabric, 0);
  return fab_trace_each_iteration (chrome->source, -1, write_iteration, chrome, error)
      && fab_trace_each_span (chrome->source, -1, write_span, chrome, error)
      && fab_trace_write_counters (chrome->source, &chrome->file, fabric, error);
}

static void
write_tail (Chrome *chrome)
{
  g_autoptr (GString) tail = g_string_new ("\n],\n\"displayTimeUnit\":\"ms\",\"otherData\":{\"name\":");

  fab_json_append_text (tail, chrome->source->name);
  g_string_append (tail, ",\"version\":");
  fab_json_append_text (tail, chrome->source->version);
  g_string_append_printf (tail, ",\"run\":%" G_GINT64_FORMAT ",\"ranks\":%u}}\n", chrome->source->run_id,
                          chrome->source->n_ranks);
  fab_trace_raw (&chrome->file, tail->str);
}

gboolean
fab_trace_write_chrome (const FabTraceSource *source, const char *path, GError **error)
{
  g_autoptr (GHashTable) threads = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) releases = g_hash_table_new_full (release_hash, release_equal, g_free, NULL);
  Chrome chrome = { .source = source, .threads = threads, .releases = releases };

  if (!fab_trace_file_open (&chrome.file, path, error)) {
    fab_trace_file_abandon (&chrome.file);
    return FALSE;
  }
  fab_trace_raw (&chrome.file, "{\"traceEvents\":[\n");
  if (!write_events (&chrome, error)) {
    fab_trace_file_abandon (&chrome.file);
    return FALSE;
  }
  write_tail (&chrome);
  return fab_trace_file_close (&chrome.file, error);
}
