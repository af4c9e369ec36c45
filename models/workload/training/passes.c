/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/passes.h"

#include <string.h>

#include "models/workload/training/train.h"

typedef enum { CONTEXT_RING, CONTEXT_GATHER } ContextKind;

typedef struct {
  Stage *stage;
  const FabLayer *layer;
  const FabSegment *segment;
} Exchange;

const char *const context_kinds[] = { "ring", "gather", NULL };

/* The experts have a grid of ranks of their own. */
static gboolean
is_folded (const Train *train, const FabSegment *segment)
{
  return train->layout.is_folded && segment->expert_bytes > 0;
}

/* The groups that share the matrices of a segment; NULL: groups of one rank. */
static FabConcurrentGroups *
tensor_groups (const Stage *stage, const FabSegment *segment)
{
  return is_folded (stage->train, segment) ? stage->expert_tensor : stage->tensor;
}

/* Whether tensor parallelism divides a segment; whether anything at all is sent before, during or after it. */
static gboolean
segment_is_split (const Stage *stage, const FabSegment *segment)
{
  return tensor_groups (stage, segment) != NULL && segment->is_split;
}

static gboolean
segment_exchanges (const Stage *stage, const FabSegment *segment)
{
  return segment_is_split (stage, segment) || experts_exchange (stage, segment)
      || (stage->context != NULL && segment->context_bytes > 0);
}

/* Adds a collective of the group after the last compute task. FALSE: there is nothing to send. */
static gboolean
model_parallel_send (const Exchange *model_parallel, StreamKind stream,
                     FabConcurrentGroups *concurrent_groups, FabOp op, double bytes_per_token,
                     FabTaskId *task)
{
  static const FabDimension dimensions[] = {
    [STREAM_TENSOR] = FAB_DIMENSION_TENSOR, [STREAM_CONTEXT] = FAB_DIMENSION_CONTEXT
  };
  Comm comm = { stream, dimensions[stream], concurrent_groups, op,
                (FabBytes) (bytes_per_token * model_parallel->stage->train->tokens + 0.5) };

  return stage_comm (model_parallel->stage, &comm,
                     g_strdup_printf ("%s.%s", model_parallel->layer->name, model_parallel->segment->name),
                     task);
}

/* After experts a token has one copy for each expert that it went to. Ranks that share an expert, where experts have a
 * grid of their own, gather the tokens of these ranks. */
static double
model_parallel_tensor_bytes (const Exchange *model_parallel)
{
  const Layout *layout = &model_parallel->stage->train->layout;

  if (is_folded (model_parallel->stage->train, model_parallel->segment))
    return model_parallel->segment->expert_bytes * layout->n_expert_tensor / layout->size[AXIS_TENSOR];
  return model_parallel->segment->expert_bytes > 0 ? model_parallel->segment->expert_bytes
                                                   : model_parallel->layer->hidden_bytes;
}

static void
send_and_wait (const Exchange *model_parallel, StreamKind stream, FabConcurrentGroups *concurrent_groups,
               FabOp op, double bytes_per_token)
{
  FabTaskId task;

  if (model_parallel_send (model_parallel, stream, concurrent_groups, op, bytes_per_token, &task))
    stage_wait (model_parallel->stage, task);
}

static void
send_to_experts (const Exchange *model_parallel, gboolean is_combine, gboolean is_backward)
{
  FabTaskId task;

  if (experts_send (model_parallel->stage, model_parallel->layer, model_parallel->segment, is_combine,
                    is_backward, &task))
    stage_wait (model_parallel->stage, task);
}

static gboolean
stage_is_sequence_parallel (const Stage *stage)
{
  return stage->train->params->parallel.is_sequence;
}

/* An embedding begins with tokens and ends with a sum over the ranks' parts of the vocabulary. The head ends with the
 * loss. */
static gboolean
segment_has_input (const FabSegment *segment)
{
  return strcmp (segment->name, "embedding") != 0;
}

static gboolean
has_output (const FabSegment *segment)
{
  return strcmp (segment->name, "head") != 0;
}

/* A rank receives the keys and values of the n - 1 others. What a neighbour sends counts once, in either
 * direction. */
