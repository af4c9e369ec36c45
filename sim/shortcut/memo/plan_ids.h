/* SPDX-License-Identifier: Apache-2.0 */
/* plan_ids.h - numbers of plans, equal for two of which a network is told the same: the messages, bytes, costs and
 * class of service. Names of kernels and layers are not part of it. */
#pragma once

#include "sim/collective/collective.h"

typedef struct _FabPlanIds FabPlanIds;

FabPlanIds *fab_plan_ids_new (void);
void fab_plan_ids_free (FabPlanIds *self);

/* Returns the number of a plan, from 0; the next one for a plan that is new. `traffic` is static. */
guint32 fab_plan_ids_find (FabPlanIds *self, const FabCollectivePlan *plan, const char *traffic);

guint fab_words_hash (const guint64 *words, gsize n);
