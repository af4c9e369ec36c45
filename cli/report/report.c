/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - runs of a results file as the data of a page: figures of each run, and its parts in order. */
#include "cli/report/report.h"

#include <gio/gio.h>
#include <string.h>

#include "cli/help/glossary.h"
#include "sim/base/error.h"
#include "sim/base/version.h"

/* The named questions of a results file as tables of the page: CSV, so that what a reader
 * downloads is what `fabricast query --format csv` prints. Of a long table the page holds the first rows.
 */

enum {
  MAX_ROWS = 250, /* of a table of runs: no more are shown (tables.js), and the page stays below 300 KB */
  MAX_SWEEP_ROWS = 1000, /* pictures of a sweep are drawn from them */
  MIN_ROWS = 50
};

gboolean
fab_report_is_table (const FabQuery *query, gboolean of_sweep)
{
  if (strcmp (query->name, "scenario") == 0) /* it is shown as text */
    return FALSE;
  return (strstr (query->sql, ":sweep") != NULL) == of_sweep && strcmp (query->name, "sweeps") != 0;
}

static gboolean
take_count (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  *(gint64 *) data = fields[0].integer;
  return TRUE;
}

/* Tables from this size on are packed: a reader opens few of them. */
enum { PACKED_BYTES = 4096 };

/* `text` by zlib, in base64, which the page unpacks when the table is asked for. (transfer full) */
static char *
packed (const char *text)
{
  g_autoptr (GConverter) converter = G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB, 9));
  gsize length = strlen (text), size = length + length / 64 + 64, read, written;
  g_autofree guchar *bytes = g_malloc (size);
  GConverterResult result = g_converter_convert (converter, text, length, bytes, size,
                                                 G_CONVERTER_INPUT_AT_END, &read, &written, NULL);

  g_assert (result == G_CONVERTER_FINISHED);
  return g_base64_encode (bytes, written);
}

/* `table` has one row more than may be shown when there are more. */
static gboolean
write_table (FabStore *store, gint64 run_id, const FabQuery *query, FabTable *table, guint max_rows,
             FabJson *json, GError **error)
{
  g_autofree char *all = fab_query_sql (query), *sql = g_strdup_printf ("SELECT count (*) FROM (%s)", all);
  guint n_rows = table->n_rows;
  gint64 n = n_rows;

  if (n_rows > max_rows && !fab_store_each (store, sql, run_id, take_count, &n, error))
    return FALSE;
  table->n_rows = MIN (n_rows, max_rows);
  g_autofree char *csv = fab_table_to_csv (table);
  table->n_rows = n_rows;
  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "name", query->name);
  fab_json_add_text (json, "summary", query->summary);
  fab_json_add_whole (json, "rows", n);
  fab_json_add_whole (json, "held", MIN (n_rows, max_rows));
  if (strlen (csv) < PACKED_BYTES) {
    fab_json_add_text (json, "csv", csv);
  } else {
    g_autofree char *text = packed (csv);

    fab_json_add_text (json, "packed", text);
  }
  fab_json_end (json);
  return TRUE;
}

/* Adds the member "tables" of a run, or of the chosen sweep. */
static gboolean
report_add_tables (const FabReportRequest *request, gboolean of_sweep, gint64 run_id, FabJson *json,
                   GError **error)
{
  guint n = MAX (request->n_runs + request->n_sweeps, 1);
  guint max_rows = request->max_rows ? request->max_rows
                                     : MAX ((of_sweep ? MAX_SWEEP_ROWS : MAX_ROWS) / n, MIN_ROWS);

  fab_json_begin_array (json, "tables");
  for (const FabQuery *query = fab_queries; query->name != NULL; query++) {
    g_autofree char *all = fab_query_sql (query), *sql = NULL;
    g_autoptr (FabTable) table = NULL;
    g_autoptr (GError) cause = NULL;

    if (!fab_report_is_table (query, of_sweep))
      continue;
    /* Only "sweep-best" says itself how many it wants. */
    sql = strstr (all, " LIMIT ") ? g_strdup (all) : g_strdup_printf ("%s LIMIT %u", all, max_rows + 1);
    table = fab_store_query (request->store, sql, run_id, &cause);
    if (table == NULL && cause->code == FAB_ERROR_INPUT) /* an older file does not know what it asks for */
      continue;
    if (table == NULL) {
      g_propagate_error (error, g_steal_pointer (&cause));
      return FALSE;
    }
    if (!write_table (request->store, run_id, query, table, max_rows, json, error))
      return FALSE;
  }
  fab_json_end (json);
  return TRUE;
}

