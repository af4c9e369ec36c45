/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/memory_keys.h"

static const char *const state_kinds[] = { "auto", "mixed", "fp32", "pure", NULL };
static const char *const kernel_styles[] = { "auto", "fused", "eager", "compiled", NULL };
static const char *const loss_kinds[] = { "auto", "plain", "autocast", "fp32", "fused", "in_place", NULL };

const char *const offload_places[] = { "none", "cpu", "nvme", NULL };

const FabParam memory_params[] = {
  { .key = "states",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MemoryParams, states),
    .fallback = "auto",
    .choices = state_kinds,
    .help =
        "Types of weights, gradients and optimizer states. mixed: 16-bit weights, and a master weight among the "
        "optimizer_state. fp32: FP32 weights and gradients, and casts for products (autocast, FSDP's mixed "
        "precision). pure: all in the type of products. auto: fp32 with fsdp, else mixed." },
  { .key = "kernels",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MemoryParams, kernels),
    .fallback = "auto",
    .choices = kernel_styles,
    .help =
        "What forward passes leave in memory. fused: Megatron-LM and Transformer Engine. eager: plain PyTorch. "
        "compiled: torch.compile. auto: what the software of the job has." },
  { .key = "loss",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MemoryParams, loss),
    .fallback = "auto",
    .choices = loss_kinds,
    .help =
        "Copies of the logits. plain: three, in their own type. autocast: log-softmax in FP32. fp32: they are cast "
        "to FP32 first. fused: logits and gradients. in_place: gradients overwrite the logits. auto: what the "
        "software does." },
  { .key = "loss_chunks",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MemoryParams, loss_chunks),
    .fallback = "1",
    .min = 1,
    .max = 1e5,
    .help =
        "Parts of a micro-batch whose logits are computed one after another; each gives its gradients at once." },
  { .key = "offload",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (MemoryParams, offload),
    .fallback = "none",
    .choices = offload_places,
    .help = "Where the activations of blocks wait for the backward pass: on the accelerator, in host memory "
            "(offload_activations of torchtune, cpu_offloading of Megatron-LM), or on drives." },
  { .key = "offload_layers",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (MemoryParams, offload_layers),
    .fallback = "0",
    .max = 1e5,
    .help =
        "With offload: the first n blocks of each part of the model (cpu_offloading_num_layers); 0: all." },
  { .key = NULL },
};
