/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tune.c - `fabricast tune SCENARIO [--knobs ...]`: bucket, prefetch, micro-batch for the best figure. */
#include "cli/best.h"
#include "cli/cli.h"
#include "cli/tune.h"
#include "models/models.h"
#include "models/workload/training/choices.h"
#include "sim/base/error.h"

typedef struct {
  char *format_name, *knobs, *by, *memory, *out;
  char **sets;
  FabFormat format;
} TuneOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Finds the knobs of a training job with which it is fastest: the best values, the curve of every knob around\n"
      "them, and what they gain. A job has the knobs of its framework; the sequences of a step stay as they are, and\n"
      "what does not fit in memory is no answer. Without --knobs: bucket, prefetch and micro_batch, as far as the job\n"
      "has them.",
  .examples = "  fabricast tune scenarios/ddp-2b-4nodes-200g.yaml\n"
              "  fabricast tune scenarios/zero3-13b-slow-fabric.yaml --knobs prefetch,recompute\n"
              "  fabricast tune scenarios/hello.yaml --by exposed --memory 40GB -o best.yaml\n",
  .min_rest = 1,
  .max_rest = 1,
};

static gboolean
write_best (const TuneOptions *o, const FabStudy *study, const FabTune *tune, GError **error)
{
  if (o->out == NULL)
    return TRUE;
  if (tune->best == NULL)
    return fab_throw (error, FAB_ERROR_INPUT, "--out %s: nothing that was tried fits in memory", o->out);
  g_autofree char *name = fab_tune_point_name (tune, tune->best);
  g_autofree char *why = g_strdup_printf ("%s with %s, which fabricast tune found best by %s", study->path,
                                          name, tune->by->name);
  return fab_best_write (study, tune->best->edits, why, o->out, error);
}

static gboolean
tune (const TuneOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabTuneView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = fab_tune_text, [FAB_FORMAT_JSON] = fab_tune_json, [FAB_FORMAT_CSV] = fab_tune_csv
  };
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  const FabFigure *by = catalog ? fab_best_figure (o->by, error) : NULL;
  FabBytes most_bytes;

  if (by == NULL || !fab_best_memory (o->memory, &most_bytes, error))
    return FALSE;
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  g_autoptr (FabScenario) scenario = study ? fab_study_scenario (study, NULL, error) : NULL;
  g_autoptr (GPtrArray) knobs = scenario ? fab_job_knobs (scenario, o->knobs, error) : NULL;
  if (knobs == NULL)
    return FALSE;
  g_autoptr (FabTune) found = fab_tune_find (study, knobs, by, most_bytes, error);
  g_autofree char *title = found ? fab_best_title (study, error) : NULL;
  if (title == NULL || !write_best (o, study, found, error))
    return FALSE;
  g_autofree char *text = printers[o->format](&(FabTuneView){ title, found });
  g_print ("%s", text);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  TuneOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "knobs", 0, 0, G_OPTION_ARG_STRING, &o.knobs,
      "What may be turned; a wrong name lists what the job has (default: bucket, prefetch, micro_batch)",
      "NAMES" },
    { "by", 0, 0, G_OPTION_ARG_STRING, &o.by,
      "The figure that is to be best: tokens (default), step, exposed, ...", "FIGURE" },
    { "memory", 0, 0, G_OPTION_ARG_STRING, &o.memory, "What a GPU may use (default: all that it has)",
      "BYTES" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out, "Write the best one as a scenario", "FILE" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override any key of the scenario; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error) && tune (&o, argv[1], &error);
  char *texts[] = { o.format_name, o.knobs, o.by, o.memory, o.out };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (texts[i]);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("tune", error);
}

const FabCommand fab_command_tune = {
  .name = "tune",
  .summary = "Find the best bucket, prefetch and micro-batch of a job",
  .run = run,
};