static gboolean
send_context (const Exchange *model_parallel, double times, FabTaskId *task)
{
  const FabConcurrentGroups *concurrent_groups = model_parallel->stage->context;
  guint n = fab_concurrent_groups_n_ranks (concurrent_groups);
  double bytes = model_parallel->segment->context_bytes
               / model_parallel->stage->train->layout.size[AXIS_TENSOR];

  if (model_parallel->stage->train->params->parallel.context_kind == CONTEXT_GATHER)
    return model_parallel_send (model_parallel, STREAM_CONTEXT, model_parallel->stage->context,
                                FAB_OP_ALL_GATHER, times * n * bytes, task);
  return model_parallel_send (model_parallel, STREAM_CONTEXT, model_parallel->stage->context,
                              FAB_OP_SEND_RECV, times * (n - 1) * bytes, task);
}

/* Adds what is sent before the segment computes. TRUE: the task *context runs while the segment computes. */
static gboolean
model_parallel_before (const Exchange *model_parallel, gboolean is_backward, FabTaskId *context)
{
  Stage *stage = model_parallel->stage;
  gboolean is_inner_end = is_backward ? has_output (model_parallel->segment)
                                      : segment_has_input (model_parallel->segment);

  send_to_experts (model_parallel, FALSE, is_backward);
  if (segment_is_split (stage, model_parallel->segment) && stage_is_sequence_parallel (stage) && is_inner_end)
    send_and_wait (model_parallel, STREAM_TENSOR, tensor_groups (stage, model_parallel->segment),
                   FAB_OP_ALL_GATHER, model_parallel_tensor_bytes (model_parallel));
  if (stage->context == NULL || model_parallel->segment->context_bytes <= 0
      || !send_context (model_parallel, is_backward ? 2 : 1, context))
    return FALSE;
  if (stage->train->params->parallel.context_kind == CONTEXT_GATHER)
    stage_wait (stage, *context);
  return stage->train->params->parallel.context_kind == CONTEXT_RING;
}

/* Adds what is sent after the segment has computed. */
static void
model_parallel_after (const Exchange *model_parallel, gboolean is_backward)
{
  Stage *stage = model_parallel->stage;
  gboolean is_outer_end = is_backward ? segment_has_input (model_parallel->segment)
                                      : has_output (model_parallel->segment);

  if (segment_is_split (stage, model_parallel->segment) && is_outer_end)
    send_and_wait (model_parallel, STREAM_TENSOR, tensor_groups (stage, model_parallel->segment),
                   stage_is_sequence_parallel (stage) ? FAB_OP_REDUCE_SCATTER : FAB_OP_ALL_REDUCE,
                   model_parallel_tensor_bytes (model_parallel));
  send_to_experts (model_parallel, TRUE, is_backward);
}

/* Consecutive segments of a layer between which nothing is sent. They are one compute task. */
typedef struct {
  guint first, n;
} Piece;

typedef enum {
  PASS_FORWARD,
  PASS_BACKWARD,
  PASS_INPUTS,  /* backward, without the gradients of the weights */
  PASS_WEIGHTS, /* the rest of it */
} PassKind;

static double
segment_seconds (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;
  const Layout *layout = &train->layout;
  double apart = train->tokens / (train->params->parallel.is_sequence ? layout->size[AXIS_TENSOR] : 1);
  gboolean is_apart = is_folded (train, segment);
  FabPass pass = { .layer = layer,
                   .segment = segment,
                   .is_backward = kind != PASS_FORWARD,
                   .gradients = kind == PASS_INPUTS  ? FAB_GRADIENTS_INPUTS
                              : kind == PASS_WEIGHTS ? FAB_GRADIENTS_WEIGHTS
                                                     : FAB_GRADIENTS_ALL,
                   .tokens = is_apart ? apart * layout->n_expert_tensor : train->tokens,
                   .n_split = is_apart ? layout->n_expert_tensor : layout->size[AXIS_TENSOR],
                   .n_expert = layout->n_expert,
                   .precision = (FabPrecision) train->params->precision,
                   .is_accumulating = train->n_micro > 1,
                   .efficiency = train->has_efficiency ? &train->efficiency.values : NULL,
                   .shared_tokens = apart };

  return ops->seconds (train->params->compute.params, &train->env->cluster->device, &pass) * train->waiting;
}

/* --- pieces of a layer between communication --- */

