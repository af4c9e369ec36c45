/* SPDX-License-Identifier: Apache-2.0 */
/* chrome.c - a run as Chrome Trace Event JSON, for chrome://tracing and ui.perfetto.dev.
 *
 * A process per class of ranks and a thread per stream; thread 1 of each shows the iterations. The last process is
 * the fabric, with a counter per busy link. An arrow leads from the compute that ends at the very ps at which a
 * collective is reached: that compute released it (a collective that queued behind another has no arrow).
 */
#include <string.h>

#include "formats/export/events.h"
#include "formats/export/trace.h"
#include "sim/base/json.h"
#include "sim/base/order.h"

enum { ITERATION_THREAD = 1 };

typedef struct {
  gint64 thread;
  FabTimePs start_ps, end_ps;
  guint rank_class;
} Release; /* a compute span, by its end */

typedef struct {
  const FabTraceSource *source;
  FabTraceEvents file;
  GHashTable *threads;  /* "class/stream" -> thread */
  GHashTable *releases; /* of the iteration being written: Release -> itself */
  guint iteration;
  gint64 n_arrows;
} Chrome;

static gboolean trace_write_counters (const FabTraceSource *source, FabTraceEvents *file, gint64 process,
                                      GError **error);

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
name_thing (FabTraceEvents *file, const char *what, gint64 process, gint64 thread, const char *name)
{
  fab_event_begin (file, 'M', NULL, what, process, thread, 0);
  fab_event_args (file);
  fab_event_text (file, "name", name);
  fab_event_end (file);
}

static void
place_thing (FabTraceEvents *file, const char *what, gint64 process, gint64 thread)
{
  fab_event_begin (file, 'M', NULL, what, process, thread, 0);
  fab_event_args (file);
  fab_event_whole (file, "sort_index", strcmp (what, "process_sort_index") == 0 ? process : thread);
  fab_event_end (file);
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
  gpointer known;
  gint64 thread;

  if (g_hash_table_lookup_extended (chrome->threads, key, NULL, &known))
    return GPOINTER_TO_INT (known);
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
  FabTraceEvents *file = &chrome->file;
  FabTimePs end_ps = times->start_ps + times->duration_ps;
  g_autofree char *name = g_strdup_printf ("iteration %u", times->iteration);

  fab_event_begin (file, 'X', "iteration", name, process_of (times->rank_class), ITERATION_THREAD,
                   times->start_ps);
  fab_event_lasts (file, times->start_ps, end_ps);
  fab_event_args (file);
  fab_event_real (file, "compute_us", (double) times->compute_ps / 1e6);
  fab_event_real (file, "comm_us", (double) times->comm_ps / 1e6);
  fab_event_real (file, "overlapped_us", (double) times->overlapped_ps / 1e6);
  fab_event_real (file, "exposed_us", (double) times->exposed_ps / 1e6);
  fab_event_real (file, "idle_us", (double) times->idle_ps / 1e6);
  fab_event_end (file);
  if (times->rank_class != 0)
    return;
  fab_event_begin (file, 'i', "iteration", name, process_of (0), ITERATION_THREAD, times->start_ps);
  fab_event_text (file, "s", "g");
  fab_event_end (file);
}

/* Spans */

static void
write_collective_args (FabTraceEvents *file, const FabTraceSpan *span)
{
  fab_event_whole (file, "collective", span->collective);
  fab_event_text (file, "op", span->op);
  fab_event_text (file, "algorithm", span->algorithm);
  fab_event_text (file, "protocol", span->protocol);
  fab_event_text (file, "dimension", span->dimension);
  fab_event_whole (file, "channels", span->n_channels);
  fab_event_whole (file, "ranks", span->n_ranks);
  fab_event_whole (file, "bytes", span->bytes);
  fab_event_real (file, "algbw_GB_per_s", span->algbw_bytes_per_s / 1e9);
  fab_event_real (file, "busbw_GB_per_s", span->busbw_bytes_per_s / 1e9);
  fab_event_real (file, "wait_us", (double) span->wait_ps / 1e6);
  fab_event_real (file, "exposed_us", (double) span->exposed_ps / 1e6);
  fab_event_text (file, "binding_link", span->binding_link);
}

