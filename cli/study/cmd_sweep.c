/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_sweep.c - `fabricast sweep SCENARIO --vary KEY=VALUES`: every point of a grid, into a results file.
 *
 * SIGINT, SIGTERM and SIGHUP are held back and asked for between points, so that what is finished is kept.
 */
#include "cli/study/cmd_sweep.h"

#include <stdio.h>
#include <unistd.h>

#include "answer/study/sweep.h"
#include "cli/memory.h"
#include "cli/signals.h"
#include "cli/study/choice_text.h"
#include "cli/study/hold_text.h"
#include "cli/study/points_text.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/curve.h"
#include "cli/verdict.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/shell.h"
#include "sim/base/thread_pool.h"
#include "sim/base/units.h"
#include "sim/base/version.h"

typedef struct {
  const FabSweepPlan *plan;
  const FabSweepOutcome *outcome;
  const FabSweepAnswer *answer;
  const char *db;
} FabSweepView;

/* More points than this are a table that nobody reads: then the best of them. */
enum { MOST_ROWS = 100, BEST_ROWS = 20 };

/* --- text --- */

/* Of all points, also of those that the table leaves out. */
static void
append_hold (GString *text, const FabSweepAnswer *answer)
{
  FabHoldRange range = { 0 };

  for (guint i = 0; i < answer->tries->len; i++)
    fab_hold_range_add (&range, fab_sweep_try (answer, i)->point);
  fab_hold_append (text, answer->study, &range);
}

static void
append_head (GString *text, const FabSweepView *view, const FabPoints *points)
{
  const FabSweepAnswer *answer = view->answer;
  g_autofree char *name = fab_cli_printable (view->plan->name);
  g_autofree char *summary = fab_cli_printable (view->plan->summary != NULL ? view->plan->summary : "");
  g_autofree char *crossed = g_strjoinv (" x ", points->columns);
  gint64 n_problems = (gint64) answer->tries->len - answer->n_played;

  g_string_append_printf (text, "%s%s%s\n\n", name, *summary != '\0' ? ": " : "", summary);
  g_string_append_printf (text, "  %u %s of %s", answer->tries->len,
                          fab_plural (answer->tries->len, "point", "points"), crossed);
  if (n_problems > 0)
    g_string_append_printf (text, "; %" G_GINT64_FORMAT " cannot be simulated", n_problems);
  g_string_append_c (text, '\n');
  append_hold (text, answer);
  g_string_append_c (text, '\n');
}

static char *
show_time (double seconds, G_GNUC_UNUSED gconstpointer of)
{
  return fab_figure_show (FAB_FIGURE_TIME, seconds);
}

/* Draws the step over the values of the only axis, for people on a terminal: all of them have to be played. */
static void
append_curve (GString *text, const FabSweepAnswer *answer)
{
  guint n = answer->tries->len;
  g_autofree double *steps = g_new (double, MAX (n, 1));
  g_autofree char *curve = NULL;

  if (answer->grid->axes->len != 1 || n < 3)
    return;
  for (guint i = 0; i < n; i++) {
    const FabPoint *point = fab_sweep_try (answer, i)->point;

    if (point == NULL)
      return;
    steps[i] = point->step_s;
  }
  g_autoptr (FabPoints) points = fab_sweep_points (answer);
  curve = fab_curve_for_screen (&(FabCurve){
      .title = "step",
      .first = fab_points_row (points, 0)->labels[0],
      .last = fab_points_row (points, n - 1)->labels[0],
      .prefix = "  ",
      .values = steps,
      .n = n,
      .show = show_time,
  });
  if (curve != NULL && *curve != '\0')
    g_string_append_printf (text, "%s\n", curve);
}

static char *
print_text (const FabSweepView *view)
{
  const FabSweepAnswer *answer = view->answer;
  GString *text = g_string_new (NULL);
  guint n = answer->tries->len, n_shown = n > MOST_ROWS ? BEST_ROWS : n;
  g_autoptr (FabPoints) points = n_shown < n ? fab_sweep_best_points (answer, n_shown)
                                             : fab_sweep_points (answer);
  gboolean has_best = n_shown == n && answer->n_accepted > 0 && n > 1;
  gboolean has_equals = has_best && fab_sweep_mark_best (answer, points);
  gboolean has_tokens = answer->n_played > 0
                     && fab_sweep_try (answer, answer->order[0])->point->tokens_per_s > 0;
  const char *best = has_tokens ? "the most tokens per second" : "the shortest step";

  append_head (text, view, points);
  append_curve (text, answer);
  fab_points_append_text (text, points);
  if (n_shown < n)
    g_string_append_printf (text, "\n  the %u %s with %s\n", n_shown, fab_plural (n_shown, "point", "points"),
                            best);
  else if (has_best)
    g_string_append_printf (text, "\n  < %s%s\n", best,
                            has_equals ? "; = no significant difference from it" : "");
  fab_spread_append_note (text, fab_points_n_seeds (points));
  fab_choice_append_text (text, answer->pairs);
  if (answer->n_accepted < answer->n_played)
    g_string_append_printf (text, "\n  %" G_GINT64_FORMAT " of the points %s not fit into memory%s\n",
                            answer->n_played - answer->n_accepted,
                            fab_plural ((guint64) (answer->n_played - answer->n_accepted), "does", "do"),
                            answer->n_accepted == 0 ? ", so there is none to recommend"
                                                    : "; the sweep recommends no such point");
  g_autofree char *word = fab_shell_word (view->db);
  g_string_append_printf (text,
                          "\n  sweep %" G_GINT64_FORMAT
                          " in %s; `fabricast query sweep --db %s` reads it back\n",
                          view->outcome->sweep_id, view->db, word);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static char *
print_csv (const FabSweepView *view)
{
  g_autoptr (FabPoints) points = fab_sweep_points (view->answer);

  return fab_points_csv (points);
}

static char *
print_json (const FabSweepView *view)
{
  g_autoptr (FabPoints) points = fab_sweep_points (view->answer);
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->plan->name);
  fab_json_add_text (json, "summary", view->plan->summary);
  fab_json_add_whole (json, "sweep_id", view->outcome->sweep_id);
  fab_json_add_text (json, "hold", points->hold);
  fab_points_add_json (json, "points", points);
  fab_choice_add_json (json, view->answer->pairs);
  fab_json_end (json);
  return fab_json_finish (json);
}

