/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - the tables of a result, from the records of the run. */
#include <math.h>
#include <string.h>

#include "answer/explain/explain.h"
#include "lib/private.h"

/* `rows` may be NULL: none. */
static FabricastTable *
of_array (FabTableKind kind, const GArray *rows)
{
  return rows != NULL ? lib_table_of_records (kind, rows->data, rows->len)
                      : lib_table_of_records (kind, NULL, 0);
}

static FabricastTable *
iterations (const FabricastResult *self)
{
  return of_array (FAB_TABLE_STEP, self->run.steps);
}

static FabricastTable *
queues (const FabricastResult *self)
{
  return of_array (FAB_TABLE_LINK_QUEUE, self->run.reasons.queues);
}

static FabricastTable *
queue_lengths (const FabricastResult *self)
{
  g_autoptr (GArray) records = fab_simulation_queue_lengths (self->run.simulation);

  return of_array (FAB_TABLE_QUEUE_LENGTH, records);
}

static FabricastTable *
memory (const FabricastResult *self)
{
  return of_array (FAB_TABLE_MEMORY, fab_simulation_totals (self->run.simulation)->memory);
}

static FabricastTable *
classes (const FabricastResult *self)
{
  const FabDag *dag = fab_simulation_dag (self->run.simulation);

  return lib_table_of_records (FAB_TABLE_CLASS, dag->classes, dag->n_classes);
}

FabricastTable *
lib_table_of_links (const FabGraph *graph)
{
  FabricastTable *table = lib_table_of_records (FAB_TABLE_LINK, NULL, 0);

  for (FabLinkId id = 0; id < fab_graph_n_links (graph); id++) {
    const FabLink *link = fab_graph_link (graph, id);
    g_autofree char *from = fab_graph_vertex_name (graph, link->src),
                    *to = fab_graph_vertex_name (graph, link->dst);
    const FabLinkRecord record = { .link = id,
                                   .from = from,
                                   .to = to,
                                   .spec = fab_graph_link_class (graph, id)->name,
                                   .count = link->count,
                                   .line_rate_bytes_per_s = link->rate_bytes_per_s,
                                   .latency_ps = link->latency_ps };

    lib_table_append_records (table, 0, &fab_record_tables[FAB_TABLE_LINK], &record, 1);
  }
  return table;
}

static FabricastTable *
links (const FabricastResult *self)
{
  return lib_table_of_links (fab_simulation_cluster (self->run.simulation)->graph);
}

static FabricastTable *
findings (const FabricastResult *self)
{
  FabricastTable *table = lib_table_of_records (FAB_TABLE_FINDING, NULL, 0);

  for (guint i = 0; i < fab_verdict_n (self->run.verdict); i++) {
    const FabFinding *finding = fab_verdict_at (self->run.verdict, i);
    const FabFindingKind *kind = fab_finding_kind (finding);
    const FabFindingRecord record = { kind->name, fab_severity_names[kind->severity], finding->text,
                                      finding->advice };

    lib_table_append_records (table, 0, &fab_record_tables[FAB_TABLE_FINDING], &record, 1);
  }
  return table;
}

static FabricastTable *
bands (const FabricastResult *self)
{
  const FabBand *band = self->run.band;
  guint n = self->run.steps->len;
  FabricastTable *table = lib_table_of_records (FAB_TABLE_BAND, NULL, 0);

  for (guint i = 0; band != NULL && i < 2 * n; i++) {
    g_autofree char *most = fab_band_most (band, i);
    const FabBandRecord record = { i % n,         i < n ? "step" : "exposed", band->low[i],
                                   band->high[i], band->coverage_fraction,    most };

    lib_table_append_records (table, 0, &fab_record_tables[FAB_TABLE_BAND], &record, 1);
  }
  return table;
}

/* One row, or none where no link is crossed. */
static FabricastTable *
pace (const FabricastResult *self)
{
  return lib_table_of_records (FAB_TABLE_PACE, &self->run.pace,
                               self->run.pace.binding_link != FAB_NO_LINK ? 1 : 0);
}

static FabricastTable *
memo (const FabricastResult *self)
{
  FabMemoRecord record = fab_simulation_memo_record (self->run.simulation);

  return lib_table_of_records (FAB_TABLE_MEMO, &record, record.n_collectives > 0 ? 1 : 0);
}

static FabricastTable *
goodput (const FabricastResult *self)
{
  FabGoodputRecord record = fab_goodput_record (&self->run.goodput,
                                                fab_scenario_spec (self->scenario)->reliability.failures);

  return lib_table_of_records (FAB_TABLE_GOODPUT, &record, self->run.goodput.is_known ? 1 : 0);
}

static FabricastTable *
jobs (const FabricastResult *self)
{
  FabricastTable *table = lib_table_new ();
  guint name = lib_table_add (table, "name", FABRICAST_TEXT),
        nodes = lib_table_add (table, "nodes", FABRICAST_WHOLE),
        alone = lib_table_add (table, "alone_ps", FABRICAST_WHOLE),
        together = lib_table_add (table, "together_ps", FABRICAST_WHOLE),
        slow_down = lib_table_add (table, "slow_down", FABRICAST_REAL);

  for (guint i = 0; self->run.jobs != NULL && i < self->run.jobs->len; i++) {
    const FabRunJob *job = &g_array_index (self->run.jobs, FabRunJob, i);

    lib_table_text (table, name, job->name);
    lib_table_whole (table, nodes, job->n_nodes);
    lib_table_whole (table, alone, job->alone_ps);
    lib_table_whole (table, together, job->n_steps > 0 ? job->together_ps : G_MININT64);
    lib_table_real (table, slow_down, job->n_steps > 0 ? fab_run_slow_down (job) : NAN);
  }
  return table;
}

