/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/layout.h"

#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/base/order.h"

/* Checks and sets the grid of the experts. */
static gboolean
init_experts (Layout *self, const ParallelParams *params, GError **error)
{
  guint n_ranks = self->size[AXIS_TENSOR] * self->size[AXIS_CONTEXT] * self->size[AXIS_DATA];

  self->n_expert_tensor = (guint) (params->expert_tensor > 0 ? params->expert_tensor : params->tensor);
  self->is_folded = params->expert_tensor > 0;
  if (!self->is_folded)
    return self->size[AXIS_DATA] % self->n_expert == 0
        || fab_throw (
               error, FAB_ERROR_INPUT,
               "%u data-parallel ranks cannot be divided by expert: %u; with expert_tensor: 1 experts span "
               "tensor and context too",
               self->size[AXIS_DATA], self->n_expert);
  if (n_ranks % (self->n_expert * self->n_expert_tensor) != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%u ranks of a stage cannot be divided by expert x expert_tensor = %u x %u", n_ranks,
                      self->n_expert, self->n_expert_tensor);
  if (!self->is_expert_inner || self->stride[AXIS_TENSOR] > self->stride[AXIS_DATA]
      || self->stride[AXIS_CONTEXT] > self->stride[AXIS_DATA])
    return fab_throw (error, FAB_ERROR_INPUT, "expert_tensor needs tp, cp and ep before dp in the order");
  return TRUE;
}

gboolean
layout_init (Layout *self, const FabCluster *cluster, const ParallelParams *params, GError **error)
{
  guint axes[N_AXES + 1], n, stride = 1;
  guint n_ranks = fab_cluster_n_ranks (cluster);
  gint64 model = params->tensor * params->context * params->pipeline;
  gboolean is_parsed = parallel_order (params->order, axes, &n);

  g_assert (is_parsed); /* checked with the parameters */
  *self = (Layout){ .cluster = cluster, .n_ranks = n_ranks, .n_expert = (guint) params->expert };
  if (model > n_ranks || n_ranks % model != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%u ranks cannot be divided by tensor x context x pipeline = %" G_GINT64_FORMAT " x "
                      "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT,
                      n_ranks, params->tensor, params->context, params->pipeline);
  self->size[AXIS_TENSOR] = (guint) params->tensor;
  self->size[AXIS_CONTEXT] = (guint) params->context;
  self->size[AXIS_PIPELINE] = (guint) params->pipeline;
  self->size[AXIS_DATA] = (guint) (n_ranks / model);
  self->is_expert_inner = TRUE;
  for (guint i = 0, is_data_seen = FALSE; i < n; i++) {
    if (axes[i] == N_AXES) {
      self->is_expert_inner = !is_data_seen;
      continue;
    }
    is_data_seen |= axes[i] == AXIS_DATA;
    self->stride[axes[i]] = stride;
    stride *= self->size[axes[i]];
  }
  return init_experts (self, params, error);
}

/* --- groups --- */

/* The values that a coordinate takes within a group, and from one group to the next. */
typedef struct {
  guint n_in, in_step; /* in the group */
  guint n_out, out_step, first;
} Span;

static Span
span_of (const Layout *self, const Selection *selection, Axis axis)
{
  guint size = self->size[axis], first = 0, n = size, block = MAX (selection->block, 1);

  if (axis == AXIS_PIPELINE) {
    first = selection->first_stage;
    n = selection->n_stages;
    if (selection->has_twin)
      return (Span){ 2, size - 1 - 2 * first, 1, 0, first };
  }
  if (axis == AXIS_DATA) {
    first = selection->first_data;
    n = selection->n_data;
    g_assert (size % block == 0 && first + n <= size);
    switch (selection->data) {
    case DATA_RUNS: return (Span){ block, 1, n / block, block, first };
    case DATA_EVERY: return (Span){ n / block, block, block, 1, first };
    case DATA_ALL: return (Span){ n, 1, 1, 0, first };
    case DATA_ONE:
    default: return (Span){ 1, 0, n, 1, first };
    }
  }
  return selection->varies[axis] ? (Span){ n, 1, 1, 0, first } : (Span){ 1, 0, n, 1, first };
}

/* Sorts the axes by stride, the smallest first, so that ranks come out in ascending order. */
static void
sort_axes (const Layout *self, Axis *axes)
{
  for (guint i = 0; i < N_AXES; i++)
    axes[i] = (Axis) i;
  for (guint i = 1; i < N_AXES; i++)
    for (guint j = i; j > 0 && self->stride[axes[j]] < self->stride[axes[j - 1]]; j--) {
      Axis swap = axes[j];

      axes[j] = axes[j - 1];
      axes[j - 1] = swap;
    }
}

/* The rank of the index-th combination of coordinates. */
static guint
combine (const Layout *self, const Axis *axes, const Span *spans, gboolean is_group, guint index)
{
  guint rank = 0;

  for (guint i = 0; i < N_AXES; i++) {
    const Span *span = &spans[axes[i]];
    guint n = is_group ? span->n_out : span->n_in, step = is_group ? span->out_step : span->in_step;

    rank += (index % n * step + (is_group ? span->first : 0)) * self->stride[axes[i]];
    index /= n;
  }
  return rank;
}

/* Groups of the experts' grid among the ranks of one stage, which are in ascending order. With `has_twin` each group
 * has the ranks at the same places of the other stage too. */
