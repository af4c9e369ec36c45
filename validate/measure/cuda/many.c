/* SPDX-License-Identifier: Apache-2.0 */
/* many.c - several copies at once: what GPUs leave each other of the host's links, of switches and of memory.
 *
 * A point's time is that of the slowest lane, so its rate is what every pair has at least.
 */
#include "validate/measure/cuda/near.h"
#include "validate/measure/cuda/run.h"

/* memory pinned for all GPUs together */
static const FabBytes max_host_bytes = G_GUINT64_CONSTANT (256) << 20;

static gboolean
measure (FabCudaRun *run, FabSeries *series, FabLanes *lanes, FabBytes max_bytes, GError **error)
{
  series->kind = FAB_MEASURE_BANDWIDTH;
  series->n_pairs = lanes->n_lanes;
  series->n_ranks = 2 * lanes->n_lanes;
  return fab_cuda_lanes (run, series, lanes, max_bytes, fab_lanes_stream, error);
}

/* Makes one lane between the host and each GPU; `is_to_gpus` gives the direction. */
static gboolean
host_lanes (FabCudaRun *run, void **buffers, gboolean is_to_gpus, GError **error)
{
  FabGpus *gpus = run->gpus;
  g_autoptr (FabLanes) lanes = fab_lanes_new (gpus, gpus->n_gpus, gpus->n_gpus, run->window);
  FabSeries series = fab_cuda_series (is_to_gpus ? NULL : &gpus->gpus[0], is_to_gpus ? &gpus->gpus[0] : NULL,
                                      "host", "copy");

  *(is_to_gpus ? &series.to : &series.from) = (char *) "gpus";
  for (guint i = 0; i < gpus->n_gpus; i++)
    if (!fab_lanes_set (lanes, i, is_to_gpus ? FAB_COPY_TO_GPU : FAB_COPY_TO_HOST,
                        is_to_gpus ? NULL : &gpus->gpus[i], is_to_gpus ? &gpus->gpus[i] : NULL, buffers[i],
                        error))
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

    is_ok = fab_gpu_use (gpus, &gpus->gpus[i], error) && fab_cuda_pin (run, size_bytes, &buffers[i], error);
    fab_near_leave (near);
  }
  is_ok = is_ok && host_lanes (run, buffers, TRUE, error) && host_lanes (run, buffers, FALSE, error);
  for (guint i = 0; i < gpus->n_gpus; i++)
    fab_cuda_unpin (run, buffers[i]);
  return is_ok;
}

/* Makes the pairs gpu0 to gpu1, gpu2 to gpu3, ... */
static gboolean
disjoint_pairs (FabCudaRun *run, guint n_pairs, GError **error)
{
  const FabGpu *gpus = run->gpus->gpus;
  g_autoptr (FabLanes) lanes = fab_lanes_new (run->gpus, n_pairs, n_pairs, run->window);
  FabSeries series = fab_cuda_series (&gpus[0], &gpus[1], NULL, "copy");

  for (guint i = 0; i < n_pairs; i++)
    if (!fab_lanes_set (lanes, i, FAB_COPY_PEER, &gpus[2 * i], &gpus[2 * i + 1], NULL, error))
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
         && fab_cuda_join (run, &gpus[2 * n_joined], &gpus[2 * n_joined + 1]))
    n_joined++;
  for (guint n = 2; is_ok && n <= n_joined; n++)
    is_ok = disjoint_pairs (run, n, error);
  for (guint i = 0; i < n_joined; i++)
    fab_cuda_part (run, &gpus[2 * i], &gpus[2 * i + 1]);
  return is_ok;
}