static void
write_arrow (Chrome *chrome, const FabTraceSpan *span, gint64 thread)
{
  Release key = { .end_ps = span->start_ps, .rank_class = span->rank_class };
  const Release *release = g_hash_table_lookup (chrome->releases, &key);
  gint64 process = process_of (span->rank_class);

  if (release == NULL || release->end_ps - release->start_ps < 2000)
    return;
  /* An arrow begins inside of its slice: 1 ns before the end. */
  fab_event_begin (&chrome->file, 's', "release", "releases", process, release->thread,
                   release->end_ps - 1000);
  fab_event_whole (&chrome->file, "id", ++chrome->n_arrows);
  fab_event_end (&chrome->file);
  fab_event_begin (&chrome->file, 'f', "release", "releases", process, thread, span->start_ps);
  fab_event_text (&chrome->file, "bp", "e");
  fab_event_whole (&chrome->file, "id", chrome->n_arrows);
  fab_event_end (&chrome->file);
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
  FabTraceEvents *file = &chrome->file;
  gint64 thread = thread_of (chrome, span);
  gboolean is_wait = strcmp (span->kind, "wait") == 0;
  g_autofree char *name = is_wait ? g_strdup_printf ("wait for %s", span->name) : NULL;

  fab_event_begin (file, 'X', span->kind, name ? name : span->name, process_of (span->rank_class), thread,
                   span->start_ps);
  fab_event_lasts (file, span->start_ps, span->end_ps);
  fab_event_args (file);
  fab_event_whole (file, "iteration", span->iteration);
  if (span->collective >= 0)
    write_collective_args (file, span);
  fab_event_end (file);
  if (span->collective >= 0)
    write_arrow (chrome, span, thread);
  else if (strcmp (span->kind, "compute") == 0)
    remember_compute (chrome, span, thread);
}

static gboolean
write_events (Chrome *chrome, GError **error)
{
  gint64 fabric = (gint64) chrome->source->classes->len + 1;

  fab_trace_events_raw (&chrome->file, "{\"traceEvents\":[\n");
  write_classes (chrome);
  name_thing (&chrome->file, "process_name", fabric, 0, "fabric");
  place_thing (&chrome->file, "process_sort_index", fabric, 0);
  return fab_trace_each_iteration (chrome->source, -1, write_iteration, chrome, error)
      && fab_trace_each_span (chrome->source, -1, write_span, chrome, error)
      && trace_write_counters (chrome->source, &chrome->file, fabric, error);
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
  fab_trace_events_raw (&chrome->file, tail->str);
}

gboolean
fab_trace_write_chrome (const FabTraceSource *source, const char *path, GError **error)
{
  g_autoptr (GHashTable) threads = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) releases = g_hash_table_new_full (release_hash, release_equal, g_free, NULL);
  Chrome chrome = { .source = source, .threads = threads, .releases = releases };

  if (!fab_trace_events_open (&chrome.file, path, error) || !write_events (&chrome, error)) {
    fab_trace_events_abandon (&chrome.file);
    return FALSE;
  }
  write_tail (&chrome);
  return fab_trace_events_close (&chrome.file, error);
}

/* What links carry over time, as counters in GB/s.
 *
 * With samples in the results file (table link_sample) the counters of the busiest links are those. Without, the load
 * of a link is known per iteration only, and is laid under the collectives that the link binds: collective c of
 * bytes_c has the share bytes_c / sum (bytes) of what the link carried in the iteration, evenly over its time,
 *   rate_c = link_load.bytes x bytes_c / sum (bytes) / (end_c - start_c),
 * and rates of collectives that run at once add up. What other collectives sent over the link is in it too, so that
 * this is an estimate; its integral over an iteration is exact.
 */

#define MAX_LINKS "12"

typedef struct {
  FabTimePs time_ps;
  double change_bytes_per_s;
} Step;

typedef struct {
  FabTraceEvents *file;
  gint64 process;
  gint64 link; /* -1: none yet */
  char *name;
  GArray *steps; /* Step, of `link` */
} Counters;

static gint
compare_steps (gconstpointer a, gconstpointer b)
{
  const Step *x = a, *y = b;

  return fab_order_int64s (&x->time_ps, &y->time_ps);
}

static void
write_value (const Counters *counters, FabTimePs time_ps, double bytes_per_s)
{
  fab_event_begin (counters->file, 'C', "fabric", counters->name, counters->process, 0, time_ps);
  fab_event_args (counters->file);
  fab_event_real (counters->file, "GB/s", bytes_per_s / 1e9);
  fab_event_end (counters->file);
}

