/* SPDX-License-Identifier: Apache-2.0 */
/* ends.h - the two ends as a pair (pair.h). */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* The operations of a method between two places of memory; they differ in the kinds that they can. Whoever serves
 * takes those of FAB_VERBS_SEND, which can all. */
const FabPairOps *fab_verbs_ops (FabVerbsMethod method, gboolean has_gpu);
