/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - the one place that calls ibv_post_send, ibv_post_recv and ibv_poll_cq.
 *
 * The number of a request (wr_id) says which queue it was posted on and, for sends, how many messages its completion
 * covers: only some sends are signalled, and a completion says that all before it are done as well.
 */
#include "validate/measure/verbs/work.h"

#include <errno.h>

#include "sim/base/error.h"
#include "sim/base/mix.h"
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
fab_verbs_spin_is_over (FabVerbsSpin *spin, const FabVerbsPair *pair)
{
  gint64 now_us;

  if (++spin->turns % TURNS_PER_LOOK != 0)
    return FALSE;
  now_us = g_get_monotonic_time ();
  if (spin->end_us == 0)
    spin->end_us = now_us + (gint64) pair->timeout_s * G_USEC_PER_SEC;
  /* after so many empty polls another thread may need the core, for example the other end */
  g_thread_yield ();
  return now_us > spin->end_us || !fab_control_check (pair->control, NULL);
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
  if (!fab_control_check (pair->control, error))
    return FALSE;
  return fab_throw (
      error, FAB_ERROR_IO,
      "%s to %s of %s: nothing happened for %u s (%s: %u of %u): did the other end die or stop, or is the "
      "path cut?",
      pair->here.name, pair->there.name, pair->control->there, pair->timeout_s, what, done, of);
}

/* Takes queue pairs from RESET to INIT when they are made, and to RTR (ready to receive) and RTS (ready to
 * send) when the other end is known. Source: InfiniBand Architecture Specification, volume 1, 10.3.1. */

/* An adapter waits 4.096 us x 2^14 = 67 ms for an acknowledgement, and retries 7 times; perftest does the same. */
enum { ACK_TIMEOUT = 14, RETRIES = 7, RNR_FOR_EVER = 7, MIN_RNR_TIMER = 12 };

/* Receives posted ahead: the default of perftest's `--rx-depth`. */
enum { RECEIVES = 512 };

