/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/keys.h"

#include <string.h>

#include "models/workload/training/choices.h"

const char *const trained_kinds[] = { "all", "lora", NULL };
const char *const adapter_targets[] = { "all", "attention", NULL };
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
                    "accumulation follows from global_batch; give only one of them");
}

guint
fab_gradient_bytes (const char *type)
{
  for (guint i = 0; gradient_types[i] != NULL; i++)
    if (strcmp (gradient_types[i], type) == 0)
      return (guint) gradient_bytes[i];
  g_assert_not_reached ();
}
