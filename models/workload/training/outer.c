/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/outer.h"

#include "sim/base/error.h"

const FabParam outer_params[] = {
  { .key = "sites",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (OuterParams, sites),
    .fallback = "1",
    .min = 1,
    .max = 1e6,
    .help = "Sites (DiLoCo): groups of neighbouring data-parallel ranks that train independently between two "
            "outer steps. 1: all ranks sum their gradients in every step." },
  { .key = "every",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (OuterParams, every),
    .fallback = "500",
    .min = 1,
    .max = 1e9,
    .help = "Steps between two outer steps." },
  { .key = "bits",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (OuterParams, bits),
    .fallback = "32",
    .min = 1,
    .max = 64,
    .help = "Bits per parameter that sites send." },
  { .key = "overlap",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (OuterParams, overlaps),
    .fallback = "false",
    .help =
        "Send fragments of the model while the steps compute (Streaming DiLoCo); false: training stops while "
        "sites communicate." },
  { .key = "state",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (OuterParams, state_bytes_per_parameter),
    .fallback = "8B",
    .max = 1e4,
    .help = "Memory of the outer optimizer per parameter, sharded like the optimizer: the momentum and the "
            "parameters of the last outer step. 0B: they are in host memory." },
  { .key = NULL },
};

gboolean
outer_check_layout (const OuterParams *self, guint n_data, guint n_experts, GError **error)
{
  if (self->sites == 1)
    return TRUE;
  if (n_data % self->sites != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%u data-parallel ranks cannot be divided by outer.sites: %" G_GINT64_FORMAT, n_data,
                      self->sites);
  if (n_experts > 1)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "outer.sites cannot be combined with expert parallelism, because experts lie inside "
                      "the data axis");
  return TRUE;
}
