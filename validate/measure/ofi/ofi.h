/* SPDX-License-Identifier: Apache-2.0 */
/* ofi.h - one of two ends that exchange messages over libfabric.
 *
 * It uses an endpoint for reliable datagrams (FI_EP_RDM) with tagged messages, which every provider that MPI or NCCL
 * could use has. It polls for completions, as those libraries do.
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
  const char *domain;   /* NULL: the domain with the control channel's address, else libfabric's first */
} FabOfiParams;

/* A completion queue of one direction, and the numbers of messages begun and done. */
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
  struct fid_mr *memory; /* NULL: the provider needs no registration */
  FabOfiSide out, in;
  fi_addr_t peer;
  char *buffer; /* max_bytes to send from, then max_bytes to receive into */
  gsize max_bytes;
  struct fi_context2 *contexts; /* 2 x (window + 1); a provider may use them while a message is in flight */
  GPtrArray *free_contexts;
  guint window;
  guint timeout_s;
  gboolean is_asking;
  char *here, *there; /* "tcp;ofi_rxm/eth0@10.9.0.1" */
} FabOfiPair;

/* Returns the first suitable entry of libfabric's list; the caller frees it with fi_freeinfo(). `here` is the address
 * of the control channel. Fails with FAB_ERROR_UNSUPPORTED and a list of the available ones. */
struct fi_info *fab_ofi_choose (const FabOfiParams *params, const char *here, GError **error);

/* Sets *error to "what: reason" for a negative result of libfabric. Returns FALSE. */
gboolean fab_ofi_fail (int result, const char *what, GError **error);

gboolean fab_ofi_move (FabPair *pair, FabMeasureKind kind, FabBytes size_bytes, guint n_messages,
                       FabTimePs *elapsed_ps, GError **error);
