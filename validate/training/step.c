/* SPDX-License-Identifier: Apache-2.0 */
/* step.c - runs of the simulator in this process.
 *
 * The step's time rises with x = 1 / mfu, with a slope between 0 (compute hidden behind communication) and that of the
 * compute time c / x. Newton's step with the second slope, x' = x (1 + (T - t(x)) / c(x)), falls short of the root or
 * meets it exactly where all communication is exposed; it is kept within what is known to be too fast and too slow.
 */
#include "validate/training/step.h"

#include <math.h>
#include <string.h>

#include "sim/scenario/run.h"

static const double deviation_fraction = 0.08 / 5.4;
static const double least_fraction = 0.001; /* that the mfu model takes */

/* A row of a source, read once. */
typedef struct {
  char *name;
  FabScenario *base; /* without the assignments of the user */
  FabEdits *edits;   /* those */
  const FabTrainingEnv *env;
} Row;

static void
row_clear (Row *self)
{
  g_free (self->name);
  fab_scenario_free (self->base);
  fab_edits_free (self->edits);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Row, row_clear)

static gboolean
row_open (Row *self, const FabTrainingSource *source, guint row, const FabTrainingEnv *env, GError **error)
{
  const double any_fraction = 0.4; /* play sets the one that is wanted */
  g_autofree char *yaml = fab_training_source_scenario (source, row, any_fraction, error);

  *self = (Row){ .name = g_strdup_printf ("%s row %s", source->spec->name,
                                          fab_training_table_row (source->table, row)->id),
                 .edits = fab_edits_of (env->sets),
                 .env = env };
  if (yaml == NULL) {
    g_prefix_error (error, "%s: ", self->name);
    return FALSE;
  }
  self->base = fab_scenario_open_text (self->name, yaml, strlen (yaml), env->registry, env->catalog, error);
  return self->base != NULL;
}

/* Nine digits, as a person would write an efficiency. */
static double
nine_digits (double fraction)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  return g_ascii_strtod (g_ascii_formatd (text, sizeof text, "%.9g", fraction), NULL);
}

static gboolean
row_play (const Row *self, double mfu_fraction, FabTrainingStep *step, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_copy (self->base);
  g_autoptr (FabEdits) edits = fab_edits_new ();

  fab_edits_set (edits, "job.compute.mfu", fab_value_real (FAB_UNIT_FRACTION, nine_digits (mfu_fraction)));
  fab_edits_append (edits, self->edits);
  fab_scenario_edit (scenario, edits);
  if (!fab_scenario_check (scenario, error))
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
fab_training_step (const FabTrainingSource *source, guint row, double mfu_fraction, const FabTrainingEnv *env,
                   FabTrainingStep *step, GError **error)
{
  g_auto (Row) self = { NULL };

  return row_open (&self, source, row, env, error) && row_play (&self, mfu_fraction, step, error);
}

gboolean
fab_training_fit (const FabTrainingSource *source, guint row, const FabTrainingEnv *env, double *mfu_fraction,
                  GError **error)
{
  const double wanted_s = fab_training_table_row (source->table, row)->step_s, tolerance = 1e-4;
  const guint most_runs = 40;
  double low = 1, high = 1 / least_fraction, x = 2.5; /* 1 / mfu; 40 % is a usual one */
  g_auto (Row) self = { NULL };

  if (!row_open (&self, source, row, env, error))
    return FALSE;
  for (guint i = 0; i < most_runs; i++) {
    FabTrainingStep step;

    if (!row_play (&self, 1 / x, &step, error))
      return FALSE;
    *mfu_fraction = 1 / x;
    if (fabs (step.step_s / wanted_s - 1) < tolerance || high / low < 1 + tolerance / 10)
      return TRUE;
    if (step.step_s < wanted_s)
      low = x;
    else
      high = x;
    x *= 1 + (wanted_s - step.step_s) / step.compute_s;
    if (x <= low)
      x = low > 1 ? sqrt (low * high) : 1;
    if (x >= high)
      x = high < 1 / least_fraction ? sqrt (low * high) : 1 / least_fraction;
  }
  return TRUE;
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
