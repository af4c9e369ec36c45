/* SPDX-License-Identifier: Apache-2.0 */
/* run_text.c - the page of `fabricast run`: step, exposure, the slowest link, what limits the step. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run/run.h"
#include "cli/run/timeline.h"
#include "cli/terminal/rows.h"
#include "cli/terminal/terminal.h"
#include "cli/verdict.h"
#include "sim/base/shell.h"
#include "sim/base/units.h"

enum { TIMELINE_COLUMNS = 66 };

/* How much of the network's work was played. */
static void
append_episodes (GString *page, FabEpisodesCount count)
{
  guint64 n_played = count.n_collectives - count.n_collectives_remembered;

  if (count.n_collectives_remembered > 0)
    g_string_append_printf (page,
                            "\n  %-16s%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                            " collectives; the others repeat earlier ones",
                            "played", n_played, count.n_collectives);
}

/* Of flows that come over time: the load that was drawn. */
static void
append_offered (GString *page, const FabJobTotals *totals)
{
  g_autofree char *time = fab_units_show (FAB_UNIT_TIME, (double) totals->offered_ps);

  if (totals->offered_ps > 0)
    g_string_append_printf (page, "\n  %-16s%.1f %% of what the NICs carry, in %s", "offered load",
                            100 * totals->offered_fraction, time);
}

/* Of a fidelity that times collectives alone on a finer network. */
static void
append_sampled (GString *page, FabSamplingCount count)
{
  guint n_kinds = count.n_whole + count.n_parts + count.n_skipped;

  if (n_kinds == 0)
    return;
  g_string_append_printf (page,
                          "\n  %-16s%u %s of collectives: %u whole, %u in parts, %u too large to sample",
                          "sampled", n_kinds, fab_plural (n_kinds, "kind", "kinds"), count.n_whole,
                          count.n_parts, count.n_skipped);
  if (count.most_factor > 0)
    g_string_append_printf (page, "; times of flows x %.3f to %.3f", count.least_factor, count.most_factor);
}

/* What people call the ports of the NICs, which are links of the entry `nic`. (transfer full) */
static char *
port_label (const FabCluster *cluster, const char *nic)
{
  const FabGraph *graph = cluster->graph;
  FabLinkId first;
  guint n = fab_graph_out_links (graph, cluster->nics[0], &first);

  for (FabLinkId id = first; id < first + n; id++)
    if (g_str_equal (fab_graph_link_class (graph, id)->name, nic))
      return fab_link_class_label (fab_graph_link_class (graph, id));
  return g_strdup (nic);
}

/* ", 8 x ib-ndr each, fabric rail"; of NICs with several ports the link is that of one. */
static void
append_nics (GString *page, const FabCluster *cluster, const char *nic, const char *fabric)
{
  g_autofree char *port = port_label (cluster, nic);

  g_string_append_printf (page, ", %u x ", cluster->nics_per_node);
  if (cluster->nic_ports > 1)
    g_string_append_printf (page, "%u ports of ", cluster->nic_ports);
  g_string_append_printf (page, "%s each, fabric %s", port, fabric);
}

