/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - ranks that measure together: rank 0 decides and keeps what was measured, the others do as it tells them.
 *
 * Errors of MPI end all ranks, as they do in any program that mpirun started; so nothing here waits with a time limit.
 */
#pragma once

#include <mpi.h>

#include "sim/work/collective.h"
#include "validate/measure/pair.h"

typedef struct {
  gint op;               /* FabOp */
  const char *algorithm; /* what MPI was told to use; NULL: its choice */
  gint64 other;          /* rank that rank 0 is measured with; 0: the first on another host */
} FabMpiParams;

typedef enum { FAB_MPI_PAIR = 1, FAB_MPI_COLLECTIVE, FAB_MPI_END } FabMpiDuty;

/* What rank 0 tells another to do. */
typedef struct {
  guint64 duty;                       /* FabMpiDuty */
  guint64 op, size_bytes, n_messages; /* COLLECTIVE */
} FabMpiCommand;

enum { FAB_MPI_TAG_COMMAND = 1, FAB_MPI_TAG_CONTROL, FAB_MPI_TAG_DATA, FAB_MPI_TAG_WORD };

/* --- ranks.c --- */

guint fab_mpi_rank (void);
guint fab_mpi_n_ranks (void);

void fab_mpi_tell (guint rank, const FabMpiCommand *command);
void fab_mpi_tell_all (const FabMpiCommand *command); /* but rank 0 */
/* Sleeps between two looks after a while, so that who waits takes nothing from those who measure. */
void fab_mpi_hear (FabMpiCommand *command);

/* Messages to one rank and from it, beside what is measured. `names`: of all ranks' hosts. */
FabControl *fab_mpi_control_new (guint rank, const char *const *names);

/* The host of every rank, NULL-ended; all ranks call it. (transfer full) */
char **fab_mpi_hosts (void);

/* --- pair.c --- */

extern const FabPairOps fab_mpi_pair_ops;

/* --- collective.c --- */

/* Measures params->op over all ranks, which must be listening. */
gboolean fab_mpi_measure_collective (FabMeasureHost *host, const FabMpiParams *params,
                                     const char *const *names, GError **error);
/* The part of a rank that was told to; how long the slowest rank took is known at rank 0. */
FabTimePs fab_mpi_run_collective (const FabMpiCommand *command);
