/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan.c - `fabricast plan SCENARIO`: the same training by every strategy that fits in memory, ranked. */
#include "cli/best.h"
#include "cli/cli.h"
#include "cli/plan.h"
#include "models/models.h"
#include "models/workload/training/choices.h"
#include "sim/base/error.h"

typedef struct {
  char *format_name, *strategies, *by, *memory, *out;
  char **sets;
  gint top;
  FabFormat format;
} PlanOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Trains the scenario's model on its machine, with its sequences per step, by every strategy that fits in\n"
      "memory, and ranks them. Strategies: ddp, zero1, zero2, zero3, zero3-hpz, fsdp, fsdp-grad-op, hsdp; and\n"
      "megatron, which divides the model too: tensor within the NVLink domain, pipeline, context and experts where\n"
      "the model asks for them. Each takes the best of its micro-batches, and recomputes where memory is short.\n"
      "What else the scenario says stays as it is. Exit code 1: nothing fits.",
  .examples =
      "  fabricast plan scenarios/ddp-gpt2-xl-dgx-a100.yaml --set cluster.nodes=4\n"
      "  fabricast plan scenarios/zero3-13b-slow-fabric.yaml --strategies zero3,zero3-hpz,hsdp --memory 40GB\n"
      "  fabricast plan scenarios/ddp-2b-4nodes-200g.yaml --by exposed -o best.yaml\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
write_best (const PlanOptions *o, const FabStudy *study, const FabPlan *plan, GError **error)
{
  const FabCandidate *best;

  if (o->out == NULL)
    return TRUE;
  if (plan->ranking->len == 0)
    return fab_throw (error, FAB_ERROR_INPUT, "--out %s: nothing fits in memory", o->out);
  best = g_ptr_array_index (plan->ranking, 0);
  g_autofree char *name = fab_plan_name (best);
  g_autofree char *why = g_strdup_printf ("%s as %s, which fabricast plan found best", study->path, name);
  return fab_best_write (study, best->edits, why, o->out, error);
}

static gboolean
fill_view (FabPlanView *view, const FabScenario *scenario, char **machine, GError **error)
{
  g_autoptr (FabPlant) plant = fab_plant_new (scenario, NULL, error);
  const FabClusterSpec *cluster = &fab_scenario_spec (scenario)->cluster;
  const FabNodeSpec *node = fab_catalog_node (fab_scenario_catalog (scenario), cluster->node);

  if (plant == NULL)
    return FALSE;
  if (view->most_bytes == 0)
    view->most_bytes = plant->cluster.device.memory_bytes;
  *machine = g_strdup_printf ("%u x %s on %" G_GINT64_FORMAT " x %s", fab_cluster_n_ranks (&plant->cluster),
                              node->accelerator, cluster->nodes, cluster->node);
  view->machine = *machine;
  return TRUE;
}

static int
plan (const PlanOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabPlanView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = fab_plan_text, [FAB_FORMAT_JSON] = fab_plan_json, [FAB_FORMAT_CSV] = fab_plan_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  FabPlanView view = { .by = catalog ? fab_best_figure (o->by, error) : NULL,
                       .top = (guint) MAX (o->top, 0) };
  g_autofree char *machine = NULL;

  if (view.by == NULL || !fab_best_memory (o->memory, &view.most_bytes, error))
    return -1;
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  g_autoptr (FabScenario) scenario = study ? fab_study_scenario (study, NULL, error) : NULL;
  GPtrArray *candidates = scenario ? fab_strategy_candidates (scenario, o->strategies, &view.sequences, error)
                                   : NULL;
  g_autoptr (FabPlan) found = candidates ? fab_plan_find (study, candidates, view.by, view.most_bytes, error)
                                         : NULL;
  g_autofree char *title = found ? fab_best_title (study, error) : NULL;
  if (title == NULL || !fill_view (&view, scenario, &machine, error) || !write_best (o, study, found, error))
    return -1;
  view.title = title;
  view.plan = found;
  g_autofree char *text = printers[o->format](&view);
  g_print ("%s", text);
  return found->ranking->len > 0;
}

static FabExit
run (int argc, char **argv)
{
  PlanOptions o = { .top = 12 };
  const GOptionEntry entries[] = {
    { "strategies", 0, 0, G_OPTION_ARG_STRING, &o.strategies,
      "Those to try, with commas between (default: all)", "NAMES" },
    { "memory", 0, 0, G_OPTION_ARG_STRING, &o.memory, "What a GPU may use (default: all that it has)",
      "BYTES" },
    { "by", 0, 0, G_OPTION_ARG_STRING, &o.by,
      "The figure to rank by: tokens (default), step, exposed, memory, mfu, ...", "FIGURE" },
    { "top", 0, 0, G_OPTION_ARG_INT, &o.top,
      "Rows of the ranking to show (default 12); the best of every strategy is always there", "N" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, "Write the best one as a scenario", "FILE" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override any key of the scenario; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  int fits = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
               ? plan (&o, argv[1], &error)
               : -1;
  char *texts[] = { o.format_name, o.strategies, o.by, o.memory, o.out };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (o.sets);
  return fits < 0 ? fab_cli_fail ("plan", error) : fits ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_plan = {
  .name = "plan",
  .summary = "Rank the strategies that train a model within memory",
  .run = run,
};
