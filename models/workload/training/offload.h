/* SPDX-License-Identifier: Apache-2.0 */
/* offload.h - states in host memory or on drives, as ZeRO-Offload and ZeRO-Infinity keep them.
 *
 * Ren et al. 2021 (arXiv 2101.06840): reduced gradients go to host memory while backward goes on, the processors
 * update their part of the states, and the updated parameters come back. Rajbhandari et al. 2021 (arXiv 2104.07857):
 * states and parameters may be on NVMe drives, which are read and written every step. All ranks of a stage copy at
 * once, by copy engines over the wires between each GPU and the memory of its socket, or its drives; NICs may use the
 * same wires.
 *
 * The processors' Adam is bound by host memory: it reads gradient, two moments and master weight in FP32 and writes the
 * last three and a half precision weight, 30 B per parameter, at the rate of the node's memories, shared by its GPUs.
 */
#pragma once

#include "models/workload/training/train.h"

typedef enum { OFFLOAD_NONE, OFFLOAD_CPU, OFFLOAD_NVME } OffloadTo;

typedef struct {
  gint optimizer, parameters; /* OffloadTo */
} OffloadParams;

extern const FabParam offload_params[];

/* A copy between each accelerator of the stage and where its states are, after a task (NULL: at once). FALSE: nothing
 * to copy, or the job cannot be built. */
typedef struct {
  OffloadTo place;
  gboolean is_to_gpu;
  FabBytes bytes; /* of each rank */
} Copy;

gboolean offload_copy (Stage *stage, const Copy *copy, char *name, const FabTaskId *after, FabTaskId *task);

/* The optimizer step of `parameters` of each rank by the processors, after what the next compute task waits for, with
 * the states' way from the drives and back; where it `returns`, then the parameters' way to the accelerator. The next
 * compute task waits for all of it. */
void offload_optimize (Stage *stage, OffloadTo place, double parameters, gboolean returns);
