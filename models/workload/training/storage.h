/* SPDX-License-Identifier: Apache-2.0 */
/* storage.h - the time to load batches from storage and to write checkpoints to it. Pure functions of cluster and
 * keys.
 *
 * Errors say to the user what is missing: the node has no drives, or there is no path to them.
 */
#pragma once

#include "sim/base/param.h"
#include "sim/execution/workload.h"
#include "sim/machine/cluster.h"

typedef enum {
  FAB_STORAGE_NVME,    /* drives of the node */
  FAB_STORAGE_NETWORK, /* a file system behind the NICs */
} FabStoragePlace;

typedef struct {
  FabTimePs time_ps; /* of one batch; 0: it follows from bytes_per_sample */
  FabBytes bytes_per_sample;
  gint from; /* FabStoragePlace */
  /* Of one drive, or of network storage to one node; 0: the links set the rate. */
  FabBytesPerS rate_bytes_per_s;
  FabBytesPerS total_bytes_per_s; /* of network storage to all nodes together; 0: no limit */
  gboolean is_prefetching;
} FabLoaderParams;

typedef struct {
  FabPeriod every; /* from one checkpoint to the next; both 0: none is written */
  gint to;         /* FabStoragePlace */
  FabBytesPerS rate_bytes_per_s, total_bytes_per_s;
  gboolean is_asynchronous, is_sharded;
} FabCheckpointParams;

extern const FabParam fab_loader_params[];     /* the table `data_loader` */
extern const FabParam fab_checkpoint_params[]; /* the table `checkpoint` */

/* Report keys that do not fit together; for the `check` of a workload. */
void fab_loader_check (const FabLoaderParams *self, FabCheck *check);

/* Time in seconds until every rank has its batch of `n_samples` samples, while all ranks load at once. 0 where the
 * scenario gives neither a time nor bytes. */
gboolean fab_loader_seconds (const FabLoaderParams *self, const FabCluster *cluster, double n_samples,
                             double *seconds, GError **error);

typedef struct {
  double blocking_s;   /* training waits */
  double background_s; /* afterwards bytes are written while training goes on; 0 unless asynchronous */
} FabCheckpointTime;

/* `state_bytes` are those of the whole job: all ranks have a shard of them each, or rank 0 has all. */
gboolean fab_checkpoint_time (const FabCheckpointParams *self, const FabCluster *cluster, double state_bytes,
                              FabCheckpointTime *time, GError **error);

/* The same, and the rest of what a job says of its checkpoints, whether it writes any or not. */
gboolean fab_checkpoint_totals (const FabCheckpointParams *self, const FabCluster *cluster,
                                double state_bytes, FabCheckpointTotals *totals, GError **error);

gboolean fab_checkpoint_is_written (const FabCheckpointParams *self);

/* What checkpoints add to a step of `step_s` seconds, on average over all steps. A checkpoint waits until the one
 * before has been written. */
double fab_checkpoint_step_seconds (const FabCheckpointParams *self, const FabCheckpointTime *time,
                                    double step_s);
