/* SPDX-License-Identifier: Apache-2.0 */
/* copies.c - lets the host measure series of copies and of ping-pong. */
#include <string.h>

#include "validate/measure/cuda/gpus.h"
#include "validate/measure/cuda/near.h"
#include "validate/measure/cuda/run.h"

typedef struct {
  FabGpus *gpus;
  const FabGpu *begins;
  const FabGpu *answers; /* NULL: the host */
  CuStream streams[2];
} FabPingPong;

/* Starts both ends of a ping-pong, or starts one and acts as the other. */

#define PATIENCE_US (10 * G_USEC_PER_SEC)
#define HALF_PS_PER_NS 500

static gboolean cuda_pin (FabCudaRun *run, FabBytes size_bytes, void **pointer, GError **error);

static void cuda_unpin (FabCudaRun *run, void *pointer);

static gboolean
ping_open (FabPingPong *self, FabGpus *gpus, const FabGpu *begins, const FabGpu *answers, GError **error)
{
  const FabGpu *ends[] = { begins, answers };

  *self = (FabPingPong){ .gpus = gpus, .begins = begins, .answers = answers };
  for (guint i = 0; i < G_N_ELEMENTS (ends) && ends[i]; i++)
    if (!fab_gpu_use (gpus, ends[i], error)
        || !fab_cuda_check (gpus->cuda, gpus->cuda->stream_create (&self->streams[i], CU_STREAM_NON_BLOCKING),
                            "make a stream", error))
      return FALSE;
  return TRUE;
}

static void
ping_close (FabPingPong *self)
{
  const FabGpu *ends[] = { self->begins, self->answers };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (self->streams[i]) {
      self->gpus->cuda->context_use (ends[i]->context);
      self->gpus->cuda->stream_destroy (self->streams[i]);
    }
}

static CuPointer
address (const volatile void *shared)
{
  return (CuPointer) (gsize) shared;
}

static gboolean
start_end (FabPingPong *self, guint end, FabPing *ping, GError **error)
{
  const FabGpu *gpu = end == 0 ? self->begins : self->answers;

  ping->begins = end == 0;
  ping->outcome = address (self->gpus->shared->outcome[end]);
  self->gpus->shared->outcome[end][1] = 0;
  return fab_gpu_use (self->gpus, gpu, error)
      && fab_copy_kernels_ping (self->gpus, gpu, ping, self->streams[end], error);
}

static gboolean
start_gpus (FabPingPong *self, FabPing ping, GError **error)
{
  const FabGpu *a = self->begins, *b = self->answers;

  ping.my_flag = a->flag, ping.their_flag = b->flag, ping.their_payload = b->in;
  if (!start_end (self, 0, &ping, error))
    return FALSE;
  ping.my_flag = b->flag, ping.their_flag = a->flag, ping.their_payload = a->in;
  return start_end (self, 1, &ping, error);
}

/* Acts as the host's end. Returns early when the kernel has given up or does not raise its flag in time; the kernel
 * then reports that too. */
static void
answer (FabShared *shared, guint64 first, guint64 last)
{
  gint64 deadline_us = g_get_monotonic_time () + PATIENCE_US;

  for (guint64 turn = first; turn <= last; turn++) {
    for (guint n = 1; __atomic_load_n (&shared->flags[0][0], __ATOMIC_ACQUIRE) < turn; n++)
      if (n % 1024 == 0) {
        if (shared->outcome[0][1] != 0 || g_get_monotonic_time () > deadline_us)
          return;
        g_thread_yield ();
      }
    __atomic_store_n (&shared->flags[1][0], turn, __ATOMIC_RELEASE);
  }
}

static gboolean
start_with_host (FabPingPong *self, FabPing ping, GError **error)
{
  FabShared *shared = self->gpus->shared;

  ping.my_flag = address (shared->flags[1]);
  ping.their_flag = address (shared->flags[0]);
  ping.their_payload = ping.their_flag;
  ping.size_bytes = sizeof (guint64);
  if (!start_end (self, 0, &ping, error))
    return FALSE;
  answer (shared, ping.base + 1, ping.base + 1 + ping.n_rounds);
  return TRUE;
}

