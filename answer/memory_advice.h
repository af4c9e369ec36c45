/* SPDX-License-Identifier: Apache-2.0 */
/* memory_advice.h - what would make a job fit into memory, tried where a person reads the verdict. */
#pragma once

#include "sim/study/memory_advice.h"

/* Tries what makes the job of the scenario fit, built as `simulation`, and says in the finding of the verdict what
 * does. NULL: the verdict does not say that it does not fit, or nothing can be tried. (transfer full) */
FabMemoryAdvice *fab_advise_memory (const FabScenario *scenario, const FabSimulation *simulation,
                                    const FabMemoryTrying *trying, FabVerdict *verdict);

/* The same of a scenario of which no simulation is at hand. */
void fab_advise_memory_of (const FabScenario *scenario, const FabMemoryTrying *trying, FabVerdict *verdict);
