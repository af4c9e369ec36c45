/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - queues collectives on the streams of all ranks and reads the events around them. */
#include "validate/measure/nccl/collect.h"

#include <math.h>

#define PS_PER_MS 1e9
#define TYPE NCCL_FLOAT32
#define TYPE_BYTES 4u
#define BATCH 256u /* collectives that are queued before waiting for them */

static gboolean
make_rank (FabCollect *self, FabNcclRank *rank, GError **error)
{
  const FabCuda *cuda = self->gpus->cuda;

  return fab_gpu_use (self->gpus, rank->gpu, error)
      && fab_cuda_check (cuda, cuda->stream_create (&rank->stream, CU_STREAM_NON_BLOCKING), "make a stream",
                         error)
      && fab_cuda_check (cuda, cuda->event_create (&rank->start, 0), "make an event", error)
      && fab_cuda_check (cuda, cuda->event_create (&rank->end, 0), "make an event", error);
}

static gboolean
join (FabCollect *self, GError **error)
{
  g_autofree NcclComm *comms = g_new0 (NcclComm, self->n_ranks);
  g_autofree int *devices = g_new0 (int, self->n_ranks);

  for (guint i = 0; i < self->n_ranks; i++)
    devices[i] = (int) i;
  if (!fab_nccl_check (self->nccl, self->nccl->comm_init_all (comms, (int) self->n_ranks, devices),
                       "join the GPUs", error))
    return FALSE;
  for (guint i = 0; i < self->n_ranks; i++)
    self->ranks[i].comm = comms[i];
  return TRUE;
}

FabCollect *
fab_collect_new (const FabNccl *nccl, FabGpus *gpus, GError **error)
{
  g_autoptr (FabCollect) self = g_new0 (FabCollect, 1);

  self->nccl = nccl;
  self->gpus = gpus;
  self->n_ranks = gpus->n_gpus;
  self->ranks = g_new0 (FabNcclRank, self->n_ranks);
  for (guint i = 0; i < self->n_ranks; i++) {
    self->ranks[i].gpu = &gpus->gpus[i];
    if (!make_rank (self, &self->ranks[i], error))
      return NULL;
  }
  return join (self, error) ? g_steal_pointer (&self) : NULL;
}

void
fab_collect_free (FabCollect *self)
{
  if (!self)
    return;
  for (guint i = 0; i < self->n_ranks; i++) {
    FabNcclRank *rank = &self->ranks[i];
    const FabCuda *cuda = self->gpus->cuda;

    /* destroying a broken communicator would wait for it */
    if (rank->comm)
      (self->is_broken ? self->nccl->comm_abort : self->nccl->comm_destroy) (rank->comm);
    if (rank->gpu)
      cuda->context_use (rank->gpu->context);
    if (rank->start)
      cuda->event_destroy (rank->start);
    if (rank->end)
      cuda->event_destroy (rank->end);
    if (rank->stream)
      cuda->stream_destroy (rank->stream);
  }
  g_free (self->ranks);
  g_free (self);
}

/* Returns one rank's part in elements; sizes that do not divide are rounded up. */
static gsize
part_of (FabBytes size_bytes, guint n_parts)
{
  return (gsize) ((size_bytes + n_parts * TYPE_BYTES - 1) / (n_parts * TYPE_BYTES));
}

FabBytes
fab_collect_buffer_bytes (FabBytes size_bytes, guint n_ranks)
{
  return size_bytes + n_ranks * TYPE_BYTES;
}

gboolean
fab_collect_can (FabOp op)
{
  return op != FAB_OP_GATHER && op != FAB_OP_SCATTER && op < FAB_N_OPS;
}

/* Sends a part from each rank to every rank, itself included, as nccl-tests does. */
static NcclResult
all_to_all (const FabCollect *self, const FabNcclRank *rank, FabBytes size_bytes)
{
  gsize n = part_of (size_bytes, self->n_ranks);
  NcclResult result = NCCL_OK;

  for (guint peer = 0; result == NCCL_OK && peer < self->n_ranks; peer++) {
    FabBytes offset_bytes = peer * n * TYPE_BYTES;

    result = self->nccl->send (rank->gpu->out + offset_bytes, n, TYPE, (int) peer, rank->comm, rank->stream);
    if (result == NCCL_OK)
      result = self->nccl->receive (rank->gpu->in + offset_bytes, n, TYPE, (int) peer, rank->comm,
                                    rank->stream);
  }
  return result;
}

/* Sends to the next rank and receives from the previous one. */
static NcclResult
send_recv (const FabCollect *self, const FabNcclRank *rank, FabBytes size_bytes)
{
  gsize n = part_of (size_bytes, 1);
  guint me = rank->gpu->index, next = (me + 1) % self->n_ranks,
        last = (me + self->n_ranks - 1) % self->n_ranks;
  NcclResult result = self->nccl->send (rank->gpu->out, n, TYPE, (int) next, rank->comm, rank->stream);

  return result != NCCL_OK
           ? result
           : self->nccl->receive (rank->gpu->in, n, TYPE, (int) last, rank->comm, rank->stream);
}

