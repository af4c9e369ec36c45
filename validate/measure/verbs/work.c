/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - the one place that calls ibv_post_send, ibv_post_recv and ibv_poll_cq.
 *
 * The number of a request (wr_id) says which queue it was posted on and, for sends, how many messages its completion
 * covers: only some sends are signalled, and a completion says that all before it are done as well.
 */
#include "validate/measure/verbs/work.h"

#include "sim/base/error.h"
#include "validate/measure/verbs/memory.h"

enum { TURNS_PER_LOOK = 1024, BATCH = 16 };

typedef struct {
  enum ibv_wc_status status;
  const char *name, *hint;
} Meaning;

static const Meaning meanings[] = {
  { IBV_WC_LOC_LEN_ERR, "IBV_WC_LOC_LEN_ERR",
    "a message was longer than the receive that was posted for it" },
  { IBV_WC_LOC_QP_OP_ERR, "IBV_WC_LOC_QP_OP_ERR", "the adapter refuses the request; try method=send" },
  { IBV_WC_LOC_PROT_ERR, "IBV_WC_LOC_PROT_ERR", "memory of this end was not registered for what was asked" },
  { IBV_WC_WR_FLUSH_ERR, "IBV_WC_WR_FLUSH_ERR",
    "the queue pair had failed before: another message of this sample, or the other end closed" },
  { IBV_WC_REM_INV_REQ_ERR, "IBV_WC_REM_INV_REQ_ERR",
    "the other end's adapter refuses the request; is fabricast the same at both ends?" },
  { IBV_WC_REM_ACCESS_ERR, "IBV_WC_REM_ACCESS_ERR",
    "the other end's memory is not open for this; for GPU memory: is GPUDirect RDMA working there?" },
  { IBV_WC_REM_OP_ERR, "IBV_WC_REM_OP_ERR", "the other end could not do its part; see its kernel's log" },
  { IBV_WC_RETRY_EXC_ERR, "IBV_WC_RETRY_EXC_ERR",
    "the other end does not answer: did it die, is its port up, do both GIDs belong to one network, does the path "
    "carry this MTU, and on RoCE: is UDP port 4791 open and the traffic class lossless?" },
  { IBV_WC_RNR_RETRY_EXC_ERR, "IBV_WC_RNR_RETRY_EXC_ERR", "the other end posts no receives: did it stop?" },
  { IBV_WC_FATAL_ERR, "IBV_WC_FATAL_ERR", "the adapter failed; see the kernel's log" },
  { IBV_WC_RESP_TIMEOUT_ERR, "IBV_WC_RESP_TIMEOUT_ERR", "the other end answered too late" },
};

gboolean
fab_verbs_spin_is_over (FabVerbsSpin *spin, guint timeout_s)
{
  gint64 now_us;

  if (++spin->turns % TURNS_PER_LOOK != 0)
    return FALSE;
  now_us = g_get_monotonic_time ();
  if (spin->end_us == 0)
    spin->end_us = now_us + (gint64) timeout_s * G_USEC_PER_SEC;
  /* after so many empty polls another thread may need the core, for example the other end */
  g_thread_yield ();
  return now_us > spin->end_us;
}

void
fab_verbs_spin_reset (FabVerbsSpin *spin)
{
  *spin = (FabVerbsSpin){ .turns = 0 };
}

static enum ibv_wr_opcode
opcode (guint32 method)
{
  return method == FAB_VERBS_WRITE ? IBV_WR_RDMA_WRITE
       : method == FAB_VERBS_READ  ? IBV_WR_RDMA_READ
                                   : IBV_WR_SEND;
}

static gboolean
throw_post (const FabVerbsPair *pair, const char *what, int code, GError **error)
{
  return fab_throw (error, FAB_ERROR_IO, "%s takes no %s (%s)", pair->here.name, what, g_strerror (code));
}

