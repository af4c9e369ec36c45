/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/memory.h"

#include <string.h>

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

/* --- hints --- */

static double
part_bytes (const FabJobTotals *totals, guint rank_class, const char *name)
{
  for (guint i = 0; i < totals->memory->len; i++) {
    const FabMemoryPart *part = &g_array_index (totals->memory, FabMemoryPart, i);

    if (part->rank_class == rank_class && strcmp (part->part, name) == 0)
      return (double) part->bytes;
  }
  return 0;
}

static const Stage *
fullest_stage (const Train *train, const FabJobTotals *totals)
{
  const Stage *fullest = &train->stages[0];

  for (guint s = 1; s < train->n_stages * train->n_bins; s++)
    if (fab_job_totals_memory (totals, train->stages[s].rank_class)
        > fab_job_totals_memory (totals, fullest->rank_class))
      fullest = &train->stages[s];
  return fullest;
}

/* A change of the job, and the bytes that it frees. */
typedef struct {
  const char *change; /* "recompute: full", as a scenario writes it */
  double freed_bytes;
  gboolean frees_state; /* it frees parameters, gradients or optimizer states; else activations */
} Remedy;

static void
add_hint (FabJobTotals *totals, const char *change, double left_bytes)
{
  fab_job_totals_add_hint (totals, g_strdup_printf ("with %s: %.3g GB", change, left_bytes / 1e9));
}

/* Chooses every single change that is enough. If there is none, the two strongest, if they are enough together. */
static void
choose (FabJobTotals *totals, const Remedy *remedies, guint n, double bytes, double capacity)
{
  for (guint i = 0; i < n; i++)
    if (remedies[i].freed_bytes > 0 && bytes - remedies[i].freed_bytes <= capacity)
      add_hint (totals, remedies[i].change, bytes - remedies[i].freed_bytes);
  if (totals->hints != NULL)
    return;
  for (guint i = 1; i < n; i++) {
    if (remedies[i].frees_state)
      continue;
    g_autofree char *both = g_strdup_printf ("%s and %s", remedies[0].change, remedies[i].change);
    double left = bytes - remedies[0].freed_bytes - remedies[i].freed_bytes;

    if (remedies[0].freed_bytes > 0 && remedies[i].freed_bytes > 0 && left <= capacity)
      add_hint (totals, both, left);
  }
  if (totals->hints == NULL)
    fab_job_totals_add_hint (totals,
                             g_strdup ("no single change is enough: divide the model further (parallel), or "
                                       "use more GPUs"));
}

void
memory_add_hints (const Train *train, FabJobTotals *totals)
{
  double capacity = (double) train->env->cluster->device.memory_bytes;
  const Stage *stage = fullest_stage (train, totals);
  double bytes = (double) fab_job_totals_memory (totals, stage->rank_class);
  double optimizer = part_bytes (totals, stage->rank_class, "optimizer");
  double activations = part_bytes (totals, stage->rank_class, "activations");
  double state = (double) stage->parameters * (double) train->params->state_bytes_per_parameter;
  double whole = part_bytes (totals, stage->rank_class, "parameters")
               + part_bytes (totals, stage->rank_class, "gradients") + optimizer;
  guint n = stage_n_replicas (stage);
  double all = (double) stage->parameters
             * (double) (stage_weight_bytes (stage) + 4 + train->params->state_bytes_per_parameter);
  gboolean is_whole = optimizer > state * 0.99;
  const Remedy remedies[] = {
    { "every state sharded over all ranks (kind: fsdp, or zero with stage: 3)", MAX (whole - all / n, 0),
      TRUE },
    { "optimizer states sharded (kind: zero with stage: 1)", is_whole ? optimizer * (1 - 1.0 / n) : 0, TRUE },
    { "recompute: full", activations - activation_bytes (stage, RECOMPUTE_FULL), FALSE },
    { "micro_batch: 1", activations * (1 - 1.0 / (double) train->params->micro_batch), FALSE },
    { "parallel.tensor twice as large", (whole + activations) / 2, TRUE },
    { "parallel.pipeline twice as large", whole / 2, TRUE },
  };

  if (capacity > 0 && bytes > capacity)
    choose (totals, remedies, G_N_ELEMENTS (remedies), bytes, capacity);
}
