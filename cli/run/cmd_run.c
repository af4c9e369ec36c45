/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - `fabricast run SCENARIO`: one page of answer, and the results database. */
#include <unistd.h>

#include "answer/seeds.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/run/run.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/rows.h"
#include "cli/terminal/terminal.h"
#include "cli/verdict.h"
#include "formats/export/trace.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/shell.h"
#include "sim/base/thread_pool.h"
#include "sim/base/units.h"
#include "sim/base/version.h"

typedef struct {
  const char *path;
  char **sets;         /* NULL-ended; the first seed is the one in them, or the scenario's */
  const char *n_seeds; /* as the person wrote it */
  const char *db;      /* gets a run for each seed; NULL: none is written */
  FabFormat format;
  gboolean is_oversized_allowed;
} FabRunSeeds;

static char *
text_page (const FabSeeds *seeds, const char *db)
{
  GString *page = g_string_new (NULL);
  const GArray *samples = seeds->samples;
  gint64 first = seeds->first_seed;
  g_autofree char *name = fab_cli_printable (seeds->name);

  fab_cli_append_stops (page, seeds->verdict);
  g_string_append_printf (page,
                          "%s: seeds %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          " %s each\n\n  %-16s",
                          name, first, first + seeds->n_seeds - 1, seeds->n_iterations,
                          fab_plural ((guint64) seeds->n_iterations, "iteration", "iterations"), "");
  for (guint p = 0; p < FAB_N_PERCENTILES; p++)
    g_string_append_printf (page, "\v%12s", fab_percentile_names[p]);
  for (guint t = 0; t < FAB_N_SEED_TIMES; t++) {
    g_string_append_printf (page, "\n  %-16s", seeds->times[t].name);
    for (guint p = 0; p < FAB_N_PERCENTILES; p++) {
      g_autofree char *shown = fab_units_show (FAB_UNIT_TIME, (double) seeds->times[t].percentiles_ps[p]);
      g_string_append_printf (page, "\v%12s", shown);
    }
  }
  g_string_append_c (page, '\n');
  fab_cli_append_findings (page, seeds->verdict);
  if (db != NULL) {
    g_autofree char *word = fab_shell_word (db);

    g_string_append_printf (page,
                            "\n  runs %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                            " in %s; `fabricast query runs --db %s` lists them\n",
                            g_array_index (samples, FabSeedSample, 0).run_id,
                            g_array_index (samples, FabSeedSample, samples->len - 1).run_id, db, word);
  }
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
  fab_json_add_text (json, "version", fab_version ());
  fab_json_add_whole (json, "seeds", seeds->n_seeds);
  for (guint t = 0; t < FAB_N_SEED_TIMES; t++) {
    fab_json_begin_object (json, seeds->times[t].key);
    for (guint p = 0; p < FAB_N_PERCENTILES; p++)
      fab_json_add_real (json, fab_percentile_names[p],
                         fab_ps_to_seconds (seeds->times[t].percentiles_ps[p]));
    fab_json_end (json);
  }
  fab_verdict_add_json (seeds->verdict, json, "verdict");
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
    return fab_throw (error, FAB_ERROR_INPUT, "--seeds %s: give a number from 1 to %d", text, FAB_MOST_SEEDS);
  return TRUE;
}

/* Of all seeds, of which several are played at once. */
static gboolean
count_iteration (gpointer owner, G_GNUC_UNUSED guint n_done, G_GNUC_UNUSED gint64 n_all,
                 G_GNUC_UNUSED double wall_s)
{
  fab_pulse_beat (owner);
  return TRUE;
}

