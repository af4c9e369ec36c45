/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - the functions of libcuda that Fabricast uses, for the machine of machine.h. */
#include <string.h>

#include "tests/fake_gpu/machine.h"

enum {
  INVALID_VALUE = 1,
  NOT_INITIALISED = 3,
  INVALID_CONTEXT = 201,

  NOT_SUPPORTED = 801
};

static gpointer
handle (guint gpu)
{
  return GUINT_TO_POINTER (gpu + 1);
}

/* --- the driver and its devices --- */

CuResult
cuInit (guint flags)
{
  fake_machine_reset ();
  if (flags != 0)
    return INVALID_VALUE;
  return fake_fails ("init") ? CU_NO_DEVICE : fake_fails ("mismatch") ? CU_DRIVER_MISMATCH : CU_OK;
}

CuResult
cuDriverGetVersion (int *version)
{
  *version = 12040;
  return CU_OK;
}

CuResult
cuGetErrorName (CuResult result, const char **text)
{
  *text = result == CU_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return CU_OK;
}

CuResult
cuGetErrorString (CuResult result, const char **text)
{
  *text = result == CU_OUT_OF_MEMORY ? "out of memory" : "a fake error";
  return CU_OK;
}

CuResult
cuDeviceGetCount (int *n)
{
  *n = (int) fake_machine ()->n_gpus;
  return CU_OK;
}

CuResult
cuDeviceGet (CuDevice *device, int ordinal)
{
  *device = ordinal;
  return ordinal >= 0 && (guint) ordinal < fake_machine ()->n_gpus ? CU_OK : 101;
}

CuResult
cuDeviceGetName (char *name, int size, CuDevice device)
{
  g_snprintf (name, (gulong) size, "Fake GPU %c", 'A' + device);
  return CU_OK;
}

CuResult
cuDeviceGetAttribute (int *value, int attribute, G_GNUC_UNUSED CuDevice device)
{
  *value = attribute == CU_N_MULTIPROCESSORS ? 16 : attribute == CU_CAPABILITY_MAJOR ? 9 : 0;
  return CU_OK;
}

CuResult
cuDeviceTotalMem_v2 (gsize *bytes, G_GNUC_UNUSED CuDevice device)
{
  *bytes = fake_machine ()->memory_bytes;
  return CU_OK;
}

CuResult
cuDeviceGetPCIBusId (char *text, int size, CuDevice device)
{
  g_snprintf (text, (gulong) size, "FACE:0%c:00.0", 'A' + device);
  return CU_OK;
}

CuResult
cuDeviceGetUuid (guint8 uuid[16], CuDevice device)
{
  memset (uuid, 0x10 + device, 16);
  return CU_OK;
}

/* --- contexts --- */

CuResult
cuDevicePrimaryCtxRetain (CuContext *context, CuDevice device)
{
  *context = handle ((guint) device);
  fake_machine ()->n_retained[device]++;
  return CU_OK;
}

CuResult
cuDevicePrimaryCtxRelease_v2 (CuDevice device)
{
  if (fake_machine ()->n_retained[device] == 0)
    return INVALID_CONTEXT;
  fake_machine ()->n_retained[device]--;
  return CU_OK;
}

CuResult
cuCtxSetCurrent (CuContext context)
{
  guint gpu = GPOINTER_TO_UINT (context) - 1;

  if (gpu >= fake_machine ()->n_gpus || fake_machine ()->n_retained[gpu] == 0)
    return INVALID_CONTEXT;
  fake_machine ()->current = gpu;
  return CU_OK;
}

CuResult
cuDeviceCanAccessPeer (int *can, CuDevice device, CuDevice peer)
{
  *can = device != peer && !fake_fails ("peer");
  return CU_OK;
}

CuResult
cuCtxEnablePeerAccess (CuContext peer, guint flags)
{
  FakeMachine *machine = fake_machine ();
  gboolean *is_peer = &machine->is_peer[machine->current][GPOINTER_TO_UINT (peer) - 1];

  if (flags != 0 || fake_fails ("enable"))
    return CU_PEER_UNSUPPORTED;
  if (*is_peer)
    return CU_PEER_ALREADY;
  *is_peer = TRUE;
  return CU_OK;
}

CuResult
cuCtxDisablePeerAccess (CuContext peer)
{
  FakeMachine *machine = fake_machine ();

  machine->is_peer[machine->current][GPOINTER_TO_UINT (peer) - 1] = FALSE;
  return CU_OK;
}

/* --- memory --- */

CuResult
cuMemAlloc_v2 (CuPointer *pointer, gsize size)
{
  void *memory = NULL;
  CuResult result = fake_block_new (size, (int) fake_machine ()->current, &memory);

  *pointer = (CuPointer) (gsize) memory;
  return result;
}

CuResult
cuMemFree_v2 (CuPointer pointer)
{
  return fake_block_free ((gpointer) (gsize) pointer);
}

CuResult
cuMemsetD8_v2 (CuPointer pointer, guint8 value, gsize size)
{
  gpointer start = (gpointer) (gsize) pointer;

  if (!fake_block_find (start, size))
    return INVALID_VALUE;
  memset (start, value, size);
  return CU_OK;
}

CuResult
cuMemHostAlloc (void **pointer, gsize size, guint flags)
{
  if (flags != (CU_HOST_PORTABLE | CU_HOST_MAPPED))
    return INVALID_VALUE;
  return fake_fails ("pin") && size > 4096 ? CU_OUT_OF_MEMORY : fake_block_new (size, -1, pointer);
}

