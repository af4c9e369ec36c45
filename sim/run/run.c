/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/run/run.h"

#include "sim/base/error.h"

/* --- the store --- */

static gboolean
store_links (FabStore *store, const FabSimulation *simulation, GError **error)
{
  guint n = fab_graph_n_links (fab_simulation_cluster (simulation)->graph);
  gboolean is_stored = TRUE;

  for (FabLinkId id = 0; id < n && is_stored; id++) {
    FabLinkRecord record = fab_simulation_link_record (simulation, id);

    is_stored = fab_store_add_links (store, &record, 1, error);
    g_free ((char *) record.from);
    g_free ((char *) record.to);
  }
  return is_stored;
}

static gboolean
store_memory (FabStore *store, const GArray *memory, GError **error)
{
  return memory == NULL
      || fab_store_add_memory (store, (const FabMemoryRecord *) (gpointer) memory->data, memory->len, error);
}

static gboolean
store_begin (FabStore *store, FabSimulation *simulation, gint64 *run_id, GError **error)
{
  FabRunRecord run = fab_simulation_run_record (simulation);
  const FabDag *dag = fab_simulation_dag (simulation);

  return fab_store_begin_run (store, &run, run_id, error)
      && fab_store_add_classes (store, dag->classes, dag->n_classes, error)
      && store_memory (store, fab_simulation_totals (simulation)->memory, error)
      && store_links (store, simulation, error);
}

#define ROWS(type, array) (const type *) (gpointer) (array)->data, (array)->len

static gboolean
store_iteration (FabStore *store, const FabProbe *probe, GError **error)
{
  return fab_store_add_steps (store, &probe->step, 1, error)
      && fab_store_add_iterations (store, ROWS (FabIterationRecord, probe->iterations), error)
      && fab_store_add_collectives (store, ROWS (FabCollectiveRecord, probe->collectives), error)
      && fab_store_add_spans (store, ROWS (FabSpanRecord, probe->spans), error)
      && fab_store_add_link_loads (store, ROWS (FabLinkLoadRecord, probe->link_loads), error)
      && fab_store_add_exposures (store, ROWS (FabExposureRecord, probe->exposures), error)
      && fab_store_add_path (store, ROWS (FabPathRecord, probe->path), error)
      && fab_store_add_link_samples (store, ROWS (FabLinkSampleRecord, probe->samples), error);
}

static gboolean
store_queues (FabStore *store, const FabSimulation *simulation, GError **error)
{
  g_autoptr (GArray) queues = fab_simulation_link_queues (simulation);

  g_autoptr (GArray) lengths = fab_simulation_queue_lengths (simulation);

  return fab_store_add_link_queues (store, ROWS (FabLinkQueueRecord, queues), error)
      && fab_store_add_queue_lengths (store, ROWS (FabQueueLengthRecord, lengths), error);
}

#undef ROWS

/* --- the run --- */

static gboolean
take_iteration (const FabSimulation *simulation, const FabRunOptions *options, guint n_done, GError **error)
{
  const FabProbe *probe = fab_simulation_probe (simulation);

  fab_pulse_beat (options->pulse);
  if (options->steps != NULL)
    g_array_append_val (options->steps, probe->step);
  if (options->progress != NULL && !options->progress (options->owner, simulation, n_done))
    return fab_throw (error, FAB_ERROR_CANCELLED, "the run was cancelled");
  return options->store == NULL || store_iteration (options->store, probe, error);
}

/* The executor prepares much before its first event. */
static gboolean
is_cancelled (const FabRunOptions *options)
{
  return options->cancel != NULL && g_atomic_int_get (options->cancel) != 0;
}

static gboolean
play (FabSimulation *simulation, const FabRunOptions *options, GError **error)
{
  for (guint n_done = 0; options->n_iterations == 0 || n_done < options->n_iterations; n_done++) {
    if (is_cancelled (options))
      return fab_throw (error, FAB_ERROR_CANCELLED, "the run was cancelled");
    if (!fab_simulation_step (simulation))
      return fab_simulation_check (simulation, error);
    if (!take_iteration (simulation, options, n_done + 1, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
store_memo (FabStore *store, const FabSimulation *simulation, GError **error)
{
  FabMemoRecord record = fab_simulation_memo_record (simulation);

  return record.n_collectives == 0 || fab_store_add_memo (store, &record, error);
}

static gboolean
store_end (FabStore *store, const FabSimulation *simulation, GError **error)
{
  return store_queues (store, simulation, error) && store_memo (store, simulation, error)
      && fab_store_commit_run (store, error);
}

gboolean
fab_simulation_run (FabSimulation *simulation, const FabRunOptions *options, GError **error)
{
  const FabRunOptions none = { 0 };
  const FabRunOptions *asked = options != NULL ? options : &none;
  g_autoptr (GError) problem = NULL;
  gint64 run_id = 0;

  fab_simulation_set_cancel (simulation, asked->cancel);
  fab_simulation_set_pulse (simulation, asked->pulse);
  if (asked->is_brief)
    fab_simulation_set_brief (simulation);
  if (asked->n_threads > 1)
    fab_simulation_set_threads (simulation, asked->n_threads);
  if (asked->store != NULL && !store_begin (asked->store, simulation, &run_id, error))
    return FALSE;
  if (asked->run_id != NULL)
    *asked->run_id = run_id;
  gboolean is_played = play (simulation, asked, &problem);
  fab_simulation_rest (simulation);
  is_played = is_played
           && (asked->ended == NULL || asked->ended (asked->owner, simulation, asked->store, &problem));
  fab_simulation_set_pulse (simulation, NULL);
  gboolean is_kept = is_played || g_error_matches (problem, FAB_ERROR, FAB_ERROR_HUNG);
  if (is_kept && asked->store != NULL && !store_end (asked->store, simulation, error))
    return FALSE;
  if (!is_kept && asked->store != NULL)
    fab_store_abandon_run (asked->store);
  if (!is_played)
    g_propagate_error (error, g_steal_pointer (&problem));
  return is_played;
}

FabSimulation *
fab_scenario_run (const FabScenario *scenario, const FabRegistry *registry, const FabWhatIf *what_if,
                  const FabRunOptions *options, GError **error)
{
  const FabRunOptions none = { 0 };
  const FabRunOptions *asked = options != NULL ? options : &none;
  g_autoptr (FabSimulation) simulation = fab_simulation_build_beside (asked->beside, scenario, registry,
                                                                      what_if, asked->cancel, error);

  return simulation != NULL && fab_simulation_run (simulation, options, error) ? g_steal_pointer (&simulation)
                                                                               : NULL;
}
