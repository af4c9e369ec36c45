/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - protection domains, registered memory, completion queues, queue pairs and their states. */
#define _GNU_SOURCE
#include "tests/support/fake_verbs/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#undef ibv_reg_mr /* a macro in front of the function */

static FakeWorld *
world_of (struct ibv_context *context)
{
  return ((FakeContext *) context)->world;
}

struct ibv_pd *
ibv_alloc_pd (struct ibv_context *context)
{
  struct ibv_pd *pd = g_new0 (struct ibv_pd, 1);

  pd->context = context;
  return pd;
}

int
ibv_dealloc_pd (struct ibv_pd *pd)
{
  g_free (pd);
  return 0;
}

static struct ibv_mr *
register_memory (struct ibv_pd *pd, const char *failure, guint64 address, size_t size, guint access)
{
  guint64 code = fake_setting (pd->context, failure, 0);
  struct ibv_mr *mr;

  if (code != 0) {
    errno = (int) code;
    return NULL;
  }
  mr = g_new0 (struct ibv_mr, 1);
  *mr = (struct ibv_mr){
    .context = pd->context, .pd = pd, .addr = (void *) (guintptr) address, .length = size
  };
  mr->lkey = mr->rkey = fake_memory_add (world_of (pd->context), address, size, access);
  if (mr->rkey != 0)
    return mr;
  g_free (mr);
  return NULL;
}

struct ibv_mr *
ibv_reg_mr (struct ibv_pd *pd, void *address, size_t size, int access)
{
  return register_memory (pd, "reg_errno", (guintptr) address, size, (guint) access);
}

struct ibv_mr *
ibv_reg_mr_iova2 (struct ibv_pd *pd, void *address, size_t size, G_GNUC_UNUSED uint64_t iova,
                  unsigned int access)
{
  return register_memory (pd, "reg_errno", (guintptr) address, size, access);
}

struct ibv_mr *
ibv_reg_dmabuf_mr (struct ibv_pd *pd, G_GNUC_UNUSED uint64_t offset, size_t size, uint64_t iova, int fd,
                   int access)
{
  if (fcntl (fd, F_GETFD) < 0) /* sets errno */
    return NULL;
  return register_memory (pd, "dmabuf_errno", iova, size, (guint) access);
}

int
ibv_dereg_mr (struct ibv_mr *mr)
{
  fake_memory_remove (world_of (mr->context), mr->rkey);
  g_free (mr);
  return 0;
}

struct ibv_cq *
ibv_create_cq (struct ibv_context *context, int n, G_GNUC_UNUSED void *data,
               G_GNUC_UNUSED struct ibv_comp_channel *channel, G_GNUC_UNUSED int vector)
{
  FakeCq *self = g_new0 (FakeCq, 1);

  self->base.context = context;
  self->base.cqe = n;
  self->queues = g_ptr_array_new ();
  return &self->base;
}

int
ibv_destroy_cq (struct ibv_cq *cq)
{
  FakeCq *self = (FakeCq *) cq;

  g_assert (self->queues->len == 0); /* EBUSY, says the real one */
  g_queue_clear_full (&self->done, g_free);
  g_ptr_array_unref (self->queues);
  g_free (self);
  return 0;
}

static guint
take_queue (FakeWorld *world)
{
  guint i = 0;

  fake_world_lock (world);
  while (world->queues[i].is_used)
    g_assert (++i < FAKE_QUEUES);
  world->queues[i] = (FakeQueue){ .is_used = TRUE, .pid = getpid (), .state = IBV_QPS_RESET };
  fake_world_unlock (world);
  return i;
}

struct ibv_qp *
ibv_create_qp (struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
  struct ibv_context *context = pd->context;
  guint64 code = fake_setting (context, "qp_errno", 0), max_wr = fake_setting (context, "max_wr", 8192);
  FakeQp *self;
  guint i;

  if (attr->cap.max_inline_data > fake_setting (context, "inline", 256) || attr->cap.max_send_wr > max_wr
      || attr->cap.max_recv_wr > MIN (max_wr, FAKE_RECEIVES) || attr->qp_type != IBV_QPT_RC)
    code = EINVAL;
  if (code != 0) {
    errno = (int) code;
    return NULL;
  }
  i = take_queue (world_of (context));
  self = g_new0 (FakeQp, 1);
  self->base = (struct ibv_qp){
    .context = context, .pd = pd, .send_cq = attr->send_cq, .recv_cq = attr->recv_cq
  };
  self->base.qp_num = FAKE_FIRST_QUEUE + i;
  self->own = &world_of (context)->queues[i];
  self->cap = attr->cap;
  self->fail_after = fake_setting (context, "fail_after", 0);
  self->fail_status = (guint) fake_setting (context, "fail_status", IBV_WC_RETRY_EXC_ERR);
  self->silent_after = fake_setting (context, "silent_after", 0);
  g_ptr_array_add (((FakeCq *) attr->send_cq)->queues, self);
  g_ptr_array_add (((FakeCq *) attr->recv_cq)->queues, self);
  return &self->base;
}

