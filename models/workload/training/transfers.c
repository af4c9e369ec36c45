/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/transfers.h"

#include "models/workload/training/parts.h"
#include "models/workload/training/streams.h"

/* A transfer between two consecutive parts of the model. */
typedef struct {
  guint boundary; /* number of the part before the boundary */
  gboolean is_forward;
  guint micro, bin;
} Crossing;

/* Finds the transfer that brings the input of an action, or (`is_result`) that takes its result on. FALSE: there is
 * none, because it is an end of the model. */
static gboolean
find_crossing (const Stage *stage, const Action *action, gboolean is_result, Crossing *crossing)
{
  const Train *train = stage->train;
  guint n_parts = train->n_stages * stage->chunks->len, part = action->chunk * train->n_stages + stage->index;
  gboolean is_forward = action->kind == ACTION_FORWARD, is_after = is_forward == is_result;

  if (action->kind == ACTION_WEIGHTS || n_parts == 1 || (is_after ? part + 1 == n_parts : part == 0))
    return FALSE;
  *crossing = (Crossing){ is_after ? part : part - 1, is_forward, action->micro, stage->bin };
  return TRUE;
}

static guint
find_transfer (Train *train, const Crossing *crossing)
{
  guint n_parts = train->n_stages * (guint) train->params->parallel.virtual_stages;
  guint row = (2 * crossing->bin + (crossing->is_forward ? 0 : 1)) * n_parts + crossing->boundary;
  guint index = row * train->n_micro + crossing->micro;
  guint from = crossing->boundary % train->n_stages;
  const Chunk *part = train_part (train, crossing->boundary);
  const FabLayer *layer = fab_layer_stack_layer (train->stack, part->first_layer + part->n_layers - 1);
  double divisor = train->params->parallel.is_sequence ? train->layout.size[AXIS_TENSOR] : 1;
  FabBytes bytes = (FabBytes) (layer->hidden_bytes * train->tokens / divisor + 0.5);
  FabCollectivePlan plan = { 0 };

  if (train->transfers[index] >= 0)
    return (guint) train->transfers[index];
  /* Ranks ascend from a stage to the next one, except from the last stage to the first. */
  gboolean is_up = crossing->is_forward == (from + 1 < train->n_stages);
  if (train->error == NULL)
    fab_concurrent_groups_plan_send (train->stages[crossing->bin * train->n_stages + from].next,
                                     train->env->library, bytes, is_up, &plan, &train->error);
  train->transfers[index] = fab_dag_builder_collective (
      train->builder, &plan, FAB_DIMENSION_PIPELINE,
      g_strdup_printf ("%s%u.%u", crossing->is_forward ? "activation" : "gradient", crossing->boundary,
                       crossing->micro));
  return (guint) train->transfers[index];
}

static FabTaskId
join_transfer (Stage *stage, StreamKind stream, const Crossing *crossing)
{
  FabDagBuilder *builder = stage->train->builder;
  FabTaskId task = fab_dag_builder_join (builder, stage_stream (stage, stream),
                                         find_transfer (stage->train, crossing));

  if (stage->has_compute)
    fab_dag_builder_after (builder, task, stage->last_compute);
  return task;
}

void
stage_receive (Stage *stage, const Action *action)
{
  Received received = { *action, 0 };
  Crossing crossing;

  if (!find_crossing (stage, action, FALSE, &crossing))
    return;
  received.task = join_transfer (stage,
                                 crossing.is_forward ? STREAM_RECEIVE_FORWARD : STREAM_RECEIVE_BACKWARD,
                                 &crossing);
  g_array_append_val (stage->received, received);
}

void
stage_await (Stage *stage, const Action *action)
{
  for (guint i = 0; i < stage->received->len; i++) {
    const Received *received = &g_array_index (stage->received, Received, i);

    if (received->action.kind != action->kind || received->action.chunk != action->chunk
        || received->action.micro != action->micro)
      continue;
    stage_wait (stage, received->task);
    g_array_remove_index (stage->received, i);
    return;
  }
}

void
stage_send (Stage *stage, const Action *action, gboolean is_blocking)
{
  Crossing crossing;

  if (!find_crossing (stage, action, TRUE, &crossing))
    return;
  FabTaskId task = join_transfer (stage, crossing.is_forward ? STREAM_SEND_FORWARD : STREAM_SEND_BACKWARD,
                                  &crossing);
  if (is_blocking)
    stage_wait (stage, task);
}
