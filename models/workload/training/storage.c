/* SPDX-License-Identifier: Apache-2.0 */
/* storage.c - the time to move bytes between storage and GPUs.
 *
 * All GPUs of a node move their bytes at the same time. Each reads an equal part from every drive (or writes it), or
 * uses its nearest NIC:
 *
 *   seconds = bytes of a rank / rate
 *   rate    = min (what the links of the node let through,
 *                  drives x `rate` / GPUs of the node                       for drives
 *                  `rate` / GPUs of the node, `total` / ranks of the job    for network storage)
 *
 * Bytes move directly where cluster.gds is on. Otherwise they go into the memory of the GPU's socket and out of it
 * (docs/explanation/gpudirect.md). The two halves of the way work at once, so that the slower one counts, and a link
 * that is in both carries the bytes twice. The catalogue says what links reach: a drive reaches the `copy` share
 * of its port. Drives that write more slowly than they read need `rate`.
 *
 * An asynchronous checkpoint stops training until its bytes are in host memory. They go the rest of the way while
 * training goes on (PyTorch's torch.distributed.checkpoint.async_save copies to host memory first).
 */
#include "models/workload/training/storage.h"

#include <math.h>

#include "sim/base/error.h"
#include "sim/machine/hop.h"
#include "sim/machine/staging.h"

static const char *const places[] = { "nvme", "network", NULL };

#define RATES(struct_)                                                                                      \
  { .key = "rate",                                                                                          \
    .type = FAB_PARAM_RATE,                                                                                 \
    .offset = G_STRUCT_OFFSET (struct_, rate_bytes_per_s),                                                  \
    .fallback = "0GB/s",                                                                                    \
    .max = 1e18,                                                                                            \
    .help = "Rate of one drive, or of network storage to one node; 0: what the links carry." },             \
  {                                                                                                         \
    .key = "total", .type = FAB_PARAM_RATE, .offset = G_STRUCT_OFFSET (struct_, total_bytes_per_s),         \
    .fallback = "0GB/s", .max = 1e18, .help = "Rate of network storage to all nodes together; 0: no limit." \
  }

const FabParam fab_loader_params[] = {
  { .key = "time",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (FabLoaderParams, time_ps),
    .fallback = "0ms",
    .help = "Time to load one batch on every rank; used instead of bytes_per_sample." },
  { .key = "bytes_per_sample",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (FabLoaderParams, bytes_per_sample),
    .fallback = "0B",
    .max = 1e15,
    .help = "Bytes of one sample on storage; the time follows from the path." },
  { .key = "from",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FabLoaderParams, from),
    .fallback = "nvme",
    .choices = places,
    .help = "Where the samples are: on the node's own drives, or behind its NICs." },
  RATES (FabLoaderParams),
  { .key = "prefetch",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (FabLoaderParams, is_prefetching),
    .fallback = "true",
    .help = "Load the next batch while the current one is computed; false: after the optimizer." },
  { .key = NULL },
};

const FabParam fab_checkpoint_params[] = {
  { .key = "every",
    .type = FAB_PARAM_PERIOD,
    .offset = G_STRUCT_OFFSET (FabCheckpointParams, every),
    .fallback = "0",
    .max = 1e9,
    .help = "Interval between checkpoints, in steps or in time: 500, 30min; 0: none." },
  { .key = "to",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (FabCheckpointParams, to),
    .fallback = "nvme",
    .choices = places,
    .help = "Where checkpoints go: to the node's own drives, or through its NICs." },
  RATES (FabCheckpointParams),
  { .key = "asynchronous",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (FabCheckpointParams, is_asynchronous),
    .fallback = "false",
    .help = "Training resumes when the bytes are in host memory, not when they are written." },
  { .key = "sharded",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (FabCheckpointParams, is_sharded),
    .fallback = "true",
    .help = "Every rank writes its part; false: rank 0 writes everything." },
  { .key = NULL },
};

void
fab_loader_check (const FabLoaderParams *self, FabCheck *check)
{
  if (self->time_ps > 0 && self->bytes_per_sample > 0)
    fab_check_fail (check, &self->bytes_per_sample, "give time or bytes_per_sample, not both");
  if (self->from == FAB_STORAGE_NVME && self->total_bytes_per_s > 0)
    fab_check_fail (check, &self->total_bytes_per_s,
                    "total applies to network storage only; drives have "
                    "their own rate");
}

/* --- ways --- */

typedef enum { LEGS_ALL, LEGS_GPU_TO_HOST, LEGS_HOST_TO_STORAGE } Legs;

typedef struct {
  const FabCluster *cluster;
  FabStoragePlace place;
  Legs legs;
  FabFootprintBuilder *builder;
} StoragePath;

