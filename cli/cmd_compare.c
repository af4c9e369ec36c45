/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.c - `fabricast compare SCENARIO...`: several scenarios, variants or fidelities, and where they differ. */
#include "cli/cli.h"
#include "cli/compare.h"
#include "sim/base/error.h"

enum { MOST_SCENARIOS = 16 };

static const FabUsage usage = {
  .arguments = "SCENARIO...",
  .summary =
      "Plays scenarios, variants of one (--vary), or one scenario at several fidelities of the network (nothing\n"
      "else given) and prints them side by side: figures, what a step is made of, and where the difference comes\n"
      "from: dimensions, collectives, contention, waiting, links. Times are of the last iteration. --at-equal finds\n"
      "what the others need to equal the first in a figure. docs/compare.md explains; docs/fidelity.md, fidelities.",
  .examples =
      "  fabricast compare scenarios/ddp-2b-4nodes-200g.yaml scenarios/ddp-2b-4nodes-400g.yaml\n"
      "  fabricast compare scenarios/compare-domain-8.yaml scenarios/compare-domain-72.yaml --at-equal step\n"
      "  fabricast compare scenarios/hello.yaml --vary cluster.nodes=2,4 --set job.micro_batch=2\n"
      "  fabricast compare scenarios/neighbour-oversubscribed.yaml --fidelity fluid,analytic\n",
  .min_rest = 1,
  .max_rest = MOST_SCENARIOS,
};

static gboolean
compare (const FabCompareOptions *o, char **paths, guint n_paths, GError **error)
{
  gboolean has_sides = n_paths > 1 || o->vary != NULL;

  if (o->vary != NULL && n_paths > 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--vary makes variants of one scenario, not of %u", n_paths);
  if (has_sides && o->fidelity != NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--fidelity compares fidelities of one scenario; here --set fidelity=NAME sets one");
  if (o->equal == NULL && o->by != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--by says what --at-equal may change, which is missing");
  if (!has_sides && o->equal != NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--at-equal needs two scenarios, or --vary");
  return has_sides ? fab_compare_sides (o, paths, n_paths, error)
                   : fab_compare_at_fidelities (o, paths[0], error);
}

static FabExit
run (int argc, char **argv)
{
  FabCompareOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "fidelity", 0, 0, G_OPTION_ARG_STRING, &o.fidelity,
      "Which, with commas between (default: analytic and the scenario's own)", "NAMES" },
    { "vary", 0, 0, G_OPTION_ARG_STRING, &o.vary, "A variant of the scenario for each value of a key",
      "KEY=VALUES" },
    { "against", 0, 0, G_OPTION_ARG_STRING, &o.against,
      "The one that differences are against (default: the first)", "NAME" },
    { "at-equal", 0, 0, G_OPTION_ARG_STRING, &o.equal, "Find what the others need to equal it in this figure",
      "FIGURE" },
    { "by", 0, 0, G_OPTION_ARG_STRING, &o.by, "What they may change for that (default: cluster.nic_rate)",
      "KEY[=VALUES]" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override any key of every scenario; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error)
                  && compare (&o, argv + 1, (guint) argc - 1, &error);

  g_free (o.format_name);
  g_free (o.fidelity);
  g_free (o.vary);
  g_free (o.against);
  g_free (o.equal);
  g_free (o.by);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("compare", error);
}

const FabCommand fab_command_compare = {
  .name = "compare",
  .summary = "Put scenarios, variants or fidelities side by side and say where they differ",
  .run = run,
};
