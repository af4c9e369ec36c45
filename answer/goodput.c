/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/goodput.h"

#include <math.h>
#include <string.h>

static void
change_clear (gpointer data)
{
  FabGoodputChange *self = data;

  g_free (self->name);
  g_free (self->key);
}

void
fab_goodput_answer_free (FabGoodputAnswer *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->changes);
  g_array_unref (self->sets);
  g_free (self);
}

static GArray *
new_changes (void)
{
  GArray *changes = g_array_new (FALSE, FALSE, sizeof (FabGoodputChange));

  g_array_set_clear_func (changes, change_clear);
  return changes;
}

static void
add (GArray *changes, const char *name, const char *key, const FabGoodputCase *changed)
{
  FabGoodputChange change = { g_strdup (name), g_strdup (key), fab_goodput_of_case (changed) };

  g_array_append_val (changes, change);
}

/* Rates of this effect times a factor. */
static void
scale (FabGoodputCase *changed, FabFailureRate *rates, FabFailureEffect effect, double factor)
{
  for (guint i = 0; i < changed->rules.n_rates; i++) {
    rates[i] = changed->rules.rates[i];
    if (rates[i].effect == effect)
      rates[i].per_s *= factor;
  }
  changed->rules.rates = rates;
}

static void
try_intervals (GArray *changes, const FabGoodputCase *base, double interval_s)
{
  FabGoodputCase changed = *base;

  if (!isfinite (interval_s))
    return;
  if (base->rules.interval_s > 0) {
    changed.rules.interval_s = 0;
    add (changes, "checkpoints at the best interval", "job.checkpoint.every", &changed);
  }
  changed.rules.interval_s = 2 * interval_s;
  add (changes, "checkpoints half as often", "job.checkpoint.every", &changed);
  changed.rules.interval_s = interval_s / 2;
  add (changes, "checkpoints twice as often", "job.checkpoint.every", &changed);
  changed = *base;
  changed.rules.blocking_s = base->rules.blocking_s / 2;
  changed.rules.background_s = base->rules.background_s / 2;
  add (changes, "storage twice as fast", "job.checkpoint.rate", &changed);
}

static void
try_rules (FabGoodputAnswer *self, const FabGoodputCase *base, double interval_s)
{
  g_autofree FabFailureRate *rates = g_new (FabFailureRate, base->rules.n_rates + 1);
  FabGoodputCase changed = *base;

  changed.rules.detection_s = base->rules.detection_s / 2;
  add (self->changes, "failures found in half the time", "reliability.detection", &changed);
  changed = *base;
  changed.rules.restart_s = base->rules.restart_s / 2;
  add (self->changes, "restarts in half the time", "reliability.restart", &changed);
  changed = *base;
  scale (&changed, rates, FAB_FAILURE_STOPS, 0.5);
  add (self->changes, "half as many failures", "reliability.rates", &changed);
  changed = *base;
  scale (&changed, rates, FAB_FAILURE_PLANNED, 0);
  add (self->changes, "no planned stops", NULL, &changed);
  changed = *base;
  if (base->rules.repair_s > 0) {
    changed.rules.n_spares = base->rules.n_spares + 1;
    add (self->changes, "one spare node more", "reliability.spares", &changed);
  }
  try_intervals (self->changes, base, interval_s);
}

static gboolean
try_set (FabGoodputAnswer *self, const FabScenario *scenario, const FabRunResult *result,
         const FabRegistry *registry, const char *name, GError **error)
{
  g_autoptr (FabScenario) other = fab_scenario_copy (scenario);
  g_autoptr (FabGoodputCase) found = NULL;

  if (!fab_scenario_set (other, "reliability.failures", fab_value_text (name), error)
      || !fab_scenario_check (other, error)
      || !fab_goodput_case_of (other, result->simulation, registry, &found, error))
    return FALSE;
  add (self->sets, name, "reliability.failures", found);
  return TRUE;
}

static void
find_intervals (FabGoodputAnswer *self, const FabRunResult *result)
{
  FabReliability rules = result->failures->rules;
  double per_s = result->goodput.form.stops_per_s;

  rules.interval_s = 0;
  self->best_interval_s = fab_goodput_form (&rules).interval_s;
  self->young_interval_s = fab_goodput_young_interval (per_s, rules.blocking_s);
  self->daly_interval_s = fab_goodput_daly_interval (per_s, rules.blocking_s);
}

FabGoodputAnswer *
fab_goodput_answer (const FabScenario *scenario, const FabRunResult *result, const FabRegistry *registry,
                    guint n_trials, GError **error)
{
  const double little = 1e-3, hopeless = 0.01;
  const FabGoodputCase *base = result->failures;
  g_autofree const char **names = fab_catalog_names (fab_scenario_catalog (scenario), FAB_SECTION_FAILURES);
  g_autoptr (FabGoodputAnswer) self = g_new0 (FabGoodputAnswer, 1);
  double interval_s = result->goodput.form.interval_s;

  self->changes = new_changes ();
  self->sets = new_changes ();
  try_rules (self, base, interval_s);
  for (guint i = 0; names[i] != NULL; i++)
    if (!try_set (self, scenario, result, registry, names[i], error))
      return NULL;
  find_intervals (self, result);
  self->fewest_spares = fab_goodput_spares (&base->rules, little, result->failures->n_ranks);
  if (n_trials > 0 && result->goodput.form.goodput_fraction > hopeless)
    self->trials = fab_failure_trials_play (&base->rules, interval_s, fab_goodput_case_work_s (base),
                                            (guint64) fab_scenario_spec (scenario)->seed, n_trials);
  return g_steal_pointer (&self);
}

FabGoodputBand
fab_run_goodput_band (const FabRunResult *result)
{
  guint last = result->steps->len - 1;
  double step_s = fab_ps_to_seconds (fab_run_last_step (result)->times.duration_ps);

  if (result->band == NULL || step_s <= 0)
    return (FabGoodputBand){ 1, 1 };
  return (FabGoodputBand){ result->band->low[last] / step_s, result->band->high[last] / step_s };
}
