/* SPDX-License-Identifier: Apache-2.0 */
/* dualpipe and dualpipe_v, step by step as in deepseek-ai/DualPipe, dualpipe/dualpipe.py and dualpipev.py.
 *
 * A stage does passes of two directions. The near one is that whose micro-batches enter at the nearer end of the
 * stages; in the V it is the way down. The place of a stage is its distance from that end. */
#include "models/workload/training/pipeline_rules.h"

typedef enum { NEAR, FAR } Direction;

/* One stage while its actions are being listed. */
typedef struct {
  GArray *actions;
  guint n_places, place;    /* stages of one direction until its middle, and how many are before this one */
  guint n_micro;            /* micro-batches of one direction */
  guint chunk[2], first[2]; /* of a direction: part of the stage, and first micro-batch */
  guint n_forward[2], n_backward[2]; /* passes so far */
  GQueue *held; /* passes of weights that are to come, as chunk and micro-batch in turn */
} Dual;

static void
add_forward (Dual *self, Direction way)
{
  pipeline_add (self->actions, ACTION_FORWARD, self->chunk[way], self->first[way] + self->n_forward[way]++);
}

static void
add_backward (Dual *self, Direction way)
{
  pipeline_add (self->actions, ACTION_BACKWARD, self->chunk[way], self->first[way] + self->n_backward[way]++);
}

/* The backward pass of the activations. That of the weights is held back. */
static void
add_inputs (Dual *self, Direction way)
{
  guint micro = self->first[way] + self->n_backward[way]++;

  pipeline_add (self->actions, ACTION_INPUTS, self->chunk[way], micro);
  g_queue_push_tail (self->held, GUINT_TO_POINTER (self->chunk[way]));
  g_queue_push_tail (self->held, GUINT_TO_POINTER (micro));
}

static void
add_weights (Dual *self)
{
  guint chunk = GPOINTER_TO_UINT (g_queue_pop_head (self->held));

  pipeline_add (self->actions, ACTION_WEIGHTS, chunk, GPOINTER_TO_UINT (g_queue_pop_head (self->held)));
}

/* A forward pass of one direction together with a backward pass of the other. */
static void
add_pair (Dual *self, Direction forward)
{
  add_forward (self, forward);
  g_array_index (self->actions, Action, self->actions->len - 1).is_pair = TRUE;
  add_backward (self, forward == NEAR ? FAR : NEAR);
}

/* Steps 1 to 3 of the source. */
static void
begin (Dual *self)
{
  guint n_after = self->n_places - 1 - self->place;

  for (guint i = 0; i < 2 * n_after; i++)
    add_forward (self, NEAR);
  for (guint i = 0; i <= self->place; i++) {
    add_forward (self, NEAR);
    add_forward (self, FAR);
  }
  for (guint i = 0; i < n_after; i++) {
    add_inputs (self, FAR);
    add_weights (self);
    add_forward (self, FAR);
  }
}

/* Step 4. The stages in the middle do not overlap their first pair, which makes the bubble smaller. */
static void
go_on (Dual *self)
{
  guint n = self->n_micro - 2 * self->n_places + self->place + 1;

  for (guint i = 0; i < n; i++) {
    add_pair (self, NEAR);
    if (i == 0 && self->place + 1 == self->n_places)
      g_array_index (self->actions, Action, self->actions->len - 2).is_pair = FALSE;
    add_pair (self, FAR);
  }
}

/* Steps 5 to 8. Of the last backward passes the second half leaves the weights for the end. */
static void
end (Dual *self)
{
  guint n_after = self->n_places - 1 - self->place, n_last = self->place + 1;
  gboolean is_odd = self->place % 2 == 1;

  for (guint i = 0; i < n_after; i++) {
    add_backward (self, FAR);
    add_pair (self, FAR);
  }
  for (guint i = 0; i < n_last; i++) {
    gboolean is_behind = i > n_last / 2, is_half = i == n_last / 2;

    (is_behind || (is_half && is_odd) ? add_inputs : add_backward) (self, FAR);
    (is_behind || is_half ? add_inputs : add_backward) (self, NEAR);
  }
  for (guint i = 0; i < n_after; i++) {
    add_weights (self);
    add_inputs (self, NEAR);
  }
  for (guint i = 0; i < n_last; i++)
    add_weights (self);
}

static void
add_dual (Dual *self)
{
  self->held = g_queue_new ();
  begin (self);
  go_on (self);
  end (self);
  g_assert (g_queue_is_empty (self->held));
  g_queue_free (self->held);
}

/* Part 0 of a stage has the micro-batches that go down the stages, part 1 those that go up. */
void
pipeline_add_dualpipe (GArray *actions, const PipelineSize *size, guint stage)
{
  gboolean is_behind = stage >= size->n_stages / 2;
  guint half = size->n_micro / 2, near = is_behind ? 1 : 0;
  Dual self = { .actions = actions,
                .n_places = size->n_stages / 2,
                .place = is_behind ? size->n_stages - 1 - stage : stage,
                .n_micro = half,
                .chunk = { near, 1 - near },
                .first = { near * half, (1 - near) * half } };

  add_dual (&self);
}

void
pipeline_add_dualpipe_v (GArray *actions, const PipelineSize *size, guint stage)
{
  Dual self = { .actions = actions,
                .n_places = size->n_stages,
                .place = stage,
                .n_micro = size->n_micro,
                .chunk = { 0, 1 } };

  add_dual (&self);
}
