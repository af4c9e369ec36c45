/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_scale.c - `fabricast scale SCENARIO --gpus 8..4096:x2`: the same job on more and more GPUs. */
#include <math.h>
#include <string.h>

#include "answer/study/scale.h"
#include "cli/cli.h"
#include "cli/study/choice_text.h"
#include "cli/study/hold_text.h"
#include "cli/study/points_text.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/curve.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/terminal.h"
#include "cli/verdict.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"
#include "sim/study/machine.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabScaleAnswer *answer;
} FabScaleView;

/* The page of `fabricast scale`: sentences, a table, a curve. */

enum { BEFORE_CURVE = 11, AFTER_CURVE = 35, FILE_COLUMNS = BEFORE_CURVE + 50 + AFTER_CURVE };

static const FabScalePoint *
point_at (const FabScaleView *view, gint index)
{
  return &view->answer->scaling->points[index];
}

/* --- words --- */

static void
append_efficient (GString *text, const FabScaleView *view)
{
  const FabScaling *scaling = view->answer->scaling;
  const FabScalePoint *last = point_at (view, scaling->last);
  double bound = 100 * view->answer->spec.bound;

  if (scaling->efficient == scaling->last)
    g_string_append_printf (
        text, "  Up to %u %s, the largest number simulated, efficiency stays at %.4g %% or more: %.1f %%.\n",
        last->n_gpus, fab_plural (last->n_gpus, "GPU", "GPUs"), bound, 100 * last->efficiency);
  else
    g_string_append_printf (text, "  Up to %u %s efficiency stays at %.4g %% or more; at %u it is %.1f %%.\n",
                            point_at (view, scaling->efficient)->n_gpus,
                            fab_plural (point_at (view, scaling->efficient)->n_gpus, "GPU", "GPUs"), bound,
                            last->n_gpus, 100 * last->efficiency);
}

/* Points per doubling, without the sign of what is nothing. */
static double
points_of (double slope)
{
  return round (1000 * slope) / 10 + 0.0;
}

static void
append_bend (GString *text, const FabScaleView *view)
{
  const FabScaling *scaling = view->answer->scaling;

  if (scaling->bend < 0)
    return;
  g_string_append_printf (
      text, "  Efficiency bends most at %u GPUs: %+.1f points per doubling before, %+.1f after.\n",
      point_at (view, scaling->bend)->n_gpus, points_of (scaling->slope_before),
      points_of (scaling->slope_after));
}

static void
append_dominated (GString *text, const FabScaleView *view)
{
  const FabScaling *scaling = view->answer->scaling;
  const FabPoint *last = point_at (view, scaling->last)->trial.point;

  if (scaling->dominated >= 0) {
    const FabScalePoint *point = point_at (view, scaling->dominated);

    g_string_append_printf (
        text,
        "  From %u %s on the network dominates: exposed communication takes longer than compute, and the step "
        "is limited by %s.\n",
        point->n_gpus, fab_plural (point->n_gpus, "GPU", "GPUs"),
        fab_points_limit (point->trial.point, TRUE));
  } else {
    g_string_append_printf (
        text, "  The network dominates nowhere: at %u %s, %.1f %% of the step is exposed communication.\n",
        point_at (view, scaling->last)->n_gpus,
        fab_plural (point_at (view, scaling->last)->n_gpus, "GPU", "GPUs"),
        last->step_s > 0 ? 100 * last->exposed_s / last->step_s : 0);
  }
}

/* --- table --- */

static char *
show_band (const FabScalePoint *point)
{
  g_autofree char *low = fab_units_show (FAB_UNIT_TIME, round (point->low_s * (double) FAB_PS_PER_S));
  g_autofree char *high = fab_units_show (FAB_UNIT_TIME, round (point->high_s * (double) FAB_PS_PER_S));

  return g_strdup_printf ("%s to %s", low, high);
}