static gboolean
add_leg (const StoragePath *way, FabVertexId from, FabVertexId to, double weight, GError **error)
{
  FabHop hop;

  if (!fab_hop_wire (way->cluster, from, to, FAB_DRIVE_COPY, &hop, error))
    return FALSE;
  fab_hop_use (&hop, weight, 1, way->builder);
  fab_hop_clear (&hop);
  return TRUE;
}

/* Links have the same rate in both directions, so that a write takes the path of a read. */
static gboolean
add_whole_way (const StoragePath *way, FabVertexId storage, FabVertexId gpu, double weight, GError **error)
{
  FabHop hop;

  if (!fab_hop_storage (way->cluster, storage, gpu, &hop, error))
    return FALSE;
  fab_hop_use (&hop, weight, 1, way->builder);
  fab_hop_clear (&hop);
  return TRUE;
}

static gboolean
add_way (const StoragePath *way, FabVertexId storage, FabVertexId gpu, double weight, GError **error)
{
  FabVertexId memory;

  if (way->legs == LEGS_ALL || !fab_staging_near (way->cluster->graph, gpu, &memory))
    return add_whole_way (way, storage, gpu, weight, error);
  return way->legs == LEGS_GPU_TO_HOST ? add_leg (way, gpu, memory, weight, error)
                                       : add_leg (way, memory, storage, weight, error);
}

static gboolean
add_gpu (const StoragePath *way, guint local, GError **error)
{
  const FabCluster *cluster = way->cluster;
  FabVertexId gpu = cluster->gpus[local];
  guint nic;

  if (way->place == FAB_STORAGE_NVME) {
    for (guint drive = 0; drive < cluster->drives_per_node; drive++)
      if (!add_way (way, cluster->drives[drive], gpu, 1.0 / cluster->drives_per_node, error))
        return FALSE;
    return TRUE;
  }
  nic = fab_cluster_nic_of (cluster, local);
  if (nic == G_MAXUINT)
    return fab_throw (error, FAB_ERROR_INPUT, "storage is on the network, but GPU %u has no NIC near it",
                      local);
  return add_way (way, cluster->nics[nic], gpu, 1, error);
}

/* The rate in bytes per second of each of the first `n_gpus` GPUs of a node, while all of them move bytes. */
static gboolean
links_rate (StoragePath *way, guint n_gpus, double *rate, GError **error)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (way->cluster->graph);

  if (way->place == FAB_STORAGE_NVME && way->cluster->drives_per_node == 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "storage is on drives, but node '%s' has none; write job.checkpoint.to: network (and "
        "job.data_loader.from: network), or in `nodes` an entry with drives: a part {name: drive, kind: storage, "
        "count: 8} and a wire {from: drive, to: cpu, link: nvme-gen4-x4}",
        way->cluster->node_name != NULL ? way->cluster->node_name : "of this cluster");
  way->builder = builder;
  for (guint local = 0; local < n_gpus; local++)
    if (!add_gpu (way, local, error))
      return FALSE;
  g_autoptr (FabFootprint) footprint = fab_footprint_builder_finish (builder);
  *rate = footprint->rate_bytes_per_s;
  return TRUE;
}

/* The rate that the storage itself gives to each of `n_gpus` GPUs in each of `n_nodes` nodes. */
static double
storage_rate (const FabCluster *cluster, FabStoragePlace place, FabBytesPerS rate, FabBytesPerS total,
              guint n_nodes, guint n_gpus)
{
  double least = INFINITY;

  if (rate > 0)
    least = (double) rate * (place == FAB_STORAGE_NVME ? cluster->drives_per_node : 1) / n_gpus;
  if (place == FAB_STORAGE_NETWORK && total > 0)
    least = fmin (least, (double) total / ((double) n_nodes * n_gpus));
  return least;
}

gboolean
fab_loader_seconds (const FabLoaderParams *self, const FabCluster *cluster, double n_samples, double *seconds,
                    GError **error)
{
  StoragePath way = { .cluster = cluster, .place = (FabStoragePlace) self->from };
  double rate;

  *seconds = fab_ps_to_seconds (self->time_ps);
  if (self->time_ps > 0 || self->bytes_per_sample == 0)
    return TRUE;
  if (!links_rate (&way, cluster->gpus_per_node, &rate, error))
    return FALSE;
  rate = fmin (rate, storage_rate (cluster, way.place, self->rate_bytes_per_s, self->total_bytes_per_s,
                                   cluster->n_nodes, cluster->gpus_per_node));
  *seconds = (double) self->bytes_per_sample * n_samples / rate;
  return TRUE;
}

/* What of a checkpoint a rank moves, and how many ranks do. */
typedef struct {
  guint n_nodes, n_gpus;
  double bytes;
} Shards;

