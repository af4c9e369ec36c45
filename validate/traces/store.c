/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - a measured run as rows of the tables that a simulated run fills. */
#include "sim/result/store.h"
#include "sim/base/error.h"
#include "validate/traces/account.h"

/* A measured run has no scenario: its place holds the files and what was found out while they were read. */
static char *
describe (const FabTrace *trace, const FabTraceAccount *account, const char *name)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text,
                          "# A measured run, imported by fabricast %s. It has no scenario.\n# name: %s\n",
                          FAB_VERSION, name);
  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);
    g_autofree char *source = fab_printable (rank->source);

    g_string_append_printf (text, "# rank %" G_GINT64_FORMAT ": %s%s%s\n", rank->rank, source,
                            rank->device ? ", " : "", rank->device ? rank->device : "");
  }
  if (account->n_left_out > 0)
    g_string_append_printf (text,
                            account->n_left_out == 1
                                ? "# %u operation lies outside of all steps and is left out.\n"
                                : "# %u operations lie outside of all steps and are left out.\n",
                            account->n_left_out);
  return g_string_free (text, FALSE);
}

static gboolean
store_classes (const FabTrace *trace, FabStore *store, GError **error)
{
  for (guint i = 0; i < trace->ranks->len; i++) {
    const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);
    g_autofree char *name = g_strdup_printf ("rank %" G_GINT64_FORMAT, rank->rank);
    FabRankClassRecord record = {
      .rank_class = i, .first_rank = (guint) rank->rank, .n_ranks = 1, .name = name
    };

    if (!fab_store_add_classes (store, &record, 1, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
store_span (FabStore *store, FabSpanRecord span, FabTimePs start_ps, FabTimePs end_ps, GError **error)
{
  span.start_ps = start_ps;
  span.end_ps = end_ps;
  return fab_store_add_spans (store, &span, 1, error);
}

static gboolean
store_spans (const FabTrace *trace, const FabTraceAccount *account, guint i, FabStore *store, GError **error)
{
  static const FabSpanKind kinds[] = {
    [FAB_TRACE_COMPUTE] = FAB_SPAN_COMPUTE, [FAB_TRACE_COMM] = FAB_SPAN_COMM, [FAB_TRACE_COPY] = FAB_SPAN_LOAD
  };
  const FabTracedRank *rank = g_ptr_array_index (trace->ranks, i);

  for (guint k = 0; k < rank->ops->len; k++) {
    const FabTraceOp *op = &g_array_index (rank->ops, FabTraceOp, k);
    const FabTracePlace *place = &g_array_index (account->places[i], FabTracePlace, k);
    g_autofree char *stream = g_strdup_printf ("stream %u", op->stream);
    FabSpanRecord span = { .iteration = (guint) place->iteration,
                           .rank_class = i,
                           .kind = kinds[op->kind],
                           .stream = stream,
                           .name = op->name,
                           .collective = place->collective };

    if (place->iteration < 0)
      continue;
    if (place->wait_end_ps > place->start_ps) {
      FabSpanRecord wait = span;

      wait.kind = FAB_SPAN_WAIT;
      if (!store_span (store, wait, place->start_ps, place->wait_end_ps, error))
        return FALSE;
    }
    if (!store_span (store, span, place->wait_end_ps, place->end_ps, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
store_times (const FabTraceAccount *account, FabStore *store, GError **error)
{
  for (guint i = 0; i < account->times->len; i++)
    if (!fab_store_add_iterations (store, &g_array_index (account->times, FabTraceTimes, i).times, 1, error))
      return FALSE;
  return TRUE;
}

#define ROWS(type, array) (const type *) (gpointer) (array)->data, (array)->len

gboolean
fab_trace_store (const FabTrace *trace, const FabTraceAccount *account, const char *name, FabStore *store,
                 gint64 *run_id, GError **error)
{
  const FabTracedRank *first = g_ptr_array_index (trace->ranks, 0);
  g_autofree char *text = describe (trace, account, name);
  guint n_world = fab_trace_n_world (trace), n_devices = MAX (first->n_devices, 1);
  FabRunRecord run = { .name = name,
                       .scenario_yaml = text,
                       .version = FAB_VERSION,
                       .fidelity = "measured",
                       .n_ranks = n_world,
                       .n_nodes = (n_world + n_devices - 1) / n_devices };

  if (!fab_store_begin_run (store, &run, run_id, error) || !store_classes (trace, store, error)
      || !fab_store_add_steps (store, ROWS (FabStepRecord, account->steps), error)
      || !store_times (account, store, error)
      || !fab_store_add_collectives (store, ROWS (FabCollectiveRecord, account->collectives), error))
    return FALSE;
  for (guint i = 0; i < trace->ranks->len; i++)
    if (!store_spans (trace, account, i, store, error))
      return FALSE;
  return fab_store_add_exposures (store, ROWS (FabExposureRecord, account->exposures), error)
      && fab_store_commit_run (store, error);
}
#undef ROWS
