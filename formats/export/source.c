/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - what the trace of a run is made of, read from a results file. */
#include <string.h>

#include "formats/export/trace.h"
#include "sim/base/error.h"

/* Head */

static gboolean
take_run (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  FabTraceSource *self = data;

  self->name = g_strdup (fields[0].text);
  self->version = g_strdup (fields[1].text);
  self->n_ranks = (guint) fields[2].integer;
  self->n_nodes = (guint) fields[3].integer;
  return TRUE;
}

static gboolean
take_class (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  FabTraceSource *self = data;
  FabTraceClass added = { (guint) fields[0].integer, (guint) fields[1].integer, (guint) fields[2].integer,
                          g_strdup (fields[3].text) };

  g_array_append_val (self->classes, added);
  return TRUE;
}

typedef struct {
  gint64 first, last, start_ps, end_ps;
} Range;

static gboolean
take_range (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  *(Range *) data = (Range){ fields[0].integer, fields[1].integer, fields[2].integer, fields[3].integer };
  return TRUE;
}

static const char range_sql[] =
    "SELECT coalesce (min (iteration), 0), coalesce (max (iteration), -1), min (start_ps),"
    " max (start_ps + step_ps) FROM iteration WHERE run_id = :run";

static gboolean
find_range (FabTraceSource *self, gint64 first, gint64 last, GError **error)
{
  g_autofree char *sql = g_strdup_printf ("%s AND iteration BETWEEN %" G_GINT64_FORMAT
                                          " AND %" G_GINT64_FORMAT,
                                          range_sql, first, last);
  Range all = { 0 }, range = { 0 };

  if (!fab_store_each (self->store, range_sql, self->run_id, take_range, &all, error))
    return FALSE;
  if (all.last < all.first)
    return fab_throw (error, FAB_ERROR_INPUT, "run %" G_GINT64_FORMAT " in %s has no iteration", self->run_id,
                      self->db);
  if (first >= 0 && (first < all.first || last > all.last))
    return fab_throw (error, FAB_ERROR_INPUT,
                      "no iteration %" G_GINT64_FORMAT " in run %" G_GINT64_FORMAT
                      " of %s; they are %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                      first < all.first || first > all.last ? first : last, self->run_id, self->db, all.first,
                      all.last);
  if (first >= 0 && !fab_store_each (self->store, sql, self->run_id, take_range, &range, error))
    return FALSE;
  if (first < 0)
    range = all;
  self->first = range.first;
  self->last = range.last;
  self->start_ps = range.start_ps;
  self->end_ps = range.end_ps;
  return TRUE;
}

static void
clear_class (gpointer data)
{
  g_free (((FabTraceClass *) data)->name);
}

gboolean
fab_trace_source_open (FabTraceSource *self, const char *db, gint64 run_id, gint64 first, gint64 last,
                       GError **error)
{
  g_autofree char *sql = NULL;
  gboolean has_names;

  *self = (FabTraceSource){ .db = db, .classes = g_array_new (FALSE, TRUE, sizeof (FabTraceClass)) };
  g_array_set_clear_func (self->classes, clear_class);
  self->store = fab_store_open (db, FAB_STORE_READ, error);
  if (self->store == NULL || !fab_store_find_run (self->store, run_id, &self->run_id, error)
      || !fab_store_each (self->store, "SELECT name, version, n_ranks, n_nodes FROM run WHERE run_id = :run",
                          self->run_id, take_run, self, error)
      || !fab_store_has (self->store, "rank_class", "name", &has_names, error))
    return FALSE;
  sql = g_strdup_printf ("SELECT rank_class, first_rank, n_ranks, %s FROM rank_class WHERE run_id = :run"
                         " ORDER BY rank_class",
                         has_names ? "name" : "NULL");
  return fab_store_each (self->store, sql, self->run_id, take_class, self, error)
      && find_range (self, first, last, error);
}

void
fab_trace_source_clear (FabTraceSource *self)
{
  g_clear_pointer (&self->store, fab_store_free);
  g_clear_pointer (&self->classes, g_array_unref);
  g_clear_pointer (&self->name, g_free);
  g_clear_pointer (&self->version, g_free);
}

/* Spans */

/* Whom rows are handed to: one of the two is set. */
typedef struct {
  FabTraceSpanFunc on_span;
  FabTraceIterationFunc on_iteration;
  gpointer data;
} RowReader;

