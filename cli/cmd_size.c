/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_size.c - `fabricast size SCENARIO --vary KEY=RANGE --target FIGURE<=BOUND`: what is enough. */
#include <string.h>

#include "cli/cli.h"
#include "cli/size.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/study/usual.h"

typedef struct {
  char *format_name, *vary;
  char **targets, **sets;
  FabFormat format;
} SizeOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Finds the first value of a key with which a scenario meets a target, what binds before and after, the\n"
      "nearest product, and how sure that is. Values are a list or a range (A..B:STEP, A..B:xFACTOR,\n"
      "A..B:/COUNT), from the least wanted on; few of them are played. A target is a figure and a bound:\n"
      "exposed<=5%, mfu>=40%, step<=1.2s, days<=30, memory<=80GB, token_cost<=$0.05. Exit code 1: no value\n"
      "meets it.",
  .examples =
      "  fabricast size scenarios/zero3-13b-slow-fabric.yaml --vary cluster.nic_rate=50..1600Gb/s:50 "
      "--target 'exposed<=20%'\n"
      "  fabricast size scenarios/zero3-13b-slow-fabric.yaml --vary cluster.nic_rate --target 'mfu>=30%'\n"
      "  fabricast size scenarios/ddp-2b-4nodes-200g.yaml --vary job.micro_batch=1..64:x2 --target 'mfu>=30%' "
      "--target 'memory<=60GB'\n",
  .min_rest = 1,
  .max_rest = 1,
};

static char *
title_of (const FabStudy *study, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_study_scenario (study, NULL, error);

  return scenario ? fab_cli_title (scenario) : NULL;
}

static gboolean
parse_targets (char **texts, GArray *targets, GError **error)
{
  for (guint i = 0; texts[i] != NULL; i++) {
    FabTarget target;

    if (!fab_target_parse (texts[i], &target, error))
      return FALSE;
    g_array_append_val (targets, target);
  }
  return TRUE;
}

/* Of a rate of NIC ports that is enough, what can be bought. */
static gboolean
find_ports (const FabStudy *study, const FabSizeSpec *spec, const FabSize *size, GPtrArray **ports,
            GError **error)
{
  *ports = NULL;
  if (size->answer < 0 || strcmp (spec->axis->key, "cluster.nic_rate") != 0)
    return TRUE;
  *ports = fab_ports_near (study, size->points[size->answer].value, spec->targets, spec->n_targets, error);
  return *ports != NULL;
}

/* -1: it failed; else whether a value meets the targets. */
static int
find (const SizeOptions *o, const FabStudy *study, const FabSizeSpec *spec, const char *title, GError **error)
{
  typedef char *(*ToTextFn) (const FabSizeView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = fab_size_text, [FAB_FORMAT_JSON] = fab_size_json, [FAB_FORMAT_CSV] = fab_size_csv
  };
  g_autoptr (FabSize) found = fab_size_find (study, spec, error);
  FabSureness sureness = { NULL, -1, -1 };
  GPtrArray *ports = NULL;
  int answer = -1;

  if (found == NULL)
    return -1;
  if (fab_size_sureness (study, spec, found, &sureness, error)
      && find_ports (study, spec, found, &ports, error)) {
    g_autofree char *text = printers[o->format](&(FabSizeView){ title, spec, found, &sureness, ports });

    g_print ("%s", text);
    answer = found->answer >= 0;
  }
  fab_sureness_clear (&sureness);
  g_clear_pointer (&ports, g_ptr_array_unref);
  return answer;
}

static int
size (const SizeOptions *o, const char *path, GError **error)
{
  g_autoptr (GArray) targets = g_array_new (FALSE, FALSE, sizeof (FabTarget));

  if (o->vary == NULL || o->targets == NULL) {
    fab_throw (error, FAB_ERROR_INPUT, "%s is missing: what may vary, and what is to be met",
               o->vary ? "--target" : "--vary");
    return -1;
  }
  if (!parse_targets (o->targets, targets, error))
    return -1;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  g_autofree char *title = study ? title_of (study, error) : NULL;
  if (title == NULL)
    return -1;
  g_autoptr (FabAxis) axis = strchr (o->vary, '=') != NULL ? fab_axis_parse (o->vary, error)
                                                           : fab_axis_usual (study, o->vary, error);
  FabSizeSpec spec = { axis, (const FabTarget *) (gpointer) targets->data, targets->len };
  return axis != NULL ? find (o, study, &spec, title, error) : -1;
}

static FabExit
run (int argc, char **argv)
{
  SizeOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "vary", 0, 0, G_OPTION_ARG_STRING, &o.vary, "The key and its values; without values the usual ones",
      "KEY[=VALUES]" },
    { "target", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.targets, "What is to be met; repeatable, all are",
      "FIGURE<=BOUND" },
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
  g_strfreev (o.targets);
  g_strfreev (o.sets);
  return met < 0 ? fab_cli_fail ("size", error) : met ? FAB_EXIT_DONE : FAB_EXIT_UNMET;
}

const FabCommand fab_command_size = {
  .name = "size",
  .summary = "Find the first value of a key that meets a target: how fast, how many, how large",
  .run = run,
};
