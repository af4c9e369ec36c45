/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - a machine with GPUs that are not there: memory that holds bytes, streams, and simulated time.
 *
 * Work is queued and runs, in the order in which it was queued, when somebody synchronizes. Bytes are really copied;
 * how long that took is arithmetic, so that tests know what to expect:
 *
 *   queueing one thing              2000 ns of the host
 *   host to GPU                     1000 ns + size at 25 GB/s; GPUs 2k and 2k + 1 share the link
 *   GPU to host                     1000 ns + size at 20 GB/s; so do they here
 *   pageable memory, both ways      5000 ns + size at 5 GB/s, the host waits
 *   inside a GPU                     500 ns + size at 1000 GB/s
 *   GPU to GPU, direct               800 ns + size at 100 GB/s
 *   GPU to GPU, through the host   10000 ns + size at 10 GB/s
 *   the same by a kernel           3000 ns in place of the first number; kernels fill all multiprocessors of a GPU, and
 *                                  so two of them take turns
 *   both ways by one kernel        3000 ns + size at the rate of the slower way
 *   ping-pong, one way               700 ns + size at 50 GB/s
 *   a collective                   20000 ns + size at 100 GB/s
 *   a kernel that moves memory      3000 ns + what it reads and writes at 2000 GB/s; one that does nothing 1500 ns
 *   a product                       4000 ns + 2 m n k at 100 TFLOP/s (BF16, FP16), 50 (TF32) or 200 (FP8); the first of
 *                                   cuBLASLt's three algorithms takes twice as long, the last three times
 *
 * Environment: FAKE_GPUS (1), FAKE_GPU_MEMORY in bytes, FAKE_GPU_FAIL: what goes wrong, a word for fake_fails.
 */
#pragma once

#include "validate/measure/cuda/driver.h"

#define FAKE_MAX_GPUS 8
#define FAKE_QUEUE_NS 2000.0

typedef struct {
  guint gpu;
  gboolean is_default;
  double now_ns;
  GPtrArray *threads; /* ping-pong kernels that run */
} FakeStream;

typedef struct {
  double ns;
} FakeEvent;

typedef struct {
  guint8 *data;
  gsize size;
  int gpu; /* -1: pinned memory of the host */
} FakeBlock;

typedef enum { FAKE_TO_GPU, FAKE_TO_HOST, FAKE_INSIDE, FAKE_DIRECT, FAKE_STAGED, FAKE_N_WAYS } FakeWay;

typedef struct {
  FakeStream *stream;
  gpointer to, from;
  gsize size;
  FakeWay way;
  guint link; /* which of its kind */
  gboolean is_kernel, is_pageable;
  gpointer back_to, back_from; /* both ways by one kernel; NULL: one way */
} FakeCopy;

typedef struct {
  guint n_gpus;
  gsize memory_bytes, used_bytes[FAKE_MAX_GPUS];
  guint current; /* the context of the caller: of the GPU with this number */
  gboolean is_peer[FAKE_MAX_GPUS][FAKE_MAX_GPUS];
  guint n_retained[FAKE_MAX_GPUS];
  FakeStream defaults[FAKE_MAX_GPUS];
  double host_ns;
  double free_ns[FAKE_N_WAYS][FAKE_MAX_GPUS];
  double multiprocessors_free_ns[FAKE_MAX_GPUS];
  GPtrArray *blocks; /* FakeBlock */
  GArray *work;
  int n_live; /* streams, events and modules */
} FakeMachine;

FakeMachine *fake_machine (void);
void fake_machine_reset (void); /* reads the environment */
gboolean fake_fails (const char *word);

FakeBlock *fake_block_find (gconstpointer pointer, gsize size);
CuResult fake_block_new (gsize size, int gpu, void **pointer);
CuResult fake_block_free (gconstpointer pointer);

FakeStream *fake_stream (CuStream stream);

/* All of these only queue. */
void fake_queue_copy (const FakeCopy *copy);
void fake_queue_record (FakeStream *stream, FakeEvent *event);
void fake_queue_wait_event (FakeStream *stream, FakeEvent *event);
void fake_queue_wait_word (FakeStream *stream, const guint32 *word, guint32 value);
void fake_queue_kernel (FakeStream *stream, double ns);
void fake_queue_collective (FakeStream *const *streams, guint n_streams, gsize size);

/* Runs everything that is queued, and waits for this stream. */
CuResult fake_run (FakeStream *stream);

/* Streams, events, modules, memory and contexts that are still there. */
int fake_gpu_live (void);