static gboolean
take_span (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  const RowReader *reader = data;
  FabTraceSpan span = {
    .iteration = (guint) fields[0].integer,
    .rank_class = (guint) fields[1].integer,
    .kind = fields[2].text,
    .stream = fields[3].text,
    .name = fields[4].text,
    .start_ps = fields[5].integer,
    .end_ps = fields[6].integer,
    .collective = fields[7].kind == FAB_CELL_NULL ? -1 : fields[7].integer,
    .op = fields[8].text,
    .algorithm = fields[9].text,
    .protocol = fields[10].text,
    .n_channels = fields[11].integer,
    .n_ranks = fields[12].integer,
    .bytes = fields[13].integer,
    .wait_ps = fields[14].integer,
    .exposed_ps = fields[15].integer,
    .algbw_bytes_per_s = fields[16].real,
    .busbw_bytes_per_s = fields[17].real,
    .binding_link = fields[18].text,
    .dimension = fields[19].text,
  };

  reader->on_span (&span, reader->data);
  return TRUE;
}

/* A span that takes no time lies on no side of a border: there its iteration decides. The rows of a run lie in the
 * order of span, so that ordering costs nothing. */
static const char span_sql[] =
    "SELECT s.iteration, s.rank_class, s.kind, s.stream, s.name, s.start_ps, s.end_ps, s.collective,"
    " c.op, c.algorithm, c.protocol, c.n_channels, c.n_ranks, c.bytes, c.start_ps - c.ready_ps, c.exposed_ps,"
    " c.algbw_bytes_per_s, c.busbw_bytes_per_s, l.from_vertex || ' -> ' || l.to_vertex || ' (' || l.spec || ')',"
    " %s "
    "FROM span AS s LEFT JOIN collective AS c"
    " ON c.run_id = s.run_id AND c.iteration = s.iteration AND c.collective = s.collective "
    "LEFT JOIN link AS l ON l.run_id = c.run_id AND l.link = c.binding_link "
    "WHERE s.run_id = :run AND CASE WHEN s.end_ps > s.start_ps"
    " THEN s.start_ps < %" G_GINT64_FORMAT " AND s.end_ps > %" G_GINT64_FORMAT
    " ELSE s.iteration BETWEEN %" G_GINT64_FORMAT " AND %" G_GINT64_FORMAT " END"
    " AND (%" G_GINT64_FORMAT " < 0 OR s.rank_class = %" G_GINT64_FORMAT ") ORDER BY s.span";

gboolean
fab_trace_each_span (const FabTraceSource *self, gint64 rank_class, FabTraceSpanFunc on_span, gpointer data,
                     GError **error)
{
  RowReader reader = { .on_span = on_span, .data = data };
  gboolean has_dimension;

  if (!fab_store_has (self->store, "collective", "dimension", &has_dimension, error))
    return FALSE;
  g_autofree char *sql = g_strdup_printf (span_sql, has_dimension ? "c.dimension" : "NULL", self->end_ps,
                                          self->start_ps, self->first, self->last, rank_class, rank_class);
  return fab_store_each (self->store, sql, self->run_id, take_span, &reader, error);
}

/* Iterations */

static gboolean
take_iteration (const FabField *fields, gpointer data, G_GNUC_UNUSED GError **error)
{
  const RowReader *reader = data;
  FabIterationRecord times = {
    .iteration = (guint) fields[0].integer,
    .rank_class = (guint) fields[1].integer,
    .start_ps = fields[2].integer,
    .duration_ps = fields[3].integer,
    .compute_ps = fields[4].integer,
    .comm_ps = fields[5].integer,
    .overlapped_ps = fields[6].integer,
    .exposed_ps = fields[7].integer,
    .idle_ps = fields[8].integer,
  };

  reader->on_iteration (&times, reader->data);
  return TRUE;
}

