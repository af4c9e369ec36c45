/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - collectives of NCCL over the GPUs of this process, one rank each, timed by events. */
#pragma once

#include "sim/work/collective.h"
#include "validate/measure/cuda/gpus.h"
#include "validate/measure/host.h"
#include "validate/measure/nccl/library.h"

typedef struct {
  const FabGpu *gpu;
  NcclComm comm;
  CuStream stream;
  CuEvent start, end;
} FabNcclRank;

typedef struct {
  const FabNccl *nccl;
  FabGpus *gpus;
  FabNcclRank *ranks;
  guint n_ranks;
  FabOp op; /* what fab_collect_time times */
  gboolean is_broken;
} FabCollect;

/* Buffers of the GPUs must be fab_collect_buffer_bytes. */
FabCollect *fab_collect_new (const FabNccl *nccl, FabGpus *gpus, GError **error);
void fab_collect_free (FabCollect *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCollect, fab_collect_free)

/* Of a collective of `size_bytes` over at most `n_ranks`: what each GPU needs to send from, and to receive into. */
FabBytes fab_collect_buffer_bytes (FabBytes size_bytes, guint n_ranks);

gboolean fab_collect_can (FabOp op);

/* FabTimedFunc over FabCollect: n_messages collectives one after another on every rank's stream, the time of the rank
 * that took longest. */
gboolean fab_collect_time (gpointer collect, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                           GError **error);
