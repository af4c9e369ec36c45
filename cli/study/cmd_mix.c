/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_mix.c - `fabricast mix SCENARIO`: many jobs that arrive on one machine, wait, and share its uplinks. */
#include <string.h>

#include "answer/mix_losses.h"
#include "cli/cli.h"
#include "cli/run/run.h"
#include "cli/study/points_text.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/rows.h"
#include "cli/verdict.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/thread_pool.h"
#include "sim/base/units.h"

static const double hour_s = 3600;

/* --- text --- */

static void
append_machine (GString *text, const FabMixAnswer *answer, const FabMixSpec *mix)
{
  g_autofree char *span = fab_goodput_time (answer->span_s);
  guint smallest, largest;

  fab_mix_group_sizes (answer, &smallest, &largest);
  g_string_append_printf (text, "  %-16s%u %s, ", "machine", answer->n_nodes,
                          fab_plural (answer->n_nodes, "node", "nodes"));
  if (answer->machine.n_groups == 1)
    g_string_append (text, "all at the same switches, so that jobs share no uplink\n");
  else if (largest == 1)
    g_string_append (text, "each at leaf switches of its own\n");
  else if (smallest == largest)
    g_string_append_printf (text, "in %u groups of %u that share leaf switches\n", answer->machine.n_groups,
                            largest);
  else
    g_string_append_printf (text, "in %u groups of %u to %u that share leaf switches\n",
                            answer->machine.n_groups, smallest, largest);
  g_string_append_printf (text, "  %-16s%u of %u %s, %s from the first arrival to the last end\n", "jobs",
                          answer->all.n_jobs, answer->kinds->len,
                          fab_plural (answer->kinds->len, "kind", "kinds"), span);
  if (answer->n_left_out > 0)
    g_string_append_printf (text, "  %-16s%" G_GUINT64_FORMAT " %s\n", "", answer->n_left_out,
                            fab_plural (answer->n_left_out, "row of the log is not a job that ran",
                                        "rows of the log are not jobs that ran"));
  if (answer->n_log_failed + answer->n_log_preempted > 0)
    g_string_append_printf (text,
                            "  %-16s%" G_GUINT64_FORMAT
                            " %s of the log failed or %s cancelled, %" G_GUINT64_FORMAT
                            " %s preempted; they count with the time that they ran\n",
                            "", answer->n_log_failed, fab_plural (answer->n_log_failed, "job", "jobs"),
                            fab_plural (answer->n_log_failed, "was", "were"), answer->n_log_preempted,
                            fab_plural (answer->n_log_preempted, "was", "were"));
  if (answer->n_cut > 0)
    g_string_append_printf (
        text, "  %-16s%" G_GUINT64_FORMAT " %s of the log %s larger than the machine and left out\n", "",
        answer->n_cut, fab_plural (answer->n_cut, "job", "jobs"), fab_plural (answer->n_cut, "is", "are"));
  g_string_append_printf (text, "  %-16s%s%s%s; nodes are given %s\n", "queue",
                          fab_mix_order_names[mix->order], mix->has_backfill ? " with backfilling" : "",
                          mix->has_preemption ? ", jobs of lower priority give way" : "",
                          fab_mix_placement_names[mix->placement]);
}

/* A share of all node hours, where there is any. */
static void
append_share (GString *text, const char *name, double fraction, const char *words)
{
  if (fraction > 5e-5)
    g_string_append_printf (text, "    %-14s%6.2f %%   %s\n", name, 100 * fraction, words);
}