/* Waits for both streams, also after a failure. */
static gboolean
finish (FabPingPong *self, GError **error)
{
  const FabGpu *ends[] = { self->begins, self->answers };
  gboolean is_ok = TRUE;

  for (guint i = 0; i < G_N_ELEMENTS (ends) && ends[i]; i++) {
    CuResult result;

    self->gpus->cuda->context_use (ends[i]->context);
    result = self->gpus->cuda->stream_synchronize (self->streams[i]);
    if (is_ok)
      is_ok = fab_cuda_check (self->gpus->cuda, result, ends[i]->name, error);
  }
  return is_ok;
}

/* A FabTimedFunc over FabPingPong. Messages have at least 8 bytes (the flag); with the host exactly 8. */
static gboolean
ping_time (gpointer ping_pong, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps, GError **error)
{
  FabPingPong *self = ping_pong;
  FabPing ping = { .size_bytes = size_bytes, .base = self->gpus->turn, .n_rounds = n_messages };
  const volatile guint64 *outcome = self->gpus->shared->outcome[0];
  gboolean is_started;

  self->gpus->turn += (guint64) n_messages + 1;
  is_started = self->answers ? start_gpus (self, ping, error) : start_with_host (self, ping, error);
  if (!finish (self, is_started ? error : NULL) || !is_started)
    return FALSE;
  if (outcome[1] != FAB_PING_DONE)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "%s and %s: a flag was not answered in 10 s; kernels must run at the same time, which "
                      "CUDA_LAUNCH_BLOCKING and some debuggers prevent",
                      self->begins->name, self->answers ? self->answers->name : "the host");
  *elapsed_ps = MAX ((FabTimePs) outcome[0] * HALF_PS_PER_NS, 1);
  return TRUE;
}

/* The shortest sample: events and the first copy take about 2 us to start, 0.2 % of this. */
#define MIN_SAMPLE_PS G_GINT64_CONSTANT (1000000000)

typedef struct {
  FabMeasureKind kind;
  guint n_lanes;
  FabTimedFunc func;
} Method;

static const Method methods[] = {
  { FAB_MEASURE_LATENCY, 1, fab_copy_streams_single },
  { FAB_MEASURE_BANDWIDTH, 1, fab_copy_streams_stream },
  { FAB_MEASURE_EXCHANGE, 2, fab_copy_streams_exchange },
  { FAB_MEASURE_BIDIRECTIONAL, 2, fab_copy_streams_stream },
};

/* Returns the series of such copies. Its texts belong to the arguments. NULL is the host, whose memory is
 * `host_memory`: "host", "pageable". */
static FabSeries
cuda_series (const FabGpu *from, const FabGpu *to, const char *host_memory, const char *method)
{
  return (FabSeries){
    .backend = (char *) "cuda",
    .from = from ? from->name : (char *) "host",
    .to = to ? to->name : (char *) "host",
    .from_memory = (char *) (from ? "gpu" : host_memory),
    .to_memory = (char *) (to ? "gpu" : host_memory),
    .method = (char *) method,
    .n_ranks = 2,
    .n_pairs = 1,
  };
}

static gboolean
set_lane (FabCopyStreams *lanes, guint index, const FabCopyRoute *way, GError **error)
{
  return fab_copy_streams_set (lanes, index, way->how, way->from, way->to, way->host, error);
}

/* Measures lanes with samples long enough for events to time; sizes up to max_bytes, 0: all. */
static gboolean
cuda_lanes (FabCudaRun *run, const FabSeries *series, FabCopyStreams *lanes, FabBytes max_bytes,
            FabTimedFunc func, GError **error)
{
  FabSeries own = *series;
  gboolean is_ok;

  if (func == fab_copy_streams_stream)
    own.window = lanes->window;
  run->host->min_sample_ps = func == fab_copy_streams_single ? 0 : MIN_SAMPLE_PS;
  is_ok = run->host->measure (run->host, &own, max_bytes, func, lanes, error);
  run->host->min_sample_ps = 0;
  return is_ok;
}