static void
append_head (GString *page, const FabScenario *scenario, const FabRunResult *result)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  const FabCluster *cluster = fab_simulation_cluster (result->simulation);
  const FabJobTotals *totals = fab_simulation_totals (result->simulation);
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), spec->cluster.node);
  guint n_collectives = fab_simulation_dag (result->simulation)->n_collectives;
  const char *nic = spec->cluster.nic ? spec->cluster.nic : node->nic;
  g_autofree char *parameters = fab_units_show_many ((double) totals->parameters);
  g_autofree char *gradients = fab_units_show (FAB_UNIT_BYTES, (double) totals->gradient_bytes);

  g_autofree char *name = fab_cli_printable (spec->name);
  g_autofree char *summary = fab_cli_printable (spec->summary ? spec->summary : "");

  g_string_append_printf (page, "%s%s%s\n\n", name, *summary ? ": " : "", summary);
  g_string_append_printf (page, "  %-16s%u x %s on %u x %s", "machine", fab_cluster_n_ranks (cluster),
                          node->accelerator, (guint) spec->cluster.nodes, node->name);
  if (spec->neighbours.n > 0)
    g_string_append_printf (page, " (%u of them the job's)", cluster->n_nodes);
  if (cluster->nics_per_node > 0 && cluster->n_nodes > 1)
    append_nics (page, cluster, nic, spec->cluster.fabric.info->name);
  if (spec->circuits.n > 0)
    g_string_append_printf (
        page, "\n  %-16soptical switches connect links at %u %s; at other times these links are dark",
        "circuits", spec->circuits.n, fab_plural (spec->circuits.n, "time", "times"));
  if (spec->faults.n > 0 || spec->background.n > 0)
    g_string_append_printf (page, "\n  %-16s%u %s, %u background %s", "disturbed", spec->faults.n,
                            fab_plural (spec->faults.n, "fault", "faults"), spec->background.n,
                            fab_plural (spec->background.n, "load", "loads"));
  g_string_append_printf (page, "\n  %-16s%s", "job", spec->job.info->name);
  if (totals->parameters > 0)
    g_string_append_printf (page, ", %s parameters", parameters);
  if (totals->gradient_bytes > 0)
    g_string_append_printf (page, ", %s of gradients", gradients);
  if (totals->flows > 0)
    g_string_append_printf (page, ", %" G_GUINT64_FORMAT " %s", totals->flows,
                            fab_plural ((guint) MIN (totals->flows, 2), "flow", "flows"));
  else
    g_string_append_printf (page, ", %u %s", n_collectives,
                            fab_plural (n_collectives, "collective", "collectives"));
  g_string_append_printf (page, " per iteration; fidelity %s", spec->fidelity.info->name);
  if (result->band != NULL && result->band->fidelity != NULL)
    g_string_append_printf (page, "; its bands are simulated at %s", result->band->fidelity);
  append_offered (page, totals);
  append_episodes (page, fab_simulation_episodes (result->simulation));
  append_sampled (page, fab_simulation_sampled (result->simulation));
  g_string_append (page, "\n\n");
}

static void
append_time (GString *page, const char *name, FabTimePs time_ps, FabTimePs step_ps, const char *note)
{
  g_autofree char *shown = fab_units_show (FAB_UNIT_TIME, (double) time_ps);

  g_string_append_printf (page, "  %-16s%10s  %5.1f %%%s%s\n", name, shown,
                          step_ps > 0 ? 100.0 * (double) time_ps / (double) step_ps : 0, *note ? "   " : "",
                          note);
}

/* Of what is exposed, where that is uncertain at all. */
static void
append_exposed_band (GString *page, const FabRunResult *result)
{
  guint at = result->steps->len + result->steps->len - 1;

  if (result->band == NULL || result->band->high[at] <= result->band->low[at])
    return;
  g_autofree char *low = fab_units_show (FAB_UNIT_TIME, result->band->low[at] * FAB_PS_PER_S);
  g_autofree char *high = fab_units_show (FAB_UNIT_TIME, result->band->high[at] * FAB_PS_PER_S);
  g_string_append_printf (page, "  %-16s%10s to %s\n", "    band", low, high);
}

static void
append_band (GString *page, const FabRunResult *result)
{
  guint last = result->steps->len - 1;

  if (result->band == NULL)
    return;
  g_autofree char *low = fab_units_show (FAB_UNIT_TIME, result->band->low[last] * FAB_PS_PER_S);
  g_autofree char *high = fab_units_show (FAB_UNIT_TIME, result->band->high[last] * FAB_PS_PER_S);
  g_autofree char *about = fab_band_about (result->band, last);
  g_string_append_printf (page, "  %-16s%10s to %s   %s\n", "  band", low, high, about);
}

/* Below the bands, where collectives over NICs count in: what the band does not hold. */
static void
append_untuned (GString *page, const FabRunResult *result)
{
  g_autofree char *words = result->band != NULL ? fab_untuned_words (&result->band->collectives.untuned)
                                                : NULL;

  if (words == NULL)
    return;
  g_string_append_printf (page, "  %-16s%s; check yours: fabricast collective --check FILE\n",
                          "    beyond it", words);
}

static void
append_power_cap (GString *page, const FabRunResult *result)
{
  const FabDevice *device = &fab_simulation_cluster (result->simulation)->device;

  if (device->cap_fraction < 1)
    g_string_append_printf (
        page, "  %-16s%8.1f %%  of a GPU's power; its clock is %.1f %% of the one without a cap\n",
        "power cap", 100 * device->cap_fraction,
        100 * device->capped.fraction / device->capped.full_fraction);
}

/* Whether an assignment of the command, "job.micro_batch=8", would be undone by one of the edits. */
static gboolean
is_undone (const char *set, const FabEdits *edits)
{
  const char *equals = strchr (set, '=');
  gsize n = equals != NULL ? (gsize) (equals - set) : strlen (set);

  for (guint i = 0; i < fab_edits_count (edits); i++) {
    const char *key = fab_edits_at (edits, i)->key;
    gsize n_key = strlen (key);

    if (n_key <= n && strncmp (set, key, n_key) == 0 && (n_key == n || set[n_key] == '.'))
      return TRUE;
  }
  return FALSE;
}