static gboolean
next_piece (const Stage *stage, const FabLayer *layer, Piece *piece)
{
  piece->first += piece->n;
  if (piece->first >= layer->segments->len)
    return FALSE;
  piece->n = 1;
  if (segment_exchanges (stage, fab_layer_segment (layer, piece->first)))
    return TRUE;
  while (piece->first + piece->n < layer->segments->len
         && !segment_exchanges (stage, fab_layer_segment (layer, piece->first + piece->n)))
    piece->n++;
  return TRUE;
}

static double
piece_seconds (const Train *train, const FabLayer *layer, const Piece *piece, PassKind kind)
{
  double seconds = 0;

  for (guint i = 0; i < piece->n; i++)
    seconds += segment_seconds (train, layer, fab_layer_segment (layer, piece->first + i), kind);
  return seconds;
}

double
train_layer_seconds (const Train *train, guint index)
{
  const FabLayer *layer = fab_layer_stack_layer (train->stack, index);
  const Piece whole = { 0, layer->segments->len };

  return piece_seconds (train, layer, &whole, PASS_FORWARD)
       + piece_seconds (train, layer, &whole, PASS_BACKWARD);
}

/* "forward block3", or "forward block3.attention" where the layer has several pieces; `suffix` is "" or
 * ".recompute". */
static char *
piece_name (const char *what, const FabLayer *layer, const Piece *piece, const char *suffix)
{
  if (piece->n == layer->segments->len)
    return g_strdup_printf ("%s %s%s", what, layer->name, suffix);
  return g_strdup_printf ("%s %s.%s%s", what, layer->name, fab_layer_segment (layer, piece->first)->name,
                          suffix);
}

/* --- forward --- */

static gboolean
is_of_piece (const FabTensor *tensor, const Piece *piece)
{
  return tensor->segment >= piece->first && tensor->segment < piece->first + piece->n;
}

static guint64
piece_parameters (const FabLayer *layer, const Piece *piece)
{
  guint64 parameters = 0;

  for (guint t = 0; t < layer->tensors->len; t++)
    if (is_of_piece (fab_layer_tensor (layer, t), piece))
      parameters += fab_layer_tensor (layer, t)->parameters;
  return parameters;
}

/* One task for each tensor that is used alone, together with those that follow it, in order of registration. Each gets
 * a share of the time by its number of parameters. */
static void
forward_tensors (Stage *stage, const PassAt *at, const Piece *piece, double seconds, const char *what)
{
  const Strategy *strategy = stage->train->strategy;
  const FabLayer *layer = fab_layer_stack_layer (stage->train->stack, at->layer);
  double parameters = (double) piece_parameters (layer, piece), share = 0;
  gint64 current = -1;

  for (guint t = 0; t <= layer->tensors->len; t++) {
    gboolean is_end = t == layer->tensors->len;

    if (!is_end && !is_of_piece (fab_layer_tensor (layer, t), piece))
      continue;
    gboolean is_alone = !is_end && strategy->uses_alone (stage, at, t);
    if (is_end || (current >= 0 && is_alone)) {
      stage_compute (stage, seconds * share,
                     g_strdup_printf ("%s %s.%u", what, layer->name, (guint) MAX (current, 0)));
      if (current >= 0)
        strategy->after_use (stage, at, (guint) current);
      share = 0;
    }
    if (is_end)
      return;
    if (is_alone) {
      strategy->before_use (stage, at, t);
      current = t;
    }
    share += (double) fab_layer_tensor (layer, t)->parameters / parameters;
  }
}

static void
forward_layer (Stage *stage, const PassAt *at, const char *what, const char *suffix)
{
  const Train *train = stage->train;
  const FabLayer *layer = fab_layer_stack_layer (train->stack, at->layer);

  for (Piece piece = { 0, 0 }; next_piece (stage, layer, &piece);) {
    Exchange model_parallel = { stage, layer, fab_layer_segment (layer, piece.first) };
    FabTaskId context = 0;
    gboolean has_context = model_parallel_before (&model_parallel, FALSE, &context);

    if (train->strategy->uses_alone != NULL && piece_parameters (layer, &piece) > 0)
      forward_tensors (stage, at, &piece, piece_seconds (train, layer, &piece, PASS_FORWARD),
                       *suffix != '\0' ? "recompute" : what);
    else
      stage_compute (stage, piece_seconds (train, layer, &piece, PASS_FORWARD),
                     piece_name (what, layer, &piece, suffix));
    if (has_context)
      stage_wait (stage, context);
    model_parallel_after (&model_parallel, FALSE);
  }
}

