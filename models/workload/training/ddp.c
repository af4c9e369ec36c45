/* SPDX-License-Identifier: Apache-2.0 */
/* ddp.c - data-parallel training as PyTorch's DistributedDataParallel schedules it.
 *
 *   - The backward pass yields the gradients of tensors in the reverse of the order in which they are registered.
 * They
 *     fill buckets in that order. A bucket closes when it has reached its cap, which is smaller for the first one
 *     (torch/csrc/distributed/c10d/reducer, compute_bucket_assignment_by_size: 1 MiB, then 25 MiB). Experts have
 *     buckets of their own.
 *   - The all-reduce of a bucket starts when its last gradient is ready and that of the bucket before has started.
 *     Without overlap all start after the backward pass, as in frameworks that accumulate gradients in FP32
 * elsewhere.
 *   - With gradient accumulation, gradients are reduced in the last micro-batch only (no_sync), or in each.
 *   - The optimizer runs after the backward pass and the last all-reduce, at the rate of the accelerator's memory.
 */
#include "models/models.h"
#include "models/workload/training/buckets.h"
#include "models/workload/training/memory.h"
#include "models/workload/training/streams.h"
#include "models/workload/training/train.h"

typedef struct {
  TrainParams train;
  gint gradient; /* index of gradient_types */
  FabBytes first_bucket_bytes, bucket_bytes;
  gboolean overlaps, has_no_sync, is_bucket_view;
} DdpParams;

static const FabParam ddp_params[] = {
  TRAIN_PARAMS (DdpParams, train),
  { .key = "gradient",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (DdpParams, gradient),
    .fallback = "fp32",
    .choices = gradient_types,
    .help = "Number type in which gradients are reduced." },
  { .key = "first_bucket",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (DdpParams, first_bucket_bytes),
    .fallback = "1MiB",
    .min = 1,
    .max = 1e15,
    .help = "Size limit of the first bucket (PyTorch: kDefaultFirstBucketBytes)." },
  { .key = "bucket",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (DdpParams, bucket_bytes),
    .fallback = "25MiB",
    .min = 1,
    .max = 1e15,
    .help = "Size limit of the other buckets (PyTorch: bucket_cap_mb)." },
  { .key = "overlap",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (DdpParams, overlaps),
    .fallback = "true",
    .help = "Reduce buckets while the backward pass runs; false: after it." },
  { .key = "no_sync",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (DdpParams, has_no_sync),
    .fallback = "true",
    .help = "Reduce in the last micro-batch only; false: in every micro-batch." },
  { .key = "gradient_as_bucket_view",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (DdpParams, is_bucket_view),
    .fallback = "false",
    .help =
        "Gradients are views into the buckets; false: buckets are copies and take the same memory again." },
  { .key = NULL },
};

static const DdpParams *
params_of (const Stage *stage)
{
  return stage->train->strategy_params;
}

static void
ddp_begin (Stage *stage)
{
  const DdpParams *p = params_of (stage);

  stage->state = buckets_new (stage, &(BucketsParams){ .op = FAB_OP_ALL_REDUCE,
                                                       .first_bytes = p->first_bucket_bytes,
                                                       .bytes = p->bucket_bytes,
                                                       .bytes_per_parameter = gradient_bytes[p->gradient],
                                                       .overlaps = p->overlaps });
}

static gboolean
ddp_reduces (const Stage *stage, const PassAt *at)
{
  return at->is_last || !params_of (stage)->has_no_sync;
}

static void
ddp_gradient (Stage *stage, const PassAt *at, guint tensor)
{
  buckets_add (stage->state, at->layer, tensor);
}

/* Called at the end of each layer's backward pass. */
static void
ddp_after_backward (Stage *stage, const PassAt *at)
{
  if (ddp_reduces (stage, at) && stage_ends_backward (stage, at))
    buckets_end_pass (stage->state, at->is_last);
}

static void
ddp_before_optimizer (Stage *stage)
{
  buckets_wait (stage->state);
}

static void
ddp_memory (const Stage *stage, FabJobTotals *totals)
{
  const DdpParams *p = params_of (stage);
  FabBytes gradients = stage->parameters * gradient_bytes[p->gradient];

  gboolean is_alone = stage_n_replicas (stage) == 1; /* then there is no reducer */

  memory_add_state (stage, totals,
                    &(MemoryShares){ .parameters = 1,
                                     .gradient_bytes = (double) gradient_bytes[p->gradient],
                                     .gradients = 1,
                                     .optimizer = 1,
                                     .grows = is_alone || !p->is_bucket_view,
                                     .always = p->is_bucket_view || is_alone ? 0 : (double) gradients });
}

static const Strategy ddp_strategy = {
  .is_alike = TRUE,
  .stack = "eager",
  .begin = ddp_begin,
  .gradient = ddp_gradient,
  .splits_backward = ddp_reduces,
  .after_backward = ddp_after_backward,
  .before_optimizer = ddp_before_optimizer,
  .memory = ddp_memory,
  .free_state = buckets_free,
};

static gboolean
ddp_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
           GError **error)
{
  const DdpParams *p = params;

  if (!train_build (env, &p->train, &ddp_strategy, p, builder, totals, error))
    return FALSE;
  totals->gradient_bytes = totals->trained_parameters * gradient_bytes[p->gradient];
  return TRUE;
}

static void
ddp_check (gconstpointer params, FabCheck *check)
{
  train_check (&((const DdpParams *) params)->train, check);
}

const FabWorkloadOps fab_workload_ddp = {
  .info = { .name = "ddp",
            .summary = "Data-parallel training, scheduled as PyTorch's DistributedDataParallel does it.",
            .doc = "docs/models/ddp.md",
            .params = ddp_params,
            .params_size = sizeof (DdpParams),
            .check = ddp_check },
  .build = ddp_build,
};
