/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/memory.h"

#include <string.h>

#include "models/workload/training/away.h"
#include "models/workload/training/kept.h"
#include "models/workload/training/memory_band.h"
#include "models/workload/training/pipeline.h"
#include "models/workload/training/stages.h"
#include "models/workload/training/streams.h"

/* Of mixed precision, where the optimizer keeps FP32 weights among its states. */
static const double master_bytes = 4;

static const double cast_bytes_each = 2; /* of a weight under autocast */
static const double n_handles = 2;       /* of cuBLAS: workspace_bytes () */

void
memory_add (const Stage *stage, FabJobTotals *totals, const char *name, double bytes)
{
  if (bytes > 0)
    fab_job_totals_add_memory (totals, stage->rank_class, name, (FabBytes) (bytes + 0.5));
}

/* --- states --- */

/* Bytes of one parameter. */
typedef struct {
  double weight, gradient, optimizer;
} StateBytes;

/* `optimizer_state` counts moments in FP32 and the master weight of mixed precision, which FP32 weights do not have;
 * pure 16-bit training has neither. */
static StateBytes
state_bytes (const Stage *stage, const MemoryShares *shares)
{
  const TrainParams *p = stage->train->params;
  double wide = (double) MAX (fab_precision_bytes ((FabPrecision) p->precision), 2);
  double states = (double) p->state_bytes_per_parameter, moments = MAX (states - master_bytes, 0);
  gint kind = p->memory.states;

  if (kind == STATES_AUTO)
    kind = shares->is_fp32 ? STATES_FP32 : STATES_MIXED;
  switch (kind) {
  case STATES_FP32: return (StateBytes){ 4, 4, moments };
  case STATES_PURE: return (StateBytes){ wide, wide, moments * wide / 4 };
  default: return (StateBytes){ wide, shares->gradient_bytes, states };
  }
}

/* --- moments of a step --- */

/* What a moment has beside parameters and states. */
typedef struct {
  double gradients, activations, logits, temporaries, casts, gathered, buckets;
  double waiting, waiting_logits; /* of activations and logits: those of micro-batches that wait */
  double logit_numbers;
} Moment;

static double
moment_bytes (const Moment *self)
{
  return self->gradients + self->activations + self->logits + self->temporaries + self->casts + self->gathered
       + self->buckets;
}

static void
keep_larger (Moment *most, const Moment *other)
{
  if (moment_bytes (other) > moment_bytes (most))
    *most = *other;
}

/* One part of the model that the stage has. */
typedef struct {
  Moment kept;    /* activations, logits and casts of a micro-batch that waits for its backward pass */
  Moment weights; /* the same of one that waits for the pass of its weights */
  Moment most;    /* what its backward pass has at most, with its own micro-batch and no other */
} Part;

typedef struct {
  const Stage *stage;
  const MemoryShares *shares;
  StateBytes state;
  gboolean casts_weights, grows;
} Walk;

static double
all_gradients (const Walk *self)
{
  return (double) self->stage->parameters * self->shares->gradients * self->state.gradient;
}

/* Blocks that are whole at once because they share one input. */
static guint
group_size (const Train *train)
{
  const TrainParams *p = train->params;

  return p->recompute == RECOMPUTE_FULL && p->recompute_method == RECOMPUTE_UNIFORM && p->recompute_layers > 1
           ? (guint) p->recompute_layers
           : 1;
}

/* What is recomputed of the layers [first, last]. */
static double
recomputed (const KeptLayer *layers, guint first, guint last)
{
  double bytes = 0;

  for (guint l = first; l <= last; l++)
    bytes += layers[l].whole - layers[l].kept;
  return bytes;
}

/* The first layer of the group that is recomputed together with layer `l` of a part. */
static guint
group_begin (const Walk *self, const Chunk *chunk, const KeptLayer *layers, guint l)
{
  guint n = group_size (self->stage->train), first = l;

  while (n > 1 && first > 0 && layers[first].kept <= 0
         && recompute_is_whole (self->stage->train, chunk->first_layer + first))
    first--;
  return first;
}

static double
layer_gradients (const Walk *self, guint layer)
{
  ParameterCount count = train_layer_count (self->stage->train, layer);

  return (double) (count.dense + count.experts) * self->shares->gradients * self->state.gradient;
}

