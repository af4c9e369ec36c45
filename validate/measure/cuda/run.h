/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - declares the parts of one run of the backend; each part has a file of its own. */
#pragma once

#include "validate/measure/cuda/lanes.h"

/* `--set KEY=VALUE` */
typedef struct {
  gint64 n_gpus; /* 0: all */
  gboolean pageable, staged, kernels;
  FabBytes ping_bytes; /* the largest message of the ping-pong kernels */
} FabCudaParams;

typedef struct {
  FabMeasureHost *host;
  const FabCudaParams *params;
  FabGpus *gpus;
  guint window;
} FabCudaRun;

/* A direction to copy in; the stream is chosen later. */
typedef struct {
  FabCopyHow how;
  const FabGpu *from, *to; /* NULL: the host */
  void *host;
} FabCopyRoute;

/* Copies in one direction and back. `kinds` is a mask (1u << FAB_MEASURE_...); those that the plan has are
 * measured. */
typedef struct {
  FabSeries series; /* its texts are not owned; fab_cuda_copies sets `kind` */
  guint kinds;
  FabCopyRoute there, back;
  gboolean is_pageable;
} FabCopies;

enum {
  FAB_KINDS_ALONE = 1u << FAB_MEASURE_LATENCY | 1u << FAB_MEASURE_BANDWIDTH,
  FAB_KINDS_BOTH = 1u << FAB_MEASURE_EXCHANGE | 1u << FAB_MEASURE_BIDIRECTIONAL,
  FAB_KINDS_STREAM = 1u << FAB_MEASURE_BANDWIDTH | 1u << FAB_MEASURE_BIDIRECTIONAL,
};

gboolean fab_cuda_host_links (FabCudaRun *run, const FabGpu *gpu, GError **error);
gboolean fab_cuda_on_device (FabCudaRun *run, const FabGpu *gpu, GError **error);
gboolean fab_cuda_pair (FabCudaRun *run, const FabGpu *from, const FabGpu *to, GError **error);
/* Measures several at the same time: the host to every GPU and back, disjoint pairs of GPUs. */
gboolean fab_cuda_many (FabCudaRun *run, GError **error);