static void
append_row (GString *text, const FabScalePoint *point, gboolean has_band, gboolean has_ranges)
{
  const FabPoint *played = point->trial.point;

  g_string_append_printf (text, "  %7u", point->n_gpus);
  if (played == NULL) {
    g_auto (GStrv) lines = g_strsplit (point->trial.problem, "\n", 2);

    g_string_append_printf (text, "\v  cannot be simulated: %s\n", lines[0]);
    return;
  }
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, round (played->step_s * (double) FAB_PS_PER_S));
  g_autofree char *band = point->high_s > 0 ? show_band (point) : g_strdup ("-");
  g_string_append_printf (text, "\v %11s", step);
  g_autofree char *range = fab_spread_show (fab_figure_find ("step"), played);
  if (has_ranges)
    g_string_append_printf (text, "\v  %-24s", range);
  if (has_band)
    g_string_append_printf (text, "\v %22s", band);
  if (point->efficiency > 0)
    g_string_append_printf (text, "\v %9.1f %%", 100 * point->efficiency);
  else
    g_string_append_printf (text, "\v %11s", "-");
  g_string_append_printf (text, "\v %8.1f %%",
                          played->step_s > 0 ? 100 * played->exposed_s / played->step_s : 0);
  fab_points_append_rates (text, played, 8, 13);
  g_string_append_printf (text, "\v  %s", fab_points_limit (played, TRUE));
  fab_points_append_misfit (text, played);
  g_string_append_c (text, '\n');
}

static void
append_table (GString *text, const FabScaleView *view)
{
  double coverage = view->answer->coverage_fraction;
  gboolean has_band = coverage > 0, has_ranges = view->answer->n_seeds > 1;

  g_string_append_printf (text, "  %7s\v %11s", "GPUs", "step");
  if (has_ranges)
    g_string_append_printf (text, "\v  %-24s", "low to high");
  if (has_band) {
    g_autofree char *head = g_strdup_printf ("%.0f %% band", 100 * coverage);

    g_string_append_printf (text, "\v %22s", head);
  }
  g_string_append_printf (text, "\v %11s\v %10s\v %8s\v %13s\v  %s\n", "efficiency", "exposed", "MFU",
                          "tokens/s", fab_points_limit_heading (TRUE));
  for (guint i = 0; i < view->answer->scaling->n; i++)
    append_row (text, point_at (view, (gint) i), has_band, has_ranges);
}

/* --- the curve --- */

/* A bar to the efficiency; where it goes beyond the first point's, to the edge. */
static void
append_curve (GString *text, const FabScaleView *view)
{
  guint columns = fab_terminal_page_columns (FILE_COLUMNS);

  columns = MAX (columns, BEFORE_CURVE + AFTER_CURVE + 20) - BEFORE_CURVE - AFTER_CURVE;
  g_string_append (text, "\n  efficiency\n");
  for (guint i = 0; i < view->answer->scaling->n; i++) {
    const FabScalePoint *point = point_at (view, (gint) i);
    g_autofree char *bar = fab_bar_for_screen (columns * CLAMP (point->efficiency, 0, 1));
    const char *mark = (gint) i == view->answer->scaling->dominated ? "  the network dominates from here on"
                     : (gint) i == view->answer->scaling->efficient ? "  worth it up to here"
                     : (gint) i == view->answer->scaling->bend      ? "  bends"
                                                                    : "";

    if (point->efficiency <= 0)
      continue;
    g_string_append_printf (text, "  %7u |%s%s\n", point->n_gpus, bar, mark);
  }
}

/* On as many GPUs as are worth it. */
static void
append_verdict (GString *text, const FabScaleView *view)
{
  const FabScalePoint *point = point_at (view, MAX (view->answer->scaling->efficient,
                                                    view->answer->scaling->first));

  g_string_append_printf (text, "\n  on %u %s:\n", point->n_gpus, fab_plural (point->n_gpus, "GPU", "GPUs"));
  fab_cli_append_findings (text, point->trial.point->verdict);
}

/* The first that fits, where a smaller number does not. */
static void
append_first_fit (GString *text, const FabScaleView *view)
{
  const FabScalePoint *first = point_at (view, view->answer->scaling->first);

  if (view->answer->too_few >= 0)
    g_string_append_printf (text, "  The job fits from %u %s on; on %u it does not.\n", first->n_gpus,
                            fab_plural (first->n_gpus, "GPU", "GPUs"),
                            point_at (view, view->answer->too_few)->n_gpus);
}

