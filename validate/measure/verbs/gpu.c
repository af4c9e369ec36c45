/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - one allocation in a GPU's memory through the CUDA driver API, whose functions are looked up by name.
 *
 * Names and numbers are those of the driver's ABI (cuda.h): stable since CUDA 11.7, which brought dma-buf. Owns the
 * library, the device's primary context and the memory.
 */
#include "validate/measure/verbs/gpu.h"

#include <dlfcn.h>
#include <unistd.h>

#include "sim/base/error.h"

#define DRIVER "libcuda.so.1"

enum { GPU_DIRECT_RDMA_SUPPORTED = 116, RANGE_HANDLE_DMA_BUF_FD = 1 };

/* Memory registered by a file must begin and end at a page; pages of up to 64 KiB are in use. */
#define ALIGN_BYTES ((FabBytes) 65536)

typedef struct {
  int (*cuInit) (unsigned int flags);
  int (*cuDeviceGetCount) (int *count);
  int (*cuDeviceGet) (int *device, int ordinal);
  int (*cuDeviceGetAttribute) (int *value, int attribute, int device);
  int (*cuDevicePrimaryCtxRetain) (void **context, int device);
  int (*cuDevicePrimaryCtxRelease_v2) (int device);
  int (*cuCtxSetCurrent) (void *context);
  int (*cuMemAlloc_v2) (unsigned long long *address, size_t size);
  int (*cuMemFree_v2) (unsigned long long address);
  int (*cuGetErrorString) (int error, const char **text);
  int (*cuMemGetHandleForAddressRange) (void *handle, unsigned long long address, size_t size, int type,
                                        unsigned long long flags); /* NULL: an older driver lacks it */
} Driver;

typedef struct {
  const char *name;
  gsize offset;
} Symbol;

static const Symbol symbols[] = {
  { "cuInit", G_STRUCT_OFFSET (Driver, cuInit) },
  { "cuDeviceGetCount", G_STRUCT_OFFSET (Driver, cuDeviceGetCount) },
  { "cuDeviceGet", G_STRUCT_OFFSET (Driver, cuDeviceGet) },
  { "cuDeviceGetAttribute", G_STRUCT_OFFSET (Driver, cuDeviceGetAttribute) },
  { "cuDevicePrimaryCtxRetain", G_STRUCT_OFFSET (Driver, cuDevicePrimaryCtxRetain) },
  { "cuDevicePrimaryCtxRelease_v2", G_STRUCT_OFFSET (Driver, cuDevicePrimaryCtxRelease_v2) },
  { "cuCtxSetCurrent", G_STRUCT_OFFSET (Driver, cuCtxSetCurrent) },
  { "cuMemAlloc_v2", G_STRUCT_OFFSET (Driver, cuMemAlloc_v2) },
  { "cuMemFree_v2", G_STRUCT_OFFSET (Driver, cuMemFree_v2) },
  { "cuGetErrorString", G_STRUCT_OFFSET (Driver, cuGetErrorString) },
};

struct _FabVerbsGpu {
  void *library;
  Driver driver;
  int device;
  gboolean has_context;
  unsigned long long allocated; /* 0: nothing is allocated */
  unsigned long long address;   /* aligned, inside `allocated` */
  FabBytes size_bytes;
};

static gboolean
load (FabVerbsGpu *self, GError **error)
{
  self->library = dlopen (DRIVER, RTLD_NOW | RTLD_LOCAL);
  if (self->library == NULL)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "GPU memory needs the CUDA driver, and " DRIVER
                      " is not found: measure with memory=host");
  for (gsize i = 0; i < G_N_ELEMENTS (symbols); i++) {
    void *symbol = dlsym (self->library, symbols[i].name);

    if (symbol == NULL)
      return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                        DRIVER " has no %s: a CUDA driver of version 11 or newer is needed", symbols[i].name);
    G_STRUCT_MEMBER (void *, &self->driver, symbols[i].offset) = symbol;
  }
  G_STRUCT_MEMBER (void *, &self->driver, G_STRUCT_OFFSET (Driver, cuMemGetHandleForAddressRange)) = dlsym (
      self->library, "cuMemGetHandleForAddressRange");
  return TRUE;
}

static gboolean
failed (FabVerbsGpu *self, const char *what, int result, GError **error)
{
  const char *text = NULL;

  if (self->driver.cuGetErrorString (result, &text) != 0 || text == NULL)
    text = "no words for it";
  return fab_throw (error, FAB_ERROR_UNSUPPORTED, "CUDA: %s: error %d, %s", what, result, text);
}

static gboolean
open_device (FabVerbsGpu *self, gint64 index, GError **error)
{
  const Driver *driver = &self->driver;
  void *context = NULL;
  int count = 0, result = driver->cuInit (0);

  if (result == 0)
    result = driver->cuDeviceGetCount (&count);
  if (result != 0)
    return failed (self, "no GPU can be used", result, error);
  if (index >= count)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "there is no GPU %" G_GINT64_FORMAT ": this machine has %d", index, count);
  result = driver->cuDeviceGet (&self->device, (int) index);
  if (result == 0)
    result = driver->cuDevicePrimaryCtxRetain (&context, self->device);
  if (result != 0)
    return failed (self, "GPU cannot be opened", result, error);
  self->has_context = TRUE;
  result = driver->cuCtxSetCurrent (context);
  return result == 0 || failed (self, "GPU cannot be opened", result, error);
}

static gboolean
has_gpu_direct (const FabVerbsGpu *self)
{
  int value = 0;

  return self->driver.cuDeviceGetAttribute (&value, GPU_DIRECT_RDMA_SUPPORTED, self->device) == 0
      && value != 0;
}

FabVerbsGpu *
fab_verbs_gpu_new (gint64 index, FabBytes size_bytes, GError **error)
{
  g_autoptr (FabVerbsGpu) self = g_new0 (FabVerbsGpu, 1);
  int result;

  if (!load (self, error) || !open_device (self, index, error))
    return NULL;
  if (!has_gpu_direct (self)) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED,
               "GPU %" G_GINT64_FORMAT " does not support GPUDirect RDMA: measure with memory=host", index);
    return NULL;
  }
  self->size_bytes = (size_bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
  result = self->driver.cuMemAlloc_v2 (&self->allocated, self->size_bytes + ALIGN_BYTES);
  if (result != 0) {
    self->allocated = 0;
    failed (self, "no memory on the GPU for the messages", result, error);
    return NULL;
  }
  self->address = (self->allocated + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
  return g_steal_pointer (&self);
}

guint64
fab_verbs_gpu_address (const FabVerbsGpu *self)
{
  return self->address;
}

int
fab_verbs_gpu_dmabuf (FabVerbsGpu *self, GError **error)
{
  int result, fd = -1;

  if (self->driver.cuMemGetHandleForAddressRange == NULL) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED, "the CUDA driver is older than 11.7");
    return -1;
  }
  result = self->driver.cuMemGetHandleForAddressRange (&fd, self->address, self->size_bytes,
                                                       RANGE_HANDLE_DMA_BUF_FD, 0);
  if (result == 0)
    return fd;
  failed (self, "needs the open kernel modules and Linux 5.12", result, error);
  return -1;
}

void
fab_verbs_gpu_free (FabVerbsGpu *self)
{
  if (self == NULL)
    return;
  if (self->allocated != 0)
    self->driver.cuMemFree_v2 (self->allocated);
  if (self->has_context)
    self->driver.cuDevicePrimaryCtxRelease_v2 (self->device);
  /* the library stays loaded, because the driver has threads of its own */
  g_free (self);
}
