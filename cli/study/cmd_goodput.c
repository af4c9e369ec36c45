/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_goodput.c - `fabricast goodput SCENARIO`: what failures leave of a training, and what would change it. */
#include <math.h>

#include "answer/goodput.h"
#include "cli/cli.h"
#include "cli/run/run.h"
#include "cli/study/points_text.h"
#include "cli/terminal/progress.h"
#include "cli/verdict.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/base/units.h"

typedef struct {
  const FabScenario *scenario;
  const FabRunResult *result;
  const FabGoodputAnswer *answer;
} GoodputView;

static const double day_s = 86400;

/* --- text --- */

static void
append_rates (GString *text, const FabGoodputCase *found)
{
  double all_per_s = 0;

  for (guint i = 0; i < found->rules.n_rates; i++)
    all_per_s += found->rates[i].per_s;
  g_string_append_printf (text, "\n  %-20s\v %10s\v %8s\v %15s\v   %s\n", "what fails", "per day", "share",
                          "one every", "what it does");
  for (guint i = 0; i < found->rules.n_rates; i++) {
    const FabFailureRate *rate = &found->rates[i];
    g_autofree char *between = rate->per_s > 0 ? fab_goodput_time (1 / rate->per_s) : g_strdup ("never");

    g_string_append_printf (text, "  %-20s\v %10.3g\v %6.1f %%\v %15s\v   ", rate->name, rate->per_s * day_s,
                            all_per_s > 0 ? 100 * rate->per_s / all_per_s : 0, between);
    if (rate->effect == FAB_FAILURE_SLOWS)
      g_string_append_printf (text, "steps take %.1f %% longer until it is found", 100 * rate->slowdown);
    else
      g_string_append (text, rate->effect == FAB_FAILURE_PLANNED ? "planned stop" : "stops the job");
    g_string_append_printf (text, "%s\n", rate->takes_node ? ", the node is repaired" : "");
  }
}

static void
append_checkpoint (GString *text, const GoodputView *view)
{
  const FabGoodputCase *found = view->result->failures;
  const FabGoodputAnswer *answer = view->answer;
  g_autofree char *bytes = fab_units_show (FAB_UNIT_BYTES, found->checkpoint.bytes),
                  *read = fab_goodput_time (found->checkpoint.read_s),
                  *best = fab_goodput_time (answer->best_interval_s),
                  *young = fab_goodput_time (answer->young_interval_s),
                  *daly = fab_goodput_time (answer->daly_interval_s);

  g_string_append_printf (text, "\n  %-16s%s, read again in %s\n", "checkpoint", bytes, read);
  if (view->result->goodput.form.stops_per_s > 0)
    g_string_append_printf (text, "  %-16s%s; Young's first order %s, Daly's higher order %s\n",
                            "best interval", best, young, daly);
  if (found->rules.background_slowdown > 0)
    g_string_append_printf (text, "  %-16ssteps take %.2f %% longer while a checkpoint is written\n", "",
                            100 * found->rules.background_slowdown);
}

static void
append_spares (GString *text, const GoodputView *view)
{
  const FabReliability *rules = &view->result->failures->rules;

  if (rules->repair_s <= 0)
    g_string_append_printf (
        text, "  %-16sanother node is always there (reliability.repair says how long one is away)\n",
        "spares");
  else
    g_string_append_printf (text, "  %-16s%u; with %u the job waits for at most 0.1 %% of the time\n",
                            "spares", rules->n_spares, view->answer->fewest_spares);
}

static void
append_trials (GString *text, const FabFailureTrials *trials, const FabGoodput *goodput)
{
  g_autofree char *low = fab_goodput_time (trials->low_wall_s),
                  *median = fab_goodput_time (trials->median_wall_s),
                  *high = fab_goodput_time (trials->high_wall_s);

  if (trials->n_trials == 0)
    return;
  g_string_append_printf (text,
                          "\n  %-16s%u %s of the job, event by event: %.2f %% useful (by formula %.2f %%)\n",
                          "played", trials->n_trials, fab_plural (trials->n_trials, "life", "lives"),
                          100 * trials->mean_goodput_fraction, 100 * goodput->form.goodput_fraction);
  if (goodput->calendar_s > 0)
    g_string_append_printf (text, "  %-16sby luck alone 90 %% of them take %s to %s, the median %s\n", "",
                            low, high, median);
}