/* The tables that are an array of the probe have no function. */
#define OF_PROBE(kind_, rows_) NULL, FAB_TABLE_##kind_, G_STRUCT_OFFSET (FabProbe, rows_)
#define MADE(function) function, FAB_N_TABLES, 0
static const struct {
  const char *name;
  FabricastTable *(*make) (const FabricastResult *self);
  FabTableKind kind;
  gsize offset;
} tables[] = {
  { "iteration", MADE (iterations) },
  { "iteration_class", OF_PROBE (ITERATION, iterations) },
  { "collective", OF_PROBE (COLLECTIVE, collectives) },
  { "span", OF_PROBE (SPAN, spans) },
  { "link", MADE (links) },
  { "link_load", OF_PROBE (LINK_LOAD, link_loads) },
  { "link_queue", MADE (queues) },
  { "queue_length", MADE (queue_lengths) },
  { "link_sample", OF_PROBE (LINK_SAMPLE, samples) },
  { "exposure", OF_PROBE (EXPOSURE, exposures) },
  { "critical_path", OF_PROBE (PATH, path) },
  { "memory", MADE (memory) },
  { "rank_class", MADE (classes) },
  { "finding", MADE (findings) },
  { "band", MADE (bands) },
  { "pace", MADE (pace) },
  { "memo", MADE (memo) },
  { "goodput", MADE (goodput) },
  { "job", MADE (jobs) },
};

static FabricastTable *
find (const FabricastResult *self, const char *name)
{
  const FabProbe *probe = fab_simulation_probe (self->run.simulation);

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    if (strcmp (tables[i].name, name) == 0)
      return tables[i].make != NULL
               ? tables[i].make (self)
               : of_array (tables[i].kind, G_STRUCT_MEMBER (const GArray *, probe, tables[i].offset));
  return NULL;
}

/* "iteration, ..., goodput and job". (transfer full) */
static char *
table_names (void)
{
  GString *names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    g_string_append_printf (names, "%s%s",
                            i == 0                          ? ""
                            : i + 1 < G_N_ELEMENTS (tables) ? ", "
                                                            : " and ",
                            tables[i].name);
  return g_string_free (names, FALSE);
}

int
fabricast_result_table (const FabricastResult *result, const char *name, FabricastTable **table,
                        FabricastError **error)
{
  FabricastTable *found;
  LibDoor door;

  LIB_NEED (result, error);
  LIB_NEED (name, error);
  LIB_NEED (table, error);
  lib_door_enter (&door);
  g_mutex_lock ((GMutex *) &result->lock);
  found = find (result, name);
  g_mutex_unlock ((GMutex *) &result->lock);
  lib_door_leave (&door);
  if (found == NULL) {
    g_autofree char *known = table_names ();

    return lib_fail (error, FABRICAST_INPUT, "there is no table '%s'; there are %s", name, known);
  }
  *table = found;
  return FABRICAST_OK;
}

/* --- explanations --- */

static FabricastTable *
statements_of (const FabExplanation *explanation)
{
  FabricastTable *table = lib_table_new ();
  guint depth = lib_table_add (table, "depth", FABRICAST_WHOLE),
        title = lib_table_add (table, "title", FABRICAST_TEXT),
        name = lib_table_add (table, "name", FABRICAST_TEXT),
        value = lib_table_add (table, "value", FABRICAST_REAL),
        shown = lib_table_add (table, "shown", FABRICAST_TEXT),
        formula = lib_table_add (table, "formula", FABRICAST_TEXT),
        numbers = lib_table_add (table, "numbers", FABRICAST_TEXT),
        source = lib_table_add (table, "source", FABRICAST_TEXT),
        notes = lib_table_add (table, "notes", FABRICAST_TEXT);

  for (guint i = 0; i < explanation->statements->len; i++) {
    const FabStatement *one = g_ptr_array_index (explanation->statements, i);
    g_autofree char *show = fab_term_show (one->kind, one->value),
                    *with_numbers = fab_statement_numbers (one);
    GString *all = g_string_new (NULL);

    for (guint n = 0; n < one->notes->len; n++)
      g_string_append_printf (all, "%s%s", n > 0 ? "\n" : "",
                              (const char *) g_ptr_array_index (one->notes, n));
    lib_table_whole (table, depth, one->depth);
    lib_table_text (table, title, one->title);
    lib_table_text (table, name, one->name);
    lib_table_real (table, value, one->value);
    lib_table_text (table, shown, show);
    lib_table_text (table, formula, one->formula);
    lib_table_text (table, numbers, with_numbers);
    lib_table_text (table, source, one->source);
    lib_table_text (table, notes, all->len > 0 ? all->str : NULL);
    g_string_free (all, TRUE);
  }
  return table;
}

int
fabricast_result_explain (const FabricastResult *result, const char *figure, FabricastTable **statements,
                          FabricastError **error)
{
  GError *problem = NULL;
  LibDoor door;
  int status = FABRICAST_OK;

  LIB_NEED (result, error);
  LIB_NEED (figure, error);
  LIB_NEED (statements, error);
  lib_door_enter (&door);
  const FabFigure *known = fab_figure_find (figure);
  FabStudy *study = fab_study_of (fab_scenario_spec (result->scenario)->name, result->scenario,
                                  result->context->catalog, &fab_models);
  FabExplanation *explanation = strcmp (figure, "run") == 0 ? fab_explain_run (study, &problem)
                              : known != NULL               ? fab_explain_figure (study, known, &problem)
                                              : fab_explain_collective (study, figure, &problem);
  if (explanation != NULL)
    *statements = statements_of (explanation);
  else
    status = lib_fail_with (error, problem);
  fab_explanation_free (explanation);
  fab_study_free (study);
  lib_door_leave (&door);
  return status;
}