/* Writes what has been gathered of a link: one value per time at which its load changes. */
static void
finish_link (Counters *counters)
{
  double rate = 0, highest = 0;

  g_array_sort (counters->steps, compare_steps);
  for (guint i = 0; i < counters->steps->len; i++) {
    const Step *step = &g_array_index (counters->steps, Step, i);

    rate += step->change_bytes_per_s;
    highest = MAX (highest, rate);
    if (i + 1 < counters->steps->len && step[1].time_ps == step->time_ps)
      continue;
    if (rate < 1e-9 * highest) /* what is left of adding and taking away doubles */
      rate = 0;
    write_value (counters, step->time_ps, rate);
  }
  g_array_set_size (counters->steps, 0);
}

/* link, name, start, end, bytes/s; in order of link */
static gboolean
take_load (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Counters *counters = data;
  Step begin = { fields[2].integer, fields[4].real }, end = { fields[3].integer, -fields[4].real };

  if (fields[0].integer != counters->link) {
    finish_link (counters);
    g_free (counters->name);
    counters->name = g_strdup (fields[1].text);
    counters->link = fields[0].integer;
  }
  g_array_append_val (counters->steps, begin);
  g_array_append_val (counters->steps, end);
  return TRUE;
}

static const char sampled_sql[] =
    "WITH busiest AS (SELECT link FROM link_load WHERE run_id = :run AND iteration BETWEEN %" G_GINT64_FORMAT
    " AND %" G_GINT64_FORMAT " GROUP BY link ORDER BY max (busy_fraction) DESC, link LIMIT " MAX_LINKS ") "
    "SELECT l.link, 'load of ' || l.from_vertex || ' -> ' || l.to_vertex || ' (' || l.spec || ')',"
    " s.start_ps, s.end_ps, 1.0 * s.bytes_per_s "
    "FROM busiest JOIN link AS l ON l.run_id = :run AND l.link = busiest.link "
    "JOIN link_sample AS s ON s.run_id = :run AND s.link = l.link "
    "WHERE s.iteration BETWEEN %" G_GINT64_FORMAT " AND %" G_GINT64_FORMAT " AND s.end_ps > s.start_ps "
    "ORDER BY l.link, s.start_ps";

static const char derived_sql[] =
    "WITH bound AS (SELECT * FROM collective WHERE run_id = :run AND iteration BETWEEN %" G_GINT64_FORMAT
    " AND %" G_GINT64_FORMAT " AND binding_link IS NOT NULL AND end_ps > start_ps),"
    " busiest AS (SELECT binding_link AS link FROM bound GROUP BY binding_link"
    " ORDER BY sum (end_ps - start_ps) DESC, binding_link LIMIT " MAX_LINKS "),"
    " total AS (SELECT iteration, binding_link AS link, sum (bytes) AS bytes FROM bound GROUP BY 1, 2) "
    "SELECT l.link, 'load of ' || l.from_vertex || ' -> ' || l.to_vertex || ' (' || l.spec || '), estimated',"
    " c.start_ps, c.end_ps, 1e12 * d.bytes * (1.0 * c.bytes / nullif (t.bytes, 0)) / (c.end_ps - c.start_ps) "
    "FROM busiest JOIN link AS l ON l.run_id = :run AND l.link = busiest.link "
    "JOIN bound AS c ON c.binding_link = l.link "
    "JOIN total AS t ON t.iteration = c.iteration AND t.link = l.link "
    "JOIN link_load AS d ON d.run_id = :run AND d.iteration = c.iteration AND d.link = l.link "
    "ORDER BY l.link, c.start_ps";

static gboolean
trace_write_counters (const FabTraceSource *source, FabTraceEvents *file, gint64 process, GError **error)
{
  gboolean is_sampled;

  if (!fab_store_has (source->store, "link_sample", NULL, &is_sampled, error))
    return FALSE;
  g_autofree char *sql = is_sampled ? g_strdup_printf (sampled_sql, source->first, source->last,
                                                       source->first, source->last)
                                    : g_strdup_printf (derived_sql, source->first, source->last);
  Counters counters = {
    .file = file, .process = process, .link = -1, .steps = g_array_new (FALSE, FALSE, sizeof (Step))
  };
  gboolean is_written = fab_store_each (source->store, sql, source->run_id, take_load, &counters, error);

  if (is_written)
    finish_link (&counters);
  g_free (counters.name);
  g_array_unref (counters.steps);
  return is_written;
}
