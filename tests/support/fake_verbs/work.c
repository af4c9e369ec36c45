/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - messages: given, moved in the order of their queue pair, completed. A message of `send` waits until the
 * other end has posted a receive.
 */
#include "tests/support/fake_verbs/fake.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static FakeWorld *
world_of (const FakeQp *qp)
{
  return ((FakeContext *) qp->base.context)->world;
}

static gboolean
is_alive (int pid)
{
  return kill (pid, 0) == 0;
}

/* The other end's queue pair, if what is sent by this one reaches it; NULL: nobody answers. */
static FakeQueue *
peer_of (const FakeQp *self, guint64 size)
{
  const FakeQueue *own = self->own;
  guint i = own->peer - FAKE_FIRST_QUEUE;
  FakeQueue *peer = i < FAKE_QUEUES ? &world_of (self)->queues[i] : NULL;

  if (peer == NULL || !peer->is_used || !is_alive (peer->pid))
    return NULL;
  if (peer->state < IBV_QPS_RTR || peer->state > IBV_QPS_RTS || peer->peer != self->base.qp_num
      || peer->rq_psn != own->sq_psn || own->has_gid != peer->has_gid)
    return NULL;
  if (own->has_gid ? memcmp (&own->peer_gid, &peer->gid, 16) != 0 : own->peer_lid != peer->lid)
    return NULL;
  return size > peer->mtu_bytes && own->mtu_bytes > peer->mtu_bytes ? NULL : peer;
}

/* -1: there is no receive yet. */
static int
move_to_receive (FakeQp *self, FakeQueue *peer, const FakeSend *send, guint8 *data)
{
  FakeReceive *receive = &peer->receives[peer->n_filled % FAKE_RECEIVES];

  if (peer->n_filled == peer->n_posted)
    return -1;
  if (receive->size < send->piece.length
      || !fake_memory_copy (world_of (self), receive->lkey, IBV_ACCESS_LOCAL_WRITE, receive->address, data,
                            send->piece.length, TRUE))
    return IBV_WC_REM_INV_REQ_ERR;
  receive->n_bytes = send->piece.length;
  peer->n_filled++;
  return IBV_WC_SUCCESS;
}

static int
move_remote (FakeQp *self, FakeQueue *peer, const FakeSend *send, guint8 *data)
{
  gboolean is_read = send->wr.opcode == IBV_WR_RDMA_READ;
  guint access = is_read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;

  if ((peer->access & access) == 0
      || !fake_memory_copy (world_of (self), send->wr.wr.rdma.rkey, access, send->wr.wr.rdma.remote_addr,
                            data, send->piece.length, !is_read))
    return IBV_WC_REM_ACCESS_ERR;
  return IBV_WC_SUCCESS;
}

/* With the lock held. */
static int
move (FakeQp *self, const FakeSend *send)
{
  FakeQueue *peer = peer_of (self, send->piece.length);
  gboolean is_read = send->wr.opcode == IBV_WR_RDMA_READ, is_inline = send->data != NULL;
  g_autofree guint8 *own = is_inline ? NULL : g_malloc (send->piece.length);
  guint8 *data = is_inline ? send->data : own;
  int status;

  if (self->fail_after > 0 && self->n_messages + 1 >= self->fail_after)
    return (int) self->fail_status;
  if (peer == NULL)
    return IBV_WC_RETRY_EXC_ERR;
  if (!is_inline && !is_read
      && !fake_memory_copy (world_of (self), send->piece.lkey, 0, send->piece.addr, data, send->piece.length,
                            FALSE))
    return IBV_WC_LOC_PROT_ERR;
  status = send->wr.opcode == IBV_WR_SEND ? move_to_receive (self, peer, send, data)
                                          : move_remote (self, peer, send, data);
  if (status == IBV_WC_SUCCESS && is_read
      && !fake_memory_copy (world_of (self), send->piece.lkey, IBV_ACCESS_LOCAL_WRITE, send->piece.addr, data,
                            send->piece.length, TRUE))
    return IBV_WC_LOC_PROT_ERR;
  return status;
}

