/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/talks.h"

#include <string.h>

#include "models/workload/training/passes.h"

const char *const context_kinds[] = { "ring", "gather", NULL };

gboolean
segment_is_split (const Stage *stage, const FabSegment *segment)
{
  return stage->tensor != NULL && segment->is_split;
}

gboolean
segment_talks (const Stage *stage, const FabSegment *segment)
{
  return segment_is_split (stage, segment) || (stage->expert != NULL && segment->expert_bytes > 0)
      || (stage->context != NULL && segment->context_bytes > 0);
}

gboolean
talk_send (const Talk *talk, Lane lane, FabFamily *family, FabOp op, double bytes_per_token, FabTaskId *task)
{
  static const FabDimension dimensions[] = { [LANE_TENSOR] = FAB_DIMENSION_TENSOR,
                                             [LANE_CONTEXT] = FAB_DIMENSION_CONTEXT,
                                             [LANE_EXPERT] = FAB_DIMENSION_EXPERT };
  Comm comm = { lane, dimensions[lane], family, op,
                (FabBytes) (bytes_per_token * talk->stage->train->tokens + 0.5) };

  return stage_comm (talk->stage, &comm, g_strdup_printf ("%s.%s", talk->layer->name, talk->segment->name),
                     task);
}

/* Bytes that a rank sends to experts, for all its tokens; with sequence parallelism it has some of the tokens only. */
static double
expert_bytes (const Talk *talk)
{
  const Train *train = talk->stage->train;

  return talk->segment->expert_bytes
       / (train->params->parallel.is_sequence ? train->layout.size[AXIS_TENSOR] : 1);
}

/* After experts a token has one copy for each expert that it went to. */
double
talk_tensor_bytes (const Talk *talk)
{
  return talk->segment->expert_bytes > 0 ? talk->segment->expert_bytes : talk->layer->hidden_bytes;
}

static void
send_and_wait (const Talk *talk, Lane lane, FabFamily *family, FabOp op, double bytes_per_token)
{
  FabTaskId task;

  if (talk_send (talk, lane, family, op, bytes_per_token, &task))
    stage_wait (talk->stage, task);
}

gboolean
stage_is_sequence_parallel (const Stage *stage)
{
  return stage->train->params->parallel.is_sequence;
}

/* An embedding begins with tokens and ends with a sum over the ranks' parts of the vocabulary. The head ends with the
 * loss. */
gboolean
segment_has_input (const FabSegment *segment)
{
  return strcmp (segment->name, "embedding") != 0;
}

static gboolean
has_output (const FabSegment *segment)
{
  return strcmp (segment->name, "head") != 0;
}

/* A rank receives the keys and values of the n - 1 others. What a neighbour sends counts once, in either direction. */
static gboolean
send_context (const Talk *talk, double times, FabTaskId *task)
{
  const FabFamily *family = talk->stage->context;
  guint n = fab_family_n_ranks (family);
  double bytes = talk->segment->context_bytes / talk->stage->train->layout.size[AXIS_TENSOR];

  if (talk->stage->train->params->parallel.context_kind == CONTEXT_GATHER)
    return talk_send (talk, LANE_CONTEXT, talk->stage->context, FAB_OP_ALL_GATHER, times * n * bytes, task);
  return talk_send (talk, LANE_CONTEXT, talk->stage->context, FAB_OP_SEND_RECV, times * (n - 1) * bytes,
                    task);
}

gboolean
talk_before (const Talk *talk, gboolean is_backward, FabTaskId *context)
{
  Stage *stage = talk->stage;
  gboolean is_inner_end = is_backward ? has_output (talk->segment) : segment_has_input (talk->segment);

  if (stage->expert && talk->segment->expert_bytes > 0)
    send_and_wait (talk, LANE_EXPERT, stage->expert, FAB_OP_ALL_TO_ALL, expert_bytes (talk));
  if (segment_is_split (stage, talk->segment) && stage_is_sequence_parallel (stage) && is_inner_end)
    send_and_wait (talk, LANE_TENSOR, stage->tensor, FAB_OP_ALL_GATHER, talk_tensor_bytes (talk));
  if (stage->context == NULL || talk->segment->context_bytes <= 0
      || !send_context (talk, is_backward ? 2 : 1, context))
    return FALSE;
  if (stage->train->params->parallel.context_kind == CONTEXT_GATHER)
    stage_wait (stage, *context);
  return stage->train->params->parallel.context_kind == CONTEXT_RING;
}

void
talk_after (const Talk *talk, gboolean is_backward)
{
  Stage *stage = talk->stage;
  gboolean is_outer_end = is_backward ? segment_has_input (talk->segment) : has_output (talk->segment);

  if (segment_is_split (stage, talk->segment) && is_outer_end)
    send_and_wait (talk, LANE_TENSOR, stage->tensor,
                   stage_is_sequence_parallel (stage) ? FAB_OP_REDUCE_SCATTER : FAB_OP_ALL_REDUCE,
                   talk_tensor_bytes (talk));
  if (stage->expert && talk->segment->expert_bytes > 0)
    send_and_wait (talk, LANE_EXPERT, stage->expert, FAB_OP_ALL_TO_ALL, expert_bytes (talk));
}
