/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/pipeline.h"
#include "models/workload/training/train.h"

const char *const recompute_kinds[] = { "none", "selective", "full", NULL };
const char *const gradient_types[] = { "fp32", "bf16", "fp16", NULL };
const FabBytes gradient_bytes[] = { 4, 2, 2 };

void
train_check (const TrainParams *params, FabCheck *check)
{
  parallel_check (&params->parallel, check);
  fab_loader_check (&params->data_loader, check);
  if (params->global_batch > 0 && params->accumulation > 1)
    fab_check_fail (check, &params->accumulation,
                    "accumulation follows from global_batch; only one of them can be given");
}
