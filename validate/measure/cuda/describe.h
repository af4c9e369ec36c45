/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h - records GPUs, driver, PCIe and NVLink as facts of the measured machine. */
#pragma once

#include "validate/measure/cuda/gpus.h"
#include "validate/measure/host.h"

void fab_cuda_describe (FabMeasureHost *host, const FabGpus *gpus);
