/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - the pipeline stages of a job: which layers each has, its rank class, its groups, what it sends. */
#pragma once

#include "models/workload/training/pipeline.h"
#include "models/workload/training/train.h"

/* An input that a stage has started to receive. */
typedef struct {
  Action action;
  FabTaskId task;
} Received;

/* Makes the stages: rank classes, layers, actions and groups. */
gboolean train_add_stages (Train *train, GError **error);

/* Makes the other ranks of every class, where ranks are not folded into classes. The first rank of each class must
 * have all its tasks already. */
void train_add_alone (Train *train);

/* Frees what a stage holds. */
void stage_clear (Stage *stage);

/* Starts to receive the input of an action from another stage, after the last compute task so far. */
void stage_receive (Stage *stage, const Action *action);

/* Makes the next compute task wait for that input. */
void stage_await (Stage *stage, const Action *action);

/* Sends the result of an action to the stage that needs it. If `is_blocking`, the next compute task waits until it
 * has arrived. */
void stage_send (Stage *stage, const Action *action, gboolean is_blocking);
