/* SPDX-License-Identifier: Apache-2.0 */
/* ends.h - makes a pair (pair.h) of two RDMA ends. */
#pragma once

#include "validate/measure/verbs/verbs.h"

/* Returns the operations of a method between two memories; they differ in the kinds that they can measure. A serving
 * end uses those of FAB_VERBS_SEND, which can measure all. */
const FabPairOps *fab_verbs_ops (FabVerbsMethod method, gboolean has_gpu);