#define DEFAULT_DB "fabricast.db"
#define PROGRESS_US (G_USEC_PER_SEC / 5)
#define CLEAR_LINE "\r\033[K"

enum { BAR_WIDTH = 30 };

typedef struct {
  char *format_name, *db, *seeds, *hold;
  char **vary, **zip, **sets;
  int jobs;
  gboolean is_oversized_allowed, has_band;
  FabFormat format;
} SweepOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Simulates every combination of values of some keys, on all processors, and keeps each point in a results\n"
      "file as soon as it is done. If the sweep is stopped, the same command continues it. Under mpirun or srun\n"
      "all ranks simulate, and rank 0 writes. Values are a list or a range (A..B:STEP, A..B:xFACTOR,\n"
      "A..B:/COUNT).",
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
    g_printerr ("resumed: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " points were done before\n",
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

/* No axis may undo what --set says, and there must be memory for the largest point. */
static gboolean
check_axes (FabStudy *study, const FabGrid *grid, GError **error)
{
  g_autoptr (FabEdits) largest = fab_edits_new ();

  for (guint a = 0; a < grid->axes->len; a++) {
    const GPtrArray *keys = ((const FabGridAxis *) g_ptr_array_index (grid->axes, a))->keys;

    for (guint k = 0; k < keys->len; k++)
      if (!fab_study_check_vary (study, g_ptr_array_index (keys, k), error))
        return FALSE;
    fab_cli_add_largest (largest, (const FabAxis *const *) keys->pdata, keys->len);
  }
  return fab_cli_check_variant (study, largest, error);
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
  if (self->study == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &self->study->n_seeds, error)
      || !fab_hold_take (self->study, o->hold, NULL, 0, error)
      || !check_axes (self->study, self->grid, error))
    return FALSE;
  self->study->allows_oversized = o->is_oversized_allowed;
  self->plan = fab_sweep_plan_new (self->study, self->grid, fab_version (), error);
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
  return n_here > 1 ? MAX (1, MIN (fab_thread_pool_size (fab_cli_threads ()), share))
                    : fab_thread_pool_size (fab_cli_threads ());
}

static FabSweepSpec
spec_of (Session *self)
{
  return (FabSweepSpec){ .study = self->study,
                         .grid = self->grid,
                         .plan = self->plan,
                         .version = fab_version (),
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
              " points, and the same command continues the sweep\n",
              db, n, outcome->n_points);
  return FALSE;
}

/* Prints the points. FALSE without *error: the person was already told. */
static gboolean
print_points (const Session *self, FabStore *store, const FabSweepOutcome *outcome, const char *db,
              GError **error)
{
  typedef char *(*ToTextFn) (const FabSweepView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = print_text, [FAB_FORMAT_JSON] = print_json, [FAB_FORMAT_CSV] = print_csv
  };
  g_autoptr (FabSweepAnswer) answer = fab_sweep_answer (self->study, self->grid, store, outcome->sweep_id,
                                                        self->options->has_band, error);

  if (answer == NULL)
    return FALSE;
  g_autofree char *text = printers[self->options->format](&(FabSweepView){ self->plan, outcome, answer, db });
  fab_cli_print (self->options->format, text);
  if (answer->n_played == 0)
    g_printerr ("fabricast sweep: none of the points can be simulated\n");
  return answer->n_played > 0;
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
  if (o->jobs < 0 || o->jobs > FAB_THREAD_POOL_MOST_THREADS)
    return fab_throw (error, FAB_ERROR_INPUT, "--jobs %d: give a number from 1 to %d", o->jobs,
                      FAB_THREAD_POOL_MOST_THREADS);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  SweepOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "vary", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.vary,
      "Key and its values; repeatable, and several keys make a grid", "KEY=VALUES" },
    { "zip", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.zip,
      "Keys that move together, \"KEY=VALUES KEY2=VALUES2\"; repeatable", "KEYS" },
    FAB_SET_ENTRY (&o.sets),
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    { "db", 0, 0, G_OPTION_ARG_FILENAME, &o.db,
      "Results file; created if missing, otherwise points are added (default " DEFAULT_DB ")", "FILE" },
    FAB_HOLD_ENTRY (&o.hold),
    FAB_SEEDS_ENTRY (&o.seeds),
    { "band", 0, 0, G_OPTION_ARG_NONE, &o.has_band,
      "Print the band of each step, by two further simulations of each point", NULL },
    { "jobs", 0, 0, G_OPTION_ARG_INT, &o.jobs,
      "Number of points simulated at once (default: one per processor)", "N" },
    FAB_FORMAT_ENTRY (&o.format_name),
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_parsed = fab_cli_parse (&usage, entries, &argc, &argv, &error) && check (&o, &error);
  gboolean is_done = is_parsed && sweep (&o, argv[1], &error);

  g_free (o.format_name);
  g_free (o.seeds);
  g_free (o.hold);
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
  .summary = "Simulate every combination of values of some keys",
  .run = run,
};
