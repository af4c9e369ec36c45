/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - takes queue pairs from RESET to INIT when they are made, and to RTR (ready to receive) and RTS (ready to
 * send) when the other end is known. Source: InfiniBand Architecture Specification, volume 1, 10.3.1. */
#include "validate/measure/verbs/queue.h"

#include <errno.h>

#include "sim/base/error.h"
#include "sim/base/mix.h"

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
