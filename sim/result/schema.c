/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - the version of the schema and the views over the tables of columns.c. What they mean:
 * docs/reference/results-schema.md.
 *
 * "{ALIAS.TABLE UNIT}" in a view stands for the figures of the table that the view does not name: a column that is
 * added to columns.c comes into the view by itself, at its end, with times in s or us.
 *
 * A change of a table or a view that a reader can notice is a new VERSION. Tables and columns that are added say theirs
 * in columns.c.
 */
#include <string.h>

#include "sim/result/store_private.h"

#define VERSION 12

static const char step_views[] =
    "CREATE VIEW v_step AS\n"
    "SELECT i.run_id, i.iteration, i.step_ps / 1e12 AS step_s,\n"
    "  i.compute_ps / 1e12 AS compute_s, i.comm_ps / 1e12 AS comm_s,\n"
    "  i.overlapped_ps / 1e12 AS overlapped_s,\n"
    "  i.exposed_ps / 1e12 AS exposed_s, i.idle_ps / 1e12 AS idle_s,\n"
    "  100.0 * i.compute_ps / nullif (i.step_ps, 0) AS compute_pct,\n"
    "  100.0 * i.comm_ps / nullif (i.step_ps, 0) AS comm_pct,\n"
    "  100.0 * i.overlapped_ps / nullif (i.step_ps, 0) AS overlapped_pct,\n"
    "  100.0 * i.exposed_ps / nullif (i.step_ps, 0) AS exposed_pct,\n"
    "  100.0 * i.idle_ps / nullif (i.step_ps, 0) AS idle_pct,\n"
    "  i.waiting_ps / 1e12 AS waiting_s, 100.0 * i.waiting_ps / nullif (i.step_ps, 0) AS waiting_pct,\n"
    "  i.exposed_inter_node_ps / 1e12 AS exposed_inter_node_s,\n"
    "  CASE WHEN r.peak_flops_per_s > 0 THEN 100.0 * i.mfu_fraction END AS mfu_pct,\n"
    "  CASE WHEN r.peak_flops_per_s > 0 THEN 100.0 * i.hfu_fraction END AS hfu_pct,\n"
    "  i.tokens_per_s{i.iteration s}\n"
    "FROM iteration AS i JOIN run AS r USING (run_id);\n"
    "CREATE VIEW v_exposed AS\n"
    "SELECT run_id, iteration, step_ps / 1e12 AS step_s, comm_ps / 1e12 AS comm_s,\n"
    "  exposed_ps / 1e12 AS exposed_s,\n"
    "  100.0 * exposed_ps / nullif (step_ps, 0) AS exposed_pct_of_step,\n"
    "  100.0 * exposed_ps / nullif (comm_ps, 0) AS exposed_pct_of_comm\n"
    "FROM iteration;\n"
    "CREATE VIEW v_overlap AS -- the terms of Holistic Trace Analysis\n"
    "SELECT t.run_id, t.iteration, t.rank_class, c.first_rank, c.n_ranks,\n"
    "  t.idle_ps / 1e6 AS idle_time_us, t.compute_ps / 1e6 AS compute_time_us,\n"
    "  t.exposed_ps / 1e6 AS non_compute_time_us, t.step_ps / 1e6 AS kernel_time_us,\n"
    "  100.0 * t.idle_ps / nullif (t.step_ps, 0) AS idle_time_pctg,\n"
    "  100.0 * t.compute_ps / nullif (t.step_ps, 0) AS compute_time_pctg,\n"
    "  100.0 * t.exposed_ps / nullif (t.step_ps, 0) AS non_compute_time_pctg,\n"
    "  100.0 * t.overlapped_ps / nullif (t.comm_ps, 0) AS comp_comm_overlap_pctg\n"
    "FROM iteration_class AS t JOIN rank_class AS c USING (run_id, rank_class);\n";

