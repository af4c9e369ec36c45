/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan.c - `fabricast plan SCENARIO`: the same training by every strategy that fits in memory, ranked. */
#include <math.h>
#include <string.h>

#include "answer/study/plan.h"
#include "cli/cli.h"
#include "cli/search_options.h"
#include "cli/study/points_text.h"
#include "cli/study/spread_text.h"
#include "cli/terminal/progress.h"
#include "cli/verdict.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/units.h"

typedef struct {
  const char *title; /* of the scenario */
  const FabPlanAnswer *answer;
  guint top; /* rows of the ranking that are shown; the best of each strategy is always shown */
} FabPlanView;

enum { MOST_REASONS = 6 };

/* --- the ranking --- */

static guint
division_width (const FabPlanAnswer *answer)
{
  gsize width = strlen ("divided");

  for (guint i = 0; i < answer->ranks->len; i++)
    width = MAX (width, strlen (fab_plan_rank (answer, i)->candidate->division));
  return (guint) width;
}

static void
append_row (GString *text, const FabPlanAnswer *answer, guint place, guint width)
{
  const FabPlanRank *rank = fab_plan_rank (answer, place);
  const FabCandidate *candidate = rank->candidate;
  const FabPoint *point = candidate->trial.point;
  g_autofree char *step = fab_units_show (FAB_UNIT_TIME, point->step_s * FAB_PS_PER_S);
  g_autofree char *gb = fab_search_gigabytes ((double) point->memory_bytes),
                  *sent = fab_search_gigabytes (point->sent_bytes);
  g_autofree char *range = fab_spread_show (fab_figure_find ("step"), point);

  g_string_append_printf (text, "  %3u\v  %-13s\v %-*s\v  %-9s\v %-9s\v %10s", place + 1, candidate->strategy,
                          (int) width, candidate->division, candidate->batch, candidate->remedy, step);
  if (answer->n_seeds > 1)
    g_string_append_printf (text, "\v  %-24s", range);
  g_string_append_printf (text, "\v %9.0f\v %6.1f %%\v %8.1f %%\v %6s GB\v %6s GB\v  %s%s\n",
                          point->tokens_per_s, 100 * rank->of_best_fraction,
                          100 * point->exposed_s / point->step_s, gb, sent,
                          fab_points_limit (point, answer->has_limits), rank->is_even ? "  =" : "");
}

static void
append_ranking (GString *text, const FabPlanView *view)
{
  const FabPlanAnswer *answer = view->answer;
  guint width = division_width (answer), n_hidden = 0;

  g_string_append_printf (text, "  %3s\v  %-13s\v %-*s\v  %-9s\v %-9s\v %10s", "", "strategy", (int) width,
                          "divided", "batch", "recompute", "step");
  if (answer->n_seeds > 1)
    g_string_append_printf (text, "\v  %-24s", "low to high");
  g_string_append_printf (text, "\v %9s\v %8s\v %10s\v %9s\v %9s\v  %s\n", "tokens/s", "of best", "exposed",
                          "memory", "sent", fab_points_limit_heading (answer->has_limits));
  for (guint i = 0; i < answer->ranks->len; i++)
    if (i < view->top || fab_plan_rank (answer, i)->is_first_of_strategy)
      append_row (text, answer, i, width);
    else
      n_hidden++;
  if (n_hidden > 0)
    g_string_append_printf (text, "       and %u more %s: --top %u, or --format csv\n", n_hidden,
                            fab_plural (n_hidden, "division", "divisions"), answer->ranks->len);
  if (answer->n_seeds > 1)
    g_string_append_printf (text, "\n  = no significant difference from the best in %s", answer->by->name);
  fab_spread_append_note (text, answer->n_seeds);
}

/* --- what drops out --- */

static void
append_too_large (GString *text, const FabPlanAnswer *answer)
{
  g_autofree char *limit = fab_search_gigabytes ((double) answer->most_bytes);

  if (answer->misfits->len > 0)
    g_string_append_printf (text, "\n  does not fit in %s GB\n", limit);
  for (guint i = 0; i < answer->misfits->len; i++) {
    const FabPlanMisfit *one = &g_array_index (answer->misfits, FabPlanMisfit, i);
    double bytes = (double) one->nearest->trial.point->memory_bytes;
    g_autofree char *needs = fab_search_gigabytes (bytes),
                    *over = fab_search_gigabytes (bytes - (double) answer->most_bytes);
    const char *division = strcmp (one->nearest->division, "-") == 0 ? "undivided" : one->nearest->division;
    g_autofree char *ways = one->n_weighed > 1
                              ? g_strdup_printf (" (%u of %u divisions%s%s)", one->n_divisions,
                                                 one->n_weighed,
                                                 one->n_divisions > 1 ? "; the nearest is " : ": ", division)
                              : g_strdup ("");

    g_string_append_printf (text,
                            "       %-13s needs %s GB, %s GB too much, with micro-batch %s, recompute %s%s\n",
                            one->nearest->strategy, needs, over, one->nearest->batch, one->nearest->remedy,
                            ways);
  }
}

