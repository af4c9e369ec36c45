/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/memory.h"

#include "models/workload/training/pipeline.h"

void
memory_add (const Stage *stage, FabJobTotals *totals, const char *name, double bytes)
{
  if (bytes > 0)
    fab_job_totals_add_memory (totals, stage->rank_class, name, (FabBytes) (bytes + 0.5));
}

/* Bytes per token of one micro-batch that a layer keeps for its backward pass. */
static double
kept_bytes (const Train *train, const FabLayer *layer, Recompute recompute)
{
  guint n_tensor = train->layout.size[AXIS_TENSOR];
  double whole = 0, split = 0, scores = 0;

  for (guint s = 0; s < layer->segments->len; s++) {
    const FabSegment *segment = fab_layer_segment (layer, s);

    whole += segment->saved_whole_bytes;
    split += segment->saved_split_bytes;
    scores += segment->saved_score_bytes;
  }
  if (recompute != RECOMPUTE_NONE)
    scores = 0;
  if (train->params->parallel.is_sequence)
    whole /= n_tensor;
  return whole + (split + scores) / n_tensor;
}

static double
boundary_bytes (const Train *train, const FabLayer *layer)
{
  return layer->hidden_bytes / (train->params->parallel.is_sequence ? train->layout.size[AXIS_TENSOR] : 1);
}

/* The largest number of micro-batches of one part of the model whose activations are alive at once. */
static guint
count_alive (const Stage *stage, guint chunk)
{
  const PipelineSchedule *schedule = pipeline_schedule (stage->train->params->parallel.schedule);
  ActionKind last = schedule->splits_backward
                      ? ACTION_WEIGHTS
                      : ACTION_BACKWARD; /* the last pass that needs the activations */
  guint alive = 0, most = 0;

  for (guint i = 0; i < stage->actions->len; i++) {
    const Action *action = &g_array_index (stage->actions, Action, i);

    if (action->chunk != chunk)
      continue;
    if (action->kind == ACTION_FORWARD) {
      alive++;
      most = MAX (most, alive);
    } else if (action->kind == last)
      alive--;
  }
  return most;
}

static double
chunk_bytes (const Stage *stage, guint index, Recompute recompute)
{
  const Train *train = stage->train;
  const Chunk *chunk = &g_array_index (stage->chunks, Chunk, index);
  double kept = 0, largest = 0;

  for (guint l = chunk->first_layer; l < chunk->first_layer + chunk->n_layers; l++) {
    const FabLayer *layer = fab_layer_stack_layer (train->stack, l);
    gboolean is_recomputed = recompute == RECOMPUTE_FULL && layer->is_block;

    kept += is_recomputed ? boundary_bytes (train, layer) : kept_bytes (train, layer, recompute);
    if (is_recomputed)
      largest = MAX (largest, kept_bytes (train, layer, recompute));
  }
  return (kept * count_alive (stage, index) + largest) * train->tokens;
}

/* Bytes of the activations of all parts of the model that the stage has. */
static double
activation_bytes (const Stage *stage, Recompute recompute)
{
  FabPrecision precision = (FabPrecision) stage->train->params->precision;
  double bytes = 0;

  for (guint c = 0; c < stage->chunks->len; c++)
    bytes += chunk_bytes (stage, c, recompute);
  return bytes / 2 * (double) MAX (fab_precision_bytes (precision), 2);
}

void
memory_add_state (const Stage *stage, FabJobTotals *totals, const MemoryShares *shares)
{
  const TrainParams *p = stage->train->params;
  double parameters = (double) stage->parameters, all = parameters + (double) stage->frozen;
  double weight_bytes = (double) MAX (fab_precision_bytes ((FabPrecision) p->precision), 2);

  memory_add (stage, totals, "parameters", all * shares->parameters * weight_bytes);
  memory_add (stage, totals, "gradients", parameters * shares->gradients * shares->gradient_bytes);
  memory_add (stage, totals, "optimizer",
              parameters * shares->optimizer * (double) p->state_bytes_per_parameter);
  memory_add (stage, totals, "activations", activation_bytes (stage, (Recompute) p->recompute));
}