static PassAt
pass_at (const Stage *stage, guint layer, guint micro)
{
  return (PassAt){ layer, micro, micro + 1 == stage->train->n_micro };
}

void
stage_forward (Stage *stage, guint chunk_index, guint micro)
{
  const Train *train = stage->train;
  const Strategy *strategy = train->strategy;
  const Chunk *chunk = &g_array_index (stage->chunks, Chunk, chunk_index);

  for (guint l = chunk->first_layer; l < chunk->first_layer + chunk->n_layers; l++) {
    PassAt at = pass_at (stage, l, micro);

    if (strategy->before_forward)
      strategy->before_forward (stage, &at);
    forward_layer (stage, &at, "forward", "");
    if (strategy->after_forward)
      strategy->after_forward (stage, &at);
  }
}

/* --- backward --- */

/* The share of a piece's backward pass that computes the gradients of the weights of its first matrices, while the
 * tensor-parallel ranks sum the gradient of its input: half of the backward pass of all divided matrices of the
 * segment but the last. */
static double
window_of (const Stage *stage, const FabSegment *segment)
{
  const FabOperator *last = NULL;
  double first_flops = 0;

  if (!segment_is_split (stage, segment) || !segment_has_input (segment)
      || experts_exchange (
          stage, segment)) /* the sum still has to be sent to the ranks from which the tokens came */
    return 0;
  for (guint i = 0; i < segment->operators->len; i++) {
    const FabOperator *op = &g_array_index (segment->operators, FabOperator, i);

    if (op->kind != FAB_OPERATOR_MATMUL || !op->is_split)
      continue;
    first_flops += last && !last->is_frozen ? last->flops : 0;
    last = op;
  }
  return segment->forward_flops > 0 ? first_flops / (2 * segment->forward_flops) : 0;
}

/* One task for each tensor, the last registered first. Each gets a share of the time by its number of parameters. */
static void
backward_tensors (Stage *stage, const PassAt *at, const FabLayer *layer, const Piece *piece, double seconds)
{
  const Strategy *strategy = stage->train->strategy;
  double parameters = (double) piece_parameters (layer, piece);

  for (guint t = layer->tensors->len; t-- > 0;) {
    const FabTensor *tensor = fab_layer_tensor (layer, t);

    if (!is_of_piece (tensor, piece))
      continue;
    gboolean is_alone = strategy->uses_alone != NULL && strategy->uses_alone (stage, at, t);
    if (is_alone)
      strategy->before_use (stage, at, t);
    stage_compute (stage, seconds * ((double) tensor->parameters / parameters),
                   g_strdup_printf ("backward %s.%u", layer->name, t));
    if (is_alone)
      strategy->after_use (stage, at, t);
    strategy->gradient (stage, at, t);
  }
}

static void
backward_compute (Stage *stage, const PassAt *at, const FabLayer *layer, const Piece *piece, double seconds)
{
  const Strategy *strategy = stage->train->strategy;
  gboolean is_split = strategy->splits_backward && strategy->splits_backward (stage, at);

  if (is_split && piece_parameters (layer, piece) > 0)
    backward_tensors (stage, at, layer, piece, seconds);
  else
    stage_compute (stage, seconds, piece_name ("backward", layer, piece, ""));
}

static void
backward_piece (Stage *stage, const PassAt *at, const FabLayer *layer, const Piece *piece,
                gboolean has_weights)
{
  Exchange model_parallel = { stage, layer, fab_layer_segment (layer, piece->first) };
  double seconds = piece_seconds (stage->train, layer, piece, has_weights ? PASS_BACKWARD : PASS_INPUTS);
  double window = has_weights ? window_of (stage, model_parallel.segment) : 0;
  FabTaskId context = 0, sum = 0, input = 0;
  gboolean has_context = model_parallel_before (&model_parallel, TRUE, &context);
  gboolean has_input = window > 0
                    && stage_is_sequence_parallel (
                           stage) /* gathered once more, for the gradients of the weights */
                    && model_parallel_send (&model_parallel, STREAM_TENSOR,
                                            tensor_groups (stage, model_parallel.segment), FAB_OP_ALL_GATHER,
                                            model_parallel_tensor_bytes (&model_parallel), &input);

  if (has_weights)
    backward_compute (stage, at, layer, piece, seconds * (1 - window));
  else
    stage_compute (stage, seconds, piece_name ("backward", layer, piece, ""));
  if (has_context)
    stage_wait (stage, context);
  if (window <= 0) {
    model_parallel_after (&model_parallel, TRUE);
    return;
  }
  gboolean has_sum = model_parallel_send (&model_parallel, STREAM_TENSOR,
                                          tensor_groups (stage, model_parallel.segment),
                                          stage_is_sequence_parallel (stage) ? FAB_OP_REDUCE_SCATTER
                                                                             : FAB_OP_ALL_REDUCE,
                                          model_parallel_tensor_bytes (&model_parallel), &sum);
  if (has_input)
    stage_wait (stage, input);
  stage_compute (stage, seconds * window, piece_name ("backward", layer, piece, ".weights"));
  if (has_sum)
    stage_wait (stage, sum);
}

