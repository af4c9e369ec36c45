/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_size.c - `fabricast size SCENARIO --vary KEY=RANGE --target FIGURE<=BOUND`: what is enough. */
#include "cli/cli.h"
#include "cli/size.h"
#include "models/models.h"
#include "sim/base/error.h"

typedef struct {
  char *format_name, *vary, *target_text;
  char **sets;
  FabFormat format;
} SizeOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Finds the first value of a key with which a scenario meets a target, and what binds before and after.\n"
      "Values are a list or a range (A..B:STEP, A..B:xFACTOR, A..B:/COUNT), from the least wanted on; few of\n"
      "them are played. A target is a figure and a bound: exposed<=5%, mfu>=40%, step<=1.2s, train<=30d,\n"
      "tokens>=1e6, memory<=80GB. Exit code 1: no value meets it.",
  .examples =
      "  fabricast size scenarios/zero3-13b-slow-fabric.yaml --vary cluster.nic_rate=50..1600Gb/s:50 "
      "--target 'exposed<=20%'\n"
      "  fabricast size scenarios/ddp-2b-4nodes-200g.yaml --vary job.micro_batch=1..64:x2 --target 'mfu>=30%'\n",
  .min_rest = 1,
  .max_rest = 1,
};

static char *
title_of (const char *path, char **sets, const FabCatalog *catalog, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_cli_scenario (path, sets, catalog, error);

  if (scenario == NULL)
    return NULL;
  const FabScenarioSpec *spec = fab_scenario_spec (scenario);
  return spec->summary ? g_strconcat (spec->name, ": ", spec->summary, NULL) : g_strdup (spec->name);
}

/* -1: it failed; else whether a value meets the target. */
static int
size (const SizeOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabSizeView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = fab_size_text, [FAB_FORMAT_JSON] = fab_size_json, [FAB_FORMAT_CSV] = fab_size_csv
  };
  FabSizeSpec spec = { 0 };

  if (o->vary == NULL || o->target_text == NULL) {
    fab_throw (error, FAB_ERROR_INPUT, "%s is missing: what may vary, and what is to be met",
               o->vary ? "--target" : "--vary");
    return -1;
  }
  g_autoptr (FabAxis) axis = fab_axis_parse (o->vary, error);
  if (axis == NULL || !fab_target_parse (o->target_text, &spec.target, error))
    return -1;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autofree char *title = catalog ? title_of (path, o->sets, catalog, error) : NULL;
  if (title == NULL)
    return -1;
  spec.axis = axis;
  FabStudy study = { path, (const char *const *) o->sets, catalog, &fab_models };
  g_autoptr (FabSize) found = fab_size_find (&study, &spec, error);
  if (found == NULL)
    return -1;
  g_autofree char *shown = fab_cli_printable (title);
  g_autofree char *text = printers[o->format](&(FabSizeView){ shown, axis, &spec.target, found });
  g_print ("%s", text);
  return found->answer >= 0;
}

static FabExit
run (int argc, char **argv)
{
  SizeOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "vary", 0, 0, G_OPTION_ARG_STRING, &o.vary, "The key and its values", "KEY=VALUES" },
    { "target", 0, 0, G_OPTION_ARG_STRING, &o.target_text, "What is to be met", "FIGURE<=BOUND" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override any key of the scenario; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  int met = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                 && fab_cli_format (o.format_name, &o.format, &error)
              ? size (&o, argv[1], &error)
              : -1;

  g_free (o.format_name);
  g_free (o.vary);
  g_free (o.target_text);
  g_strfreev (o.sets);
  return met < 0 ? fab_cli_fail ("size", error) : met ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_size = {
  .name = "size",
  .summary = "Find the first value of a key that meets a target: how fast, how many, how large",
  .run = run,
};