guint
fab_verbs_mtu_bytes (enum ibv_mtu mtu)
{
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

guint
fab_verbs_queue_share (const FabVerbsRequest *request)
{
  return (request->window + request->n_queues - 1) / request->n_queues;
}

static gboolean
no_queue_pair (const FabVerbsPair *pair, guint share, GError **error)
{
  int code = errno;

  if (code == EOPNOTSUPP || code == ENOSYS)
    return fab_throw (
        error, FAB_ERROR_UNSUPPORTED,
        "%s has no reliable connections (RC); measure it with `ofi`, which knows others (EFA: SRD)",
        pair->port.name);
  return fab_throw (
      error, FAB_ERROR_UNSUPPORTED,
      "%s makes no queue pair of %u sends and %u receives (%s): it has at most %d; make the window smaller",
      pair->port.name, share, pair->n_receives, g_strerror (code), pair->port.device_attr.max_qp_wr);
}

/* Requests less inline data until the adapter agrees: some send none inline, and each has its own limit. */
static struct ibv_qp *
create_queue_pair (FabVerbsPair *pair, guint share)
{
  guint inline_bytes = pair->memory.gpu != NULL ? 0 : pair->request.inline_bytes;

  for (;; inline_bytes /= 2) {
    struct ibv_qp_init_attr attr = {
      .send_cq = pair->send_cq,
      .recv_cq = pair->receive_cq,
      .qp_type = IBV_QPT_RC,
      .cap = { .max_send_wr = share,
               .max_recv_wr = MAX (1, pair->n_receives),
               .max_send_sge = 1,
               .max_recv_sge = 1,
               .max_inline_data = inline_bytes },
    };
    struct ibv_qp *qp = ibv_create_qp (pair->pd, &attr);

    if (qp != NULL)
      pair->inline_bytes = MIN (pair->inline_bytes, inline_bytes);
    if (qp != NULL || inline_bytes == 0)
      return qp;
  }
}

static gboolean
to_init (const FabVerbsPair *pair, struct ibv_qp *qp, GError **error)
{
  struct ibv_qp_attr attr = {
    .qp_state = IBV_QPS_INIT,
    .port_num = pair->port.number,
    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
  };
  int code = ibv_modify_qp (qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

  return code == 0
      || fab_throw (error, FAB_ERROR_UNSUPPORTED, "queue pair %#x does not reach INIT: %s", qp->qp_num,
                    g_strerror (code));
}

static gboolean
create_completion_queues (FabVerbsPair *pair, guint share, GError **error)
{
  const FabVerbsRequest *request = &pair->request;
  int n_sends = (int) (share * request->n_queues),
      n_receives = (int) MAX (1, pair->n_receives * request->n_queues);

  pair->send_cq = ibv_create_cq (pair->port.context, n_sends, NULL, NULL, 0);
  if (pair->send_cq != NULL)
    pair->receive_cq = ibv_create_cq (pair->port.context, n_receives, NULL, NULL, 0);
  return pair->receive_cq != NULL
      || fab_throw (error, FAB_ERROR_UNSUPPORTED,
                    "%s makes no completion queue of %d (%s): it has at most %d; use fewer queue pairs",
                    pair->port.name, MAX (n_sends, n_receives), g_strerror (errno),
                    pair->port.device_attr.max_cqe);
}

gboolean
fab_verbs_queues_init (FabVerbsPair *pair, GError **error)
{
  const FabVerbsRequest *request = &pair->request;
  guint share = fab_verbs_queue_share (request);
  guint most = (guint) MAX (1, pair->port.device_attr.max_qp_wr);

  pair->n_receives = request->method == FAB_VERBS_SEND ? MIN (MAX (RECEIVES, 2 * share), most) : 0;
  pair->inline_bytes = request->inline_bytes;
  if (!create_completion_queues (pair, share, error))
    return FALSE;
  pair->queues = g_new0 (FabVerbsQueue, request->n_queues);
  for (guint i = 0; i < request->n_queues; i++) {
    struct ibv_qp *qp = create_queue_pair (pair, share);

    if (qp == NULL)
      return no_queue_pair (pair, share, error);
    pair->queues[i].qp = qp;
    if (!to_init (pair, qp, error))
      return FALSE;
    /* sequence numbers start at an arbitrary value, so that packets of an earlier connection with this number are not
     * accepted */
    pair->here.queues[i] = (FabVerbsQueueCard){ .number = qp->qp_num,
                                                .first_psn = (guint32) fab_mix (qp->qp_num, i) & 0xffffff };
  }
  return TRUE;
}

void
fab_verbs_queues_clear (FabVerbsPair *pair)
{
  for (guint i = 0; pair->queues != NULL && i < pair->request.n_queues; i++)
    if (pair->queues[i].qp != NULL)
      ibv_destroy_qp (pair->queues[i].qp);
  g_clear_pointer (&pair->queues, g_free);
  if (pair->send_cq != NULL)
    ibv_destroy_cq (pair->send_cq);
  if (pair->receive_cq != NULL)
    ibv_destroy_cq (pair->receive_cq);
  pair->send_cq = pair->receive_cq = NULL;
}

static gboolean
to_rtr (const FabVerbsPair *pair, guint i, GError **error)
{
  const FabVerbsCard *there = &pair->there;
  struct ibv_qp_attr attr = {
    .qp_state = IBV_QPS_RTR,
    .path_mtu = (enum ibv_mtu) pair->mtu,
    .dest_qp_num = there->queues[i].number,
    .rq_psn = there->queues[i].first_psn,
    .max_dest_rd_atomic = (guint8) MIN (pair->here.max_reads_in, there->max_reads_out),
    .min_rnr_timer = MIN_RNR_TIMER,
    .ah_attr = { .dlid = (guint16) there->lid,
                 .sl = (guint8) pair->request.service_level,
                 .port_num = pair->port.number },
  };
  int code;

  if (pair->here.has_gid) {
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh = (struct ibv_global_route){ .dgid = there->gid,
                                                  .sgid_index = (guint8) pair->gid_index,
                                                  .hop_limit = 64,
                                                  .traffic_class = (guint8) pair->request.traffic_class };
  }
  code = ibv_modify_qp (pair->queues[i].qp, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN
                            | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  return code == 0
      || fab_throw (
             error, FAB_ERROR_UNSUPPORTED,
             "queue pair %#x does not reach RTR (%s): is %s of %s on the same network, and the GID the right one?",
             pair->queues[i].qp->qp_num, g_strerror (code), there->name, pair->control->there);
}

static gboolean
to_rts (const FabVerbsPair *pair, guint i, GError **error)
{
  struct ibv_qp_attr attr = {
    .qp_state = IBV_QPS_RTS,
    .timeout = ACK_TIMEOUT,
    .retry_cnt = RETRIES,
    .rnr_retry = RNR_FOR_EVER,
    .sq_psn = pair->here.queues[i].first_psn,
    .max_rd_atomic = (guint8) MIN (pair->here.max_reads_out, pair->there.max_reads_in),
  };
  int code = ibv_modify_qp (pair->queues[i].qp, &attr,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY
                                | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);

  return code == 0
      || fab_throw (error, FAB_ERROR_UNSUPPORTED, "queue pair %#x does not reach RTS: %s",
                    pair->queues[i].qp->qp_num, g_strerror (code));
}

static gboolean
check_gids (const FabVerbsPair *pair, GError **error)
{
  const FabVerbsCard *here = &pair->here, *there = &pair->there;

  if (here->link_layer != there->link_layer || here->has_gid != there->has_gid)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%s uses %s and %s of the other end does not: set gid_index at both ends", here->name,
                      here->has_gid ? "a GID" : "a LID", there->name);
  if (here->has_gid && here->gid_type != there->gid_type)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "the GID of %s is of RoCE v%d, that of %s at the other end of v%d: set gid_index at both ends",
        here->name, here->gid_type == IBV_GID_TYPE_ROCE_V2 ? 2 : 1, there->name,
        there->gid_type == IBV_GID_TYPE_ROCE_V2 ? 2 : 1);
  return TRUE;
}

gboolean
fab_verbs_queues_connect (FabVerbsPair *pair, GError **error)
{
  if (!check_gids (pair, error))
    return FALSE;
  pair->mtu = MIN (pair->here.mtu, pair->there.mtu);
  if (pair->here.mtu != pair->there.mtu)
    pair->note = g_strdup_printf ("MTU %u: %s has %u, %s at the other end %u",
                                  fab_verbs_mtu_bytes (pair->mtu), pair->here.name,
                                  fab_verbs_mtu_bytes (pair->here.mtu), pair->there.name,
                                  fab_verbs_mtu_bytes (pair->there.mtu));
  for (guint i = 0; i < pair->request.n_queues; i++)
    if (!to_rtr (pair, i, error) || !to_rts (pair, i, error))
      return FALSE;
  return TRUE;
}

/* Checks every value that sizes or indexes something before using it: what arrives is not trusted. */

G_STATIC_ASSERT (sizeof (FabVerbsRequest) == 14 * 4 + FAB_VERBS_NAME_SIZE);
G_STATIC_ASSERT (sizeof (FabVerbsCard)
                 == 10 * 4 + 2 * 8 + 16 + FAB_VERBS_NAME_SIZE + FAB_VERBS_MAX_QUEUES * 8);

/* Accepts "mlx5_0:1"; names are printed and stored. */
static gboolean
is_name (const char *name)
{
  gsize n = 0;

  while (n < FAB_VERBS_NAME_SIZE && g_ascii_isgraph (name[n]))
    n++;
  return n < FAB_VERBS_NAME_SIZE && name[n] == '\0';
}

static gboolean
check (gboolean is_sane, const FabControl *control, GError **error)
{
  return is_sane
      || fab_throw (error, FAB_ERROR_INPUT,
                    "%s sent what the verbs backend cannot use: use the same fabricast at both ends",
                    control->there);
}

gboolean
fab_verbs_receive_request (FabControl *control, FabVerbsRequest *request, GError **error)
{
  const FabVerbsRequest *r = request;

  return control->receive (control, request, sizeof *request, error)
      && check (r->magic == FAB_VERBS_REQUEST && r->method < FAB_VERBS_ALL && r->place <= FAB_VERBS_GPU
                    && r->mtu <= IBV_MTU_4096 && r->n_queues >= 1 && r->n_queues <= FAB_VERBS_MAX_QUEUES
                    && r->window >= 1 && r->window <= FAB_VERBS_MAX_WINDOW && r->max_bytes >= 1
                    && r->max_bytes <= G_MAXUINT32 && is_name (r->name),
                control, error);
}

gboolean
fab_verbs_receive_card (FabControl *control, FabVerbsCard *card, GError **error)
{
  return control->receive (control, card, sizeof *card, error)
      && check (card->magic == FAB_VERBS_CARD && card->mtu >= IBV_MTU_256 && card->mtu <= IBV_MTU_4096
                    && is_name (card->name),
                control, error);
}
