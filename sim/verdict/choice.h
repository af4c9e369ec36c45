/* SPDX-License-Identifier: Apache-2.0 */
/* choice.h - what the choices of a collective library cost a step. */
#pragma once

#include "sim/verdict/verdict.h"

/* Adds FAB_FINDING_CHOICE if the library's choices of algorithm, protocol and channels take at least a fiftieth of the
 * last step that the fastest ones it could have been told to take (FabCollectivePlanBest) would not take. Only exposed
 * communication counts. O(collectives). */
void fab_choice_find (FabVerdict *self, const FabSimulation *simulation);
