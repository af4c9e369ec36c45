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
} FabWay;

/* Copies in one direction and back. `kinds` is a mask (1u << FAB_MEASURE_...); those that the plan has are measured. */
typedef struct {
  FabSeries series; /* its texts are not owned; fab_cuda_copies sets `kind` */
  guint kinds;
  FabWay there, back;
  gboolean is_pageable;
} FabCopies;

enum {
  FAB_KINDS_ALONE = 1u << FAB_MEASURE_LATENCY | 1u << FAB_MEASURE_BANDWIDTH,
  FAB_KINDS_BOTH = 1u << FAB_MEASURE_EXCHANGE | 1u << FAB_MEASURE_BIDIRECTIONAL,
  FAB_KINDS_STREAM = 1u << FAB_MEASURE_BANDWIDTH | 1u << FAB_MEASURE_BIDIRECTIONAL,
};

/* Returns the series of such copies. Its texts belong to the arguments. NULL is the host, whose memory is
 * `host_memory`: "host", "pageable". */
FabSeries fab_cuda_series (const FabGpu *from, const FabGpu *to, const char *host_memory, const char *method);

/* Measures lanes with samples long enough for events to time; sizes up to max_bytes, 0: all. */
gboolean fab_cuda_lanes (FabCudaRun *run, const FabSeries *series, FabLanes *lanes, FabBytes max_bytes,
                         FabTimedFunc func, GError **error);
gboolean fab_cuda_copies (FabCudaRun *run, const FabCopies *copies, GError **error);
/* Measures ping-pong by kernels; `answers` NULL: with the host. */
gboolean fab_cuda_ping (FabCudaRun *run, const FabGpu *begins, const FabGpu *answers, GError **error);

/* Allocates pinned host memory that all GPUs can access; fab_cuda_unpin frees it. */
gboolean fab_cuda_pin (FabCudaRun *run, FabBytes size_bytes, void **pointer, GError **error);
void fab_cuda_unpin (FabCudaRun *run, void *pointer); /* accepts NULL */

gboolean fab_cuda_host_links (FabCudaRun *run, const FabGpu *gpu, GError **error);
gboolean fab_cuda_on_device (FabCudaRun *run, const FabGpu *gpu, GError **error);
gboolean fab_cuda_pair (FabCudaRun *run, const FabGpu *from, const FabGpu *to, GError **error);
/* Measures several at the same time: the host to every GPU and back, disjoint pairs of GPUs. */
gboolean fab_cuda_many (FabCudaRun *run, GError **error);

/* Lets both GPUs access the other's memory; FALSE: they cannot. fab_cuda_part ends it. */
gboolean fab_cuda_join (FabCudaRun *run, const FabGpu *a, const FabGpu *b);
void fab_cuda_part (FabCudaRun *run, const FabGpu *a, const FabGpu *b);
