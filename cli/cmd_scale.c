/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_scale.c - `fabricast scale SCENARIO --gpus 8..4096:x2`: the same job on more and more GPUs. */
#include <string.h>

#include "cli/cli.h"
#include "cli/scale.h"
#include "models/models.h"
#include "sim/base/error.h"

typedef struct {
  char *format_name, *gpus, *bound;
  char **sets;
  gboolean is_strong, has_no_band;
  FabFormat format;
} ScaleOptions;

static const FabUsage usage = {
  .arguments = "SCENARIO",
  .summary =
      "Plays a job on more and more GPUs and says up to how many they are worth it, where the efficiency bends,\n"
      "and from where on the network dominates. The batch of every GPU is kept, with --strong that of the job.\n"
      "GPUs are whole nodes, or a part of one; a divided model keeps its tensor, context and pipeline sizes.",
  .examples = "  fabricast scale scenarios/zero3-13b-slow-fabric.yaml\n"
              "  fabricast scale scenarios/ddp-llama2-7b-16-dgx-h100.yaml --gpus 8:4096:x2\n"
              "  fabricast scale scenarios/megatron-405b.yaml --gpus 128..4096:x2 --strong\n",
  .min_rest = 1,
  .max_rest = 1,
};

/* "8:4096:x2" is "8..4096:x2". */
static FabAxis *
parse_gpus (const char *text, GError **error)
{
  g_autofree char *plain = g_strdup (text);
  char *colon = strchr (plain, ':');
  g_autofree char *axis = NULL;

  if (colon != NULL && strstr (plain, "..") == NULL) {
    *colon = '\0';
    axis = g_strdup_printf ("gpus=%s..%s", plain, colon + 1);
  } else {
    axis = g_strconcat ("gpus=", plain, NULL);
  }
  return fab_axis_parse (axis, error);
}

static gboolean
read_bound (const ScaleOptions *o, FabScalingSpec *spec, GError **error)
{
  spec->bound = 0.9;
  if (o->bound == NULL)
    return TRUE;
  if (!fab_units_parse_real (FAB_UNIT_FRACTION, o->bound, &spec->bound, error)) {
    g_prefix_error (error, "--efficiency: ");
    return FALSE;
  }
  if (spec->bound <= 0 || spec->bound > 1)
    return fab_throw (error, FAB_ERROR_INPUT, "--efficiency %s: above 0%%, at most 100%%, is wanted",
                      o->bound);
  return TRUE;
}

static gboolean
scale (const ScaleOptions *o, const char *path, GError **error)
{
  typedef char *(*ToTextFn) (const FabScaleView *view);
  static const ToTextFn printers[] = {
    [FAB_FORMAT_TEXT] = fab_scale_text, [FAB_FORMAT_JSON] = fab_scale_json, [FAB_FORMAT_CSV] = fab_scale_csv
  };
  FabScalingSpec spec = { .is_strong = o->is_strong, .has_band = !o->has_no_band };

  if (!read_bound (o, &spec, error))
    return FALSE;
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  g_autoptr (FabStudy) study = fab_cli_study (path, o->sets, catalog, error);
  g_autoptr (FabScenario) scenario = study ? fab_study_scenario (study, NULL, error) : NULL;
  if (scenario == NULL)
    return FALSE;
  g_autoptr (FabAxis) gpus = o->gpus ? parse_gpus (o->gpus, error) : fab_scaling_default (scenario);
  if (gpus == NULL)
    return FALSE;
  spec.gpus = gpus;
  g_autoptr (FabScaling) scaling = fab_scaling_play (study, &spec, error);
  if (scaling == NULL)
    return FALSE;
  g_autofree char *title = fab_cli_title (scenario);
  g_autofree char *text = printers[o->format](&(FabScaleView){ title, &spec, scaling });
  g_print ("%s", text);
  return TRUE;
}

static FabExit
run (int argc, char **argv)
{
  ScaleOptions o = { 0 };
  const GOptionEntry entries[] = {
    { "gpus", 0, 0, G_OPTION_ARG_STRING, &o.gpus,
      "How many (default: one node to 16 times the scenario's, x2)", "RANGE" },
    { "strong", 0, 0, G_OPTION_ARG_NONE, &o.is_strong, "Keep the batch of the job, not that of every GPU",
      NULL },
    { "efficiency", 0, 0, G_OPTION_ARG_STRING, &o.bound, "What is worth it (default: 90%)", "FRACTION" },
    { "no-band", 0, 0, G_OPTION_ARG_NONE, &o.has_no_band, "Do not play what the links' uncertainty allows",
      NULL },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o.sets, "Override any key of the scenario; repeatable",
      "KEY=VALUE" },
    { "format", 0, 0, G_OPTION_ARG_STRING, &o.format_name, "text (default), json or csv", "FORMAT" },
    G_OPTION_ENTRY_NULL
  };
  g_autoptr (GError) error = NULL;
  gboolean is_done = fab_cli_parse (&usage, entries, &argc, &argv, &error)
                  && fab_cli_format (o.format_name, &o.format, &error) && scale (&o, argv[1], &error);

  g_free (o.format_name);
  g_free (o.gpus);
  g_free (o.bound);
  g_strfreev (o.sets);
  return is_done ? FAB_EXIT_DONE : fab_cli_fail ("scale", error);
}

const FabCommand fab_command_scale = {
  .name = "scale",
  .summary = "Play a job on more and more GPUs: efficiency, where it bends, where the network dominates",
  .run = run,
};