/* Runs and prints. FALSE and *error, which names the seed, when one of them could not run. */
static gboolean
run_seeds (const FabRunSeeds *request, const FabCatalog *catalog, FabExit *code, GError **error)
{
  FabSeedsRequest asked = {
    .run = { .registry = &fab_models, .db = request->db, .progress = count_iteration, .advises = TRUE },
  };
  g_autoptr (FabProgress) progress = fab_progress_start ("iterations");

  asked.run.owner = fab_progress_pulse (progress);
  if (!parse_count (request->n_seeds, &asked.n_seeds, error))
    return FALSE;
  g_autoptr (FabScenario) scenario = fab_cli_scenario (request->path, request->sets, catalog, error);
  if (scenario == NULL)
    return FALSE;
  asked.scenario = scenario;
  asked.n_threads = fab_cli_threads ();
  g_autoptr (FabSeeds) seeds = fab_seeds_play (&asked, error);
  if (seeds == NULL)
    return FALSE;
  g_autofree char *text = request->format == FAB_FORMAT_CSV  ? csv_page (seeds)
                        : request->format == FAB_FORMAT_JSON ? json_page (seeds)
                                                             : text_page (seeds, request->db);
  fab_progress_stop (progress);
  fab_cli_print (request->format, text);
  if (request->format != FAB_FORMAT_TEXT)
    fab_cli_print_stops ("run", seeds->verdict);
  *code = fab_cli_verdict_exit (seeds->verdict, request->is_oversized_allowed);
  return TRUE;
}

#define DEFAULT_DB "fabricast.db"

typedef struct {
  char *format_name, *db, *fidelity, *iterations, *seed, *seeds, *trace, *rows;
  char **sets;
  gboolean is_brief, is_full, has_no_db, has_no_band, has_no_bottleneck, has_no_fold, has_no_memo,
      is_oversized_allowed;
  FabFormat format;
} RunOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Simulates a scenario. It prints the time of a step, how much communication is exposed, what limits\n"
      "the step, and how sure that is. On a terminal it prints the twelve lines of --brief; --full prints every\n"
      "figure, and --rows some of them. Every iteration is stored in an SQLite file (see `fabricast query`).\n\n"
      "SCENARIO is a file, or the name of a scenario that comes with Fabricast, such as hello (see\n"
      "`fabricast describe scenarios`).\n\n"
      "The step has a band that holds in 90 % of cases. For it, the job is simulated again with all\n"
      "collectives, and then with all kernels, as fast and as slow as measured ones were beside their\n"
      "predictions. Where a link states the error of its numbers (`uncertainty`), both ends of their 95 %\n"
      "interval are used instead.\n\n"
      "What limits the step is what shortens it most when it is changed. The job is simulated again with each\n"
      "kind of link twice as fast, as many NICs again, twice the library's channels, no latency, compute\n"
      "twice as fast, and more. Where another seed can give other figures, eight seeds are compared.",
  .examples = "  fabricast run hello\n"
              "  fabricast run hello --full\n"
              "  fabricast run hello --rows step,exposed,timeline\n"
              "  fabricast run scenarios/ddp-2b-4nodes-200g.yaml --set job.bucket=100MiB --no-db\n"
              "  fabricast run scenarios/ddp-2b-4nodes-200g.yaml --set cluster.nodes=8 --format json\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* Options that choose what of the page is printed. */
