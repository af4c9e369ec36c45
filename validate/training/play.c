/* SPDX-License-Identifier: Apache-2.0 */
/* play.c - runs of the simulator in this process.
 *
 * The step's time rises with x = 1 / efficiency, with a slope between 0 (compute hidden behind communication) and that
 * of the compute time c / x. Newton's step with the second slope, x' = x (1 + (T - t(x)) / c(x)), falls short of the
 * root or meets it exactly where all communication is exposed; it is kept within what is known to be too fast and too
 * slow.
 */
#include "validate/training/play.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/run/run.h"

static const double deviation_fraction = 0.08 / 5.4;

const char *const fab_training_knob_names[] = {
  [FAB_TRAINING_MFU] = "mfu", [FAB_TRAINING_SCALE] = "scale", NULL
};

/* Where an efficiency is looked for: what the model takes, and what is no mistake of a row. */
typedef struct {
  const char *key;
  FabUnit unit;
  double least, most, first;
} Range;

static const Range ranges[] = {
  [FAB_TRAINING_MFU] = { "job.compute.mfu", FAB_UNIT_FRACTION, 0.001, 1, 0.4 }, /* 40 % is a usual one */
  [FAB_TRAINING_SCALE] = { "job.compute.scale", FAB_UNIT_FACTOR, 0.02, 4, 1 },
};

struct _FabTrainingRun {
  char *name;
  FabScenario *base; /* without the assignments of the user */
  FabEdits *edits;   /* those */
  const FabTrainingEnv *env;
  FabTrainingTraits traits;
};

void
fab_training_run_free (FabTrainingRun *self)
{
  if (self == NULL)
    return;
  g_free (self->name);
  fab_scenario_free (self->base);
  fab_edits_free (self->edits);
  g_free (self);
}

/* Nine digits, as a person would write an efficiency. */
static double
nine_digits (double fraction)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.9g", fraction), NULL);
}

/* The checked scenario at an efficiency; 0: as the template says. (transfer full) */
static FabScenario *
scenario_at (const FabTrainingRun *self, double efficiency, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (self->base);
  g_autoptr (FabEdits) edits = fab_edits_new ();

  if (efficiency > 0)
    fab_edits_set (edits, ranges[self->traits.knob].key,
                   fab_value_real (ranges[self->traits.knob].unit, nine_digits (efficiency)));
  fab_edits_append (edits, self->edits);
  fab_scenario_edit (scenario, edits);
  return fab_scenario_check (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}

/* A text of a checked scenario, interned; "" for none. */
static const char *
text_of (const FabScenario *scenario, const char *key)
{
  FabValue *value;

  if (!fab_scenario_get (scenario, key, &value, NULL) || value == NULL)
    return "";
  const char *text = value->kind == FAB_VALUE_TEXT ? g_intern_string (value->text) : "";
  fab_value_unref (value);
  return text;
}

static const char *
generation_of (const FabScenario *scenario)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  const FabNodeSpec *node = fab_catalog_node (catalog, fab_scenario_spec (scenario)->cluster.node);
  const FabAcceleratorSpec *spec = node ? fab_catalog_accelerator (catalog, node->accelerator) : NULL;

  return spec && spec->architecture ? g_intern_string (spec->architecture) : "";
}

static void
take_traits (FabTrainingTraits *traits, const FabScenario *scenario)
{
  traits->tensor = (guint) fab_scenario_get_whole (scenario, "job.parallel.tensor", 1);
  traits->context = (guint) fab_scenario_get_whole (scenario, "job.parallel.context", 1);
  traits->expert = (guint) fab_scenario_get_whole (scenario, "job.parallel.expert", 1);
  traits->pipeline = (guint) fab_scenario_get_whole (scenario, "job.parallel.pipeline", 1);
  traits->generation = generation_of (scenario);
  traits->precision = text_of (scenario, "job.precision");
  traits->stack = text_of (scenario, "job.compute.stack");
}

