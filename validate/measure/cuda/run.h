/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - one run of the backend: what is measured, each part in its own file. */
#pragma once

#include "validate/measure/cuda/lanes.h"

/* `--set KEY=VALUE` */
typedef struct {
  gint64 n_gpus; /* 0: all */
  gboolean pageable, staged, kernels;
  FabBytes ping_bytes; /* largest message of ping-pong kernels */
} FabCudaParams;

typedef struct {
  FabMeasureHost *host;
  const FabCudaParams *params;
  FabGpus *gpus;
  guint window;
} FabCudaRun;

/* One way, without the stream it will be on. */
typedef struct {
  FabCopyHow how;
  const FabGpu *from, *to; /* NULL: the host */
  void *host;
} FabWay;

/* Copies one way and back, measured in the kinds of the mask (1u << FAB_MEASURE_...) that the plan has. */
typedef struct {
  FabSeries series; /* texts are not owned; kind is set here */
  guint kinds;
  FabWay there, back;
  gboolean is_pageable;
} FabCopies;

enum {
  FAB_KINDS_ALONE = 1u << FAB_MEASURE_LATENCY | 1u << FAB_MEASURE_BANDWIDTH,
  FAB_KINDS_BOTH = 1u << FAB_MEASURE_EXCHANGE | 1u << FAB_MEASURE_BIDIRECTIONAL,
  FAB_KINDS_STREAM = 1u << FAB_MEASURE_BANDWIDTH | 1u << FAB_MEASURE_BIDIRECTIONAL,
};

/* Texts stay those of the arguments; NULL is the host, and `host_memory` what it has there: "host", "pageable". */
FabSeries fab_cuda_series (const FabGpu *from, const FabGpu *to, const char *host_memory, const char *method);

/* Measures lanes, in samples long enough for what is timed by events; sizes up to max_bytes, 0: all. */
gboolean fab_cuda_lanes (FabCudaRun *run, const FabSeries *series, FabLanes *lanes, FabBytes max_bytes,
                         FabTimedFunc func, GError **error);
gboolean fab_cuda_copies (FabCudaRun *run, const FabCopies *copies, GError **error);
/* Ping-pong kernels; `answers` NULL: the host. */
gboolean fab_cuda_ping (FabCudaRun *run, const FabGpu *begins, const FabGpu *answers, GError **error);

/* Pinned host memory that all GPUs see. */
gboolean fab_cuda_pin (FabCudaRun *run, FabBytes size_bytes, void **pointer, GError **error);
void fab_cuda_unpin (FabCudaRun *run, void *pointer); /* accepts NULL */

gboolean fab_cuda_host_links (FabCudaRun *run, const FabGpu *gpu, GError **error);
gboolean fab_cuda_on_device (FabCudaRun *run, const FabGpu *gpu, GError **error);
gboolean fab_cuda_pair (FabCudaRun *run, const FabGpu *from, const FabGpu *to, GError **error);
/* Several at once: the host to every GPU and back, disjoint pairs of GPUs. */
gboolean fab_cuda_many (FabCudaRun *run, GError **error);

/* Lets both reach the other's memory; FALSE: they cannot. */
gboolean fab_cuda_join (FabCudaRun *run, const FabGpu *a, const FabGpu *b);
void fab_cuda_part (FabCudaRun *run, const FabGpu *a, const FabGpu *b);
