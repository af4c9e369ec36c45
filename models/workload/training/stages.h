/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - the stages of a pipeline and what goes between them. */
#pragma once

#include "models/workload/training/pipeline.h"
#include "models/workload/training/train.h"

/* Rank classes, layers, actions and groups of every stage. */
gboolean train_add_stages (Train *train, GError **error);
void stage_clear (Stage *stage);
/* The other ranks of every class, where the job is not folded; once the first have been played. */
void train_add_alone (Train *train);

/* Asks for the input of an action that comes from another stage, after what the stage computes last. */
void stage_receive (Stage *stage, const Action *action);
/* The next compute task waits for that input. */
void stage_await (Stage *stage, const Action *action);
/* Sends the result on. */
void stage_send (Stage *stage, const Action *action, gboolean is_blocking);
