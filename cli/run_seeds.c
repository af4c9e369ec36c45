/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_seeds.h"

#include "answer/seeds.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

static char *
text_page (const FabSeeds *seeds, const char *db)
{
  GString *page = g_string_new (NULL);
  const GArray *samples = seeds->samples;
  gint64 first = seeds->first_seed;
  g_autofree char *name = fab_cli_printable (seeds->name);

  g_string_append_printf (page,
                          "%s: seeds %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          " iterations each\n\n  %-16s",
                          name, first, first + seeds->n_seeds - 1, seeds->n_iterations, "");
  for (guint p = 0; p < FAB_N_PERCENTILES; p++)
    g_string_append_printf (page, "%12s", fab_percentile_names[p]);
  for (guint t = 0; t < FAB_N_SEED_TIMES; t++) {
    g_string_append_printf (page, "\n  %-16s", seeds->times[t].name);
    for (guint p = 0; p < FAB_N_PERCENTILES; p++) {
      g_autofree char *shown = fab_units_show (FAB_UNIT_TIME, (double) seeds->times[t].percentiles_ps[p]);
      g_string_append_printf (page, "%12s", shown);
    }
  }
  g_string_append_c (page, '\n');
  if (db != NULL)
    g_string_append_printf (page,
                            "\n  runs %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                            " in %s; `fabricast query runs --db %s` lists them\n",
                            g_array_index (samples, FabSeedSample, 0).run_id,
                            g_array_index (samples, FabSeedSample, samples->len - 1).run_id, db, db);
  return g_string_free (page, FALSE);
}

static void
add_samples (FabJson *json, const FabSeeds *seeds)
{
  const GArray *samples = seeds->samples;

  fab_json_begin_array (json, "iterations");
  for (guint i = 0; i < samples->len; i++) {
    const FabSeedSample *sample = &g_array_index (samples, FabSeedSample, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_whole (json, "seed", sample->seed);
    fab_json_add_whole (json, "iteration", sample->step.times.iteration);
    for (guint t = 0; t < FAB_N_SEED_TIMES; t++)
      fab_json_add_real (json, seeds->times[t].key, fab_ps_to_seconds (fab_seed_time_ps (sample, t)));
    if (sample->run_id > 0)
      fab_json_add_whole (json, "run_id", sample->run_id);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static char *
json_page (const FabSeeds *seeds)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "name", seeds->name);
  fab_json_add_text (json, "version", FAB_VERSION);
  fab_json_add_whole (json, "seeds", seeds->n_seeds);
  for (guint t = 0; t < FAB_N_SEED_TIMES; t++) {
    fab_json_begin_object (json, seeds->times[t].key);
    for (guint p = 0; p < FAB_N_PERCENTILES; p++)
      fab_json_add_real (json, fab_percentile_names[p],
                         fab_ps_to_seconds (seeds->times[t].percentiles_ps[p]));
    fab_json_end (json);
  }
  add_samples (json, seeds);
  fab_json_end (json);
  return fab_json_finish (json);
}

static char *
csv_page (const FabSeeds *seeds)
{
  const GArray *samples = seeds->samples;
  GString *csv = g_string_new ("seed,iteration");

  for (guint t = 0; t < FAB_N_SEED_TIMES; t++)
    g_string_append_printf (csv, ",%s", seeds->times[t].key);
  for (guint i = 0; i < samples->len; i++) {
    const FabSeedSample *sample = &g_array_index (samples, FabSeedSample, i);

    g_string_append_printf (csv, "\n%" G_GINT64_FORMAT ",%u", sample->seed, sample->step.times.iteration);
    for (guint t = 0; t < FAB_N_SEED_TIMES; t++)
      g_string_append_printf (csv, ",%.12g", fab_ps_to_seconds (fab_seed_time_ps (sample, t)));
  }
  g_string_append_c (csv, '\n');
  return g_string_free (csv, FALSE);
}

static gboolean
parse_count (const char *text, gint64 *n, GError **error)
{
  g_autoptr (GError) cause = NULL;

  if (!fab_units_parse_whole (FAB_UNIT_COUNT, text, n, &cause))
    return fab_throw (error, FAB_ERROR_INPUT, "--seeds %s: %s", text, cause->message);
  if (*n < 1 || *n > FAB_MOST_SEEDS)
    return fab_throw (error, FAB_ERROR_INPUT, "--seeds %s: 1 to %d are possible", text, FAB_MOST_SEEDS);
  return TRUE;
}

gboolean
fab_run_seeds (const FabRunSeeds *request, const FabCatalog *catalog, GError **error)
{
  FabSeedsRequest asked = {
    .n_threads = fab_cli_threads (),
    .run = { .registry = &fab_models, .db = request->db, .progress = fab_run_show_progress },
  };

  if (!parse_count (request->n_seeds, &asked.n_seeds, error))
    return FALSE;
  g_autoptr (FabScenario) scenario = fab_cli_scenario (request->path, request->sets, catalog, error);
  if (scenario == NULL)
    return FALSE;
  asked.scenario = scenario;
  g_autoptr (FabSeeds) seeds = fab_seeds_play (&asked, error);
  if (seeds == NULL)
    return FALSE;
  g_autofree char *text = request->format == FAB_FORMAT_CSV  ? csv_page (seeds)
                        : request->format == FAB_FORMAT_JSON ? json_page (seeds)
                                                             : text_page (seeds, request->db);
  g_print ("%s", text);
  return TRUE;
}
