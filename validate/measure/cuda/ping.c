/* SPDX-License-Identifier: Apache-2.0 */
/* ping.c - starts both ends of a ping-pong, or starts one and acts as the other. */
#include "validate/measure/cuda/ping.h"

#define PATIENCE_US (10 * G_USEC_PER_SEC)
#define HALF_PS_PER_NS 500

gboolean
fab_ping_open (FabPingPong *self, FabGpus *gpus, const FabGpu *begins, const FabGpu *answers, GError **error)
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

void
fab_ping_close (FabPingPong *self)
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
      && fab_kernels_ping (self->gpus, gpu, ping, self->streams[end], error);
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

gboolean
fab_ping_time (gpointer ping_pong, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
               GError **error)
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