/* The GPU whose multiprocessors would copy both ways; NULL: two GPUs, or a copy engine. */
static const FabGpu *
copies_both_ways (const FabCopies *copies)
{
  const FabCopyRoute *a = &copies->there, *b = &copies->back;
  const FabCopyRoute *down = a->how == FAB_COPY_LOAD ? a : b, *up = a->how == FAB_COPY_LOAD ? b : a;
  gboolean is_host_link = down->how == FAB_COPY_LOAD && up->how == FAB_COPY_STORE && !down->from && !up->to;

  return is_host_link && down->to == up->from ? down->to : NULL;
}

/* Both ways by one kernel: two that fill all multiprocessors would take turns. */
static gboolean
measure_both_ways (FabCudaRun *run, const FabCopies *copies, const FabGpu *gpu, GError **error)
{
  g_autoptr (FabCopyStreams) lanes = fab_copy_streams_new (run->gpus, 1, 1, run->window);
  gboolean is_down = copies->there.how == FAB_COPY_LOAD;
  FabSeries series = copies->series;

  series.kind = FAB_MEASURE_BIDIRECTIONAL;
  return fab_copy_streams_set_both (lanes, 0, gpu, is_down ? copies->there.host : copies->back.host,
                                    is_down ? copies->back.host : copies->there.host, error)
      && cuda_lanes (run, &series, lanes, 0, fab_copy_streams_stream, error);
}

static gboolean
measure_kind (FabCudaRun *run, const FabCopies *copies, const Method *method, GError **error)
{
  if (method->kind == FAB_MEASURE_BIDIRECTIONAL && copies_both_ways (copies))
    return measure_both_ways (run, copies, copies_both_ways (copies), error);
  g_autoptr (FabCopyStreams) lanes = fab_copy_streams_new (run->gpus, method->n_lanes, 1, run->window);
  FabSeries series = copies->series;

  lanes->is_held = !copies->is_pageable;
  series.kind = method->kind;
  return set_lane (lanes, 0, &copies->there, error)
      && (method->n_lanes == 1 || set_lane (lanes, 1, &copies->back, error))
      && cuda_lanes (run, &series, lanes, 0, method->func, error);
}

static gboolean
cuda_copies (FabCudaRun *run, const FabCopies *copies, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if ((copies->kinds & 1u << methods[i].kind) && run->host->plan->kinds[methods[i].kind]
        && !measure_kind (run, copies, &methods[i], error))
      return FALSE;
  return TRUE;
}

/* Measures ping-pong by kernels; `answers` NULL: with the host. */
static gboolean
cuda_ping (FabCudaRun *run, const FabGpu *begins, const FabGpu *answers, GError **error)
{
  FabSeries series = cuda_series (begins, answers, "host", answers ? "kernel" : "flag");
  FabPingPong ping;
  gboolean is_ok;

  if (!run->host->plan->kinds[FAB_MEASURE_LATENCY])
    return TRUE;
  series.kind = FAB_MEASURE_LATENCY;
  if (!answers)
    /* both flags are in the same memory */
    series.from_memory = series.to_memory;
  is_ok = ping_open (&ping, run->gpus, begins, answers, error)
       && run->host->measure (run->host, &series, answers ? run->params->ping_bytes : sizeof (guint64),
                              ping_time, &ping, error);
  ping_close (&ping);
  return is_ok;
}

/* Copies between GPUs: staged by the driver through the host, and direct (P2P) by copy engines and
 * kernels. */

static gboolean
enable (FabCudaRun *run, const FabGpu *from, const FabGpu *to)
{
  const FabCuda *cuda = run->gpus->cuda;
  int can = 0;
  CuResult result;

  if (cuda->can_access_peer (&can, from->device, to->device) != CU_OK || !can
      || cuda->context_use (from->context) != CU_OK)
    return FALSE;
  result = cuda->enable_peer (to->context, 0);
  return result == CU_OK || result == CU_PEER_ALREADY;
}

static void
disable (FabCudaRun *run, const FabGpu *from, const FabGpu *to)
{
  if (run->gpus->cuda->context_use (from->context) == CU_OK)
    run->gpus->cuda->disable_peer (to->context);
}

/* Lets both GPUs access the other's memory; FALSE: they cannot. cuda_part ends it. */
static gboolean
cuda_join (FabCudaRun *run, const FabGpu *a, const FabGpu *b)
{
  if (!enable (run, a, b))
    return FALSE;
  if (enable (run, b, a))
    return TRUE;
  disable (run, a, b);
  return FALSE;
}

