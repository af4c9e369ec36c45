/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/transfers.h"

#include "models/workload/training/parts.h"
#include "models/workload/training/streams.h"

/* A transfer between two consecutive parts of the model. */
typedef struct {
  guint boundary; /* number of the part before the boundary */
  gboolean is_forward;
  guint before, after; /* the stages that have the parts before and behind it */
  guint micro, bin;
} Crossing;

/* Finds the transfer that brings the input of an action, or (`is_result`) that takes its result on. FALSE: there is
 * none, because it is an end of the model, or the same stage has both parts. */
static gboolean
find_crossing (const Stage *stage, const Action *action, gboolean is_result, Crossing *crossing)
{
  const Train *train = stage->train;
  guint n_parts = train->parts->len, part = g_array_index (stage->chunks, Chunk, action->chunk).part;
  gboolean is_forward = action->kind == ACTION_FORWARD, is_after = is_forward == is_result;

  if (action->kind == ACTION_WEIGHTS || n_parts == 1 || (is_after ? part + 1 == n_parts : part == 0))
    return FALSE;
  guint boundary = is_after ? part : part - 1;
  *crossing = (Crossing){
    .boundary = boundary,
    .is_forward = is_forward,
    .before = pipeline_stage (train->schedule, train->n_stages, boundary, action->chunk),
    .after = pipeline_stage (train->schedule, train->n_stages, boundary + 1, action->chunk),
    .micro = action->micro,
    .bin = stage->bin
  };
  return crossing->before != crossing->after;
}

/* The pairs of a rank of one stage and one of the other. */
static FabConcurrentGroups *
crossing_pairs (const Train *train, const Crossing *crossing)
{
  guint from = (crossing->before + 1) % train->n_stages == crossing->after ? crossing->before
                                                                           : crossing->after;

  return train->stages[crossing->bin * train->n_stages + from].next;
}

static guint
find_transfer (Train *train, const Crossing *crossing)
{
  guint row = (2 * crossing->bin + (crossing->is_forward ? 0 : 1)) * train->parts->len + crossing->boundary;
  guint index = row * train->n_micro + crossing->micro;
  const Chunk *part = train_part (train, crossing->boundary);
  const FabLayer *layer = fab_layer_stack_layer (train->stack, part->first_layer + part->n_layers - 1);
  double divisor = train->params->parallel.is_sequence ? train->layout.size[AXIS_TENSOR] : 1;
  FabBytes bytes = (FabBytes) (layer->hidden_bytes * train->tokens / divisor + 0.5);
  FabCollectivePlan plan = { 0 };

  if (train->transfers[index] >= 0)
    return (guint) train->transfers[index];
  /* Ranks ascend with the numbers of stages. */
  gboolean is_up = crossing->is_forward == (crossing->before < crossing->after);
  if (train->error == NULL)
    fab_concurrent_groups_plan_send (crossing_pairs (train, crossing), train->env->library, bytes, is_up,
                                     &plan, &train->error);
  train->transfers[index] = fab_dag_builder_collective (
      train->builder, &plan, FAB_DIMENSION_PIPELINE,
      g_strdup_printf ("%s%u.%u", crossing->is_forward ? "activation" : "gradient", crossing->boundary,
                       crossing->micro));
  return (guint) train->transfers[index];
}

/* Micro-batches that go up the stages have streams of their own, so that they do not wait for those that go down. */
static StreamKind
crossing_stream (const Train *train, const Action *action, gboolean is_result)
{
  gboolean is_up = train->schedule->place != PLACE_ROUND && action->chunk == 1;

  if (action->kind == ACTION_FORWARD)
    return is_result ? (is_up ? STREAM_SEND_FORWARD_UP : STREAM_SEND_FORWARD)
                     : (is_up ? STREAM_RECEIVE_FORWARD_UP : STREAM_RECEIVE_FORWARD);
  return is_result ? (is_up ? STREAM_SEND_BACKWARD_UP : STREAM_SEND_BACKWARD)
                   : (is_up ? STREAM_RECEIVE_BACKWARD_UP : STREAM_RECEIVE_BACKWARD);
}

/* A stage sends what its passes have summed, and asks for its next input when its last pass has ended. */
static FabTaskId
join_transfer (Stage *stage, StreamKind stream, const Crossing *crossing)
{
  FabDagBuilder *builder = stage->train->builder;
  FabTaskId task = fab_dag_builder_join (builder, stage_stream (stage, stream),
                                         find_transfer (stage->train, crossing));

  if (stage->has_compute)
    fab_dag_builder_after (builder, task, stage->last_compute);
  for (guint i = 0; i < stage->waits->len; i++) /* sums and tokens of which the result is made */
    fab_dag_builder_after (builder, task, g_array_index (stage->waits, FabTaskId, i));
  return task;
}

void
stage_receive (Stage *stage, const Action *action)
{
  Received received = { *action, 0 };
  Crossing crossing;

  if (!find_crossing (stage, action, FALSE, &crossing))
    return;
  received.task = join_transfer (stage, crossing_stream (stage->train, action, FALSE), &crossing);
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
stage_send (Stage *stage, const Action *action, GArray *tasks)
{
  Crossing crossing;

  if (!find_crossing (stage, action, TRUE, &crossing))
    return;
  FabTaskId task = join_transfer (stage, crossing_stream (stage->train, action, TRUE), &crossing);
  g_array_append_val (tasks, task);
}
