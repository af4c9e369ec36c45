/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/overlap.h"

/* The last matrix that a segment divides, with whose result the ranks' sum begins; NULL: there is none. */
static const FabOperator *
last_matrix (const FabSegment *segment)
{
  const FabOperator *last = NULL;

  for (guint i = 0; i < segment->operators->len; i++) {
    const FabOperator *op = &g_array_index (segment->operators, FabOperator, i);

    if (op->kind == FAB_OPERATOR_MATMUL && op->is_split)
      last = op;
  }
  return last;
}

/* FLOPs of the divided matrices before the last one and before attention: they multiply what was gathered. */
static double
first_flops (const FabSegment *segment)
{
  const FabOperator *last = last_matrix (segment);
  double flops = 0;

  for (guint i = 0; i < segment->operators->len; i++) {
    const FabOperator *op = &g_array_index (segment->operators, FabOperator, i);

    if (op == last || op->kind == FAB_OPERATOR_ATTENTION)
      break;
    flops += op->kind == FAB_OPERATOR_MATMUL && op->is_split ? op->flops : 0;
  }
  return flops;
}

double
overlap_share (const Stage *stage, const FabSegment *segment, gboolean is_first)
{
  guint n = stage->train->layout.size[AXIS_TENSOR];
  const FabOperator *last = last_matrix (segment);
  double flops = is_first ? first_flops (segment) : last ? last->flops : 0;

  if (!stage->train->params->parallel.overlaps_tensor || stage->share < 1 || segment->expert_bytes > 0
      || segment->forward_flops <= 0)
    return 0;
  return flops / segment->forward_flops * (n - 1) / n;
}