gboolean
fab_trace_each_iteration (const FabTraceSource *self, gint64 rank_class, FabTraceIterationFunc on_iteration,
                          gpointer data, GError **error)
{
  RowReader reader = { .on_iteration = on_iteration, .data = data };
  g_autofree char *sql = g_strdup_printf (
      "SELECT iteration, rank_class, start_ps, step_ps, compute_ps, comm_ps, overlapped_ps, exposed_ps, idle_ps"
      " FROM iteration_class WHERE run_id = :run AND iteration BETWEEN %" G_GINT64_FORMAT
      " AND %" G_GINT64_FORMAT " AND (%" G_GINT64_FORMAT " < 0 OR rank_class = %" G_GINT64_FORMAT
      ") ORDER BY iteration, rank_class",
      self->first, self->last, rank_class, rank_class);

  return fab_store_each (self->store, sql, self->run_id, take_iteration, &reader, error);
}

/* Of which ranks files are written. */

/* Classes that follow each other without a gap: then first rank and size say of which class any rank is. */
static gboolean
are_tiled (const GArray *classes, guint n_ranks)
{
  guint n_tiled = 0;

  for (guint i = 0; i < classes->len; i++) {
    const FabTraceClass *class = &g_array_index (classes, FabTraceClass, i);

    if (class->first_rank != n_tiled)
      return FALSE;
    n_tiled += class->n_ranks;
  }
  return n_tiled == n_ranks;
}

static const FabTraceClass *
class_of (const FabTraceSource *source, guint rank)
{
  gboolean is_tiled = are_tiled (source->classes, source->n_ranks);

  for (guint i = 0; i < source->classes->len; i++) {
    const FabTraceClass *class = &g_array_index (source->classes, FabTraceClass, i);

    if (rank == class->first_rank
        || (is_tiled && rank > class->first_rank && rank - class->first_rank < class->n_ranks))
      return class;
  }
  return NULL;
}

static gboolean
add_rank (const FabTraceSource *source, GArray *ranks, guint rank, GError **error)
{
  const FabTraceClass *class = class_of (source, rank);
  FabTraceRank added = { rank, class ? class->rank_class : 0 };

  if (rank >= source->n_ranks)
    return fab_throw (error, FAB_ERROR_INPUT, "--ranks: no rank %u; they are 0 to %u", rank,
                      source->n_ranks - 1);
  if (class == NULL)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "--ranks: %s does not tell of which class rank %u is; leave --ranks out for the first rank of"
        " every class",
        source->db, rank);
  g_array_append_val (ranks, added);
  return TRUE;
}

GArray *
fab_trace_ranks (const FabTraceSource *source, const char *list, GError **error)
{
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (FabTraceRank));
  g_auto (GStrv) words = g_strsplit (list ? list : "", ",", -1);

  for (guint i = 0; list == NULL && i < source->classes->len; i++)
    if (!add_rank (source, ranks, g_array_index (source->classes, FabTraceClass, i).first_rank, error))
      return NULL;
  for (guint i = 0; list && words[i]; i++) {
    guint64 rank;

    if (!g_ascii_string_to_unsigned (words[i], 10, 0, G_MAXUINT, &rank, NULL)) {
      fab_throw (error, FAB_ERROR_INPUT, "--ranks '%s': expected numbers with commas, as 0,8", list);
      return NULL;
    }
    if (!add_rank (source, ranks, (guint) rank, error))
      return NULL;
  }
  if (ranks->len > 0)
    return g_steal_pointer (&ranks);
  fab_throw (error, FAB_ERROR_INPUT, "--ranks: expected numbers with commas, as 0,8");
  return NULL;
}

static gboolean
is_written (const GArray *ranks, const char *name)
{
  for (guint i = 0; i < ranks->len; i++) {
    g_autofree char *ours = g_strdup_printf ("rank-%u.json", g_array_index (ranks, FabTraceRank, i).rank);

    if (g_str_equal (ours, name))
      return TRUE;
  }
  return FALSE;
}

gboolean
fab_trace_ranks_alone (const GArray *ranks, const char *directory, GError **error)
{
  g_autoptr (GError) cause = NULL;
  g_autoptr (GDir) folder = g_dir_open (directory, 0, &cause);
  const char *name;

  if (folder == NULL)
    return fab_throw (error, FAB_ERROR_IO, "%s", cause->message);
  while ((name = g_dir_read_name (folder)) != NULL)
    if ((g_str_has_suffix (name, ".json") || g_str_has_suffix (name, ".gz")) && !is_written (ranks, name))
      return fab_throw (
          error, FAB_ERROR_INPUT,
          "%s holds %s, which readers of the folder would take for a rank of this run; choose another"
          " folder or remove it",
          directory, name);
  return TRUE;
}