/* A sweep as the data of a page: axes with their values, a row of figures per point, its tables. */

typedef struct {
  FabJson *json;
  gint64 axis; /* that is open; -1: none */
} Sweep;

enum { N_REALS = 11, N_TEXTS = 3 };

/* As point_sql asks for them, after the point's number. */
static const char *const columns[N_REALS + N_TEXTS] = {
  "step_s",
  "compute_s",
  "comm_s",
  "overlapped_s",
  "exposed_s",
  "idle_s",
  "mfu_fraction",
  "tokens_per_s",
  "train_s",
  "memory_bytes",
  "ranks",
  "binding_link",
  "binding_link_spec",
  "problem",
};

static const char head_sql[] =
    "SELECT sweep_id, name, summary, version, scenario_yaml, n_points FROM sweep WHERE sweep_id = :sweep";

static const char value_sql[] =
    "SELECT a.axis, a.key, v.value FROM sweep_axis AS a JOIN sweep_value AS v USING (sweep_id, axis)"
    " WHERE sweep_id = :sweep ORDER BY a.axis, v.item";

static const char point_sql[] =
    "SELECT point, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s, mfu_fraction, tokens_per_s,"
    " train_s, memory_bytes, n_ranks, binding_link, binding_link_spec, problem FROM sweep_point WHERE sweep_id = :sweep"
    " ORDER BY point";

static gboolean
take_head (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  static const char *const texts[] = { "name", "summary", "version", "scenario" };
  Sweep *self = data;

  fab_json_add_whole (self->json, "sweep", fields[0].integer);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    fab_json_add_text (self->json, texts[i], fields[1 + i].text);
  fab_json_add_whole (self->json, "whole", fields[5].integer);
  return TRUE;
}

static void
end_axis (Sweep *self)
{
  if (self->axis < 0)
    return;
  fab_json_end (self->json);
  fab_json_end (self->json);
}

static gboolean
take_value (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Sweep *self = data;

  if (fields[0].integer != self->axis) {
    end_axis (self);
    fab_json_begin_object (self->json, NULL);
    fab_json_add_text (self->json, "key", fields[1].text);
    fab_json_begin_array (self->json, "values");
    self->axis = fields[0].integer;
  }
  fab_json_add_text (self->json, NULL, fields[2].text);
  return TRUE;
}

static gboolean
take_point (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  Sweep *self = data;

  fab_json_begin_array (self->json, NULL);
  fab_json_add_whole (self->json, NULL, fields[0].integer);
  for (guint i = 1; i <= N_REALS; i++)
    if (fields[i].kind == FAB_CELL_NULL)
      fab_json_add_text (self->json, NULL, NULL);
    else
      fab_json_add_real (self->json, NULL, fields[i].real);
  for (guint i = N_REALS + 1; i <= N_REALS + N_TEXTS; i++)
    fab_json_add_text (self->json, NULL, fields[i].text);
  fab_json_end (self->json);
  return TRUE;
}

static gboolean
add_points (const FabReportRequest *request, Sweep *self, GError **error)
{
  fab_json_begin_array (self->json, "axes");
  if (!fab_store_each (request->store, value_sql, 0, take_value, self, error))
    return FALSE;
  end_axis (self);
  fab_json_end (self->json);
  fab_json_begin_array (self->json, "columns");
  fab_json_add_text (self->json, NULL, "point");
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    fab_json_add_text (self->json, NULL, columns[i]);
  fab_json_end (self->json);
  fab_json_begin_array (self->json, "points");
  if (!fab_store_each (request->store, point_sql, 0, take_point, self, error))
    return FALSE;
  fab_json_end (self->json);
  return TRUE;
}

/* Adds a sweep as an item of an array. */
static gboolean
report_add_sweep (const FabReportRequest *request, gint64 sweep_id, FabJson *json, GError **error)
{
  Sweep self = { .json = json, .axis = -1 };
  gboolean is_added, has_sweeps;

  if (!fab_store_has (request->store, "sweep", NULL, &has_sweeps, error))
    return FALSE;
  if (!has_sweeps)
    return fab_throw (error, FAB_ERROR_INPUT, "there is no sweep in this file; `fabricast sweep` writes one");
  fab_store_choose_sweep (request->store, sweep_id);
  fab_json_begin_object (json, NULL);
  is_added = fab_store_each (request->store, head_sql, 0, take_head, &self, error)
          && add_points (request, &self, error)
          && (!request->has_tables || report_add_tables (request, TRUE, 0, json, error));
  fab_json_end (json);
  fab_store_choose_sweep (request->store, 0);
  return is_added;
}

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