static const char collective_views[] =
    "CREATE VIEW v_collective AS\n"
    "SELECT c.run_id, c.iteration, c.collective, c.name, c.op, c.dimension, c.algorithm, c.protocol,\n"
    "  c.n_channels, c.n_ranks, c.bytes, c.start_ps / 1e6 AS start_us, (c.start_ps - c.ready_ps) / 1e6 AS wait_us,\n"
    "  (c.end_ps - c.start_ps) / 1e6 AS time_us, c.exposed_ps / 1e6 AS exposed_us,\n"
    "  c.algbw_bytes_per_s / 1e9 AS algbw_gb_per_s, c.busbw_bytes_per_s / 1e9 AS busbw_gb_per_s,\n"
    "  c.binding_link, l.from_vertex AS binding_from, l.to_vertex AS binding_to,\n"
    "  l.spec AS binding_link_spec{c.collective us}\n"
    "FROM collective AS c LEFT JOIN link AS l ON l.run_id = c.run_id AND l.link = c.binding_link;\n"
    "CREATE VIEW v_collective_total AS\n"
    "SELECT run_id, op, name, count (*) AS n_collectives, sum (bytes) AS bytes,\n"
    "  sum (end_ps - start_ps) / 1e6 AS time_us, sum (start_ps - ready_ps) / 1e6 AS wait_us,\n"
    "  sum (exposed_ps) / 1e6 AS exposed_us,\n"
    "  sum (algbw_bytes_per_s * (end_ps - start_ps)) / nullif (sum (end_ps - start_ps), 0) / 1e9\n"
    "    AS algbw_gb_per_s,\n"
    "  sum (busbw_bytes_per_s * (end_ps - start_ps)) / nullif (sum (end_ps - start_ps), 0) / 1e9\n"
    "    AS busbw_gb_per_s\n"
    "FROM collective GROUP BY run_id, op, name;\n"
    "CREATE VIEW v_binding AS\n"
    "SELECT c.run_id, c.binding_link AS link, l.from_vertex, l.to_vertex, l.spec,\n"
    "  count (*) AS n_collectives,\n"
    "  sum (c.end_ps - c.start_ps) / 1e6 AS time_us, sum (c.exposed_ps) / 1e6 AS exposed_us,\n"
    "  100.0 * sum (c.end_ps - c.start_ps) / nullif (a.time_ps, 0) AS time_pct_of_collectives\n"
    "FROM collective AS c\n"
    "JOIN (SELECT run_id, sum (end_ps - start_ps) AS time_ps FROM collective GROUP BY run_id) AS a\n"
    "  USING (run_id)\n"
    "LEFT JOIN link AS l ON l.run_id = c.run_id AND l.link = c.binding_link\n"
    "GROUP BY c.run_id, c.binding_link;\n";

static const char pace_view[] =
    "CREATE VIEW v_pace AS\n"
    "SELECT p.run_id, p.binding_link, l.from_vertex AS binding_from, l.to_vertex AS binding_to,\n"
    "  l.spec AS binding_link_spec{p.pace s}\n"
    "FROM pace AS p JOIN link AS l ON l.run_id = p.run_id AND l.link = p.binding_link;\n";

static const char link_views[] =
    "CREATE VIEW v_link_busy AS -- busy_place 1: the busiest of its iteration\n"
    "SELECT b.run_id, b.iteration, rank () OVER (PARTITION BY b.run_id, b.iteration\n"
    "    ORDER BY b.busy_fraction DESC) AS busy_place,\n"
    "  b.link, l.from_vertex, l.to_vertex, l.spec, l.n_parallel,\n"
    "  l.line_rate_bytes_per_s / 1e9 AS line_rate_gb_per_s, b.bytes,\n"
    "  b.bytes * 1e3 / nullif (i.step_ps, 0) AS payload_gb_per_s, 100.0 * b.busy_fraction AS busy_pct\n"
    "FROM link_load AS b JOIN link AS l USING (run_id, link) JOIN iteration AS i USING (run_id, iteration);\n"
    "CREATE VIEW v_timeline AS\n"
    "SELECT s.run_id, s.iteration, s.rank_class, k.first_rank, k.n_ranks, s.stream, s.kind, s.name,\n"
    "  s.start_ps / 1e6 AS start_us, (s.end_ps - s.start_ps) / 1e6 AS duration_us,\n"
    "  s.collective, c.op, c.bytes, s.span\n"
    "FROM span AS s JOIN rank_class AS k USING (run_id, rank_class)\n"
    "LEFT JOIN collective AS c\n"
    "  ON c.run_id = s.run_id AND c.iteration = s.iteration AND c.collective = s.collective;\n";

