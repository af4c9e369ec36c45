/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/pipeline.h"
#include "models/workload/train.h"

const char *const recompute_kinds[] = { "none", "selective", "full", NULL };
const char *const gradient_types[] = { "fp32", "bf16", "fp16", NULL };
const FabBytes gradient_bytes[] = { 4, 2, 2 };

const FabParam loader_params[] = {
  { .key = "time",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (LoaderParams, time_ps),
    .fallback = "0ms",
    .help = "Time to load one batch on every rank." },
  { .key = "prefetch",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (LoaderParams, is_prefetching),
    .fallback = "true",
    .help = "Load the next batch while this one is computed; false: after the optimizer." },
  { .key = NULL },
};

void
train_check (const TrainParams *params, FabCheck *check)
{
  parallel_check (&params->parallel, check);
  if (params->global_batch > 0 && params->accumulation > 1)
    fab_check_fail (check, &params->accumulation,
                    "accumulation follows from global_batch; only one of them can be given");
}