/* What comes back from host memory for a layer and the one before it (away.h); it is there from then on. */
static double
come_back (KeptLayer *layers, guint l)
{
  double bytes = 0;

  for (guint i = l > 0 ? l - 1 : 0; i <= l; i++) {
    bytes += layers[i].is_away ? layers[i].kept : 0;
    layers[i].is_away = FALSE;
  }
  return bytes;
}

/* The moments of a part, from its last layer to its first. */
static Part
walk_part (const Walk *self, const Chunk *chunk)
{
  g_autofree KeptLayer *layers = g_new (KeptLayer, chunk->n_layers);
  Part part = { .most = { 0 } };
  Moment now = { .gradients = self->grows ? 0 : all_gradients (self), .gathered = self->shares->gathered };
  guint begin = chunk->n_layers;

  for (guint l = 0; l < chunk->n_layers; l++) {
    layers[l] = kept_layer (self->stage->train, chunk->first_layer + l, self->casts_weights);
    layers[l].is_away = away_is_used (self->stage->train, chunk->first_layer + l);
    part.kept.activations += layers[l].is_away ? 0 : layers[l].kept;
    part.kept.logits += layers[l].logits_kept;
    part.weights.activations += MIN (layers[l].inputs, layers[l].whole);
    now.casts += layers[l].casts;
  }
  now.activations = part.kept.activations;
  now.logits = part.kept.logits;
  for (guint l = chunk->n_layers; l-- > 0;) {
    now.activations += come_back (layers, l);
    Moment at = now;

    if (l < begin) {
      begin = group_begin (self, chunk, layers, l);
      now.activations += recomputed (layers, begin, l);
    }
    at.activations = now.activations;
    at.logits += layers[l].logits_most - layers[l].logits_kept;
    at.logit_numbers = layers[l].logit_numbers;
    at.temporaries = layers[l].logits_most > 0 ? 0 : layers[l].temporary;
    at.buckets = layers[l].logits_most > 0 ? 0 : self->shares->buckets;
    keep_larger (&part.most, &at);
    now.gradients += self->grows ? layer_gradients (self, chunk->first_layer + l) : 0;
    now.activations -= layers[l].whole;
    now.logits -= layers[l].logits_kept;
    now.casts -= layers[l].casts;
  }
  return part;
}

/* --- micro-batches --- */

static void
add_times (Moment *self, const Moment *other, gint n)
{
  self->activations += n * other->activations;
  self->logits += n * other->logits;
}

/* The largest moment of all backward passes, with the micro-batches that wait beside them. */
static Moment
walk_actions (const Walk *self, const Part *parts)
{
  const Stage *stage = self->stage;
  Moment most = { .gradients = all_gradients (self) }, alive = { 0 }; /* the optimizer */

  for (guint i = 0; i < stage->actions->len; i++) {
    const Action *action = &g_array_index (stage->actions, Action, i);
    const Part *part = &parts[action->chunk];

    if (action->kind == ACTION_FORWARD)
      add_times (&alive, &part->kept, 1);
    if (action->kind == ACTION_BACKWARD || action->kind == ACTION_INPUTS) {
      Moment now = part->most;

      add_times (&alive, &part->kept, -1);
      add_times (&now, &alive, 1);
      now.waiting = alive.activations;
      now.waiting_logits = alive.logits;
      keep_larger (&most, &now);
      if (action->kind == ACTION_INPUTS)
        add_times (&alive, &part->weights, 1);
    }
    if (action->kind == ACTION_WEIGHTS)
      add_times (&alive, &part->weights, -1);
  }
  return most;
}

static Moment
find_most (const Walk *self)
{
  const Stage *stage = self->stage;
  g_autofree Part *parts = g_new0 (Part, stage->chunks->len);

  for (guint c = 0; c < stage->chunks->len; c++)
    parts[c] = walk_part (self, &g_array_index (stage->chunks, Chunk, c));
  return walk_actions (self, parts);
}

/* --- all --- */

