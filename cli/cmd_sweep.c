/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sweep.c - `fabricast sweep SCENARIO --vary KEY=VALUES`: every point of a grid, into a results file.
 *
 * SIGINT, SIGTERM and SIGHUP are held back and asked for between points, so that what is finished is kept.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/signals.h"
#include "cli/sweep.h"
#include "models/models.h"
#include "sim/base/crew.h"
#include "sim/base/error.h"

#define DEFAULT_DB "fabricast.db"
#define PROGRESS_US (G_USEC_PER_SEC / 5)
#define CLEAR_LINE "\r\033[K"

enum { BAR_WIDTH = 30 };

typedef struct {
  char *format_name, *db;
  char **vary, **zip, **sets;
  int jobs;
  FabFormat format;
} SweepOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Plays every combination of values of some keys, on all processors, and keeps each point in a results file as\n"
      "soon as it is done. Killed or stopped, the same command goes on where it was. Under mpirun or srun all ranks\n"
      "play, and rank 0 writes. Values are a list or a range (A..B:STEP, A..B:xFACTOR, A..B:/COUNT).",
  .examples =
      "  fabricast sweep scenarios/ddp-2b-4nodes-200g.yaml --vary cluster.nic_rate=100..800Gb/s:100\n"
      "  fabricast sweep scenarios/hello.yaml --vary job.micro_batch=1..8:x2 --vary job.recompute=none,full "
      "--db sweep.db\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* --- the person --- */

typedef struct {
  gboolean is_terminal, has_line, has_said;
  gint64 shown_us;
} Person;

static void
clear_line (Person *self)
{
  if (self->has_line)
    g_printerr (CLEAR_LINE);
  self->has_line = FALSE;
}

static void
show_note (gpointer data, const char *sentence)
{
  g_autofree char *text = fab_cli_printable (sentence);

  clear_line (data);
  g_printerr ("fabricast sweep: %s\n", text);
}

static void
show_bar (const FabSweepProgress *progress)
{
  gint64 n_now = progress->n_done - progress->n_there;
  char bar[BAR_WIDTH + 1] = "";

  for (guint i = 0; i < BAR_WIDTH; i++)
    bar[i] = (gint64) i < progress->n_done * BAR_WIDTH / progress->n_points ? '#' : '.';
  g_printerr (CLEAR_LINE "[%s] %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " points", bar, progress->n_done,
              progress->n_points);
  if (n_now > 0) {
    gint64 left_s = (gint64) ((double) progress->elapsed_us * (double) (progress->n_points - progress->n_done)
                              / (double) n_now / G_USEC_PER_SEC);

    g_printerr (", %" G_GINT64_FORMAT ":%02d left", left_s / 60, (int) (left_s % 60));
  }
}

static void
show_progress (gpointer data, const FabSweepProgress *progress)
{
  Person *self = data;

  if (!self->has_said && progress->n_there > 0)
    g_printerr ("resumed: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " points were there\n",
                progress->n_there, progress->n_points);
  self->has_said = TRUE;
  if (!self->is_terminal || g_get_monotonic_time () - self->shown_us < PROGRESS_US)
    return;
  show_bar (progress);
  self->has_line = TRUE;
  self->shown_us = g_get_monotonic_time ();
}

/* --- the sweep --- */

typedef struct {
  const SweepOptions *options;
  const char *path;
  FabRanks *ranks;
  FabGrid *grid;
  FabCatalog *catalog;
  FabSweepPlan *plan;
  FabStudy *study;
  Person person;
} Session;

static void
session_clear (Session *self)
{
  fab_sweep_plan_free (self->plan);
  fab_study_free (self->study);
  fab_catalog_free (self->catalog);
  fab_grid_free (self->grid);
}

static gboolean
prepare (Session *self, GError **error)
{
  const SweepOptions *o = self->options;

  self->grid = fab_grid_new ((const char *const *) o->vary, (const char *const *) o->zip, error);
  self->catalog = self->grid != NULL ? fab_cli_catalog (error) : NULL;
  if (self->catalog == NULL)
    return FALSE;
  self->study = fab_cli_study (self->path, o->sets, self->catalog, error);
  if (self->study == NULL)
    return FALSE;
  self->plan = fab_sweep_plan_new (self->study, self->grid, FAB_VERSION, error);
  return self->plan != NULL;
}

/* Returns the number of threads. Ranks on one machine share its processors unless each was bound to its own. */
static guint
count_threads (const Session *self)
{
  guint n_here = self->ranks != NULL ? self->ranks->n_here : 1;
  glong n_all = sysconf (_SC_NPROCESSORS_ONLN);
  guint share = (guint) MAX (n_all, 1) / n_here;

  if (self->options->jobs > 0)
    return (guint) self->options->jobs;
  return n_here > 1 ? MAX (1, MIN (fab_crew_size (fab_cli_threads ()), share))
                    : fab_crew_size (fab_cli_threads ());
}

static FabSweepSpec
spec_of (Session *self)
{
  return (FabSweepSpec){ .study = self->study,
                         .grid = self->grid,
                         .plan = self->plan,
                         .version = FAB_VERSION,
                         .n_threads = count_threads (self),
                         .ranks = self->ranks,
                         .data = &self->person,
                         .progress = show_progress,
                         .note = show_note,
                         .is_cancelled = fab_cli_is_interrupted };
}

