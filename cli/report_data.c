/* SPDX-License-Identifier: Apache-2.0 */
/* report_data.c - runs of a results file as the data of a page: figures of each run, and its parts in order. */
#include <string.h>

#include "cli/report_parts.h"
#include "sim/base/error.h"

enum { MAX_SPANS = 40000, MIN_SPANS = 3000 };

/* --- asking --- */

gboolean
fab_report_each (const FabReportRun *run, const char *sql, FabStoreRowFunc on_row, gpointer data,
                 GError **error)
{
  g_autofree char *iteration = g_strdup_printf ("%" G_GINT64_FORMAT, run->iteration);
  g_auto (GStrv) parts = g_strsplit (sql, ":iteration", -1);
  g_autofree char *filled = g_strjoinv (iteration, parts);

  return fab_store_each (run->request->store, filled, run->id, on_row, data, error);
}

static gboolean
take_integer (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  *(gint64 *) data = fields[0].integer;
  return TRUE;
}

gboolean
fab_report_has (FabStore *store, const char *table)
{
  g_autofree char *sql = g_strdup_printf ("SELECT count (*) FROM sqlite_master WHERE name = '%s'", table);
  gint64 n = 0;

  return fab_store_each (store, sql, 0, take_integer, &n, NULL) && n > 0;
}

/* --- rows as objects --- */

typedef struct {
  FabJson *json;
  GStrv names; /* of the columns */
} Rows;

static gboolean
take_row (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  const Rows *rows = data;

  fab_json_begin_object (rows->json, NULL);
  for (guint i = 0; rows->names[i] != NULL; i++) {
    if (fields[i].kind == FAB_CELL_INTEGER)
      fab_json_add_whole (rows->json, rows->names[i], fields[i].integer);
    else if (fields[i].kind == FAB_CELL_REAL)
      fab_json_add_real (rows->json, rows->names[i], fields[i].real);
    else
      fab_json_add_text (rows->json, rows->names[i], fields[i].text);
  }
  fab_json_end (rows->json);
  return TRUE;
}

gboolean
fab_report_rows (const FabReportRun *run, const char *key, const char *sql, GError **error)
{
  const char *bar = strchr (sql, '|');
  g_autofree char *list = g_strndup (sql, (gsize) (bar - sql));
  g_auto (GStrv) names = g_strsplit (list, " ", -1);
  Rows rows = { run->json, names };

  fab_json_begin_array (run->json, key);
  if (!fab_report_each (run, bar + 1, take_row, &rows, error))
    return FALSE;
  fab_json_end (run->json);
  return TRUE;
}

/* --- figures --- */

static const char iteration_sql[] =
    "iteration step_s compute_s comm_s overlapped_s exposed_s idle_s mfu_fraction hfu_fraction tokens_per_s|"
    "SELECT iteration, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s, mfu_pct / 100, hfu_pct / 100,"
    " tokens_per_s FROM v_step WHERE run_id = :run ORDER BY iteration";

static const char class_sql[] =
    "name first_rank ranks step_s compute_s comm_s overlapped_s exposed_s idle_s|"
    "SELECT k.name, k.first_rank, k.n_ranks, t.duration_ps / 1e12, t.compute_ps / 1e12, t.comm_ps / 1e12,"
    " t.overlapped_ps / 1e12, t.exposed_ps / 1e12, t.idle_ps / 1e12"
    " FROM rank_class AS k JOIN iteration_class AS t USING (run_id, rank_class)"
    " WHERE run_id = :run AND iteration = :iteration ORDER BY rank_class";

/* Means over ranks. */
static const char exposure_sql[] =
    "dimension op bytes comm_s exposed_s|"
    "SELECT e.dimension, e.op, max (e.bytes), sum (e.comm_ps * 1.0 * k.n_ranks) / r.n_ranks / 1e12,"
    " sum (e.exposed_ps * 1.0 * k.n_ranks) / r.n_ranks / 1e12"
    " FROM exposure AS e JOIN rank_class AS k USING (run_id, rank_class) JOIN run AS r USING (run_id)"
    " WHERE run_id = :run AND iteration = :iteration GROUP BY e.dimension, e.op ORDER BY 5 DESC, 4 DESC, 1, 2";

static const char path_sql[] =
    "kind dimension link_from link_to spec time_s|"
    "SELECT kind, dimension, from_vertex, to_vertex, spec, time_us / 1e6 FROM v_critical_path"
    " WHERE run_id = :run AND iteration = :iteration ORDER BY time_us DESC, kind, dimension, link LIMIT 40";

static const char memory_sql[] =
    "rank_class part bytes|"
    "SELECT rank_class, part, bytes FROM memory WHERE run_id = :run ORDER BY rank_class, bytes DESC, part";

/* Of collectives that one link binds, those with most exposed time, or most time where nothing is exposed; `share` is
 * of all that a link binds. As fab_binding_find has it. */
