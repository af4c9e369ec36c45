/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/keys.h"

#include "models/models.h"

#include <string.h>

#include "models/workload/training/choices.h"
#include "models/workload/training/recompute.h"

const char *const trained_kinds[] = { "all", "lora", NULL };
const char *const adapter_targets[] = { "all", "attention", NULL };
const char *const recompute_kinds[] = { "none", "selective", "full", "operators", "modules", NULL };
const char *const recompute_methods[] = { "uniform", "block", NULL };
const char *const gradient_types[] = { "fp32", "bf16", "fp16", NULL };
const FabBytes gradient_bytes[] = { 4, 2, 2 };

static void
check_recompute (const TrainParams *params, FabCheck *check)
{
  g_autofree char *wrong = NULL;

  if (params->recompute == RECOMPUTE_MODULES && params->recompute_modules == NULL)
    fab_check_fail (check, &params->recompute,
                    "recompute: modules needs recompute_modules, such as core_attn,layernorm");
  if (params->recompute_modules != NULL && params->recompute != RECOMPUTE_MODULES)
    fab_check_fail (check, &params->recompute_modules, "recompute_modules needs recompute: modules");
  if (params->recompute_modules != NULL && !recompute_modules_check (params->recompute_modules, &wrong))
    fab_check_fail (
        check, &params->recompute_modules,
        "'%s' is not a module; use core_attn, layernorm, mlp, moe_act, mla_up_proj, moe or shared_experts",
        wrong);
  if (params->recompute_layers > 0 && params->recompute != RECOMPUTE_FULL)
    fab_check_fail (check, &params->recompute_layers, "recompute_layers needs recompute: full");
}

static void
check_offload (const TrainParams *params, FabCheck *check)
{
  if (params->memory.offload_layers > 0 && params->memory.offload == OFFLOAD_NONE)
    fab_check_fail (check, &params->memory.offload_layers,
                    "offload_layers needs offload: cpu or offload: nvme");
  if (params->memory.offload != OFFLOAD_NONE && params->recompute_method == RECOMPUTE_UNIFORM
      && params->recompute_layers > 1)
    fab_check_fail (check, &params->memory.offload,
                    "blocks that share one input (recompute_layers) cannot be offloaded one by one; leave "
                    "recompute_layers out");
}

void
train_check (const TrainParams *params, FabCheck *check)
{
  parallel_check (&params->parallel, check);
  if (software_has_release (&params->software) && fab_pytorch_release (params->software.pytorch) == 0)
    fab_check_fail (
        check, &params->software.pytorch,
        "there is no such release of PyTorch; give one from 1.8 to 2.11, or a month such as 2024-06");
  fab_loader_check (&params->data_loader, check);
  check_recompute (params, check);
  check_offload (params, check);
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