/* Time of computing the attention scores a second time, where they are not kept. */
static double
score_seconds (const Train *train, const FabLayer *layer)
{
  double seconds = 0;

  for (guint s = 0; s < layer->segments->len; s++) {
    const FabSegment *whole = fab_layer_segment (layer, s);
    FabSegment scores = *whole;
    g_autoptr (GArray) operators = g_array_new (FALSE, FALSE, sizeof (FabOperator));

    for (guint i = 0; i < whole->operators->len; i++)
      if (g_array_index (whole->operators, FabOperator, i).kind == FAB_OPERATOR_ATTENTION)
        g_array_append_val (operators, g_array_index (whole->operators, FabOperator, i));
    scores.operators = operators;
    if (operators->len > 0)
      seconds += segment_seconds (train, layer, &scores, PASS_FORWARD);
  }
  return seconds;
}

static void
recompute (Stage *stage, const PassAt *at)
{
  const Train *train = stage->train;
  const FabLayer *layer = fab_layer_stack_layer (train->stack, at->layer);

  if (train->params->recompute == RECOMPUTE_FULL && layer->is_block)
    forward_layer (stage, at, "backward", ".recompute");
  if (train->params->recompute == RECOMPUTE_SELECTIVE && score_seconds (train, layer) > 0)
    stage_compute (stage, score_seconds (train, layer),
                   g_strdup_printf ("backward %s.recompute", layer->name));
}

static void
backward_pieces (Stage *stage, const PassAt *at, const FabLayer *layer, gboolean has_weights)
{
  g_autoptr (GArray) pieces = g_array_new (FALSE, FALSE, sizeof (Piece));

  for (Piece piece = { 0, 0 }; next_piece (stage, layer, &piece);)
    g_array_append_val (pieces, piece);
  for (guint i = pieces->len; i-- > 0;)
    backward_piece (stage, at, layer, &g_array_index (pieces, Piece, i), has_weights);
}

void
stage_backward (Stage *stage, guint chunk_index, guint micro, gboolean has_weights)
{
  const Strategy *strategy = stage->train->strategy;
  const Chunk *chunk = &g_array_index (stage->chunks, Chunk, chunk_index);

  for (guint l = chunk->first_layer + chunk->n_layers; l-- > chunk->first_layer;) {
    const FabLayer *layer = fab_layer_stack_layer (stage->train->stack, l);
    PassAt at = pass_at (stage, l, micro);

    if (strategy->before_backward)
      strategy->before_backward (stage, &at);
    recompute (stage, &at);
    backward_pieces (stage, &at, layer, has_weights);
    if (strategy->after_backward && has_weights)
      strategy->after_backward (stage, &at);
  }
}

void
stage_weights (Stage *stage, guint chunk_index, guint micro)
{
  const Strategy *strategy = stage->train->strategy;
  const Chunk *chunk = &g_array_index (stage->chunks, Chunk, chunk_index);

  for (guint l = chunk->first_layer + chunk->n_layers; l-- > chunk->first_layer;) {
    const FabLayer *layer = fab_layer_stack_layer (stage->train->stack, l);
    PassAt at = pass_at (stage, l, micro);
    Piece whole = { 0, layer->segments->len };

    backward_compute (stage, &at, layer, &whole, piece_seconds (stage->train, layer, &whole, PASS_WEIGHTS));
    if (strategy->after_backward)
      strategy->after_backward (stage, &at);
  }
}
