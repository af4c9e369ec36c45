/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/passes.h"

#include "models/workload/training/away.h"
#include "models/workload/training/prices.h"
#include "models/workload/training/recompute.h"
#include "models/workload/training/streams.h"
#include "models/workload/training/turns.h"

static const Chunk *
chunk_of (const Stage *stage, guint index)
{
  return &g_array_index (stage->chunks, Chunk, index);
}

static PassAt
pass_at (const Chunk *chunk, guint layer, guint micro)
{
  return (PassAt){ layer, micro, micro == chunk->last_micro };
}

/* Two halves of a micro-batch take turns, or one lane has all of it. */
static void
begin_halves (Stage *stage)
{
  gboolean has_halves = stage->train->params->parallel.moe.overlap == OVERLAP_BATCHES
                     && stage->expert != NULL;

  lanes_begin (stage, has_halves ? 2 : 1, has_halves ? 0.5 : 1);
}

/* --- before and after a layer --- */

static void
before_forward (Stage *stage, const PassAt *at)
{
  const Strategy *strategy = stage->train->strategy;

  if (strategy->before_forward)
    strategy->before_forward (stage, at);
  away_before_forward (stage, at);
}

static void
after_forward (Stage *stage, const PassAt *at)
{
  const Strategy *strategy = stage->train->strategy;

  away_after_forward (stage, at);
  if (strategy->after_forward)
    strategy->after_forward (stage, at);
}

static void
before_backward (Stage *stage, const Chunk *chunk, const PassAt *at)
{
  const Strategy *strategy = stage->train->strategy;

  if (strategy->before_backward)
    strategy->before_backward (stage, at);
  away_before_backward (stage, chunk, at);
}

static void
after_backward (Stage *stage, const PassAt *at)
{
  const Strategy *strategy = stage->train->strategy;

  if (strategy->after_backward)
    strategy->after_backward (stage, at);
}

/* --- forward --- */

static Turn
forward_turn (const PassAt *at, const char *what, const char *suffix)
{
  return (Turn){ .at = *at, .what = what, .suffix = suffix };
}

static void
forward_layer (Stage *stage, const PassAt *at, const char *what, const char *suffix)
{
  Turn turn = forward_turn (at, what, suffix);

  turns_compute (stage, fab_layer_stack_layer (stage->train->stack, at->layer), &turn);
}

void
stage_forward (Stage *stage, guint chunk_index, guint micro)
{
  const Chunk *chunk = chunk_of (stage, chunk_index);

  begin_halves (stage);
  for (guint l = chunk->first_layer; l < chunk->first_layer + chunk->n_layers; l++) {
    PassAt at = pass_at (chunk, l, micro);

    before_forward (stage, &at);
    forward_layer (stage, &at, "forward", "");
    after_forward (stage, &at);
  }
  lanes_end (stage);
}

/* --- backward --- */

/* Time of what is computed again of a block that is not recomputed as a whole. */
static double
recomputed_seconds (const Train *train, const FabLayer *layer)
{
  double seconds = 0;

  for (guint s = 0; s < layer->segments->len; s++) {
    FabSegment part = *fab_layer_segment (layer, s);
    g_autoptr (GArray) operators = recompute_operators (train, layer, s);

    part.operators = operators;
    if (operators->len > 0)
      seconds += train_part_seconds (train, layer, &part, PASS_FORWARD);
  }
  return seconds;
}

static void
recompute_some (Stage *stage, const PassAt *at)
{
  const FabLayer *layer = fab_layer_stack_layer (stage->train->stack, at->layer);
  double seconds = recomputed_seconds (stage->train, layer);

  if (seconds > 0)
    stage_compute (stage, seconds, g_strconcat ("backward ", layer->name, ".recompute", NULL));
}

static Turn
recompute_turn (const PassAt *at)
{
  return forward_turn (at, "backward", ".recompute");
}

static Turn
backward_turn (const PassAt *at, gboolean has_weights)
{
  return (Turn){ .at = *at, .is_backward = TRUE, .has_weights = has_weights };
}

void
stage_backward (Stage *stage, guint chunk_index, guint micro, gboolean has_weights)
{
  const Train *train = stage->train;
  const Chunk *chunk = chunk_of (stage, chunk_index);

  begin_halves (stage);
  for (guint l = chunk->first_layer + chunk->n_layers; l-- > chunk->first_layer;) {
    PassAt at = pass_at (chunk, l, micro);
    Turn turn = backward_turn (&at, has_weights);

    before_backward (stage, chunk, &at);
    if (recompute_is_whole (train, l))
      forward_layer (stage, &at, "backward", ".recompute");
    else
      recompute_some (stage, &at);
    turns_compute (stage, fab_layer_stack_layer (train->stack, l), &turn);
    if (has_weights)
      after_backward (stage, &at);
  }
  lanes_end (stage);
}

void
stage_weights (Stage *stage, guint chunk_index, guint micro)
{
  const Chunk *chunk = chunk_of (stage, chunk_index);

  for (guint l = chunk->first_layer + chunk->n_layers; l-- > chunk->first_layer;) {
    PassAt at = pass_at (chunk, l, micro);

    turns_weights (stage, &at);
    after_backward (stage, &at);
  }
}

