/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - allocates and registers buffers; a GPU's memory by dma-buf, else through the nvidia-peermem kernel
 * module. */
#include "validate/measure/verbs/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "sim/base/units.h"

typedef struct _FabVerbsGpu FabVerbsGpu;

static void verbs_gpu_free (FabVerbsGpu *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabVerbsGpu, verbs_gpu_free)

/* One allocation in a GPU's memory through the CUDA driver API, whose functions are looked up by name.
 *
 * Names and numbers are those of the driver's ABI (cuda.h): stable since CUDA 11.7, which brought dma-buf. Owns the
 * library, the device's primary context and the memory.
 */

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

/* Allocates `size_bytes` on GPU `index`, aligned to pages. (transfer full) */
static FabVerbsGpu *
verbs_gpu_new (gint64 index, FabBytes size_bytes, GError **error)
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

static guint64
verbs_gpu_address (const FabVerbsGpu *self)
{
  return self->address;
}

/* Returns a file descriptor that stands for the memory (dma-buf), or -1 with *error. The caller closes it. */
static int
verbs_gpu_dmabuf (FabVerbsGpu *self, GError **error)
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

static void
verbs_gpu_free (FabVerbsGpu *self)
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

/* Halves begin at a page of any machine and any GPU. */
#define HALF_ALIGN_BYTES ((FabBytes) 65536)

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static gboolean
registration_failed (FabBytes size_bytes, int code, GError **error)
{
  struct rlimit limit = { 0, 0 };
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) size_bytes);
  g_autofree char *allowed = NULL;

  if (code != ENOMEM || getrlimit (RLIMIT_MEMLOCK, &limit) != 0)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s of memory cannot be registered: %s", size,
                      g_strerror (code));
  allowed = limit.rlim_cur == RLIM_INFINITY ? g_strdup ("unlimited")
                                            : fab_units_show (FAB_UNIT_BYTES, (double) limit.rlim_cur);
  return fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "%s of memory cannot be registered: the limit of locked memory is %s (`ulimit -l`; raise memlock in "
      "/etc/security/limits.conf, or measure smaller messages)",
      size, allowed);
}

/* Registers the memory a second time, without relaxed ordering, where the last byte is polled: PCIe could otherwise
 * write that byte first. */
static gboolean
register_host (FabVerbsMemory *memory, struct ibv_pd *pd, FabBytes size_bytes, gboolean is_relaxed,
               gboolean is_polled, GError **error)
{
  unsigned int access = ACCESS | (is_relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0);

  memory->mr = ibv_reg_mr (pd, memory->host, size_bytes, access);
  if (memory->mr == NULL)
    return registration_failed (size_bytes, errno, error);
  memory->polled_mr = is_relaxed && is_polled ? ibv_reg_mr (pd, memory->host, size_bytes, ACCESS)
                                              : memory->mr;
  return memory->polled_mr != NULL || registration_failed (size_bytes, errno, error);
}

static gboolean
register_gpu (FabVerbsMemory *memory, struct ibv_pd *pd, FabBytes size_bytes, gboolean is_relaxed,
              GError **error)
{
  unsigned int access = ACCESS | (is_relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0);
  g_autoptr (GError) reason = NULL;
  g_autofree char *by_file = NULL;
  int fd = verbs_gpu_dmabuf (memory->gpu, &reason);

  if (fd >= 0) {
    memory->mr = ibv_reg_dmabuf_mr (pd, 0, size_bytes, memory->address, fd, (int) access);
    by_file = memory->mr == NULL ? g_strdup (g_strerror (errno)) : NULL;
    close (fd);
  }
  if (memory->mr == NULL)
    memory->mr = ibv_reg_mr (pd, (void *) (guintptr) memory->address, size_bytes, access);
  memory->polled_mr = memory->mr;
  if (memory->mr != NULL)
    return TRUE;
  return fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "the adapter cannot reach GPU memory: by dma-buf: %s; by nvidia-peermem: %s (load the module with "
      "`modprobe nvidia-peermem`, or measure with memory=host)",
      reason != NULL ? reason->message : by_file, g_strerror (errno));
}

gboolean
fab_verbs_memory_init (FabVerbsMemory *memory, struct ibv_pd *pd, const FabVerbsParams *params,
                       FabVerbsPlace place, FabBytes max_bytes, gboolean is_relaxed, gboolean is_polled,
                       GError **error)
{
  FabBytes size_bytes;

  memory->half_bytes = (max_bytes + HALF_ALIGN_BYTES - 1) / HALF_ALIGN_BYTES * HALF_ALIGN_BYTES;
  size_bytes = 2 * memory->half_bytes;
  if (place == FAB_VERBS_GPU) {
    memory->gpu = verbs_gpu_new (params->gpu, size_bytes, error);
    if (memory->gpu == NULL)
      return FALSE;
    memory->address = verbs_gpu_address (memory->gpu);
    return register_gpu (memory, pd, size_bytes, is_relaxed, error);
  }
  memory->host = aligned_alloc (HALF_ALIGN_BYTES, size_bytes);
  if (memory->host == NULL) {
    g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) size_bytes);

    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "no %s of memory for the messages: measure smaller ones",
                      size);
  }
  memset (memory->host, 0, size_bytes);
  memory->address = (guint64) (guintptr) memory->host;
  return register_host (memory, pd, size_bytes, is_relaxed, is_polled, error);
}

void
fab_verbs_memory_clear (FabVerbsMemory *memory)
{
  if (memory->polled_mr != NULL && memory->polled_mr != memory->mr)
    ibv_dereg_mr (memory->polled_mr);
  if (memory->mr != NULL)
    ibv_dereg_mr (memory->mr);
  free (memory->host);
  verbs_gpu_free (memory->gpu);
  *memory = (FabVerbsMemory){ .address = 0 };
}

guint64
fab_verbs_memory_receiving (const FabVerbsMemory *memory)
{
  return memory->address + memory->half_bytes;
}