static NcclResult
call (const FabCollect *self, const FabNcclRank *rank, FabBytes size_bytes)
{
  const FabNccl *nccl = self->nccl;
  CuPointer from = rank->gpu->out, to = rank->gpu->in;
  gsize whole = part_of (size_bytes, 1), part = part_of (size_bytes, self->n_ranks);

  switch (self->op) {
  case FAB_OP_ALL_REDUCE: return nccl->all_reduce (from, to, whole, TYPE, NCCL_SUM, rank->comm, rank->stream);
  case FAB_OP_ALL_GATHER: return nccl->all_gather (from, to, part, TYPE, rank->comm, rank->stream);
  case FAB_OP_REDUCE_SCATTER:
    return nccl->reduce_scatter (from, to, part, TYPE, NCCL_SUM, rank->comm, rank->stream);
  case FAB_OP_BROADCAST: return nccl->broadcast (from, to, whole, TYPE, 0, rank->comm, rank->stream);
  case FAB_OP_REDUCE: return nccl->reduce (from, to, whole, TYPE, NCCL_SUM, 0, rank->comm, rank->stream);
  case FAB_OP_ALL_TO_ALL: return all_to_all (self, rank, size_bytes);
  case FAB_OP_SEND_RECV: return send_recv (self, rank, size_bytes);
  case FAB_OP_GATHER:
  case FAB_OP_SCATTER:
  case FAB_N_OPS:
  default: g_assert_not_reached ();
  }
}

/* Queues one collective: the calls of all ranks form a group. */
static gboolean
queue_one (const FabCollect *self, FabBytes size_bytes, GError **error)
{
  const char *op = fab_op_names[self->op];
  NcclResult result = self->nccl->group_start ();

  if (!fab_nccl_check (self->nccl, result, op, error))
    return FALSE;
  for (guint i = 0; result == NCCL_OK && i < self->n_ranks; i++)
    result = call (self, &self->ranks[i], size_bytes);
  if (result != NCCL_OK) {
    self->nccl->group_end ();
    return fab_nccl_check (self->nccl, result, op, error);
  }
  return fab_nccl_check (self->nccl, self->nccl->group_end (), op, error);
}

static gboolean
record (const FabCollect *self, gboolean is_start, GError **error)
{
  const FabCuda *cuda = self->gpus->cuda;

  for (guint i = 0; i < self->n_ranks; i++) {
    const FabNcclRank *rank = &self->ranks[i];

    if (!fab_gpu_use (self->gpus, rank->gpu, error)
        || !fab_cuda_check (cuda, cuda->event_record (is_start ? rank->start : rank->end, rank->stream),
                            "record an event", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
queue (const FabCollect *self, FabBytes size_bytes, guint n, GError **error)
{
  if (!record (self, TRUE, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!queue_one (self, size_bytes, error))
      return FALSE;
  return record (self, FALSE, error);
}

static gboolean
finish_rank (const FabCollect *self, const FabNcclRank *rank, double *elapsed_ms, GError **error)
{
  const FabCuda *cuda = self->gpus->cuda;
  const char *op = fab_op_names[self->op];
  NcclResult result = NCCL_OK;
  float ms = 0;

  if (!fab_gpu_use (self->gpus, rank->gpu, error)
      || !fab_cuda_check (cuda, cuda->stream_synchronize (rank->stream), op, error)
      || !fab_nccl_check (self->nccl, self->nccl->comm_async_error (rank->comm, &result), op, error)
      || !fab_nccl_check (self->nccl, result, op, error)
      || !fab_cuda_check (cuda, cuda->event_elapsed (&ms, rank->start, rank->end), "read the clock", error))
    return FALSE;
  *elapsed_ms = fmax (*elapsed_ms, ms);
  return TRUE;
}

gboolean
fab_collect_time (gpointer collect, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                  GError **error)
{
  FabCollect *self = collect;
  double total_ms = 0;

  for (guint n_left = n_messages; n_left > 0;) {
    guint n = MIN (n_left, BATCH);
    double elapsed_ms = 0;

    self->is_broken = !queue (self, size_bytes, n, error);
    for (guint i = 0; !self->is_broken && i < self->n_ranks; i++)
      self->is_broken = !finish_rank (self, &self->ranks[i], &elapsed_ms, error);
    if (self->is_broken)
      return FALSE;
    total_ms += elapsed_ms;
    n_left -= n;
  }
  *elapsed_ps = MAX ((FabTimePs) llround (total_ms * PS_PER_MS), 1);
  return TRUE;
}
