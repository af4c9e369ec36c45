/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - loads libnccl at run time and turns its results into error messages. */
#include "validate/measure/nccl/library.h"

#include "validate/measure/cuda/symbols.h"

static const FabSymbol symbols[] = {
  { "ncclGetVersion", G_STRUCT_OFFSET (FabNccl, version), FALSE },
  { "ncclGetErrorString", G_STRUCT_OFFSET (FabNccl, error_string), FALSE },
  { "ncclGetLastError", G_STRUCT_OFFSET (FabNccl, last_error), TRUE },
  { "ncclCommInitAll", G_STRUCT_OFFSET (FabNccl, comm_init_all), FALSE },
  { "ncclCommDestroy", G_STRUCT_OFFSET (FabNccl, comm_destroy), FALSE },
  { "ncclCommAbort", G_STRUCT_OFFSET (FabNccl, comm_abort), FALSE },
  { "ncclCommGetAsyncError", G_STRUCT_OFFSET (FabNccl, comm_async_error), FALSE },
  { "ncclGroupStart", G_STRUCT_OFFSET (FabNccl, group_start), FALSE },
  { "ncclGroupEnd", G_STRUCT_OFFSET (FabNccl, group_end), FALSE },
  { "ncclAllReduce", G_STRUCT_OFFSET (FabNccl, all_reduce), FALSE },
  { "ncclAllGather", G_STRUCT_OFFSET (FabNccl, all_gather), FALSE },
  { "ncclReduceScatter", G_STRUCT_OFFSET (FabNccl, reduce_scatter), FALSE },
  { "ncclBroadcast", G_STRUCT_OFFSET (FabNccl, broadcast), FALSE },
  { "ncclReduce", G_STRUCT_OFFSET (FabNccl, reduce), FALSE },
  { "ncclSend", G_STRUCT_OFFSET (FabNccl, send), FALSE },
  { "ncclRecv", G_STRUCT_OFFSET (FabNccl, receive), FALSE },
};

FabNccl *
fab_nccl_open (GError **error)
{
  const char *path = fab_symbols_library ("FABRICAST_NCCL", "libnccl.so.2");
  g_autoptr (FabNccl) self = g_new0 (FabNccl, 1);
  const char *missing;

  self->module = fab_symbols_open (path);
  if (!self->module) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED, "NCCL (%s) was not found; install it (Debian: libnccl2)", path);
    return NULL;
  }
  missing = fab_symbols_fill (self->module, self, symbols, G_N_ELEMENTS (symbols));
  if (missing) {
    fab_throw (error, FAB_ERROR_UNSUPPORTED,
               "the NCCL library %s has no function %s: it is too old, one of NCCL 2.7 or newer would do",
               path, missing);
    return NULL;
  }
  return g_steal_pointer (&self);
}

void
fab_nccl_close (FabNccl *self)
{
  if (!self)
    return;
  if (self->module)
    g_module_close (self->module);
  g_free (self);
}

gboolean
fab_nccl_check (const FabNccl *self, NcclResult result, const char *doing, GError **error)
{
  const char *more = result != NCCL_OK && self->last_error ? self->last_error (NULL) : NULL;

  if (result == NCCL_OK)
    return TRUE;
  return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s: %s (NCCL, %d)%s%s; NCCL_DEBUG=INFO says more", doing,
                    self->error_string (result), result, more && *more ? ": " : "", more ? more : "");
}

/* NCCL reports MAJOR x 10000 + MINOR x 100 + PATCH; up to 2.8 it was MAJOR x 1000. */
char *
fab_nccl_version (const FabNccl *self)
{
  int version = 0, major;

  if (self->version (&version) != NCCL_OK)
    return g_strdup ("unknown");
  major = version < 10000 ? 1000 : 10000;
  return g_strdup_printf ("%d.%d.%d", version / major, version % major / 100, version % 100);
}
