/* SPDX-License-Identifier: Apache-2.0 */
/* transfers.h - what goes from one part of the model to the next: activations forward, their gradients backward. */
#pragma once

#include "models/workload/training/job.h"
#include "models/workload/training/pipeline.h"

/* An input that a stage has started to receive. */
typedef struct {
  Action action;
  FabTaskId task;
} Received;

/* Starts to receive the input of an action from another stage, when all is done that the stage has begun so far and
 * waits for. */
void stage_receive (Stage *stage, const Action *action);

/* Makes the next compute task wait for that input. */
void stage_await (Stage *stage, const Action *action);

/* Sends the result of an action to the stage that needs it. Appends the task, if there is one, to `tasks`. */
void stage_send (Stage *stage, const Action *action, GArray *tasks);
