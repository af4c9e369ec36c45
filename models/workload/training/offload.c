/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/offload.h"

#include "models/workload/training/streams.h"
#include "sim/machine/hop.h"
#include "sim/machine/staging.h"

static const double adam_bytes = 30; /* memory traffic of Adam for one parameter; see offload.h */

const FabParam offload_params[] = {
  { .key = "optimizer",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (OffloadParams, optimizer),
    .fallback = "none",
    .choices = offload_places,
    .help =
        "Where optimizer states are kept and updated: on the accelerator, in host memory, or on drives." },
  { .key = "parameters",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (OffloadParams, parameters),
    .fallback = "none",
    .choices = offload_places,
    .help = "Where sharded parameters are kept while they are not in use." },
  { .key = NULL },
};

/* --- ways --- */

typedef struct {
  const FabCluster *cluster;
  gboolean is_to_gpu;
  FabFootprintBuilder *builder;
  FabTimePs latency_ps; /* of the longest path so far */
} CopyPaths;

static gboolean
add_way (CopyPaths *ways, FabVertexId gpu, FabVertexId place, double weight, GError **error)
{
  FabHop hop;

  if (!fab_hop_wire (ways->cluster, ways->is_to_gpu ? place : gpu, ways->is_to_gpu ? gpu : place,
                     FAB_DRIVE_COPY, &hop, error))
    return FALSE;
  fab_hop_use (&hop, weight, 1, ways->builder);
  ways->latency_ps = MAX (ways->latency_ps, hop.latency_ps);
  fab_hop_clear (&hop);
  return TRUE;
}

static gboolean
add_memory (CopyPaths *ways, Train *train, FabVertexId gpu)
{
  FabVertexId memory;

  if (!fab_staging_near (ways->cluster->graph, gpu, &memory)) {
    train_fail (train, "offload: the node has no host memory; give its entry a part of kind host or memory");
    return FALSE;
  }
  return add_way (ways, gpu, memory, 1, &train->error);
}

/* Each GPU has its part of the node's drives; where there are fewer drives than GPUs, neighbours share one. */
static gboolean
add_drives (CopyPaths *ways, Train *train, guint rank)
{
  const FabCluster *cluster = ways->cluster;
  guint n = cluster->drives_per_node, k = cluster->gpus_per_node, node = rank / k, local = rank % k;
  guint first = local * n / k, n_own = MAX (n / k, 1);

  if (n == 0) {
    train_fail (train, "offload: nvme needs drives, and the node has none; give its entry a part of kind "
                       "storage");
    return FALSE;
  }
  for (guint i = 0; i < n_own; i++)
    if (!add_way (ways, cluster->gpus[rank], cluster->drives[node * n + first + i], 1.0 / n_own,
                  &train->error))
      return FALSE;
  return TRUE;
}

/* The footprint of a copy of all ranks of the stage; the DAG owns it. NULL: there is no path. */
static FabFootprint *
find_ways (Stage *stage, const Copy *copy, FabTimePs *latency_ps)
{
  Train *train = stage->train;
  const Layout *layout = &train->layout;
  guint n;
  g_autofree guint *ranks = stage_ranks (stage, &n);
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (layout->cluster->graph);
  CopyPaths ways = { layout->cluster, copy->is_to_gpu, builder, 0 };

  for (guint i = 0; i < n; i++) {
    gboolean is_there = copy->place == OFFLOAD_CPU
                          ? add_memory (&ways, train, layout->cluster->gpus[ranks[i]])
                          : add_drives (&ways, train, ranks[i]);

    if (!is_there)
      return NULL;
  }
  *latency_ps = ways.latency_ps;
  FabFootprint *footprint = fab_footprint_builder_finish (builder);
  fab_dag_builder_own (train->builder, footprint, (GDestroyNotify) fab_footprint_free);
  return footprint;
}

/* --- copies --- */

static const CopyPath *
known_way (Stage *stage, const Copy *copy)
{
  CopyPath *way = &stage->ways[copy->place == OFFLOAD_NVME][copy->is_to_gpu];

  if (way->footprint == NULL && stage->train->error == NULL)
    way->footprint = find_ways (stage, copy, &way->latency_ps);
  return way;
}

