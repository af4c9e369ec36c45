/* SPDX-License-Identifier: Apache-2.0 */
/* ofi.h - one end of two that send each other messages over libfabric.
 *
 * An endpoint for reliable datagrams (FI_EP_RDM) with tagged messages, which every provider that MPI or NCCL could use
 * has. Completions are awaited by asking again and again, as those libraries do.
 */
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>

#include "validate/measure/pair.h"

typedef struct {
  const char *provider; /* NULL: libfabric's choice */
  const char *domain;   /* NULL: the one with the address of the control channel, else libfabric's first */
} FabOfiParams;

/* The queue of one direction: what was begun and what has ended. */
typedef struct {
  struct fid_cq *queue;
  guint64 n_begun, n_done;
} FabOfiSide;

typedef struct {
  FabPair base;
  struct fi_info *info;
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_ep *endpoint;
  struct fid_av *addresses;
  struct fid_mr *memory; /* NULL: the provider wants none registered */
  FabOfiSide out, in;
  fi_addr_t peer;
  char *buffer; /* what is sent, then what is received: max_bytes each */
  gsize max_bytes;
  struct fi_context2 *contexts; /* 2 x (window + 1), which a provider may use while a message is under way */
  GPtrArray *free_contexts;
  guint window;
  guint timeout_s;
  gboolean is_asking;
  char *here, *there; /* "tcp;ofi_rxm/eth0@10.9.0.1" */
} FabOfiPair;

/* The first fitting entry of libfabric's list; `here` is the address of the control channel. fi_freeinfo() it.
 * FAB_ERROR_UNSUPPORTED when there is none, with those that there are. */
struct fi_info *fab_ofi_choose (const FabOfiParams *params, const char *here, GError **error);

/* "what: reason" of a negative result of libfabric. Returns FALSE. */
gboolean fab_ofi_fail (int result, const char *what, GError **error);

gboolean fab_ofi_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                       FabTimePs *elapsed_ps, GError **error);