static void
append_changes (GString *text, const char *title, const GArray *changes, const FabGoodput *base)
{
  g_string_append_printf (text, "\n  %-34s\v %10s\v %8s\v %9s%s\n", title, "stops/day", "ETTR", "goodput",
                          base->calendar_s > 0 ? "\v         days" : "");
  for (guint i = 0; i < changes->len; i++) {
    const FabGoodputChange *change = &g_array_index (changes, FabGoodputChange, i);
    const FabGoodput *goodput = &change->goodput;

    g_string_append_printf (text, "  %-34s\v %10.3g\v %6.1f %%\v %7.1f %%", change->name,
                            goodput->form.stops_per_s * day_s, 100 * goodput->form.ettr_fraction,
                            100 * goodput->form.goodput_fraction);
    if (goodput->calendar_s > 0)
      g_string_append_printf (text, "\v %12.4g (%+.3g)", goodput->calendar_s / day_s,
                              (goodput->calendar_s - base->calendar_s) / day_s);
    g_string_append_c (text, '\n');
  }
}

static char *
goodput_text (const GoodputView *view)
{
  GString *text = g_string_new (NULL);
  const FabRunResult *result = view->result;
  const FabGoodput *goodput = &result->goodput;
  g_autofree char *title = fab_cli_title (view->scenario);
  g_autofree char *step = fab_goodput_time (goodput->step_s), *train = fab_goodput_time (goodput->train_s);

  fab_cli_append_stops (text, result->verdict);
  g_string_append_printf (text, "%s\n\n  %-16s%s, %u %s\n", title, "step", step, result->failures->n_ranks,
                          fab_plural (result->failures->n_ranks, "GPU", "GPUs"));
  if (goodput->train_s > 0)
    g_string_append_printf (text, "  %-16s%s of computing without failures\n", "training", train);
  fab_goodput_append (text, goodput, fab_scenario_spec (view->scenario)->reliability.failures,
                      fab_run_goodput_band (result));
  append_rates (text, result->failures);
  append_checkpoint (text, view);
  append_spares (text, view);
  append_trials (text, &view->answer->trials, goodput);
  append_changes (text, "what would change it", view->answer->changes, goodput);
  append_changes (text, "with the failures of others", view->answer->sets, goodput);
  fab_cli_append_findings (text, result->verdict);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static const char *const columns[] = {
  "kind",           "name",          "key", "ettr_fraction", "goodput_fraction", "calendar_s",
  "lost_gpu_hours", "stops_per_day", NULL
};

static void
add_known (FabTable *table, double value)
{
  if (isfinite (value))
    fab_table_add_real (table, value);
  else
    fab_table_add_null (table);
}

static void
add_row (FabTable *table, const char *kind, const char *name, const char *key, const FabGoodput *goodput)
{
  FabGoodputRecord row = fab_goodput_record (goodput, name);

  fab_table_add_text (table, kind);
  fab_table_add_text (table, name);
  fab_table_add_text (table, key);
  fab_table_add_real (table, row.ettr_fraction);
  fab_table_add_real (table, row.goodput_fraction);
  add_known (table, row.calendar_s);
  add_known (table, row.lost_gpu_hours);
  fab_table_add_real (table, row.stops_per_day);
}

static void
add_rows (FabTable *table, const char *kind, const GArray *changes)
{
  for (guint i = 0; i < changes->len; i++) {
    const FabGoodputChange *change = &g_array_index (changes, FabGoodputChange, i);

    add_row (table, kind, change->name, change->key, &change->goodput);
  }
}

static FabTable *
table_of (const GoodputView *view)
{
  FabTable *table = fab_table_new (columns);

  add_row (table, "as it is", fab_scenario_spec (view->scenario)->reliability.failures, NULL,
           &view->result->goodput);
  add_rows (table, "change", view->answer->changes);
  add_rows (table, "rates", view->answer->sets);
  return table;
}

static char *
goodput_csv (const GoodputView *view)
{
  g_autoptr (FabTable) table = table_of (view);

  return fab_table_to_csv (table);
}

static void
add_classes (FabJson *json, const FabGoodputCase *found)
{
  fab_json_begin_array (json, "classes");
  for (guint i = 0; i < found->rules.n_rates; i++) {
    const FabFailureRate *rate = &found->rates[i];

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", rate->name);
    fab_json_add_text (json, "does", fab_failure_effect_names[rate->effect]);
    fab_json_add_real (json, "per_day", rate->per_s * day_s);
    fab_json_add_flag (json, "repair", rate->takes_node);
    if (rate->effect == FAB_FAILURE_SLOWS)
      fab_json_add_real (json, "slowdown", rate->slowdown);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_trials (FabJson *json, const FabFailureTrials *trials)
{
  if (trials->n_trials == 0)
    return;
  fab_json_begin_object (json, "trials");
  fab_json_add_whole (json, "n", trials->n_trials);
  fab_json_add_real (json, "goodput_fraction", trials->mean_goodput_fraction);
  fab_json_add_real (json, "error_fraction", trials->error_fraction);
  fab_json_add_real (json, "stops", trials->mean_stops);
  fab_json_add_real (json, "planned", trials->mean_planned);
  fab_json_add_real (json, "wall_mean_s", trials->mean_wall_s);
  fab_json_add_real (json, "wall_p5_s", trials->low_wall_s);
  fab_json_add_real (json, "wall_p50_s", trials->median_wall_s);
  fab_json_add_real (json, "wall_p95_s", trials->high_wall_s);
  fab_json_end (json);
}

static char *
goodput_json (const GoodputView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (FabTable) table = table_of (view);
  g_autofree char *title = fab_cli_title (view->scenario);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", title);
  fab_json_add_real (json, "step_s", view->result->goodput.step_s);
  fab_json_begin_object (json, "goodput");
  fab_goodput_add_members (json, &view->result->goodput,
                           fab_scenario_spec (view->scenario)->reliability.failures,
                           fab_run_goodput_band (view->result));
  fab_json_end (json);
  fab_json_add_real (json, "checkpoint_bytes", view->result->failures->checkpoint.bytes);
  fab_json_add_real (json, "checkpoint_read_s", view->result->failures->checkpoint.read_s);
  fab_json_add_real (json, "writing_slowdown", view->result->failures->rules.background_slowdown);
  add_classes (json, view->result->failures);
  add_trials (json, &view->answer->trials);
  fab_cli_add_json_rows (json, "rows", table);
  fab_verdict_add_json (view->result->verdict, json, "verdict");
  fab_json_end (json);
  return fab_json_finish (json);
}

/* --- the command --- */

typedef struct {
  char *format_name, *trials;
  char **sets;
  gboolean is_oversized_allowed, has_no_band;
  FabFormat format;
} GoodputOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Predicts what failures cost a training. It prints the useful share of the time (ETTR), calendar days, lost\n"
      "GPU hours, how often each kind of part fails, how often to write a checkpoint, and what would help.\n\n"
      "The step and the time of a checkpoint are simulated. How often parts fail comes from a set of published\n"
      "rates that `reliability.failures` of the scenario names (`fabricast describe failures`). A\n"
      "formula gives the answer, and simulated lives of the job check it.",
  .examples =
      "  fabricast goodput scenarios/goodput-llama3-405b.yaml\n"
      "  fabricast goodput scenarios/goodput-llama3-405b.yaml --set reliability.failures=meta-research\n"
      "  fabricast goodput scenarios/goodput-llama3-405b.yaml --trials 1000 --format json\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
parse_trials (const char *text, gint64 *n, GError **error)
{
  g_autoptr (GError) cause = NULL;

  *n = FAB_GOODPUT_TRIALS;
  if (text == NULL)
    return TRUE;
  if (!fab_units_parse_whole (FAB_UNIT_COUNT, text, n, &cause))
    return fab_throw (error, FAB_ERROR_INPUT, "--trials %s: %s", text, cause->message);
  if (*n < 0 || *n > FAB_GOODPUT_MOST_TRIALS)
    return fab_throw (error, FAB_ERROR_INPUT, "--trials %s: 0 to %d are possible", text,
                      FAB_GOODPUT_MOST_TRIALS);
  return TRUE;
}

/* Why a run has no goodput. */
static gboolean
check_known (const FabScenario *scenario, const FabRunResult *result, GError **error)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);

  if (result->goodput.is_known)
    return TRUE;
  if (spec->reliability.failures == NULL)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s does not say how often parts fail; try --set reliability.failures=NAME with a set of "
        "`fabricast describe failures`",
        spec->name);
  return fab_throw (error, FAB_ERROR_INPUT, "a job of kind %s writes no checkpoints: only trainings do",
                    spec->job.info->name);
}

