/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.c - opens GPUs (primary context, buffers) and closes whatever was opened. */
#include "validate/measure/cuda/gpus.h"

#include <string.h>

#define TEXT_SIZE 256
#define FLAG_BYTES 64u

gboolean
fab_gpu_use (const FabGpus *self, const FabGpu *gpu, GError **error)
{
  return fab_cuda_check (self->cuda, self->cuda->context_use (gpu->context), gpu->name, error);
}

/* Writes a UUID as nvidia-smi does: GPU-1b2c... (transfer full) */
static char *
uuid_text (const guint8 uuid[16])
{
  GString *text = g_string_new ("GPU");

  for (guint i = 0; i < 16; i++)
    g_string_append_printf (text, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                            uuid[i]);
  return g_string_free (text, FALSE);
}

static gboolean
read_attributes (FabGpus *self, FabGpu *gpu, GError **error)
{
  const FabCuda *cuda = self->cuda;
  int n = 0, major = 0, minor = 0;

  if (!fab_cuda_check (cuda, cuda->device_attribute (&n, CU_N_MULTIPROCESSORS, gpu->device), gpu->name, error)
      || !fab_cuda_check (cuda, cuda->device_attribute (&major, CU_CAPABILITY_MAJOR, gpu->device), gpu->name,
                          error)
      || !fab_cuda_check (cuda, cuda->device_attribute (&minor, CU_CAPABILITY_MINOR, gpu->device), gpu->name,
                          error)
      || !fab_cuda_check (cuda, cuda->device_memory (&gpu->memory_bytes, gpu->device), gpu->name, error))
    return FALSE;
  gpu->n_multiprocessors = (guint) MAX (n, 1);
  gpu->capability_major = (guint) MAX (major, 0);
  gpu->capability_minor = (guint) MAX (minor, 0);
  return TRUE;
}

static gboolean
identify (FabGpus *self, FabGpu *gpu, GError **error)
{
  const FabCuda *cuda = self->cuda;
  char name[TEXT_SIZE] = "", bus_id[TEXT_SIZE] = "";
  guint8 uuid[16] = { 0 };

  gpu->name = g_strdup_printf ("gpu%u", gpu->index);
  if (!fab_cuda_check (cuda, cuda->device_get (&gpu->device, (int) gpu->index), gpu->name, error)
      || !fab_cuda_check (cuda, cuda->device_name (name, sizeof (name) - 1, gpu->device), gpu->name, error)
      || !fab_cuda_check (cuda, cuda->device_bus_id (bus_id, sizeof (bus_id) - 1, gpu->device), gpu->name,
                          error)
      || !fab_cuda_check (cuda, cuda->device_uuid (uuid, gpu->device), gpu->name, error))
    return FALSE;
  gpu->model = g_strdup (name);
  gpu->bus_id = g_ascii_strdown (bus_id, -1);
  gpu->uuid = uuid_text (uuid);
  return read_attributes (self, gpu, error);
}

static gboolean
alloc (const FabGpus *self, const FabGpu *gpu, CuPointer *pointer, FabBytes size_bytes, GError **error)
{
  CuResult result = self->cuda->alloc (pointer, (gsize) size_bytes);
  g_autofree char *size = fab_units_write_whole (FAB_UNIT_BYTES, (gint64) size_bytes);

  if (result == CU_OUT_OF_MEMORY)
    return fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "%s has no room for two buffers of %s (CUDA_ERROR_OUT_OF_MEMORY): end what else uses it, or "
        "measure smaller messages",
        gpu->name, size);
  return fab_cuda_check (self->cuda, result, gpu->name, error)
      && fab_cuda_check (self->cuda, self->cuda->fill (*pointer, 0, (gsize) size_bytes), gpu->name, error);
}

static gboolean
open_gpu (FabGpus *self, FabGpu *gpu, GError **error)
{
  g_autofree char *doing = NULL;

  if (!identify (self, gpu, error))
    return FALSE;
  doing = g_strdup_printf ("%s: make a context", gpu->name);
  return fab_cuda_check (self->cuda, self->cuda->context_retain (&gpu->context, gpu->device), doing, error)
      && fab_gpu_use (self, gpu, error) && alloc (self, gpu, &gpu->out, self->max_bytes, error)
      && alloc (self, gpu, &gpu->in, self->max_bytes, error)
      && alloc (self, gpu, &gpu->flag, FLAG_BYTES, error);
}

