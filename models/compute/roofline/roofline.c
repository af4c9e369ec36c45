/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.c - operator by operator (price.c), with what the scenario says of the software.
 *
 *   pass = price / scale
 */
#include "models/compute/roofline/price.h"
#include "models/models.h"

static const char *const attention_names[] = { "flash1", "flash2", "flash3", "cudnn", "unfused", NULL };

typedef struct {
  FabPricing pricing;
  double scale_factor;
} RooflineParams;

static const FabParam roofline_params[] = {
  { .key = "achievable",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (RooflineParams, pricing.achievable_fraction),
    .fallback = "0%",
    .max = 1,
    .help =
        "Fraction of peak that a large matrix multiplication reaches; 0: 88 % of the accelerator's `matmul`, "
        "or 80 % of peak where `matmul` is not known." },
  { .key = "memory",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (RooflineParams, pricing.memory_fraction),
    .fallback = "85%",
    .min = 0.01,
    .max = 1,
    .help = "Fraction of the memory bandwidth that kernels reach." },
  { .key = "attention",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (RooflineParams, pricing.attention),
    .fallback = "flash2",
    .choices = attention_names,
    .help = "Attention kernel to use when the shape does not keep the scores." },
  { .key = "causal",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (RooflineParams, pricing.is_causal),
    .fallback = "true",
    .help = "Each token attends to earlier tokens only, so a fused attention kernel skips half of the "
            "scores." },
  { .key = "fused",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (RooflineParams, pricing.kernels.is_fused),
    .fallback = "true",
    .help =
        "Each memory-bound operator is one kernel (compiled or hand-written). false: PyTorch without a compiler "
        "runs 1 to 8 kernels for it, and each moves as many bytes as the fused one." },
  { .key = "launch",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (RooflineParams, pricing.launch_ps),
    .fallback = "1us",
    .max = 1e12,
    .help = "Gap on the GPU between two kernels that the host issued in time." },
  { .key = "issue",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (RooflineParams, pricing.issue_ps),
    .fallback = "5us",
    .max = 1e12,
    .help = "Host time to issue one kernel: 5 to 25us in eager mode, about 1us from a CUDA graph." },
  { .key = "scale",
    .type = FAB_PARAM_FACTOR,
    .offset = G_STRUCT_OFFSET (RooflineParams, scale_factor),
    .fallback = "1",
    .min = 0.01,
    .max = 10,
    .help = "Factor on all rates, of kernels and of the host: the time of each pass is divided by it." },
  { .key = NULL },
};

static FabComputeBasis
roofline_basis (gconstpointer params)
{
  double scale_factor = ((const RooflineParams *) params)->scale_factor;

  return scale_factor < 1 || scale_factor > 1 ? FAB_COMPUTE_ANCHORED : FAB_COMPUTE_OPERATORS;
}

static double
roofline_seconds (gconstpointer params, const FabDevice *device, const FabPass *pass)
{
  const RooflineParams *p = params;
  FabPricing pricing = p->pricing;

  pricing.scale_factor = 1;
  return fab_price_pass (&pricing, device, pass) / p->scale_factor;
}

const FabComputeOps fab_compute_roofline = {
  .info = { .name = "roofline",
            .summary = "Times each operator: tiles on multiprocessors, memory traffic, kernel launches.",
            .doc = "docs/models/roofline.md",
            .params = roofline_params,
            .params_size = sizeof (RooflineParams) },
  .seconds = roofline_seconds,
  .basis = roofline_basis,
};
