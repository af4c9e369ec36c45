/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - loads libcuda at run time and turns its results into sentences. */
#include "validate/measure/cuda/driver.h"

#include "validate/measure/cuda/symbols.h"

static const FabSymbol symbols[] = {
  { "cuInit", G_STRUCT_OFFSET (FabCuda, init), FALSE },
  { "cuDriverGetVersion", G_STRUCT_OFFSET (FabCuda, driver_version), FALSE },
  { "cuGetErrorName", G_STRUCT_OFFSET (FabCuda, error_name), FALSE },
  { "cuGetErrorString", G_STRUCT_OFFSET (FabCuda, error_string), FALSE },
  { "cuDeviceGetCount", G_STRUCT_OFFSET (FabCuda, device_count), FALSE },
  { "cuDeviceGet", G_STRUCT_OFFSET (FabCuda, device_get), FALSE },
  { "cuDeviceGetName", G_STRUCT_OFFSET (FabCuda, device_name), FALSE },
  { "cuDeviceGetAttribute", G_STRUCT_OFFSET (FabCuda, device_attribute), FALSE },
  { "cuDeviceTotalMem_v2", G_STRUCT_OFFSET (FabCuda, device_memory), FALSE },
  { "cuDeviceGetPCIBusId", G_STRUCT_OFFSET (FabCuda, device_bus_id), FALSE },
  { "cuDeviceGetUuid", G_STRUCT_OFFSET (FabCuda, device_uuid), FALSE },
  { "cuDevicePrimaryCtxRetain", G_STRUCT_OFFSET (FabCuda, context_retain), FALSE },
  { "cuDevicePrimaryCtxRelease_v2", G_STRUCT_OFFSET (FabCuda, context_release), FALSE },
  { "cuCtxSetCurrent", G_STRUCT_OFFSET (FabCuda, context_use), FALSE },
  { "cuDeviceCanAccessPeer", G_STRUCT_OFFSET (FabCuda, can_access_peer), FALSE },
  { "cuCtxEnablePeerAccess", G_STRUCT_OFFSET (FabCuda, enable_peer), FALSE },
  { "cuCtxDisablePeerAccess", G_STRUCT_OFFSET (FabCuda, disable_peer), FALSE },
  { "cuMemAlloc_v2", G_STRUCT_OFFSET (FabCuda, alloc), FALSE },
  { "cuMemFree_v2", G_STRUCT_OFFSET (FabCuda, free), FALSE },
  { "cuMemsetD8_v2", G_STRUCT_OFFSET (FabCuda, fill), FALSE },
  { "cuMemHostAlloc", G_STRUCT_OFFSET (FabCuda, host_alloc), FALSE },
  { "cuMemFreeHost", G_STRUCT_OFFSET (FabCuda, host_free), FALSE },
  { "cuMemcpyHtoDAsync_v2", G_STRUCT_OFFSET (FabCuda, copy_to_device), FALSE },
  { "cuMemcpyDtoHAsync_v2", G_STRUCT_OFFSET (FabCuda, copy_to_host), FALSE },
  { "cuMemcpyDtoDAsync_v2", G_STRUCT_OFFSET (FabCuda, copy_on_device), FALSE },
  { "cuMemcpyPeerAsync", G_STRUCT_OFFSET (FabCuda, copy_peer), FALSE },
  { "cuStreamCreate", G_STRUCT_OFFSET (FabCuda, stream_create), FALSE },
  { "cuStreamDestroy_v2", G_STRUCT_OFFSET (FabCuda, stream_destroy), FALSE },
  { "cuStreamSynchronize", G_STRUCT_OFFSET (FabCuda, stream_synchronize), FALSE },
  { "cuStreamWaitEvent", G_STRUCT_OFFSET (FabCuda, stream_wait_event), FALSE },
  { "cuStreamWaitValue32_v2", G_STRUCT_OFFSET (FabCuda, stream_wait_value), TRUE },
  { "cuEventCreate", G_STRUCT_OFFSET (FabCuda, event_create), FALSE },
  { "cuEventDestroy_v2", G_STRUCT_OFFSET (FabCuda, event_destroy), FALSE },
  { "cuEventRecord", G_STRUCT_OFFSET (FabCuda, event_record), FALSE },
  { "cuEventElapsedTime", G_STRUCT_OFFSET (FabCuda, event_elapsed), FALSE },
  { "cuModuleLoadData", G_STRUCT_OFFSET (FabCuda, module_load), FALSE },
  { "cuModuleUnload", G_STRUCT_OFFSET (FabCuda, module_unload), FALSE },
  { "cuModuleGetFunction", G_STRUCT_OFFSET (FabCuda, module_function), FALSE },
  { "cuLaunchKernel", G_STRUCT_OFFSET (FabCuda, launch), FALSE },
};

static gboolean
initialise (FabCuda *self, GError **error)
{
  CuResult result = self->init (0);

  if (result == CU_NO_DEVICE)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "there is no NVIDIA GPU in this machine");
  if (result == CU_DRIVER_MISMATCH)
    return fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "the CUDA driver library and the kernel module are of different versions: reboot, or install "
        "the matching library");
  return fab_cuda_check (self, result, "start the CUDA driver", error);
}

FabCuda *
fab_cuda_open (GError **error)
{
  const char *path = fab_symbols_library ("FABRICAST_CUDA_DRIVER", "libcuda.so.1");
  g_autoptr (FabCuda) self = g_new0 (FabCuda, 1);
  const char *missing;

  self->library = fab_symbols_open (path);
  if (!self->library) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED,
               "the CUDA driver (%s) was not found: measuring GPUs needs an NVIDIA GPU and its driver", path);
    return NULL;
  }
  missing = fab_symbols_fill (self->library, self, symbols, G_N_ELEMENTS (symbols));
  if (missing) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED,
               "the CUDA driver %s has no function %s: it is too old, one of CUDA 11 or newer would do", path,
               missing);
    return NULL;
  }
  return initialise (self, error) ? g_steal_pointer (&self) : NULL;
}

void
fab_cuda_close (FabCuda *self)
{
  if (!self)
    return;
  fab_symbols_close (self->library);
  g_free (self);
}

gboolean
fab_cuda_check (const FabCuda *self, CuResult result, const char *doing, GError **error)
{
  const char *name = NULL, *text = NULL;

  if (result == CU_OK)
    return TRUE;
  if (self->error_name (result, &name) != CU_OK || !name)
    name = "an error that it does not name";
  if (self->error_string (result, &text) != CU_OK || !text)
    text = "the CUDA driver failed";
  return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s: %s (%s, %d)", doing, text, name, result);
}
