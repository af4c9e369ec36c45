/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - runs a collective over all ranks repeatedly, with barriers between; the slowest rank's time counts. */
#include "validate/measure/clock.h"
#include "validate/measure/mpi/ranks.h"

typedef struct {
  FabOp op;
  int n_bytes;  /* of the collective */
  int n_part;   /* of one rank's part of it, at least 1 */
  int n_floats; /* in n_bytes, at least 1 */
  int n_part_floats;
  char *out, *in; /* n_bytes each, or a float for each rank where that is more */
} Job;

static void
run_once (const Job *job)
{
  MPI_Comm all = MPI_COMM_WORLD;
  int n = (int) fab_mpi_n_ranks (), rank = (int) fab_mpi_rank ();

  switch (job->op) {
  case FAB_OP_ALL_REDUCE: MPI_Allreduce (job->out, job->in, job->n_floats, MPI_FLOAT, MPI_SUM, all); return;
  case FAB_OP_ALL_GATHER:
    MPI_Allgather (job->out, job->n_part, MPI_BYTE, job->in, job->n_part, MPI_BYTE, all);
    return;
  case FAB_OP_REDUCE_SCATTER:
    MPI_Reduce_scatter_block (job->out, job->in, job->n_part_floats, MPI_FLOAT, MPI_SUM, all);
    return;
  case FAB_OP_BROADCAST: MPI_Bcast (job->out, job->n_bytes, MPI_BYTE, 0, all); return;
  case FAB_OP_REDUCE: MPI_Reduce (job->out, job->in, job->n_floats, MPI_FLOAT, MPI_SUM, 0, all); return;
  case FAB_OP_ALL_TO_ALL:
    MPI_Alltoall (job->out, job->n_part, MPI_BYTE, job->in, job->n_part, MPI_BYTE, all);
    return;
  case FAB_OP_SEND_RECV:
    MPI_Sendrecv (job->out, job->n_bytes, MPI_BYTE, (rank + 1) % n, FAB_MPI_TAG_DATA, job->in, job->n_bytes,
                  MPI_BYTE, (rank + n - 1) % n, FAB_MPI_TAG_DATA, all, MPI_STATUS_IGNORE);
    return;
  case FAB_OP_GATHER:
    MPI_Gather (job->out, job->n_part, MPI_BYTE, job->in, job->n_part, MPI_BYTE, 0, all);
    return;
  case FAB_OP_SCATTER:
    MPI_Scatter (job->out, job->n_part, MPI_BYTE, job->in, job->n_part, MPI_BYTE, 0, all);
    return;
  case FAB_N_OPS: break;
  }
  g_assert_not_reached ();
}

FabTimePs
fab_mpi_run_collective (const FabMpiCommand *command)
{
  int n = (int) fab_mpi_n_ranks (), n_bytes = (int) command->size_bytes, n_part = MAX (n_bytes / n, 1);
  Job job = { .op = (FabOp) command->op,
              .n_bytes = n_bytes,
              .n_part = n_part,
              .n_floats = MAX (n_bytes / (int) sizeof (float), 1),
              .n_part_floats = MAX (n_part / (int) sizeof (float), 1) };
  gsize room = MAX ((gsize) n_bytes, n * sizeof (float));
  gint64 own_ps = 0, slowest_ps = 0;

  job.out = g_malloc0 (room);
  job.in = g_malloc0 (room);
  for (guint64 i = 0; i < command->n_messages; i++) {
    MPI_Barrier (MPI_COMM_WORLD);
    FabTimePs start_ps = fab_clock_ps ();
    run_once (&job);
    own_ps += fab_clock_ps () - start_ps;
  }
  MPI_Reduce (&own_ps, &slowest_ps, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
  g_free (job.out);
  g_free (job.in);
  return slowest_ps;
}

/* A FabTimedFunc; `data` is the FabOp. */
static gboolean
time_collectives (gpointer data, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                  G_GNUC_UNUSED GError **error)
{
  FabMpiCommand command = { FAB_MPI_COLLECTIVE, *(const FabOp *) data, (guint64) size_bytes, n_messages };

  fab_mpi_tell_all (&command);
  *elapsed_ps = fab_mpi_run_collective (&command);
  return TRUE;
}

static guint
count_hosts (const char *const *names)
{
  g_autoptr (GHashTable) hosts = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; names[i]; i++)
    g_hash_table_add (hosts, (gpointer) names[i]);
  return g_hash_table_size (hosts);
}

gboolean
fab_mpi_measure_collective (FabMeasureHost *host, const FabMpiParams *params, const char *const *names,
                            GError **error)
{
  FabOp op = (FabOp) params->op;
  FabSeries series = { .kind = FAB_MEASURE_COLLECTIVE,
                       .backend = g_strdup ("mpi"),
                       .from_memory = g_strdup ("host"),
                       .to_memory = g_strdup ("host"),
                       .op = g_strdup (fab_op_names[op]),
                       .algorithm = g_strdup (params->algorithm),
                       .note = g_strdup_printf ("ranks on %u hosts", count_hosts (names)),
                       .n_ranks = fab_mpi_n_ranks (),
                       .n_pairs = 1,
                       .window = 1 };
  gboolean is_measured = host->measure (host, &series, G_MAXINT, time_collectives, &op, error);

  fab_series_clear (&series);
  return is_measured;
}