static void
append_failures (GString *text, const FabMixAnswer *answer, const FabMixLosses *losses)
{
  const FabMixFigures *all = &answer->all;

  append_share (text, "undone", losses->undone_fraction,
                "lost because a failure or a stop for another job undoes work");
  append_share (text, "down", losses->down_fraction, "lost in detection, restarts and planned stops");
  append_share (text, "checkpoints", losses->checkpoint_fraction,
                "lost because jobs stand still for checkpoints");
  append_share (text, "slow parts", losses->slowed_fraction, "lost because a part is slow until it is found");
  if (answer->away_fraction > 0)
    g_string_append_printf (text,
                            "  %-16s%6.2f %%   of all node hours are away for repair, without a spare\n",
                            "away", 100 * answer->away_fraction);
  if (all->n_failures + all->n_preempted > 0)
    g_string_append_printf (text,
                            "  %-16s%" G_GUINT64_FORMAT " %s stopped jobs, %" G_GUINT64_FORMAT
                            " %s gave way to others; %.4g GPU hours lost\n",
                            "stops", all->n_failures, fab_plural (all->n_failures, "failure", "failures"),
                            all->n_preempted, fab_plural (all->n_preempted, "job", "jobs"),
                            losses->stopped_gpu_hours);
}

static void
append_figures (GString *text, const FabMixAnswer *answer, const FabMixLosses *losses)
{
  const FabMixFigures *all = &answer->all;
  g_autofree char *mean = fab_goodput_time (all->mean_wait_s),
                  *median = fab_goodput_time (all->median_wait_s), *p95 = fab_goodput_time (all->p95_wait_s),
                  *most = fab_goodput_time (all->max_wait_s);

  g_string_append_printf (text, "\n  %-16s%6.1f %%   of all node hours belong to a job\n", "used",
                          100 * answer->used_fraction);
  g_string_append_printf (text,
                          "  %-16s%6.1f %%   of all node hours do what a job does when nothing slows it\n",
                          "useful", 100 * answer->useful_fraction);
  g_string_append_printf (text,
                          "    %-14s%6.2f %%   lost because a job has nodes under several leaf switches\n",
                          "places", 100 * losses->places_fraction);
  g_string_append_printf (
      text,
      "    %-14s%6.2f %%   lost because jobs share uplinks; %.2f %% if all that send take the same ones\n",
      "sharing", 100 * losses->sharing_fraction, 100 * losses->worst_sharing_fraction);
  append_failures (text, answer, losses);
  g_string_append_printf (text, "  %-16smean %s, median %s, 95 %% at most %s, longest %s; at most %u %s\n",
                          "wait", mean, median, p95, most, answer->play->longest_queue,
                          fab_plural (answer->play->longest_queue, "job waits", "jobs wait"));
  g_string_append_printf (
      text, "  %-16smean %.3f, 95 %% at most %.3f, most %.3f times as long as alone and packed\n", "time",
      all->mean_slowdown, all->p95_slowdown, all->max_slowdown);
  if (answer->machine.n_groups > 1)
    g_string_append_printf (text, "  %-16s%s: jobs use %.1f %% of them on average\n", "busiest uplinks",
                            answer->group_names[answer->busiest],
                            100 * answer->play->group_load[answer->busiest]);
}

static void
append_kinds (GString *text, const FabMixAnswer *answer)
{
  g_string_append_printf (text, "\n  %-20s\v %6s\v %6s\v %10s\v %9s\v %12s\v %9s\v %9s\v %8s\n", "kind",
                          "jobs", "nodes", "step", "exposed", "mean wait", "time x", "at most x", "groups");
  for (guint i = 0; i < answer->kinds->len; i++) {
    const FabMixedKind *kind = &g_array_index (answer->kinds, FabMixedKind, i);
    const FabMixFigures *figures = &answer->by_kind[i];
    g_autofree char *step = fab_goodput_time (kind->step_s), *wait = fab_goodput_time (figures->mean_wait_s);

    g_string_append_printf (text, "  %-20s\v %6u\v %6" G_GINT64_FORMAT "\v %10s\v %7.1f %%", kind->spec->name,
                            figures->n_jobs, kind->spec->nodes, step, 100 * kind->inter_node_fraction);
    if (figures->n_jobs > 0)
      g_string_append_printf (text, "\v %12s\v %9.3f\v %9.3f\v %8.1f\n", wait, figures->mean_slowdown,
                              figures->max_slowdown, figures->mean_groups);
    else
      g_string_append (text, "\n");
  }
}

