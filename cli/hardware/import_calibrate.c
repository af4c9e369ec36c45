/* SPDX-License-Identifier: Apache-2.0 */
/* import_calibrate.c - `fabricast import trace FILE --calibrate`: the terms of a step from one profile of it. */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/hardware/import_trace.h"
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/base/nearest.h"
#include "sim/run/run.h"
#include "validate/fit/accelerator.h"
#include "validate/traces/kernels.h"

static void
print_classes (const FabTraceKernels *kernels)
{
  double step_s = kernels->span_s / kernels->n_steps;

  g_print ("%u %s of %.3f ms, %u kernels; the shape of %u of them is known\n\n", kernels->n_steps,
           fab_plural (kernels->n_steps, "step", "steps"), step_s * 1e3, kernels->n_kernels,
           kernels->n_shaped);
  g_print ("%-12s %8s %12s %8s\n", "class", "kernels", "ms a step", "of step");
  for (guint i = 0; i < FAB_N_TRACE_CLASSES; i++)
    if (kernels->n_of[i] > 0)
      g_print ("%-12s %8u %12.3f %6.1f %%\n", fab_trace_class_names[i], kernels->n_of[i],
               kernels->seconds_of[i] * 1e3 / kernels->n_steps,
               kernels->seconds_of[i] / kernels->span_s * 100);
  g_print ("%-12s %8s %12.3f %6.1f %%   of it waiting for the host %.3f ms\n\n", "gaps", "",
           kernels->gaps_s * 1e3 / kernels->n_steps, kernels->gaps_s / kernels->span_s * 100,
           kernels->long_gaps_s * 1e3 / kernels->n_steps);
}

/* --- the scenario, as it is and with what the profile says --- */

/* Last step of the scenario with `edits` (may be NULL). FALSE without *error: these keys do not fit it. */
static gboolean
play (const FabScenario *scenario, const FabEdits *edits, double *step_s, GError **error)
{
  g_autoptr (FabScenario) own = fab_scenario_copy (scenario);
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (FabStepRecord));
  FabRunOptions options = { .steps = steps, .is_brief = TRUE };
  g_autoptr (FabSimulation) run = NULL;

  if (edits)
    fab_scenario_edit (own, edits);
  if (!fab_scenario_check (own, edits ? NULL : error))
    return FALSE;
  run = fab_scenario_run (own, &fab_models, NULL, &options, error);
  *step_s = run && steps->len > 0
              ? fab_ps_to_seconds (g_array_index (steps, FabStepRecord, steps->len - 1).times.duration_ps)
              : 0;
  return run != NULL;
}

static FabEdits *
edits_of (const FabTraceKernels *kernels, const FabAcceleratorFit *fit)
{
  FabEdits *edits = fab_edits_new ();
  const FabFractionFit *achievable = &fit->achievable[FAB_PRECISION_BF16];

  if (achievable->fraction <= 0)
    achievable = &fit->achievable[FAB_PRECISION_FP16];
  if (achievable->fraction > 0)
    fab_edits_set (edits, "job.compute.achievable", fab_value_real (FAB_UNIT_FRACTION, achievable->fraction));
  if (kernels->launch_ps > 0)
    fab_edits_set (edits, "job.compute.launch", fab_value_whole (FAB_UNIT_TIME, kernels->launch_ps));
  if (kernels->issue_ps > 0)
    fab_edits_set (edits, "job.compute.issue", fab_value_whole (FAB_UNIT_TIME, kernels->issue_ps));
  return edits;
}

static void
print_step (const char *with, double step_s, double measured_s)
{
  g_print ("  %-42s %10.3f ms  %+6.1f %%\n", with, step_s * 1e3, (step_s / measured_s - 1) * 100);
}