/* Of the whole job: ", and the global batch is 64 to 4096 sequences". */
static void
append_batch (GString *text, const FabScaleAnswer *answer)
{
  if (answer->most_sequences == 0)
    return;
  g_string_append_printf (text, ", and the global batch is %" G_GUINT64_FORMAT, answer->least_sequences);
  if (answer->most_sequences > answer->least_sequences)
    g_string_append_printf (text, " to %" G_GUINT64_FORMAT, answer->most_sequences);
  g_string_append (text, answer->most_sequences == 1 ? " sequence" : " sequences");
}

/* Format the view. (transfer full) */
static char *
scale_text (const FabScaleView *view)
{
  GString *text = g_string_new (NULL);
  const FabScaling *scaling = view->answer->scaling;

  g_string_append_printf (text, "%s\n\n", view->title);
  append_first_fit (text, view);
  append_efficient (text, view);
  append_bend (text, view);
  append_dominated (text, view);
  g_string_append_printf (text, "  %s scaling: the batch of %s stays the same",
                          view->answer->spec.is_strong ? "Strong" : "Weak",
                          view->answer->spec.is_strong ? "the job" : "every GPU");
  append_batch (text, view->answer);
  g_string_append_printf (text, "; efficiency is per GPU, relative to %u %s.\n\n",
                          point_at (view, scaling->first)->n_gpus,
                          fab_plural (point_at (view, scaling->first)->n_gpus, "GPU", "GPUs"));
  append_table (text, view);
  append_curve (text, view);
  fab_spread_append_note (text, view->answer->n_seeds);
  fab_choice_append_text (text, view->answer->pairs);
  append_verdict (text, view);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static char *
scale_csv (const FabScaleView *view)
{
  g_autoptr (FabPoints) points = fab_scale_points (view->answer);

  return fab_points_csv (points);
}

static void
add_gpus (FabJson *json, const char *key, const FabScaleView *view, gint index)
{
  if (index < 0)
    fab_json_add_null (json, key);
  else
    fab_json_add_whole (json, key, point_at (view, index)->n_gpus);
}

static char *
scale_json (const FabScaleView *view)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (FabPoints) points = fab_scale_points (view->answer);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "hold", points->hold);
  fab_json_add_text (json, "kept", view->answer->spec.is_strong ? "batch of the job" : "batch of every GPU");
  fab_json_add_real (json, "bound", view->answer->spec.bound);
  add_gpus (json, "efficient_up_to", view, view->answer->scaling->efficient);
  add_gpus (json, "bends_at", view, view->answer->scaling->bend);
  add_gpus (json, "network_dominates_from", view, view->answer->scaling->dominated);
  fab_points_add_json (json, "points", points);
  fab_choice_add_json (json, view->answer->pairs);
  fab_json_end (json);
  return fab_json_finish (json);
}

typedef struct {
  char *format_name, *gpus, *bound, *seeds, *hold;
  char **sets;
  gboolean is_strong, has_no_band, is_oversized_allowed;
  FabFormat format;
} ScaleOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Simulates a job on more and more GPUs. It prints the number of GPUs up to which efficiency stays high,\n"
      "the number at which efficiency bends, and the number from which the network dominates.\n\n"
      "The batch of every GPU stays the same; with --hold batch, or --strong for short, the global batch does.\n"
      "GPUs are whole nodes, or a part of one. A divided model keeps its tensor, context and pipeline sizes.",
  .examples = "  fabricast scale scenarios/zero3-13b-slow-fabric.yaml\n"
              "  fabricast scale scenarios/ddp-llama2-7b-16-dgx-h100.yaml --gpus 8:4096:x2\n"
              "  fabricast scale scenarios/megatron-405b.yaml --gpus 512..4096:x2 --strong\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* "8:4096:x2" is "8..4096:x2". */
static FabAxis *
parse_gpus (const char *text, GError **error)
{
  g_autofree char *plain = g_strdup (text);
  char *colon = strchr (plain, ':');
  g_autofree char *axis = NULL;

  if (colon != NULL && strstr (plain, "..") == NULL) {
    *colon = '\0';
    axis = g_strdup_printf ("gpus=%s..%s", plain, colon + 1);
  } else {
    axis = g_strconcat ("gpus=", plain, NULL);
  }
  return fab_axis_parse (axis, error);
}