static gboolean
check_page (const RunOptions *o, GError **error)
{
  if (o->is_brief + o->is_full + (o->rows != NULL) > 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--brief, --full and --rows are three pages; give one of them");
  if (o->is_brief && o->format != FAB_FORMAT_TEXT)
    return fab_throw (error, FAB_ERROR_INPUT, "--brief is a page of text; leave --format out");
  if ((o->is_brief || o->rows != NULL) && o->seeds != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--seeds has a page of its own; leave --brief and --rows out");
  return fab_cli_check_rows (o->format, o->rows, error);
}

static gboolean
parse (RunOptions *o, int *argc, char ***argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "brief", 0, 0, G_OPTION_ARG_NONE, &o->is_brief,
      "Print at most twelve lines; the default where stdout is a terminal", NULL },
    { "full", 0, 0, G_OPTION_ARG_NONE, &o->is_full, "Print the whole page; the default elsewhere", NULL },
    FAB_ROWS_ENTRY (&o->rows, "step,exposed"),
    FAB_FORMAT_ENTRY (&o->format_name),
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o->db,
      "Results file; created if missing, otherwise the run is added (default " DEFAULT_DB ")", "FILE" },
    { "no-db", 0, 0, G_OPTION_ARG_NONE, &o->has_no_db, "Write no results file", NULL },
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o->has_no_band,
      "Print no band of the step; saves further simulations", NULL },
    { "no-bottleneck", 0, 0, G_OPTION_ARG_NONE, &o->has_no_bottleneck,
      "Do not say what limits the step; saves further simulations", NULL },
    { "no-fold", 0, 0, G_OPTION_ARG_NONE, &o->has_no_fold,
      "Short for --set fold=false: simulate every rank, node and link by itself; the same figures, slower",
      NULL },
    { "no-memo", 0, 0, G_OPTION_ARG_NONE, &o->has_no_memo,
      "Short for --set fidelity.memo=false: simulate repeated traffic instead of reusing its times", NULL },
    FAB_ALLOW_OVERSIZED_ENTRY (&o->is_oversized_allowed),
    { "iterations", 0, 0, G_OPTION_ARG_STRING, &o->iterations, "Short for --set iterations=N", "N" },
    { "fidelity", 0, 0, G_OPTION_ARG_STRING, &o->fidelity,
      "Short for --set fidelity=NAME: analytic, fluid, step, packet, sampled", "NAME" },
    { "seed", 0, 0, G_OPTION_ARG_STRING, &o->seed, "Short for --set seed=N", "N" },
    { "seeds", 0, 0, G_OPTION_ARG_STRING, &o->seeds,
      "Simulate N seeds, from the scenario's on, and print percentiles over all iterations", "N" },
    { "trace", 0, 0, G_OPTION_ARG_FILENAME, &o->trace,
      "Also write the run as a Chrome trace (see `fabricast trace`)", "FILE" },
    FAB_SET_ENTRY (&o->sets),
    G_OPTION_ENTRY_NULL
  };

  if (!fab_cli_parse (&usage, entries, argc, argv, error)
      || !fab_cli_format (o->format_name, &o->format, error) || !check_page (o, error))
    return FALSE;
  if (o->db && o->has_no_db)
    return fab_throw (error, FAB_ERROR_INPUT, "give either --db FILE or --no-db, not both");
  fab_cli_keep_stdout (o->trace);
  if (o->trace && o->has_no_db)
    return fab_throw (error, FAB_ERROR_INPUT, "--trace is written from the results file; leave --no-db out");
  if (o->trace && o->seeds)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "--trace writes one run, but --seeds simulates several; `fabricast trace --run ID` writes any of "
        "them");
  return TRUE;
}

/* Adds the assignment for --no-memo; only some fidelities have the key. FALSE and *error when the scenario cannot be
 * read. */
static gboolean
leave_memo_out (const char *path, char ***sets, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_cli_scenario (path, *sets, catalog, error);
  guint n = g_strv_length (*sets);

  if (scenario == NULL)
    return FALSE;
  if (((const FabNetOps *) fab_scenario_spec (scenario)->fidelity.info)->remembers == NULL)
    return TRUE;
  *sets = g_renew (char *, *sets, n + 2);
  (*sets)[n] = g_strdup ("fidelity.memo=false");
  (*sets)[n + 1] = NULL;
  return TRUE;
}

/* Turns the short options into assignments, so that they are checked like any other. They come first: --set may add
 * keys to the fidelity that is named, and may not undo what they say. */
static char **
all_sets (const RunOptions *o)
{
  GPtrArray *sets = g_ptr_array_new ();

  if (o->iterations)
    g_ptr_array_add (sets, g_strconcat ("iterations=", o->iterations, NULL));
  if (o->seed)
    g_ptr_array_add (sets, g_strconcat ("seed=", o->seed, NULL));
  if (o->has_no_fold)
    g_ptr_array_add (sets, g_strdup ("fold=false"));
  if (o->fidelity)
    g_ptr_array_add (sets, g_strdup_printf ("fidelity=%s", o->fidelity));
  for (guint i = 0; o->sets && o->sets[i]; i++)
    g_ptr_array_add (sets, g_strdup (o->sets[i]));
  g_ptr_array_add (sets, NULL);
  return (char **) g_ptr_array_free (sets, FALSE);
}

/* A page of text: the chosen rows, the first screen or all of it. NULL and *error: there is no such row. */
static char *
text_of_run (const FabScenario *scenario, const FabRunResult *result, const FabRunCommand *command,
             const RunOptions *o, GError **error)
{
  if (o->rows != NULL)
    return fab_run_rows (scenario, result, command, o->rows, error);
  if (o->is_brief || (!o->is_full && fab_terminal_is_there (STDOUT_FILENO)))
    return fab_run_brief (scenario, result, command);
  return fab_run_page (scenario, result, command);
}

