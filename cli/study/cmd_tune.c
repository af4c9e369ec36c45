/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tune.c - `fabricast tune SCENARIO [--knobs ...]`: bucket, prefetch, micro-batch for the best figure. */
#include <math.h>

#include "answer/study/tune.h"
#include "cli/cli.h"
#include "cli/search_options.h"
#include "cli/study/points_text.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/curve.h"
#include "cli/terminal/progress.h"
#include "cli/verdict.h"
#include "models/workload/training/choices.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabTuneAnswer *answer;
} FabTuneView;

/* The answer of `fabricast tune`: the best point, what it gains, the curve of every knob around it. */

static const FabKnob *
knob_of (const FabTune *self, guint knob)
{
  return g_ptr_array_index (self->knobs, knob);
}

/* --- text --- */

/* A job that does not fit may be among the values that were compared, where the person allows it. */
static gboolean
fits (const FabTune *self, const FabTunePoint *point)
{
  return fab_tune_is_good (self, point) && !fab_verdict_stops (point->trial.point->verdict);
}

static void
append_point (GString *text, const FabTune *self, const char *what, const FabTunePoint *point)
{
  const FabPoint *played = point->trial.point;
  g_autofree char *name = fab_tune_point_name (self, point);
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, played->step_s * FAB_PS_PER_S);
  g_autofree char *gb = fab_search_gigabytes ((double) played->memory_bytes);

  g_autofree char *range = fab_spread_show (fab_figure_find ("step"), played);
  g_autofree char *seeds = played->draws != NULL ? g_strdup_printf (" (%s over seeds)", range)
                                                 : g_strdup ("");

  g_string_append_printf (text,
                          "  %-12s%s\n  %-12sstep %s%s, %.0f tokens/s, %.1f %% exposed, %s GB of memory%s\n",
                          what, name, "", step, seeds, played->tokens_per_s,
                          100 * played->exposed_s / played->step_s, gb,
                          fits (self, point) ? "" : ": does not fit");
  if (played->bottleneck != NULL)
    g_string_append_printf (text, "  %-12slimited by %s\n", "", fab_points_limit (played, TRUE));
}

static void
append_gain (GString *text, const FabTuneAnswer *answer)
{
  const FabTune *self = answer->tune;
  const FabPairedBand *band = &answer->gain_band;
  const FabPoint *then = self->written->trial.point, *now = self->best->trial.point;
  guint n_seeds = fab_spread_n_seeds (now);
  g_autofree char *change = fab_spread_show_change (then, now);

  if (answer->gain == FAB_TUNE_IS_WRITTEN)
    g_string_append (text, "  gain        none, because the scenario already has the best values\n");
  else if (answer->gain == FAB_TUNE_NOW_FITS)
    g_string_append (text, "  gain        the job fits into memory\n");
  else if (answer->gain == FAB_TUNE_WITHIN_SPREAD)
    g_string_append_printf (text, "  gain        not significant: step %s with %u seeds\n", change, n_seeds);
  else
    g_string_append_printf (
        text, "  gain        step %+.1f %%, tokens/s %+.1f %%%s\n",
        fab_percent (fab_spread_step_change (then, now).median),
        then->tokens_per_s > 0 ? fab_percent (now->tokens_per_s / then->tokens_per_s - 1) : 0,
        answer->gain == FAB_TUNE_HARDLY_MATTERS ? ", less than 1 %, so it hardly matters" : "");
  if (band->change.n > 0)
    g_string_append_printf (text, "  band        step %+.1f to %+.1f %%, most by %s%s\n",
                            fab_percent (band->low_fraction), fab_percent (band->high_fraction),
                            fab_paired_most (band), fab_paired_may_be_none (band) ? ", possibly none" : "");
  if (n_seeds > 1 && self->best != self->written && !fab_spread_is_within (self->by, then, now))
    g_string_append_printf (text, "              step %s over %u seeds\n", change, n_seeds);
}

static void
append_value (GString *text, const FabTune *self, guint k, guint v)
{
  const FabKnob *knob = knob_of (self, k);
  const FabTunePoint *point = fab_tune_curve (self, k, v);
  const FabPoint *played = point->trial.point;
  const char *mark = v == self->best->values[k] ? "  < best" : "";

  g_string_append_printf (text, "    %-12s", fab_knob_value (knob, v)->label);
  if (played == NULL) {
    g_auto (GStrv) lines = g_strsplit (point->trial.problem, "\n", 2);

    g_string_append_printf (text, "\v  cannot be simulated: %s\n", lines[0]);
    return;
  }
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, played->step_s * FAB_PS_PER_S);
  g_autofree char *gb = fab_search_gigabytes ((double) played->memory_bytes);
  g_string_append_printf (text, "\v%12s\v%12.0f\v%10.1f %%\v%9s GB", step, played->tokens_per_s,
                          100 * played->exposed_s / played->step_s, gb);
  if (fab_tune_is_good (self, point))
    g_string_append_printf (text, "\v%9.1f %%%s", 100 * fab_tune_loss (self, point),
                            v != self->best->values[k]
                                    && fab_spread_is_within (self->by, self->best->trial.point, played)
                                ? "  ="
                                : mark);
  if (!fits (self, point))
    g_string_append_printf (text, "%s  does not fit", fab_tune_is_good (self, point) ? "" : "\v");
  g_string_append_printf (text, "%s\n", v == knob->written ? "  (as written)" : "");
}