static void
complete (FakeQp *self, const FakeSend *send, int status)
{
  FakeDone *done;

  self->n_uncovered++;
  if (status == IBV_WC_SUCCESS && !(send->wr.send_flags & IBV_SEND_SIGNALED))
    return;
  done = g_new0 (FakeDone, 1);
  done->wc = (struct ibv_wc){ .wr_id = send->wr.wr_id,
                              .status = (enum ibv_wc_status) status,
                              .vendor_err = status == IBV_WC_SUCCESS ? 0 : 0x81,
                              .qp_num = self->base.qp_num };
  done->qp = self;
  done->n_covered = self->n_uncovered;
  self->n_uncovered = 0;
  g_queue_push_tail (&((FakeCq *) self->base.send_cq)->done, done);
}

static void
progress (FakeQp *self)
{
  FakeWorld *world = world_of (self);

  while (!g_queue_is_empty (&self->waiting)) {
    FakeSend *send = g_queue_peek_head (&self->waiting);
    int status;

    if (self->silent_after > 0 && self->n_messages + 1 >= self->silent_after)
      return;
    fake_world_lock (world);
    status = self->own->state == IBV_QPS_ERR ? IBV_WC_WR_FLUSH_ERR : move (self, send);
    if (status > 0)
      self->own->state = IBV_QPS_ERR;
    fake_world_unlock (world);
    if (status < 0)
      return;
    self->n_messages++;
    self->n_bytes += send->piece.length;
    complete (self, send, status);
    g_queue_pop_head (&self->waiting);
    g_free (send->data);
    g_free (send);
  }
}

int
fake_post_send (struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
  FakeQp *self = (FakeQp *) qp;
  gboolean is_inline = (wr->send_flags & IBV_SEND_INLINE) != 0;
  FakeSend *send;

  *bad = wr;
  g_assert (wr->next == NULL && wr->num_sge == 1);
  if (self->own->state < IBV_QPS_RTS || (is_inline && wr->sg_list->length > self->cap.max_inline_data))
    return EINVAL;
  if (self->n_in_queue >= self->cap.max_send_wr)
    return ENOMEM;
  send = g_new0 (FakeSend, 1);
  send->wr = *wr;
  send->piece = *wr->sg_list;
  if (is_inline)
    send->data = memcpy (g_malloc (send->piece.length), (void *) (guintptr) send->piece.addr,
                         send->piece.length);
  self->n_inline += is_inline;
  self->n_signalled += (wr->send_flags & IBV_SEND_SIGNALED) != 0;
  self->n_in_queue++;
  self->most_in_queue = MAX (self->most_in_queue, self->n_in_queue);
  g_queue_push_tail (&self->waiting, send);
  progress (self);
  return 0;
}

int
fake_post_recv (struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
  FakeQp *self = (FakeQp *) qp;
  FakeQueue *own = self->own;
  int code = 0;

  *bad = wr;
  fake_world_lock (world_of (self));
  if (own->state < IBV_QPS_INIT)
    code = EINVAL;
  else if (own->n_posted - own->n_polled >= self->cap.max_recv_wr)
    code = ENOMEM;
  else
    own->receives[own->n_posted++ % FAKE_RECEIVES] = (FakeReceive){
      .wr_id = wr->wr_id, .address = wr->sg_list->addr, .size = wr->sg_list->length, .lkey = wr->sg_list->lkey
    };
  fake_world_unlock (world_of (self));
  return code;
}

static int
poll_receives (FakeQp *self, int n, struct ibv_wc *wc)
{
  FakeQueue *own = self->own;
  int i = 0;

  fake_world_lock (world_of (self));
  for (; i < n && own->n_polled != own->n_filled; i++) {
    const FakeReceive *receive = &own->receives[own->n_polled++ % FAKE_RECEIVES];

    wc[i] = (struct ibv_wc){ .wr_id = receive->wr_id,
                             .status = IBV_WC_SUCCESS,
                             .opcode = IBV_WC_RECV,
                             .byte_len = receive->n_bytes,
                             .qp_num = self->base.qp_num };
  }
  fake_world_unlock (world_of (self));
  self->n_received += (guint) i;
  return i;
}

int
fake_poll_cq (struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
  FakeCq *self = (FakeCq *) cq;
  FakeDone *done;
  int i = 0;

  for (guint k = 0; k < self->queues->len; k++) {
    FakeQp *qp = self->queues->pdata[k];

    if (qp->base.send_cq == cq)
      progress (qp);
    if (qp->base.recv_cq == cq)
      i += poll_receives (qp, n - i, wc + i);
  }
  for (; i < n && (done = g_queue_pop_head (&self->done)) != NULL; i++) {
    wc[i] = done->wc;
    done->qp->n_in_queue -= done->n_covered;
    g_free (done);
  }
  return i;
}
