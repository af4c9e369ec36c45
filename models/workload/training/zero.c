/* SPDX-License-Identifier: Apache-2.0 */
/* zero.c - data-parallel training as DeepSpeed's ZeRO schedules it (deepspeed/runtime/zero; names are its options).
 *
 *   stage 1  Optimizer states are sharded. Gradients are collected in buckets of reduce_bucket elements and summed
 *            after the last micro-batch. Each rank updates its part. Then parameters are gathered, allgather_bucket
 *            elements at a time.
 *   stage 2  Gradients are sharded too: they are summed in every micro-batch.
 *   stage 3  Parameters are sharded too: zero3.c.
 *
 * In stages 1 and 2 an all-reduce sums a bucket, and each rank keeps its part of the result, because a bucket has
 * parts of several ranks (use_multi_rank_bucket_allreduce, DeepSpeed's default). Without that option it is a
 * reduce-scatter, with the number of bytes that the ZeRO paper counts (Rajbhandari et al. 2020, arXiv 1910.02054,
 * section 7). Without overlap_comm the sum is on the compute stream, and the backward pass waits for it.
 */
#include "models/workload/training/zero.h"

#include "models/models.h"
#include "models/workload/training/buckets.h"
#include "models/workload/training/memory.h"

#define ELEMENTS(name_, field_, fallback_, help_)                                          \
  {                                                                                        \
    .key = name_, .type = FAB_PARAM_COUNT, .offset = G_STRUCT_OFFSET (ZeroParams, field_), \
    .fallback = fallback_, .max = 1e15, .help = help_                                      \
  }
#define RANKS(name_, field_, fallback_, help_)                                             \
  {                                                                                        \
    .key = name_, .type = FAB_PARAM_COUNT, .offset = G_STRUCT_OFFSET (ZeroParams, field_), \
    .fallback = fallback_, .max = 1e8, .help = help_                                       \
  }
#define FLAG(name_, field_, fallback_, help_)                                             \
  {                                                                                       \
    .key = name_, .type = FAB_PARAM_BOOL, .offset = G_STRUCT_OFFSET (ZeroParams, field_), \
    .fallback = fallback_, .help = help_                                                  \
  }

enum { MAX_GATHERS = 100000 };

static const char *const overlaps[] = { "auto", "no", "yes", NULL };

static const FabParam zero_params[] = {
  TRAIN_PARAMS (ZeroParams, train),
  { .key = "stage",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (ZeroParams, stage),
    .min = 1,
    .max = 3,
    .help = "1: optimizer states are sharded, 2: gradients too, 3: parameters too." },
  { .key = "gradient",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (ZeroParams, gradient),
    .fallback = "bf16",
    .choices = gradient_types,
    .help = "Type in which gradients are reduced (communication_data_type)." },
  { .key = "overlap_comm",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (ZeroParams, overlap),
    .fallback = "auto",
    .choices = overlaps,
    .help = "Reduce gradients while backward goes on; auto: in stage 3." },
  ELEMENTS ("reduce_bucket", reduce_bucket, "5e8", "Gradients that are reduced at a time."),
  ELEMENTS ("allgather_bucket", allgather_bucket, "5e8", "Updated parameters that are gathered at a time."),
  FLAG (
      "multi_rank_all_reduce", is_multi_rank, "true",
      "Stages 1 and 2: sum buckets by all-reduce (use_multi_rank_bucket_allreduce); false: reduce-scatter."),
  ELEMENTS ("prefetch_bucket", prefetch_bucket, "5e7", "Stage 3: parameters that are gathered ahead of use."),
  ELEMENTS ("persistence_threshold", persistence_threshold, "1e5",
            "Stage 3: smaller tensors are not sharded (stage3_param_persistence_threshold)."),
  ELEMENTS ("max_live", max_live, "1e9", "Stage 3: parameters that are whole at once, at most."),
  ELEMENTS ("max_reuse_distance", max_reuse_distance, "1e9",
            "Stage 3: parameters that are used again within so many stay whole."),
  ELEMENTS (
      "secondary", secondary, "1",
      "Stage 3: ranks of a second sharding that backward gathers from (zero_hpz_partition_size), usually a "
      "node's; 1: none."),
  RANKS ("shard", shard, "0",
         "Stage 3: ranks that share a copy of the states (MiCS: mics_shard_size); 0: all."),
  FLAG ("quantized_weights", has_quantized_weights, "false",
        "Stage 3: gather parameters in 8 bits (zero_quantized_weights)."),
  FLAG ("quantized_gradients", has_quantized_gradients, "false",
        "Stage 3: reduce gradients in 4 bits, by an all-to-all inside nodes and one between them "
        "(zero_quantized_gradients)."),
  { .key = "offload",
    .type = FAB_PARAM_TABLE,
    .offset = G_STRUCT_OFFSET (ZeroParams, offload),
    .table = offload_params,
    .table_size = sizeof (OffloadParams),
    .help = "States that are not kept on the accelerator (ZeRO-Offload, ZeRO-Infinity)." },
  { .key = NULL },
};