gboolean
fab_verbs_post (FabVerbsPair *pair, guint i, const FabVerbsPost *post, GError **error)
{
  FabVerbsQueue *queue = &pair->queues[i];
  gboolean is_read = pair->request.method == FAB_VERBS_READ;
  gboolean is_inline = !is_read && post->may_inline && post->size_bytes <= pair->inline_bytes;
  struct ibv_sge piece = {
    .addr = is_read ? fab_verbs_memory_receiving (&pair->memory) : pair->memory.address,
    .length = (guint32) post->size_bytes,
    .lkey = pair->memory.mr->lkey,
  };
  struct ibv_send_wr request = {
    .wr_id = (guint64) i << 32 | (queue->unsignalled + 1),
    .sg_list = &piece,
    .num_sge = 1,
    .opcode = opcode (pair->request.method),
    .send_flags = (post->is_signalled ? IBV_SEND_SIGNALED : 0u) | (is_inline ? IBV_SEND_INLINE : 0u),
  };
  struct ibv_send_wr *bad = NULL;
  int code;

  request.wr.rdma.remote_addr = is_read ? pair->there.source_address : pair->there.address;
  request.wr.rdma.rkey = post->is_polled ? pair->there.polled_rkey : pair->there.rkey;
  code = ibv_post_send (queue->qp, &request, &bad);
  if (code != 0)
    return throw_post (pair, "more sends", code, error);
  queue->under_way++;
  queue->unsignalled = post->is_signalled ? 0 : queue->unsignalled + 1;
  return TRUE;
}

gboolean
fab_verbs_post_receive (FabVerbsPair *pair, guint i, GError **error)
{
  struct ibv_sge piece = {
    .addr = fab_verbs_memory_receiving (&pair->memory),
    .length = (guint32) pair->request.max_bytes,
    .lkey = pair->memory.mr->lkey,
  };
  struct ibv_recv_wr request = { .wr_id = i, .sg_list = &piece, .num_sge = 1 };
  struct ibv_recv_wr *bad = NULL;
  int code = ibv_post_recv (pair->queues[i].qp, &request, &bad);

  return code == 0 || throw_post (pair, "more receives", code, error);
}

static gboolean
throw_status (const FabVerbsPair *pair, const struct ibv_wc *wc, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (meanings); i++)
    if (meanings[i].status == wc->status)
      return fab_throw (error, FAB_ERROR_IO, "%s to %s of %s: %s (queue pair %#x, vendor's code %#x): %s",
                        pair->here.name, pair->there.name, pair->control->there, meanings[i].name, wc->qp_num,
                        wc->vendor_err, meanings[i].hint);
  return fab_throw (error, FAB_ERROR_IO, "%s to %s of %s: completion with status %d, %s (queue pair %#x)",
                    pair->here.name, pair->there.name, pair->control->there, (int) wc->status,
                    ibv_wc_status_str (wc->status), wc->qp_num);
}

/* Polls up to BATCH completions. The first failed one is the reason; those after it are only flushed. */
static gboolean
poll_queue (const FabVerbsPair *pair, struct ibv_cq *cq, struct ibv_wc *done, int *n, GError **error)
{
  *n = ibv_poll_cq (cq, BATCH, done);
  if (*n < 0)
    return fab_throw (error, FAB_ERROR_IO, "the completion queue of %s cannot be read", pair->here.name);
  for (int i = 0; i < *n; i++)
    if (done[i].status != IBV_WC_SUCCESS)
      return throw_status (pair, &done[i], error);
  return TRUE;
}

gboolean
fab_verbs_poll_sends (FabVerbsPair *pair, guint *n_done, GError **error)
{
  struct ibv_wc done[BATCH];
  int n;

  *n_done = 0;
  if (!poll_queue (pair, pair->send_cq, done, &n, error))
    return FALSE;
  for (int i = 0; i < n; i++) {
    guint covered = (guint32) done[i].wr_id;

    pair->queues[done[i].wr_id >> 32].under_way -= covered;
    *n_done += covered;
  }
  return TRUE;
}

gboolean
fab_verbs_poll_receives (FabVerbsPair *pair, guint *n_done, GError **error)
{
  struct ibv_wc done[BATCH];
  int n;

  *n_done = 0;
  if (!poll_queue (pair, pair->receive_cq, done, &n, error))
    return FALSE;
  for (int i = 0; i < n; i++)
    if (!fab_verbs_post_receive (pair, (guint) done[i].wr_id, error))
      return FALSE;
  *n_done = (guint) n;
  return TRUE;
}

gboolean
fab_verbs_throw_timeout (const FabVerbsPair *pair, const char *what, guint done, guint of, GError **error)
{
  return fab_throw (
      error, FAB_ERROR_IO,
      "%s to %s of %s: nothing happened for %u s (%s: %u of %u): did the other end die or stop, or is the "
      "path cut?",
      pair->here.name, pair->there.name, pair->control->there, pair->timeout_s, what, done, of);
}
