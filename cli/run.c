/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include <unistd.h>

#include "models/models.h"
#include "sim/scenario/binding.h"
#include "sim/scenario/run.h"

typedef struct {
  gint64 since_us, n_iterations;
} Progress;

/* Shows progress on a terminal, and only when the run takes longer than a second. */
static gboolean
show_progress (gpointer owner, G_GNUC_UNUSED const FabSimulation *simulation, guint n_done)
{
  const Progress *self = owner;

  if (g_get_monotonic_time () - self->since_us < G_USEC_PER_SEC || !isatty (STDERR_FILENO))
    return TRUE;
  if (n_done == self->n_iterations)
    g_printerr ("\r\033[K");
  else
    g_printerr ("\riteration %u of %" G_GINT64_FORMAT, n_done, self->n_iterations);
  return TRUE;
}

static gboolean
build (const FabScenario *scenario, const FabWhatIf *what_if, FabRunResult *result, GError **error)
{
  *result = (FabRunResult){ .steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord)) };
  result->simulation = fab_simulation_new (scenario, &fab_models, what_if, error);
  return result->simulation != NULL;
}

/* Runs the built simulation; `store` may be NULL. */
static gboolean
play (const FabScenario *scenario, FabStore *store, FabRunResult *result, GError **error)
{
  Progress progress = { g_get_monotonic_time (), fab_scenario_spec (scenario)->iterations };
  FabRunOptions options = { .store = store,
                            .run_id = &result->run_id,
                            .steps = result->steps,
                            .progress = show_progress,
                            .owner = &progress };
  FabBinding binding;

  if (!fab_simulation_run (result->simulation, &options, error))
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

/* Opens the file only when there is something to write, so that a scenario that cannot be built leaves none. */
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

/* Latency in steps is not caused by a link, and no faster link removes it. */
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