static FabConcurrentGroups *
folded_groups (const Layout *self, const Selection *selection)
{
  guint n = selection->n_data * self->size[AXIS_TENSOR] * self->size[AXIS_CONTEXT];
  guint shared = self->n_expert_tensor, block = shared * self->n_expert;
  guint n_ranks = selection->fold == FOLD_EXPERT        ? self->n_expert
                : selection->fold == FOLD_EXPERT_TENSOR ? shared
                                                        : n / block;
  guint step = selection->fold == FOLD_EXPERT ? shared : selection->fold == FOLD_EXPERT_TENSOR ? 1 : block;
  g_autofree guint *all = layout_ranks (self, selection->first_stage, selection->first_data,
                                        selection->n_data);
  guint n_stages = selection->has_twin ? 2 : 1, n_all = n_ranks * n_stages;
  guint apart = (self->size[AXIS_PIPELINE] - 1 - 2 * selection->first_stage) * self->stride[AXIS_PIPELINE];
  g_autofree guint *ranks = g_new (guint, n * n_stages);

  g_assert (n % block == 0 && selection->n_stages == 1);
  for (guint group = 0; group < n / n_ranks; group++) {
    for (guint i = 0; i < n_all; i++)
      ranks[group * n_all + i] = all[group / step * step * n_ranks + group % step + i % n_ranks * step]
                               + i / n_ranks * apart;
    /* Stages that vary fast have ranks between each other's. */
    qsort (ranks + group * n_all, n_all, sizeof (guint), fab_order_guints);
  }
  return fab_concurrent_groups_new (self->cluster, ranks, n / n_ranks, n_all);
}

FabConcurrentGroups *
layout_concurrent_groups (const Layout *self, const Selection *selection)
{
  Axis axes[N_AXES];
  Span spans[N_AXES];
  guint n_ranks = 1, n_groups = 1;

  if (selection->fold != FOLD_NONE)
    return folded_groups (self, selection);
  sort_axes (self, axes);
  for (Axis axis = 0; axis < N_AXES; axis++) {
    spans[axis] = span_of (self, selection, axis);
    n_ranks *= spans[axis].n_in;
    n_groups *= spans[axis].n_out;
  }
  g_autofree guint *ranks = g_new (guint, (gsize) n_groups * n_ranks);
  for (guint group = 0; group < n_groups; group++)
    for (guint i = 0; i < n_ranks; i++)
      ranks[group * n_ranks + i] = combine (self, axes, spans, TRUE, group)
                                 + combine (self, axes, spans, FALSE, i);
  return fab_concurrent_groups_new (self->cluster, ranks, n_groups, n_ranks);
}

guint *
layout_ranks (const Layout *self, guint stage, guint first_data, guint n_data)
{
  Selection selection = { .first_stage = stage, .n_stages = 1, .first_data = first_data, .n_data = n_data };
  Axis axes[N_AXES];
  Span spans[N_AXES];
  guint n = 1;

  sort_axes (self, axes);
  for (Axis axis = 0; axis < N_AXES; axis++) {
    spans[axis] = span_of (self, &selection, axis);
    n *= spans[axis].n_out;
  }
  guint *ranks = g_new (guint, n);
  for (guint i = 0; i < n; i++)
    ranks[i] = combine (self, axes, spans, TRUE, i);
  return ranks;
}

FabConcurrentGroups *
layout_pairs (const Layout *self, guint from, guint to, guint first_data, guint n_data)
{
  guint apart = (MAX (from, to) - MIN (from, to)) * self->stride[AXIS_PIPELINE];
  guint n = n_data * self->size[AXIS_TENSOR] * self->size[AXIS_CONTEXT];
  g_autofree guint *lower = layout_ranks (self, MIN (from, to), first_data, n_data);
  g_autofree guint *ranks = g_new (guint, 2 * (gsize) n);

  for (guint i = 0; i < n; i++) {
    ranks[2 * i] = lower[i];
    ranks[2 * i + 1] = lower[i] + apart;
  }
  return fab_concurrent_groups_new (self->cluster, ranks, n, 2);
}

gboolean
layout_has_expert_groups (const Layout *self)
{
  return self->n_expert > 1 || self->is_folded;
}

static guint
greatest_divisor (guint a, guint b)
{
  return b == 0 ? a : greatest_divisor (b, a % b);
}

guint
layout_expert_unit (const Layout *self)
{
  guint block = self->n_expert * self->n_expert_tensor;

  return self->is_folded
           ? block / greatest_divisor (block, self->size[AXIS_TENSOR] * self->size[AXIS_CONTEXT])
           : self->n_expert;
}

guint
layout_n_expert_replicas (const Layout *self)
{
  return self->size[AXIS_TENSOR] * self->size[AXIS_CONTEXT] * self->size[AXIS_DATA]
       / (self->n_expert * self->n_expert_tensor);
}

DataPart
layout_expert_part (const Layout *self, guint *block)
{
  *block = self->is_expert_inner ? self->n_expert : self->size[AXIS_DATA] / self->n_expert;
  return self->is_expert_inner ? DATA_RUNS : DATA_EVERY;
}

DataPart
layout_expert_data_part (const Layout *self, guint *block)
{
  return layout_expert_part (self, block) == DATA_RUNS ? DATA_EVERY : DATA_RUNS;
}
