/* SPDX-License-Identifier: Apache-2.0 */
/* mfu.c - kernels reach a fixed fraction of the accelerator's peak.
 *
 *   t = FLOPs executed / (peak x mfu)
 *
 * The FLOPs are those executed, recomputation included, as in training papers that assume "50 % MFU while computing".
 * The MFU of a whole iteration is a result, never this input. Under a power cap the rate falls with the clock.
 */
#include "models/models.h"
#include "sim/execution/layers.h"

typedef struct {
  double mfu_fraction;
} MfuParams;

static const FabParam mfu_params[] = {
  { .key = "mfu",
    .type = FAB_PARAM_FRACTION,
    .offset = G_STRUCT_OFFSET (MfuParams, mfu_fraction),
    .fallback = "50%",
    .min = 0.001,
    .max = 1,
    .help = "Fraction of peak FLOP/s that kernels reach while they run." },
  { .key = NULL },
};

static double
mfu_seconds (gconstpointer params, const FabDevice *device, const FabPass *pass)
{
  return fab_pass_flops (pass)
       / (fab_device_rate (device, pass->precision) * ((const MfuParams *) params)->mfu_fraction);
}

const FabComputeOps fab_compute_mfu = {
  .info = { .name = "mfu",
            .summary = "Kernels run at a fixed fraction of peak FLOP/s.",
            .doc = "docs/models/mfu.md",
            .params = mfu_params,
            .params_size = sizeof (MfuParams) },
  .seconds = mfu_seconds,
};
