/* SPDX-License-Identifier: Apache-2.0 */
/* run_seeds.c - every iteration of every seed is one value; percentiles are nearest ranks: of n values in ascending
 * order p is number ceil (p n), so each is a step that was played, and the 99th of fewer than 100 is the largest. */
#include "cli/run_seeds.h"

#include "sim/base/crew.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

enum { MOST_SEEDS = 10000 };

/* One iteration of one seed. */
typedef struct {
  gint64 seed, run_id;
  FabStepRecord step;
} Sample;

static const struct {
  const char *name;
  double rank; /* 0 to 1 */
} percentiles[] = { { "p50", 0.50 }, { "p95", 0.95 }, { "p99", 0.99 }, { "max", 1 } };

typedef FabTimePs (*TimeFn) (const FabStepRecord *step);

static FabTimePs
step_of (const FabStepRecord *step)
{
  return step->times.duration_ps;
}

static FabTimePs
communication_of (const FabStepRecord *step)
{
  return step->times.comm_ps;
}

static FabTimePs
exposed_of (const FabStepRecord *step)
{
  return step->times.exposed_ps;
}

static const struct {
  const char *name, *key;
  TimeFn time;
} rows[] = { { "step", "duration_s", step_of },
             { "communication", "comm_s", communication_of },
             { "exposed", "exposed_s", exposed_of } };

static gint
compare_times (gconstpointer a, gconstpointer b)
{
  FabTimePs x = *(const FabTimePs *) a, y = *(const FabTimePs *) b;

  return x < y ? -1 : x > y;
}

/* Ascending. (transfer full) */
static GArray *
sorted_times (const GArray *samples, TimeFn time)
{
  GArray *times = g_array_new (FALSE, FALSE, sizeof (FabTimePs));

  for (guint i = 0; i < samples->len; i++) {
    FabTimePs one = time (&g_array_index (samples, Sample, i).step);
    g_array_append_val (times, one);
  }
  g_array_sort (times, compare_times);
  return times;
}

static FabTimePs
percentile (const GArray *times, double rank)
{
  double n = rank * times->len;
  guint place = (guint) n;

  if ((double) place < n)
    place++;
  return g_array_index (times, FabTimePs, MAX (place, 1) - 1);
}

typedef struct {
  const FabRunSeeds *request;
  const FabScenario *scenario;
  gint64 first_seed;
  GArray **samples; /* per seed: Sample */
  GError **errors;
} Plays;

static gboolean
play_seed (const FabRunSeeds *request, const FabScenario *base, gint64 seed, GArray *samples, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (base);
  FabRunResult result = { 0 };
  gboolean is_played = fab_scenario_set (scenario, "seed", fab_value_count (seed), error)
                    && fab_scenario_check (scenario, error)
                    && fab_run_play (scenario, NULL, request->db, &result, error);

  for (guint i = 0; is_played && i < result.steps->len; i++) {
    Sample sample = { seed, result.run_id, g_array_index (result.steps, FabStepRecord, i) };
    g_array_append_val (samples, sample);
  }
  fab_run_result_clear (&result);
  if (!is_played)
    g_prefix_error (error, "seed %" G_GINT64_FORMAT ": ", seed);
  return is_played;
}

static void
play_item (gpointer data, guint item)
{
  Plays *self = data;

  self->samples[item] = g_array_new (FALSE, FALSE, sizeof (Sample));
  play_seed (self->request, self->scenario, self->first_seed + item, self->samples[item],
             &self->errors[item]);
}

/* All at once; into a file one after the other, in the order of seeds. The first mistake, by seed, is told. */
static gboolean
play_seeds (const FabRunSeeds *request, const FabScenario *scenario, guint n, GArray *samples, GError **error)
{
  gint64 first_seed = fab_scenario_spec (scenario)->seed;
  g_autofree GArray **each = g_new0 (GArray *, n);
  g_autofree GError **errors = g_new0 (GError *, n);
  GError *first = NULL;

  for (guint i = 0; request->db != NULL && i < n; i++)
    if (!play_seed (request, scenario, first_seed + i, samples, error))
      return FALSE;
  if (request->db != NULL)
    return TRUE;
  fab_crew_run (fab_cli_threads (), n, play_item, &(Plays){ request, scenario, first_seed, each, errors });
  for (guint i = 0; i < n; i++) {
    g_array_append_vals (samples, each[i]->data, each[i]->len);
    g_array_unref (each[i]);
    if (first == NULL)
      first = g_steal_pointer (&errors[i]);
    g_clear_error (&errors[i]);
  }
  if (first != NULL)
    g_propagate_error (error, first);
  return first == NULL;
}

/* --- what is printed --- */