static void
cuda_part (FabCudaRun *run, const FabGpu *a, const FabGpu *b)
{
  disable (run, a, b);
  disable (run, b, a);
}

static gboolean
measure_way (FabCudaRun *run, const FabGpu *from, const FabGpu *to, FabCopyHow how, const char *method,
             guint kinds, GError **error)
{
  FabCopies copies = {
    .series = cuda_series (from, to, NULL, method),
    .kinds = kinds,
    .there = { .how = how, .from = from, .to = to },
    .back = { .how = how, .from = to, .to = from },
  };

  return cuda_copies (run, &copies, error);
}

static gboolean
direct (FabCudaRun *run, const FabGpu *from, const FabGpu *to, GError **error)
{
  if (!measure_way (run, from, to, FAB_COPY_PEER, "copy", FAB_KINDS_ALONE | FAB_KINDS_BOTH, error))
    return FALSE;
  if (!run->params->kernels || !fab_gpu_has_kernels (from) || !fab_gpu_has_kernels (to))
    return TRUE;
  return measure_way (run, from, to, FAB_COPY_STORE, "kernel", FAB_KINDS_STREAM | FAB_KINDS_BOTH, error)
      && measure_way (run, from, to, FAB_COPY_LOAD, "kernel-read", FAB_KINDS_STREAM, error)
      && cuda_ping (run, from, to, error);
}

gboolean
fab_cuda_pair (FabCudaRun *run, const FabGpu *from, const FabGpu *to, GError **error)
{
  gboolean is_ok;

  if (run->params->staged
      && !measure_way (run, from, to, FAB_COPY_PEER, "staged", FAB_KINDS_ALONE | FAB_KINDS_BOTH, error))
    return FALSE;
  if (!cuda_join (run, from, to)) {
    if (from->index < to->index)
      run->host->note (
          run->host,
          "%s and %s cannot reach each other's memory (no P2P): only copies staged through the host can "
          "be measured between them",
          from->name, to->name);
    return TRUE;
  }
  is_ok = direct (run, from, to, error);
  cuda_part (run, from, to);
  return is_ok;
}

/* Several copies at once: what GPUs leave each other of the host's links, of switches and of memory.
 *
 * A point's time is that of the slowest lane, so its rate is what every pair has at least.
 */

/* memory pinned for all GPUs together */
static const FabBytes max_host_bytes = G_GUINT64_CONSTANT (256) << 20;

static gboolean
measure (FabCudaRun *run, FabSeries *series, FabCopyStreams *lanes, FabBytes max_bytes, GError **error)
{
  series->kind = FAB_MEASURE_BANDWIDTH;
  series->n_pairs = lanes->n_lanes;
  series->n_ranks = 2 * lanes->n_lanes;
  return cuda_lanes (run, series, lanes, max_bytes, fab_copy_streams_stream, error);
}

/* Makes one lane between the host and each GPU; `is_to_gpus` gives the direction. */
static gboolean
host_lanes (FabCudaRun *run, void **buffers, gboolean is_to_gpus, GError **error)
{
  FabGpus *gpus = run->gpus;
  g_autoptr (FabCopyStreams) lanes = fab_copy_streams_new (gpus, gpus->n_gpus, gpus->n_gpus, run->window);
  FabSeries series = cuda_series (is_to_gpus ? NULL : &gpus->gpus[0], is_to_gpus ? &gpus->gpus[0] : NULL,
                                  "host", "copy");

  *(is_to_gpus ? &series.to : &series.from) = (char *) "gpus";
  for (guint i = 0; i < gpus->n_gpus; i++)
    if (!fab_copy_streams_set (lanes, i, is_to_gpus ? FAB_COPY_TO_GPU : FAB_COPY_TO_HOST,
                               is_to_gpus ? NULL : &gpus->gpus[i], is_to_gpus ? &gpus->gpus[i] : NULL,
                               buffers[i], error))
      return FALSE;
  return measure (run, &series, lanes, MIN (gpus->max_bytes, max_host_bytes), error);
}