/* --- stages 1 and 2 --- */

static const ZeroParams *
params_of (const Stage *stage)
{
  return stage->train->strategy_params;
}

gboolean
zero_overlaps (const ZeroParams *self)
{
  return self->overlap == ZERO_OVERLAP_AUTO ? self->stage == 3 : self->overlap == ZERO_OVERLAP_YES;
}

/* Each rank keeps its part of what was reduced, with 16 bits for each gradient. */
gboolean
zero_offload_gradients (Stage *stage, FabBytes bytes, FabTaskId *task)
{
  const ZeroParams *p = params_of (stage);
  guint shards = p->shard > 0 ? (guint) p->shard : stage_n_replicas (stage);
  Copy copy = { (OffloadTo) p->offload.optimizer, FALSE, bytes / shards };
  FabTaskId sum = *task;

  return offload_copy (stage, &copy, g_strdup ("gradients"), &sum, task);
}

gboolean
zero_optimizes (Stage *stage)
{
  const ZeroParams *p = params_of (stage);

  if (p->offload.optimizer == OFFLOAD_NONE)
    return FALSE;
  offload_optimize (stage, (OffloadTo) p->offload.optimizer,
                    stage->train->strategy->optimizer_parameters (stage),
                    p->offload.parameters == OFFLOAD_NONE);
  return TRUE;
}

static void
begin (Stage *stage)
{
  const ZeroParams *p = params_of (stage);
  FabBytes bytes = (FabBytes) p->reduce_bucket * gradient_bytes[p->gradient];

  stage->state = buckets_new (stage, &(BucketsParams){ .op = p->is_multi_rank ? FAB_OP_ALL_REDUCE
                                                                              : FAB_OP_REDUCE_SCATTER,
                                                       .first_bytes = bytes,
                                                       .bytes = bytes,
                                                       .bytes_per_parameter = gradient_bytes[p->gradient],
                                                       .overlaps = TRUE,
                                                       .is_closed_before = TRUE,
                                                       .sent = zero_offload_gradients });
}

static gboolean
reduces (const Stage *stage, const PassAt *at)
{
  return params_of (stage)->stage == 2 || at->is_last;
}

static void
gradient (Stage *stage, const PassAt *at, guint tensor)
{
  buckets_add (stage->state, at->layer, tensor);
  if (!zero_overlaps (params_of (stage)))
    buckets_wait (stage->state);
}

static void
after_backward (Stage *stage, const PassAt *at)
{
  if (reduces (stage, at) && stage_ends_backward (stage, at))
    buckets_flush (stage->state);
}

static void
before_optimizer (Stage *stage)
{
  buckets_wait (stage->state);
}

static double
optimizer_parameters (const Stage *stage)
{
  return stage_shard_parameters (stage);
}

