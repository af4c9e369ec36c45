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

gboolean
fab_training_step (const FabTrainingSource *source, guint row, double mfu_fraction, const FabTrainingEnv *env,
                   FabTrainingStep *step, GError **error)
{
  const char *id = fab_training_table_row (source->table, row)->id;
  g_autofree char *yaml = fab_training_source_scenario (source, row, mfu_fraction, error);
  g_autofree char *name = g_strdup_printf ("%s row %s", source->spec->name, id);
  g_autoptr (FabScenario) scenario = yaml ? fab_scenario_parse (name, yaml, strlen (yaml), env->sets,
                                                                env->registry, env->catalog, error)
                                          : NULL;
  g_autoptr (FabSimulation) simulation = scenario
                                           ? fab_scenario_run (scenario, env->registry, NULL, NULL, error)
                                           : NULL;

  if (simulation == NULL) {
    if (scenario != NULL || yaml == NULL)
      g_prefix_error (error, "%s: ", name);
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
fab_training_fit (const FabTrainingSource *source, guint row, const FabTrainingEnv *env, double *mfu_fraction,
                  GError **error)
{
  const double wanted_s = fab_training_table_row (source->table, row)->step_s, tolerance = 1e-4;
  const guint most_runs = 40;
  double low = 1, high = 1 / least_fraction, x = 2.5; /* 1 / mfu; 40 % is a usual one */

  for (guint i = 0; i < most_runs; i++) {
    FabTrainingStep step;

    if (!fab_training_step (source, row, 1 / x, env, &step, error))
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