static void
append_word (GString *text, const char *word)
{
  g_autofree char *printable = fab_cli_printable (word);
  g_autofree char *quoted = fab_shell_word (printable);

  g_string_append_printf (text, " %s", quoted);
}

/* The command that runs the same with these edits too (NULL: none), as a shell reads it. (transfer full) */
static char *
command_with (const FabRunCommand *self, const FabEdits *edits)
{
  GString *text = g_string_new ("fabricast run");
  const char *const *texts = edits != NULL ? fab_edits_texts (edits) : NULL;

  append_word (text, self->path);
  for (guint i = 0; self->sets != NULL && self->sets[i] != NULL; i++)
    if (edits == NULL || !is_undone (self->sets[i], edits)) {
      g_string_append (text, " --set");
      append_word (text, self->sets[i]);
    }
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++) {
    g_string_append (text, " --set");
    append_word (text, texts[i]);
  }
  return g_string_free (text, FALSE);
}

void
fab_run_append_command (GString *page, const FabRunCommand *command, const FabEdits *edits)
{
  g_autofree char *words = command_with (command, edits);

  g_string_append (page, words);
}

/* The commands of jobs that fit, where this one does not. */
static void
append_fits (GString *page, const FabRunResult *result, const FabRunCommand *command)
{
  const FabMemoryAdvice *advice = result->advice;

  for (guint i = 0; advice != NULL && i < advice->fits->len; i++) {
    const FabMemoryFit *fit = g_ptr_array_index (advice->fits, i);
    g_autofree char *bytes = fab_verdict_gigabytes (fit->bytes, advice->device_bytes);

    g_string_append_printf (page, "  %-16s%-10s", i == 0 ? "it fits with" : "", bytes);
    fab_run_append_command (page, command, fit->edits);
    g_string_append_c (page, '\n');
  }
}

static void
append_step (GString *page, const FabScenario *scenario, const FabRunResult *result,
             const FabRunCommand *command)
{
  const FabStepRecord *step = fab_run_last_step (result);
  const FabIterationRecord *times = &step->times;
  g_autofree char *note = g_strdup_printf ("iteration %u of %u", result->steps->len, result->steps->len);

  append_time (page, "step", times->duration_ps, times->duration_ps, note);
  append_band (page, result);
  append_time (page, "compute", times->compute_ps, times->duration_ps, "");
  if (fab_simulation_slowed_ps (result->simulation) > times->duration_ps / 1000)
    append_time (page, "  slowed", fab_simulation_slowed_ps (result->simulation), times->duration_ps,
                 "longer, because collectives occupy multiprocessors");
  append_time (page, "communication", times->comm_ps, times->duration_ps, "");
  append_time (page, "  overlapped", times->overlapped_ps, times->duration_ps, "hidden under compute");
  append_time (page, "  exposed", times->exposed_ps, times->duration_ps, "compute waits for it");
  append_exposed_band (page, result);
  append_untuned (page, result);
  fab_run_append_shares (page, result);
  append_time (page, "idle", times->idle_ps, times->duration_ps, "");
  if (times->waiting_ps > times->duration_ps / 1000)
    append_time (page, "  waiting", times->waiting_ps, times->duration_ps,
                 "a collective waits for its last rank");
  append_power_cap (page, result);
  if (step->tokens_per_s > 0 && step->mfu_fraction <= 0)
    g_string_append_printf (page, "  %-16s%8.0f     tokens/s\n", "throughput", step->tokens_per_s);
  else if (step->tokens_per_s > 0)
    g_string_append_printf (page, "  %-16s%8.1f %%  (HFU %.1f %%)   %.0f tokens/s\n", "MFU",
                            100 * step->mfu_fraction, 100 * step->hfu_fraction, step->tokens_per_s);
  fab_run_append_iterations (page, result);
  fab_run_append_training (page, result);
  fab_goodput_append (page, &result->goodput, fab_scenario_spec (scenario)->reliability.failures,
                      fab_run_goodput_band (result));
  fab_run_append_memory (page, result);
  append_fits (page, result, command);
  g_string_append_c (page, '\n');
}

