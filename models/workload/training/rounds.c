/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/rounds.h"

#include "models/workload/training/streams.h"

void
rounds_begin (Stage *stage, const FabLayer *layer, const FabSegment *segment, gboolean is_backward,
              double start_s, double end_s)
{
  guint n = fab_concurrent_groups_n_ranks (stage->context);

  stage->rounds = (Rounds){ .n = n,
                            .is_backward = is_backward,
                            .layer = layer,
                            .segment = segment,
                            .start_s = start_s,
                            .round_s = MAX (end_s - start_s, 0) / n };
}

/* Sends keys and values to the next rank, `times` 2 with their gradients: after what the pass has so far, or after
 * another task. */
static void
send (Stage *stage, guint times, gboolean is_of_pass, const FabTaskId *after)
{
  Rounds *self = &stage->rounds;
  const Train *train = stage->train;
  double bytes = times * self->segment->context_bytes / train->layout.size[AXIS_TENSOR] * train->tokens
               * stage->share;
  Comm comm = { STREAM_CONTEXT, FAB_DIMENSION_CONTEXT, stage->context, FAB_OP_SEND_RECV,
                (FabBytes) (bytes + 0.5) };
  char *name = g_strconcat (self->layer->name, ".", self->segment->name, NULL);

  self->has_exchange = is_of_pass
                         ? stage_comm_of_pass (stage, &comm, train->env->library, name, &self->exchange)
                         : stage_comm_after (stage, &comm, name, after, &self->exchange);
}

static void
wait_for_exchange (Stage *stage)
{
  if (stage->rounds.has_exchange)
    stage_wait (stage, stage->rounds.exchange);
  stage->rounds.has_exchange = FALSE;
}

static void
begin_forward (Stage *stage, guint round)
{
  Rounds *self = &stage->rounds;

  if (round > 0)
    wait_for_exchange (stage);
  if (round + 1 < self->n)
    send (stage, 1, round == 0, self->has_before ? &self->before : NULL);
  self->has_before = stage->has_compute;
  self->before = stage->last_compute;
}

static void
begin_backward (Stage *stage, guint round)
{
  const Rounds *self = &stage->rounds;

  if (round > 0)
    wait_for_exchange (stage);
  if (round < self->n)
    send (stage, round == 0 || round + 1 == self->n ? 1 : 2, TRUE, NULL);
}

/* Begins the next round, or ends the last one. */
static void
begin_next (Stage *stage)
{
  Rounds *self = &stage->rounds;
  guint round = self->next++;

  if (self->is_backward)
    begin_backward (stage, round);
  else
    begin_forward (stage, round);
}

/* The rounds that begin, and in a backward pass the end of the last one. */
static guint
n_begins (const Rounds *self)
{
  return self->is_backward ? self->n + 1 : self->n;
}

/* Computes the part of a task before a round. */
static void
compute_part (Stage *stage, double seconds, const char *name)
{
  const Rounds *self = &stage->rounds;

  stage_compute (stage, seconds,
                 self->next == 0 ? g_strconcat (name, ".start", NULL)
                                 : g_strdup_printf ("%s.round%u", name, self->next));
}

/* Begins what is due when the task that has been computed last ends. */
static void
begin_due (Stage *stage, double least_s)
{
  const Rounds *self = &stage->rounds;

  while (self->next < n_begins (self) && self->start_s + self->next * self->round_s <= self->at_s + least_s)
    begin_next (stage);
}

void
rounds_compute (Stage *stage, double seconds, char *name)
{
  Rounds *self = &stage->rounds;
  double least_s = 1e-9 * (self->start_s + self->n * self->round_s), end_s = self->at_s + seconds;

  if (self->n == 0) {
    stage_compute (stage, seconds, name);
    return;
  }
  begin_due (stage, least_s);
  while (self->next < n_begins (self) && self->start_s + self->next * self->round_s < end_s - least_s) {
    double next_s = self->start_s + self->next * self->round_s;

    compute_part (stage, next_s - self->at_s, name);
    self->at_s = next_s;
    begin_due (stage, least_s);
  }
  stage_compute (stage, end_s - self->at_s, name);
  self->at_s = end_s;
  begin_due (stage, least_s);
}

void
rounds_end (Stage *stage)
{
  while (stage->rounds.n > 0 && stage->rounds.next < n_begins (&stage->rounds))
    begin_next (stage);
  stage->rounds = (Rounds){ 0 };
}
