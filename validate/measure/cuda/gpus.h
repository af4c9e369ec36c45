/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.h - opens the GPUs of this machine: context, buffers, kernels. One thread uses them at a time
 * (fab_gpu_use). */
#pragma once

#include "sim/base/units.h"
#include "validate/measure/cuda/driver.h"

#define FAB_CUDA_MAX_GPUS 64

enum { FAB_KERNEL_COPY, FAB_KERNEL_COPY_BOTH, FAB_KERNEL_HOLD, FAB_KERNEL_PING, FAB_N_KERNELS };

typedef struct {
  guint index;
  char *name; /* "gpu0" */
  char *model;
  char *bus_id; /* "0000:1a:00.0", lower case as in /sys */
  char *uuid;   /* "GPU-..." */
  CuDevice device;
  CuContext context;
  guint n_multiprocessors;
  guint capability_major, capability_minor;
  gsize memory_bytes;
  CuPointer out, in; /* two buffers of max_bytes: what it sends, and what it receives */
  CuPointer flag;    /* 8 bytes that a peer raises, alone in their allocation */
  CuModule module;
  CuFunction kernels[FAB_N_KERNELS]; /* NULL: built without kernels */
} FabGpu;

/* Words in host memory that every GPU can access. */
typedef struct {
  volatile guint32 hold; /* streams wait until this reaches their epoch */
  guint32 padding[15];
  volatile guint64 outcome[2][8]; /* of fab_ping: each end writes its own cache line */
  volatile guint64 flags[2][8];   /* ping-pong of host and GPU: the GPU raises [0], the host [1] */
} FabShared;

typedef struct {
  FabCuda *cuda;
  FabGpu *gpus;
  guint n_gpus;
  FabBytes max_bytes;
  FabShared *shared;
  gboolean can_wait_value; /* streams can wait for a word of memory */
  guint32 epoch;           /* last value used for `hold` */
  guint64 turn;            /* last value used for ping-pong flags */
  char *driver;            /* "CUDA 13.0" */
} FabGpus;

/* Opens the first `n_wanted` GPUs (0: all), with two buffers of max_bytes each. (transfer full) */
FabGpus *fab_gpus_open (guint n_wanted, FabBytes max_bytes, GError **error);
/* Opens only the GPU `index`, as gpus[0], with the same buffers. (transfer full) */
FabGpus *fab_gpus_open_one (guint index, FabBytes max_bytes, GError **error);
void fab_gpus_close (FabGpus *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGpus, fab_gpus_close)

/* Makes the GPU's context current in this thread. */
gboolean fab_gpu_use (const FabGpus *self, const FabGpu *gpu, GError **error);

/* Returns the compiled kernels.cu; NULL when the program was built without nvcc. */
const void *fab_cuda_kernels (void);

/* Says whether this GPU can run the kernels. */
gboolean fab_gpu_has_kernels (const FabGpu *gpu);
/* Loads the kernels into all GPUs that can run them; does nothing when the program has none. */
gboolean fab_copy_kernels_load (FabGpus *self, GError **error);

/* All of these queue work on the stream and return at once. */
gboolean fab_copy_kernels_copy (const FabGpus *self, const FabGpu *gpu, CuPointer to, CuPointer from,
                                FabBytes size_bytes, CuStream stream, GError **error);
/* Copies size_bytes from `from` to `to` and as many from `back_from` to `back_to`, at the same time. */
gboolean fab_copy_kernels_both (const FabGpus *self, const FabGpu *gpu, CuPointer to, CuPointer from,
                                CuPointer back_to, CuPointer back_from, FabBytes size_bytes, CuStream stream,
                                GError **error);
gboolean fab_copy_kernels_hold (const FabGpus *self, const FabGpu *gpu, guint32 epoch, CuStream stream,
                                GError **error);

typedef struct {
  CuPointer my_flag, their_flag, their_payload;
  FabBytes size_bytes; /* of a message, including the flag's 8 bytes */
  guint64 base, n_rounds;
  gboolean begins;
  CuPointer outcome;
} FabPing;
gboolean fab_copy_kernels_ping (const FabGpus *self, const FabGpu *gpu, const FabPing *ping, CuStream stream,
                                GError **error);

enum { FAB_PING_DONE = 1, FAB_PING_NO_ANSWER = 2 }; /* values of outcome[1] */
