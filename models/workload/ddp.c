/* SPDX-License-Identifier: Apache-2.0 */
/* ddp.c - data parallel training as PyTorch's DistributedDataParallel schedules it.
 *
 * Streams: compute (forward, backward, optimizer), comm (one all-reduce at a time), loader.
 *   - backward goes through the layers in reverse; a layer first recomputes its forward when asked to, then yields
 *     its tensors' gradients in reverse registration order, its time spread over them by parameters;
 *   - tensors fill buckets in that order; a bucket closes when it has reached its cap, the first one's cap being
 *     small (torch/csrc/distributed/c10d/reducer: compute_bucket_assignment_by_size, 1 MiB then 25 MiB);
 *   - a bucket's all-reduce is launched when its last gradient is ready and the one before is launched;
 *   - the optimizer runs after backward and the last all-reduce, at the speed of memory.
 * Overlap is never an input: it is what the streams leave. FLOPs: forward 1, backward 2, recomputation 1.
 */
#include <math.h>

#include "models/models.h"
#include "sim/work/workload.h"

typedef struct {
  FabTimePs time_ps;
  gboolean is_prefetching;
} LoaderParams;

typedef struct {
  const char *model;
  gint64 micro_batch, sequence;
  gint gradient; /* index of gradient_types */
  gboolean recomputes;
  FabModelChoice compute;
  FabBytes first_bucket_bytes, bucket_bytes;
  FabBytes optimizer_bytes_per_parameter;
  LoaderParams data_loader;
} DdpParams;

static const char *const gradient_types[] = { "fp32", "bf16", "fp16", NULL };
static const FabBytes gradient_bytes[] = { 4, 2, 2 };

static const FabParam loader_params[] = {
  { .key = "time",
    .type = FAB_PARAM_TIME,
    .offset = G_STRUCT_OFFSET (LoaderParams, time_ps),
    .fallback = "0ms",
    .help = "Time to load one batch on every rank." },
  { .key = "prefetch",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (LoaderParams, is_prefetching),
    .fallback = "true",
    .help = "Load the next batch while this one is computed; false: after the optimizer." },
  { .key = NULL },
};

static const FabParam ddp_params[] = {
  { .key = "model",
    .type = FAB_PARAM_TEXT,
    .offset = G_STRUCT_OFFSET (DdpParams, model),
    .refers = FAB_REFERS_MODEL,
    .help = "Model entry, of the catalogue or of this file's `models`." },
  { .key = "micro_batch",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (DdpParams, micro_batch),
    .fallback = "1",
    .min = 1,
    .max = 1e6,
    .help = "Sequences per GPU and step." },
  { .key = "sequence",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (DdpParams, sequence),
    .fallback = "2048",
    .min = 1,
    .max = 1e7,
    .help = "Tokens per sequence." },
  { .key = "gradient",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (DdpParams, gradient),
    .fallback = "fp32",
    .choices = gradient_types,
    .help = "Type in which gradients are reduced." },
  { .key = "recompute",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (DdpParams, recomputes),
    .fallback = "false",
    .help = "Activation recomputation: 4 x the forward FLOPs instead of 3 x." },
  { .key = "compute",
    .type = FAB_PARAM_MODEL,
    .offset = G_STRUCT_OFFSET (DdpParams, compute),
    .fallback = "mfu",
    .models = FAB_MODEL_COMPUTE,
    .help = "How FLOPs become time." },
  { .key = "first_bucket",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (DdpParams, first_bucket_bytes),
    .fallback = "1MiB",
    .min = 1,
    .max = 1e15,
    .help = "Cap of the first bucket (PyTorch: kDefaultFirstBucketBytes)." },
  { .key = "bucket",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (DdpParams, bucket_bytes),
    .fallback = "25MiB",
    .min = 1,
    .max = 1e15,
    .help = "Cap of the other buckets (PyTorch: bucket_cap_mb)." },
  { .key = "optimizer_traffic",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (DdpParams, optimizer_bytes_per_parameter),
    .fallback = "0B",
    .max = 1e4,
    .help =
        "Memory traffic of the optimizer per parameter; its time is this over the memory rate. 0: free. Adam in "
        "mixed precision reads gradient, two moments and master weight and writes the last three and a half "
        "precision weight: 30B." },
  { .key = "data_loader",
    .type = FAB_PARAM_TABLE,
    .offset = G_STRUCT_OFFSET (DdpParams, data_loader),
    .table = loader_params,
    .table_size = sizeof (LoaderParams),
    .help = "Where batches come from." },
  { .key = NULL },
};

typedef struct {
  const FabWorkloadEnv *env;
  const DdpParams *params;
  FabDagBuilder *builder;
  FabGroup group;
  guint compute, comm, loader; /* streams */
  FabTaskId last_compute;
  FabBytes filled_bytes; /* of the open bucket */
  guint n_buckets;
  FabTaskId load; /* when there is a data loader */
} DdpBuild;

static double
tokens_per_rank (const DdpParams *params)
{
  return (double) params->micro_batch * (double) params->sequence;
}

static double
layer_seconds (const DdpBuild *build, const FabLayer *layer, gboolean is_backward)
{
  const FabComputeOps *ops = (const FabComputeOps *) build->params->compute.info;
  double seconds = 0;

  for (guint i = 0; i < layer->segments->len; i++) {
    FabPass pass = { layer,
                     fab_layer_segment (layer, i),
                     is_backward,
                     tokens_per_rank (build->params),
                     1,
                     1,
                     FAB_PRECISION_BF16 };

    seconds += ops->seconds (build->params->compute.params, &build->env->cluster->device, &pass);
  }
  return seconds;
}

