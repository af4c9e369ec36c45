/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/memory_advice.h"

#include "models/workload/training/choices.h"

FabMemoryAdvice *
fab_advise_memory (const FabScenario *scenario, const FabSimulation *simulation,
                   const FabMemoryTrying *trying, FabVerdict *verdict)
{
  gboolean is_missed = fab_verdict_find (verdict, FAB_FINDING_DOES_NOT_FIT) != NULL;
  g_autoptr (GPtrArray) remedies = is_missed ? fab_job_remedies (scenario) : NULL;

  if (remedies == NULL)
    return NULL;
  FabMemoryAdvice *advice = fab_memory_advice_find (scenario, simulation, remedies, trying);
  fab_verdict_advise (verdict, FAB_FINDING_DOES_NOT_FIT, fab_memory_advice_text (advice));
  return advice;
}

void
fab_advise_memory_of (const FabScenario *scenario, const FabMemoryTrying *trying, FabVerdict *verdict)
{
  if (fab_verdict_find (verdict, FAB_FINDING_DOES_NOT_FIT) == NULL)
    return;
  g_autoptr (FabSimulation) simulation = fab_simulation_build (scenario, trying->registry, NULL,
                                                               trying->cancel, NULL);
  if (simulation != NULL)
    fab_memory_advice_free (fab_advise_memory (scenario, simulation, trying, verdict));
}
