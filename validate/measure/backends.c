/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/measure/backends.h"

#include <gmodule.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/nearest.h"

#define SYMBOL "fab_measure_backend"

const FabBackendRow fab_backend_rows[] = {
  { "tcp", "TCP sockets between two hosts", NULL, NULL },
  { "cuda", "GPU memory and PCIe/NVLink: host to device, device to device, one and both directions", "",
    "nvidia-driver" },
  { "compute", "kernels of a GPU: matrix products, memory-bound kernels, copies, launches", "",
    "nvidia-driver" },
  { "nccl", "NCCL collectives on the GPUs of this machine", "", "libnccl2" },
  { "verbs", "InfiniBand and RoCE: RC write, read and send between two hosts", "libibverbs-dev",
    "libibverbs1 ibverbs-providers" },
  { "ofi", "libfabric between two hosts: tcp, shm, verbs, efa, cxi, opx", "libfabric-dev", "libfabric1" },
  { "mpi", "MPI collectives and messages, under mpirun", "libopenmpi-dev", "openmpi-bin" },
  { NULL, NULL, NULL, NULL },
};

static const FabBackendRow *
find_row (const char *name, GError **error)
{
  const char *names[G_N_ELEMENTS (fab_backend_rows)] = { NULL };
  const char *nearest;

  for (guint i = 0; fab_backend_rows[i].name; i++) {
    if (strcmp (fab_backend_rows[i].name, name) == 0)
      return &fab_backend_rows[i];
    names[i] = fab_backend_rows[i].name;
  }
  nearest = fab_nearest (name, names);
  fab_throw (error, FAB_ERROR_INPUT, "there is no backend '%s'%s%s; `fabricast measure` lists them", name,
             nearest ? "; nearest is " : "", nearest ? nearest : "");
  return NULL;
}

static char *
find_module (const char *name, const char *const *directories)
{
  g_autofree char *file = g_strdup_printf ("fabricast-measure-%s.so", name);

  for (guint i = 0; directories[i]; i++) {
    char *path = g_build_filename (directories[i], file, NULL);

    if (g_file_test (path, G_FILE_TEST_EXISTS))
      return path;
    g_free (path);
  }
  return NULL;
}

/* Sets *error from the loader's message, such as "libibverbs.so.1: cannot open shared object file: No such file or
 * directory". */
static gboolean
fail_to_load (const FabBackendRow *row, const char *message, GError **error)
{
  const char *end = strstr (message, ": cannot open shared object file");

  if (end && strncmp (message, "lib", 3) == 0)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s needs %.*s, which is not here (Debian: %s)",
                      row->name, (int) (end - message), message, row->packages);
  return fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s cannot be loaded here: %s (Debian: %s)", row->name,
                    message, row->packages);
}

static const FabMeasureBackend *
load_module (const FabBackendRow *row, const char *path, GError **error)
{
  GModule *module = g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  gpointer symbol = NULL;
  const FabMeasureBackend *backend;

  if (module == NULL) {
    fail_to_load (row, g_module_error (), error);
    return NULL;
  }
  g_module_make_resident (module); /* device libraries often cannot be unloaded safely */
  backend = g_module_symbol (module, SYMBOL, &symbol) && symbol ? ((FabMeasureBackendFunc) symbol) () : NULL;
  if (backend && backend->abi == FAB_MEASURE_ABI)
    return backend;
  fab_throw (error, FAB_ERROR_UNSUPPORTED, "%s is not of this fabricast; build or install both together",
             path);
  return NULL;
}

const FabMeasureBackend *
fab_backend_load (const char *name, const char *const *directories, GError **error)
{
  const FabBackendRow *row = find_row (name, error);
  g_autofree char *path = NULL;

  if (row == NULL)
    return NULL;
  if (row->build == NULL)
    return &fab_measure_tcp;
  path = find_module (name, directories);
  if (path)
    return load_module (row, path, error);
  if (*row->build == '\0')
    fab_throw (error, FAB_ERROR_UNSUPPORTED,
               "%s is not in this build, or not beside it; build it with -Dmeasure=enabled", name);
  else
    fab_throw (error, FAB_ERROR_UNSUPPORTED,
               "%s is not in this build; install what it is built with (Debian: %s) and build again", name,
               row->build);
  return NULL;
}
