/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/fidelity/suite.h"

#include <math.h>
#include <string.h>

#include "sim/base/crew.h"

static void
result_free (gpointer data)
{
  FabFidelityResult *self = data;

  g_free (self->title);
  fab_contrast_free (self->contrast);
  g_array_unref (self->limits);
  g_array_unref (self->gaps);
  g_free (self);
}

void
fab_fidelity_report_free (FabFidelityReport *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->fidelities);
  g_ptr_array_unref (self->results);
  g_free (self);
}

static FabVariant *
play (const FabFidelitySuite *suite, const char *path, const char *fidelity, char **title, GError **error)
{
  g_autoptr (FabScenario) scenario = fab_scenario_open (path, suite->registry, suite->catalog, error);

  if (scenario == NULL || !fab_scenario_set (scenario, "fidelity", fab_value_text (fidelity), error)
      || !fab_scenario_check (scenario, error))
    return NULL;
  if (*title == NULL)
    *title = g_strdup (fab_scenario_spec (scenario)->summary ? fab_scenario_spec (scenario)->summary : "");
  return fab_variant_play (scenario, suite->registry, error);
}

static const FabVariant *
find_variant (const FabContrast *contrast, const char *fidelity)
{
  for (guint k = 0; k < contrast->variants->len; k++)
    if (strcmp (fab_contrast_variant (contrast, k)->fidelity, fidelity) == 0)
      return fab_contrast_variant (contrast, k);
  return NULL;
}

static void
find_gaps (FabFidelityResult *result)
{
  for (guint i = 0; i < result->limits->len; i++) {
    const FabFidelityLimit *limit = &g_array_index (result->limits, FabFidelityLimit, i);
    const FabVariant *now = find_variant (result->contrast, limit->fidelity),
                     *then = find_variant (result->contrast, limit->against);

    if (now == NULL || then == NULL)
      continue;
    FabFidelityGap gap = {
      limit, fab_variant_time_s (now, FAB_FACT_STEP) / fab_variant_time_s (then, FAB_FACT_STEP) - 1
    };
    g_array_append_val (result->gaps, gap);
  }
}

static FabFidelityResult *
result_new (const FabFidelitySuite *suite, const FabFidelityCase *which, GError **error)
{
  g_autofree char *name = g_strconcat (which->name, ".yaml", NULL);
  g_autofree char *path = g_build_filename (suite->folder, name, NULL);
  g_autoptr (GPtrArray) variants = g_ptr_array_new_with_free_func ((GDestroyNotify) fab_variant_free);
  g_autofree char *title = NULL;

  for (guint i = 0; suite->fidelities[i]; i++) {
    FabVariant *variant = play (suite, path, suite->fidelities[i], &title, error);

    if (variant == NULL)
      return NULL;
    g_ptr_array_add (variants, variant);
  }
  FabFidelityResult *result = g_new0 (FabFidelityResult, 1);
  result->which = which;
  result->title = g_steal_pointer (&title);
  result->contrast = fab_contrast_new (g_steal_pointer (&variants), 0);
  result->limits = fab_fidelity_limits_of (suite->limits, which);
  result->gaps = g_array_new (FALSE, FALSE, sizeof (FabFidelityGap));
  find_gaps (result);
  return result;
}

typedef struct {
  const FabFidelitySuite *suite;
  const GPtrArray *cases;
  FabFidelityResult **results;
  GError **errors;
} Plays;

static void
play_case (gpointer data, guint item)
{
  Plays *self = data;

  self->results[item] = result_new (self->suite, g_ptr_array_index (self->cases, item), &self->errors[item]);
}

FabFidelityReport *
fab_fidelity_report_new (const FabFidelitySuite *suite, const GPtrArray *cases, GError **error)
{
  g_autoptr (FabFidelityReport) self = g_new0 (FabFidelityReport, 1);

  self->limits = suite->limits;
  self->fidelities = g_ptr_array_new_with_free_func (g_free);
  self->results = g_ptr_array_new_with_free_func (result_free);
  for (guint i = 0; suite->fidelities[i]; i++)
    g_ptr_array_add (self->fidelities, g_strdup (suite->fidelities[i]));
  g_autofree FabFidelityResult **results = g_new0 (FabFidelityResult *, cases->len + 1);
  g_autofree GError **errors = g_new0 (GError *, cases->len + 1);
  GError *first = NULL;

  fab_crew_run (suite->n_threads, cases->len, play_case, &(Plays){ suite, cases, results, errors });
  for (guint i = 0; i < cases->len; i++) {
    if (results[i] != NULL)
      g_ptr_array_add (self->results, results[i]);
    else if (first == NULL)
      first = g_steal_pointer (&errors[i]);
    g_clear_error (&errors[i]);
  }
  if (first == NULL)
    return g_steal_pointer (&self);
  g_propagate_error (error, first);
  return NULL;
}

gboolean
fab_fidelity_gap_is_met (const FabFidelityGap *gap)
{
  return gap->limit->limit_fraction <= 0 || fabs (gap->difference_fraction) <= gap->limit->limit_fraction;
}

char **
fab_fidelity_report_exceeded (const FabFidelityReport *self)
{
  GPtrArray *lines = g_ptr_array_new ();

  for (guint i = 0; i < self->results->len; i++) {
    const FabFidelityResult *result = g_ptr_array_index (self->results, i);

    for (guint k = 0; k < result->gaps->len; k++) {
      const FabFidelityGap *gap = &g_array_index (result->gaps, FabFidelityGap, k);

      if (!fab_fidelity_gap_is_met (gap))
        g_ptr_array_add (lines, g_strdup_printf ("%s: %s is %+.2f %% from %s, and %.3g %% are accepted",
                                                 result->which->name, gap->limit->fidelity,
                                                 100 * gap->difference_fraction, gap->limit->against,
                                                 100 * gap->limit->limit_fraction));
    }
  }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (lines, FALSE);
}