static void
append_flatness (GString *text, const FabKnob *knob, const FabTuneFlat *flat, guint n_good)
{
  if (n_good == 1)
    g_string_append (text, "    alone: no other value can be simulated and fits\n");
  else if (flat->first == flat->last)
    g_string_append_printf (text, "    sharp: the neighbouring values lose more than %.0f %%\n",
                            100 * fab_tune_flat_fraction);
  else
    g_string_append_printf (text, "    flat from %s to %s: these values are within %.0f %% of the best\n",
                            fab_knob_value (knob, flat->first)->label,
                            fab_knob_value (knob, flat->last)->label, 100 * fab_tune_flat_fraction);
}

static char *
show_time (double seconds, G_GNUC_UNUSED gconstpointer of)
{
  return fab_figure_show (FAB_FIGURE_TIME, seconds);
}

/* Draws the step over the values of a knob, for people on a terminal, without those that do not fit. */
static void
append_picture (GString *text, const FabTune *self, guint k)
{
  const FabKnob *knob = knob_of (self, k);
  guint n = knob->values->len, best = self->best->values[k];
  g_autofree double *steps = g_new (double, MAX (n, 1));

  for (guint v = 0; v < n; v++) {
    const FabTunePoint *point = fab_tune_curve (self, k, v);

    steps[v] = fab_tune_is_good (self, point) ? point->trial.point->step_s : NAN;
  }
  FabCurve curve = {
    .title = "step",
    .first = "",
    .last = "",
    .prefix = "    ",
    .values = steps,
    .n = n,
    .show = show_time,
    .mark = "best",
    .marked = best,
  };
  if (n > 0) {
    curve.first = fab_knob_value (knob, 0)->label;
    curve.last = fab_knob_value (knob, n - 1)->label;
  }
  g_autofree char *picture = fab_curve_for_screen (&curve);
  if (picture != NULL && *picture != '\0')
    g_string_append_printf (text, "\n%s", picture);
}

static void
append_curve (GString *text, const FabTuneAnswer *answer, guint k)
{
  const FabTune *self = answer->tune;
  const FabKnob *knob = knob_of (self, k);
  guint n_good = 0;

  g_string_append_printf (text, "\n  %s: job.%s\n  %s\n", knob->name, knob->key, knob->source);
  g_string_append_printf (text, "    %-12s\v%12s\v%12s\v%12s\v%12s\v%11s\n", "value", "step", "tokens/s",
                          "exposed", "memory", "worse by");
  for (guint v = 0; v < knob->values->len; v++) {
    append_value (text, self, k, v);
    n_good += fab_tune_is_good (self, fab_tune_curve (self, k, v)) ? 1 : 0;
  }
  append_flatness (text, knob, &g_array_index (answer->flats, FabTuneFlat, k), n_good);
  append_picture (text, self, k);
}

/* Format the view. (transfer full) */
static char *
tune_text (const FabTuneView *view)
{
  const FabTune *self = view->answer->tune;
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n\n", view->title);
  append_point (text, self, "as written", self->written);
  if (self->best == NULL) {
    g_autofree char *gb = fab_search_gigabytes ((double) self->most_bytes);

    g_string_append_printf (text, "  best        none, because no tried value fits in %s GB\n", gb);
  } else {
    append_point (text, self, "best", self->best);
    append_gain (text, view->answer);
    for (guint k = 0; k < self->knobs->len; k++)
      append_curve (text, view->answer, k);
  }
  g_string_append_printf (text, "\n  by %s; %u of %.0f points were simulated%s\n", self->by->name,
                          self->points->len, self->n_all,
                          self->is_whole ? "" : ": one knob after the other, from three starting points");
  if (self->written->trial.point->draws != NULL)
    g_string_append (text, "\n  = no significant difference from the best");
  fab_spread_append_note (text, fab_spread_n_seeds (self->written->trial.point));
  if (self->best != NULL)
    fab_cli_append_findings (text, self->best->trial.point->verdict);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static char *
tune_csv (const FabTuneView *view)
{
  g_autoptr (FabPoints) points = fab_tune_points (view->answer);

  return fab_points_csv (points);
}

static void
add_knob (FabJson *json, const FabTune *self, guint k)
{
  const FabKnob *knob = knob_of (self, k);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "knob", knob->name);
  fab_json_add_text (json, "key", knob->key);
  fab_json_add_text (json, "source", knob->source);
  fab_json_add_text (json, "written", fab_knob_value (knob, knob->written)->label);
  fab_json_add_text (json, "best", self->best ? fab_knob_value (knob, self->best->values[k])->label : NULL);
  fab_json_end (json);
}

