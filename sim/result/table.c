/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - prints a query's result as text, CSV and JSON.
 *
 * JSON has a row per line, with reals in the fewest digits that read back, where a FabJson has 17 (0.1 would be
 * 0.10000000000000001); tests/unit/sim/result/test_store.c reads it back with json-glib. Numbers are formatted with
 * the g_ascii functions, which ignore the decimal comma of a locale.
 */
#include "sim/result/table.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/result/store.h"

#define TEXT_DIGITS 6 /* significant digits of the largest value in a column of reals */
#define TEXT_GAP "\v  "

typedef struct {
  gboolean is_numeric;
  gboolean is_fixed; /* reals share `decimals`, so that their points are aligned */
  gint decimals;
  glong width;
} Column;

void
fab_table_free (FabTable *self)
{
  if (self == NULL)
    return;
  for (gsize i = 0; i < self->n_cells; i++)
    g_free (self->cells[i].text);
  g_free (self->cells);
  g_strfreev (self->columns);
  g_free (self);
}

const FabCell *
fab_table_cell (const FabTable *self, guint row, guint column)
{
  g_assert (row < self->n_rows && column < self->n_columns);
  return &self->cells[(gsize) row * self->n_columns + column];
}

gint
fab_table_find_column (const FabTable *self, const char *name)
{
  for (guint i = 0; i < self->n_columns; i++)
    if (strcmp (self->columns[i], name) == 0)
      return (gint) i;
  return -1;
}

/* Text */

static gboolean
is_plain (const char *text)
{
  while (g_ascii_isprint (*text))
    text++;
  return *text == '\0';
}

/* Returns one line without what a terminal would execute. Line ends and tabs, which texts have, are spelt shorter. */
static char *
printable (const char *text)
{
  if (is_plain (text))
    return g_strdup (text);
  g_autofree char *escaped = fab_printable_lines (text);
  g_autoptr (GString) out = g_string_new (escaped);
  g_string_replace (out, "\n", "\\n", 0);
  g_string_replace (out, "\t", "\\t", 0);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static char *
cell_text (const FabCell *cell, const Column *column)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  char format[16];

  if (cell->kind == FAB_CELL_NULL)
    return g_strdup ("");
  if (cell->kind != FAB_CELL_REAL)
    return printable (cell->text);
  if (!isfinite (cell->real))
    return g_strdup (cell->text);
  if (column->is_fixed)
    g_snprintf (format, sizeof format, "%%.%df", column->decimals);
  else
    g_strlcpy (format, fabs (cell->real) >= 1e6 && fabs (cell->real) < 1e15 ? "%.0f" : "%.6g", sizeof format);
  return g_strdup (g_ascii_formatd (buffer, sizeof buffer, format, cell->real));
}

static void
measure_reals (const FabTable *self, guint index, Column *column)
{
  double largest = 0, smallest = G_MAXDOUBLE;

  for (guint row = 0; row < self->n_rows; row++) {
    const FabCell *cell = fab_table_cell (self, row, index);
    double size = cell->kind == FAB_CELL_REAL ? fabs (cell->real) : 0;

    if (!isfinite (size) || size == 0)
      continue;
    largest = MAX (largest, size);
    smallest = MIN (smallest, size);
  }
  column->is_fixed = largest == 0 || (largest >= 1e-6 && largest < 1e15 && largest / smallest < 1e4);
  column->decimals = largest > 0 ? CLAMP (TEXT_DIGITS - 1 - (gint) floor (log10 (largest)), 0, 11) : 1;
}

static Column
measure_column (const FabTable *self, guint index)
{
  g_autofree char *name = printable (self->columns[index]);
  Column column = { .is_numeric = TRUE, .width = g_utf8_strlen (name, -1) };

  measure_reals (self, index, &column);
  for (guint row = 0; row < self->n_rows; row++) {
    const FabCell *cell = fab_table_cell (self, row, index);
    g_autofree char *text = cell_text (cell, &column);

    column.is_numeric = column.is_numeric && cell->kind != FAB_CELL_TEXT;
    column.width = MAX (column.width, g_utf8_strlen (text, -1));
  }
  return column;
}

static void
append_padded (GString *out, const char *text, const Column *column, gboolean is_last)
{
  gint pad = (gint) (column->width - g_utf8_strlen (text, -1));

  if (column->is_numeric)
    g_string_append_printf (out, "%*s%s", pad, "", text);
  else
    g_string_append_printf (out, "%s%*s", text, pad, "");
  if (is_last)
    while (out->len > 0 && strchr (" \v", out->str[out->len - 1]) != NULL)
      g_string_truncate (out, out->len - 1);
  g_string_append (out, is_last ? "\n" : TEXT_GAP);
}

