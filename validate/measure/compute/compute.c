/* SPDX-License-Identifier: Apache-2.0 */
/* compute.c - the backend `compute`: kernels of training on one GPU of this machine.
 *
 * In this order: launches of a kernel that does nothing, kernels that move memory, copies, matrix products. What each
 * series is, is in docs/how-to/measure-compute.md. Attention is not measured here: `fabricast import trace --calibrate`
 * reads it from a profile of PyTorch.
 */
#include "validate/measure/compute/run.h"
#include "validate/measure/cuda/nvml.h"

static const FabParam params[] = {
  {
      .key = "gpu",
      .type = FAB_PARAM_COUNT,
      .offset = G_STRUCT_OFFSET (FabComputeParams, gpu),
      .fallback = "0",
      .max = FAB_CUDA_MAX_GPUS - 1,
      .help = "Number of the GPU, as CUDA counts them.",
  },
  {
      .key = "shapes",
      .type = FAB_PARAM_TEXT,
      .offset = G_STRUCT_OFFSET (FabComputeParams, shapes),
      .fallback = "",
      .takes_list = TRUE,
      .help =
          "Products to measure, rows x columns x depth: 4096x14336x4096,8192x8192x8192; empty: layers of GPT-2 XL and "
          "Llama 3.",
  },
  {
      .key = "precisions",
      .type = FAB_PARAM_TEXT,
      .offset = G_STRUCT_OFFSET (FabComputeParams, precisions),
      .fallback = "",
      .takes_list = TRUE,
      .help = "Precisions of the products: bf16, fp16, tf32, fp8; empty: all of them.",
  },
  {
      .key = "algorithms",
      .type = FAB_PARAM_COUNT,
      .offset = G_STRUCT_OFFSET (FabComputeParams, algorithms),
      .fallback = "5",
      .min = 1,
      .max = 8,
      .help = "Algorithms of cuBLASLt to try for each product, of which the fastest is measured.",
  },
  {
      .key = "sustained",
      .type = FAB_PARAM_TIME,
      .offset = G_STRUCT_OFFSET (FabComputeParams, sustained_ps),
      .fallback = "500ms",
      .max = 6e13,
      .help =
          "Length of the samples in which large products are measured once more, so that the power limit shows; 0: not "
          "at all.",
  },
  {
      .key = "buffer",
      .type = FAB_PARAM_BYTES,
      .offset = G_STRUCT_OFFSET (FabComputeParams, buffer_bytes),
      .fallback = "4GiB",
      .min = 1 << 20,
      .max = 1e12,
      .help = "Size of each of the two buffers on the GPU; products that need more are left out.",
  },
  { NULL },
};

static gboolean
open_run (FabComputeRun *run, GError **error)
{
  const FabCuda *cuda = run->gpus->cuda;

  return fab_gpu_use (run->gpus, run->gpu, error)
      && fab_cuda_check (cuda, cuda->stream_create (&run->stream, CU_STREAM_NON_BLOCKING), "make a stream",
                         error)
      && fab_cuda_check (cuda, cuda->event_create (&run->start, 0), "make an event", error)
      && fab_cuda_check (cuda, cuda->event_create (&run->end, 0), "make an event", error)
      && fab_works_load (run, error);
}

static void
close_run (FabComputeRun *run)
{
  const FabCuda *cuda = run->gpus->cuda;

  cuda->context_use (run->gpu->context);
  if (run->module)
    cuda->module_unload (run->module);
  if (run->start)
    cuda->event_destroy (run->start);
  if (run->end)
    cuda->event_destroy (run->end);
  if (run->stream)
    cuda->stream_destroy (run->stream);
}

static gboolean
measure_on_gpu (FabComputeRun *run, GError **error)
{
  g_autoptr (FabGpus) gpus = fab_gpus_open_one ((guint) run->params->gpu, run->params->buffer_bytes, error);
  gboolean is_ok;

  if (!gpus)
    return FALSE;
  run->gpus = gpus;
  run->gpu = &gpus->gpus[0];
  fab_cuda_describe (run->host, gpus);
  is_ok = open_run (run, error) && fab_works_measure (run, error) && fab_products_measure (run, error);
  close_run (run);
  return is_ok;
}

static gboolean
measure (FabMeasureHost *host, gconstpointer data, GError **error)
{
  FabComputeRun run = { .host = host, .params = data };
  gboolean is_ok = fab_products_read (&run, error) && measure_on_gpu (&run, error);

  g_clear_pointer (&run.shapes, g_array_unref);
  return is_ok;
}

static gboolean
probe (GError **error)
{
  g_autoptr (FabCuda) cuda = fab_cuda_open (error);

  return cuda != NULL;
}

static const FabMeasureBackend backend = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "compute",
            .summary = "Kernels of one GPU: matrix products, memory-bound kernels, copies, launches.",
            .doc = "docs/how-to/measure-compute.md",
            .params = params,
            .params_size = sizeof (FabComputeParams), },
  .needs = "an NVIDIA GPU and its driver (libcuda.so.1); for products cuBLASLt (libcublasLt.so)",
  .usual_sizes = "64K..1G",
  .measure = measure,
  .probe = probe,
};

const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &backend;
}
