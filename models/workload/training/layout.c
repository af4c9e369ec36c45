/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/layout.h"

#include <string.h>

#include "models/workload/training/parts.h"
#include "models/workload/training/passes.h"
#include "models/workload/training/pipeline.h"
#include "sim/base/error.h"

static const char *const axis_names[N_AXES] = { "tp", "cp", "dp", "pp" };

#define COUNT(name_, field_, help_)                                                            \
  {                                                                                            \
    .key = name_, .type = FAB_PARAM_COUNT, .offset = G_STRUCT_OFFSET (ParallelParams, field_), \
    .fallback = "1", .min = 1, .max = 1e6, .is_in_title = TRUE, .help = help_                  \
  }

const FabParam parallel_params[] = {
  COUNT ("tensor", tensor, "Tensor parallelism: ranks that share every layer."),
  { .key = "sequence",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (ParallelParams, is_sequence),
    .fallback = "false",
    .help = "Sequence parallelism: between segments each tensor-parallel rank keeps only its part of the "
            "tokens. Reduce-scatter and all-gather replace all-reduce." },
  COUNT ("context", context, "Context parallelism: ranks that share every sequence."),
  { .key = "context_kind",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (ParallelParams, context_kind),
    .fallback = "ring",
    .choices = context_kinds,
    .help = "How keys and values reach the ranks of a context-parallel group: step by step while attention "
            "computes, or gathered before it (Llama 3)." },
  COUNT ("expert", expert,
         "Expert parallelism: ranks that share the experts. They are data-parallel ranks, unless "
         "expert_tensor is given."),
  { .key = "expert_tensor",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (ParallelParams, expert_tensor),
    .fallback = "0",
    .max = 1e6,
    .is_in_title = TRUE,
    .help =
        "Ranks that share one expert (Megatron: --expert-tensor-parallel-size). expert x expert_tensor ranks "
        "then span tensor, context and data. 0: as many as share a layer, with expert inside data." },
  COUNT ("pipeline", pipeline, "Pipeline parallelism: number of stages."),
  COUNT ("virtual", virtual_stages,
         "Parts of the model per stage (virtual stages), for schedule "
         "interleaved."),
  { .key = "round",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (ParallelParams, round),
    .fallback = "0",
    .max = 1e5,
    .help =
        "Micro-batches that pass one part of a stage before its next part starts, for schedule interleaved "
        "(Megatron: --microbatch-group-size-per-virtual-pipeline-stage); 0: as many as stages." },
  { .key = "schedule",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (ParallelParams, schedule),
    .fallback = "1f1b",
    .choices = pipeline_schedules,
    .help = "Order in which a stage runs forward and backward passes." },
  { .key = "overlap_tensor",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (ParallelParams, overlaps_tensor),
    .fallback = "false",
    .help =
        "Overlap gather and scatter between tensor-parallel ranks with the matrix multiplications next to "
        "them, piece by piece (Megatron: --tp-comm-overlap; async tensor parallelism). Needs sequence." },
  { .key = "layers",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (ParallelParams, layers),
    .fallback = "",
    .takes_list = TRUE,
    .help =
        "Blocks in each part of the model, in model order, pipeline x virtual numbers: [4, 5, 5, 2]. The "
        "first may be 0 (embedding alone), and so may the last (head alone). Default: `balance` decides." },
  { .key = "balance",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (ParallelParams, balance),
    .fallback = "even",
    .choices = balance_kinds,
    .help = "How blocks are divided among the parts: equally (Megatron), or so that the slowest part, with "
            "embedding and head, is as fast as possible (cost)." },
  { .key = "overlap_p2p",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (ParallelParams, overlaps_p2p),
    .fallback = "false",
    .help =
        "Send to other stages while computing. false: a stage waits until its send has ended, as Megatron "
        "does without --overlap-p2p-communication. Schedules interleaved and zero_bubble always overlap." },
  { .key = "order",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (ParallelParams, order),
    .fallback = "tp-cp-ep-dp-pp",
    .help =
        "Order of the axes, from the fastest varying rank to the slowest (Megatron: --use-tp-pp-dp-mapping "
        "is tp-cp-ep-pp-dp)." },
  { .key = "moe",
    .type = FAB_PARAM_TABLE,
    .offset = G_STRUCT_OFFSET (ParallelParams, moe),
    .table = moe_params,
    .table_size = sizeof (MoeParams),
    .help = "How tokens reach experts on other ranks and come back." },
  { .key = NULL },
};