/* --- a forward and a backward pass together --- */

enum { LANE_FORWARD, LANE_BACKWARD, N_LANES };

/* One turn of a pass. */
typedef struct {
  Turn turn;
  gboolean is_first, is_last; /* of its layer */
} Step;

/* One of the two passes. */
typedef struct {
  Stage *stage;
  const Chunk *chunk;
  guint lane, next; /* the step that is next */
  GArray *steps;    /* Step */
} Lane;

static void
add_steps (Lane *self, const Turn *turn)
{
  const FabLayer *layer = fab_layer_stack_layer (self->stage->train->stack, turn->at.layer);
  g_autoptr (GArray) pieces = turns_list_pieces (self->stage, layer);

  for (guint i = 0; i < pieces->len; i++) {
    guint at = turn->is_backward ? pieces->len - 1 - i : i;
    Step step = { turn_of (turn, self->stage, layer, &g_array_index (pieces, Piece, at)), FALSE, FALSE };

    g_array_append_val (self->steps, step);
  }
}

static void
add_layer (Lane *self, const PassAt *at)
{
  gboolean is_backward = self->lane == LANE_BACKWARD;
  guint first = self->steps->len;

  if (is_backward && recompute_is_whole (self->stage->train, at->layer)) {
    Turn again = recompute_turn (at);

    add_steps (self, &again);
  }
  Turn turn = is_backward ? backward_turn (at, TRUE) : forward_turn (at, "forward", "");
  add_steps (self, &turn);
  g_array_index (self->steps, Step, first).is_first = TRUE;
  g_array_index (self->steps, Step, self->steps->len - 1).is_last = TRUE;
}

static Lane
list_steps (Stage *stage, guint lane, guint chunk_index, guint micro)
{
  Lane self = { stage, chunk_of (stage, chunk_index), lane, 0, g_array_new (FALSE, FALSE, sizeof (Step)) };
  const Chunk *chunk = self.chunk;

  for (guint i = 0; i < chunk->n_layers; i++) {
    guint layer = lane == LANE_FORWARD ? chunk->first_layer + i
                                       : chunk->first_layer + chunk->n_layers - 1 - i;
    PassAt at = pass_at (chunk, layer, micro);

    add_layer (&self, &at);
  }
  return self;
}

/* Sends what the next step of a lane needs. */
static void
begin_step (Lane *self)
{
  Stage *stage = self->stage;
  Step *step = self->next < self->steps->len ? &g_array_index (self->steps, Step, self->next) : NULL;

  if (step == NULL)
    return;
  lane_take (stage, self->lane);
  if (step->is_first && self->lane == LANE_FORWARD)
    before_forward (stage, &step->turn.at);
  if (step->is_first && self->lane == LANE_BACKWARD) {
    before_backward (stage, self->chunk, &step->turn.at);
    if (!recompute_is_whole (stage->train, step->turn.at.layer))
      recompute_some (stage, &step->turn.at);
    stage->lanes[self->lane].last_compute = stage->last_compute;
  }
  lane_keep (stage, self->lane);
  turn_before (&step->turn, self->lane);
}

static void
end_step (Lane *self)
{
  Stage *stage = self->stage;
  const Step *step = &g_array_index (self->steps, Step, self->next++);

  turn_compute (&step->turn, self->lane);
  if (!step->is_last)
    return;
  lane_take (stage, self->lane);
  if (self->lane == LANE_FORWARD)
    after_forward (stage, &step->turn.at);
  else
    after_backward (stage, &step->turn.at);
  lane_keep (stage, self->lane);
}

static double
progress (const Lane *self)
{
  return (self->next + 0.5) / self->steps->len;
}

void
stage_pair (Stage *stage, const Action *forward, const Action *backward)
{
  Lane lanes[N_LANES] = { list_steps (stage, LANE_FORWARD, forward->chunk, forward->micro),
                          list_steps (stage, LANE_BACKWARD, backward->chunk, backward->micro) };

  if (stage->waits->len > 0)
    stage_compute (stage, 0, g_strdup ("inputs"));
  lanes_begin (stage, N_LANES, 1);
  begin_step (&lanes[LANE_FORWARD]);
  begin_step (&lanes[LANE_BACKWARD]);
  while (lanes[LANE_FORWARD].next < lanes[LANE_FORWARD].steps->len
         || lanes[LANE_BACKWARD].next < lanes[LANE_BACKWARD].steps->len) {
    gboolean is_forward = progress (&lanes[LANE_FORWARD]) <= progress (&lanes[LANE_BACKWARD]);
    Lane *lane = &lanes[is_forward ? LANE_FORWARD : LANE_BACKWARD];

    end_step (lane);
    begin_step (lane);
  }
  lanes_end (stage);
  g_array_unref (lanes[LANE_FORWARD].steps);
  g_array_unref (lanes[LANE_BACKWARD].steps);
}
