/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cost.c - `fabricast cost SCENARIO`: what a machine is made of, what it costs and draws, and a job on it. */
#include "cli/cli.h"
#include "cli/cost.h"
#include "models/models.h"

typedef struct {
  char *format_name;
  char **sets;
  FabFormat format;
} CostOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Counts what the machine of a scenario is made of, with prices and watts of the catalogue: GPUs, nodes,\n"
      "NICs, switches, cables, transceivers; plays the job, and says what an hour, a step, a million tokens and\n"
      "the training cost in US dollars and energy. Prices are list or street prices of a date, and uncertain:\n"
      "`products` of a scenario are counted before them, and `cost` says what electricity and years are.",
  .examples =
      "  fabricast cost scenarios/ddp-llama2-7b-16-dgx-h100.yaml\n"
      "  fabricast cost scenarios/zero3-70b-16384.yaml --set cost.usd_per_kwh=0.12 --set cost.years=4\n"
      "  fabricast cost scenarios/ddp-2b-4nodes-200g.yaml --set cost.usd_per_gpu_hour=1.8 --format json\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
cost (const CostOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabCostView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = fab_cost_text, [FAB_FORMAT_JSON] = fab_cost_json, [FAB_FORMAT_CSV] = fab_cost_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabScenario) scenario = catalog ? fab_cli_scenario (path, o->sets, catalog, error) : NULL;

  if (scenario == NULL)
    return FALSE;
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  g_autoptr (FabBill) bill = fab_bill_new (scenario, error);
  g_autoptr (FabPoint) point = bill ? fab_point_play (scenario, &fab_models, error) : NULL;
  if (point == NULL)
    return FALSE;
  g_autofree char *shown = fab_cli_title (scenario);
  g_autofree char *text = printers[o->format](&(FabCostView){ shown, &spec->cost, bill, point });
  g_print ("%s", text);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  CostOptions o = { 0 };
  const GOptionEntry entries[] = { { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets,
                                     "Override any key of the scenario; repeatable", "KEY=VALUE" },
                                   { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name,
                                     "text (default), json or csv", "FORMAT" },
                                   G_OPTION_ENTRY_NULL };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error) && cost (&o, argv[1], &error);

  g_free (o.format_name);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("cost", error);
}

const FabCommand fab_command_cost = {
  .name = "cost",
  .summary = "Count a machine's parts, prices and watts, and what a step, a token, a training costs",
  .run = run,
};
