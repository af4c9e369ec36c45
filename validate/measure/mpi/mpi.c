/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - the backend `mpi`: messages between two ranks and collectives over all, under mpirun. */
#include "validate/measure/mpi/ranks.h"

#include <string.h>

#include "sim/base/error.h"

static const FabParam mpi_params[] = {
  { .key = "op",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FabMpiParams, op),
    .fallback = "all_reduce",
    .choices = fab_op_names,
    .help = "Collective over all ranks, of floats where it adds." },
  { .key = "algorithm",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (FabMpiParams, algorithm),
    .fallback = "",
    .help = "Written down as the collective's algorithm. It is mpirun that chooses it." },
  { .key = "other",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (FabMpiParams, other),
    .fallback = "0",
    .help = "Rank with which rank 0 exchanges messages; 0 is the first on another host, or rank 1." },
  { .key = NULL },
};

static void
join (void)
{
  int is_joined = 0;

  MPI_Initialized (&is_joined);
  if (!is_joined)
    MPI_Init (NULL, NULL);
}

static gboolean
is_helper (void)
{
  join ();
  return fab_mpi_rank () != 0;
}

/* --- rank 0 --- */

static guint
choose_other (const FabMpiParams *params, const char *const *names)
{
  if (params->other > 0)
    return (guint) params->other;
  for (guint rank = 1; names[rank]; rank++)
    if (strcmp (names[rank], names[0]) != 0)
      return rank;
  return 1;
}

static gboolean
measure_pair (FabMeasureHost *host, const FabMpiParams *params, const char *const *names, GError **error)
{
  const FabMpiCommand command = { .duty = FAB_MPI_PAIR };
  guint other = choose_other (params, names);
  FabControl *control;
  gboolean is_measured;

  if (other >= fab_mpi_n_ranks ())
    return fab_throw (error, FAB_ERROR_INPUT, "other: there is no rank %u; ranks are 0 to %u", other,
                      fab_mpi_n_ranks () - 1);
  control = fab_mpi_control_new (other, names);
  fab_mpi_tell (other, &command);
  is_measured = fab_pair_measure (host, "mpi", &fab_mpi_pair_ops, control, params, error);
  control->close (control);
  return is_measured;
}

static void
say_version (FabMeasureHost *host)
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;

  MPI_Get_library_version (text, &length);
  text[strcspn (text, ",\n")] = '\0';
  host->machine (host, "mpi", text);
}

static gboolean
measure_kinds (FabMeasureHost *host, const FabMpiParams *params, const char *const *names, GError **error)
{
  const gboolean *kinds = host->plan->kinds;
  gboolean is_pair_wanted = FALSE;

  if (fab_mpi_n_ranks () < 2)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "mpi measures between ranks, and this is the only one; start `mpirun -n 2 fabricast measure mpi`");
  for (guint kind = 0; kind < FAB_N_MEASURE_KINDS; kind++)
    is_pair_wanted |= kinds[kind] && fab_mpi_pair_ops.can[kind];
  return (!is_pair_wanted || measure_pair (host, params, names, error))
      && (!kinds[FAB_MEASURE_COLLECTIVE] || fab_mpi_measure_collective (host, params, names, error));
}

static gboolean
mpi_measure (FabMeasureHost *host, gconstpointer params, GError **error)
{
  const FabMpiCommand end = { .duty = FAB_MPI_END };
  g_auto (GStrv) names = NULL;
  gboolean is_measured;

  join ();
  say_version (host);
  names = fab_mpi_hosts ();
  is_measured = measure_kinds (host, params, (const char *const *) names, error);
  fab_mpi_tell_all (&end);
  MPI_Finalize ();
  return is_measured;
}

/* --- the other ranks --- */

static void
serve_pair (FabMeasureHost *host, gconstpointer params, const char *const *names)
{
  FabControl *control = fab_mpi_control_new (0, names);

  fab_pair_serve (host, &fab_mpi_pair_ops, control, params,
                  NULL); /* the error goes to rank 0, which reports it */
  control->close (control);
}

static gboolean
mpi_serve (FabMeasureHost *host, gconstpointer params, GError **error)
{
  g_auto (GStrv) names = NULL;
  FabMpiCommand command;

  if (!is_helper ())
    return fab_throw (error, FAB_ERROR_INPUT,
                      "mpi does not listen: mpirun starts all ranks, as `mpirun -n 2 fabricast measure mpi`");
  names = fab_mpi_hosts ();
  for (fab_mpi_hear (&command); command.duty != FAB_MPI_END; fab_mpi_hear (&command))
    if (command.duty == FAB_MPI_PAIR)
      serve_pair (host, params, (const char *const *) names);
    else
      fab_mpi_run_collective (&command);
  MPI_Finalize ();
  return TRUE;
}

static const FabMeasureBackend mpi_backend = {
  .abi = FAB_MEASURE_ABI,
  .info = { .name = "mpi",
            .summary = "Messages between two ranks and collectives over all, under mpirun.",
            .doc = "docs/measure-mpi.md",
            .params = mpi_params,
            .params_size = sizeof (FabMpiParams) },
  .needs = "MPI (Debian: openmpi-bin), and mpirun to start fabricast",
  .measure = mpi_measure,
  .serve = mpi_serve,
  .is_helper = is_helper,
};

const FabMeasureBackend *fab_measure_backend (void);

const FabMeasureBackend *
fab_measure_backend (void)
{
  return &mpi_backend;
}
