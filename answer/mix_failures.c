/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/mix_failures.h"

#include "sim/base/error.h"

static double
sum_rates (const FabReliability *rules, FabFailureEffect effect, gboolean takes_node)
{
  double per_s = 0;

  for (guint i = 0; i < rules->n_rates; i++)
    if (rules->rates[i].effect == effect && (!takes_node || rules->rates[i].takes_node))
      per_s += rules->rates[i].per_s;
  return per_s;
}

FabMixFailures
fab_mix_failures_of (const FabReliability *rules)
{
  FabGoodputForm form = fab_goodput_form (rules);

  return (FabMixFailures){ .stops_per_s = form.stops_per_s,
                           .breaks_per_s = sum_rates (rules, FAB_FAILURE_STOPS, TRUE),
                           .planned_per_s = form.planned_per_s,
                           .interval_s = form.interval_s,
                           .blocking_s = rules->blocking_s,
                           .background_s = rules->background_s,
                           .detection_s = rules->detection_s,
                           .restart_s = rules->restart_s,
                           .planned_s = rules->blocking_s + rules->background_s + rules->restart_s,
                           .repair_s = rules->repair_s,
                           .slowing = (form.shares.useful + form.shares.slowed) / form.shares.useful };
}

gboolean
fab_mix_failures_check (const char *kind, const FabGoodputCase *found, GError **error)
{
  const double hopeless = 0.01;

  if (found == NULL)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "mix: jobs '%s' can fail (reliability.failures) and write no checkpoint; give their "
                      "job a `checkpoint`",
                      kind);
  if (fab_goodput_form (&found->rules).goodput_fraction < hopeless)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "mix: jobs '%s' fail so often that less than 1 %% of their time is useful", kind);
  return TRUE;
}
