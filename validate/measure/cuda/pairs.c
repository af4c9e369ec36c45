/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - copies between GPUs: staged by the driver through the host, and direct (P2P) by copy engines and
 * kernels. */
#include "validate/measure/cuda/run.h"

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

gboolean
fab_cuda_join (FabCudaRun *run, const FabGpu *a, const FabGpu *b)
{
  if (!enable (run, a, b))
    return FALSE;
  if (enable (run, b, a))
    return TRUE;
  disable (run, a, b);
  return FALSE;
}

void
fab_cuda_part (FabCudaRun *run, const FabGpu *a, const FabGpu *b)
{
  disable (run, a, b);
  disable (run, b, a);
}

static gboolean
measure_way (FabCudaRun *run, const FabGpu *from, const FabGpu *to, FabCopyHow how, const char *method,
             guint kinds, GError **error)
{
  FabCopies copies = {
    .series = fab_cuda_series (from, to, NULL, method),
    .kinds = kinds,
    .there = { .how = how, .from = from, .to = to },
    .back = { .how = how, .from = to, .to = from },
  };

  return fab_cuda_copies (run, &copies, error);
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
      && fab_cuda_ping (run, from, to, error);
}

gboolean
fab_cuda_pair (FabCudaRun *run, const FabGpu *from, const FabGpu *to, GError **error)
{
  gboolean is_ok;

  if (run->params->staged
      && !measure_way (run, from, to, FAB_COPY_PEER, "staged", FAB_KINDS_ALONE | FAB_KINDS_BOTH, error))
    return FALSE;
  if (!fab_cuda_join (run, from, to)) {
    if (from->index < to->index)
      run->host->note (
          run->host,
          "%s and %s cannot reach each other's memory (no P2P): only copies staged through the host can "
          "be measured between them",
          from->name, to->name);
    return TRUE;
  }
  is_ok = direct (run, from, to, error);
  fab_cuda_part (run, from, to);
  return is_ok;
}
