/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - declares the parts of one run of the backend `compute`; each part has a file of its own. */
#pragma once

#include "validate/measure/compute/blaslt.h"
#include "validate/measure/host.h"

/* `--set KEY=VALUE` */
typedef struct {
  gint64 gpu;
  const char *shapes, *precisions; /* NULL: the usual ones */
  gint64 algorithms;               /* how many of those that the library names are tried */
  FabTimePs sustained_ps;          /* length of a sample of the long products; 0: none */
  FabBytes buffer_bytes;           /* largest buffer: shapes that need more are left out */
} FabComputeParams;

enum { FAB_WORK_EMPTY, FAB_WORK_COPY, FAB_WORK_ADD, FAB_WORK_NORM, FAB_N_WORKS };

typedef struct {
  FabMeasureHost *host;
  const FabComputeParams *params;
  FabGpus *gpus;
  const FabGpu *gpu;
  CuStream stream;
  CuEvent start, end;
  CuModule module;
  GArray *shapes; /* FabProductShape */
  gboolean precisions[FAB_N_LT];
  CuFunction works[FAB_N_WORKS]; /* NULL: the driver does not compile the kernels */
} FabComputeRun;

/* Queues one message on the stream of the run. */
typedef gboolean (*FabQueueFunc) (gpointer data, FabBytes size_bytes, GError **error);

/* What fab_timed_queue, a FabTimedFunc, measures: it holds the stream until up to `window` messages are queued, and
 * times them by events. */
typedef struct {
  FabComputeRun *run;
  FabQueueFunc queue;
  gpointer data;
  guint window;
  gboolean by_host; /* not held, and timed by the clock of the host until the last has ended */
} FabTimedQueue;

gboolean fab_timed_queue (gpointer queue, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                          GError **error);

/* Returns a series on the GPU; its texts belong to the arguments. */
FabSeries fab_compute_series (const FabComputeRun *run, FabMeasureKind kind, const char *op,
                              const char *method);

/* Loads the kernels of kernels.ptx. Leaves the run without them, with a note, when the driver does not compile them. */
gboolean fab_works_load (FabComputeRun *run, GError **error);
/* Measures kernels that move memory, copies, and launches of a kernel that does nothing. */
gboolean fab_works_measure (FabComputeRun *run, GError **error);

/* Reads shapes and precisions from the parameters. The caller frees run->shapes. */
gboolean fab_products_read (FabComputeRun *run, GError **error);
/* Measures products of all shapes and precisions. Notes what the library cannot do; without the library only that. */
gboolean fab_products_measure (FabComputeRun *run, GError **error);
