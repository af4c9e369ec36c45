/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_ranks.c - the ranks that this process was started with, by a module over MPI that is loaded only then. */
#include <gmodule.h>

#include "cli/study/cmd_sweep.h"
#include "sim/base/error.h"

#define MODULE "fabricast-ranks-mpi.so"
#define SYMBOL "fab_ranks_join"

/* mpirun of Open MPI, of MPICH and its kin, srun --mpi=pmi2, srun --mpi=pmix. srun without either starts processes
 * that know nothing of each other. */
static gboolean
was_started_by_mpi (void)
{
  static const char *const counts[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS" };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    const char *count = g_getenv (counts[i]);

    if (count != NULL && g_ascii_strtoull (count, NULL, 10) > 1)
      return TRUE;
  }
  return g_getenv ("PMIX_RANK") != NULL && g_getenv ("OMPI_COMM_WORLD_SIZE") == NULL;
}

static char *
find_module (void)
{
  g_autofree char *built = g_build_filename ("cli", "mpi", NULL);
  g_autoptr (GPtrArray) directories = fab_cli_module_directories (built);

  for (guint i = 0; directories->pdata[i] != NULL; i++) {
    char *path = g_build_filename (directories->pdata[i], MODULE, NULL);

    if (g_file_test (path, G_FILE_TEST_EXISTS))
      return path;
    g_free (path);
  }
  return NULL;
}

gboolean
fab_sweep_find_ranks (FabRanks **ranks, GError **error)
{
  g_autofree char *path = NULL;
  gpointer symbol = NULL;
  GModule *module;

  *ranks = NULL;
  if (!was_started_by_mpi ())
    return TRUE;
  path = find_module ();
  if (path == NULL)
    return fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "fabricast was started under MPI, but this build has no MPI module; install libopenmpi-dev "
        "(Debian) and build again, or start it without mpirun");
  module = g_module_open (path, G_MODULE_BIND_LAZY);
  if (module == NULL)
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "MPI cannot be loaded: %s (install openmpi-bin on "
                      "Debian)",
                      g_module_error ());
  g_module_make_resident (module);
  if (g_module_symbol (module, SYMBOL, &symbol) && symbol != NULL)
    *ranks = ((FabRanksFunc) symbol) ();
  if (symbol == NULL || (*ranks != NULL && (*ranks)->abi != FAB_RANKS_ABI))
    return fab_throw (error, FAB_ERROR_UNSUPPORTED,
                      "%s is from another build of fabricast; build or install both together", path);
  return TRUE;
}