static void
add_compute (DdpBuild *build, double seconds, char *name)
{
  build->last_compute = fab_dag_builder_work (build->builder, build->compute, FAB_SPAN_COMPUTE,
                                              fab_seconds_to_ps (seconds), name);
}

static gboolean
close_bucket (DdpBuild *build, GError **error)
{
  FabCollectivePlan plan;
  guint collective;

  if (!fab_library_plan (build->env->library, &build->group, FAB_OP_ALL_REDUCE, build->filled_bytes, &plan,
                         error))
    return FALSE;
  collective = fab_dag_builder_collective (build->builder, &plan, FAB_DIMENSION_DATA,
                                           g_strdup_printf ("bucket%u", build->n_buckets));
  fab_dag_builder_after (build->builder, fab_dag_builder_join (build->builder, build->comm, collective),
                         build->last_compute);
  build->filled_bytes = 0;
  build->n_buckets++;
  return TRUE;
}

static gboolean
add_gradient (DdpBuild *build, const FabLayer *layer, guint index, GError **error)
{
  guint64 parameters = g_array_index (layer->tensors, FabTensor, index).parameters;
  double share = (double) parameters / (double) layer->parameters;
  FabBytes cap = build->n_buckets == 0 ? build->params->first_bucket_bytes : build->params->bucket_bytes;

  add_compute (build, layer_seconds (build, layer, TRUE) * share,
               g_strdup_printf ("backward %s.%u", layer->name, index));
  build->filled_bytes += parameters * gradient_bytes[build->params->gradient];
  return build->filled_bytes < cap || close_bucket (build, error);
}

static gboolean
add_backward (DdpBuild *build, const FabLayerStack *stack, GError **error)
{
  for (guint l = stack->layers->len; l-- > 0;) {
    const FabLayer *layer = &g_array_index (stack->layers, FabLayer, l);

    if (build->params->recomputes)
      add_compute (build, layer_seconds (build, layer, FALSE),
                   g_strdup_printf ("backward %s.recompute", layer->name));
    if (layer->tensors->len == 0)
      add_compute (build, layer_seconds (build, layer, TRUE), g_strdup_printf ("backward %s", layer->name));
    for (guint t = layer->tensors->len; t-- > 0;)
      if (!add_gradient (build, layer, t, error))
        return FALSE;
  }
  return build->filled_bytes == 0 || close_bucket (build, error);
}

static void
add_forward (DdpBuild *build, const FabLayerStack *stack)
{
  const LoaderParams *loader = &build->params->data_loader;

  if (loader->time_ps > 0)
    build->load = fab_dag_builder_work (build->builder, build->loader, FAB_SPAN_LOAD, loader->time_ps,
                                        g_strdup ("load"));
  for (guint l = 0; l < stack->layers->len; l++) {
    const FabLayer *layer = &g_array_index (stack->layers, FabLayer, l);

    add_compute (build, layer_seconds (build, layer, FALSE), g_strdup_printf ("forward %s", layer->name));
    if (l == 0 && loader->time_ps > 0)
      fab_dag_builder_after (build->builder, build->last_compute, build->load);
  }
}

static void
add_optimizer (DdpBuild *build, const FabLayerStack *stack)
{
  double bytes = (double) stack->parameters * (double) build->params->optimizer_bytes_per_parameter;
  double rate = (double) build->env->cluster->device.memory_bytes_per_s;
  FabTaskId step = fab_dag_builder_work (build->builder, build->compute, FAB_SPAN_COMPUTE,
                                         bytes > 0 ? fab_seconds_to_ps (bytes / rate) : 0,
                                         g_strdup ("optimizer"));

  if (build->n_buckets > 0)
    fab_dag_builder_after (build->builder, step, fab_dag_builder_last (build->builder, build->comm));
  if (build->params->data_loader.time_ps > 0 && !build->params->data_loader.is_prefetching)
    fab_dag_builder_after_previous (build->builder, build->load, step);
}

static void
count_totals (const DdpBuild *build, const FabLayerStack *stack, FabJobTotals *totals)
{
  double forward = stack->forward_flops_per_token * tokens_per_rank (build->params);

  totals->model_flops_per_rank = 3 * forward;
  totals->executed_flops_per_rank = (build->params->recomputes ? 4 : 3) * forward;
  totals->tokens = tokens_per_rank (build->params) * fab_group_n_ranks (&build->group);
  totals->parameters = stack->parameters;
  totals->gradient_bytes = stack->parameters * gradient_bytes[build->params->gradient];
}

static gboolean
ddp_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder, FabJobTotals *totals,
           GError **error)
{
  const DdpParams *p = params;
  g_autoptr (FabLayerStack) stack = env->expand_model (env->catalog, p->model, (guint) p->sequence);
  FabGroup group = { env->cluster, env->cluster->n_nodes, env->cluster->gpus_per_node };
  DdpBuild build = { .env = env, .params = p, .builder = builder, .group = group };
  guint rank_class = fab_dag_builder_class (builder, 0, fab_group_n_ranks (&group));

  build.loader = fab_dag_builder_stream (builder, rank_class, "loader");
  build.compute = fab_dag_builder_stream (builder, rank_class, "compute");
  build.comm = fab_dag_builder_stream (builder, rank_class, "comm");
  add_forward (&build, stack);
  if (!add_backward (&build, stack, error))
    return FALSE;
  add_optimizer (&build, stack);
  count_totals (&build, stack, totals);
  return TRUE;
}

const FabWorkloadOps fab_workload_ddp = {
  .info = { .name = "ddp",
            .summary = "Data parallel training as PyTorch's DistributedDataParallel schedules it.",
            .doc = "docs/models/ddp.md",
            .params = ddp_params,
            .params_size = sizeof (DdpParams) },
  .build = ddp_build,
};