static void
append_answers (GString *text, const FabMixAnswer *answer)
{
  gboolean has_title = FALSE;

  for (guint i = 0; i < answer->kinds->len; i++) {
    const FabMixedKind *kind = &g_array_index (answer->kinds, FabMixedKind, i);

    for (guint l = 0; l < kind->table.n_levels; l++) {
      const double *row = kind->table.slowdown + l * kind->table.n_loads;

      if (kind->table.nodes_per_group[l] >= (double) kind->spec->nodes)
        continue;
      if (!has_title) {
        g_string_append_printf (text, "\n  %-20s\v %11s\v %10s", "slower by places", "nodes/leaf",
                                "own load");
        for (guint k = 0; k < kind->table.n_loads; k++)
          g_string_append_printf (text, "\v  %s%4.0f %%", k == 0 ? "others" : "",
                                  100 * kind->table.others[k]);
        g_string_append_c (text, '\n');
        has_title = TRUE;
      }
      g_string_append_printf (text, "  %-20s\v %11.3g\v %8.1f %%", kind->spec->name,
                              kind->table.nodes_per_group[l], 100 * kind->table.own_load[l]);
      for (guint k = 0; k < kind->table.n_loads; k++)
        g_string_append_printf (text, "\v  %*.3f", k == 0 ? 12 : 6, row[k]);
      g_string_append_c (text, '\n');
    }
  }
}

static void
append_changes (GString *text, const FabMixAnswer *answer)
{
  g_autofree char *now = fab_goodput_time (answer->all.mean_wait_s);

  g_string_append_printf (text, "\n  %-34s\v %8s\v %8s\v %12s\v %10s\n", "what would change it", "used",
                          "useful", "mean wait", "mean time");
  g_string_append_printf (text, "  %-34s\v %6.1f %%\v %6.1f %%\v %12s\v %10.3f\n", "as it is",
                          100 * answer->used_fraction, 100 * answer->useful_fraction, now,
                          answer->all.mean_slowdown);
  for (guint i = 0; i < answer->changes->len; i++) {
    const FabMixChange *change = &g_array_index (answer->changes, FabMixChange, i);
    g_autofree char *wait = fab_goodput_time (change->figures.mean_wait_s);

    g_string_append_printf (text, "  %-34s\v %6.1f %%\v %6.1f %%\v %12s\v %10.3f\n", change->name,
                            100 * change->used_fraction, 100 * change->useful_fraction, wait,
                            change->figures.mean_slowdown);
  }
}

/* The sentences that a planner takes along. */
static void
append_sentence (GString *text, const FabMixAnswer *answer, const FabMixLosses *losses)
{
  if (answer->machine.n_groups == 1)
    return;
  g_string_append_printf (
      text,
      "\n  Jobs lose %.1f %% of their node hours between leaf switches, %.4g node hours; %.1f %% if all "
      "that send take the same uplinks.",
      100 * losses->uplink_busy_fraction, losses->uplink_node_hours,
      100 * losses->worst_uplink_busy_fraction);
  if (!losses->has_uplink_gain)
    g_string_append (text, " Wider uplinks gain less than 1 %.\n");
  else
    g_string_append_printf (text, " Wider uplinks cannot win back more; the busiest are those of %s.\n",
                            answer->group_names[answer->busiest]);
}