static gboolean
print (const GoodputOptions *o, const FabScenario *scenario, const FabRunResult *result, gint64 n_trials,
       FabProgress *progress, GError **error)
{
  typedef char *(*ToTextFn) (const GoodputView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = goodput_text, [FAB_FORMAT_JSON] = goodput_json, [FAB_FORMAT_CSV] = goodput_csv
  };
  g_autoptr (FabGoodputAnswer) answer = fab_goodput_answer (scenario, result, &fab_models, (guint) n_trials,
                                                            error);

  if (answer == NULL)
    return FALSE;
  g_autofree char *text = printers[o->format](&(GoodputView){ scenario, result, answer });
  fab_progress_stop (progress);
  fab_cli_print (o->format, text);
  if (o->format != FAB_FORMAT_TEXT)
    fab_cli_print_stops ("goodput", result->verdict);
  return TRUE;
}

static gboolean
goodput (const GoodputOptions *o, const char *path, FabExit *code, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog ? fab_cli_scenario (path, o->sets, catalog, error) : NULL;
  FabRunResult result = { 0 };
  gint64 n_trials;

  if (scenario == NULL || !parse_trials (o->trials, &n_trials, error))
    return FALSE;
  g_autoptr (FabProgress) progress = fab_progress_start ("iterations");
  const FabRunRequest request = { .registry = &fab_models,
                                  .pulse = fab_progress_pulse (progress),
                                  .n_threads = fab_thread_pool_size (fab_cli_threads ()),
                                  .advises = TRUE };
  gboolean is_done = fab_run_play (scenario, NULL, &request, &result, error)
                  && check_known (scenario, &result, error)
                  && (o->has_no_band || fab_run_find_band (scenario, &request, &result, error))
                  && print (o, scenario, &result, n_trials, progress, error);

  if (is_done)
    *code = fab_cli_verdict_exit (result.verdict, o->is_oversized_allowed);
  fab_run_result_clear (&result);
  return is_done;
}

static FabExit
run (int argc, char **argv)
{
  GoodputOptions o = { 0 };
  const GOptionEntry entries[] = { FAB_SET_ENTRY (&o.sets),
                                   { "trials", 0, 0, G_OPTION_ARG_STRING, &o.trials,
                                     "Number of simulated lives of the job (default 200; 0: none)", "N" },
                                   { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band,
                                     "Print no band of the step; saves further simulations", NULL },
                                   FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
                                   FAB_FORMAT_ENTRY (&o.format_name),
                                   G_OPTION_ENTRY_NULL };
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
                  && goodput (&o, argv[1], &code, &error);

  g_free (o.format_name);
  g_free (o.trials);
  g_strfreev (o.sets);
  return is_done ? code : fab_cli_fail ("goodput", error);
}

const FabCommand fab_command_goodput = {
  .name = "goodput",
  .summary = "Count with failures: useful share of the time, calendar days, checkpoints",
  .run = run,
};