static const char why_views[] =
    "CREATE VIEW v_exposure AS\n"
    "SELECT e.run_id, e.iteration, e.rank_class, k.name AS class_name, k.n_ranks, e.dimension, e.op,\n"
    "  e.n_collectives, e.bytes, e.comm_ps / 1e6 AS comm_us, e.exposed_ps / 1e6 AS exposed_us,\n"
    "  100.0 * e.exposed_ps / nullif (i.step_ps, 0) AS exposed_pct_of_step,\n"
    "  100.0 * e.exposed_ps / nullif (e.comm_ps, 0) AS exposed_pct_of_comm,\n"
    "  e.exposed_inter_node_ps / 1e6 AS exposed_inter_node_us, e.waiting_ps / 1e6 AS waiting_us{e.exposure us}\n"
    "FROM exposure AS e JOIN rank_class AS k USING (run_id, rank_class)\n"
    "JOIN iteration AS i USING (run_id, iteration);\n"
    "CREATE VIEW v_critical_path AS -- what the step consists of: adds up to it\n"
    "SELECT p.run_id, p.iteration, p.kind, c.dimension, p.binding_link AS link, l.from_vertex, l.to_vertex,\n"
    "  l.spec, count (*) AS n_spans, sum (p.end_ps - p.start_ps) / 1e6 AS time_us,\n"
    "  100.0 * sum (p.end_ps - p.start_ps) / i.step_ps AS pct_of_step\n"
    "FROM critical_path AS p JOIN iteration AS i USING (run_id, iteration)\n"
    "LEFT JOIN collective AS c\n"
    "  ON c.run_id = p.run_id AND c.iteration = p.iteration AND c.collective = p.collective\n"
    "LEFT JOIN link AS l ON l.run_id = p.run_id AND l.link = p.binding_link\n"
    "GROUP BY p.run_id, p.iteration, p.kind, c.dimension, p.binding_link;\n"
    "CREATE VIEW v_memory AS\n"
    "SELECT m.run_id, m.rank_class, k.name AS class_name, k.n_ranks, m.part, m.bytes / 1e9 AS gb,\n"
    "  100.0 * m.bytes / nullif (r.memory_bytes, 0) AS pct_of_memory\n"
    "FROM memory AS m JOIN rank_class AS k USING (run_id, rank_class) JOIN run AS r USING (run_id);\n";

static const char sweep_views[] =
    "CREATE VIEW v_sweep AS\n"
    "SELECT s.sweep_id, s.name, s.summary,\n"
    "  (SELECT group_concat (key, ' x ') FROM (SELECT key FROM sweep_axis AS a\n"
    "    WHERE a.sweep_id = s.sweep_id ORDER BY axis)) AS keys,\n"
    "  s.n_points, count (p.point) AS n_done, count (p.problem) AS n_problems, s.version\n"
    "FROM sweep AS s LEFT JOIN sweep_point AS p USING (sweep_id) GROUP BY s.sweep_id;\n"
    "CREATE VIEW v_sweep_point AS\n"
    "SELECT sweep_id, point, settings, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s,\n"
    "  100.0 * exposed_s / nullif (step_s, 0) AS exposed_pct, 100.0 * mfu_fraction AS mfu_pct, tokens_per_s,\n"
    "  train_s / 86400 AS train_days, memory_bytes / 1e9 AS memory_gb, memory_max_bytes / 1e9 AS memory_max_gb,\n"
    "  n_ranks, n_nodes, binding_link, binding_link_spec, 100.0 * binding_fraction AS binding_pct, capex_usd,\n"
    "  network_usd, power_watts, network_watts, usd_per_hour, usd_per_step, usd_per_million_tokens, train_usd,\n"
    "  step_joules / 3.6e6 AS step_kwh, train_joules / 3.6e6 AS train_kwh, waiting_s,\n"
    "  exposed_inter_node_s, exposed_data_s, exposed_tensor_s, exposed_context_s, exposed_expert_s,\n"
    "  exposed_pipeline_s, exposed_offload_s, exposed_other_s, n_seeds, seed_steps, seed_exposed,\n"
    "  global_batch, problem, verdict{p.sweep_point s}\n"
    "FROM sweep_point AS p;\n";