static char *
mix_text (const FabScenario *scenario, const FabMixAnswer *answer)
{
  GString *text = g_string_new (NULL);
  g_autofree char *title = fab_cli_title (scenario);
  const FabMixLosses losses = fab_mix_losses (answer);

  for (guint i = 0; i < answer->kinds->len; i++) {
    const FabMixedKind *kind = &g_array_index (answer->kinds, FabMixedKind, i);

    if (fab_point_fits (kind->point))
      continue;
    g_string_append_printf (text, "Jobs '%s':\n", kind->spec->name);
    fab_cli_append_stops (text, kind->point->verdict);
  }
  g_string_append_printf (text, "%s\n\n", title);
  append_machine (text, answer, &fab_scenario_spec (scenario)->mix);
  append_figures (text, answer, &losses);
  append_kinds (text, answer);
  append_answers (text, answer);
  append_changes (text, answer);
  append_sentence (text, answer, &losses);
  return g_string_free (text, FALSE);
}

/* --- for programs --- */

static FabTable *
job_table (const FabMixAnswer *answer)
{
  static const char *const columns[] = {
    "kind",   "nodes",         "priority",       "submit_s", "start_s",   "end_s",
    "work_s", "places_lost_s", "sharing_lost_s", "groups",   "busy_s",    "undone_s",
    "down_s", "checkpoint_s",  "slowed_s",       "failures", "preempted", NULL
  };
  FabTable *table = fab_table_new (columns);

  for (guint i = 0; i < answer->jobs->len; i++) {
    const FabMixJob *job = &g_array_index (answer->jobs, FabMixJob, i);
    const FabMixOutcome *outcome = &answer->play->outcomes[i];

    fab_table_add_text (table, g_array_index (answer->kinds, FabMixedKind, job->kind).spec->name);
    fab_table_add_integer (table, job->n_nodes);
    fab_table_add_integer (table, job->priority);
    fab_table_add_real (table, job->submit_s);
    fab_table_add_real (table, outcome->start_s);
    fab_table_add_real (table, outcome->end_s);
    fab_table_add_real (table, job->work_s);
    fab_table_add_real (table, outcome->places_lost_s);
    fab_table_add_real (table, outcome->sharing_lost_s);
    fab_table_add_integer (table, outcome->n_groups);
    fab_table_add_real (table, outcome->busy_s);
    fab_table_add_real (table, outcome->undone_s);
    fab_table_add_real (table, outcome->down_s);
    fab_table_add_real (table, outcome->checkpoint_s);
    fab_table_add_real (table, outcome->slowed_s);
    fab_table_add_integer (table, outcome->n_failures);
    fab_table_add_integer (table, outcome->n_preempted);
  }
  return table;
}

static char *
mix_csv (G_GNUC_UNUSED const FabScenario *scenario, const FabMixAnswer *answer)
{
  g_autoptr (FabTable) table = job_table (answer);

  return fab_table_to_csv (table);
}

static void
add_figures (FabJson *json, const FabMixFigures *figures)
{
  fab_json_add_whole (json, "jobs", figures->n_jobs);
  fab_json_add_real (json, "busy_node_hours", figures->busy_s / hour_s);
  fab_json_add_real (json, "useful_node_hours", figures->useful_s / hour_s);
  fab_json_add_real (json, "places_lost_node_hours", figures->places_lost_s / hour_s);
  fab_json_add_real (json, "sharing_lost_node_hours", figures->sharing_lost_s / hour_s);
  fab_json_add_real (json, "undone_node_hours", figures->undone_s / hour_s);
  fab_json_add_real (json, "down_node_hours", figures->down_s / hour_s);
  fab_json_add_real (json, "checkpoint_node_hours", figures->checkpoint_s / hour_s);
  fab_json_add_real (json, "slowed_node_hours", figures->slowed_s / hour_s);
  fab_json_add_whole (json, "failures", (gint64) figures->n_failures);
  fab_json_add_whole (json, "preempted", (gint64) figures->n_preempted);
  fab_json_add_real (json, "wait_mean_s", figures->mean_wait_s);
  fab_json_add_real (json, "wait_p50_s", figures->median_wait_s);
  fab_json_add_real (json, "wait_p95_s", figures->p95_wait_s);
  fab_json_add_real (json, "wait_max_s", figures->max_wait_s);
  fab_json_add_real (json, "slowdown_mean", figures->mean_slowdown);
  fab_json_add_real (json, "slowdown_p95", figures->p95_slowdown);
  fab_json_add_real (json, "slowdown_max", figures->max_slowdown);
  fab_json_add_real (json, "groups_mean", figures->mean_groups);
}