/* PyTorch takes 32 MiB for every handle of cuBLAS on Hopper and later, and 8 x 1 MiB and 16 x 8 KiB before
 * (aten/src/ATen/cuda/CublasHandlePool.cpp, getChosenWorkspaceSize). There are two handles: that of the thread of the
 * forward pass and that of autograd. */
static double
workspace_bytes (const Train *train)
{
  static const char *const before_hopper[] = { "pascal", "volta", "turing", "ampere", "ada", NULL };
  const char *architecture = train->env->cluster->device.architecture;
  gboolean is_old = architecture != NULL && g_strv_contains (before_hopper, architecture);

  return n_handles * (is_old ? 8519680 : 33554432);
}

/* Whether a layer of the stage before has a matrix of the same place and size. */
static gboolean
has_before (const Stage *stage, guint layer, const FabSegment *segment, const FabOperator *op)
{
  for (guint l = 0; l < layer; l++)
    for (guint s = 0;
         stage_has_layer (stage, l) && s < fab_layer_stack_layer (stage->train->stack, l)->segments->len;
         s++) {
      const FabSegment *other = fab_layer_segment (fab_layer_stack_layer (stage->train->stack, l), s);

      for (guint i = 0; strcmp (other->name, segment->name) == 0 && i < other->operators->len; i++) {
        const FabOperator *same = &g_array_index (other->operators, FabOperator, i);

        if (strcmp (same->name, op->name) == 0 && same->n == op->n && same->k == op->k)
          return TRUE;
      }
    }
  return FALSE;
}

static double
dummy_bytes (const Stage *stage)
{
  const Train *train = stage->train;
  double numbers = 0;

  for (guint l = 0; l < train->stack->layers->len; l++)
    for (guint s = 0;
         stage_has_layer (stage, l) && s < fab_layer_stack_layer (train->stack, l)->segments->len; s++) {
      const FabSegment *segment = fab_layer_segment (fab_layer_stack_layer (train->stack, l), s);

      for (guint i = 0; i < segment->operators->len; i++) {
        const FabOperator *op = &g_array_index (segment->operators, FabOperator, i);

        if (op->kind == FAB_OPERATOR_MATMUL && !op->is_frozen && !has_before (stage, l, segment, op))
          numbers += (double) op->n * (double) op->k / (op->is_split ? train->layout.size[AXIS_TENSOR] : 1);
      }
    }
  return numbers * (double) stage_weight_bytes (stage);
}

/* --- formulas --- */

static void
explain_product (const Stage *stage, FabJobTotals *totals, const char *part, double count, double share,
                 double each)
{
  fab_job_totals_add_formula (totals, &(FabMemoryFormula){ .rank_class = stage->rank_class,
                                                           .part = part,
                                                           .formula = "count * share * bytes_each",
                                                           .terms = { { "count", FALSE, count },
                                                                      { "share", FALSE, share },
                                                                      { "bytes_each", TRUE, each } } });
}

static void
explain_copies (const Stage *stage, FabJobTotals *totals, const char *part, double count, double each)
{
  fab_job_totals_add_formula (totals, &(FabMemoryFormula){ .rank_class = stage->rank_class,
                                                           .part = part,
                                                           .formula = "count * bytes_each",
                                                           .terms = { { "count", FALSE, count },
                                                                      { "bytes_each", TRUE, each } } });
}

/* `formula` has two names, in this order. */
static void
explain_two (const Stage *stage, FabJobTotals *totals, const char *part, const char *formula, FabMemoryTerm a,
             FabMemoryTerm b)
{
  fab_job_totals_add_formula (totals, &(FabMemoryFormula){ .rank_class = stage->rank_class,
                                                           .part = part,
                                                           .formula = formula,
                                                           .terms = { a, b } });
}

static void
explain_waiting (const Stage *stage, FabJobTotals *totals, const char *part, const char *formula,
                 double waiting, FabMemoryTerm count, FabMemoryTerm each)
{
  fab_job_totals_add_formula (totals,
                              &(FabMemoryFormula){ .rank_class = stage->rank_class,
                                                   .part = part,
                                                   .formula = formula,
                                                   .terms = { { "waiting", TRUE, waiting }, count, each } });
}