static void
append_impossible (GString *text, const FabPlanAnswer *answer)
{
  guint n = answer->refusals->len;

  if (n > 0)
    g_string_append (text, "\n  cannot be done\n");
  for (guint i = 0; i < MIN (n, MOST_REASONS); i++) {
    const FabPlanRefusal *one = &g_array_index (answer->refusals, FabPlanRefusal, i);
    g_auto (GStrv) lines = g_strsplit (one->problem, "\n", 2);
    gboolean is_whole = strcmp (one->division, "-") == 0;

    g_string_append_printf (text, "       %s%s%s: %s\n", one->strategies, is_whole ? "" : " with ",
                            is_whole ? "" : one->division, lines[0]);
  }
  if (n > MOST_REASONS)
    g_string_append_printf (text, "       and for %u more %s: --format csv\n", n - MOST_REASONS,
                            fab_plural (n - MOST_REASONS, "reason", "reasons"));
}

/* Whether the second may be the first, for all that is known. */
static void
append_bands (GString *text, const FabPlanAnswer *answer)
{
  const FabPairedBand *second = &answer->second;

  if (answer->first == NULL)
    return;
  g_autofree char *low = fab_units_show (FAB_UNIT_TIME, round (answer->first->low[0] * FAB_PS_PER_S)),
                  *high = fab_units_show (FAB_UNIT_TIME, round (answer->first->high[0] * FAB_PS_PER_S)),
                  *about = fab_band_about (answer->first, 0);
  g_string_append_printf (text, "\n  the step of the first is from %s to %s: %s", low, high, about);
  if (second->change.n > 0)
    g_string_append_printf (text, "; that of the second differs from it by %+.1f to %+.1f %%%s",
                            fab_percent (second->low_fraction), fab_percent (second->high_fraction),
                            fab_paired_may_be_none (second) ? ", so either may be the faster one" : "");
  g_string_append_c (text, '\n');
}

static void
append_counts (GString *text, const FabPlanAnswer *answer)
{
  const FabPlan *plan = answer->plan;

  g_string_append_printf (text, "\n  %u %s: %u %s simulated", plan->candidates->len,
                          fab_plural (plan->candidates->len, "candidate", "candidates"), plan->n_played,
                          fab_plural (plan->n_played, "was", "were"));
  if (plan->n_slower > 0)
    g_string_append_printf (text, "; %u %s left when another batch was sure to be faster", plan->n_slower,
                            fab_plural (plan->n_slower, "was", "were"));
  g_string_append_printf (text, "; %u more %s not fit, by their memory\n", answer->n_large,
                          fab_plural (answer->n_large, "does", "do"));
}

/* Format the view. (transfer full) */
static char *
plan_text (const FabPlanView *view)
{
  const FabPlanAnswer *answer = view->answer;
  g_autofree char *limit = fab_search_gigabytes ((double) answer->most_bytes);
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "%s\n\n  %s, %s GB each; %.0f %s per step; ranked by %s\n\n", view->title,
                          answer->machine, limit, answer->sequences,
                          fab_plural ((guint64) answer->sequences, "sequence", "sequences"),
                          answer->by->name);
  if (answer->ranks->len > 0)
    append_ranking (text, view);
  else
    g_string_append (text, "  nothing fits\n");
  append_bands (text, answer);
  append_too_large (text, answer);
  append_impossible (text, answer);
  append_counts (text, answer);
  if (answer->ranks->len > 0) {
    g_string_append (text, "\n  the first:\n");
    fab_cli_append_findings (text, fab_plan_rank (answer, 0)->candidate->trial.point->verdict);
  }
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static char *
plan_csv (const FabPlanView *view)
{
  g_autoptr (FabPoints) points = fab_plan_points (view->answer);

  return fab_points_csv (points);
}

static char *
plan_json (const FabPlanView *view)
{
  const FabPlanAnswer *answer = view->answer;
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autoptr (FabPoints) points = fab_plan_points (answer);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", view->title);
  fab_json_add_text (json, "machine", answer->machine);
  fab_json_add_text (json, "by", answer->by->name);
  fab_json_add_text (json, "hold", points->hold);
  fab_json_add_real (json, "sequences_per_step", answer->sequences);
  fab_json_add_whole (json, "memory_limit_bytes", (gint64) answer->most_bytes);
  fab_json_add_whole (json, "candidates", answer->plan->candidates->len);
  fab_json_add_whole (json, "played", answer->plan->n_played);
  fab_points_add_json (json, "points", points);
  if (answer->first != NULL) {
    fab_json_begin_object (json, "first");
    fab_json_add_real (json, "step_low_s", answer->first->low[0]);
    fab_json_add_real (json, "step_high_s", answer->first->high[0]);
    fab_band_add_json (answer->first, json);
    fab_json_end (json);
  }
  fab_json_end (json);
  return fab_json_finish (json);
}