static char *
tune_json (const FabTuneView *view)
{
  const FabTune *self = view->answer->tune;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (FabPoints) points = fab_tune_points (view->answer);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "by", self->by->name);
  fab_json_add_real (json, "points_in_all", self->n_all);
  fab_json_add_whole (json, "memory_limit_bytes", (gint64) self->most_bytes);
  fab_json_begin_array (json, "knobs");
  for (guint k = 0; k < self->knobs->len; k++)
    add_knob (json, self, k);
  fab_json_end (json);
  fab_json_begin_array (json, "assignments");
  for (guint i = 0; self->best != NULL && i < fab_edits_count (self->best->edits); i++)
    fab_json_add_text (json, NULL, fab_edits_at (self->best->edits, i)->text);
  fab_json_end (json);
  fab_points_add_json (json, "points", points);
  fab_json_end (json);
  return fab_json_finish (json);
}

typedef struct {
  char *format_name, *knobs, *by, *memory, *out, *seeds;
  char **sets;
  gboolean is_oversized_allowed;
  FabFormat format;
} TuneOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Finds the values of a training job's knobs with which it is fastest. It prints the best values, the\n"
      "curve of each knob around them, and the gain. Exit code 1: nothing fits.\n\n"
      "A job has the knobs of its framework. The number of sequences per step stays the same, and values that do\n"
      "not fit into memory are left out. Without --knobs, it varies bucket, prefetch and micro_batch, as far as\n"
      "the job has them.",
  .examples = "  fabricast tune scenarios/ddp-2b-4nodes-200g.yaml\n"
              "  fabricast tune scenarios/zero3-13b-slow-fabric.yaml --knobs prefetch,recompute\n"
              "  fabricast tune scenarios/hello.yaml --by exposed --memory 40GB -o best.yaml\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
write_best (const TuneOptions *o, const FabStudy *study, const FabTune *tune, GError **error)
{
  if (o->out == NULL)
    return TRUE;
  if (tune->best == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--out %s is not written, because no tried value fits in "
                      "memory",
                      o->out);
  g_autofree char *name = fab_tune_point_name (tune, tune->best);
  g_autofree char *why = g_strdup_printf ("%s with %s, which fabricast tune found best by %s", study->path,
                                          name, tune->by->name);
  return fab_search_option_out (study, tune->best->edits, why, o->out, error);
}

static gboolean
tune (const TuneOptions *o, const char *path, FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const FabTuneView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = tune_text, [FAB_FORMAT_JSON] = tune_json, [FAB_FORMAT_CSV] = tune_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  const FabFigure *by = catalog ? fab_search_option_by (o->by, error) : NULL;
  FabBytes most_bytes;

  if (by == NULL || !fab_search_option_memory (o->memory, &most_bytes, error))
    return FALSE;
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  if (study == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error)
      || !fab_search_option_check_out (study, o->out, error))
    return FALSE;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  g_autoptr (GPtrArray) knobs = scenario ? fab_job_knobs (scenario, o->knobs, error) : NULL;
  if (knobs == NULL)
    return FALSE;
  g_autoptr (FabProgress) progress = fab_progress_start ("points");
  study->pulse = fab_progress_pulse (progress);
  study->allows_oversized = o->is_oversized_allowed;
  g_autoptr (FabTuneAnswer) answer = fab_tune_answer (study, knobs, by, most_bytes, error);
  g_autofree char *title = answer ? fab_cli_study_title (study, error) : NULL;
  fab_progress_stop (progress);
  if (title == NULL)
    return FALSE;
  g_autofree char *text = printers[o->format](&(FabTuneView){ title, answer });
  fab_cli_print (o->format, text);
  *code = answer->tune->best != NULL ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
  return write_best (o, study, answer->tune, error);
}

static FabExit
run (int argc, char **argv)
{
  TuneOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "knobs", 0, 0, G_OPTION_ARG_STRING, &o.knobs,
      "Knobs to vary; an unknown name lists the knobs of the job (default: bucket, prefetch, micro_batch)",
      "NAMES" },
    { "by", 0, 0, G_OPTION_ARG_STRING, &o.by, "Figure to optimise: tokens (default), step, exposed, ...",
      "FIGURE" },
    { "memory", 0, 0, G_OPTION_ARG_STRING, &o.memory, "Memory that a GPU may use (default: all of it)",
      "BYTES" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, "Write the best one as a scenario", "FILE" },
    FAB_SET_ENTRY (&o.sets),
    FAB_SEEDS_ENTRY (&o.seeds),
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    FAB_FORMAT_ENTRY (&o.format_name),
    G_OPTION_ENTRY_NULL
  };
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error) && tune (&o, argv[1], &code, &error);
  char *texts[] = { o.format_name, o.knobs, o.by, o.memory, o.out, o.seeds };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (o.sets);
  return is_done ? code : fab_cli_fail ("tune", error);
}

const FabCommand fab_command_tune = {
  .name = "tune",
  .summary = "Find the best bucket, prefetch and micro-batch of a job",
  .run = run,
};