/* Adds an array of objects. `sql` begins with the names of its columns: "from to|SELECT a, b FROM ...". */
static gboolean
report_rows (const FabReportRun *run, const char *key, const char *sql, GError **error)
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
    "SELECT k.name, k.first_rank, k.n_ranks, t.step_ps / 1e12, t.compute_ps / 1e12, t.comm_ps / 1e12,"
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

/* The slowest link of the collectives with most exposed time, or most time where nothing is exposed; `share` is of all
 * that have such a link. As fab_binding_find has it. */
static const char slowest_sql[] =
    "link_from link_to spec parallel rate_bytes_per_s share busy|"
    "WITH c AS (SELECT binding_link AS link, sum (exposed_ps) AS exposed, sum (end_ps - start_ps) AS time"
    " FROM collective WHERE run_id = :run AND iteration = :iteration AND binding_link IS NOT NULL GROUP BY 1),"
    " a AS (SELECT total (exposed) AS exposed, total (time) AS time FROM c)"
    " SELECT l.from_vertex, l.to_vertex, l.spec, l.n_parallel, l.line_rate_bytes_per_s,"
    " CASE WHEN a.exposed > 0 THEN c.exposed / a.exposed ELSE c.time / nullif (a.time, 0) END AS share,"
    " b.busy_fraction FROM c, a JOIN link AS l ON l.run_id = :run AND l.link = c.link"
    " LEFT JOIN link_load AS b ON b.run_id = :run AND b.iteration = :iteration AND b.link = c.link"
    " ORDER BY share DESC, c.link LIMIT 1";

static const char verdict_sql[] =
    "code severity text advice|"
    "SELECT code, severity, text, advice FROM finding WHERE run_id = :run ORDER BY place";

static const char band_sql[] = "figure low_s high_s coverage_fraction reason|"
                               "SELECT figure, low_s, high_s, coverage_fraction, reason FROM band"
                               " WHERE run_id = :run AND iteration = :iteration ORDER BY figure DESC";

static const char levers_sql[] =
    "kind name change limits step_s exposed_s saved_fraction n_seeds fidelity base_step_s|"
    "SELECT kind, name, change, limits, step_s, exposed_s, saved_fraction, n_seeds, fidelity, base_step_s FROM lever"
    " WHERE run_id = :run ORDER BY place";

static const char goodput_sql[] =
    "failures ettr_fraction calendar_s lost_gpu_hours stops_per_day interval_s|"
    "SELECT failures, ettr_fraction, calendar_s, lost_gpu_hours, stops_per_day, interval_s FROM goodput"
    " WHERE run_id = :run";

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
                        "SELECT iteration, start_ps, step_ps FROM iteration WHERE run_id = :run"
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
                { "memory", memory_sql },        { "slowest", slowest_sql } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (!report_rows (run, parts[i].key, parts[i].sql, error))
      return FALSE;
  return TRUE;
}

/* Adds the parts whose tables a file of an older program lacks; they are empty arrays then. */
static gboolean
add_outlook (const FabReportRun *run, GError **error)
{
  const struct {
    const char *table, *key, *sql;
  } parts[] = { { "finding", "verdict", verdict_sql },
                { "band", "band", band_sql },
                { "lever", "levers", levers_sql },
                { "goodput", "goodput", goodput_sql } };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    gboolean has_it;

    if (!fab_store_has (run->request->store, parts[i].table, NULL, &has_it, error))
      return FALSE;
    if (!has_it) {
      fab_json_begin_array (run->json, parts[i].key);
      fab_json_end (run->json);
    } else if (!report_rows (run, parts[i].key, parts[i].sql, error)) {
      return FALSE;
    }
  }
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
          && add_figures (&run, error) && add_outlook (&run, error)
          && fab_report_add_timeline (&run, max_spans, error) && fab_report_add_links (&run, error)
          && fab_report_add_sources (&run, error)
          && (!request->has_tables || report_add_tables (request, FALSE, run.id, json, error));
  if (is_added) { /* else some part of the text is open, and nobody reads it */
    fab_json_add_text (json, "scenario", run.scenario);
    fab_json_end (json);
  }
  g_free (run.scenario);
  return is_added;
}

