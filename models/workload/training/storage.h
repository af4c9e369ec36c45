/* SPDX-License-Identifier: Apache-2.0 */
/* storage.h - time to load batches from storage and to write checkpoints to it. Pure functions of cluster and keys.
 *
 * Errors (the node has no drives; no path) are for the person.
 */
#pragma once

#include "sim/base/param.h"
#include "sim/work/cluster.h"

typedef enum {
  FAB_STORAGE_NVME,    /* drives of the node */
  FAB_STORAGE_NETWORK, /* a file system behind the NICs */
} FabStoragePlace;

typedef struct {
  FabTimePs time_ps; /* of a batch; 0: from bytes_per_sample */
  FabBytes bytes_per_sample;
  gint from;                      /* FabStoragePlace */
  FabBytesPerS rate_bytes_per_s;  /* of a drive, or of network storage to a node; 0: what the links carry */
  FabBytesPerS total_bytes_per_s; /* network storage, to all nodes together; 0: no limit */
  gboolean is_prefetching;
} FabLoaderParams;

typedef struct {
  gint64 every; /* steps between two; 0: none are written */
  gint to;      /* FabStoragePlace */
  FabBytesPerS rate_bytes_per_s, total_bytes_per_s;
  gboolean is_asynchronous, is_sharded;
} FabCheckpointParams;

extern const FabParam fab_loader_params[];     /* the table `data_loader` */
extern const FabParam fab_checkpoint_params[]; /* the table `checkpoint` */

/* What does not fit together; for the `check` of a workload. */
void fab_loader_check (const FabLoaderParams *self, FabCheck *check);

/* Seconds until every rank has its batch of `n_samples`, all ranks loading at once. 0 when neither a time nor bytes are
 * given. */
gboolean fab_loader_seconds (const FabLoaderParams *self, const FabCluster *cluster, double n_samples,
                             double *seconds, GError **error);

typedef struct {
  double blocking_s;   /* training stands still */
  double background_s; /* then bytes are written beside it; 0 unless asynchronous */
} FabCheckpointTime;

/* `state_bytes`: of the whole job, all ranks together; sharded over them, or in the memory of rank 0. */
gboolean fab_checkpoint_time (const FabCheckpointParams *self, const FabCluster *cluster, double state_bytes,
                              FabCheckpointTime *time, GError **error);

/* What checkpoints add to a step of `step_s` on the average: the next one waits for the one that is being written. */
double fab_checkpoint_step_seconds (const FabCheckpointParams *self, const FabCheckpointTime *time,
                                    double step_s);
