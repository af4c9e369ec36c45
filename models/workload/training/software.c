/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/software.h"

const char *const optimizer_kernels[] = { "fused", "foreach", NULL };

const FabParam software_params[] = {
  { .key = "pytorch",
    .type = FAB_PARAM_TEXT,
    .fallback = "auto",
    .offset = G_STRUCT_OFFSET (SoftwareParams, pytorch),
    .help =
        "Release of PyTorch, such as 2.9, or a month such as 2024-06: the newest release of that time. It "
        "decides which kernels attention and norms have, and where recomputing a block stops. auto: the newest "
        "release that runs on the accelerator." },
  { .key = "optimizer",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (SoftwareParams, optimizer),
    .fallback = "fused",
    .choices = optimizer_kernels,
    .help =
        "fused: Adam is one kernel. foreach: an operation at a time over all tensors, which moves about three "
        "times as many bytes." },
  { .key = NULL },
};

gboolean
software_has_release (const SoftwareParams *params)
{
  return params->pytorch != NULL && !g_str_equal (params->pytorch, "auto");
}
