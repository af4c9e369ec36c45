/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - asks NVML what the CUDA driver does not say: PCIe generation and width, NVLink, clocks, ECC, versions.
 *
 * The library is found at run time (libnvidia-ml.so.1, or the one that FABRICAST_NVML names) and declared here; every
 * function works without it, and then knows nothing.
 */
#pragma once

#include "validate/measure/cuda/gpus.h"
#include "validate/measure/host.h"

void fab_cuda_describe (FabMeasureHost *host, const FabGpus *gpus);