/* Reads "tp-cp-ep-dp-pp" into axes; N_AXES stands for ep. FALSE: some axis is not there exactly once. */
static gboolean
parse_order (const char *order, guint *axes, guint *n)
{
  g_auto (GStrv) words = g_strsplit (order, "-", -1);
  guint seen[N_AXES + 1] = { 0 };

  *n = 0;
  for (guint i = 0; words[i] != NULL; i++) {
    guint axis = strcmp (words[i], "ep") == 0 ? N_AXES : 0;

    while (axis < N_AXES && strcmp (words[i], axis_names[axis]) != 0)
      axis++;
    if ((axis == N_AXES && strcmp (words[i], "ep") != 0) || seen[axis]++ > 0)
      return FALSE;
    axes[(*n)++] = axis;
  }
  for (Axis axis = 0; axis < N_AXES; axis++)
    if (seen[axis] == 0)
      return FALSE;
  return TRUE;
}

/* The first part has the embedding and the last one the head; without blocks they still compute. */
static void
check_layers (const ParallelParams *params, FabCheck *check)
{
  g_autoptr (GArray) counts = params->layers ? parts_parse (params->layers) : NULL;
  guint n_parts = (guint) (params->pipeline * params->virtual_stages);

  if (params->layers == NULL)
    return;
  if (counts == NULL)
    fab_check_fail (check, &params->layers,
                    "layers must be whole numbers, one for each part, as in [4, 5, "
                    "5, 2]");
  else if (counts->len != n_parts)
    fab_check_fail (check, &params->layers,
                    "layers has %u numbers; pipeline x virtual = %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " "
                    "needs %u, one for each part of the model",
                    counts->len, params->pipeline, params->virtual_stages, n_parts);
  for (guint i = 1; counts != NULL && i + 1 < counts->len; i++)
    if (g_array_index (counts, guint, i) == 0) {
      fab_check_fail (
          check, &params->layers,
          "number %u of layers is 0; only the first part (the embedding alone) and the last (the head "
          "alone) may have no blocks",
          i + 1);
      break;
    }
  if (params->balance != BALANCE_EVEN)
    fab_check_fail (check, &params->balance, "balance has no effect when layers gives every part");
}

void
parallel_check (const ParallelParams *params, FabCheck *check)
{
  const PipelineSchedule *schedule = pipeline_schedule (params->schedule);
  guint axes[N_AXES + 1], n;
  g_auto (GStrv) words = g_strsplit (params->order, "-", 8);

  if (g_strv_length (words) > N_AXES + 1 || !parse_order (params->order, axes, &n))
    fab_check_fail (check, &params->order, "'%s' must name tp, cp, dp and pp once each, and ep at most once",
                    params->order);
  if (params->is_sequence && params->tensor == 1)
    fab_check_fail (check, &params->is_sequence, "sequence parallelism needs tensor: 2 or more");
  if (params->virtual_stages > 1 && params->pipeline == 1)
    fab_check_fail (check, &params->virtual_stages, "virtual needs pipeline: 2 or more");
  else if (params->virtual_stages > 1 && !schedule->has_parts)
    fab_check_fail (check, &params->virtual_stages, "virtual needs schedule: %s",
                    pipeline_schedule_for_parts ()->name);
  if (schedule->has_parts && params->virtual_stages == 1 && params->pipeline > 1)
    fab_check_fail (check, &params->schedule, "schedule %s needs virtual: 2 or more", schedule->name);
  if (params->expert_tensor > 0 && params->tensor > 1 && !params->is_sequence)
    fab_check_fail (
        check, &params->expert_tensor,
        "expert_tensor needs sequence: true, so that tensor-parallel ranks send different tokens to experts");
  if (params->overlaps_tensor && !params->is_sequence)
    fab_check_fail (check, &params->overlaps_tensor, "overlap_tensor needs sequence: true");
  if (params->round > 0 && !schedule->has_parts)
    fab_check_fail (check, &params->round, "round needs schedule: %s", pipeline_schedule_for_parts ()->name);
  check_layers (params, check);
  moe_check (&params->moe, check);
}

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
  gboolean is_parsed = parse_order (params->order, axes, &n);

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

/* Groups of the experts' grid among the ranks of one stage, which are in ascending order. */
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
  g_autofree guint *ranks = g_new (guint, n);

  g_assert (n % block == 0 && selection->n_stages == 1);
  for (guint group = 0; group < n / n_ranks; group++)
    for (guint i = 0; i < n_ranks; i++)
      ranks[group * n_ranks + i] = all[group / step * step * n_ranks + group % step + i * step];
  return fab_concurrent_groups_new (self->cluster, ranks, n / n_ranks, n_ranks);
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
