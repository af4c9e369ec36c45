/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/prices.h"

#include <math.h>

#include "models/workload/training/experts.h"

/* What is known of a segment in one kind of pass. NaN: not asked yet. */
typedef struct {
  double seconds;
  AttentionSpan attention;
} Price;

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

static Price *
prices_of (const Train *train, const FabSegment *segment)
{
  Price *prices = g_hash_table_lookup (train->prices, segment);

  if (prices == NULL) {
    prices = g_new (Price, N_PASS_KINDS);
    for (guint i = 0; i < N_PASS_KINDS; i++)
      prices[i] = (Price){ .seconds = NAN, .attention = { NAN, NAN } };
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
  double *seconds = &prices_of (train, segment)[kind].seconds;

  if (isnan (*seconds))
    *seconds = find_price (train, layer, segment, kind);
  return slowed (train, layer, segment, *seconds);
}

double
train_part_seconds (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind)
{
  return slowed (train, layer, segment, find_price (train, layer, segment, kind));
}

/* What consecutive operators of a segment take: seconds, or FLOPs where the compute model has times of whole layers. */
static double
operators_price (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind,
                 guint first, guint end)
{
  const FabComputeOps *ops = (const FabComputeOps *) train->params->compute.info;
  FabSegment part = *segment;
  g_autoptr (GArray) operators = g_array_new (FALSE, FALSE, sizeof (FabOperator));

  if (first == end)
    return 0;
  g_array_append_vals (operators, &g_array_index (segment->operators, FabOperator, first), end - first);
  part.operators = operators;
  if (ops->parts != NULL)
    return find_price (train, layer, &part, kind);
  FabPass pass = pass_of (train, layer, &part, kind);
  return fab_pass_flops (&pass);
}

static AttentionSpan
find_attention (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind)
{
  guint n = segment->operators->len, first = n, end = n;

  for (guint i = 0; i < n; i++)
    if (g_array_index (segment->operators, FabOperator, i).kind == FAB_OPERATOR_ATTENTION) {
      first = MIN (first, i);
      end = i + 1;
    }
  double before = operators_price (train, layer, segment, kind, 0, first);
  double attention = operators_price (train, layer, segment, kind, first, end);
  double after = operators_price (train, layer, segment, kind, end, n);
  double all = before + attention + after;
  double start = kind == PASS_FORWARD ? before : after;

  return all > 0 ? (AttentionSpan){ start / all, (start + attention) / all } : (AttentionSpan){ 0, 0 };
}

AttentionSpan
train_attention_span (const Train *train, const FabLayer *layer, const FabSegment *segment, PassKind kind)
{
  Price *price = &prices_of (train, segment)[kind];

  if (isnan (price->attention.start))
    price->attention = find_attention (train, layer, segment, kind);
  return price->attention;
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
