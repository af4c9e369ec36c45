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
  const char *name;
  double least, most, first;
} Range;

static const Range ranges[] = {
  [FAB_TRAINING_MFU] = { "mfu", 0.001, 1, 0.4 }, /* 40 % is a usual one */
  [FAB_TRAINING_SCALE] = { "scale", 0.02, 4,
                           0.9 }, /* at 1 nothing is anchored, and a step has what setups add */
};

/* Kernels of a whole model that ran at less than a fifth of the roofline's rates did something else as well. */

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

/* What is set of a row. */
typedef struct {
  FabTrainingKnob knob;
  double efficiency; /* 0: nothing is set, and the template's counts */
  guint n_micro;     /* micro-batches of a step; 0: as many as the row has */
} Setting;

static void
add_setting (FabEdits *edits, const Setting *setting)
{
  double efficiency = nine_digits (setting->efficiency);

  if (setting->efficiency <= 0)
    return;
  if (setting->knob == FAB_TRAINING_MFU)
    fab_edits_set (edits, "job.compute.mfu", fab_value_real (FAB_UNIT_FRACTION, efficiency));
  else if (setting->efficiency < 1 || setting->efficiency > 1)
    fab_edits_set (edits, "job.compute.scale", fab_value_real (FAB_UNIT_FACTOR, efficiency));
}

/* The checked scenario. (transfer full) */
static FabScenario *
scenario_at (const FabTrainingRun *self, const Setting *setting, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (self->base);
  g_autoptr (FabEdits) edits = fab_edits_new ();

  add_setting (edits, setting);
  fab_edits_append (edits, self->edits);
  if (setting->n_micro > 0)
    fab_edits_set (edits, "job.accumulation", fab_value_whole (FAB_UNIT_COUNT, setting->n_micro));
  fab_scenario_edit (scenario, edits);
  return fab_scenario_check (scenario, error) ? g_steal_pointer (&scenario) : NULL;
}

static const char *
generation_of (const FabScenario *scenario)
{
  const FabCatalog *catalog = fab_scenario_catalog (scenario);
  const FabNodeSpec *node = fab_catalog_node (catalog, fab_scenario_spec (scenario)->cluster.node);
  const FabAcceleratorSpec *spec = node ? fab_catalog_accelerator (catalog, node->accelerator) : NULL;

  return spec && spec->architecture ? g_intern_string (spec->architecture) : "";
}

static gboolean
flag_of (const FabScenario *scenario, const char *key)
{
  g_autoptr (FabValue) value = NULL;

  return fab_scenario_get (scenario, key, &value, NULL) && value != NULL && value->kind == FAB_VALUE_FLAG
      && value->flag;
}

/* (interned) */
static const char *
text_of (const FabScenario *scenario, const char *key)
{
  g_autoptr (FabValue) value = NULL;

  return fab_scenario_get (scenario, key, &value, NULL) && value != NULL && value->text != NULL
           ? g_intern_string (value->text)
           : "";
}

static void
take_traits (FabTrainingTraits *traits, const FabScenario *scenario)
{
  traits->tensor = (guint) fab_scenario_get_whole (scenario, "job.parallel.tensor", 1);
  traits->context = (guint) fab_scenario_get_whole (scenario, "job.parallel.context", 1);
  traits->expert = (guint) fab_scenario_get_whole (scenario, "job.parallel.expert", 1);
  traits->pipeline = (guint) fab_scenario_get_whole (scenario, "job.parallel.pipeline", 1);
  traits->is_sequence = flag_of (scenario, "job.parallel.sequence");
  traits->micro_batch = (guint) fab_scenario_get_whole (scenario, "job.micro_batch", 1);
  traits->precision = text_of (scenario, "job.precision");
  traits->generation = generation_of (scenario);
  traits->n_micro = (guint) fab_scenario_get_whole (scenario, "job.accumulation", 1);
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
  g_autoptr (FabScenario) scenario = self->base ? scenario_at (self, &(Setting){ .efficiency = 0 }, error)
                                                : NULL;
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

static FabTrainingCell
cell_of (const FabTrainingRun *self, const FabSimulation *simulation)
{
  const FabJobTotals *totals = fab_simulation_totals (simulation);
  const FabSetup *setup = &totals->setup;

  if (!totals->has_setup)
    return (FabTrainingCell){ .time_factor = 1, .low_factor = 1, .high_factor = 1 };
  return (FabTrainingCell){ self->traits.generation,
                            fab_precision_names[totals->precision],
                            g_intern_string (totals->stack),
                            setup->time_factor,
                            setup->low_factor,
                            setup->high_factor };
}

static gboolean
play_once (const FabTrainingRun *self, const Setting *setting, FabTrainingStep *step, GError **error)
{
  g_autoptr (FabScenario) scenario = scenario_at (self, setting, error);

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
                             .exposed_s = fab_ps_to_seconds (times->exposed_ps),
                             .cell = cell_of (self, simulation) };
  return TRUE;
}

