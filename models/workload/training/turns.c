/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/turns.h"

#include <string.h>

#include "models/workload/training/experts.h"
#include "models/workload/training/overlap.h"
#include "models/workload/training/prices.h"
#include "models/workload/training/recompute.h"
#include "models/workload/training/rounds.h"
#include "models/workload/training/streams.h"

/* The groups that share the matrices of a segment; NULL: groups of one rank. */
static FabConcurrentGroups *
tensor_groups (const Stage *stage, const FabSegment *segment)
{
  return train_has_own_grid (stage->train, segment) ? stage->expert_tensor : stage->tensor;
}

/* Whether tensor parallelism divides a segment; whether anything at all is sent before, during or after it. */
static gboolean
segment_is_split (const Stage *stage, const FabSegment *segment)
{
  return tensor_groups (stage, segment) != NULL && segment->is_split;
}

static gboolean
segment_exchanges (const Stage *stage, const FabLayer *layer, const FabSegment *segment)
{
  return segment_is_split (stage, segment) || experts_exchange (stage, segment)
      || experts_beside (stage, layer, segment) != NULL
      || (stage->context != NULL && segment->context_bytes > 0);
}

/* Adds a collective of the group of what the pass has so far. FALSE: there is nothing to send. */
static gboolean
model_parallel_send (const Exchange *model_parallel, StreamKind stream,
                     FabConcurrentGroups *concurrent_groups, FabOp op, double bytes_per_token,
                     FabTaskId *task)
{
  static const FabDimension dimensions[] = {
    [STREAM_TENSOR] = FAB_DIMENSION_TENSOR, [STREAM_CONTEXT] = FAB_DIMENSION_CONTEXT
  };
  Comm comm = {
    stream, dimensions[stream], concurrent_groups, op,
    (FabBytes) (bytes_per_token * model_parallel->stage->train->tokens * model_parallel->stage->share + 0.5)
  };

  return stage_comm_of_pass (
      model_parallel->stage, &comm, model_parallel->stage->train->env->library,
      g_strconcat (model_parallel->layer->name, ".", model_parallel->segment->name, NULL), task);
}

/* After experts a token has one copy for each expert that it went to. Ranks that share an expert, where experts have a
 * grid of their own, gather the tokens of these ranks. */
static double
model_parallel_tensor_bytes (const Exchange *model_parallel)
{
  const Layout *layout = &model_parallel->stage->train->layout;

  if (train_has_own_grid (model_parallel->stage->train, model_parallel->segment))
    return model_parallel->segment->expert_bytes * layout->n_expert_tensor / layout->size[AXIS_TENSOR];
  return model_parallel->segment->expert_bytes > 0 ? model_parallel->segment->expert_bytes
                                                   : model_parallel->layer->hidden_bytes;
}

/* Whether the layer has shared experts that compute beside an exchange. */
static gboolean
layer_has_shared (const Stage *stage, const FabLayer *layer)
{
  for (guint i = 0; i < layer->segments->len; i++)
    if (experts_beside (stage, layer, fab_layer_segment (layer, i)) != NULL)
      return TRUE;
  return FALSE;
}

/* Sends tokens to the experts beside which the shared experts of the segment compute. */
static void
hold_dispatch (const Exchange *model_parallel)
{
  Stage *stage = model_parallel->stage;
  const FabSegment *experts = experts_beside (stage, model_parallel->layer, model_parallel->segment);

  if (experts != NULL)
    stage->has_held = experts_send (stage, model_parallel->layer, experts, FALSE, FALSE, &stage->held);
}

/* Waits for gradients that came back while the shared experts of the segment computed. */
static void
wait_for_held (const Exchange *model_parallel)
{
  Stage *stage = model_parallel->stage;

  if (!stage->has_held || experts_beside (stage, model_parallel->layer, model_parallel->segment) == NULL)
    return;
  stage_wait (stage, stage->held);
  stage->has_held = FALSE;
}

/* Sends tokens to the experts of the segment or back. While shared experts compute, the exchange is held: the dispatch
 * of a forward pass was sent before them, and the gradients of a backward pass are waited for after them. */