static void
add_reals (FabJson *json, const char *name, const double *values, guint n)
{
  fab_json_begin_array (json, name);
  for (guint i = 0; i < n; i++)
    fab_json_add_real (json, NULL, values[i]);
  fab_json_end (json);
}

static void
add_kinds (FabJson *json, const FabMixAnswer *answer)
{
  fab_json_begin_array (json, "kinds");
  for (guint i = 0; i < answer->kinds->len; i++) {
    const FabMixedKind *kind = &g_array_index (answer->kinds, FabMixedKind, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", kind->spec->name);
    fab_json_add_whole (json, "nodes", kind->spec->nodes);
    fab_json_add_real (json, "step_s", kind->step_s);
    fab_json_add_real (json, "exposed_inter_node_fraction", kind->inter_node_fraction);
    fab_json_add_flag (json, "fits", fab_point_fits (kind->point));
    add_figures (json, &answer->by_kind[i]);
    add_reals (json, "others_fraction", kind->table.others, kind->table.n_loads);
    add_reals (json, "nodes_per_group", kind->table.nodes_per_group, kind->table.n_levels);
    add_reals (json, "duty_fraction", kind->table.duty, kind->table.n_levels);
    add_reals (json, "own_load_fraction", kind->table.own_load, kind->table.n_levels);
    fab_json_begin_array (json, "slowdown");
    for (guint l = 0; l < kind->table.n_levels; l++)
      add_reals (json, NULL, kind->table.slowdown + l * kind->table.n_loads, kind->table.n_loads);
    fab_json_end (json);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_groups (FabJson *json, const FabMixAnswer *answer)
{
  fab_json_begin_array (json, "groups");
  for (guint g = 0; g < answer->machine.n_groups; g++) {
    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "switch", answer->group_names[g]);
    fab_json_add_whole (json, "nodes", answer->machine.group_nodes[g]);
    fab_json_add_real (json, "uplinks_used_fraction", answer->play->group_load[g]);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static void
add_changes (FabJson *json, const FabMixAnswer *answer)
{
  fab_json_begin_array (json, "changes");
  for (guint i = 0; i < answer->changes->len; i++) {
    const FabMixChange *change = &g_array_index (answer->changes, FabMixChange, i);

    fab_json_begin_object (json, NULL);
    fab_json_add_text (json, "name", change->name);
    fab_json_add_text (json, "set", change->edit);
    fab_json_add_real (json, "span_s", change->span_s);
    fab_json_add_real (json, "used_fraction", change->used_fraction);
    fab_json_add_real (json, "useful_fraction", change->useful_fraction);
    add_figures (json, &change->figures);
    fab_json_end (json);
  }
  fab_json_end (json);
}

static char *
mix_json (const FabScenario *scenario, const FabMixAnswer *answer)
{
  g_autoptr (FabJson) json = fab_json_new (FAB_JSON_PAGE);
  g_autofree char *title = fab_cli_title (scenario);

  fab_json_begin_object (json, NULL);
  fab_json_add_text (json, "scenario", title);
  fab_json_add_whole (json, "nodes", answer->n_nodes);
  fab_json_add_real (json, "span_s", answer->span_s);
  fab_json_add_real (json, "used_fraction", answer->used_fraction);
  fab_json_add_real (json, "useful_fraction", answer->useful_fraction);
  fab_json_add_real (json, "away_fraction", answer->away_fraction);
  fab_json_add_whole (json, "longest_queue", answer->play->longest_queue);
  fab_json_add_whole (json, "log_rows_left_out", (gint64) answer->n_left_out);
  fab_json_add_whole (json, "log_jobs_failed", (gint64) answer->n_log_failed);
  fab_json_add_whole (json, "log_jobs_preempted", (gint64) answer->n_log_preempted);
  fab_json_add_whole (json, "log_jobs_too_large", (gint64) answer->n_cut);
  add_figures (json, &answer->all);
  fab_json_add_real (json, "sharing_lost_worst_node_hours", answer->worst.sharing_lost_s / hour_s);
  fab_json_add_real (json, "slowdown_worst", answer->worst.mean_slowdown);
  add_kinds (json, answer);
  add_groups (json, answer);
  add_changes (json, answer);
  fab_verdict_add_json (fab_mix_verdict (answer), json, "verdict");
  fab_json_end (json);
  return fab_json_finish (json);
}

/* --- the command --- */

typedef struct {
  char *format_name, *rows;
  char **sets;
  gboolean is_oversized_allowed;
  FabFormat format;
} MixOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Plays many jobs that arrive on one machine: how long they wait, how much of the machine is used, and how\n"
      "much time jobs lose because their nodes are far apart or because they share uplinks.\n\n"
      "`mix.jobs` of the scenario lists kinds of jobs, `mix.log` may name a log of a scheduler. Each kind is\n"
      "simulated alone, at several placements and with several loads of others on the uplinks.",
  .examples = "  fabricast mix scenarios/mix-512.yaml\n"
              "  fabricast mix scenarios/mix-512.yaml --set mix.placement=random\n"
              "  fabricast mix scenarios/mix-512.yaml --set cluster.fabric.oversubscription=1\n"
              "  fabricast mix scenarios/mix-512.yaml --format csv\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
mix (const MixOptions *o, const char *path, FabExit *code, GError **error)
{
  typedef char *(*ToTextFn) (const FabScenario *scenario, const FabMixAnswer *answer);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = mix_text, [FAB_FORMAT_JSON] = mix_json, [FAB_FORMAT_CSV] = mix_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog ? fab_cli_scenario (path, o->sets, catalog, error) : NULL;

  if (scenario == NULL)
    return FALSE;
  g_autoptr (FabProgress) progress = fab_progress_start ("runs");
  const FabMixRequest request = { .registry = &fab_models,
                                  .pulse = fab_progress_pulse (progress),
                                  .n_threads = fab_thread_pool_size (fab_cli_threads ()) };
  g_autoptr (FabMixAnswer) answer = fab_mix_answer (scenario, &request, error);
  fab_progress_stop (progress);
  if (answer == NULL)
    return FALSE;
  g_autofree char *text = printers[o->format](scenario, answer);
  if (!fab_cli_print_rows (o->format, text, o->rows, error))
    return FALSE;
  if (o->format != FAB_FORMAT_TEXT)
    fab_cli_print_stops ("mix", fab_mix_verdict (answer));
  *code = fab_cli_verdict_exit (fab_mix_verdict (answer), o->is_oversized_allowed);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  MixOptions o = { 0 };
  const GOptionEntry entries[] = { FAB_SET_ENTRY (&o.sets),
                                   FAB_ROWS_ENTRY (&o.rows, "used,useful"),
                                   FAB_ALLOW_OVERSIZED_ENTRY (&o.is_oversized_allowed),
                                   { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name,
                                     "text (default), json, or csv with a row per job", "FORMAT" },
                                   G_OPTION_ENTRY_NULL };
  FabExit code = FAB_EXIT_DONE;
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
                  && fab_cli_check_rows (o.format, o.rows, &error) && mix (&o, argv[1], &code, &error);

  g_free (o.format_name);
  g_free (o.rows);
  g_strfreev (o.sets);
  return is_done ? code : fab_cli_fail ("mix", error);
}

const FabCommand fab_command_mix = {
  .name = "mix",
  .summary = "Play many jobs on one machine: waits, use, and what sharing uplinks costs",
  .run = run,
};
