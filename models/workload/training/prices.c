/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/prices.h"

#include <math.h>

#include "models/workload/training/experts.h"

gboolean
train_has_own_grid (const Train *train, const FabSegment *segment)
{
  return train->layout.is_folded && segment->expert_bytes > 0;
}

static FabPass
pass_of (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind)
{
  const Layout *layout = &train->layout;
  double apart = train->tokens / (train->params->parallel.is_sequence ? layout->size[AXIS_TENSOR] : 1);
  gboolean has_own_grid = train_has_own_grid (train, segment);

  return (FabPass){ .layer = layer,
                    .segment = segment,
                    .is_backward = kind != PASS_FORWARD,
                    .gradients = kind == PASS_INPUTS  ? FAB_GRADIENTS_INPUTS
                               : kind == PASS_WEIGHTS ? FAB_GRADIENTS_WEIGHTS
                                                      : FAB_GRADIENTS_ALL,
                    .tokens = has_own_grid ? apart * layout->n_expert_tensor : train->tokens,
                    .n_split = has_own_grid ? layout->n_expert_tensor : layout->size[AXIS_TENSOR],
                    .n_expert = layout->n_expert,
                    .precision = (FabPrecision) train->params->precision,
                    .is_accumulating = train->n_micro > 1,
                    .software = &train->software,
                    .shared_tokens = apart,
                    .routing = experts_routed_tokens (train) };
}

/* Of the compute model, without what slows kernels down. */
static double
find_price (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;
  FabPass pass = pass_of (train, layer, segment, kind);

  return ops->seconds (train->params->compute.params, &train->env->cluster->device, &pass);
}

static double *
prices_of (const Train *train, const FabSegment *segment)
{
  double *prices = g_hash_table_lookup (train->prices, segment);

  if (prices == NULL) {
    prices = g_new (double, N_PASS_KINDS);
    for (guint i = 0; i < N_PASS_KINDS; i++)
      prices[i] = NAN;
    g_hash_table_insert (train->prices, (gpointer) segment, prices);
  }
  return prices;
}

static double
slowed (const Train *train, const FabLayer *layer, const FabSegment *segment, double seconds)
{
  return seconds * train->waiting * train->setup.time_factor * experts_load (train, layer, segment);
}

double
train_segment_seconds (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind)
{
  double *price = &prices_of (train, segment)[kind];

  if (isnan (*price))
    *price = find_price (train, layer, segment, kind);
  return slowed (train, layer, segment, *price);
}

double
train_part_seconds (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind)
{
  return slowed (train, layer, segment, find_price (train, layer, segment, kind));
}

static double
whole_pass_seconds (const Train *train, const FabLayer *layer, PassKind kind)
{
  double seconds = 0;

  for (guint s = 0; s < layer->segments->len; s++)
    seconds += train_segment_seconds (train, layer, fab_layer_segment (layer, s), kind);
  return seconds;
}

double
train_pass_seconds (const Train *train, guint layer, PassKind kind)
{
  return whole_pass_seconds (train, fab_layer_stack_layer (train->stack, layer), kind);
}

double
train_layer_seconds (const Train *train, guint index)
{
  const FabLayer *layer = fab_layer_stack_layer (train->stack, index);

  return whole_pass_seconds (train, layer, PASS_FORWARD) + whole_pass_seconds (train, layer, PASS_BACKWARD);
}

static void
add_layer_parts (const Train *train, const FabLayer *layer, FabJobTotals *totals)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;
  const FabDevice *device = &train->env->cluster->device;

  for (guint s = 0; s < layer->segments->len; s++) {
    FabPass forward = pass_of (train, layer, fab_layer_segment (layer, s), PASS_FORWARD);
    FabPass backward = pass_of (train, layer, fab_layer_segment (layer, s), PASS_BACKWARD);

    ops->parts (train->params->compute.params, device, &forward, &totals->parts);
    ops->parts (train->params->compute.params, device, &backward, &totals->parts);
    if (ops->attention != NULL)
      totals->attention = ops->attention (train->params->compute.params, device, &forward);
  }
}

void
train_add_parts (const Train *train, FabJobTotals *totals)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;
  const Stage *stage = &train->stages[0];

  for (guint c = 0; ops->parts != NULL && c < stage->chunks->len; c++) {
    const Chunk *chunk = &g_array_index (stage->chunks, Chunk, c);

    for (guint l = chunk->first_layer; l < chunk->first_layer + chunk->n_layers; l++)
      add_layer_parts (train, fab_layer_stack_layer (train->stack, l), totals);
  }
}
