/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c - `fabricast check SCENARIO`: reports every mistake at once, or prints the resolved scenario. */
#include "answer/memory_advice.h"
#include "answer/run.h"
#include "cli/cli.h"
#include "cli/terminal/progress.h"
#include "models/models.h"
#include "sim/base/shell.h"
#include "sim/base/units.h"
#include "sim/run/run.h"
#include "sim/verdict/doubts.h"

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Checks a scenario without simulating it: keys, units, ranges, names, and whether its machine can be\n"
      "built. It prints the scenario with every default and unit written out; comments say what a 0 stands for.\n"
      "If there are mistakes, it prints all of them and exits with 2.\n\n"
      "It warns where the fidelity is known to be wrong: colliding paths, incast, congestion that spreads. It\n"
      "also warns where the job does not fit into memory, and says with which changes it does, and where a run\n"
      "takes long. Notes say which fabric the node usually has, where none is given, and which switches are\n"
      "hardly used.",
  .examples = "  fabricast check scenarios/hello.yaml\n"
              "  fabricast check scenarios/ddp-2b-4nodes-200g.yaml --set cluster.nodes=8\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* Warns on stderr, so that the printed scenario can be read back. */
static gboolean
warn_of_fidelity (const char *path, const FabScenario *scenario, const FabSimulation *simulation,
                  GError **error)
{
  const char *fidelity = fab_scenario_spec (scenario)->fidelity.info->name;
  g_autoptr (GArray) doubts = fab_doubts_find (scenario, fab_simulation_plant (simulation),
                                               fab_simulation_dag (simulation), &fab_models, error);

  for (guint i = 0; doubts && i < doubts->len; i++) {
    const FabDoubt *doubt = &g_array_index (doubts, FabDoubt, i);
    g_autofree char *slow = fab_doubt_warning (doubt);
    g_autofree char *word = fab_shell_word (path);

    g_printerr ("fabricast check: warning: %s does not simulate %s; ", fidelity, doubt->text);
    if (slow)
      g_printerr ("%s does, but %s\n", doubt->better, slow);
    else if (doubt->better)
      g_printerr ("`fabricast compare %s --fidelity %s,%s` shows it\n", word, fidelity, doubt->better);
    else
      g_printerr ("no fidelity of this build does\n");
  }
  return doubts != NULL;
}

static void
print_finding (const FabFinding *finding)
{
  g_autofree char *text = fab_cli_printable (finding->text);
  g_autofree char *what = fab_cli_printable (finding->advice != NULL ? finding->advice : "");

  g_printerr ("fabricast check: %s: %s%s%s\n",
              fab_finding_kind (finding)->severity == FAB_FINDING_NOTES ? "note" : "warning", text,
              *what != '\0' ? " " : "", what);
}

/* Warns of a job that needs more memory than its accelerators have, with what was tried and fits, of designs that are
 * partly assumed, and of switches that are hardly used. */
static void
warn_of_machine (const FabScenario *scenario, const FabSimulation *simulation)
{
  static const FabFindingCode shown[] = { FAB_FINDING_DOES_NOT_FIT, FAB_FINDING_ASSUMED_DESIGN,
                                          FAB_FINDING_HALF_USED_SWITCHES, FAB_FINDING_LONE_RAILS };
  const FabMemoryTrying trying = { &fab_models, fab_cli_threads (), NULL };
  g_autoptr (FabVerdict) verdict = fab_verdict_of_built (scenario, simulation);
  G_GNUC_UNUSED g_autoptr (FabMemoryAdvice) advice = fab_advise_memory (scenario, simulation, &trying,
                                                                        verdict);

  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    if (fab_verdict_find (verdict, shown[i]) != NULL)
      print_finding (fab_verdict_find (verdict, shown[i]));
}

/* --- how long a run takes --- */

/* A run of fewer tasks takes seconds, on a network that counts no packets. */
static const double many_tasks = 1e6;
enum { TRIED_US = 3 * 1000 * 1000 };

/* Ends a run after three seconds. */
typedef struct {
  GMutex lock;
  GCond ended;
  gboolean is_ended;
  gint is_over; /* what the run looks at */
} Alarm;

static gpointer
wait_for_alarm (gpointer data)
{
  Alarm *self = data;
  gint64 end_us = g_get_monotonic_time () + TRIED_US;

  g_mutex_lock (&self->lock);
  while (!self->is_ended && g_cond_wait_until (&self->ended, &self->lock, end_us))
    ;
  g_atomic_int_set (&self->is_over, 1);
  g_mutex_unlock (&self->lock);
  return NULL;
}