char *
fab_report_data (const FabReportRequest *request, GError **error)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);
  gboolean has_paths = TRUE;

  if (request->n_runs > 0 && !fab_store_has (request->store, "critical_path", NULL, &has_paths, error))
    return NULL;
  if (!has_paths) {
    fab_throw (error, FAB_ERROR_INPUT,
               "the runs were written by a Fabricast that recorded less; play their scenarios again");
    return NULL;
  }
  fab_json_begin_object (json, NULL);
  fab_json_add_whole (json, "format", 1);
  fab_json_add_text (json, "program", fab_version ());
  fab_json_begin_array (json, "runs");
  for (guint i = 0; i < request->n_runs; i++)
    if (!add_run (request, request->runs[i], json, error))
      return NULL;
  fab_json_end (json);
  fab_json_begin_array (json, "sweeps");
  for (guint i = 0; i < request->n_sweeps; i++)
    if (!report_add_sweep (request, request->sweeps[i], json, error))
      return NULL;
  fab_json_end (json);
  fab_json_end (json);
  return fab_json_text (json);
}

/* Data, our own page and D3 as one HTML text.
 *
 * cli/report/page.html has a place for each, @like_this@. The content policy names every script and style by its
 * hash, so that nothing else runs, whatever the data hold; they stand in a block that browsers do not run, and a '<' in
 * them is written \u003c.
 */

#define ROOT "/fabricast/report/"

/* In the order in which they run. */
static const char *const script_names[] = {
  "base.js",    "tip.js",    "bars.js",  "curve.js",    "outlook.js", "picture.js",  "differences.js",
  "answer.js",  "spans.js",  "paint.js", "lanes.js",    "sums.js",    "timeline.js", "sweeps.js",
  "exposed.js", "places.js", "links.js", "scenario.js", "tables.js",  "terms.js",    "page.js",
};

char *
fab_report_resource (const char *name, GError **error)
{
  g_autofree char *path = g_strconcat (ROOT, name, NULL);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

  if (bytes != NULL)
    return g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "this program was built without D3, which draws the page; install it (Debian: node-d3) and build again");
  return NULL;
}

/* Adds the lines of `text` without their indentation and without lines of comment; the first, of the licence, stays. */
static void
add_lines (const char *text, GString *all)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++) {
    const char *line = g_strchug (lines[i]);

    if (*line != '\0' && (!g_str_has_prefix (line, "//") || all->len == 0)) {
      g_string_append (all, line);
      g_string_append_c (all, '\n');
    }
  }
}

/* (transfer full) */
static char *
without_indentation (const char *script)
{
  g_autoptr (GString) lines = g_string_new (NULL);

  add_lines (script, lines);
  return g_strdup (lines->str);
}

/* What draws several runs or a sweep. */
static gboolean
is_of_comparisons (const char *name)
{
  return strcmp (name, "curve.js") == 0 || strcmp (name, "differences.js") == 0
      || strcmp (name, "sweeps.js") == 0;
}

/* Our scripts as one; (transfer full) */
static char *
all_scripts (gboolean compares, GError **error)
{
  g_autoptr (GString) all = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (script_names); i++) {
    if (!compares && is_of_comparisons (script_names[i]))
      continue;
    g_autofree char *text = fab_report_resource (script_names[i], error);

    if (text == NULL)
      return NULL;
    add_lines (text, all);
  }
  return g_strdup (all->str);
}

/* "'sha256-...'" (transfer full) */
static char *
hash_of (const char *text)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize size = sizeof digest;

  g_checksum_update (checksum, (const guchar *) text, (gssize) strlen (text));
  g_checksum_get_digest (checksum, digest, &size);
  g_autofree char *base64 = g_base64_encode (digest, size);
  return g_strdup_printf ("'sha256-%s'", base64);
}

/* For a block that HTML takes as it is until "</script". (transfer full) */
static char *
safe_json (const char *data)
{
  g_auto (GStrv) parts = g_strsplit (data, "<", -1);

  return g_strjoinv ("\\u003c", parts);
}

static gboolean
is_of_word (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '-';
}

/* `word` stands in `text`, and not within a longer one. */
static gboolean
has_word (const char *text, const char *word)
{
  gsize length = strlen (word);

  for (const char *at = strstr (text, word); at != NULL; at = strstr (at + 1, word))
    if ((at == text || !is_of_word (at[-1])) && !is_of_word (at[length]))
      return TRUE;
  return FALSE;
}