typedef struct {
  char *format_name, *strategies, *by, *memory, *out, *seeds;
  char **sets;
  gboolean is_oversized_allowed;
  gint top;
  FabFormat format;
} PlanOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Simulates the scenario's model on its machine with every strategy that fits into memory, and ranks the\n"
      "strategies. The number of sequences per step stays the same. Each strategy has its best micro-batch, and\n"
      "recomputes activations where memory is short. Other keys of the scenario keep their values. Exit code 1:\n"
      "nothing fits.\n\n"
      "Strategies: ddp, zero1, zero2, zero3, zero3-hpz, fsdp, fsdp-grad-op; hsdp with shard groups of 2, 4, 8\n"
      "and more ranks; and megatron, which divides the model too: tensor within the NVLink domain, pipeline,\n"
      "context, and experts where the model has them.",
  .examples =
      "  fabricast plan scenarios/ddp-gpt2-xl-dgx-a100.yaml --set cluster.nodes=4\n"
      "  fabricast plan scenarios/zero3-13b-slow-fabric.yaml --strategies zero3,zero3-hpz,hsdp --memory 40GB\n"
      "  fabricast plan scenarios/ddp-2b-4nodes-200g.yaml --by exposed -o best.yaml\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
write_best (const PlanOptions *o, const FabStudy *study, const FabPlanAnswer *answer, GError **error)
{
  if (o->out == NULL)
    return TRUE;
  if (answer->ranks->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--out %s: nothing fits in memory", o->out);
  const FabCandidate *best = fab_plan_rank (answer, 0)->candidate;
  g_autofree char *name = fab_plan_name (best);
  g_autofree char *why = g_strdup_printf ("%s as %s, which fabricast plan found best", study->path, name);
  return fab_search_option_out (study, best->edits, why, o->out, error);
}

/* -1: it failed; else whether something fits. */
static int
plan (const PlanOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabPlanView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = plan_text, [FAB_FORMAT_JSON] = plan_json, [FAB_FORMAT_CSV] = plan_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  FabPlanRequest request = { .strategies = o->strategies, .n_limits = (guint) MAX (o->top, 0) };

  request.by = catalog ? fab_search_option_by (o->by, error) : NULL;
  if (request.by == NULL || !fab_search_option_memory (o->memory, &request.most_bytes, error))
    return -1;
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  if (study == NULL || !fab_spread_parse (o->seeds, FAB_SPREAD_AUTO, &study->n_seeds, error)
      || !fab_search_option_check_out (study, o->out, error))
    return -1;
  g_autoptr (FabProgress) progress = fab_progress_start ("points");
  study->pulse = fab_progress_pulse (progress);
  study->allows_oversized = o->is_oversized_allowed;
  g_autoptr (FabPlanAnswer) answer = fab_plan_answer (study, &request, error);
  g_autofree char *title = answer ? fab_cli_study_title (study, error) : NULL;
  fab_progress_stop (progress);
  if (title == NULL)
    return -1;
  g_autofree char *text = printers[o->format](&(FabPlanView){ title, answer, request.n_limits });
  fab_cli_print (o->format, text);
  return write_best (o, study, answer, error) ? answer->ranks->len > 0 : -1;
}

static FabExit
run (int argc, char **argv)
{
  PlanOptions o = { .top = 12 };
  const GOptionEntry entries[] = {
    { "strategies", 0, 0, G_OPTION_ARG_STRING, &o.strategies,
      "Strategies to try, separated by commas (default: all)", "NAMES" },
    { "memory", 0, 0, G_OPTION_ARG_STRING, &o.memory, "Memory that a GPU may use (default: all of it)",
      "BYTES" },
    { "by", 0, 0, G_OPTION_ARG_STRING, &o.by,
      "Figure to rank by: tokens (default), step, exposed, memory, mfu, ...", "FIGURE" },
    { "top", 0, 0, G_OPTION_ARG_INT, &o.top,
      "Number of rows of the ranking (default 12); the best of every strategy is always included", "N" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, "Write the best one as a scenario", "FILE" },
    FAB_SET_ENTRY (&o.sets),
    FAB_SEEDS_ENTRY (&o.seeds),
    FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
    FAB_FORMAT_ENTRY (&o.format_name),
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  int fits = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
               ? plan (&o, argv[1], &error)
               : -1;
  char *texts[] = { o.format_name, o.strategies, o.by, o.memory, o.out, o.seeds };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (o.sets);
  return fits < 0 ? fab_cli_fail ("plan", error) : fits ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_plan = {
  .name = "plan",
  .summary = "Rank the training strategies that fit into memory",
  .run = run,
};
