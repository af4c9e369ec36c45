/* SPDX-License-Identifier: Apache-2.0 */
/* offload.h - optimizer states and parameters in host memory or on drives, as in ZeRO-Offload and ZeRO-Infinity.
 *
 * ZeRO-Offload (Ren et al. 2021, arXiv 2101.06840): reduced gradients go to host memory while the backward pass goes
 * on, the CPUs update their part of the states, and the updated parameters come back. ZeRO-Infinity (Rajbhandari et
 * al. 2021, arXiv 2104.07857): states and parameters may be on NVMe drives, which are read and written in every step.
 * All ranks of a stage copy at the same time. Copy engines move the bytes over the wires between each GPU and the
 * memory of its socket, or its drives; NICs may use the same wires.
 *
 * The rate of host memory limits Adam on CPUs. For each parameter it reads the gradient, two moments and the master
 * weight in FP32, and writes the last three and a weight of half precision: 30 bytes. The GPUs of a node share its
 * memory.
 */
#pragma once

#include "models/workload/training/job.h"

typedef struct {
  gint optimizer, parameters; /* OffloadTo */
} OffloadParams;

extern const FabParam offload_params[];

/* A copy between each accelerator of a stage and the place of its states. */
typedef struct {
  OffloadTo place;
  gboolean is_to_gpu;
  FabBytes bytes; /* of each rank */
} Copy;

/* Adds a copy after a task (NULL: at once). FALSE: there is nothing to copy, or the job cannot be built. Takes
 * `name`. */
gboolean offload_copy (Stage *stage, const Copy *copy, char *name, const FabTaskId *after, FabTaskId *task);

/* Adds the optimizer step of the CPUs for `parameters` parameters of each rank, after all that the next compute task
 * waits for. States on drives are read before and written afterwards. If `returns`, the updated parameters are then
 * copied to the accelerator. The next compute task waits for all of it. */
void offload_optimize (Stage *stage, OffloadTo place, double parameters, gboolean returns);