static gboolean
all_host_links (FabCudaRun *run, GError **error)
{
  FabGpus *gpus = run->gpus;
  g_autofree void **buffers = g_new0 (void *, gpus->n_gpus);
  FabBytes size_bytes = MIN (gpus->max_bytes, max_host_bytes);
  gboolean is_ok = TRUE;

  for (guint i = 0; is_ok && i < gpus->n_gpus; i++) {
    FabNear *near = fab_near_enter (FAB_NEAR_PCI_DIR, gpus->gpus[i].bus_id);

    is_ok = fab_gpu_use (gpus, &gpus->gpus[i], error) && cuda_pin (run, size_bytes, &buffers[i], error);
    fab_near_leave (near);
  }
  is_ok = is_ok && host_lanes (run, buffers, TRUE, error) && host_lanes (run, buffers, FALSE, error);
  for (guint i = 0; i < gpus->n_gpus; i++)
    cuda_unpin (run, buffers[i]);
  return is_ok;
}

/* Makes the pairs gpu0 to gpu1, gpu2 to gpu3, ... */
static gboolean
disjoint_pairs (FabCudaRun *run, guint n_pairs, GError **error)
{
  const FabGpu *gpus = run->gpus->gpus;
  g_autoptr (FabCopyStreams) lanes = fab_copy_streams_new (run->gpus, n_pairs, n_pairs, run->window);
  FabSeries series = cuda_series (&gpus[0], &gpus[1], NULL, "copy");

  for (guint i = 0; i < n_pairs; i++)
    if (!fab_copy_streams_set (lanes, i, FAB_COPY_PEER, &gpus[2 * i], &gpus[2 * i + 1], NULL, error))
      return FALSE;
  return measure (run, &series, lanes, 0, error);
}

gboolean
fab_cuda_many (FabCudaRun *run, GError **error)
{
  const FabGpu *gpus = run->gpus->gpus;
  guint n_joined = 0;
  gboolean is_ok = TRUE;

  if (run->gpus->n_gpus < 2 || !run->host->plan->kinds[FAB_MEASURE_BANDWIDTH])
    return TRUE;
  if (!all_host_links (run, error))
    return FALSE;
  while (2 * n_joined + 1 < run->gpus->n_gpus
         && cuda_join (run, &gpus[2 * n_joined], &gpus[2 * n_joined + 1]))
    n_joined++;
  for (guint n = 2; is_ok && n <= n_joined; n++)
    is_ok = disjoint_pairs (run, n, error);
  for (guint i = 0; i < n_joined; i++)
    cuda_part (run, &gpus[2 * i], &gpus[2 * i + 1]);
  return is_ok;
}

/* Copies between host and GPU: pinned and pageable memory, copy engines and kernels, one way and
 * both. */

static gboolean
cuda_pin (FabCudaRun *run, FabBytes size_bytes, void **pointer, GError **error)
{
  const FabCuda *cuda = run->gpus->cuda;
  CuResult result = cuda->host_alloc (pointer, (gsize) size_bytes, CU_HOST_PORTABLE | CU_HOST_MAPPED);
  g_autofree char *size = fab_units_write_whole (FAB_UNIT_BYTES, (gint64) size_bytes);

  if (result == CU_OUT_OF_MEMORY)
    return fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "the host has no room for pinned buffers of %s (CUDA_ERROR_OUT_OF_MEMORY): measure smaller "
        "messages",
        size);
  if (!fab_cuda_check (cuda, result, "pin host memory", error))
    return FALSE;
  memset (*pointer, 1, (gsize) size_bytes);
  return TRUE;
}

/* accepts NULL */
static void
cuda_unpin (FabCudaRun *run, void *pointer)
{
  if (pointer)
    run->gpus->cuda->host_free (pointer);
}

/* Returns the copies from the host to a GPU and back; the host sends from `out` and receives into `in`. */
static FabCopies
to_gpu (const FabGpu *gpu, const char *memory, const char *method, void *out, void *in)
{
  gboolean is_kernel = g_str_equal (method, "kernel");

  return (FabCopies){
    .series = cuda_series (NULL, gpu, memory, method),
    .there = { .how = is_kernel ? FAB_COPY_LOAD : FAB_COPY_TO_GPU, .to = gpu, .host = out },
    .back = { .how = is_kernel ? FAB_COPY_STORE : FAB_COPY_TO_HOST, .from = gpu, .host = in },
  };
}