static void
explain_gradients (const Walk *self, FabJobTotals *totals, const Moment *most)
{
  const Stage *stage = self->stage;
  double all = all_gradients (self);

  if (most->gradients < all)
    explain_two (stage, totals, "gradients", "all - to_come", (FabMemoryTerm){ "all", TRUE, all },
                 (FabMemoryTerm){ "to_come", TRUE, all - most->gradients });
  else
    explain_product (stage, totals, "gradients", (double) stage->parameters, self->shares->gradients,
                     self->state.gradient);
  if (self->shares->has_streams)
    explain_two (stage, totals, MEMORY_OF_STREAMS, "gradients_later + buckets_later",
                 (FabMemoryTerm){ "gradients_later", TRUE, all - most->gradients },
                 (FabMemoryTerm){ "buckets_later", TRUE, self->shares->buckets - most->buckets });
}

static void
explain_moment (const Walk *self, FabJobTotals *totals, const Moment *most)
{
  const Stage *stage = self->stage;
  double tokens = stage->train->tokens, numbers = MAX (most->logit_numbers, 1);
  FabMemoryTerm of_tokens = { "tokens", FALSE, tokens };

  explain_gradients (self, totals, most);
  explain_waiting (stage, totals, "activations", "waiting + tokens * bytes_per_token", most->waiting,
                   of_tokens,
                   (FabMemoryTerm){ "bytes_per_token", TRUE, (most->activations - most->waiting) / tokens });
  explain_two (stage, totals, "temporaries", "tokens * bytes_per_token", of_tokens,
               (FabMemoryTerm){ "bytes_per_token", TRUE, most->temporaries / tokens });
  explain_waiting (stage, totals, "logits", "waiting + count * bytes_each", most->waiting_logits,
                   (FabMemoryTerm){ "count", FALSE, numbers },
                   (FabMemoryTerm){ "bytes_each", TRUE, (most->logits - most->waiting_logits) / numbers });
}

static void
explain_parts (const Walk *self, FabJobTotals *totals, const Moment *most)
{
  const Stage *stage = self->stage;

  explain_product (stage, totals, "parameters", (double) (stage->parameters + stage->frozen),
                   self->shares->parameters, self->state.weight);
  explain_product (stage, totals, "optimizer", (double) stage->parameters, self->shares->optimizer,
                   self->state.optimizer);
  explain_copies (stage, totals, "casts", most->casts / cast_bytes_each, cast_bytes_each);
  explain_copies (stage, totals, "dummies", dummy_bytes (stage) / (double) stage_weight_bytes (stage),
                  (double) stage_weight_bytes (stage));
  explain_copies (stage, totals, "workspace", n_handles, workspace_bytes (stage->train) / n_handles);
  explain_moment (self, totals, most);
}

void
memory_add_state (const Stage *stage, FabJobTotals *totals, const MemoryShares *shares)
{
  double parameters = (double) stage->parameters, all = parameters + (double) stage->frozen;
  Walk walk = { .stage = stage, .shares = shares, .state = state_bytes (stage, shares) };

  walk.casts_weights = walk.state.weight > (double) stage_weight_bytes (stage) && !shares->is_sharded;
  walk.grows = shares->grows && stage->train->n_micro == 1;
  Moment most = find_most (&walk);
  memory_add (stage, totals, "parameters", all * shares->parameters * walk.state.weight);
  memory_add (stage, totals, "gradients", most.gradients);
  memory_add (stage, totals, "optimizer", parameters * shares->optimizer * walk.state.optimizer);
  memory_add (stage, totals, "activations", most.activations);
  memory_add (stage, totals, "logits", most.logits);
  memory_add (stage, totals, "temporaries", most.temporaries);
  memory_add (stage, totals, "casts", most.casts);
  memory_add (stage, totals, "gathered", most.gathered);
  memory_add (stage, totals, "buckets", most.buckets + shares->always);
  if (shares->has_streams)
    memory_add (stage, totals, MEMORY_OF_STREAMS,
                all_gradients (&walk) - most.gradients + shares->buckets - most.buckets);
  memory_add (stage, totals, "dummies", shares->has_dummies ? dummy_bytes (stage) : 0);
  memory_add (stage, totals, "workspace", workspace_bytes (stage->train));
  explain_parts (&walk, totals, &most);
}
