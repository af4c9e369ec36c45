/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - a CUDA driver with one GPU whose memory is that of the host: what GPUDirect needs of it.
 *
 * FAB_FAKE_CUDA: "count=0", "rdma=0", "dmabuf=0", "alloc=2" (the error of an allocation).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>

enum { NOT_SUPPORTED = 801, GPU_DIRECT_RDMA = 116 };

int cuInit (unsigned int flags);
int cuDeviceGetCount (int *count);
int cuDeviceGet (int *device, int ordinal);
int cuDeviceGetAttribute (int *value, int attribute, int device);
int cuDevicePrimaryCtxRetain (void **context, int device);
int cuDevicePrimaryCtxRelease_v2 (int device);
int cuCtxSetCurrent (void *context);
int cuMemAlloc_v2 (unsigned long long *address, size_t size);
int cuMemFree_v2 (unsigned long long address);
int cuGetErrorString (int error, const char **text);
int cuMemGetHandleForAddressRange (void *handle, unsigned long long address, size_t size, int type,
                                   unsigned long long flags);

static int
setting (const char *key, int fallback)
{
  const char *text = g_getenv ("FAB_FAKE_CUDA");
  const char *found = text != NULL ? strstr (text, key) : NULL;

  return found != NULL ? (int) g_ascii_strtoll (found + strlen (key) + 1, NULL, 10) : fallback;
}

int
cuInit (unsigned int flags)
{
  return (int) flags;
}

int
cuDeviceGetCount (int *count)
{
  *count = setting ("count", 1);
  return 0;
}

int
cuDeviceGet (int *device, int ordinal)
{
  *device = ordinal;
  return 0;
}

int
cuDeviceGetAttribute (int *value, int attribute, G_GNUC_UNUSED int device)
{
  *value = attribute == GPU_DIRECT_RDMA && setting ("rdma", 1);
  return 0;
}

int
cuDevicePrimaryCtxRetain (void **context, G_GNUC_UNUSED int device)
{
  *context = NULL;
  return 0;
}

int
cuDevicePrimaryCtxRelease_v2 (int device)
{
  return device;
}

int
cuCtxSetCurrent (void *context)
{
  return context == NULL ? 0 : NOT_SUPPORTED;
}

/* In front of what is handed out is how much it is. */
int
cuMemAlloc_v2 (unsigned long long *address, size_t size)
{
  void *map = mmap (NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (setting ("alloc", 0) != 0 || map == MAP_FAILED)
    return setting ("alloc", NOT_SUPPORTED);
  memcpy (map, &size, sizeof size);
  *address = (guintptr) map + 4096;
  return 0;
}

int
cuMemFree_v2 (unsigned long long address)
{
  void *map = (void *) (guintptr) (address - 4096);
  size_t size;

  memcpy (&size, map, sizeof size);
  munmap (map, size + 4096);
  return 0;
}

int
cuGetErrorString (int error, const char **text)
{
  *text = error == 2 ? "out of memory" : "something else";
  return 0;
}

int
cuMemGetHandleForAddressRange (void *handle, unsigned long long address, size_t size, int type,
                               unsigned long long flags)
{
  int fd;

  if (setting ("dmabuf", 1) == 0 || type != 1 || flags != 0 || address % 4096 != 0 || size % 4096 != 0)
    return NOT_SUPPORTED;
  fd = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  memcpy (handle, &fd, sizeof fd);
  return 0;
}