static const char binding_sql[] =
    "link_from link_to spec parallel rate_bytes_per_s share busy|"
    "WITH c AS (SELECT binding_link AS link, sum (exposed_ps) AS exposed, sum (end_ps - start_ps) AS time"
    " FROM collective WHERE run_id = :run AND iteration = :iteration AND binding_link IS NOT NULL GROUP BY 1),"
    " a AS (SELECT total (exposed) AS exposed, total (time) AS time FROM c)"
    " SELECT l.from_vertex, l.to_vertex, l.spec, l.n_parallel, l.line_rate_bytes_per_s,"
    " CASE WHEN a.exposed > 0 THEN c.exposed / a.exposed ELSE c.time / nullif (a.time, 0) END AS share,"
    " b.busy_fraction FROM c, a JOIN link AS l ON l.run_id = :run AND l.link = c.link"
    " LEFT JOIN link_load AS b ON b.run_id = :run AND b.iteration = :iteration AND b.link = c.link"
    " ORDER BY share DESC, c.link LIMIT 1";

/* The same by kind of link. */
static const char bound_sql[] =
    "spec links share|"
    "WITH c AS (SELECT l.spec, c.binding_link AS link, c.exposed_ps AS exposed, c.end_ps - c.start_ps AS time"
    " FROM collective AS c JOIN link AS l ON l.run_id = c.run_id AND l.link = c.binding_link"
    " WHERE c.run_id = :run AND c.iteration = :iteration),"
    " a AS (SELECT total (exposed) AS exposed, total (time) AS time FROM c)"
    " SELECT c.spec, count (DISTINCT c.link), CASE WHEN a.exposed > 0 THEN total (c.exposed) / a.exposed"
    " ELSE total (c.time) / nullif (a.time, 0) END AS share FROM c, a GROUP BY c.spec ORDER BY share DESC, c.spec";

static const char run_sql[] =
    "SELECT name, version, fidelity, seed, n_ranks, n_nodes, peak_flops_per_s, memory_bytes, train_tokens,"
    " scenario_yaml FROM run WHERE run_id = :run";

static gboolean
take_run (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  static const char *const texts[] = { "name", "version", "fidelity" };
  static const char *const wholes[] = { "seed", "ranks", "nodes" };
  static const char *const reals[] = { "peak_flops_per_s", "memory_bytes", "train_tokens" };
  FabReportRun *run = data;

  for (guint i = 0; i < 3; i++)
    fab_json_add_text (run->json, texts[i], fields[i].text);
  for (guint i = 0; i < 3; i++)
    fab_json_add_whole (run->json, wholes[i], fields[3 + i].integer);
  for (guint i = 0; i < 3; i++)
    fab_json_add_real (run->json, reals[i], fields[6 + i].real);
  run->scenario = g_strdup (fields[9].text);
  return TRUE;
}

static gboolean
take_iteration (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  FabReportRun *run = data;

  run->iteration = fields[0].integer;
  run->start_ps = fields[1].integer;
  run->duration_ps = fields[2].integer;
  return TRUE;
}

static gboolean
find_iteration (FabReportRun *run, GError **error)
{
  run->iteration = -1;
  if (!fab_report_each (run,
                        "SELECT iteration, start_ps, duration_ps FROM iteration WHERE run_id = :run"
                        " ORDER BY iteration DESC LIMIT 1",
                        take_iteration, run, error))
    return FALSE;
  if (run->iteration < 0)
    return fab_throw (error, FAB_ERROR_INPUT, "run %" G_GINT64_FORMAT " has no iteration", run->id);
  return TRUE;
}

static gboolean
add_figures (const FabReportRun *run, GError **error)
{
  static const struct {
    const char *key, *sql;
  } parts[] = { { "iterations", iteration_sql }, { "classes", class_sql },
                { "exposure", exposure_sql },    { "path", path_sql },
                { "memory", memory_sql },        { "binding", binding_sql },
                { "bound_by", bound_sql } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (!fab_report_rows (run, parts[i].key, parts[i].sql, error))
      return FALSE;
  return TRUE;
}

static gboolean
add_run (const FabReportRequest *request, gint64 id, FabJson *json, GError **error)
{
  FabReportRun run = { .request = request, .json = json };
  guint max_spans = request->max_spans ? request->max_spans : MAX (MAX_SPANS / request->n_runs, MIN_SPANS);
  gboolean is_added;

  if (!fab_store_find_run (request->store, id, &run.id, error))
    return FALSE;
  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "run", run.id);
  is_added = fab_report_each (&run, run_sql, take_run, &run, error) && find_iteration (&run, error)
          && add_figures (&run, error) && fab_report_add_timeline (&run, max_spans, error)
          && fab_report_add_links (&run, error) && fab_report_add_sources (&run, error)
          && (!request->has_tables || fab_report_add_tables (request, FALSE, run.id, json, error));
  fab_json_add_text (json, "scenario", run.scenario);
  fab_json_end (json);
  g_free (run.scenario);
  return is_added;
}

char *
fab_report_data (const FabReportRequest *request, GError **error)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);

  if (request->n_runs > 0 && !fab_report_has (request->store, "critical_path")) {
    fab_throw (error, FAB_ERROR_INPUT,
               "the runs were written by a Fabricast that recorded less; play their scenarios again");
    return NULL;
  }
  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "format", 1);
  fab_json_add_text (json, "program", FAB_VERSION);
  fab_json_begin_array (json, "runs");
  for (guint i = 0; i < request->n_runs; i++)
    if (!add_run (request, request->runs[i], json, error))
      return NULL;
  fab_json_end (json);
  fab_json_begin_array (json, "sweeps");
  for (guint i = 0; i < request->n_sweeps; i++)
    if (!fab_report_add_sweep (request, request->sweeps[i], json, error))
      return NULL;
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_text (json);
}