static void
send_to_experts (const Exchange *model_parallel, gboolean is_combine, gboolean is_backward)
{
  Stage *stage = model_parallel->stage;
  FabTaskId task;

  if (!is_combine && !is_backward && stage->has_held && experts_exchange (stage, model_parallel->segment)) {
    stage_wait (stage, stage->held);
    stage->has_held = FALSE;
    return;
  }
  if (!experts_send (stage, model_parallel->layer, model_parallel->segment, is_combine, is_backward, &task))
    return;
  if (is_combine && is_backward && layer_has_shared (stage, model_parallel->layer)) {
    stage->held = task;
    stage->has_held = TRUE;
    return;
  }
  stage_wait (stage, task);
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

/* Whether ranks exchange the keys and values of a segment, in this way. */
static gboolean
has_context (const Exchange *exchange, ContextKind kind)
{
  return exchange->stage->context != NULL && exchange->segment->context_bytes > 0
      && exchange->stage->train->params->parallel.context_kind == (gint) kind;
}

/* Gathers keys and values of tokens that have been gathered, also where the first matrices run beside that gather. */
static void
gather_context (const Exchange *exchange, double times, Beside *beside)
{
  Stage *stage = exchange->stage;
  guint n_waits = stage->waits->len;

  if (!has_context (exchange, CONTEXT_GATHER))
    return;
  double bytes = times * fab_concurrent_groups_n_ranks (stage->context) * exchange->segment->context_bytes
               / stage->train->layout.size[AXIS_TENSOR];
  if (beside->has_gather)
    stage_wait (stage, beside->gather);
  beside->has_context = model_parallel_send (exchange, STREAM_CONTEXT, stage->context, FAB_OP_ALL_GATHER,
                                             bytes, &beside->context);
  g_array_set_size (stage->waits, n_waits);
  if (!beside->has_context || beside->has_gather)
    return;
  stage_wait (stage, beside->context);
}

/* The share of a pass that runs beside a gather (`is_first`) or a sum. */
static double
beside_share (const Exchange *self, gboolean is_first)
{
  return segment_is_split (self->stage, self->segment) ? overlap_share (self->stage, self->segment, is_first)
                                                       : 0;
}

/* Adds what is sent before the segment computes. */
static Beside
model_parallel_before (const Exchange *model_parallel, gboolean is_backward)
{
  Beside beside = { .share = is_backward ? beside_share (model_parallel, FALSE) / 2
                                         : beside_share (model_parallel, TRUE) };
  Stage *stage = model_parallel->stage;
  gboolean is_inner_end = is_backward ? has_output (model_parallel->segment)
                                      : segment_has_input (model_parallel->segment);

  if (!is_backward)
    hold_dispatch (model_parallel);
  send_to_experts (model_parallel, FALSE, is_backward);
  if (segment_is_split (stage, model_parallel->segment) && stage_is_sequence_parallel (stage) && is_inner_end)
    beside.has_gather = model_parallel_send (model_parallel, STREAM_TENSOR,
                                             tensor_groups (stage, model_parallel->segment),
                                             FAB_OP_ALL_GATHER, model_parallel_tensor_bytes (model_parallel),
                                             &beside.gather);
  if (beside.has_gather && beside.share <= 0) {
    stage_wait (stage, beside.gather);
    beside.has_gather = FALSE;
  }
  gather_context (model_parallel, is_backward ? 2 : 1, &beside);
  return beside;
}

/* Computes beside the gather, if there is one, and waits for it, and for keys and values that are gathered after it.
 * Returns the seconds that it took. */
static double
compute_first (Stage *stage, const Beside *beside, double seconds, char *name)
{
  g_autofree char *owned = name;

  if (!beside->has_gather)
    return 0;
  rounds_compute (stage, seconds * beside->share, g_steal_pointer (&owned));
  stage_wait (stage, beside->gather);
  if (beside->has_context)
    stage_wait (stage, beside->context);
  return seconds * beside->share;
}

/* Adds what is sent after the segment has computed; `beside_s` of it, a task of that `name`, runs beside the sum. Takes
 * `name`. */
static void
model_parallel_after (const Exchange *model_parallel, gboolean is_backward, double beside_s, char *name)
{
  g_autofree char *owned = name;
  FabTaskId sum;
  gboolean has_sum = FALSE;
  Stage *stage = model_parallel->stage;
  gboolean is_outer_end = is_backward ? segment_has_input (model_parallel->segment)
                                      : has_output (model_parallel->segment);

  if (segment_is_split (stage, model_parallel->segment) && is_outer_end)
    has_sum = model_parallel_send (model_parallel, STREAM_TENSOR,
                                   tensor_groups (stage, model_parallel->segment),
                                   stage_is_sequence_parallel (stage) ? FAB_OP_REDUCE_SCATTER
                                                                      : FAB_OP_ALL_REDUCE,
                                   model_parallel_tensor_bytes (model_parallel), &sum);
  if (beside_s > 0)
    stage_compute (stage, beside_s, g_steal_pointer (&owned));
  if (has_sum)
    stage_wait (stage, sum);
  send_to_experts (model_parallel, TRUE, is_backward);
  if (is_backward)
    wait_for_held (model_parallel);
}

/* --- pieces of a layer between communication --- */

static gboolean
next_piece (const Stage *stage, const FabLayer *layer, Piece *piece)
{
  piece->first += piece->n;
  if (piece->first >= layer->segments->len)
    return FALSE;
  piece->n = 1;
  if (segment_exchanges (stage, layer, fab_layer_segment (layer, piece->first)))
    return TRUE;
  while (piece->first + piece->n < layer->segments->len
         && !segment_exchanges (stage, layer, fab_layer_segment (layer, piece->first + piece->n)))
    piece->n++;
  return TRUE;
}

static double
piece_seconds (const Train *train, const FabLayer *layer, const Piece *piece, PassKind kind)
{
  double seconds = 0;

  for (guint i = 0; i < piece->n; i++)
    seconds += train_segment_seconds (train, layer, fab_layer_segment (layer, piece->first + i), kind);
  return seconds;
}

/* There are millions of names, and joining texts takes a third of the time of printing them.
 *
 * "forward block3", or "forward block3.attention" where the layer has several pieces; `suffix` is "" or
 * ".recompute". */
static char *
piece_name (const char *what, const FabLayer *layer, const Piece *piece, const char *suffix)
{
  if (piece->n == layer->segments->len)
    return g_strconcat (what, " ", layer->name, suffix, NULL);
  return g_strconcat (what, " ", layer->name, ".", fab_layer_segment (layer, piece->first)->name, suffix,
                      NULL);
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
      rounds_compute (stage, seconds * share,
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

/* (transfer full) */
GArray *
turns_list_pieces (const Stage *stage, const FabLayer *layer)
{
  GArray *pieces = g_array_new (FALSE, FALSE, sizeof (Piece));

  for (Piece piece = { 0, 0 }; next_piece (stage, layer, &piece);)
    g_array_append_val (pieces, piece);
  return pieces;
}

/* --- lanes take turns: one computes while what the other has sent is on its way --- */

void
lanes_begin (Stage *stage, guint n, double share)
{
  stage->n_lanes = n;
  stage->share = share;
  for (guint lane = 0; lane < n; lane++)
    stage->lanes[lane].last_compute = stage->last_compute;
}

void
lane_keep (Stage *stage, guint lane)
{
  if (stage->n_lanes == 1)
    return;
  g_array_append_vals (stage->lanes[lane].waits, stage->waits->data, stage->waits->len);
  g_array_set_size (stage->waits, 0);
}

void
lane_take (Stage *stage, guint lane)
{
  if (stage->n_lanes == 1)
    return;
  g_array_append_vals (stage->waits, stage->lanes[lane].waits->data, stage->lanes[lane].waits->len);
  g_array_set_size (stage->lanes[lane].waits, 0);
}

void
lanes_end (Stage *stage)
{
  for (guint lane = 0; lane < stage->n_lanes; lane++)
    lane_take (stage, lane);
}

void
turn_before (Turn *self, guint lane)
{
  Stage *stage = self->exchange.stage;
  FabTaskId last = stage->last_compute;

  if (stage->n_lanes > 1)
    stage->last_compute = stage->lanes[lane].last_compute;
  lane_take (stage, lane);
  self->beside[lane] = model_parallel_before (&self->exchange, self->is_backward);
  lane_keep (stage, lane);
  stage->last_compute = last;
}

/* Of a piece that is computed again. */
static double
again_seconds (const Train *train, const FabLayer *layer, const Piece *piece)
{
  double seconds = 0;

  for (guint i = 0; i < piece->n; i++) {
    FabSegment part = *fab_layer_segment (layer, piece->first + i);
    g_autoptr (GArray) operators = recompute_until (train, layer, piece->first + i);

    if (operators == NULL) {
      seconds += train_segment_seconds (train, layer, fab_layer_segment (layer, piece->first + i),
                                        PASS_FORWARD);
    } else if (operators->len > 0) {
      part.operators = operators;
      seconds += train_part_seconds (train, layer, &part, PASS_FORWARD);
    }
  }
  return seconds;
}

static PassKind
turn_pass (const Turn *self)
{
  return !self->is_backward ? PASS_FORWARD : self->has_weights ? PASS_BACKWARD : PASS_INPUTS;
}

static double
turn_seconds (const Turn *self)
{
  const Stage *stage = self->exchange.stage;

  if (!self->is_backward && *self->suffix != '\0')
    return again_seconds (stage->train, self->exchange.layer, &self->piece) * stage->share;
  return piece_seconds (stage->train, self->exchange.layer, &self->piece, turn_pass (self)) * stage->share;
}

/* Begins rounds of keys and values, which lie between what is computed beside a gather of the piece's input and its
 * last `last_s`. */
static void
begin_rounds (const Turn *self, guint lane, double last_s)
{
  Stage *stage = self->exchange.stage;
  const Beside *beside = &self->beside[lane];

  if (!has_context (&self->exchange, CONTEXT_RING))
    return;
  double seconds = turn_seconds (self), first_s = beside->has_gather ? seconds * beside->share : 0;
  AttentionSpan span = train_attention_span (stage->train, self->exchange.layer, self->exchange.segment,
                                             turn_pass (self));
  rounds_begin (stage, self->exchange.layer, self->exchange.segment, self->is_backward,
                MAX (seconds * span.start, first_s), MIN (seconds * span.end, seconds - last_s));
}

static void
turn_end (const Turn *self, guint lane)
{
  Stage *stage = self->exchange.stage;

  rounds_end (stage);
  stage->lanes[lane].last_compute = stage->last_compute;
}

/* Computes all but the last `last_s` of the piece, which run beside the ranks' sum. */
static void
turn_forward (const Turn *self, guint lane, double last_s)
{
  Stage *stage = self->exchange.stage;
  const FabLayer *layer = self->exchange.layer;
  double seconds = turn_seconds (self);

  begin_rounds (self, lane, last_s);
  double first_s = compute_first (stage, &self->beside[lane], seconds,
                                  piece_name (self->what, layer, &self->piece, ".first"));
  seconds -= first_s + last_s;
  if (stage->train->strategy->uses_alone != NULL && piece_parameters (layer, &self->piece) > 0)
    forward_tensors (stage, &self->at, &self->piece, seconds,
                     *self->suffix != '\0' ? "recompute" : self->what);
  else
    rounds_compute (stage, seconds, piece_name (self->what, layer, &self->piece, self->suffix));
}

static void turn_backward (const Turn *self, guint lane);

void
turn_compute (const Turn *self, guint lane)
{
  Stage *stage = self->exchange.stage;

  lane_take (stage, lane);
  if (self->is_backward) {
    turn_backward (self, lane);
  } else {
    double last_s = has_output (self->exchange.segment)
                      ? turn_seconds (self) * beside_share (&self->exchange, FALSE)
                      : 0;

    turn_forward (self, lane, last_s);
    turn_end (self, lane);
    model_parallel_after (&self->exchange, FALSE, last_s,
                          piece_name (self->what, self->exchange.layer, &self->piece, ".last"));
  }
  lane_keep (stage, lane);
}

Turn
turn_of (const Turn *turn, Stage *stage, const FabLayer *layer, const Piece *piece)
{
  Turn of = *turn;

  of.piece = *piece;
  of.exchange = (Exchange){ stage, layer, fab_layer_segment (layer, piece->first) };
  return of;
}

void
turns_compute (Stage *stage, const FabLayer *layer, const Turn *turn)
{
  g_autoptr (GArray) pieces = turns_list_pieces (stage, layer);
  Turn now = *turn, next = *turn;

  for (guint i = 0; i <= pieces->len; i++) {
    if (i < pieces->len) {
      guint at = turn->is_backward ? pieces->len - 1 - i : i;

      next = turn_of (turn, stage, layer, &g_array_index (pieces, Piece, at));
    }
    for (guint lane = 0; lane < stage->n_lanes; lane++) {
      if (i > 0)
        turn_compute (&now, lane);
      if (i < pieces->len)
        turn_before (&next, lane);
    }
    now = next;
  }
}

/* --- backward --- */

/* The share of a piece's backward pass that computes the gradients of the weights of those matrices whose columns are
 * divided, while the tensor-parallel ranks sum the gradient of its input: half of the backward pass of all divided
 * matrices of the segment but the last, whose rows are divided. The head has no such last one. What experts receive is
 * summed apart (explicit_expert_comm of Megatron-LM). */
static double
window_of (const Stage *stage, const FabSegment *segment)
{
  const FabOperator *last = NULL;
  double first_flops = 0;

  if (!segment_is_split (stage, segment) || !segment_has_input (segment) || segment->expert_bytes > 0)
    return 0;
  for (guint i = 0; i < segment->operators->len; i++) {
    const FabOperator *op = &g_array_index (segment->operators, FabOperator, i);

    if (op->kind != FAB_OPERATOR_MATMUL || !op->is_split)
      continue;
    first_flops += last && !last->is_frozen ? last->flops : 0;
    last = op;
  }
  if (!has_output (segment) && last != NULL && !last->is_frozen)
    first_flops += last->flops;
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
    rounds_compute (stage, seconds * ((double) tensor->parameters / parameters),
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
    rounds_compute (stage, seconds, piece_name ("backward", layer, piece, ""));
}

/* Gradients of weights are whole when the second half has been computed. Of a pair, the second lane goes backward. */
static void
backward_lane (const Turn *self, guint lane, double seconds)
{
  Stage *stage = self->exchange.stage;

  if (self->has_weights && lane + 1 == stage->n_lanes)
    backward_compute (stage, &self->at, self->exchange.layer, &self->piece, seconds);
  else
    rounds_compute (stage, seconds, piece_name ("backward", self->exchange.layer, &self->piece, ""));
}

/* The input is gathered once more, for the gradients of the weights. FALSE: ranks have all of it. */
static gboolean
gather_input (const Exchange *exchange, FabTaskId *input)
{
  Stage *stage = exchange->stage;

  return stage_is_sequence_parallel (stage)
      && model_parallel_send (exchange, STREAM_TENSOR, tensor_groups (stage, exchange->segment),
                              FAB_OP_ALL_GATHER, model_parallel_tensor_bytes (exchange), input);
}

/* With a window the tensor-parallel ranks gather the piece's input beside the products for its gradient, which take as
 * long as the window, and sum that gradient while those of the weights are computed (tensor_parallel/layers.py). Where
 * lanes take turns, the other lane computes meanwhile. */
static void
turn_backward (const Turn *self, guint lane)
{
  const Exchange *exchange = &self->exchange;
  Stage *stage = exchange->stage;
  double seconds = turn_seconds (self);
  double window = self->has_weights && stage->n_lanes == 1 ? window_of (stage, exchange->segment) : 0;
  FabTaskId sum = 0, input = 0;
  gboolean has_input = FALSE;

  begin_rounds (self, lane, 2 * seconds * window);
  double first_s = compute_first (stage, &self->beside[lane], seconds,
                                  piece_name ("backward", exchange->layer, &self->piece, ".first"));

  if (window > 0 && stage_is_sequence_parallel (stage)) {
    double before_s = MAX (seconds * (1 - 2 * window) - first_s, 0);

    if (before_s > 0)
      rounds_compute (stage, before_s, piece_name ("backward", exchange->layer, &self->piece, ".before"));
    first_s += before_s;
    has_input = gather_input (exchange, &input);
  }
  backward_lane (self, lane, seconds * (1 - window) - first_s);
  turn_end (self, lane);
  if (window <= 0) {
    model_parallel_after (exchange, TRUE, 0, NULL);
    return;
  }
  if (has_input)
    stage_wait (stage, input);
  gboolean has_sum = model_parallel_send (exchange, STREAM_TENSOR, tensor_groups (stage, exchange->segment),
                                          stage_is_sequence_parallel (stage) ? FAB_OP_REDUCE_SCATTER
                                                                             : FAB_OP_ALL_REDUCE,
                                          model_parallel_tensor_bytes (exchange), &sum);
  stage_compute (stage, seconds * window, piece_name ("backward", exchange->layer, &self->piece, ".weights"));
  if (has_sum)
    stage_wait (stage, sum);
}

/* The passes of the weights send nothing. */
void
turns_weights (Stage *stage, const PassAt *at)
{
  const FabLayer *layer = fab_layer_stack_layer (stage->train->stack, at->layer);
  Piece whole = { 0, layer->segments->len };

  backward_compute (stage, at, layer, &whole, piece_seconds (stage->train, layer, &whole, PASS_WEIGHTS));
}
