/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/seeds.h"

#include "sim/base/error.h"
#include "sim/base/order.h"
#include "sim/base/stats.h"
#include "sim/base/thread_pool.h"

const char *const fab_percentile_names[FAB_N_PERCENTILES] = { "p50", "p95", "p99", "max" };

static const double ranks[FAB_N_PERCENTILES] = { 0.50, 0.95, 0.99, 1 };

static const struct {
  const char *name, *key;
} time_names[FAB_N_SEED_TIMES] = {
  [FAB_SEED_STEP] = { "step", "step_s" },
  [FAB_SEED_COMMUNICATION] = { "communication", "comm_s" },
  [FAB_SEED_EXPOSED] = { "exposed", "exposed_s" },
};

FabTimePs
fab_seed_time_ps (const FabSeedSample *sample, guint time)
{
  const FabIterationRecord *times = &sample->step.times;

  return time == FAB_SEED_STEP          ? times->duration_ps
       : time == FAB_SEED_COMMUNICATION ? times->comm_ps
                                        : times->exposed_ps;
}

/* --- percentiles --- */

/* Ascending. (transfer full) */
static GArray *
sorted_times (const GArray *samples, guint time)
{
  GArray *times = g_array_new (FALSE, FALSE, sizeof (FabTimePs));

  for (guint i = 0; i < samples->len; i++) {
    FabTimePs one = fab_seed_time_ps (&g_array_index (samples, FabSeedSample, i), time);
    g_array_append_val (times, one);
  }
  g_array_sort (times, fab_order_int64s);
  return times;
}

static void
find_percentiles (FabSeeds *self)
{
  for (guint t = 0; t < FAB_N_SEED_TIMES; t++) {
    g_autoptr (GArray) times = sorted_times (self->samples, t);

    self->times[t].name = time_names[t].name;
    self->times[t].key = time_names[t].key;
    for (guint p = 0; p < FAB_N_PERCENTILES; p++)
      self->times[t].percentiles_ps[p] = g_array_index (times, FabTimePs,
                                                        fab_nearest_rank (times->len, ranks[p]));
  }
}

static void
note_spread (FabSeeds *self)
{
  g_autoptr (GArray) times = sorted_times (self->samples, FAB_SEED_STEP);

  fab_verdict_note_spread (self->verdict, (guint64) self->n_seeds,
                           fab_ps_to_seconds (g_array_index (times, FabTimePs, 0)),
                           fab_ps_to_seconds (g_array_index (times, FabTimePs, times->len - 1)));
}

/* --- playing --- */

typedef struct {
  const FabSeedsRequest *request;
  gint64 first_seed;
  GArray **samples;     /* per seed: FabSeedSample */
  FabVerdict **verdict; /* of the first */
  GError **errors;
} Plays;

/* `verdict` NULL: it is not asked for. */
static gboolean
play_seed (const FabSeedsRequest *request, gint64 seed, GArray *samples, FabVerdict **verdict, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (request->scenario);
  FabRunRequest run = request->run;
  FabRunResult result = { 0 };

  run.advises = run.advises && verdict != NULL;
  gboolean is_played = fab_scenario_set (scenario, "seed", fab_value_count (seed), error)
                    && fab_scenario_check (scenario, error)
                    && fab_run_play (scenario, NULL, &run, &result, error);

  for (guint i = 0; is_played && i < result.steps->len; i++) {
    FabSeedSample sample = { seed, result.run_id, g_array_index (result.steps, FabStepRecord, i) };
    g_array_append_val (samples, sample);
  }
  if (is_played && verdict != NULL)
    *verdict = g_steal_pointer (&result.verdict);
  fab_run_result_clear (&result);
  if (!is_played)
    g_prefix_error (error, "seed %" G_GINT64_FORMAT ": ", seed);
  return is_played;
}

static void
play_item (gpointer data, guint item)
{
  Plays *self = data;

  self->samples[item] = g_array_new (FALSE, FALSE, sizeof (FabSeedSample));
  play_seed (self->request, self->first_seed + item, self->samples[item], item == 0 ? self->verdict : NULL,
             &self->errors[item]);
}

/* All at once; into a file one after the other, in the order of seeds. The first mistake, by seed, is told. */
static gboolean
play_seeds (const FabSeedsRequest *request, FabSeeds *self, GError **error)
{
  guint n = (guint) self->n_seeds;
  g_autofree GArray **each = g_new0 (GArray *, n);
  g_autofree GError **errors = g_new0 (GError *, n);
  GError *first = NULL;

  for (guint i = 0; request->run.db != NULL && i < n; i++)
    if (!play_seed (request, self->first_seed + i, self->samples, i == 0 ? &self->verdict : NULL, error))
      return FALSE;
  if (request->run.db != NULL)
    return TRUE;
  fab_thread_pool_run (request->n_threads, n, play_item,
                       &(Plays){ request, self->first_seed, each, &self->verdict, errors });
  for (guint i = 0; i < n; i++) {
    g_array_append_vals (self->samples, each[i]->data, each[i]->len);
    g_array_unref (each[i]);
    if (first == NULL)
      first = g_steal_pointer (&errors[i]);
    g_clear_error (&errors[i]);
  }
  if (first != NULL)
    g_propagate_error (error, first);
  return first == NULL;
}

FabSeeds *
fab_seeds_play (const FabSeedsRequest *request, GError **error)
{
  g_autoptr (FabSeeds) self = g_new0 (FabSeeds, 1);
  const FabScenarioSpec *spec = fab_scenario_spec (request->scenario);

  self->name = g_strdup (spec->name);
  self->first_seed = spec->seed;
  self->n_seeds = request->n_seeds;
  self->n_iterations = spec->iterations;
  self->samples = g_array_new (FALSE, FALSE, sizeof (FabSeedSample));
  if (self->first_seed > G_MAXINT64 - (self->n_seeds - 1)) {
    fab_throw (error, FAB_ERROR_INPUT, "there are no %" G_GINT64_FORMAT " seeds from %" G_GINT64_FORMAT " on",
               self->n_seeds, self->first_seed);
    return NULL;
  }
  if (!play_seeds (request, self, error))
    return NULL;
  find_percentiles (self);
  if (self->verdict != NULL)
    note_spread (self);
  return g_steal_pointer (&self);
}

void
fab_seeds_free (FabSeeds *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  g_clear_pointer (&self->samples, g_array_unref);
  fab_verdict_free (self->verdict);
  g_free (self);
}
