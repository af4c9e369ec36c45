/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_mpi.c - ranks over MPI, in a module of its own.
 *
 * Messages are sent without waiting; copies are freed when MPI has sent them. MPI is told to return errors, and they
 * are ignored: a rank that is not there hears nothing.
 */
#include <mpi.h>
#include <string.h>

#include "sim/study/sweep_ranks.h"

enum { TAG = 1 };

typedef struct {
  MPI_Request request;
  gpointer copy;
} Letter;

typedef struct {
  FabRanks base;
  char host[MPI_MAX_PROCESSOR_NAME];
  GQueue sent; /* Letter, in order */
} MpiRanks;

/* Those that are sent. */
static void
free_sent (MpiRanks *self)
{
  for (GList *at = self->sent.head, *next; at != NULL; at = next) {
    Letter *letter = at->data;
    int is_sent = 0;

    next = at->next;
    if (MPI_Test (&letter->request, &is_sent, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_sent)
      continue;
    g_free (letter->copy);
    g_free (letter);
    g_queue_delete_link (&self->sent, at);
  }
}

static void
mpi_send (FabRanks *ranks, guint to, gconstpointer bytes, gsize size)
{
  MpiRanks *self = (MpiRanks *) ranks;
  Letter *letter = g_new0 (Letter, 1);

  free_sent (self);
  g_assert (size <= G_MAXINT);
  letter->copy = g_memdup2 (bytes, size);
  if (MPI_Isend (letter->copy, (int) size, MPI_BYTE, (int) to, TAG, MPI_COMM_WORLD, &letter->request)
      == MPI_SUCCESS) {
    g_queue_push_tail (&self->sent, letter);
    return;
  }
  g_free (letter->copy);
  g_free (letter);
}

static gboolean
mpi_receive (FabRanks *ranks, guint *from, GByteArray *bytes)
{
  MPI_Status status;
  int is_there = 0, size = 0;

  free_sent ((MpiRanks *) ranks);
  if (MPI_Iprobe (MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &status) != MPI_SUCCESS || !is_there)
    return FALSE;
  MPI_Get_count (&status, MPI_BYTE, &size);
  g_byte_array_set_size (bytes, (guint) size);
  *from = (guint) status.MPI_SOURCE;
  return MPI_Recv (bytes->data, size, MPI_BYTE, status.MPI_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      == MPI_SUCCESS;
}

/* Without the others MPI cannot end in order, and what is not sent stays so. */
static void
mpi_leave (FabRanks *ranks, gboolean is_whole)
{
  MpiRanks *self = (MpiRanks *) ranks;

  while (is_whole && !g_queue_is_empty (&self->sent))
    free_sent (self);
  if (is_whole) {
    MPI_Finalize ();
    g_free (self);
  }
}

static guint
count_here (void)
{
  MPI_Comm here;
  int n = 1;

  if (MPI_Comm_split_type (MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS)
    return 1;
  MPI_Comm_size (here, &n);
  MPI_Comm_free (&here);
  return (guint) n;
}

FabRanks *fab_ranks_join (void);

FabRanks *
fab_ranks_join (void)
{
  MpiRanks *self;
  int level, rank, n_ranks, length;

  MPI_Init_thread (NULL, NULL, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_set_errhandler (MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Comm_size (MPI_COMM_WORLD, &n_ranks);
  if (n_ranks < 2) {
    MPI_Finalize ();
    return NULL;
  }
  self = g_new0 (MpiRanks, 1);
  g_queue_init (&self->sent);
  MPI_Get_processor_name (self->host, &length);
  self->base = (FabRanks){ .abi = FAB_RANKS_ABI,
                           .rank = (guint) rank,
                           .n_ranks = (guint) n_ranks,
                           .n_here = count_here (),
                           .host = self->host,
                           .send = mpi_send,
                           .receive = mpi_receive,
                           .leave = mpi_leave };
  return &self->base;
}
