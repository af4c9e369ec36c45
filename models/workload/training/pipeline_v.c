/* SPDX-License-Identifier: Apache-2.0 */
/* zero_bubble_v: the order of passes that the rules of ZB-V find (sail-sg/zero-bubble-pipeline-parallelism,
 * megatron/core/pipeline_parallel/zerobubble/scheduler/zbv.py).
 *
 * A draft gives every stage one backward pass and one forward pass in turn, as soon as their inputs are there, and
 * the passes of weights where a stage would wait or its memory is full: activations of as many passes as there are
 * parts of the model. Whether a short wait is filled too has four variants. A draft is made again with the waits that
 * the draft before had, as long as the longest wait of a stage becomes shorter. */
#include "models/workload/training/pipeline_rules.h"

/* The ways of a micro-batch: down and up the stages, and the same backward. */
enum { DOWN, UP, BACK_DOWN, BACK_UP, N_WAYS };

typedef struct {
  gint64 now, idle;       /* time so far, and what it waited since its first pass */
  guint n_kept;           /* passes whose activations it keeps */
  guint n_passes[N_WAYS]; /* passes of each way so far */
  guint *held;            /* [2 n_micro] ways whose passes of weights are to come */
  guint n_held, n_freed;  /* how many have come in, and how many have been done */
  guint n_weights[2];     /* passes of weights so far, of BACK_DOWN and BACK_UP */
  GArray *actions;
} Place;

typedef struct {
  guint n_stages, n_micro;
  gint64 forward, inputs, weights; /* costs */
  gboolean fills_forward, fills_backward;
  const gint64 *approved; /* [n_stages] waits of the draft before; NULL: there was none */
  gint64 most_approved;
  Place *places; /* [n_stages] */
  gint64 *ends;  /* [N_WAYS][n_stages][n_micro]; -1: not yet */
} Draft;

static gint64 *
end_of (const Draft *self, guint way, guint stage, guint micro)
{
  return &self->ends[(way * self->n_stages + stage) * (gsize) self->n_micro + micro];
}

/* When the input of the next pass of a way comes from another stage; -1: not yet, or it comes from no other. */
static gint64
input_at (const Draft *self, guint way, guint stage)
{
  gboolean is_down = way % 2 == 0;

  if (stage == (is_down ? 0 : self->n_stages - 1))
    return -1;
  return *end_of (self, way, is_down ? stage - 1 : stage + 1, self->places[stage].n_passes[way]);
}

static void
put (Draft *self, guint way, guint stage)
{
  Place *place = &self->places[stage];
  gboolean is_forward = way <= UP;
  guint micro = place->n_passes[way];
  gint64 begin = MAX (place->now, input_at (self, way, stage));

  g_assert (micro < self->n_micro);
  if (place->n_passes[DOWN] > 0)
    place->idle += begin - place->now;
  place->now = begin + (is_forward ? self->forward : self->inputs);
  place->n_passes[way]++;
  *end_of (self, way, stage, micro) = place->now;
  place->n_kept += is_forward ? 1 : 0;
  pipeline_add (place->actions, is_forward ? ACTION_FORWARD : ACTION_INPUTS,
                way == UP || way == BACK_DOWN ? 1 : 0, micro);
  if (!is_forward)
    place->held[place->n_held++] = way;
}

static gboolean
has_weights (const Draft *self, guint stage)
{
  return self->places[stage].n_freed < self->places[stage].n_held;
}

static void
put_weights (Draft *self, guint stage)
{
  Place *place = &self->places[stage];
  guint way = place->held[place->n_freed++];

  place->now += self->weights;
  place->n_kept--;
  pipeline_add (place->actions, ACTION_WEIGHTS, way == BACK_DOWN ? 1 : 0,
                place->n_weights[way - BACK_DOWN]++);
}

/* --- waits --- */

static gint64
most_idle (const Draft *self)
{
  gint64 most = 0;

  for (guint stage = 0; stage < self->n_stages; stage++)
    most = MAX (most, self->places[stage].idle);
  return most;
}

/* How long the stage may wait without making the longest wait of all longer. */
static gint64
may_wait (const Draft *self, guint stage)
{
  gint64 most = most_idle (self);

  if (self->approved != NULL)
    most = MAX (most, self->most_approved - self->approved[stage]);
  return most - self->places[stage].idle;
}

/* Does passes of weights while the input of the next pass is on its way. `fills`: also one that makes it late, where
 * the stage would wait too long. */
static void
fill_wait (Draft *self, guint way, guint stage, gboolean fills)
{
  const Place *place = &self->places[stage];
  gint64 input = input_at (self, way, stage);

  while (has_weights (self, stage) && input >= 0 && input >= place->now + self->weights)
    put_weights (self, stage);
  if (fills && has_weights (self, stage) && input - place->now > may_wait (self, stage))
    put_weights (self, stage);
}

/* --- a draft --- */

/* The first micro-batch goes down and up. Stages begin further ones while they wait for it to come up. */
static void
send_first (Draft *self)
{
  for (guint stage = 0; stage < self->n_stages; stage++)
    put (self, DOWN, stage);
  put (self, UP, self->n_stages - 1);
  for (guint stage = self->n_stages - 1; stage-- > 0;) {
    const Place *place = &self->places[stage];

    while (place->n_kept + 2 + 2 * stage <= 2 * self->n_stages
           && place->now + self->forward <= input_at (self, UP, stage)
           && place->n_passes[DOWN] < self->n_micro)
      for (guint i = 0; i <= stage; i++)
        put (self, DOWN, i);
    put (self, UP, stage);
  }
}

static gboolean
is_behind (const Draft *self, guint stage)
{
  const guint *n = self->places[stage].n_passes, *before = self->places[stage - 1].n_passes;

  return n[DOWN] + n[UP] < before[DOWN] + before[UP] || (n[UP] <= before[UP] && before[UP] < self->n_micro);
}