/* Gathers the parameters that the ranks have updated. The next step waits for it. */
static void
after_optimizer (Stage *stage)
{
  const ZeroParams *p = params_of (stage);
  ParameterCount left = stage->count;
  guint64 most = p->allgather_bucket > 0 ? (guint64) p->allgather_bucket : G_MAXUINT64;
  g_autoptr (GArray) tasks = g_array_new (FALSE, FALSE, sizeof (FabTaskId));

  if (stage->parameters / most > MAX_GATHERS) {
    train_fail (stage->train,
                "allgather_bucket %" G_GINT64_FORMAT " would make more than %d gathers per step",
                p->allgather_bucket, MAX_GATHERS);
    return;
  }
  for (guint i = 0; left.dense + left.experts > 0; i++) {
    ParameterCount part = { MIN (left.dense, most), MIN (left.experts, most) };

    stage_gather (stage, &part, i, tasks);
    left = (ParameterCount){ left.dense - part.dense, left.experts - part.experts };
  }
  if (tasks->len == 0)
    return;
  stage_wait_all (stage, tasks);
  stage_compute (stage, 0, g_strdup ("updated"));
}

gboolean
zero_is_sharded (G_GNUC_UNUSED const Stage *stage)
{
  return TRUE;
}

static void
memory (const Stage *stage, FabJobTotals *totals)
{
  const ZeroParams *p = params_of (stage);
  double parameters = (double) stage->parameters;
  double share = stage_shard_parameters (stage) / MAX (parameters, 1);
  double bucket = MIN ((double) p->reduce_bucket, parameters);

  memory_add_state (stage, totals,
                    &(MemoryShares){ 1, (double) gradient_bytes[p->gradient], p->stage == 2 ? share : 1,
                                     p->offload.optimizer == OFFLOAD_NONE ? share : 0 });
  memory_add (stage, totals, "buckets",
              bucket * (double) gradient_bytes[p->gradient] * (zero_overlaps (p) ? 2 : 1));
}

static const Strategy zero12_strategy = {
  .begin = begin,
  .gradient = gradient,
  .splits_backward = reduces,
  .after_backward = after_backward,
  .before_optimizer = before_optimizer,
  .optimizer_parameters = optimizer_parameters,
  .optimizes = zero_optimizes,
  .after_optimizer = after_optimizer,
  .memory = memory,
  .free_state = buckets_free,
  .is_sharded = zero_is_sharded,
};

/* --- all stages --- */

static gboolean
zero_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
            GError **error)
{
  const ZeroParams *p = params;

  if (!train_build (env, &p->train, p->stage == 3 ? &zero3_strategy : &zero12_strategy, p, builder, totals,
                    error))
    return FALSE;
  totals->gradient_bytes = totals->parameters * gradient_bytes[p->gradient];
  return TRUE;
}

static void
zero_check (gconstpointer params, FabCheck *check)
{
  const ZeroParams *p = params;

  train_check (&p->train, check);
  if (p->stage > 1 && p->train.parallel.pipeline > 1)
    fab_check_fail (check, &p->train.parallel.pipeline, "DeepSpeed has pipeline stages with stage: 1 only");
  if (p->stage == 3 && p->train.parallel.expert > 1)
    fab_check_fail (check, &p->train.parallel.expert, "DeepSpeed has no expert parallelism with stage: 3");
  if (p->stage < 3 && (p->secondary > 1 || p->shard > 0))
    fab_check_fail (check, p->shard > 0 ? &p->shard : &p->secondary, "secondary and shard are for stage: 3");
  if (p->stage < 3 && (p->has_quantized_weights || p->has_quantized_gradients))
    fab_check_fail (check, p->has_quantized_weights ? &p->has_quantized_weights : &p->has_quantized_gradients,
                    "quantized weights and gradients are for stage: 3");
  if (p->stage < 3 && p->offload.parameters != OFFLOAD_NONE)
    fab_check_fail (check, &p->offload.parameters, "only stage: 3 can offload parameters");
  if (p->secondary > 1 && p->shard > 0)
    fab_check_fail (check, &p->secondary, "secondary (hpZ) and shard (MiCS) do not go together");
}

const FabWorkloadOps fab_workload_zero = {
  .info = { .name = "zero",
            .summary =
                "Data parallel training with sharded states as DeepSpeed's ZeRO 1, 2 and 3 schedule it.",
            .doc = "docs/models/zero.md",
            .params = zero_params,
            .params_size = sizeof (ZeroParams),
            .check = zero_check },
  .build = zero_build,
};