static void
append_link (GString *page, const FabRunResult *result)
{
  g_autofree char *name = fab_run_link_name (result, result->pace.binding_link);
  const FabGraph *graph = fab_simulation_cluster (result->simulation)->graph;
  const FabLink *link = fab_graph_link (graph, result->pace.binding_link);
  g_autofree char *rate = fab_units_show (FAB_UNIT_RATE, (double) link->rate_bytes_per_s);

  g_string_append_printf (page, "%s, %u x %s, %.4g Gb/s (%s) one way\n", name, link->count,
                          fab_run_link_entry (result, result->pace.binding_link),
                          (double) link->rate_bytes_per_s * 8e-9, rate);
}

static void
append_slowest (GString *page, const FabRunResult *result)
{
  const char *communication = fab_run_last_step (result)->times.exposed_ps > 0 ? "exposed communication"
                                                                               : "communication";

  if (result->pace.binding_link == FAB_NO_LINK) {
    g_string_append_printf (page, "  %-16snone, because no bytes cross a link\n\n", "slowest link");
    return;
  }
  g_string_append_printf (page, "  %-16s", "slowest link");
  append_link (page, result);
  g_string_append_printf (page,
                          "  %-16sof the collectives with %.0f %% of the %s; busy %.1f %% of the step\n", "",
                          100 * result->pace.binding_fraction, communication,
                          100 * result->pace.binding_busy_fraction);
  g_string_append_printf (page, "  %-16s%.1f %% of the communication is latency before bytes flow\n\n",
                          "start-up", 100 * result->pace.startup_fraction);
}

/* The step that levers of another fidelity start from. Where it is far from the run's, they are of another step. */
static void
append_base (GString *page, const FabBottleneck *bottleneck, double own_s)
{
  const double far = 0.05;
  g_autofree char *base = fab_figure_show (FAB_FIGURE_TIME, bottleneck->base.step_s);
  double away = bottleneck->base.step_s / own_s - 1;

  g_string_append_printf (page, "  %-16sThese were simulated at fidelity %s, where the step is %s.\n", "",
                          bottleneck->fidelity, base);
  if (fabs (away) > far)
    g_string_append_printf (page,
                            "  %-16sThat is %+.1f %% from the step above: queues may decide what helps.\n",
                            "", 100 * away);
}

/* The step with each lever, and beside it how much shorter it is. */
static void
append_bottleneck (GString *page, const FabRunResult *result)
{
  const FabBottleneck *bottleneck = result->bottleneck;
  int width = 0;

  for (guint i = 0; i < bottleneck->levers->len; i++)
    width = MAX (width, (int) g_utf8_strlen (fab_bottleneck_lever (bottleneck, i)->change, -1));
  g_string_append_printf (page, "  %-16s%s\n", "limited by", fab_bottleneck_name (bottleneck));
  for (guint i = 0; i < bottleneck->levers->len; i++) {
    const FabLever *lever = fab_bottleneck_lever (bottleneck, i);
    g_autofree char *step = fab_figure_show (FAB_FIGURE_TIME, lever->step_s);

    g_string_append_printf (page, "  %-16s\v%-*s\v  step\v %10s\v  %+6.1f %%\n", i == 0 ? "  what if" : "",
                            width, lever->change, step, fab_percent (lever->step.median));
  }
  if (bottleneck->n_draws > 1) {
    g_autofree char *low = fab_figure_show (FAB_FIGURE_TIME, bottleneck->low_s),
                    *median = fab_figure_show (FAB_FIGURE_TIME, bottleneck->base.step_s),
                    *high = fab_figure_show (FAB_FIGURE_TIME, bottleneck->high_s);

    g_string_append_printf (
        page, "  %-16sThese are medians of %u seeds, with which the step is %s to %s, median %s.\n", "",
        bottleneck->n_draws, low, high, median);
  }
  if (bottleneck->fidelity != NULL)
    append_base (page, bottleneck, fab_ps_to_seconds (fab_run_last_step (result)->times.duration_ps));
  g_string_append_c (page, '\n');
}

/* "; 1 pause, 12 packets marked", of those that are not 0. */
static void
append_counts (GString *page, const FabLinkQueueRecord *counts)
{
  const struct {
    guint64 n;
    const char *one, *many;
  } parts[] = { { counts->n_pauses, "pause", "pauses" },
                { counts->n_marks, "packet marked", "packets marked" },
                { counts->n_drops, "packet lost", "packets lost" } };
  const char *before = "; ";

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    if (parts[i].n == 0)
      continue;
    g_string_append_printf (page, "%s%" G_GUINT64_FORMAT " %s", before, parts[i].n,
                            parts[i].n == 1 ? parts[i].one : parts[i].many);
    before = ", ";
  }
}

