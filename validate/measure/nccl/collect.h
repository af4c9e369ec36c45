/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - runs NCCL collectives over the GPUs of this process, one rank each, and times them with events. */
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
  FabOp op; /* the collective that fab_collect_time times */
  gboolean is_broken;
} FabCollect;

/* Makes the communicators. The GPUs' buffers must have fab_collect_buffer_bytes. `nccl` and `gpus` must outlive the
 * result. (transfer full) */
FabCollect *fab_collect_new (const FabNccl *nccl, FabGpus *gpus, GError **error);
void fab_collect_free (FabCollect *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabCollect, fab_collect_free)

/* Returns the buffer that each GPU needs to send from and to receive into, for collectives of `size_bytes` over at
 * most `n_ranks`. */
FabBytes fab_collect_buffer_bytes (FabBytes size_bytes, guint n_ranks);

gboolean fab_collect_can (FabOp op);

/* A FabTimedFunc over FabCollect: runs n_messages collectives in sequence on every rank's stream, and sets the time of
 * the slowest rank. */
gboolean fab_collect_time (gpointer collect, FabBytes size_bytes, guint n_messages, FabTimePs *elapsed_ps,
                           GError **error);
