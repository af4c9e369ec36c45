/* SPDX-License-Identifier: Apache-2.0 */
/* host_links.c - copies between host and GPU: pinned and pageable memory, copy engines and kernels, one way and
 * both. */
#include <string.h>

#include "validate/measure/cuda/near.h"
#include "validate/measure/cuda/run.h"

gboolean
fab_cuda_pin (FabCudaRun *run, FabBytes size_bytes, void **pointer, GError **error)
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

void
fab_cuda_unpin (FabCudaRun *run, void *pointer)
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
    .series = fab_cuda_series (NULL, gpu, memory, method),
    .there = { .how = is_kernel ? FAB_COPY_LOAD : FAB_COPY_TO_GPU, .to = gpu, .host = out },
    .back = { .how = is_kernel ? FAB_COPY_STORE : FAB_COPY_TO_HOST, .from = gpu, .host = in },
  };
}

static FabCopies
to_host (const FabGpu *gpu, const char *memory, const char *method, void *out, void *in)
{
  FabCopies copies = to_gpu (gpu, memory, method, out, in);
  FabWay there = copies.there;

  copies.series = fab_cuda_series (gpu, NULL, memory, method);
  copies.there = copies.back;
  copies.back = there;
  return copies;
}

static gboolean
pinned (FabCudaRun *run, const FabGpu *gpu, void *out, void *in, GError **error)
{
  FabCopies down = to_gpu (gpu, "host", "copy", out, in), up = to_host (gpu, "host", "copy", out, in);

  down.kinds = up.kinds = FAB_KINDS_ALONE | FAB_KINDS_BOTH;
  if (!fab_cuda_copies (run, &down, error) || !fab_cuda_copies (run, &up, error))
    return FALSE;
  if (!run->params->kernels || !fab_gpu_has_kernels (gpu))
    return TRUE;
  down = to_gpu (gpu, "host", "kernel", out, in), up = to_host (gpu, "host", "kernel", out, in);
  down.kinds = up.kinds = FAB_KINDS_STREAM;
  return fab_cuda_copies (run, &down, error) && fab_cuda_copies (run, &up, error)
      && fab_cuda_ping (run, gpu, NULL, error);
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
  return fab_cuda_copies (run, &down, error) && fab_cuda_copies (run, &up, error);
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
  is_ok = fab_gpu_use (run->gpus, gpu, error) && fab_cuda_pin (run, run->gpus->max_bytes, &out, error)
       && fab_cuda_pin (run, run->gpus->max_bytes, &in, error) && pinned (run, gpu, out, in, error)
       && (!run->params->pageable || pageable (run, gpu, error));
  fab_cuda_unpin (run, out);
  fab_cuda_unpin (run, in);
  fab_near_leave (near);
  return is_ok;
}

gboolean
fab_cuda_on_device (FabCudaRun *run, const FabGpu *gpu, GError **error)
{
  FabWay copy = { .how = FAB_COPY_ON_GPU, .from = gpu, .to = gpu };
  FabWay kernel = { .how = FAB_COPY_STORE, .from = gpu, .to = gpu };
  FabCopies by_engine = { .series = fab_cuda_series (gpu, gpu, NULL, "copy"),
                          .kinds = FAB_KINDS_ALONE,
                          .there = copy };
  FabCopies by_kernel = { .series = fab_cuda_series (gpu, gpu, NULL, "kernel"),
                          .kinds = 1u << FAB_MEASURE_BANDWIDTH,
                          .there = kernel };

  return fab_cuda_copies (run, &by_engine, error)
      && (!run->params->kernels || !fab_gpu_has_kernels (gpu) || fab_cuda_copies (run, &by_kernel, error));
}
