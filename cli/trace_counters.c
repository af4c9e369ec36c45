/* SPDX-License-Identifier: Apache-2.0 */
/* trace_counters.c - what links carry over time, as counters in GB/s.
 *
 * With samples in the results file (table link_sample) the counters of the busiest links are those. Without, the load
 * of a link is known per iteration only, and is laid under the collectives that the link binds: collective c of
 * bytes_c has the share bytes_c / sum (bytes) of what the link carried in the iteration, evenly over its time,
 *   rate_c = link_load.bytes x bytes_c / sum (bytes) / (end_c - start_c),
 * and rates of collectives that run at once add up. What other collectives sent over the link is in it too, so that
 * this is an estimate; its integral over an iteration is exact.
 */
#include "cli/trace.h"

#define MAX_LINKS "12"

typedef struct {
  FabTimePs time_ps;
  double change_bytes_per_s;
} Step;

typedef struct {
  FabTraceFile *file;
  gint64 process;
  gint64 link; /* -1: none yet */
  char *name;
  GArray *steps; /* Step, of `link` */
} Counters;

static gint
compare_steps (gconstpointer a, gconstpointer b)
{
  const Step *x = a, *y = b;

  return x->time_ps < y->time_ps ? -1 : x->time_ps > y->time_ps;
}

static void
write_value (const Counters *counters, FabTimePs time_ps, double bytes_per_s)
{
  fab_trace_begin (counters->file, 'C', "fabric", counters->name, counters->process, 0, time_ps);
  fab_trace_args (counters->file);
  fab_trace_real (counters->file, "GB/s", bytes_per_s / 1e9);
  fab_trace_end (counters->file);
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

gboolean
fab_trace_write_counters (const FabTraceSource *source, FabTraceFile *file, gint64 process, GError **error)
{
  g_autofree char *sql = fab_trace_has (source, "link_sample", NULL)
                           ? g_strdup_printf (sampled_sql, source->first, source->last, source->first,
                                              source->last)
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
