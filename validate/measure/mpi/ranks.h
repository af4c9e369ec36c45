/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - ranks that measure together: rank 0 decides and keeps the samples, the others follow its commands.
 *
 * An error in MPI ends all ranks, as in any program under mpirun; therefore nothing here has a time limit.
 */
#pragma once

#include <mpi.h>

#include "sim/work/collective.h"
#include "validate/measure/pair.h"

typedef struct {
  gint op;               /* FabOp that is measured */
  const char *algorithm; /* the algorithm that MPI was told to use; NULL: its own choice */
  gint64 other;          /* the rank that rank 0 is paired with; 0: the first one on another host */
} FabMpiParams;

typedef enum { FAB_MPI_PAIR = 1, FAB_MPI_COLLECTIVE, FAB_MPI_END } FabMpiDuty;

/* What rank 0 tells another rank to do. */
typedef struct {
  guint64 duty;                       /* FabMpiDuty */
  guint64 op, size_bytes, n_messages; /* for COLLECTIVE */
} FabMpiCommand;

enum { FAB_MPI_TAG_COMMAND = 1, FAB_MPI_TAG_CONTROL, FAB_MPI_TAG_DATA, FAB_MPI_TAG_WORD };

/* --- ranks.c --- */

guint fab_mpi_rank (void);
guint fab_mpi_n_ranks (void);

void fab_mpi_tell (guint rank, const FabMpiCommand *command);
void fab_mpi_tell_all (const FabMpiCommand *command); /* every rank but 0 */
/* Waits for a command. After a while it sleeps between polls, so that waiting ranks do not slow the measuring ones. */
void fab_mpi_hear (FabMpiCommand *command);

/* Makes a control channel to one rank, with messages apart from the measured ones. `names` are the hosts of all ranks.
 * (transfer full) */
FabControl *fab_mpi_control_new (guint rank, const char *const *names);

/* Returns the host of every rank, NULL-ended; all ranks must call it. (transfer full) */
char **fab_mpi_hosts (void);

/* --- pair.c --- */

extern const FabPairOps fab_mpi_pair_ops;

/* --- collective.c --- */

/* Measures params->op over all ranks, which must be waiting for commands. */
gboolean fab_mpi_measure_collective (FabMeasureHost *host, const FabMpiParams *params,
                                     const char *const *names, GError **error);
/* Runs a commanded rank's part. Returns the time of the slowest rank, which only rank 0 knows. */
FabTimePs fab_mpi_run_collective (const FabMpiCommand *command);