static gboolean
is_document (const FabTable *self)
{
  return self->n_rows == 1 && self->n_columns == 1 && self->cells[0].kind == FAB_CELL_TEXT
      && strchr (self->cells[0].text, '\n') != NULL;
}

char *
fab_table_to_text (const FabTable *self)
{
  g_autofree Column *columns = g_new0 (Column, self->n_columns);
  GString *out = g_string_new (NULL);

  if (is_document (self)) {
    g_string_free (out, TRUE);
    return fab_printable_lines (self->cells[0].text);
  }
  for (guint i = 0; i < self->n_columns; i++) {
    g_autofree char *name = printable (self->columns[i]);

    columns[i] = measure_column (self, i);
    append_padded (out, name, &columns[i], i + 1 == self->n_columns);
  }
  for (guint row = 0; row < self->n_rows; row++)
    for (guint i = 0; i < self->n_columns; i++) {
      g_autofree char *text = cell_text (fab_table_cell (self, row, i), &columns[i]);

      append_padded (out, text, &columns[i], i + 1 == self->n_columns);
    }
  return g_string_free (out, FALSE);
}

/* CSV */

static void
append_csv (GString *out, const char *text, gboolean is_last)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  if (*valid != '\0' && strpbrk (valid, ",\"\r\n") == NULL) {
    g_string_append (out, valid);
  } else {
    g_auto (GStrv) parts = g_strsplit (valid, "\"", -1);
    g_autofree char *doubled = g_strjoinv ("\"\"", parts);

    g_string_append_printf (out, "\"%s\"", doubled);
  }
  g_string_append (out, is_last ? "\n" : ",");
}

char *
fab_table_to_csv (const FabTable *self)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < self->n_columns; i++)
    append_csv (out, self->columns[i], i + 1 == self->n_columns);
  for (guint row = 0; row < self->n_rows; row++)
    for (guint i = 0; i < self->n_columns; i++) {
      const FabCell *cell = fab_table_cell (self, row, i);
      gboolean is_last = i + 1 == self->n_columns;

      if (cell->kind == FAB_CELL_NULL)
        g_string_append (out, is_last ? "\n" : ",");
      else
        append_csv (out, cell->text, is_last);
    }
  return g_string_free (out, FALSE);
}

/* JSON */

static void
append_json_cell (GString *out, const FabCell *cell)
{
  if (cell->kind == FAB_CELL_NULL || (cell->kind == FAB_CELL_REAL && !isfinite (cell->real)))
    g_string_append (out, "null");
  else if (cell->kind == FAB_CELL_TEXT)
    fab_json_append_text (out, cell->text);
  else
    g_string_append (out, cell->text);
}

char *
fab_table_to_json (const FabTable *self)
{
  GString *out = g_string_new ("[");

  for (guint row = 0; row < self->n_rows; row++) {
    g_string_append (out, row == 0 ? "\n{" : ",\n{");
    for (guint i = 0; i < self->n_columns; i++) {
      g_string_append (out, i == 0 ? "" : ", ");
      fab_json_append_text (out, self->columns[i]);
      g_string_append (out, ": ");
      append_json_cell (out, fab_table_cell (self, row, i));
    }
    g_string_append_c (out, '}');
  }
  g_string_append (out, self->n_rows > 0 ? "\n]\n" : "]\n");
  return g_string_free (out, FALSE);
}

/* Builds a table cell by cell. */

FabTable *
fab_table_new (const char *const *columns)
{
  FabTable *self = g_new0 (FabTable, 1);

  self->columns = g_strdupv ((char **) columns);
  self->n_columns = g_strv_length (self->columns);
  return self;
}

static char *
shortest_real (double real)
{
  static const char *const formats[] = { "%.15g", "%.16g", "%.17g" };
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (g_ascii_strtod (g_ascii_formatd (buffer, sizeof buffer, formats[i], real), NULL) == real)
      break;
  return g_strdup (buffer);
}

/* The array doubles when it is full, which happens at powers of two. */
static void
add_cell (FabTable *self, FabCell cell)
{
  gsize n = self->n_cells;

  if ((n & (n - 1)) == 0)
    self->cells = g_renew (FabCell, self->cells, MAX (2 * n, 1));
  self->cells[self->n_cells++] = cell;
  if (self->n_cells % self->n_columns == 0)
    self->n_rows++;
}

void
fab_table_add_null (FabTable *self)
{
  add_cell (self, (FabCell){ FAB_CELL_NULL, 0, 0, NULL });
}

void
fab_table_add_integer (FabTable *self, gint64 value)
{
  char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  add_cell (self, (FabCell){ FAB_CELL_INTEGER, value, (double) value, text });
}

