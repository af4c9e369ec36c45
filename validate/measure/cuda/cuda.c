/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - the backend `cuda`: links of the GPUs of this machine, to the host and to each other.
 *
 * In this order: each GPU's link to the host, copies inside each GPU, every ordered pair, several at once. What each
 * series is, is in docs/how-to/measure-cuda.md.
 */
#include "validate/measure/cuda/nvml.h"
#include "validate/measure/cuda/run.h"

static const char *const pairs_choices[] = { "all", "one", NULL };

typedef struct {
  FabCudaParams common;
  gint pairs;
} Params;

static const FabParam params[] = {
  {
      .key = "gpus",
      .type = FAB_PARAM_COUNT,
      .offset = G_STRUCT_OFFSET (Params, common.n_gpus),
      .fallback = "0",
      .max = FAB_CUDA_MAX_GPUS,
      .help = "Number of GPUs that take part, counted from the first; 0: all.",
  },
  {
      .key = "pairs",
      .type = FAB_PARAM_CHOICE,
      .offset = G_STRUCT_OFFSET (Params, pairs),
      .fallback = "all",
      .choices = pairs_choices,
      .help = "Pairs of GPUs to measure: all ordered pairs, or only gpu0 and gpu1.",
  },
  {
      .key = "pageable",
      .type = FAB_PARAM_BOOL,
      .offset = G_STRUCT_OFFSET (Params, common.pageable),
      .fallback = "true",
      .help = "Measure pageable host memory as well.",
  },
  {
      .key = "staged",
      .type = FAB_PARAM_BOOL,
      .offset = G_STRUCT_OFFSET (Params, common.staged),
      .fallback = "true",
      .help = "Measure pairs with peer-to-peer access off as well, where the driver copies through "
              "the host.",
  },
  {
      .key = "kernels",
      .type = FAB_PARAM_BOOL,
      .offset = G_STRUCT_OFFSET (Params, common.kernels),
      .fallback = "true",
      .help = "Measure copies by kernels, and ping-pong of kernels, as well as copy engines.",
  },
  {
      .key = "ping",
      .type = FAB_PARAM_BYTES,
      .offset = G_STRUCT_OFFSET (Params, common.ping_bytes),
      .fallback = "64KiB",
      .min = 8,
      .max = 1 << 20,
      .help = "Largest message of the ping-pong of two GPUs.",
  },
  { NULL },
};

static void
say_what_is_missing (FabCudaRun *run)
{
  FabMeasureHost *host = run->host;
  const FabGpus *gpus = run->gpus;
  gboolean has_kernels = TRUE;

  for (guint i = 0; i < gpus->n_gpus; i++)
    has_kernels = has_kernels && fab_gpu_has_kernels (&gpus->gpus[i]);
  if (gpus->n_gpus == 1)
    host->note (host, "one GPU takes part: links between GPUs, and several GPUs at once, cannot be measured");
  if (!fab_cuda_kernels ())
    host->note (
        host,
        "this program was built without nvcc: copy engines only, no copies by kernels and no ping-pong");
  else if (!has_kernels)
    host->note (host,
                "the kernels of this program do not run on every GPU here: on those, copy engines only");
  if (!gpus->can_wait_value && !has_kernels)
    host->note (host, "streams cannot be held here: times of small copies are those of queueing them");
}

static gboolean
measure_parts (FabCudaRun *run, gboolean is_one_pair, GError **error)
{
  const FabGpus *gpus = run->gpus;

  for (guint i = 0; i < gpus->n_gpus; i++)
    if (!fab_cuda_host_links (run, &gpus->gpus[i], error) || !fab_cuda_on_device (run, &gpus->gpus[i], error))
      return FALSE;
  for (guint from = 0; from < gpus->n_gpus; from++)
    for (guint to = 0; to < gpus->n_gpus; to++)
      if (from != to && (!is_one_pair || (from < 2 && to < 2))
          && !fab_cuda_pair (run, &gpus->gpus[from], &gpus->gpus[to], error))
        return FALSE;
  return fab_cuda_many (run, error);
}

static gboolean
measure (FabMeasureHost *host, gconstpointer data, GError **error)
{
  const Params *p = data;
  const FabMeasurePlan *plan = host->plan;
  g_autoptr (FabGpus) gpus = NULL;
  FabCudaRun run = { .host = host, .params = &p->common, .window = plan->window };

  if (plan->window > FAB_LANE_MAX_WINDOW)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "a window of %u copies is more than a stream takes while it is held; %u "
                      "would do",
                      plan->window, FAB_LANE_MAX_WINDOW);
  gpus = run.gpus = fab_gpus_open ((guint) p->common.n_gpus, plan->sizes_bytes[plan->n_sizes - 1], error);
  if (!gpus || !fab_copy_kernels_load (gpus, error))
    return FALSE;
  fab_cuda_describe (host, gpus);
  say_what_is_missing (&run);
  return measure_parts (&run, p->pairs == 1, error);
}

static gboolean
probe (GError **error)
{
  g_autoptr (FabCuda) cuda = fab_cuda_open (error);

  return cuda != NULL;
}

static const FabMeasureBackend backend = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "cuda",
            .summary = "Links of the GPUs here: to the host, to each other, and inside.",
            .doc = "docs/how-to/measure-cuda.md",
            .params = params,
            .params_size = sizeof (Params), },
  .needs = "an NVIDIA GPU and its driver (libcuda.so.1)",
  .measure = measure,
  .probe = probe,
};

const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &backend;
}
