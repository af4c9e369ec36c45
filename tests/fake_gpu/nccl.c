/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c - the functions of NCCL that Fabricast uses, on the streams of machine.h. It checks what it is asked for and
 * takes the time that it takes, and moves nothing.
 *
 * The calls of a group must be the same collective on every rank, or sends with their receives.
 */
#include <string.h>

#include "tests/fake_gpu/machine.h"

enum { UNHANDLED_CUDA = 1, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6 };
enum { TYPE = 7, TYPE_BYTES = 4 };

typedef enum { SUM, GATHER, SCATTER, BROADCAST, REDUCE, SEND, RECEIVE } CallKind;

typedef struct {
  guint rank, n_ranks;
} Comm;

typedef struct {
  CallKind kind;
  const Comm *comm;
  gsize n_bytes;
  guint peer;
  FakeStream *stream;
} Call;

static GArray *calls; /* of the group that is open */

int
ncclGetVersion (int *version)
{
  *version = 22105;
  return 0;
}

const char *
ncclGetErrorString (int result)
{
  return result == SYSTEM_ERROR ? "unhandled system error" : "a fake error";
}

const char *
ncclGetLastError (G_GNUC_UNUSED Comm *comm)
{
  return "no plug";
}

int
ncclCommInitAll (Comm **comms, int n, const int *devices)
{
  if (fake_fails ("nccl-join"))
    return SYSTEM_ERROR;
  for (int i = 0; i < n; i++) {
    if (devices[i] != i)
      return INVALID_ARGUMENT;
    comms[i] = g_new0 (Comm, 1);
    *comms[i] = (Comm){ .rank = (guint) i, .n_ranks = (guint) n };
    fake_machine ()->n_live++;
  }
  return 0;
}

int
ncclCommDestroy (Comm *comm)
{
  fake_machine ()->n_live--;
  g_free (comm);
  return 0;
}

int
ncclCommAbort (Comm *comm)
{
  return ncclCommDestroy (comm);
}

int
ncclCommGetAsyncError (const Comm *comm, int *result)
{
  *result = fake_fails ("nccl-async") && comm->rank == 1 ? REMOTE_ERROR : 0;
  return 0;
}

int
ncclGroupStart (void)
{
  if (calls)
    return INVALID_USAGE;
  calls = g_array_new (FALSE, TRUE, sizeof (Call));
  return 0;
}

/* Collectives: the same on each rank. Messages: as many as there are receives, each of the same size. */
static gboolean
fits (const Call *a)
{
  gboolean is_message = a->kind == SEND || a->kind == RECEIVE;
  guint n_same = 0;

  for (guint i = 0; i < calls->len; i++) {
    const Call *b = &g_array_index (calls, Call, i);

    if (is_message)
      n_same += a->kind != b->kind && (b->kind == SEND || b->kind == RECEIVE) && a->peer == b->comm->rank
             && b->peer == a->comm->rank && a->n_bytes == b->n_bytes;
    else
      n_same += a->kind == b->kind && a->n_bytes == b->n_bytes && a->peer == b->peer;
  }
  return n_same == (is_message ? 1 : a->comm->n_ranks);
}

/* What rank 0 sends in all, or the result of all ranks. */
static gsize
group_bytes (void)
{
  gsize n_bytes = 0;

  for (guint i = 0; i < calls->len; i++) {
    const Call *c = &g_array_index (calls, Call, i);

    if (c->comm->rank == 0 && c->kind != RECEIVE)
      n_bytes += c->n_bytes * (c->kind == GATHER || c->kind == SCATTER ? c->comm->n_ranks : 1);
  }
  return n_bytes;
}

int
ncclGroupEnd (void)
{
  g_autoptr (GArray) own = calls;
  FakeStream *streams[FAKE_MAX_GPUS] = { NULL };
  guint n_ranks = 0;
  int result = fake_fails ("nccl") ? UNHANDLED_CUDA : 0;

  for (guint i = 0; own && i < own->len; i++) {
    const Call *c = &g_array_index (own, Call, i);

    if (!fits (c))
      result = INVALID_USAGE;
    streams[c->comm->rank] = c->stream;
    n_ranks = c->comm->n_ranks;
  }
  if (result == 0 && n_ranks > 0)
    fake_queue_collective (streams, n_ranks, group_bytes ());
  calls = NULL;
  return own ? result : INVALID_USAGE;
}

static gboolean
is_on (CuPointer pointer, gsize n_bytes, const Comm *comm)
{
  const FakeBlock *block = fake_block_find ((gpointer) (gsize) pointer, n_bytes);

  return block && block->gpu == (int) comm->rank;
}

static int
add (CallKind kind, CuPointer from, gsize from_bytes, CuPointer to, gsize to_bytes, gsize n, int type,
     guint peer, const Comm *comm, CuStream stream)
{
  Call c = { kind, comm, n * TYPE_BYTES, peer, (FakeStream *) stream };

  if (!calls || type != TYPE || n == 0 || peer >= comm->n_ranks || c.stream->gpu != comm->rank
      || (from_bytes > 0 && !is_on (from, from_bytes, comm)) || (to_bytes > 0 && !is_on (to, to_bytes, comm)))
    return INVALID_ARGUMENT;
  g_array_append_val (calls, c);
  return 0;
}

int
ncclAllReduce (CuPointer from, CuPointer to, gsize n, int type, int op, const Comm *comm, CuStream stream)
{
  gsize n_bytes = n * TYPE_BYTES;

  return op != 0 ? INVALID_ARGUMENT : add (SUM, from, n_bytes, to, n_bytes, n, type, 0, comm, stream);
}

int
ncclAllGather (CuPointer from, CuPointer to, gsize n, int type, const Comm *comm, CuStream stream)
{
  return add (GATHER, from, n * TYPE_BYTES, to, n * TYPE_BYTES * comm->n_ranks, n, type, 0, comm, stream);
}

int
ncclReduceScatter (CuPointer from, CuPointer to, gsize n, int type, int op, const Comm *comm, CuStream stream)
{
  return op != 0 ? INVALID_ARGUMENT
                 : add (SCATTER, from, n * TYPE_BYTES * comm->n_ranks, to, n * TYPE_BYTES, n, type, 0, comm,
                        stream);
}

int
ncclBroadcast (CuPointer from, CuPointer to, gsize n, int type, int root, const Comm *comm, CuStream stream)
{
  return add (BROADCAST, from, n * TYPE_BYTES, to, n * TYPE_BYTES, n, type, (guint) root, comm, stream);
}

int
ncclReduce (CuPointer from, CuPointer to, gsize n, int type, int op, int root, const Comm *comm,
            CuStream stream)
{
  gsize n_bytes = n * TYPE_BYTES;

  return op != 0 ? INVALID_ARGUMENT
                 : add (REDUCE, from, n_bytes, to, n_bytes, n, type, (guint) root, comm, stream);
}

int
ncclSend (CuPointer from, gsize n, int type, int peer, const Comm *comm, CuStream stream)
{
  return add (SEND, from, n * TYPE_BYTES, 0, 0, n, type, (guint) peer, comm, stream);
}

int
ncclRecv (CuPointer to, gsize n, int type, int peer, const Comm *comm, CuStream stream)
{
  return add (RECEIVE, 0, 0, to, n * TYPE_BYTES, n, type, (guint) peer, comm, stream);
}
