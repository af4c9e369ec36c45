/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/measure/cuda/describe.h"

#include "validate/measure/cuda/nvml.h"

static void
take (FabMeasureHost *host, const FabGpu *gpu, const char *what, char *value)
{
  g_autofree char *key = g_strdup_printf ("%s.%s", gpu->name, what);

  if (value)
    host->machine (host, key, value);
  g_free (value);
}

static void
describe_gpu (FabMeasureHost *host, const FabGpu *gpu, const FabNvml *nvml)
{
  g_autofree char *memory = fab_units_show (FAB_UNIT_BYTES, (double) gpu->memory_bytes);
  g_autofree char *text = g_strdup_printf ("%s, %u SMs, sm_%u%u, %s, PCI %s, %s", gpu->model,
                                           gpu->n_multiprocessors, gpu->capability_major,
                                           gpu->capability_minor, memory, gpu->bus_id, gpu->uuid);

  host->machine (host, gpu->name, text);
  if (!nvml)
    return;
  take (host, gpu, "pcie", fab_nvml_pcie (nvml, gpu->bus_id));
  take (host, gpu, "clocks", fab_nvml_clocks (nvml, gpu->bus_id));
  take (host, gpu, "ecc", fab_nvml_ecc (nvml, gpu->bus_id));
  take (host, gpu, "nvlink", fab_nvml_nvlink (nvml, gpu->bus_id));
}

void
fab_cuda_describe (FabMeasureHost *host, const FabGpus *gpus)
{
  g_autoptr (FabNvml) nvml = fab_nvml_open ();
  g_autofree char *version = nvml ? fab_nvml_driver (nvml) : NULL;
  g_autofree char *driver = version ? g_strdup_printf ("%s, %s", version, gpus->driver)
                                    : g_strdup (gpus->driver);

  host->machine (host, "driver", driver);
  if (!nvml)
    host->note (host,
                "NVML (libnvidia-ml.so.1) was not found: PCIe generation, NVLink and clocks of the GPUs "
                "are not recorded");
  for (guint i = 0; i < gpus->n_gpus; i++)
    describe_gpu (host, &gpus->gpus[i], nvml);
}
