/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.h - what the files of the `verbs` backend share: parameters, a port, memory, queue pairs, the two ends.
 *
 * backend.c   the module's symbol, parameters, which ports and methods are measured
 * device.c    RDMA devices: which port, its GID, in words
 * memory.c    the buffer, registered, on the host or on a GPU by the CUDA driver
 * work.c      what the two ends tell each other as bytes; queue pairs and their states (RESET, INIT, RTR, RTS); posting
 *             and polling, with a limit to how long nothing may happen
 * ends.c      how the two ends become one pair; one message at a time (latency, exchange) and many (bandwidth,
 *             bidirectional)
 */
#pragma once

#include <infiniband/verbs.h>

#include "validate/measure/pair.h"

typedef enum { FAB_VERBS_WRITE, FAB_VERBS_READ, FAB_VERBS_SEND, FAB_VERBS_ALL } FabVerbsMethod;
typedef enum { FAB_VERBS_HOST, FAB_VERBS_GPU } FabVerbsPlace;

extern const char *const fab_verbs_method_names[];
extern const char *const fab_verbs_place_names[];

/* The table is in params.c. */
typedef struct {
  const char *device; /* NULL: any */
  gint64 port;        /* 0: any */
  gint method;        /* FabVerbsMethod */
  gint64 gid_index;   /* -1: chosen automatically */
  gint mtu;           /* enum ibv_mtu; 0: that of the port */
  gint64 n_queue_pairs;
  FabBytes inline_bytes;
  gint memory, peer_memory; /* FabVerbsPlace */
  gint64 gpu;
  gint64 service_level, traffic_class;
  gboolean relaxed_ordering;
} FabVerbsParams;

extern const FabParam fab_verbs_params[];

/* Returns the bytes of an MTU; 0 for other values. */
guint fab_verbs_mtu_bytes (enum ibv_mtu mtu);

/* An open device and one of its ports. */
typedef struct {
  struct ibv_context *context;
  char *name;
  guint8 number;
  struct ibv_port_attr attr;
  struct ibv_device_attr device_attr;
} FabVerbsPort;

/* The registered buffer: `half_bytes` to send from, then `half_bytes` to receive into. */
typedef struct {
  guint64 address;
  FabBytes half_bytes;
  struct ibv_mr *mr;
  struct ibv_mr *polled_mr; /* registered without relaxed ordering, for polling the last byte; may be `mr` */
  guint8 *host;             /* NULL: the memory is on a GPU */
  struct _FabVerbsGpu *gpu; /* NULL: the memory is on the host */
} FabVerbsMemory;

/* A request and a card go over the control channel as they lie in memory: fields of fixed width without gaps. */
enum { FAB_VERBS_MAX_QUEUES = 256, FAB_VERBS_MAX_WINDOW = 1 << 16, FAB_VERBS_NAME_SIZE = 64 };

/* What the asking end requests; the other end does the same. */
typedef struct {
  guint32 magic;
  guint32 link_layer;
  guint64 max_bytes;
  guint32 method, place; /* place: of the other end's memory */
  guint32 mtu;           /* enum ibv_mtu; 0: the port's */
  guint32 n_queues, window, inline_bytes;
  guint32 service_level, traffic_class, is_relaxed;
  guint32 unused;
  char name[FAB_VERBS_NAME_SIZE]; /* device:port of the asking end */
} FabVerbsRequest;

typedef struct {
  guint32 number, first_psn;
} FabVerbsQueueCard;

/* What an end must know of the other to reach it. */
typedef struct {
  guint32 magic;
  guint32 link_layer, lid;
  guint32 has_gid, gid_type; /* gid_type: enum ibv_gid_type */
  guint32 mtu;               /* enum ibv_mtu */
  guint32 max_reads_in;      /* RDMA reads that it answers at the same time */
  guint32 max_reads_out;
  union ibv_gid gid;
  guint64 address;        /* of its receiving half */
  guint64 source_address; /* of the half that reads take from */
  guint32 rkey, polled_rkey;
  char name[FAB_VERBS_NAME_SIZE]; /* device:port */
  FabVerbsQueueCard queues[FAB_VERBS_MAX_QUEUES];
} FabVerbsCard;

typedef struct {
  struct ibv_qp *qp;
  guint under_way; /* sends not yet covered by a completion */
  guint unsignalled;
  guint to_post; /* of the current stream */
} FabVerbsQueue;

typedef struct {
  FabPair base;
  FabControl *control; /* owned by the caller */
  gboolean is_asking;
  guint timeout_s;
  FabVerbsRequest request;
  FabVerbsPort port;
  FabVerbsMemory memory;
  struct ibv_pd *pd;
  struct ibv_cq *send_cq, *receive_cq;
  FabVerbsQueue *queues; /* request.n_queues */
  guint n_receives;      /* posted on every queue, when the method is send */
  guint inline_bytes;    /* largest message that the queues send inline */
  guint32 mtu;
  gint gid_index;
  FabVerbsCard here, there;
  FabTimePs read_ps; /* shortest single read so far; 0: none */
  char *note;        /* what was agreed on though it was not requested; NULL: nothing */
} FabVerbsPair;
