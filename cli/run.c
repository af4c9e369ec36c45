/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include <unistd.h>

#include "models/models.h"
#include "sim/scenario/binding.h"

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

  return fab_store_add_link_queues (store, ROWS (FabLinkQueueRecord, queues), error);
}

#undef ROWS

/* On a terminal, and only when it takes longer than a second. */
static void
show_progress (gint64 since_us, guint done, gint64 all)
{
  if (g_get_monotonic_time () - since_us < G_USEC_PER_SEC || !isatty (STDERR_FILENO))
    return;
  if (done == all)
    g_printerr ("\r\033[K");
  else
    g_printerr ("\riteration %u of %" G_GINT64_FORMAT, done, all);
}

/* What ended before a hang is kept. */
static gboolean
play_iterations (FabSimulation *simulation, FabStore *store, gint64 n_iterations, GArray *steps,
                 GError **error)
{
  gint64 since_us = g_get_monotonic_time ();

  while (fab_simulation_step (simulation)) {
    const FabProbe *probe = fab_simulation_probe (simulation);

    g_array_append_val (steps, probe->step);
    show_progress (since_us, steps->len, n_iterations);
    if (store && !store_iteration (store, probe, error))
      return FALSE;
  }
  if (store && (!store_queues (store, simulation, error) || !fab_store_commit_run (store, error)))
    return FALSE;
  return fab_simulation_check (simulation, error);
}

static gboolean
build (const FabScenario *scenario, const FabWhatIf *what_if, FabRunResult *result, GError **error)
{
  *result = (FabRunResult){ .steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord)) };
  result->simulation = fab_simulation_new (scenario, &fab_models, what_if, error);
  return result->simulation != NULL;
}

/* What was built; `store` may be NULL. */
static gboolean
play (const FabScenario *scenario, FabStore *store, FabRunResult *result, GError **error)
{
  FabBinding binding;

  if ((store && !store_begin (store, result->simulation, &result->run_id, error))
      || !play_iterations (result->simulation, store, fab_scenario_spec (scenario)->iterations, result->steps,
                           error))
    return FALSE;
  binding = fab_binding_find (fab_simulation_probe (result->simulation),
                              fab_simulation_cluster (result->simulation)->graph);
  result->binding_link = binding.link;
  result->binding_fraction = binding.fraction;
  return TRUE;
}

static double
seconds_since (gint64 start_us)
{
  return (double) (g_get_monotonic_time () - start_us) / G_USEC_PER_SEC;
}

gboolean
fab_run_play_built (const FabScenario *scenario, FabSimulation *simulation, FabStore *store,
                    FabRunResult *result, GError **error)
{
  gint64 start_us = g_get_monotonic_time ();
  gboolean is_played;

  *result = (FabRunResult){ .simulation = simulation,
                            .steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord)) };
  is_played = play (scenario, store, result, error);
  result->wall_s = seconds_since (start_us);
  return is_played;
}

/* The file is opened when there is something to write, so that a scenario that cannot be built leaves none. */
gboolean
fab_run_play (const FabScenario *scenario, const FabWhatIf *what_if, const char *db, FabRunResult *result,
              GError **error)
{
  gint64 start_us = g_get_monotonic_time ();
  g_autoptr (FabStore) store = NULL;

  if (!build (scenario, what_if, result, error))
    return FALSE;
  if (db != NULL && (store = fab_store_open (db, FAB_STORE_WRITE, error)) == NULL)
    return FALSE;
  if (!play (scenario, store, result, error) || (store && !fab_store_close (&store, error)))
    return FALSE;
  result->wall_s = seconds_since (start_us);
  return TRUE;
}

void
fab_run_result_clear (FabRunResult *result)
{
  g_clear_pointer (&result->simulation, fab_simulation_free);
  g_clear_pointer (&result->steps, g_array_unref);
  g_clear_pointer (&result->jobs, g_array_unref);
  g_clear_pointer (&result->band, fab_band_free);
}

const FabStepRecord *
fab_run_last_step (const FabRunResult *result)
{
  return &g_array_index (result->steps, FabStepRecord, result->steps->len - 1);
}

char *
fab_run_link_name (const FabRunResult *result, FabLinkId link)
{
  FabLinkRecord record;
  char *name;

  if (link == FAB_NO_LINK)
    return NULL;
  record = fab_simulation_link_record (result->simulation, link);
  name = g_strdup_printf ("%s -> %s", record.from, record.to);
  g_free ((char *) record.from);
  g_free ((char *) record.to);
  return name;
}

double
fab_run_busy_fraction (const FabRunResult *result, FabLinkId link)
{
  const GArray *loads = fab_simulation_probe (result->simulation)->link_loads;

  for (guint i = 0; i < loads->len; i++)
    if (g_array_index (loads, FabLinkLoadRecord, i).link == link)
      return g_array_index (loads, FabLinkLoadRecord, i).busy_fraction;
  return 0;
}

/* Latency in steps is no link's fault, and no faster link cures it. */
double
fab_run_startup_fraction (const FabRunResult *result)
{
  const FabDag *dag = fab_simulation_dag (result->simulation);
  const GArray *records = fab_simulation_probe (result->simulation)->collectives;
  double startup_ps = 0, all_ps = 0;

  for (guint i = 0; i < records->len; i++) {
    const FabCollectiveRecord *record = &g_array_index (records, FabCollectiveRecord, i);

    startup_ps += (double) dag->collectives[record->index].plan.startup_ps;
    all_ps += (double) (record->end_ps - record->start_ps);
  }
  return all_ps > 0 ? startup_ps / all_ps : 0;
}