/* `text`, in lower case, has the term by one of its names. */
static gboolean
is_named (const char *text, const FabGlossaryTerm *term)
{
  g_autofree char *all = g_strconcat (term->name, ", ", term->also ? term->also : "", NULL),
                  *low = g_ascii_strdown (all, -1);
  g_auto (GStrv) names = g_strsplit (low, ", ", -1);

  for (guint i = 0; names[i] != NULL; i++)
    if (*names[i] != '\0' && has_word (text, names[i]))
      return TRUE;
  return FALSE;
}

/* The glossary for the page: [{"name", "also", "text"}] of what `data` and `script` can show. What a server answers
 * later can name any term: then it has all. (transfer full)
 */
static char *
glossary_json (const FabReportPage *page, const char *script)
{
  g_autofree char *shown = g_strconcat (page->data, script, NULL), *low = g_ascii_strdown (shown, -1);
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_COMPACT);
  g_autoptr (FabGlossary) glossary = fab_glossary_new ();
  g_autoptr (GPtrArray) terms = fab_glossary_sorted (glossary);

  fab_json_begin_array (json, NULL);
  for (guint i = 0; i < terms->len; i++) {
    const FabGlossaryTerm *term = g_ptr_array_index (terms, i);
    if (!page->asks_server && !is_named (low, term))
      continue;
    g_auto (GStrv) also = g_strsplit (term->also ? term->also : "", ", ", -1);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", term->name);
    fab_json_begin_array (json, "also");
    for (guint k = 0; also[k] != NULL && *also[k] != '\0'; k++)
      fab_json_add_text (json, NULL, also[k]);
    fab_json_end (json);
    fab_json_add_text (json, "text", term->text);
    fab_json_end (json);
  }
  fab_json_end (json);
  g_autofree char *text = fab_json_text (json);
  return safe_json (text);
}

typedef struct {
  const char *place;
  char *text; /* owned */
} Filling;

static void
fill (const char *page, const Filling *fillings, guint n, GString *out)
{
  const char *from = page;

  for (const char *at = strchr (from, '@'); at != NULL; at = strchr (at + 1, '@'))
    for (guint i = 0; i < n; i++)
      if (g_str_has_prefix (at, fillings[i].place)) {
        g_string_append_len (out, from, at - from);
        g_string_append (out, fillings[i].text);
        from = at + strlen (fillings[i].place);
        at = from - 1;
        break;
      }
  g_string_append (out, from);
}

static char *
policy_of (const FabReportPage *page, const char *charts, const char *script, const char *own_script,
           const char *style)
{
  g_autofree char *charts_hash = hash_of (charts), *script_hash = hash_of (script),
                  *style_hash = hash_of (style);
  g_autofree char *own_script_hash = own_script ? hash_of (own_script) : g_strdup ("");
  g_autofree char *own_style = page->style ? hash_of (page->style) : g_strdup ("");

  return g_strdup_printf (
      "default-src 'none'; script-src %s %s %s; style-src %s %s; %sbase-uri 'none'; form-action 'none'",
      charts_hash, script_hash, own_script_hash, style_hash, own_style,
      page->asks_server ? "connect-src 'self'; img-src data:; " : "");
}

static char *
block_of (const char *tag, const char *text)
{
  return text != NULL ? g_strdup_printf ("<%s>%s</%s>", tag, text, tag) : g_strdup ("");
}

char *
fab_report_page (const FabReportPage *page, GError **error)
{
  g_autofree char *charts = fab_report_resource ("charts.js", error);
  g_autofree char *script = charts ? all_scripts (page->compares, error) : NULL;
  g_autofree char *style = script ? fab_report_resource ("page.css", error) : NULL;
  g_autofree char *html = style ? fab_report_resource ("page.html", error) : NULL;
  g_autofree char *own_script = page->script ? without_indentation (page->script) : NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  if (html == NULL)
    return NULL;
  Filling fillings[] = {
    { "@policy@", policy_of (page, charts, script, own_script, style) },
    { "@title@", g_markup_escape_text (page->title ? page->title : "Fabricast report", -1) },
    { "@style@", g_strdup (style) },
    { "@own_style@", block_of ("style", page->style) },
    { "@controls@", g_strdup (page->controls ? page->controls : "") },
    { "@data@", safe_json (page->data) },
    { "@glossary@", glossary_json (page, script) },
    { "@charts@", g_strdup (charts) },
    { "@script@", g_strdup (script) },
    { "@own_script@", block_of ("script", own_script) },
  };
  fill (html, fillings, G_N_ELEMENTS (fillings), out);
  for (guint i = 0; i < G_N_ELEMENTS (fillings); i++)
    g_free (fillings[i].text);
  return g_strdup (out->str);
}
