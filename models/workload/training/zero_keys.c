/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/zero_keys.h"

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

static const char *const overlaps[] = { "auto", "no", "yes", NULL };

const FabParam zero_params[] = {
  TRAIN_PARAMS (ZeroParams, train),
  { .key = "stage",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (ZeroParams, stage),
    .min = 1,
    .max = 3,
    .is_in_title = TRUE,
    .help = "What is sharded. 1: optimizer states; 2: gradients too; 3: parameters too." },
  { .key = "gradient",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (ZeroParams, gradient),
    .fallback = "bf16",
    .choices = gradient_types,
    .help = "Number type in which gradients are reduced (communication_data_type)." },
  { .key = "overlap_comm",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (ZeroParams, overlap),
    .fallback = "auto",
    .choices = overlaps,
    .help = "Reduce gradients while the backward pass runs; auto: in stage 3 only." },
  ELEMENTS ("reduce_bucket", reduce_bucket, "5e8", "Gradients that are reduced together."),
  ELEMENTS ("allgather_bucket", allgather_bucket, "5e8", "Updated parameters that are gathered together."),
  FLAG ("multi_rank_all_reduce", is_multi_rank, "true",
        "Stages 1 and 2: sum buckets by all-reduce (use_multi_rank_bucket_allreduce); else reduce-scatter."),
  ELEMENTS ("prefetch_bucket", prefetch_bucket, "5e7", "Stage 3: parameters that are gathered ahead of use."),
  FLAG ("prefetch_overlap", prefetch_overlaps, "false",
        "Stage 3: parameters gathered ahead arrive while kernels compute. false: the gather waits for the "
        "kernels of the current module, and the next module waits for the gather, as measured."),
  ELEMENTS ("persistence_threshold", persistence_threshold, "1e5",
            "Stage 3: tensors of at most this are not sharded (stage3_param_persistence_threshold)."),
  ELEMENTS ("max_live", max_live, "1e9", "Stage 3: most parameters that are whole at once."),
  ELEMENTS ("max_reuse_distance", max_reuse_distance, "1e9",
            "Stage 3: parameters stay whole when they are used again within this many."),
  ELEMENTS ("secondary", secondary, "1",
            "Stage 3: ranks of the sharding that backward gathers from (zero_hpz_partition_size); 1: none."),
  RANKS ("shard", shard, "0",
         "Stage 3: ranks that share one copy of the states (MiCS: mics_shard_size); 0: all."),
  FLAG ("quantized_weights", has_quantized_weights, "false",
        "Stage 3: gather parameters in 8 bits (zero_quantized_weights)."),
  FLAG ("quantized_gradients", has_quantized_gradients, "false",
        "Stage 3: reduce gradients in 4 bits, by two all-to-alls (zero_quantized_gradients)."),
  { .key = "offload",
    .type = FAB_PARAM_TABLE,
    .offset = G_STRUCT_OFFSET (ZeroParams, offload),
    .table = offload_params,
    .table_size = sizeof (OffloadParams),
    .help = "States that are kept off the accelerator (ZeRO-Offload, ZeRO-Infinity)." },
  { .key = NULL },
};

void
zero_check (gconstpointer params, FabCheck *check)
{
  const ZeroParams *p = params;

  train_check (&p->train, check);
  if (p->stage > 1 && p->train.parallel.pipeline > 1)
    fab_check_fail (check, &p->train.parallel.pipeline,
                    "DeepSpeed supports pipeline stages only with stage: "
                    "1");
  if (p->stage == 3 && p->train.parallel.expert > 1)
    fab_check_fail (check, &p->train.parallel.expert,
                    "DeepSpeed does not support expert parallelism with "
                    "stage: 3");
  if (p->stage == 3 && p->train.trains != TRAINS_ALL)
    fab_check_fail (check, &p->train.trains,
                    "stage: 3 trains all weights; to train adapters beside frozen "
                    "weights, use fsdp");
  if (p->stage < 3 && (p->secondary > 1 || p->shard > 0))
    fab_check_fail (check, p->shard > 0 ? &p->shard : &p->secondary, "secondary and shard need stage: 3");
  if (p->stage < 3 && (p->has_quantized_weights || p->has_quantized_gradients))
    fab_check_fail (check, p->has_quantized_weights ? &p->has_quantized_weights : &p->has_quantized_gradients,
                    "quantized weights and gradients need stage: 3");
  if (p->stage < 3 && p->offload.parameters != OFFLOAD_NONE)
    fab_check_fail (check, &p->offload.parameters, "only stage: 3 can offload parameters");
  if (p->secondary > 1 && p->shard > 0)
    fab_check_fail (check, &p->secondary, "secondary (hpZ) and shard (MiCS) exclude each other");
}