static gboolean
read_bound (const ScaleOptions *o, FabScalingSpec *spec, GError **error)
{
  spec->bound = 0.9;
  if (o->bound == NULL)
    return TRUE;
  if (!fab_units_parse_real (FAB_UNIT_FRACTION, o->bound, &spec->bound, error)) {
    g_prefix_error (error, "--efficiency: ");
    return FALSE;
  }
  if (spec->bound <= 0 || spec->bound > 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--efficiency %s: must be above 0%% and at most 100%%",
                      o->bound);
  return TRUE;
}

static gboolean
take_hold (const ScaleOptions *o, FabStudy *study, GError **error)
{
  if (o->is_strong && o->hold != NULL && strcmp (o->hold, "batch") != 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--strong holds the batch: leave out --hold %s", o->hold);
  return fab_hold_take (study,
                        o->is_strong      ? "batch"
                        : o->hold != NULL ? o->hold
                                          : "micro_batch",
                        NULL, 0, error);
}

/* Of the most GPUs; a number of them that no machine can have is said later. */
static gboolean
check_memory (FabStudy *study, const FabScenario *scenario, const FabAxis *gpus, GError **error)
{
  g_autoptr (FabEdits) edits = fab_edits_new ();
  const char *most = g_ptr_array_index (gpus->values, gpus->values->len - 1);
  guint64 n;

  return !g_ascii_string_to_unsigned (most, 10, 1, G_MAXINT32, &n, NULL)
      || !fab_machine_set_gpus (scenario, (guint) n, edits, NULL)
      || fab_cli_check_variant (study, edits, error);
}

static gboolean
scale (const ScaleOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabScaleView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = scale_text, [FAB_FORMAT_JSON] = scale_json, [FAB_FORMAT_CSV] = scale_csv
  };
  FabScalingSpec spec = { .has_band = !o->has_no_band };

  if (!read_bound (o, &spec, error))
    return FALSE;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  if (study == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error)
      || !take_hold (o, study, error))
    return FALSE;
  spec.is_strong = study->hold == FAB_HOLD_BATCH;
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);
  if (scenario == NULL)
    return FALSE;
  study->allows_oversized = o->is_oversized_allowed;
  g_autoptr (FabAxis) gpus = o->gpus ? parse_gpus (o->gpus, error) : fab_scaling_default (scenario);
  if (gpus == NULL || !check_memory (study, scenario, gpus, error))
    return FALSE;
  spec.gpus = gpus;
  g_autoptr (FabProgress) progress = fab_progress_start ("points");
  study->pulse = fab_progress_pulse (progress);
  g_autoptr (FabScaleAnswer) answer = fab_scale_answer (study, &spec, error);
  if (answer == NULL)
    return FALSE;
  fab_progress_stop (progress);
  g_autofree char *title = fab_cli_title (scenario);
  g_autofree char *text = printers[o->format](&(FabScaleView){ title, answer });
  fab_cli_print (o->format, text);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  ScaleOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "gpus", 0, 0, G_OPTION_ARG_STRING, &o.gpus,
      "Numbers of GPUs (default: one node to 16 times the scenario's, x2)", "RANGE" },
    { "strong", 0, 0, G_OPTION_ARG_NONE, &o.is_strong, "The same as --hold batch", NULL },
    FAB_HOLD_ENTRY (&o.hold),
    { "efficiency", 0, 0, G_OPTION_ARG_STRING, &o.bound, "Efficiency that more GPUs must keep (default: 90%)",
      "FRACTION" },
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band, "Print no bands; saves further simulations", NULL },
    FAB_SET_ENTRY (&o.sets),
    FAB_SEEDS_ENTRY (&o.seeds),
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    FAB_FORMAT_ENTRY (&o.format_name),
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error) && scale (&o, argv[1], &error);

  g_free (o.format_name);
  g_free (o.seeds);
  g_free (o.hold);
  g_free (o.gpus);
  g_free (o.bound);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("scale", error);
}

const FabCommand fab_command_scale = {
  .name = "scale",
  .summary = "Simulate a job on more and more GPUs, and find where the network dominates",
  .run = run,
};