static gboolean
explain_end (const FabSweepOutcome *outcome, const char *db)
{
  gint64 n = outcome->n_there + outcome->n_played + outcome->n_foreign;

  g_printerr ("fabricast sweep: stopped; %s has %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
              " points, and the same command goes on from there\n",
              db, n, outcome->n_points);
  return FALSE;
}

/* Prints the points. FALSE without *error: the person was already told. */
static gboolean
print_points (Session *self, FabStore *store, const FabSweepOutcome *outcome, const char *db, GError **error)
{
  FabSweepView view = { self->plan, self->grid, store, outcome, db };
  gint64 n_played = 0;
  g_autofree char *text = fab_sweep_print (&view, self->options->format, &n_played, error);

  if (text == NULL)
    return FALSE;
  g_print ("%s", text);
  if (n_played == 0)
    g_printerr ("fabricast sweep: none of the points can be played\n");
  return n_played > 0;
}

static gboolean
lead (Session *self, GError **error)
{
  const char *db = self->options->db != NULL ? self->options->db : DEFAULT_DB;
  g_autoptr (FabStore) store = fab_store_open (db, FAB_STORE_WRITE, error);
  FabSweepSpec spec = spec_of (self);
  FabSweepOutcome outcome;

  if (store == NULL) {
    if (self->ranks != NULL)
      fab_sweep_dismiss (self->ranks);
    return FALSE;
  }
  self->person.is_terminal = isatty (STDERR_FILENO) == 1;
  gboolean is_good = fab_sweep_run (&spec, store, &outcome, error);
  clear_line (&self->person);
  if (!is_good)
    return FALSE;
  if (outcome.is_cancelled)
    return explain_end (&outcome, db);
  return print_points (self, store, &outcome, db, error) && fab_store_close (&store, error);
}

/* A rank that is not 0 says nothing, rank 0 says it, but for a broken invariant. Where the ranks did not end together
 * MPI was not shut down, and what it would do at exit may wait for ranks that are gone. */
static gboolean
help (Session *self, const GError *problem, GError **error)
{
  g_autoptr (GError) broken = NULL;
  FabSweepSpec spec = problem == NULL ? spec_of (self) : (FabSweepSpec){ .ranks = self->ranks };

  spec.is_cancelled = fab_cli_is_interrupted;
  if (!fab_sweep_help (&spec, problem != NULL ? problem->message : NULL, &broken)) {
    if (broken == NULL)
      _exit (FAB_EXIT_INPUT);
    g_propagate_error (error, g_steal_pointer (&broken));
    return FALSE;
  }
  return problem == NULL;
}

static gboolean
sweep (const SweepOptions *o, const char *path, GError **error)
{
  Session self = { .options = o, .path = path };
  g_autoptr (GError) problem = NULL;
  gboolean is_done;

  fab_cli_hold_signals ();
  if (!fab_sweep_find_ranks (&self.ranks, error))
    return FALSE;
  gboolean is_prepared = prepare (&self, &problem);
  if (self.ranks != NULL && self.ranks->rank > 0) {
    is_done = help (&self, problem, error);
  } else if (is_prepared) {
    is_done = lead (&self, error);
  } else {
    if (self.ranks != NULL)
      fab_sweep_dismiss (self.ranks);
    g_propagate_error (error, g_steal_pointer (&problem));
    is_done = FALSE;
  }
  session_clear (&self);
  return is_done;
}

static gboolean
check (SweepOptions *o, GError **error)
{
  if (!fab_cli_format (o->format_name, &o->format, error))
    return FALSE;
  if (o->jobs < 0 || o->jobs > FAB_CREW_MOST_THREADS)
    return fab_throw (error, FAB_ERROR_INPUT, "--jobs %d: 1 to %d are possible", o->jobs,
                      FAB_CREW_MOST_THREADS);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  SweepOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "vary", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.vary,
      "A key and its values; several make a grid; repeatable", "KEY=VALUES" },
    { "zip", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.zip,
      "Keys that move together, \"KEY=VALUES KEY2=VALUES2\"; repeatable", "KEYS" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override any key of the scenario; repeatable",
      "KEY=VALUE" },
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o.db,
      "Results file; created when missing, points are added (default " DEFAULT_DB ")", "FILE" },
    { "jobs", 0, 0, G_OPTION_ARG_INT, &o.jobs, "Points played at once (default: one per processor)", "N" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_parsed = fab_cli_parse (&usage, entries, &argc, &argv, &error) && check (&o, &error);
  gboolean is_done = is_parsed && sweep (&o, argv[1], &error);

  g_free (o.format_name);
  g_free (o.db);
  g_strfreev (o.vary);
  g_strfreev (o.zip);
  g_strfreev (o.sets);
  if (error != NULL)
    return fab_cli_fail ("sweep", error);
  return is_done || !is_parsed ? FAB_EXIT_DONE : FAB_EXIT_INPUT;
}

const FabCommand fab_command_sweep = {
  .name = "sweep",
  .summary = "Play every combination of values of some keys, resumable, on many machines",
  .run = run,
};