static gboolean
print_predictions (const ImportTraceOptions *o, const FabCatalog *catalog, const FabTraceKernels *kernels,
                   const FabAcceleratorFit *fit, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_cli_scenario (o->on, NULL, catalog, error);
  g_autoptr (FabEdits) constants = edits_of (kernels, fit), anchor = fab_edits_new ();
  double measured_s = kernels->span_s / kernels->n_steps, before_s, fitted_s, anchored_s;
  g_autoptr (GError) problem = NULL;

  if (scenario == NULL || !play (scenario, NULL, &before_s, error))
    return FALSE;
  g_print ("\nthe step of %s, measured %.3f ms\n", o->on, measured_s * 1e3);
  print_step ("as it is", before_s, measured_s);
  if (play (scenario, constants, &fitted_s, &problem))
    print_step ("with the constants of the profile", fitted_s, measured_s);
  else if (problem == NULL)
    g_print (
        "  its compute model has no `achievable`, `launch` and `issue`, so the constants do not fit it\n");
  g_clear_error (&problem);
  fab_edits_set (anchor, "job.compute.scale", fab_value_real (FAB_UNIT_FACTOR, before_s / measured_s));
  if (play (scenario, anchor, &anchored_s, &problem)) {
    g_autofree char *with = g_strdup_printf ("with compute: {scale: %.4f}, its anchor",
                                             before_s / measured_s);

    print_step (with, anchored_s, measured_s);
    g_print ("The anchor is made from this step, so it says nothing of how far off other steps are.\n");
  } else if (problem == NULL)
    g_print ("  its compute model has no `scale`, so it takes no anchor\n");
  return TRUE;
}

/* --- all --- */

static const FabAcceleratorSpec *
find_base (const FabCatalog *catalog, const char *name, GError **error)
{
  const FabAcceleratorSpec *base = name ? fab_catalog_accelerator (catalog, name) : NULL;

  if (name == NULL)
    fab_throw (
        error, FAB_ERROR_INPUT,
        "--calibrate needs the accelerator of the profile; name it with --accelerator, such as h100-sxm5-80gb");
  else if (base == NULL)
    fab_throw (error, FAB_ERROR_INPUT,
               "--accelerator: no accelerator is called '%s'; `fabricast describe accelerators` lists them",
               name);
  return base;
}

static FabAcceleratorFit *
fit_profile (const FabTraceKernels *kernels, const FabAcceleratorRequest *request, const char *path,
             GError **error)
{
  FabAcceleratorFit *fit;

  if (kernels->n_shaped == 0) {
    fab_throw (
        error, FAB_ERROR_INPUT,
        "%s: no kernel has a shape, so no rate can be fitted; record the profile with record_shapes=True",
        path);
    return NULL;
  }
  fit = fab_accelerator_fit_new (kernels->series, request, error);
  if (fit == NULL)
    g_prefix_error (error, "%s: ", path);
  return fit;
}

/* Whether the entry can be written where nothing is lost. */
static gboolean
check_out (const ImportTraceOptions *o, const FabCatalog *catalog, char *const *paths, GError **error)
{
  if (!fab_cli_check_out ("--out", o->out, paths, error))
    return FALSE;
  g_autoptr (FabScenario) scenario = o->on != NULL ? fab_cli_scenario (o->on, NULL, catalog, error) : NULL;
  return o->on == NULL
      || (scenario != NULL && fab_cli_check_scenario_out ("--out", o->out, scenario, NULL, error));
}

gboolean
import_trace_calibrate (const ImportTraceOptions *o, const FabTrace *trace, char *const *paths,
                        GError **error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *today = g_date_time_format (now, "%Y-%m-%d");
  g_autoptr (FabCatalog) catalog = fab_cli_catalog (error);
  FabAcceleratorRequest request = {
    .base = catalog ? find_base (catalog, o->accelerator, error) : NULL,
    .name = o->name,
    .date = today,
    .version = FAB_VERSION,
    .files = (const char *const *) paths,
  };
  g_autoptr (FabTraceKernels) kernels = NULL;
  g_autoptr (FabAcceleratorFit) fit = NULL;
  g_autofree char *text = NULL, *yaml = NULL;

  if (request.base == NULL || !check_out (o, catalog, paths, error)
      || (kernels = fab_trace_kernels_new (trace, o->n_steps, error)) == NULL)
    return FALSE;
  print_classes (kernels);
  fit = fit_profile (kernels, &request, paths[0], error);
  if (fit == NULL)
    return FALSE;
  text = fab_accelerator_fit_to_text (fit);
  g_print ("%s", text);
  if (o->out) {
    yaml = fab_accelerator_fit_yaml (fit, &request);
    if (!fab_cli_write_file (o->out, yaml, error))
      return FALSE;
  }
  return o->on == NULL || print_predictions (o, catalog, kernels, fit, error);
}