static FabCopies
to_host (const FabGpu *gpu, const char *memory, const char *method, void *out, void *in)
{
  FabCopies copies = to_gpu (gpu, memory, method, out, in);
  FabCopyRoute there = copies.there;

  copies.series = cuda_series (gpu, NULL, memory, method);
  copies.there = copies.back;
  copies.back = there;
  return copies;
}

static gboolean
pinned (FabCudaRun *run, const FabGpu *gpu, void *out, void *in, GError **error)
{
  FabCopies down = to_gpu (gpu, "host", "copy", out, in), up = to_host (gpu, "host", "copy", out, in);

  down.kinds = up.kinds = FAB_KINDS_ALONE | FAB_KINDS_BOTH;
  if (!cuda_copies (run, &down, error) || !cuda_copies (run, &up, error))
    return FALSE;
  if (!run->params->kernels || !fab_gpu_has_kernels (gpu))
    return TRUE;
  down = to_gpu (gpu, "host", "kernel", out, in), up = to_host (gpu, "host", "kernel", out, in);
  down.kinds = up.kinds = FAB_KINDS_STREAM;
  return cuda_copies (run, &down, error) && cuda_copies (run, &up, error)
      && cuda_ping (run, gpu, NULL, error);
}

static gboolean
pageable (FabCudaRun *run, const FabGpu *gpu, GError **error)
{
  gsize size = (gsize) run->gpus->max_bytes;
  g_autofree void *buffer = g_try_malloc (size);
  FabCopies down = to_gpu (gpu, "pageable", "copy", buffer, buffer);
  FabCopies up = to_host (gpu, "pageable", "copy", buffer, buffer);

  if (!buffer)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "the host has no room for a buffer of %" G_GSIZE_FORMAT " bytes", size);
  memset (buffer, 1, size);
  down.kinds = up.kinds = FAB_KINDS_ALONE;
  down.is_pageable = up.is_pageable = TRUE;
  return cuda_copies (run, &down, error) && cuda_copies (run, &up, error);
}

/* The thread moves near the GPU meanwhile, so that the memory it allocates is near; it also copies pageable memory
 * itself. */
gboolean
fab_cuda_host_links (FabCudaRun *run, const FabGpu *gpu, GError **error)
{
  FabNear *near = fab_near_enter (FAB_NEAR_PCI_DIR, gpu->bus_id);
  g_autofree char *key = g_strconcat (gpu->name, ".cpus", NULL);
  void *out = NULL, *in = NULL;
  gboolean is_ok;

  if (near)
    run->host->machine (run->host, key, fab_near_cpus (near));
  else
    run->host->note (
        run->host,
        "which processors are near %s (%s) is not known here: the host memory that it is measured with "
        "may be far from it",
        gpu->name, gpu->bus_id);
  is_ok = fab_gpu_use (run->gpus, gpu, error) && cuda_pin (run, run->gpus->max_bytes, &out, error)
       && cuda_pin (run, run->gpus->max_bytes, &in, error) && pinned (run, gpu, out, in, error)
       && (!run->params->pageable || pageable (run, gpu, error));
  cuda_unpin (run, out);
  cuda_unpin (run, in);
  fab_near_leave (near);
  return is_ok;
}

gboolean
fab_cuda_on_device (FabCudaRun *run, const FabGpu *gpu, GError **error)
{
  FabCopyRoute copy = { .how = FAB_COPY_ON_GPU, .from = gpu, .to = gpu };
  FabCopyRoute kernel = { .how = FAB_COPY_STORE, .from = gpu, .to = gpu };
  FabCopies by_engine = { .series = cuda_series (gpu, gpu, NULL, "copy"),
                          .kinds = FAB_KINDS_ALONE,
                          .there = copy };
  FabCopies by_kernel = { .series = cuda_series (gpu, gpu, NULL, "kernel"),
                          .kinds = 1u << FAB_MEASURE_BANDWIDTH,
                          .there = kernel };

  return cuda_copies (run, &by_engine, error)
      && (!run->params->kernels || !fab_gpu_has_kernels (gpu) || cuda_copies (run, &by_kernel, error));
}
