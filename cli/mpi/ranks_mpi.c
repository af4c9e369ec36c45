/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_mpi.c - ranks over MPI, in a module of its own.
 *
 * Messages are sent and received without waiting; copies are freed when MPI has sent them. A large message comes in two
 * parts, and its sender may die between them: MPI_Recv would then wait for ever. MPI is told to return errors, and
 * they are ignored: a rank that is not there hears nothing.
 */
#include <mpi.h>
#include <string.h>

#include "sim/study/sweep_ranks.h"

enum { TAG = 1 };

typedef struct {
  MPI_Request request;
  gpointer copy;
  int from, size; /* of one that arrives: its sender's rank, bytes */
  gboolean is_whole;
} Letter;

typedef struct {
  FabRanks base;
  char host[MPI_MAX_PROCESSOR_NAME];
  GQueue sent;     /* Letter, in order */
  GQueue arriving; /* Letter, in the order in which MPI announced them */
} MpiRanks;

static void
free_letter (Letter *letter)
{
  g_free (letter->copy);
  g_free (letter);
}

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
    free_letter (letter);
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
  free_letter (letter);
}

/* Begins to receive what MPI announces. */
static void
accept_letters (MpiRanks *self)
{
  MPI_Status status;
  int is_there = 0;

  while (MPI_Iprobe (MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &is_there, &status) == MPI_SUCCESS && is_there) {
    Letter *letter = g_new0 (Letter, 1);

    MPI_Get_count (&status, MPI_BYTE, &letter->size);
    letter->from = status.MPI_SOURCE;
    letter->copy = g_malloc ((gsize) letter->size);
    if (MPI_Irecv (letter->copy, letter->size, MPI_BYTE, letter->from, TAG, MPI_COMM_WORLD, &letter->request)
        != MPI_SUCCESS) {
      free_letter (letter);
      return;
    }
    g_queue_push_tail (&self->arriving, letter);
  }
}

/* An error counts as not whole: its sender has died, and its later messages are not read either. */
static gboolean
is_whole (Letter *letter)
{
  int is_there = 0;

  if (!letter->is_whole)
    letter->is_whole = MPI_Test (&letter->request, &is_there, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_there;
  return letter->is_whole;
}

/* Whether a message of the same sender is before it. */
static gboolean
is_behind (const GList *at)
{
  const Letter *letter = at->data;

  for (const GList *before = at->prev; before != NULL; before = before->prev)
    if (((const Letter *) before->data)->from == letter->from)
      return TRUE;
  return FALSE;
}

static gboolean
mpi_receive (FabRanks *ranks, guint *from, GByteArray *bytes)
{
  MpiRanks *self = (MpiRanks *) ranks;

  free_sent (self);
  accept_letters (self);
  for (GList *at = self->arriving.head; at != NULL; at = at->next) {
    Letter *letter = at->data;

    if (is_behind (at) || !is_whole (letter))
      continue;
    *from = (guint) letter->from;
    g_byte_array_set_size (bytes, 0);
    g_byte_array_append (bytes, letter->copy, (guint) letter->size);
    g_queue_delete_link (&self->arriving, at);
    free_letter (letter);
    return TRUE;
  }
  return FALSE;
}

/* Without the others MPI cannot end in order, and what is not sent stays so. */
static void
mpi_leave (FabRanks *ranks, gboolean are_all_there)
{
  MpiRanks *self = (MpiRanks *) ranks;

  while (are_all_there && !g_queue_is_empty (&self->sent))
    free_sent (self);
  if (are_all_there) {
    MPI_Finalize ();
    for (GList *at = self->arriving.head; at != NULL; at = at->next) /* pings after the end */
      free_letter (at->data);
    g_queue_clear (&self->arriving);
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
  g_queue_init (&self->arriving);
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