static void
append_queue (GString *page, const FabRunResult *result, const FabLinkQueueRecord *queue)
{
  g_autofree char *name = fab_run_link_name (result, queue->link);
  g_autofree char *most = fab_units_show (FAB_UNIT_BYTES, (double) queue->most_bytes);
  g_autofree char *mean = fab_units_show (FAB_UNIT_BYTES, queue->mean_bytes);

  g_string_append_printf (page, "%s (%s): at most %s, mean %s", name,
                          fab_run_link_entry (result, queue->link), most, mean);
  append_counts (page, queue);
  g_string_append_c (page, '\n');
}

static void
append_queues (GString *page, const FabRunResult *result)
{
  const GArray *queues = result->reasons.queues;

  for (guint i = 0; i < MIN (queues->len, FAB_RUN_MOST_QUEUES); i++) {
    g_string_append_printf (page, "  %-16s", i == 0 ? "queues" : "");
    append_queue (page, result, &g_array_index (queues, FabLinkQueueRecord, i));
  }
  if (queues->len == 0)
    return;
  g_string_append_printf (page, "  %-16s%u %s in all", "", queues->len,
                          fab_plural (queues->len, "link", "links"));
  append_counts (page, &result->reasons.all_queues);
  g_string_append (page, ": `fabricast query queues`\n\n");
}

static void
append_jobs (GString *text, const GArray *jobs)
{
  if (jobs->len > 0)
    g_string_append_printf (text, "\n  %-24s\v%8s\v%12s\v%12s\v%12s\v%12s\n", "jobs, mean step", "nodes",
                            "alone", "together", "slow-down", "iterations");
  for (guint i = 0; i < jobs->len; i++) {
    const FabRunJob *job = &g_array_index (jobs, FabRunJob, i);
    g_autofree char *name = fab_cli_printable (job->name);
    g_autofree char *alone = fab_units_show (FAB_UNIT_TIME, (double) job->alone_ps);
    g_autofree char *together = fab_units_show (FAB_UNIT_TIME, (double) job->together_ps);

    g_string_append_printf (text, "  %-24s\v%8u\v%12s", name, job->n_nodes, alone);
    if (job->n_steps > 0)
      g_string_append_printf (text, "\v%12s\v%12.3f\v%12u\n", together, fab_run_slow_down (job),
                              job->n_steps);
    else
      g_string_append_printf (text, "\v%12s\v%12s\v%12d\n", "-", "-", 0);
  }
}

static void
append_stored (GString *page, gint64 run_id, const char *db)
{
  g_autofree char *word = fab_shell_word (db);

  g_string_append_printf (page,
                          "\n  run %" G_GINT64_FORMAT
                          " in %s; `fabricast query iterations --db %s` reads it back\n",
                          run_id, db, word);
}

/* All but the timeline and what stands below it. */
static void
append_rows (GString *page, const FabScenario *scenario, const FabRunResult *result,
             const FabRunCommand *command)
{
  append_head (page, scenario, result);
  append_step (page, scenario, result, command);
  fab_run_append_classes (page, result);
  fab_run_append_path (page, result);
  append_slowest (page, result);
  if (result->bottleneck != NULL)
    append_bottleneck (page, result);
  append_queues (page, result);
  fab_cli_append_findings (page, result->verdict);
}

static char *
draw_timeline (const FabRunResult *result)
{
  const FabDag *dag = fab_simulation_dag (result->simulation);

  return fab_timeline_draw (fab_simulation_probe (result->simulation), dag->classes, dag->n_classes,
                            TIMELINE_COLUMNS, fab_terminal_page_columns (0));
}

char *
fab_run_page (const FabScenario *scenario, const FabRunResult *result, const FabRunCommand *command)
{
  GString *page = g_string_new (NULL);
  g_autofree char *timeline = draw_timeline (result);

  fab_cli_append_stops (page, result->verdict);
  append_rows (page, scenario, result, command);
  if (!g_str_has_suffix (page->str, "\n\n"))
    g_string_append_c (page, '\n');
  g_string_append (page, timeline);
  append_jobs (page, result->jobs);
  if (result->run_id > 0)
    append_stored (page, result->run_id, command->db);
  return g_string_free (page, FALSE);
}

char *
fab_run_rows (const FabScenario *scenario, const FabRunResult *result, const FabRunCommand *command,
              const char *rows, GError **error)
{
  g_autoptr (GString) page = g_string_new (NULL);
  g_autofree char *timeline = draw_timeline (result);
  const FabRowsPart part = { "timeline", timeline };

  append_rows (page, scenario, result, command);
  append_jobs (page, result->jobs);
  return fab_rows_choose (page->str, &part, 1, rows, error);
}