gboolean
offload_copy (Stage *stage, const Copy *copy, char *name, const FabTaskId *after, FabTaskId *task)
{
  FabDagBuilder *builder = stage->train->builder;
  g_autofree char *owned = name;
  const CopyPath *way = copy->bytes > 0 && copy->place != OFFLOAD_NONE ? known_way (stage, copy) : NULL;

  if (way == NULL || way->footprint == NULL)
    return FALSE;
  FabCollectivePlan plan = { .algorithm = "copy",
                             .protocol = "none",
                             .n_ranks = stage_n_ranks (stage),
                             .op = FAB_OP_SEND_RECV,
                             .bytes = copy->bytes,
                             .footprint = way->footprint,
                             .startup_ps = way->latency_ps,
                             .latency_ps = way->latency_ps,
                             .wire_factor = 1,
                             .n_connections = 1 };
  guint collective;
  if (!stage_follow (stage, &collective)) {
    collective = fab_dag_builder_collective (builder, &plan, FAB_DIMENSION_OFFLOAD, g_steal_pointer (&owned));
    stage_note (stage, collective);
  }
  *task = fab_dag_builder_join (builder,
                                stage_stream (stage, copy->is_to_gpu ? STREAM_TO_GPU : STREAM_FROM_GPU),
                                collective);
  if (after != NULL)
    fab_dag_builder_after (builder, *task, *after);
  return TRUE;
}

/* The rate of the memory of one node: that of the links of all its sockets' memories. */
static double
host_bytes_per_s (Train *train)
{
  const FabCluster *cluster = train->layout.cluster;
  const FabGraph *graph = cluster->graph;
  guint32 node = fab_graph_vertex (graph, cluster->gpus[0])->node;
  double rate = 0;

  for (FabVertexId vertex = 0; vertex < fab_graph_n_vertices (graph); vertex++) {
    FabLinkId first;

    if (fab_graph_vertex (graph, vertex)->kind != FAB_VERTEX_MEMORY
        || fab_graph_vertex (graph, vertex)->node != node)
      continue;
    guint n = fab_graph_out_links (graph, vertex, &first);
    for (FabLinkId link = first; link < first + n; link++)
      rate += (double) fab_graph_link (graph, link)->rate_bytes_per_s
            / fab_graph_link_class (graph, link)->cost[FAB_DRIVE_COPY];
  }
  if (rate <= 0)
    train_fail (train,
                "offload: the node's entry does not give the rate of its host memory; add a part of kind "
                "memory");
  return rate;
}

/* Reads the states from the drives. These are 16 bytes for each parameter: 12 of Adam and 4 of the gradient. */
static FabTaskId
read_states (Stage *stage, OffloadTo place, double parameters, FabTaskId after)
{
  const TrainParams *p = stage->train->params;
  Copy copy = { place, TRUE, (FabBytes) (parameters * (double) p->state_bytes_per_parameter + 0.5) };
  FabTaskId task;

  if (place == OFFLOAD_NVME && offload_copy (stage, &copy, g_strdup ("states"), &after, &task))
    return task;
  return after;
}

void
offload_optimize (Stage *stage, OffloadTo place, double parameters, gboolean returns)
{
  Train *train = stage->train;
  double rate = host_bytes_per_s (train) / train->layout.cluster->gpus_per_node;
  FabTaskId before = stage_compute (stage, 0, g_strdup ("gradients"));
  FabTaskId step, task;

  before = read_states (stage, place, parameters, before);
  step = fab_dag_builder_work (train->builder, stage_stream (stage, STREAM_CPU), FAB_SPAN_LOAD,
                               rate > 0 ? fab_seconds_to_ps (parameters * adam_bytes / rate) : 0,
                               g_strdup ("cpu optimizer"));
  fab_dag_builder_after (train->builder, step, before);
  stage_wait (stage, step);
  Copy written = { place, FALSE,
                   (FabBytes) (parameters * (double) train->params->state_bytes_per_parameter + 0.5) };
  if (place == OFFLOAD_NVME && offload_copy (stage, &written, g_strdup ("states"), &step, &task))
    stage_wait (stage, task);
  Copy updated = { OFFLOAD_CPU, TRUE, (FabBytes) (parameters * (double) stage_weight_bytes (stage) + 0.5) };
  if (returns && offload_copy (stage, &updated, g_strdup ("parameters"), &step, &task))
    stage_wait (stage, task);
}