static const char *const views[] = { step_views, collective_views, pace_view, link_views,
                                     why_views,  sweep_views,      NULL };

/* --- what a view shows by itself --- */

/* "{i.iteration s}" */
typedef struct {
  char *alias, *unit;
  const FabRecordTable *table;
} Rest;

static const FabRecordTable *
find_table (const char *name)
{
  for (guint i = 0; i < FAB_N_TABLES; i++)
    if (strcmp (fab_record_tables[i].name, name) == 0)
      return &fab_record_tables[i];
  g_assert_not_reached ();
}

/* Reads what stands between the braces. */
static void
rest_init (Rest *self, const char *text, gsize size)
{
  g_autofree char *copy = g_strndup (text, size);
  g_auto (GStrv) words = g_strsplit_set (copy, ". ", 3);

  *self = (Rest){ g_strdup (words[0]), g_strdup (words[2]), find_table (words[1]) };
}

static void
rest_clear (Rest *self)
{
  g_free (self->alias);
  g_free (self->unit);
}

/* The name of a column in the view: "waiting_ps" is "waiting_us". (transfer full) */
static char *
name_in_view (const Rest *self, const FabColumn *column)
{
  return fab_column_is_time (column)
           ? g_strdup_printf ("%.*s%s", (gint) (strlen (column->name) - strlen ("ps")), column->name,
                              self->unit)
           : g_strdup (column->name);
}

static gboolean
does_name (const char *view, const char *column)
{
  g_autofree char *pattern = g_strdup_printf ("\\b%s\\b", column);

  return g_regex_match_simple (pattern, view, 0, 0);
}

/* Appends the columns as the view defines them, or the names in it of those that are numbers. */
static void
append_rest (GString *sql, const char *view, const Rest *self, gboolean only_names)
{
  const FabColumn *end = self->table->columns + self->table->n_columns;
  const char *divisor = strcmp (self->unit, "s") == 0 ? "1e12" : "1e6";

  for (const FabColumn *column = self->table->columns; column < end; column++) {
    g_autofree char *name = name_in_view (self, column);

    if (column->is_place || does_name (view, column->name) || (only_names && column->kind == FAB_COLUMN_TEXT))
      continue;
    if (only_names)
      g_string_append_printf (sql, ", %s", name);
    else if (fab_column_is_time (column))
      g_string_append_printf (sql, ",\n  %s.%s / %s AS %s", self->alias, column->name, divisor, name);
    else
      g_string_append_printf (sql, ",\n  %s.%s", self->alias, name);
  }
}

/* Appends one view with its place filled in, or only what is filled in. */
static void
append_view (GString *sql, const char *view, gboolean only_rest)
{
  const char *begin = strchr (view, '{'), *end = begin != NULL ? strchr (begin, '}') : NULL;
  Rest rest;

  if (!only_rest)
    g_string_append_len (sql, view, begin != NULL ? begin - view : -1);
  if (begin == NULL)
    return;
  rest_init (&rest, begin + 1, (gsize) (end - begin - 1));
  append_rest (sql, view, &rest, only_rest);
  rest_clear (&rest);
  if (!only_rest)
    g_string_append (sql, end + 1);
}

static const char create[] = "CREATE VIEW ";

/* Calls append_view () for the view of this name; NULL: for all. */
static char *
collect (const char *name, gboolean only_rest)
{
  GString *sql = g_string_new (NULL);

  for (guint i = 0; views[i] != NULL; i++) {
    g_auto (GStrv) each = g_strsplit (views[i], create, -1);

    for (guint k = 1; each[k] != NULL; k++) {
      g_autofree char *view = g_strconcat (create, each[k], NULL);

      if (name == NULL || (g_str_has_prefix (each[k], name) && each[k][strlen (name)] == ' '))
        append_view (sql, view, only_rest);
    }
  }
  return g_string_free (sql, FALSE);
}

char *
fab_store_views (void)
{
  return collect (NULL, FALSE);
}

char *
fab_store_view_rest (const char *view)
{
  return collect (view, TRUE);
}

/* --- the version --- */

guint
fab_store_schema_version (void)
{
  return VERSION;
}