void
fab_table_add_real (FabTable *self, double value)
{
  add_cell (self, (FabCell){ FAB_CELL_REAL, 0, value, shortest_real (value) });
}

void
fab_table_add_text (FabTable *self, const char *value)
{
  if (value == NULL)
    fab_table_add_null (self);
  else
    add_cell (self, (FabCell){ FAB_CELL_TEXT, 0, 0, g_strdup (value) });
}

/* The named queries: `fabricast query NAME`.
 *
 * Each is one statement over the views of schema.c with :run bound. It is ordered, so that the same run always prints
 * the same lines. A new query is one row here and one in docs/reference/results-schema.md.
 */

const FabQuery fab_queries[] = {
  { "runs", "Every run in the file, with its mean step.",
    "SELECT r.run_id, r.name, r.fidelity, r.n_ranks, r.n_nodes, r.seed,"
    " count (v.iteration) AS n_iterations, avg (v.step_s) AS mean_step_s,"
    " avg (v.exposed_pct) AS mean_exposed_pct, avg (v.mfu_pct) AS mean_mfu_pct, r.version"
    " FROM run AS r LEFT JOIN v_step AS v USING (run_id) GROUP BY r.run_id ORDER BY r.run_id" },
  { "scenario", "The resolved scenario. Simulating it again gives the same run.",
    "SELECT scenario_yaml FROM run WHERE run_id = :run" },
  { "iterations", "Compute, communication and exposed communication of every iteration.",
    "SELECT iteration, step_s, compute_s, comm_s, overlapped_s, exposed_s, idle_s, exposed_pct, mfu_pct,"
    " hfu_pct, tokens_per_s FROM v_step WHERE run_id = :run ORDER BY iteration" },
  { "exposed", "Exposed communication per iteration, as a share of the step and of all communication.",
    "SELECT iteration, step_s, comm_s, exposed_s, exposed_pct_of_step, exposed_pct_of_comm"
    " FROM v_exposed WHERE run_id = :run ORDER BY iteration" },
  { "overlap", "The temporal breakdown of each class of ranks, in the terms of Holistic Trace Analysis.",
    "SELECT iteration, rank_class, first_rank, n_ranks, comp_comm_overlap_pctg, compute_time_pctg,"
    " non_compute_time_pctg, idle_time_pctg"
    " FROM v_overlap WHERE run_id = :run ORDER BY iteration, rank_class" },
  { "classes", "The time of each class of ranks by activity, mean over iterations.",
    "SELECT v.rank_class, k.name, v.first_rank, v.n_ranks, avg (kernel_time_us) AS step_us,"
    " avg (compute_time_us) AS compute_us, avg (non_compute_time_us) AS exposed_us,"
    " avg (idle_time_us) AS idle_us, avg (idle_time_pctg) AS idle_pct"
    " FROM v_overlap AS v JOIN rank_class AS k USING (run_id, rank_class) WHERE run_id = :run"
    " GROUP BY v.rank_class, k.name, v.first_rank, v.n_ranks ORDER BY v.rank_class" },
  { "exposure", "Exposed communication of each class of ranks, by dimension of parallelism and operation.",
    "SELECT iteration, rank_class, class_name, n_ranks, dimension, op, n_collectives, bytes, comm_us, exposed_us,"
    " exposed_pct_of_step, exposed_pct_of_comm FROM v_exposure WHERE run_id = :run"
    " ORDER BY iteration, rank_class, exposed_us DESC, dimension, op" },
  { "critical-path", "The parts of the step: compute, loading, communication by dimension and link.",
    "SELECT iteration, kind, dimension, link, from_vertex, to_vertex, spec, n_spans, time_us, pct_of_step"
    " FROM v_critical_path WHERE run_id = :run ORDER BY iteration, time_us DESC, kind, dimension, link" },
  { "memory", "The contents of the memory of a GPU of each class.",
    "SELECT rank_class, class_name, n_ranks, part, gb, pct_of_memory FROM v_memory"
    " WHERE run_id = :run ORDER BY rank_class, gb DESC, part" },
  { "verdict",
    "The findings of the verdict: facts to know before quoting a figure of the run "
    "(docs/reference/verdict.md).",
    "SELECT code, severity, text, advice FROM finding WHERE run_id = :run ORDER BY place" },
  { "memo", "How much of the network's work was simulated, and how much was remembered.",
    "SELECT n_collectives, n_collectives_remembered, n_episodes, n_episodes_remembered, n_replays, n_events,"
    " n_skipped FROM memo"
    " WHERE run_id = :run" },
  { "band", "The bands of the step and its exposed communication, and their largest source.",
    "SELECT iteration, figure, low_s, high_s, coverage_fraction, reason FROM band WHERE run_id = :run"
    " ORDER BY iteration, figure DESC" },
  { "collectives", "Every collective: size, waiting, time, exposed time, bandwidth, slowest link.",
    "SELECT iteration, collective, name, op, dimension, algorithm, protocol, n_channels, n_ranks, bytes, wait_us,"
    " time_us, exposed_us, algbw_gb_per_s, busbw_gb_per_s, binding_from, binding_to"
    " FROM v_collective WHERE run_id = :run ORDER BY iteration, collective" },
  { "collective-totals",
    "Collectives added up by operation and name over the run. Several run at once, so the sums may "
    "exceed its time.",
    "SELECT op, name, n_collectives, bytes, wait_us, time_us, exposed_us, algbw_gb_per_s, busbw_gb_per_s"
    " FROM v_collective_total WHERE run_id = :run ORDER BY time_us DESC, op, name" },
  { "links", "Links that carried traffic, the busiest first: payload, mean and peak busy share.",
    "SELECT b.link, l.from_vertex, l.to_vertex, l.spec, l.n_parallel,"
    " l.line_rate_bytes_per_s / 1e9 AS line_rate_gb_per_s, sum (b.bytes) AS bytes,"
    " 100.0 * sum (b.busy_fraction * i.duration_ps) / nullif (a.duration_ps, 0) AS mean_busy_pct,"
    " 100.0 * max (b.busy_fraction) AS peak_busy_pct"
    " FROM link_load AS b JOIN iteration AS i USING (run_id, iteration) JOIN link AS l USING (run_id, link),"
    " (SELECT sum (duration_ps) AS duration_ps FROM iteration WHERE run_id = :run) AS a"
    " WHERE b.run_id = :run GROUP BY b.link ORDER BY mean_busy_pct DESC, b.link" },
  { "queues", "Links that packets reached, the longest queue first: queue, stalls, marks, pauses, losses.",
    "SELECT q.link, l.from_vertex, l.to_vertex, l.spec, q.carried_bytes, q.most_queue_bytes, q.mean_queue_bytes,"
    " q.n_stalls, q.n_marks, q.n_pauses, q.n_drops"
    " FROM link_queue AS q JOIN link AS l USING (run_id, link) WHERE q.run_id = :run"
    " ORDER BY q.most_queue_bytes DESC, q.mean_queue_bytes DESC, q.link" },
  { "binding", "The slowest links of collectives, each with the time of those collectives.",
    "SELECT link, from_vertex, to_vertex, spec, n_collectives, time_us, exposed_us, time_pct_of_collectives"
    " FROM v_binding WHERE run_id = :run ORDER BY time_us DESC, link" },
  { "timeline", "Every task on every stream of every class of ranks, in order of start.",
    "SELECT iteration, rank_class, first_rank, n_ranks, stream, kind, name, start_us, duration_us, op, bytes"
    " FROM v_timeline WHERE run_id = :run ORDER BY start_us, rank_class, stream, span" },
  { "sweeps", "Every sweep in the file: the keys it varies and the number of points done.",
    "SELECT sweep_id, name, keys, n_points, n_done, n_problems, version FROM v_sweep ORDER BY sweep_id" },
  { "sweep", "Every point of a sweep.",
    "SELECT point, settings, step_s, exposed_s, exposed_pct, mfu_pct, tokens_per_s, train_days, memory_gb, n_ranks,"
    " binding, binding_spec, binding_pct, capex_usd, power_watts, usd_per_step, usd_per_million_tokens, train_usd,"
    " problem FROM v_sweep_point WHERE sweep_id = :sweep ORDER BY point" },
  { "sweep-best", "The ten points of a sweep with the most tokens per second, or the shortest step.",
    "SELECT point, settings, step_s, exposed_pct, mfu_pct, tokens_per_s, memory_gb, usd_per_million_tokens,"
    " binding_spec FROM v_sweep_point"
    " WHERE sweep_id = :sweep AND problem IS NULL"
    " ORDER BY tokens_per_s DESC NULLS LAST, step_s, point LIMIT 10" },
  { "sweep-problems", "The points of a sweep that cannot be simulated, and why.",
    "SELECT point, settings, problem FROM v_sweep_point WHERE sweep_id = :sweep AND problem IS NOT NULL"
    " ORDER BY point" },
  { NULL, NULL, NULL },
};

const FabQuery *
fab_query_find (const char *name)
{
  for (const FabQuery *query = fab_queries; query->name != NULL; query++)
    if (strcmp (query->name, name) == 0)
      return query;
  return NULL;
}