CuResult
cuMemFreeHost (void *pointer)
{
  return fake_block_free (pointer);
}

/* --- copies --- */

static CuResult
copy_host (FakeWay way, gpointer to, gconstpointer from, gsize size, CuStream stream)
{
  gconstpointer device = way == FAKE_TO_GPU ? to : from, host = way == FAKE_TO_GPU ? from : to;
  const FakeBlock *block = fake_block_find (device, size);
  FakeCopy copy = {
    .stream = fake_stream (stream),
    .to = to,
    .from = (gpointer) from,
    .size = size,
    .way = way,
    .is_pageable = !fake_block_find (host, size),
  };

  if (!block || block->gpu < 0 || (guint) block->gpu != copy.stream->gpu)
    return INVALID_VALUE;
  copy.link = copy.stream->gpu / 2;
  fake_queue_copy (&copy);
  return copy.is_pageable ? fake_run (copy.stream) : CU_OK;
}

CuResult
cuMemcpyHtoDAsync_v2 (CuPointer to, const void *from, gsize size, CuStream stream)
{
  if (fake_fails ("copy-in"))
    return 719;
  return copy_host (FAKE_TO_GPU, (gpointer) (gsize) to, from, size, stream);
}

CuResult
cuMemcpyDtoHAsync_v2 (void *to, CuPointer from, gsize size, CuStream stream)
{
  if (fake_fails ("copy-out"))
    return 719;
  return copy_host (FAKE_TO_HOST, to, (gpointer) (gsize) from, size, stream);
}

static CuResult
copy_gpus (FakeWay way, CuPointer to, CuPointer from, gsize size, CuStream stream)
{
  FakeCopy copy = {
    .stream = fake_stream (stream),
    .to = (gpointer) (gsize) to,
    .from = (gpointer) (gsize) from,
    .size = size,
    .way = way,
  };
  const FakeBlock *source = fake_block_find (copy.from, size), *target = fake_block_find (copy.to, size);

  if (!source || !target || source->gpu < 0 || target->gpu < 0
      || (way == FAKE_INSIDE) != (source->gpu == target->gpu))
    return INVALID_VALUE;
  copy.link = (guint) source->gpu;
  fake_queue_copy (&copy);
  return CU_OK;
}

CuResult
cuMemcpyDtoDAsync_v2 (CuPointer to, CuPointer from, gsize size, CuStream stream)
{
  return copy_gpus (FAKE_INSIDE, to, from, size, stream);
}

CuResult
cuMemcpyPeerAsync (CuPointer to, CuContext to_context, CuPointer from, CuContext from_context, gsize size,
                   CuStream stream)
{
  gboolean is_direct = fake_machine ()
                           ->is_peer[GPOINTER_TO_UINT (from_context) - 1][GPOINTER_TO_UINT (to_context) - 1];

  return copy_gpus (is_direct ? FAKE_DIRECT : FAKE_STAGED, to, from, size, stream);
}

/* --- streams and events --- */

CuResult
cuStreamCreate (CuStream *stream, guint flags)
{
  FakeStream *self = g_new0 (FakeStream, 1);

  self->gpu = fake_machine ()->current;
  fake_machine ()->n_live++;
  *stream = (CuStream) self;
  return flags == CU_STREAM_NON_BLOCKING ? CU_OK : INVALID_VALUE;
}

CuResult
cuStreamDestroy_v2 (CuStream stream)
{
  CuResult result = fake_run (fake_stream (stream));

  fake_machine ()->n_live--;
  g_free (stream);
  return result;
}

CuResult
cuStreamSynchronize (CuStream stream)
{
  return fake_run (fake_stream (stream));
}

CuResult
cuStreamWaitEvent (CuStream stream, CuEvent event, guint flags)
{
  fake_queue_wait_event (fake_stream (stream), (FakeEvent *) event);
  return flags == 0 ? CU_OK : INVALID_VALUE;
}

CuResult
cuStreamWaitValue32_v2 (CuStream stream, CuPointer word, guint32 value, guint flags)
{
  if (fake_fails ("wait") || flags != CU_WAIT_GEQ)
    return NOT_SUPPORTED;
  if (!fake_block_find ((gpointer) (gsize) word, sizeof value))
    return INVALID_VALUE;
  fake_queue_wait_word (fake_stream (stream), (const guint32 *) (gsize) word, value);
  return CU_OK;
}

CuResult
cuEventCreate (CuEvent *event, guint flags)
{
  *event = (CuEvent) g_new0 (FakeEvent, 1);
  fake_machine ()->n_live++;
  return flags == 0 ? CU_OK : INVALID_VALUE;
}

CuResult
cuEventDestroy_v2 (CuEvent event)
{
  fake_run (fake_stream (NULL)); /* what is queued may want it */
  fake_machine ()->n_live--;
  g_free (event);
  return CU_OK;
}

CuResult
cuEventRecord (CuEvent event, CuStream stream)
{
  fake_queue_record (fake_stream (stream), (FakeEvent *) event);
  return CU_OK;
}

CuResult
cuEventElapsedTime (float *ms, CuEvent start, CuEvent end)
{
  *ms = (float) ((((FakeEvent *) end)->ns - ((FakeEvent *) start)->ns) * 1e-6);
  return CU_OK;
}