/* Later stages do as many forward passes as the ones before them. */
static void
catch_up (Draft *self)
{
  guint way = DOWN;

  for (guint stage = 1; stage < self->n_stages; stage++)
    while (is_behind (self, stage)) {
      for (guint i = self->n_stages; i-- > stage;)
        if (self->places[i].n_passes[way] < self->n_micro)
          put (self, way, i);
      way = way == DOWN ? UP : DOWN;
    }
}

/* Which backward pass a stage does next: the later half of its way as soon as its input is there. */
static gboolean
goes_back_up (const Draft *self, guint stage)
{
  const guint *n = self->places[stage].n_passes;

  if (n[BACK_UP] >= n[BACK_DOWN])
    return FALSE;
  return stage + 1 == self->n_stages || input_at (self, BACK_UP, stage) >= 0 || n[BACK_DOWN] >= self->n_micro;
}

static void
put_backward (Draft *self)
{
  g_autofree gboolean *is_up = g_new (gboolean, self->n_stages);

  for (guint stage = 0; stage < self->n_stages; stage++)
    is_up[stage] = goes_back_up (self, stage);
  for (guint stage = self->n_stages; stage-- > 0;)
    if (is_up[stage]) {
      fill_wait (self, BACK_UP, stage, TRUE);
      put (self, BACK_UP, stage);
    }
  for (guint stage = 0; stage < self->n_stages; stage++)
    if (!is_up[stage]) {
      fill_wait (self, BACK_DOWN, stage, self->fills_backward);
      put (self, BACK_DOWN, stage);
    }
}

/* Which forward pass a stage can do next; N_WAYS: none. */
static guint
next_forward (const Draft *self, guint stage)
{
  const guint *n = self->places[stage].n_passes;

  if (n[UP] >= self->n_micro)
    return N_WAYS;
  if (n[UP] >= n[DOWN])
    return DOWN;
  if (stage + 1 == self->n_stages || input_at (self, UP, stage) >= 0)
    return UP;
  return n[DOWN] < self->n_micro && (stage == 0 || input_at (self, DOWN, stage) >= 0) ? DOWN : N_WAYS;
}

static void
put_forward (Draft *self)
{
  for (guint stage = 0; stage < self->n_stages; stage++) {
    guint way = next_forward (self, stage);

    if (way == N_WAYS)
      continue;
    while (self->places[stage].n_kept + 1 > 2 * self->n_stages)
      put_weights (self, stage);
    fill_wait (self, way, stage, self->fills_forward);
    put (self, way, stage);
  }
}

static void
draft_clear (Draft *self)
{
  for (guint stage = 0; self->places != NULL && stage < self->n_stages; stage++) {
    g_free (self->places[stage].held);
    g_array_unref (self->places[stage].actions);
  }
  g_clear_pointer (&self->places, g_free);
  g_clear_pointer (&self->ends, g_free);
}

/* Makes a draft with the waits of the one before, or (NULL) without. */
static void
make_draft (Draft *self, const Draft *before)
{
  gsize n_ends = (gsize) N_WAYS * self->n_stages * self->n_micro;
  g_autofree gint64 *approved = before != NULL ? g_new (gint64, self->n_stages) : NULL;

  for (guint stage = 0; before != NULL && stage < self->n_stages; stage++)
    approved[stage] = before->places[stage].idle;
  self->approved = approved;
  self->most_approved = before != NULL ? most_idle (before) : 0;
  self->places = g_new0 (Place, self->n_stages);
  self->ends = g_new (gint64, n_ends);
  for (gsize i = 0; i < n_ends; i++)
    self->ends[i] = -1;
  for (guint stage = 0; stage < self->n_stages; stage++) {
    self->places[stage].held = g_new (guint, 2 * (gsize) self->n_micro);
    self->places[stage].actions = g_array_new (FALSE, FALSE, sizeof (Action));
  }
  send_first (self);
  catch_up (self);
  for (guint i = 0; i < 2 * self->n_micro; i++) {
    put_backward (self);
    put_forward (self);
  }
  for (guint stage = 0; stage < self->n_stages; stage++)
    while (has_weights (self, stage))
      put_weights (self, stage);
  self->approved = NULL;
}

/* Keeps the draft with the shorter longest wait, and of two alike the first. */
static gboolean
keep_better (Draft *best, Draft *other)
{
  gboolean is_better = best->places == NULL || most_idle (other) < most_idle (best);

  if (is_better) {
    draft_clear (best);
    *best = *other;
  } else {
    draft_clear (other);
  }
  return is_better;
}

void
pipeline_add_zero_bubble_v (GArray *const *actions, const PipelineSize *size)
{
  Draft best = { 0 };

  for (guint variant = 0; variant < 4; variant++) {
    Draft empty = { .n_stages = size->n_stages,
                    .n_micro = size->n_micro,
                    .forward = size->forward_cost > 0 ? size->forward_cost : 1,
                    .inputs = size->forward_cost > 0 ? size->inputs_cost : 1,
                    .weights = size->forward_cost > 0 ? size->weights_cost : 1,
                    .fills_forward = variant % 2 == 0,
                    .fills_backward = variant < 2 };
    Draft draft = empty;

    make_draft (&draft, NULL);
    for (gboolean is_better = TRUE; is_better;) {
      Draft again = empty;

      make_draft (&again, &draft);
      is_better = keep_better (&draft, &again);
    }
    keep_better (&best, &draft);
  }
  for (guint stage = 0; stage < size->n_stages; stage++) {
    const GArray *found = best.places[stage].actions;

    g_array_append_vals (actions[stage], found->data, found->len);
  }
  draft_clear (&best);
}