static char *
text_page (const FabScenario *scenario, const GArray *samples, gint64 n_seeds, const char *db)
{
  GString *page = g_string_new (NULL);
  gint64 first = fab_scenario_spec (scenario)->seed;
  g_autofree char *name = fab_cli_printable (fab_scenario_spec (scenario)->name);

  g_string_append_printf (page,
                          "%s: seeds %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          " iterations each\n\n  %-16s",
                          name, first, first + n_seeds - 1, fab_scenario_spec (scenario)->iterations, "");
  for (guint p = 0; p < G_N_ELEMENTS (percentiles); p++)
    g_string_append_printf (page, "%12s", percentiles[p].name);
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_autoptr (GArray) times = sorted_times (samples, rows[r].time);

    g_string_append_printf (page, "\n  %-16s", rows[r].name);
    for (guint p = 0; p < G_N_ELEMENTS (percentiles); p++) {
      g_autofree char *shown = fab_units_show (FAB_UNIT_TIME,
                                               (double) percentile (times, percentiles[p].rank));
      g_string_append_printf (page, "%12s", shown);
    }
  }
  g_string_append_c (page, '\n');
  if (db != NULL)
    g_string_append_printf (page,
                            "\n  runs %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                            " in %s; `fabricast query runs --db %s` lists them\n",
                            g_array_index (samples, Sample, 0).run_id,
                            g_array_index (samples, Sample, samples->len - 1).run_id, db, db);
  return g_string_free (page, FALSE);
}

static void
add_samples (FabJson *json, const GArray *samples)
{
  fab_json_begin_array (json, "iterations");
  for (guint i = 0; i < samples->len; i++) {
    const Sample *sample = &g_array_index (samples, Sample, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_whole (json, "seed", sample->seed);
    fab_json_add_whole (json, "iteration", sample->step.times.iteration);
    for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
      fab_json_add_real (json, rows[r].key, fab_ps_to_seconds (rows[r].time (&sample->step)));
    if (sample->run_id > 0)
      fab_json_add_whole (json, "run_id", sample->run_id);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static char *
json_page (const FabScenario *scenario, const GArray *samples, gint64 n_seeds)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "name", fab_scenario_spec (scenario)->name);
  fab_json_add_text (json, "version", FAB_VERSION);
  fab_json_add_whole (json, "seeds", n_seeds);
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    g_autoptr (GArray) times = sorted_times (samples, rows[r].time);

    fab_json_begin_object (json, rows[r].key);
    for (guint p = 0; p < G_N_ELEMENTS (percentiles); p++)
      fab_json_add_real (json, percentiles[p].name,
                         fab_ps_to_seconds (percentile (times, percentiles[p].rank)));
    fab_json_end (json);
  }
  add_samples (json, samples);
  fab_json_end (json);
  return fab_json_finish (json);
}

static char *
csv_page (const GArray *samples)
{
  GString *csv = g_string_new ("seed,iteration");

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    g_string_append_printf (csv, ",%s", rows[r].key);
  for (guint i = 0; i < samples->len; i++) {
    const Sample *sample = &g_array_index (samples, Sample, i);

    g_string_append_printf (csv, "\n%" G_GINT64_FORMAT ",%u", sample->seed, sample->step.times.iteration);
    for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
      g_string_append_printf (csv, ",%.12g", fab_ps_to_seconds (rows[r].time (&sample->step)));
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
  if (*n < 1 || *n > MOST_SEEDS)
    return fab_throw (error, FAB_ERROR_INPUT, "--seeds %s: 1 to %d are possible", text, MOST_SEEDS);
  return TRUE;
}

gboolean
fab_run_seeds (const FabRunSeeds *request, const FabCatalog *catalog, GError **error)
{
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (Sample));
  g_autofree char *text = NULL;
  gint64 n_seeds;

  if (!parse_count (request->n_seeds, &n_seeds, error))
    return FALSE;
  g_autoptr (FabScenario) scenario = fab_cli_scenario (request->path, request->sets, catalog, error);
  if (scenario == NULL)
    return FALSE;
  if (fab_scenario_spec (scenario)->seed > G_MAXINT64 - n_seeds)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "there are no %" G_GINT64_FORMAT " seeds from %" G_GINT64_FORMAT " on", n_seeds,
                      fab_scenario_spec (scenario)->seed);
  if (!play_seeds (request, scenario, (guint) n_seeds, samples, error))
    return FALSE;
  text = request->format == FAB_FORMAT_CSV  ? csv_page (samples)
       : request->format == FAB_FORMAT_JSON ? json_page (scenario, samples, n_seeds)
                                            : text_page (scenario, samples, n_seeds, request->db);
  g_print ("%s", text);
  return TRUE;
}