static int
to_init (FakeQp *self, const struct ibv_qp_attr *attr)
{
  FakeQueue *own = self->own;

  if (own->state != IBV_QPS_RESET || attr->port_num < 1)
    return EINVAL;
  self->port = attr->port_num;
  self->gid_index = -1; /* LIDs */
  own->access = attr->qp_access_flags;
  own->lid = fake_lid (self->base.context, self->port);
  return 0;
}

static int
to_rtr (FakeQp *self, const struct ibv_qp_attr *attr)
{
  guint64 code = fake_setting (self->base.context, "rtr_errno", 0);
  FakeQueue *own = self->own;
  struct ibv_gid_entry entry;

  if (own->state != IBV_QPS_INIT || code != 0)
    return code != 0 ? (int) code : EINVAL;
  own->has_gid = attr->ah_attr.is_global;
  if (own->has_gid) {
    if (_ibv_query_gid_ex (self->base.context, self->port, attr->ah_attr.grh.sgid_index, &entry, 0,
                           sizeof entry)
        != 0)
      return EINVAL;
    own->gid = entry.gid;
    self->gid_index = attr->ah_attr.grh.sgid_index;
    own->peer_gid = attr->ah_attr.grh.dgid;
  } else if (own->lid == 0) {
    return EINVAL; /* Ethernet knows no LIDs */
  }
  own->peer_lid = attr->ah_attr.dlid;
  own->peer = attr->dest_qp_num;
  own->rq_psn = attr->rq_psn;
  own->mtu_bytes = 128u << attr->path_mtu;
  self->service_level = attr->ah_attr.sl;
  self->traffic_class = own->has_gid ? attr->ah_attr.grh.traffic_class : 0;
  return 0;
}

int
ibv_modify_qp (struct ibv_qp *qp, struct ibv_qp_attr *attr, G_GNUC_UNUSED int mask)
{
  FakeQp *self = (FakeQp *) qp;
  FakeWorld *world = world_of (qp->context);
  int code = EINVAL;

  fake_world_lock (world);
  if (attr->qp_state == IBV_QPS_INIT)
    code = to_init (self, attr);
  else if (attr->qp_state == IBV_QPS_RTR)
    code = to_rtr (self, attr);
  else if (attr->qp_state == IBV_QPS_RTS && self->own->state == IBV_QPS_RTR)
    code = 0;
  if (code == 0) {
    self->own->state = attr->qp_state;
    self->own->sq_psn = attr->qp_state == IBV_QPS_RTS ? attr->sq_psn : 0;
  }
  fake_world_unlock (world);
  return code;
}

static void
write_log (const FakeQp *self)
{
  g_autofree char *path = fake_path ("log");
  g_autofree char *line = g_strdup_printf (
      "device=%s port=%u messages=%" G_GUINT64_FORMAT " bytes=%" G_GUINT64_FORMAT " inline=%" G_GUINT64_FORMAT
      " signalled=%" G_GUINT64_FORMAT " received=%" G_GUINT64_FORMAT " most=%" G_GUINT64_FORMAT
      " mtu=%u sl=%u tclass=%u gid=%d pid=%d\n",
      self->base.context->device->name, self->port, self->n_messages, self->n_bytes, self->n_inline,
      self->n_signalled, self->n_received, self->most_in_queue, self->own->mtu_bytes, self->service_level,
      self->traffic_class, self->gid_index, getpid ());
  int fd = open (path, O_WRONLY | O_CREAT | O_APPEND, 0600);

  g_assert (fd >= 0 && write (fd, line, strlen (line)) == (gssize) strlen (line));
  close (fd);
}

static void
free_send (gpointer data)
{
  g_free (((FakeSend *) data)->data);
  g_free (data);
}

int
ibv_destroy_qp (struct ibv_qp *qp)
{
  FakeQp *self = (FakeQp *) qp;
  FakeWorld *world = world_of (qp->context);

  write_log (self);
  fake_world_lock (world);
  self->own->is_used = FALSE;
  fake_world_unlock (world);
  g_ptr_array_remove (((FakeCq *) qp->send_cq)->queues, self);
  g_ptr_array_remove (((FakeCq *) qp->recv_cq)->queues, self);
  g_queue_clear_full (&self->waiting, free_send);
  g_free (self);
  return 0;
}
