/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - loads the kernels of kernels.cu into a GPU and launches them. */
#include "validate/measure/cuda/gpus.h"

#define COPY_THREADS 512u
#define PING_MAX_THREADS 1024u
#define WORD_BYTES 8u

/* How long a kernel waits for the other end, in ns. */
static const guint64 patience_ns = G_GUINT64_CONSTANT (10000000000);

static const char *const names[FAB_N_KERNELS] = { "fab_copy", "fab_copy_both", "fab_hold", "fab_ping" };

gboolean
fab_gpu_has_kernels (const FabGpu *gpu)
{
  return gpu->module != NULL;
}

static gboolean
launch (const FabGpus *self, const FabGpu *gpu, guint kernel, guint n_blocks, guint n_threads,
        void **arguments, CuStream stream, GError **error)
{
  g_autofree char *doing = g_strdup_printf ("%s: launch %s", gpu->name, names[kernel]);

  return fab_cuda_check (self->cuda,
                         self->cuda->launch (gpu->kernels[kernel], n_blocks, 1, 1, n_threads, 1, 1, 0, stream,
                                             arguments, NULL),
                         doing, error);
}

/* Launches each kernel once. The driver may load code at the first launch and wait for all running kernels meanwhile:
 * a ping-pong would then never end. */
static gboolean
warm_up (const FabGpus *self, const FabGpu *gpu, GError **error)
{
  guint64 nothing = 0;
  guint32 now = self->epoch;
  guint begins = 1;
  CuPointer flag = gpu->flag, hold = (CuPointer) (gsize) &self->shared->hold;
  void *copy[] = { &flag, &flag, &nothing };
  void *both[] = { &flag, &flag, &flag, &flag, &nothing };
  void *wait[] = { &hold, &now, &nothing };
  CuPointer outcome = (CuPointer) (gsize) &self->shared->outcome[0];
  /* the ping kernel answers itself here */
  void *ping[] = { &flag, &flag, &flag, &nothing, &nothing, &nothing, &nothing, &begins, &outcome };

  return launch (self, gpu, FAB_KERNEL_COPY, 1, 1, copy, NULL, error)
      && launch (self, gpu, FAB_KERNEL_COPY_BOTH, 2, 1, both, NULL, error)
      && launch (self, gpu, FAB_KERNEL_HOLD, 1, 1, wait, NULL, error)
      && launch (self, gpu, FAB_KERNEL_PING, 1, 1, ping, NULL, error)
      && fab_cuda_check (self->cuda, self->cuda->stream_synchronize (NULL), "run the first kernels", error)
      && fab_cuda_check (self->cuda, self->cuda->fill (gpu->flag, 0, WORD_BYTES), "clear a flag", error);
}

static gboolean
load (const FabGpus *self, FabGpu *gpu, const void *image, GError **error)
{
  CuResult result;

  if (!fab_gpu_use (self, gpu, error))
    return FALSE;
  result = self->cuda->module_load (&gpu->module, image);
  if (result == CU_NO_BINARY || result == CU_UNSUPPORTED_PTX) {
    /* the toolkit did not know this GPU or driver: only copy engines are used */
    gpu->module = NULL;
    return TRUE;
  }
  if (!fab_cuda_check (self->cuda, result, "load the kernels", error))
    return FALSE;
  for (guint i = 0; i < FAB_N_KERNELS; i++)
    if (!fab_cuda_check (self->cuda, self->cuda->module_function (&gpu->kernels[i], gpu->module, names[i]),
                         names[i], error))
      return FALSE;
  return warm_up (self, gpu, error);
}

gboolean
fab_copy_kernels_load (FabGpus *self, GError **error)
{
  const void *image = fab_cuda_kernels ();

  for (guint i = 0; image && i < self->n_gpus; i++)
    if (!load (self, &self->gpus[i], image, error))
      return FALSE;
  return TRUE;
}

/* Enough blocks for the size, at most as many as run at the same time. */
static guint
count_blocks (const FabGpu *gpu, FabBytes size_bytes, guint per_multiprocessor)
{
  FabBytes n_blocks = (size_bytes + COPY_THREADS * 16 - 1) / (COPY_THREADS * 16);

  return (guint) CLAMP (n_blocks, 1, (FabBytes) per_multiprocessor * gpu->n_multiprocessors);
}

gboolean
fab_copy_kernels_copy (const FabGpus *self, const FabGpu *gpu, CuPointer to, CuPointer from,
                       FabBytes size_bytes, CuStream stream, GError **error)
{
  void *arguments[] = { &to, &from, &size_bytes };

  return launch (self, gpu, FAB_KERNEL_COPY, count_blocks (gpu, size_bytes, 4), COPY_THREADS, arguments,
                 stream, error);
}

gboolean
fab_copy_kernels_both (const FabGpus *self, const FabGpu *gpu, CuPointer to, CuPointer from,
                       CuPointer back_to, CuPointer back_from, FabBytes size_bytes, CuStream stream,
                       GError **error)
{
  void *arguments[] = { &to, &from, &back_to, &back_from, &size_bytes };

  return launch (self, gpu, FAB_KERNEL_COPY_BOTH, 2 * count_blocks (gpu, size_bytes, 2), COPY_THREADS,
                 arguments, stream, error);
}

gboolean
fab_copy_kernels_hold (const FabGpus *self, const FabGpu *gpu, guint32 epoch, CuStream stream, GError **error)
{
  CuPointer word = (CuPointer) (gsize) &self->shared->hold;
  guint64 limit_ns = patience_ns;
  void *arguments[] = { &word, &epoch, &limit_ns };

  return launch (self, gpu, FAB_KERNEL_HOLD, 1, 1, arguments, stream, error);
}

gboolean
fab_copy_kernels_ping (const FabGpus *self, const FabGpu *gpu, const FabPing *ping, CuStream stream,
                       GError **error)
{
  FabPing p = *ping;
  guint64 n_words = p.size_bytes > WORD_BYTES ? (p.size_bytes + WORD_BYTES - 1) / WORD_BYTES - 1 : 0;
  guint64 limit_ns = patience_ns;
  guint begins = p.begins ? 1 : 0;
  guint n_threads = (guint) CLAMP ((n_words + 31) / 32 * 32, 32, PING_MAX_THREADS);
  void *arguments[] = { &p.my_flag,  &p.their_flag, &p.their_payload, &n_words,  &p.base,
                        &p.n_rounds, &limit_ns,     &begins,          &p.outcome };

  return launch (self, gpu, FAB_KERNEL_PING, 1, n_threads, arguments, stream, error);
}
