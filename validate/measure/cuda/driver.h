/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - the CUDA driver as it is found at run time: own declarations of the functions that are used.
 *
 * The driver belongs to the machine, not to the build: nothing of a toolkit is needed to compile or load this.
 * Names and numbers are those of the driver's ABI, which NVIDIA keeps stable; a `_v2` is part of the symbol.
 * Environment FABRICAST_CUDA_DRIVER names another library than libcuda.so.1 (tests do).
 */
#pragma once

#include <glib.h>

#include "sim/base/error.h"

typedef int CuResult; /* 0: success */
typedef int CuDevice;
typedef guint64 CuPointer; /* device memory; with unified addressing no two GPUs share an address */
typedef struct CuContextOpaque *CuContext;
typedef struct CuStreamOpaque *CuStream;
typedef struct CuEventOpaque *CuEvent;
typedef struct CuModuleOpaque *CuModule;
typedef struct CuFunctionOpaque *CuFunction;

enum {
  CU_OK = 0,
  CU_OUT_OF_MEMORY = 2,
  CU_NO_DEVICE = 100,
  CU_NO_BINARY = 209,
  CU_PEER_UNSUPPORTED = 217,
  CU_UNSUPPORTED_PTX = 222,
  CU_PEER_ALREADY = 704,
  CU_DRIVER_MISMATCH = 803,
};

enum { /* attributes of cuDeviceGetAttribute */
       CU_N_MULTIPROCESSORS = 16,
       CU_MEMORY_CLOCK_KHZ = 36,
       CU_MEMORY_BUS_BITS = 37,
       CU_CAPABILITY_MAJOR = 75,
       CU_CAPABILITY_MINOR = 76,
};

enum { CU_HOST_PORTABLE = 1, CU_HOST_MAPPED = 2 };
enum { CU_STREAM_NON_BLOCKING = 1 };
enum { CU_WAIT_GEQ = 0 };

typedef struct {
  gpointer library;
  CuResult (*init) (guint flags);
  CuResult (*driver_version) (int *version);
  CuResult (*error_name) (CuResult result, const char **text);
  CuResult (*error_string) (CuResult result, const char **text);
  CuResult (*device_count) (int *n);
  CuResult (*device_get) (CuDevice *device, int ordinal);
  CuResult (*device_name) (char *name, int size, CuDevice device);
  CuResult (*device_attribute) (int *value, int attribute, CuDevice device);
  CuResult (*device_memory) (gsize *bytes, CuDevice device);
  CuResult (*device_bus_id) (char *text, int size, CuDevice device);
  CuResult (*device_uuid) (guint8 uuid[16], CuDevice device);
  CuResult (*context_retain) (CuContext *context, CuDevice device);
  CuResult (*context_release) (CuDevice device);
  CuResult (*context_use) (CuContext context);
  CuResult (*can_access_peer) (int *can, CuDevice device, CuDevice peer);
  CuResult (*enable_peer) (CuContext peer, guint flags);
  CuResult (*disable_peer) (CuContext peer);
  CuResult (*alloc) (CuPointer *pointer, gsize size);
  CuResult (*free) (CuPointer pointer);
  CuResult (*fill) (CuPointer pointer, guint8 value, gsize size);
  CuResult (*host_alloc) (void **pointer, gsize size, guint flags);
  CuResult (*host_free) (void *pointer);
  CuResult (*copy_to_device) (CuPointer to, const void *from, gsize size, CuStream stream);
  CuResult (*copy_to_host) (void *to, CuPointer from, gsize size, CuStream stream);
  CuResult (*copy_on_device) (CuPointer to, CuPointer from, gsize size, CuStream stream);
  CuResult (*copy_peer) (CuPointer to, CuContext to_context, CuPointer from, CuContext from_context,
                         gsize size, CuStream stream);
  CuResult (*stream_create) (CuStream *stream, guint flags);
  CuResult (*stream_destroy) (CuStream stream);
  CuResult (*stream_synchronize) (CuStream stream);
  CuResult (*stream_wait_event) (CuStream stream, CuEvent event, guint flags);
  /* NULL: drivers before 11.7 lack it */
  CuResult (*stream_wait_value) (CuStream stream, CuPointer word, guint32 value, guint flags);
  CuResult (*event_create) (CuEvent *event, guint flags);
  CuResult (*event_destroy) (CuEvent event);
  CuResult (*event_record) (CuEvent event, CuStream stream);
  CuResult (*event_elapsed) (float *ms, CuEvent start, CuEvent end);
  CuResult (*module_load) (CuModule *module, const void *image);
  CuResult (*module_unload) (CuModule module);
  CuResult (*module_function) (CuFunction *function, CuModule module, const char *name);
  CuResult (*launch) (CuFunction function, guint grid_x, guint grid_y, guint grid_z, guint block_x,
                      guint block_y, guint block_z, guint shared_bytes, CuStream stream, void **params,
                      void **extra);
} FabCuda;

/* Loads the library, looks up every function and initialises it. Fails with FAB_ERROR_UNSUPPORTED and what is
 * missing.
 * (transfer full) */
FabCuda *fab_cuda_open (GError **error);
void fab_cuda_close (FabCuda *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCuda, fab_cuda_close)

/* Returns TRUE when `result` is CU_OK. Otherwise returns FALSE with "DOING: out of memory
 * (CUDA_ERROR_OUT_OF_MEMORY)";
 * the error is FAB_ERROR_UNSUPPORTED when this machine cannot do it. */
gboolean fab_cuda_check (const FabCuda *self, CuResult result, const char *doing, GError **error);
