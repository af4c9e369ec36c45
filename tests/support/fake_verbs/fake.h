/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - libibverbs without an adapter: what the files of the library that tests put in its place share.
 *
 * FAB_FAKE_VERBS is a directory. Processes that share it see each other's queue pairs and memory there, so that bytes
 * really move from one to the other. FAB_FAKE_DEVICES lists the devices, "NAME key=value ...; NAME ...":
 *
 *   link=roce       Ethernet; else InfiniBand        ports=1  down=PORT  mtu=4096  lid=N  gids=4
 *   open_errno= qp_errno= rtr_errno= reg_errno= dmabuf_errno=   what the call fails with
 *   inline=256      most bytes of an inline send     max_wr=8192
 *   fail_after=N    message N fails with fail_status=12, after which the queue pair is in error
 *   silent_after=N  from message N on nothing happens any more
 *   transport=1     enum ibv_transport_type: 1 is iWARP
 *
 * Every queue pair leaves a line in the file `log` of the directory: what it did.
 */
#pragma once

#include <glib.h>
#include <infiniband/verbs.h>
#include <pthread.h>

enum { FAKE_MEMORIES = 256, FAKE_QUEUES = 512, FAKE_RECEIVES = 1024, FAKE_FIRST_QUEUE = 0x100 };

typedef struct {
  gboolean is_used;
  int pid;
  guint64 address, size;
  guint access;
  guint file; /* whose bytes these are: that of the first key for the same bytes */
} FakeMemory;

typedef struct {
  guint64 wr_id, address;
  guint32 size, lkey, n_bytes;
} FakeReceive;

/* A queue pair as the other end sees it. */
typedef struct {
  gboolean is_used;
  int pid;
  enum ibv_qp_state state;
  guint32 peer, sq_psn, rq_psn, mtu_bytes, access;
  guint16 lid, peer_lid;
  union ibv_gid gid, peer_gid;
  gboolean has_gid;
  guint n_posted, n_filled, n_polled;
  FakeReceive receives[FAKE_RECEIVES];
} FakeQueue;

/* The file `world`, mapped by all. */
typedef struct {
  pthread_mutex_t lock;
  FakeMemory memories[FAKE_MEMORIES];
  FakeQueue queues[FAKE_QUEUES];
} FakeWorld;

typedef struct {
  struct ibv_device base;
  char *settings;
} FakeDevice;

typedef struct {
  struct ibv_context base;
  FakeDevice device;
  FakeWorld *world;
} FakeContext;

typedef struct {
  struct ibv_cq base;
  GQueue done;       /* FakeDone */
  GPtrArray *queues; /* FakeQp that use it */
} FakeCq;

typedef struct {
  struct ibv_qp base;
  FakeQueue *own;
  guint port;
  struct ibv_qp_cap cap;
  GQueue waiting;    /* FakeSend: given, not moved yet */
  guint n_in_queue;  /* places taken */
  guint n_uncovered; /* places that no completion gives back yet */
  guint64 fail_after, silent_after;
  guint fail_status;
  guint64 n_messages, n_bytes, n_inline, n_signalled, n_received, most_in_queue;
  guint service_level, traffic_class;
  int gid_index;
} FakeQp;

typedef struct {
  struct ibv_wc wc;
  FakeQp *qp;
  guint n_covered;
} FakeDone;

typedef struct {
  struct ibv_send_wr wr;
  struct ibv_sge piece;
  guint8 *data; /* of an inline send */
} FakeSend;

/* world.c */
FakeWorld *fake_world_open (void);
void fake_world_close (FakeWorld *self);
void fake_world_lock (FakeWorld *self);
void fake_world_unlock (FakeWorld *self);
char *fake_path (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* Makes the bytes visible to others; 0: errno. */
guint32 fake_memory_add (FakeWorld *self, guint64 address, guint64 size, guint access);
void fake_memory_remove (FakeWorld *self, guint32 key);
/* Copies from or to the memory of `key`; FALSE: not in it, or not allowed. */
gboolean fake_memory_copy (FakeWorld *self, guint32 key, guint access, guint64 address, void *data,
                           guint64 size, gboolean is_writing);

/* devices.c */
guint64 fake_setting (const struct ibv_context *context, const char *key, guint64 fallback);
guint16 fake_lid (struct ibv_context *context, guint port);

/* work.c */
int fake_post_send (struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int fake_post_recv (struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int fake_poll_cq (struct ibv_cq *cq, int n, struct ibv_wc *wc);