static gboolean
print_result (const FabScenario *scenario, const FabRunRequest *request, const FabRunResult *result,
              const FabRunCommand *command, const RunOptions *o, GError **error)
{
  g_autofree char *text = o->format == FAB_FORMAT_CSV  ? fab_run_csv (result)
                        : o->format == FAB_FORMAT_JSON ? fab_run_json (scenario, result)
                                                       : text_of_run (scenario, result, command, o, error);
  fab_progress_stop (request->owner);
  if (text == NULL)
    return FALSE;
  if (o->format != FAB_FORMAT_TEXT || o->rows != NULL)
    fab_cli_print_stops ("run", result->verdict);
  fab_cli_print (o->format, text);
  return TRUE;
}

static gboolean
write_trace (const char *db, gint64 run_id, const char *path, GError **error)
{
  g_auto (FabTraceSource) source = { 0 };

  return fab_trace_source_open (&source, db, run_id, -1, -1, error)
      && fab_trace_write_chrome (&source, path, error);
}

static gboolean
find_band (const FabScenario *scenario, const FabRunRequest *request, FabRunResult *result, GError **error)
{
  fab_progress_next (request->owner, "plays for the band");
  return fab_run_find_band (scenario, request, result, error);
}

static gboolean
find_bottleneck (const FabScenario *scenario, const FabRunRequest *request, FabRunResult *result,
                 GError **error)
{
  fab_progress_next (request->owner, "what-ifs");
  return fab_run_find_bottleneck (scenario, request, result, error);
}

static gboolean
run_scenario (const RunOptions *o, const char *path, FabExit *code, GError **error)
{
  g_auto (GStrv) sets = all_sets (o);
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  const char *db = o->has_no_db ? NULL : o->db ? o->db : DEFAULT_DB;
  FabRunResult result = { 0 };

  if (catalog && o->has_no_memo && !leave_memo_out (path, &sets, catalog, error))
    return FALSE;
  if (catalog && o->seeds)
    return run_seeds (&(FabRunSeeds){ path, sets, o->seeds, db, o->format, o->is_oversized_allowed }, catalog,
                      code, error);
  g_autoptr (FabScenario) scenario = catalog ? fab_cli_scenario (path, sets, catalog, error) : NULL;
  if (scenario == NULL || !fab_cli_check_scenario_out ("--trace", o->trace, scenario, db, error))
    return FALSE;
  g_autoptr (FabProgress) progress = fab_progress_start ("iterations");
  FabRunRequest request = {
    .registry = &fab_models,
    .db = db,
    .pulse = fab_progress_pulse (progress),
    .owner = progress,
    .n_threads = fab_thread_pool_size (fab_cli_threads ()),
    .advises = TRUE,
  };
  const FabRunCommand command = { path, db, (const char *const *) sets };
  gboolean is_done = fab_run_play (scenario, NULL, &request, &result, error)
                  && fab_run_find_jobs (scenario, &request, &result, error)
                  && (o->has_no_band || find_band (scenario, &request, &result, error))
                  && (o->has_no_bottleneck || find_bottleneck (scenario, &request, &result, error))
                  && fab_run_store_outlook (db, &result, error)
                  && print_result (scenario, &request, &result, &command, o, error)
                  && (o->trace == NULL || write_trace (db, result.run_id, o->trace, error));
  if (is_done)
    *code = fab_cli_verdict_exit (result.verdict, o->is_oversized_allowed);
  fab_run_result_clear (&result);
  return is_done;
}

static FabExit
run (int argc, char **argv)
{
  RunOptions o = { 0 };
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = parse (&o, &argc, &argv, &error) && run_scenario (&o, argv[1], &code, &error);

  g_free (o.format_name);
  g_free (o.db);
  g_free (o.fidelity);
  g_free (o.iterations);
  g_free (o.seed);
  g_free (o.trace);
  g_free (o.rows);
  g_free (o.seeds);
  g_strfreev (o.sets);
  return is_done ? code : fab_cli_fail ("run", error);
}

const FabCommand fab_command_run = {
  .name = "run",
  .summary = "Simulate a scenario: step time, exposed communication, what limits it",
  .run = run,
};