FabTrainingRun *
fab_training_run_open (const FabTrainingSource *source, guint row, const FabTrainingEnv *env, GError **error)
{
  g_autoptr (FabTrainingRun) self = g_new0 (FabTrainingRun, 1);
  gboolean has_mfu = FALSE;
  g_autofree char *yaml = fab_training_source_scenario (source, row, ranges[FAB_TRAINING_MFU].first, &has_mfu,
                                                        error);

  self->name = g_strdup_printf ("%s row %s", source->spec->name,
                                fab_training_table_row (source->table, row)->id);
  self->edits = fab_edits_of (env->sets);
  self->env = env;
  self->traits.knob = has_mfu ? FAB_TRAINING_MFU : FAB_TRAINING_SCALE;
  if (yaml == NULL) {
    g_prefix_error (error, "%s: ", self->name);
    return NULL;
  }
  self->base = fab_scenario_open_text (self->name, yaml, strlen (yaml), env->registry, env->catalog, error);
  g_autoptr (FabScenario) scenario = self->base ? scenario_at (self, 0, error) : NULL;
  if (scenario == NULL)
    return NULL;
  take_traits (&self->traits, scenario);
  return g_steal_pointer (&self);
}

const FabTrainingTraits *
fab_training_run_traits (const FabTrainingRun *self)
{
  return &self->traits;
}

gboolean
fab_training_run_play (const FabTrainingRun *self, double efficiency, FabTrainingStep *step, GError **error)
{
  g_autoptr (FabScenario) scenario = scenario_at (self, efficiency, error);

  if (scenario == NULL)
    return FALSE;
  g_autoptr (FabSimulation) simulation = fab_scenario_run (scenario, self->env->registry, NULL, NULL, error);
  if (simulation == NULL) {
    g_prefix_error (error, "%s: ", self->name);
    return FALSE;
  }
  const FabIterationRecord *times = &fab_simulation_probe (simulation)->step.times;
  *step = (FabTrainingStep){ .step_s = fab_ps_to_seconds (times->duration_ps),
                             .compute_s = fab_ps_to_seconds (times->compute_ps),
                             .comm_s = fab_ps_to_seconds (times->comm_ps),
                             .exposed_s = fab_ps_to_seconds (times->exposed_ps) };
  return TRUE;
}

gboolean
fab_training_run_fit (const FabTrainingRun *self, double wanted_s, double *efficiency, GError **error)
{
  const Range *range = &ranges[self->traits.knob];
  const double tolerance = 1e-4, least = 1 / range->most, most = 1 / range->least;
  const guint most_runs = 40;
  double low = least, high = most, x = 1 / range->first;
  FabTrainingStep step = { 0 };

  for (guint i = 0; i < most_runs; i++) {
    if (!fab_training_run_play (self, 1 / x, &step, error))
      return FALSE;
    *efficiency = 1 / x;
    if (fabs (step.step_s / wanted_s - 1) < tolerance)
      return TRUE;
    if (high / low < 1 + tolerance / 10)
      break;
    if (step.step_s < wanted_s)
      low = x;
    else
      high = x;
    x *= 1 + (wanted_s - step.step_s) / MAX (step.compute_s, 1e-12);
    if (x <= low)
      x = low > least ? sqrt (low * high) : least;
    if (x >= high)
      x = high < most ? sqrt (low * high) : most;
  }
  if (fabs (step.step_s / wanted_s - 1) < 10 * tolerance)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%s: no %s from %g to %g takes the measured %.4g s; at %.3g it takes %.4g s", self->name,
                    fab_training_knob_names[self->traits.knob], range->least, range->most, wanted_s,
                    *efficiency, step.step_s);
}

double
fab_training_residual (const FabTrainingStep *step, double wanted_s)
{
  const double least_ratio = 0.01;

  return log (MAX ((step->compute_s + wanted_s - step->step_s) / step->compute_s, least_ratio));
}

double
fab_training_slowest (guint n_gpus)
{
  const double quantile = (n_gpus - 0.375) / (n_gpus + 0.25);
  double low = 0, high = 10; /* standard deviations */

  while (high - low > 1e-9) {
    double middle = (low + high) / 2;

    if (0.5 * erfc (-middle / G_SQRT2) < quantile)
      low = middle;
    else
      high = middle;
  }
  return 1 + deviation_fraction * low;
}
