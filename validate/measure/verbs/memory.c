/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - allocates and registers buffers; a GPU's memory by dma-buf, else through the nvidia-peermem kernel
 * module. */
#include "validate/measure/verbs/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/error.h"
#include "validate/measure/verbs/gpu.h"

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
  int fd = fab_verbs_gpu_dmabuf (memory->gpu, &reason);

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
    memory->gpu = fab_verbs_gpu_new (params->gpu, size_bytes, error);
    if (memory->gpu == NULL)
      return FALSE;
    memory->address = fab_verbs_gpu_address (memory->gpu);
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
  fab_verbs_gpu_free (memory->gpu);
  *memory = (FabVerbsMemory){ .address = 0 };
}

guint64
fab_verbs_memory_receiving (const FabVerbsMemory *memory)
{
  return memory->address + memory->half_bytes;
}
