/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/parallel.h"

#include <string.h>

#include "models/workload/training/pipeline.h"

const char *const context_kinds[] = { "ring", "gather", NULL };
const char *const balance_kinds[] = { "even", "cost", NULL };

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
    .help =
        "Order in which a stage runs forward and backward passes. Stages of zero_bubble_v, v_half, v_min "
        "and dualpipe_v have two parts of the model in a V. dualpipe lets micro-batches enter at both ends "
        "and keeps each part on two stages." },
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
        "Blocks in each part of the model, in model order, one number for each: [4, 5, 5, 2]. The "
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
        "does without --overlap-p2p-communication. All schedules but 1f1b and gpipe always overlap." },
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

gboolean
parallel_order (const char *order, guint *axes, guint *n)
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

GArray *
parallel_layers (const char *text)
{
  g_autoptr (GArray) counts = g_array_new (FALSE, FALSE, sizeof (guint));
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  for (guint i = 0; words[i] != NULL; i++) {
    guint64 count;
    guint n;

    if (!g_ascii_string_to_unsigned (g_strstrip (words[i]), 10, 0, 1000000, &count, NULL))
      return NULL;
    n = (guint) count;
    g_array_append_val (counts, n);
  }
  return g_steal_pointer (&counts);
}

/* The first part has the embedding and the last one the head; without blocks they still compute. */
static void
check_layers (const ParallelParams *params, FabCheck *check)
{
  g_autoptr (GArray) counts = params->layers ? parallel_layers (params->layers) : NULL;
  const PipelineSchedule *schedule = pipeline_schedule_of (params->schedule, (guint) params->pipeline);
  guint n_parts = pipeline_n_parts (schedule, (guint) params->pipeline, (guint) params->virtual_stages);

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
                    counts->len, params->pipeline, (gint64) n_parts / params->pipeline, n_parts);
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

/* Schedules whose micro-batches go two ways. */
static void
check_two_ways (const ParallelParams *params, const PipelineSchedule *schedule, FabCheck *check)
{
  if (schedule->place == PLACE_BOTH_WAYS && params->pipeline % 2 != 0)
    fab_check_fail (check, &params->schedule,
                    "schedule %s needs an even number of stages, because micro-batches enter at both ends; "
                    "pipeline is %" G_GINT64_FORMAT,
                    schedule->name, params->pipeline);
  if (schedule->has_pairs && params->moe.overlap != 0)
    fab_check_fail (
        check, &params->moe.overlap,
        "schedule %s computes a pass while the tokens of another one travel; overlap must be none",
        schedule->name);
}

void
parallel_check (const ParallelParams *params, FabCheck *check)
{
  const PipelineSchedule *schedule = pipeline_schedule (params->schedule);
  guint axes[N_AXES + 1], n;
  g_auto (GStrv) words = g_strsplit (params->order, "-", 8);

  if (g_strv_length (words) > N_AXES + 1 || !parallel_order (params->order, axes, &n))
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
  check_two_ways (params, schedule, check);
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