static gboolean
share (FabGpus *self, GError **error)
{
  void *memory = NULL;

  if (!fab_cuda_check (
          self->cuda, self->cuda->host_alloc (&memory, sizeof (FabShared), CU_HOST_PORTABLE | CU_HOST_MAPPED),
          "share host memory with the GPUs", error))
    return FALSE;
  memset (memory, 0, sizeof (FabShared));
  self->shared = memory;
  return TRUE;
}

/* Tries stream_wait_value: some virtual machines have the function but refuse the call. */
static gboolean
probe_wait_value (const FabGpus *self)
{
  CuPointer word = (CuPointer) (gsize) &self->shared->hold;

  return self->cuda->stream_wait_value
      && self->cuda->stream_wait_value (NULL, word, self->epoch, CU_WAIT_GEQ) == CU_OK
      && self->cuda->stream_synchronize (NULL) == CU_OK;
}

/* How many GPUs there are. */
static gboolean
count (FabGpus *self, guint *n_there, GError **error)
{
  int n = 0, version = 0;

  if (!fab_cuda_check (self->cuda, self->cuda->device_count (&n), "count the GPUs", error)
      || !fab_cuda_check (self->cuda, self->cuda->driver_version (&version), "ask for the driver's version",
                          error))
    return FALSE;
  if (n < 1)
    return fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "the CUDA driver shows no GPU: is CUDA_VISIBLE_DEVICES empty, or the container without one?");
  *n_there = (guint) n;
  self->driver = g_strdup_printf ("CUDA %d.%d", version / 1000, version % 1000 / 10);
  return TRUE;
}

static gboolean
open_gpus (FabGpus *self, guint first, guint n, GError **error)
{
  self->n_gpus = n;
  self->gpus = g_new0 (FabGpu, n);
  for (guint i = 0; i < n; i++) {
    self->gpus[i].index = first + i;
    if (!open_gpu (self, &self->gpus[i], error) || (i == 0 && !share (self, error))
        || !fab_cuda_check (self->cuda, self->cuda->stream_synchronize (NULL), "clear the buffers", error))
      return FALSE;
  }
  self->can_wait_value = probe_wait_value (self);
  return TRUE;
}

static FabGpus *
open_driver (FabBytes max_bytes, guint *n_there, GError **error)
{
  g_autoptr (FabGpus) self = g_new0 (FabGpus, 1);

  self->max_bytes = max_bytes;
  self->cuda = fab_cuda_open (error);
  return self->cuda && count (self, n_there, error) ? g_steal_pointer (&self) : NULL;
}

FabGpus *
fab_gpus_open (guint n_wanted, FabBytes max_bytes, GError **error)
{
  guint n_there = 0;
  g_autoptr (FabGpus) self = open_driver (max_bytes, &n_there, error);

  if (!self)
    return NULL;
  if (n_there < n_wanted) {
    fab_throw (error, FAB_ERROR_INPUT, "gpus is %u, but this machine shows %u", n_wanted, n_there);
    return NULL;
  }
  return open_gpus (self, 0, n_wanted > 0 ? n_wanted : n_there, error) ? g_steal_pointer (&self) : NULL;
}

FabGpus *
fab_gpus_open_one (guint index, FabBytes max_bytes, GError **error)
{
  guint n_there = 0;
  g_autoptr (FabGpus) self = open_driver (max_bytes, &n_there, error);

  if (!self)
    return NULL;
  if (index >= n_there) {
    fab_throw (error, FAB_ERROR_INPUT, "gpu is %u, but this machine shows %u, counted from 0", index,
               n_there);
    return NULL;
  }
  return open_gpus (self, index, 1, error) ? g_steal_pointer (&self) : NULL;
}

static void
close_gpu (FabGpus *self, FabGpu *gpu)
{
  if (gpu->context) {
    self->cuda->context_use (gpu->context);
    if (gpu->module)
      self->cuda->module_unload (gpu->module);
    if (gpu->out)
      self->cuda->free (gpu->out);
    if (gpu->in)
      self->cuda->free (gpu->in);
    if (gpu->flag)
      self->cuda->free (gpu->flag);
    self->cuda->context_release (gpu->device);
  }
  g_free (gpu->name);
  g_free (gpu->model);
  g_free (gpu->bus_id);
  g_free (gpu->uuid);
}

void
fab_gpus_close (FabGpus *self)
{
  if (!self)
    return;
  if (self->shared) {
    self->cuda->context_use (self->gpus[0].context);
    self->cuda->host_free (self->shared);
  }
  for (guint i = 0; self->gpus && i < self->n_gpus; i++)
    close_gpu (self, &self->gpus[i]);
  fab_cuda_close (self->cuda);
  g_free (self->gpus);
  g_free (self->driver);
  g_free (self);
}
