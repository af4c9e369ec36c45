/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/moe.h"

static const char *const dispatch_kinds[] = { "nccl",     "allgather", "deepep", "deepep_low_latency",
                                              "hybridep", NULL };

static const char *const overlap_kinds[] = { "none", "shared", "batches", NULL };

static const char *const exchange_precision_names[] = { "bf16", "fp8", NULL };

const FabParam moe_params[] = {
  { .key = "dispatch",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MoeParams, dispatch),
    .fallback = "nccl",
    .choices = dispatch_kinds,
    .help =
        "How tokens travel to experts and back. all_to_all, all_gather: collectives of the library. deepep, "
        "hybridep: kernels that send a token once per node and rank. deepep_low_latency: once per expert." },
  { .key = "dispatch_precision",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MoeParams, dispatch_precision),
    .fallback = "bf16",
    .choices = exchange_precision_names,
    .help = "Number type of a token on its way to its experts, in the forward pass." },
  { .key = "combine_precision",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MoeParams, combine_precision),
    .fallback = "bf16",
    .choices = exchange_precision_names,
    .help = "Number type of results on their way back, and of all gradients." },
  { .key = "groups",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MoeParams, groups),
    .fallback = "0",
    .max = 1e6,
    .help = "Groups of experts, from which the router picks some for each token; 0: one group for each node "
            "of the expert-parallel ranks." },
  { .key = "groups_per_token",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MoeParams, groups_per_token),
    .fallback = "0",
    .max = 1e6,
    .help = "Number of groups that may hold a token's experts (node-limited routing); 0: all." },
  { .key = "sms",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MoeParams, sms),
    .fallback = "20",
    .min = 2,
    .max = 1e4,
    .help = "Multiprocessors that the kernels of deepep and hybridep take from compute." },
  { .key = "overlap",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MoeParams, overlap),
    .fallback = "none",
    .choices = overlap_kinds,
    .help = "What computes while tokens travel: nothing, the shared experts (Megatron: "
            "--moe-shared-expert-overlap), or the other half of the micro-batch (batches): two micro-batches "
            "take turns, as in DeepSeek-V3 and with --overlap-moe-expert-parallel-comm." },
  { .key = "capacity",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (MoeParams, capacity),
    .fallback = "0",
    .max = 1000,
    .help =
        "Capacity of each expert, as a multiple of the mean number of tokens. An expert drops tokens above "
        "it and is padded up to it (Megatron: --moe-expert-capacity-factor with "
        "--moe-pad-expert-input-to-capacity). 0: no limit." },
  { .key = "imbalance",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (MoeParams, imbalance_cv),
    .fallback = "0%",
    .max = 10,
    .help =
        "Coefficient of variation of the tokens per expert. The rank whose experts have the most tokens sets "
        "the time. 0: equal for all (--moe-router-force-load-balancing)." },
  { .key = NULL },
};

void
moe_check (const MoeParams *params, FabCheck *check)
{
  gboolean is_library = params->dispatch == EXPERTS_NCCL || params->dispatch == EXPERTS_ALLGATHER;

  if (params->groups > 0 && params->groups_per_token > params->groups)
    fab_check_fail (check, &params->groups_per_token, "a token cannot go to more groups than exist");
  if (params->groups > 0 && params->groups_per_token == 0)
    fab_check_fail (check, &params->groups, "groups need groups_per_token");
  if (params->capacity > 0 && params->imbalance_cv > 0)
    fab_check_fail (
        check, &params->imbalance_cv,
        "with a capacity every expert is padded to the same number of tokens, so imbalance has no effect");
  if (is_library && params->groups_per_token > 0)
    fab_check_fail (check, &params->groups_per_token,
                    "groups affect only dispatch: deepep; an all-to-all sends one copy per expert");
}
