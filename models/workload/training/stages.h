/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - the pipeline stages of a job: which layers each has, its rank class, its groups. */
#pragma once

#include "models/workload/training/job.h"

/* Makes the stages: rank classes, layers, actions and groups. */
gboolean train_add_stages (Train *train, GError **error);

/* Makes the other ranks of every class, where ranks are not folded into classes. The first rank of each class must
 * have all its tasks already. */
void train_add_alone (Train *train);

/* Frees what a stage holds. */
void stage_clear (Stage *stage);