/* Returns how many seconds all iterations take, by the pace of the first three seconds of a run; 0: it has none yet. */
static double
try_s (const FabScenario *scenario, FabSimulation *simulation)
{
  Alarm alarm = { .is_ended = FALSE };
  FabPulse pulse = { .n_known = (gint) fab_scenario_spec (scenario)->iterations };
  const FabRunOptions options = { .pulse = &pulse,
                                  .cancel = &alarm.is_over,
                                  .n_threads = fab_cli_threads () };

  fab_run_guess_step (scenario, &fab_models, NULL, &pulse);
  gint64 begun_us = g_get_monotonic_time ();
  g_mutex_init (&alarm.lock);
  g_cond_init (&alarm.ended);
  GThread *thread = g_thread_new ("alarm", wait_for_alarm, &alarm);
  gboolean has_ended = fab_simulation_run (simulation, &options, NULL);
  double passed_s = (double) (g_get_monotonic_time () - begun_us) / G_USEC_PER_SEC;
  double fraction = has_ended ? 1 : fab_pulse_fraction (&pulse);
  g_mutex_lock (&alarm.lock);
  alarm.is_ended = TRUE;
  g_cond_signal (&alarm.ended);
  g_mutex_unlock (&alarm.lock);
  g_thread_join (thread);
  g_mutex_clear (&alarm.lock);
  g_cond_clear (&alarm.ended);
  return fraction > 0 ? passed_s / fraction : 0;
}

/* Warns of a run that takes long, what-ifs not counted: by the pace of its first seconds, and at most by the packets
 * that its network will simulate. Afterwards the simulation is used up. */
static void
warn_of_time (const FabScenario *scenario, FabSimulation *simulation)
{
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  FabEffort effort = fab_run_effort (scenario, simulation);
  double n_tasks = (double) fab_simulation_dag (simulation)->n_tasks * (double) spec->iterations;

  if (effort.all_s < FAB_RUN_LONG_S && n_tasks < many_tasks)
    return;
  double tried_s = try_s (scenario, simulation);
  gboolean is_bound = effort.all_s > 0 && (tried_s <= 0 || effort.all_s < tried_s);
  g_autofree char *paced = fab_units_show (FAB_UNIT_TIME, tried_s * FAB_PS_PER_S),
                  *bound = fab_effort_show (&effort);
  if ((is_bound ? effort.all_s : tried_s) >= FAB_RUN_LONG_S)
    g_printerr (
        "fabricast check: warning: a run on this machine takes %s%s, by the %s; its band and what limits it "
        "take longer\n",
        is_bound ? "" : "about ", is_bound ? bound : paced,
        is_bound ? "packets that it simulates" : "pace of its first seconds");
}

/* What was left out and comes from the entry of the node. One node needs no fabric. */
static void
tell_of_usual_fabric (const FabScenario *scenario)
{
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);

  if (MAX (cluster->nodes, cluster->places) < 2 || !cluster->has_usual_fabric)
    return;
  g_printerr ("fabricast check: note: cluster.fabric is left out, so it is %s, the usual fabric of %s",
              cluster->fabric.info->name, node->name);
  if (node->rails > 0)
    g_printerr (" (%" G_GINT64_FORMAT " rails)", node->rails);
  g_printerr ("\n");
}

static gboolean
check_scenario (const char *path, char **sets, gboolean is_quiet, GError **error)
{
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog ? fab_cli_scenario (path, sets, catalog, error) : NULL;
  g_autoptr (FabProgress) progress = fab_progress_start ("tasks");
  g_autoptr (FabSimulation) simulation = scenario ? fab_simulation_new (scenario, &fab_models, NULL, error)
                                                  : NULL;

  fab_progress_stop (progress);
  if (simulation == NULL || !warn_of_fidelity (path, scenario, simulation, error))
    return FALSE;
  warn_of_machine (scenario, simulation);
  warn_of_time (scenario, simulation);
  if (!is_quiet) {
    tell_of_usual_fabric (scenario);
    g_autofree char *resolved = fab_scenario_explained (scenario);
    g_print ("%s", resolved);
  }
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  char **sets = NULL;
  gboolean is_quiet = FALSE;
  const GOptionEntry entries[] = { FAB_SET_ENTRY (&sets),
                                   { "quiet", 'q', 0, G_OPTION_ARG_NONE, &is_quiet,
                                     "Do not print the resolved scenario", NULL },
                                   G_OPTION_ENTRY_NULL };
  g_autoptr (GError) error = NULL;
  gboolean is_good = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && check_scenario (argv[1], sets, is_quiet, &error);

  g_strfreev (sets);
  return is_good ? FAB_EXIT_DONE : fab_cli_fail ("check", error);
}

const FabCommand fab_command_check = {
  .name = "check",
  .summary = "Check a scenario, and print it with every default filled in",
  .run = run,
  .prints_data = TRUE,
};