static Shards
shards_of (const FabCheckpointParams *self, const FabCluster *cluster, double state_bytes)
{
  Shards shards = { self->is_sharded ? cluster->n_nodes : 1, self->is_sharded ? cluster->gpus_per_node : 1,
                    0 };

  shards.bytes = state_bytes / ((double) shards.n_nodes * shards.n_gpus);
  return shards;
}

/* Seconds for these legs of the way, limited by the storage where they reach it. */
static gboolean
legs_seconds (const FabCheckpointParams *self, const FabCluster *cluster, const Shards *shards, Legs legs,
              double *seconds, GError **error)
{
  StoragePath way = { .cluster = cluster, .place = (FabStoragePlace) self->to, .legs = legs };
  double rate;

  if (!links_rate (&way, shards->n_gpus, &rate, error))
    return FALSE;
  if (legs != LEGS_GPU_TO_HOST)
    rate = fmin (rate, storage_rate (cluster, way.place, self->rate_bytes_per_s, self->total_bytes_per_s,
                                     shards->n_nodes, shards->n_gpus));
  *seconds = shards->bytes / rate;
  return TRUE;
}

static gboolean
write_time (const FabCheckpointParams *self, const FabCluster *cluster, const Shards *shards,
            FabCheckpointTime *time, GError **error)
{
  if (!self->is_asynchronous)
    return legs_seconds (self, cluster, shards, LEGS_ALL, &time->blocking_s, error);
  return legs_seconds (self, cluster, shards, LEGS_HOST_TO_STORAGE, &time->background_s, error)
      && legs_seconds (self, cluster, shards, LEGS_GPU_TO_HOST, &time->blocking_s, error);
}

gboolean
fab_checkpoint_time (const FabCheckpointParams *self, const FabCluster *cluster, double state_bytes,
                     FabCheckpointTime *time, GError **error)
{
  Shards shards = shards_of (self, cluster, state_bytes);

  *time = (FabCheckpointTime){ 0 };
  return !fab_checkpoint_is_written (self) || write_time (self, cluster, &shards, time, error);
}

/* While a checkpoint goes to network storage, what the ports of a node carry of it, over all that they could. */
static double
nic_share (const FabCheckpointParams *self, const FabCluster *cluster, const Shards *shards,
           double background_s)
{
  double ports = 0;

  if (self->to != FAB_STORAGE_NETWORK || background_s <= 0)
    return 0;
  for (guint i = 0; i < cluster->nics_per_node; i++) {
    FabLinkId first;
    guint n = fab_graph_out_links (cluster->graph, cluster->nics[i], &first);
    double most = 0;

    for (FabLinkId link = first; link < first + n; link++)
      if (fab_graph_vertex (cluster->graph, fab_graph_link (cluster->graph, link)->dst)->node == FAB_NO_NODE)
        most += (double) fab_graph_link (cluster->graph, link)->rate_bytes_per_s;
    ports += most;
  }
  return ports > 0 ? fmin (1, shards->bytes * shards->n_gpus / background_s / ports) : 0;
}

gboolean
fab_checkpoint_totals (const FabCheckpointParams *self, const FabCluster *cluster, double state_bytes,
                       FabCheckpointTotals *totals, GError **error)
{
  Shards shards = shards_of (self, cluster, state_bytes);
  FabCheckpointTime time = { 0 };

  if (!write_time (self, cluster, &shards, &time, error)
      || !legs_seconds (self, cluster, &shards, LEGS_ALL, &totals->read_s, error))
    return FALSE;
  totals->is_known = TRUE;
  totals->bytes = state_bytes;
  totals->blocking_s = time.blocking_s;
  totals->background_s = time.background_s;
  totals->nic_share = nic_share (self, cluster, &shards, time.background_s);
  totals->every = self->every;
  return TRUE;
}

gboolean
fab_checkpoint_is_written (const FabCheckpointParams *self)
{
  return self->every.n_steps > 0 || self->every.time_ps > 0;
}

/* The steps from one checkpoint to the next. A time holds as many as fit in beside the checkpoint itself, which is
 * written at the end of a step: at least one. */
static double
steps_between (const FabCheckpointParams *self, const FabCheckpointTime *time, double step_s)
{
  double left_s = fab_ps_to_seconds (self->every.time_ps) - time->blocking_s;

  if (self->every.time_ps == 0)
    return (double) self->every.n_steps;
  return step_s > 0 ? fmax (1, left_s / step_s) : 1;
}

double
fab_checkpoint_step_seconds (const FabCheckpointParams *self, const FabCheckpointTime *time, double step_s)
{
  if (!fab_checkpoint_is_written (self))
    return 0;
  double n_steps = steps_between (self, time, step_s);
  return (time->blocking_s + fmax (0, time->background_s - n_steps * step_s)) / n_steps;
}
