/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - what is known of the GPUs, as facts of the machine that was measured. */
#include "validate/measure/cuda/nvml.h"
#include "validate/measure/cuda/run.h"

static void
take (FabCudaRun *run, const FabGpu *gpu, const char *what, char *value)
{
  g_autofree char *key = g_strdup_printf ("%s.%s", gpu->name, what);

  if (value)
    run->host->machine (run->host, key, value);
  g_free (value);
}

static void
describe_gpu (FabCudaRun *run, const FabGpu *gpu, const FabNvml *nvml)
{
  g_autofree char *memory = fab_units_show (FAB_UNIT_BYTES, (double) gpu->memory_bytes);
  g_autofree char *text = g_strdup_printf ("%s, %u SMs, sm_%u%u, %s, PCI %s, %s", gpu->model,
                                           gpu->n_multiprocessors, gpu->capability_major,
                                           gpu->capability_minor, memory, gpu->bus_id, gpu->uuid);

  run->host->machine (run->host, gpu->name, text);
  if (!nvml)
    return;
  take (run, gpu, "pcie", fab_nvml_pcie (nvml, gpu->bus_id));
  take (run, gpu, "clocks", fab_nvml_clocks (nvml, gpu->bus_id));
  take (run, gpu, "ecc", fab_nvml_ecc (nvml, gpu->bus_id));
  take (run, gpu, "nvlink", fab_nvml_nvlink (nvml, gpu->bus_id));
}

void
fab_cuda_describe (FabCudaRun *run)
{
  g_autoptr (FabNvml) nvml = fab_nvml_open ();
  g_autofree char *version = nvml ? fab_nvml_driver (nvml) : NULL;
  g_autofree char *driver = version ? g_strdup_printf ("%s, %s", version, run->gpus->driver)
                                    : g_strdup (run->gpus->driver);

  run->host->machine (run->host, "driver", driver);
  if (!nvml)
    run->host->note (run->host,
                     "NVML (libnvidia-ml.so.1) was not found: PCIe generation, NVLink and clocks of the GPUs "
                     "are not recorded");
  for (guint i = 0; i < run->gpus->n_gpus; i++)
    describe_gpu (run, &run->gpus->gpus[i], nvml);
}