/* After the pipeline is full every micro-batch takes as long as the one before, so that a step is a line of their
 * number. A row of many is played with few, twice, and the line is extended: that is exact as long as a round of the
 * pipeline takes the same time as the next. */
static double
extended (double at_few, double at_more, guint few, guint more, guint n)
{
  return at_more + (at_more - at_few) * (double) (n - more) / (double) (more - few);
}

static gboolean
play (const FabTrainingRun *self, const Setting *setting, FabTrainingStep *step, GError **error)
{
  guint few = 2 * self->traits.pipeline, more = 2 * few, n = self->traits.n_micro;
  Setting with_few = *setting, with_more = *setting;
  FabTrainingStep short_step = { .step_s = 0 };

  if (self->env->plays_whole || n <= 2 * more)
    return play_once (self, setting, step, error);
  with_few.n_micro = few;
  with_more.n_micro = more;
  if (!play_once (self, &with_few, &short_step, error) || !play_once (self, &with_more, step, error))
    return FALSE;
  step->step_s = extended (short_step.step_s, step->step_s, few, more, n);
  step->compute_s = extended (short_step.compute_s, step->compute_s, few, more, n);
  step->comm_s = extended (short_step.comm_s, step->comm_s, few, more, n);
  step->exposed_s = extended (short_step.exposed_s, step->exposed_s, few, more, n);
  return TRUE;
}

gboolean
fab_training_run_play (const FabTrainingRun *self, double efficiency, FabTrainingStep *step, GError **error)
{
  return play (self, &(Setting){ self->traits.knob, efficiency, 0 }, step, error);
}

/* How far a fitted step may be from the measured one: a tenth of what runs of one job differ by. */
static const double tolerance = 1e-3;

/* The largest and the least x that are known to be too fast and too slow. */
typedef struct {
  double least, most; /* of the range */
  double low, high;
} Bracket;

/* The next x after a step at `x`: Newton's, or the middle where that leaves what is known. */
static double
next_x (Bracket *self, double x, const FabTrainingStep *step, double wanted_s)
{
  if (step->step_s < wanted_s)
    self->low = x;
  else
    self->high = x;
  x *= 1 + (wanted_s - step->step_s) / MAX (step->compute_s, 1e-12);
  if (x <= self->low)
    x = self->low > self->least ? sqrt (self->low * self->high) : self->least;
  if (x >= self->high)
    x = self->high < self->most ? sqrt (self->low * self->high) : self->most;
  return x;
}

/* Sets the efficiency of `setting` to the one at which the step takes `wanted_s`; *step is that step. Where it has one
 * already, that is the step at the efficiency of `setting`. */
static gboolean
fit (const FabTrainingRun *self, const Range *range, double wanted_s, Setting *setting, FabTrainingStep *step,
     GError **error)
{
  const guint most_runs = 40;
  Bracket bracket = { 1 / range->most, 1 / range->least, 1 / range->most, 1 / range->least };
  double x = 1 / range->first;

  if (step->step_s > 0)
    x = fabs (step->step_s / wanted_s - 1) < tolerance
          ? 1 / setting->efficiency
          : next_x (&bracket, 1 / setting->efficiency, step, wanted_s);
  for (guint i = 0; i < most_runs && fabs (step->step_s / wanted_s - 1) >= tolerance; i++) {
    if (bracket.high / bracket.low < 1 + tolerance / 10)
      break;
    setting->efficiency = 1 / x;
    if (!play (self, setting, step, error))
      return FALSE;
    x = next_x (&bracket, x, step, wanted_s);
  }
  if (fabs (step->step_s / wanted_s - 1) < tolerance)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "%s: no %s from %g to %g takes the measured %.4g s; at %.3g it takes %.4g s", self->name,
                    range->name, range->least, range->most, wanted_s, setting->efficiency, step->step_s);
}

gboolean
fab_training_run_fit (const FabTrainingRun *self, double wanted_s, double *efficiency, FabTrainingStep *step,
                      GError **error)
{
  Setting setting = { self->traits.knob, 1, 0 };

  if (step->cell.time_factor > 1
      || step->cell.time_factor < 1) /* what a scale leaves out is in the step without one */
    *step = (FabTrainingStep){ .step_s = 0 };
  gboolean is_found = fit (self, &ranges[self->traits.knob], wanted_s, &setting, step, error);

  *efficiency = setting.efficiency;
  return is_found;
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
