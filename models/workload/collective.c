/* SPDX-License-Identifier: Apache-2.0 */
/* collective.c - collectives one after another, and nothing else.
 *
 * For the question how long one transfer takes, without a training job around it. All ranks start together;
 * nothing is computed, so all communication is exposed.
 */
#include "models/models.h"
#include "sim/execution/workload.h"

enum { MAX_OPERATIONS = 100000 }; /* of one iteration */

typedef struct {
  gint op;
  FabBytes bytes;
  gint64 count;
} OperationParams;

typedef struct {
  FabParamList operations; /* OperationParams */
} CollectiveParams;

static const FabParam operation_params[] = {
  { .key = "op",
    .type = FAB_PARAM_CHOICE,
    .offset = G_STRUCT_OFFSET (OperationParams, op),
    .choices = fab_op_names,
    .is_in_title = TRUE,
    .help = "Collective to run." },
  { .key = "size",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (OperationParams, bytes),
    .min = 1,
    .max = 1e18,
    .is_in_title = TRUE,
    .help = "Size as nccl-tests counts it: the buffer of one rank for all_reduce, broadcast and reduce; the "
            "whole result for all_gather; the whole input for reduce_scatter." },
  { .key = "count",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (OperationParams, count),
    .fallback = "1",
    .min = 1,
    .max = 1e6,
    .help = "How often to run it." },
  { .key = NULL },
};

static const FabParam collective_params[] = {
  { .key = "operations",
    .type = FAB_PARAM_LIST,
    .offset = G_STRUCT_OFFSET (CollectiveParams, operations),
    .table = operation_params,
    .table_size = sizeof (OperationParams),
    .is_in_title = TRUE,
    .help = "Operations to run, in this order." },
  { .key = NULL },
};

static void
collective_check (gconstpointer params, FabCheck *check)
{
  const CollectiveParams *p = params;
  gint64 n_operations = 0;

  for (guint i = 0; i < p->operations.n; i++)
    n_operations += ((const OperationParams *) p->operations.data + i)->count;
  if (n_operations > MAX_OPERATIONS)
    fab_check_fail (check, &p->operations, "these are %" G_GINT64_FORMAT " collectives; the limit is %d",
                    n_operations, MAX_OPERATIONS);
  if (p->operations.n == 0)
    fab_check_fail (check, &p->operations,
                    "operations is empty: name at least one, {op: all_reduce, size: 1GB}");
}

/* One stream of all ranks, or of each where the job is not folded. Returns how many; they follow one another. */
static guint
add_streams (const FabGroup *group, FabDagBuilder *builder, guint *first)
{
  gboolean is_unfolded = fab_graph_is_unfolded (group->cluster->graph);
  guint n = is_unfolded ? fab_group_n_ranks (group) : 1;

  for (guint i = 0; i < n; i++) {
    g_autofree char *name = is_unfolded ? g_strdup_printf ("rank %u", i) : g_strdup ("all");
    guint rank_class = fab_dag_builder_class (builder, name, i, fab_group_n_ranks (group) / n);
    guint stream = fab_dag_builder_stream (builder, rank_class, "comm");

    *first = i == 0 ? stream : *first;
  }
  return n;
}

static gboolean
collective_build (const FabWorkloadEnv *env, gconstpointer params, FabDagBuilder *builder,
                  G_GNUC_UNUSED FabJobTotals *totals, GError **error)
{
  const CollectiveParams *p = params;
  FabGroup group = { env->cluster, env->cluster->n_nodes, env->cluster->gpus_per_node };
  guint stream = 0, n_streams = add_streams (&group, builder, &stream);

  for (guint i = 0; i < p->operations.n; i++) {
    const OperationParams *operation = (const OperationParams *) p->operations.data + i;
    FabCollectivePlan plan;

    if (!fab_library_plan (env->library, &group, (FabOp) operation->op, operation->bytes, &plan, error))
      return FALSE;
    for (gint64 k = 0; k < operation->count; k++) {
      char *name = g_strdup_printf ("operation%u.%" G_GINT64_FORMAT, i, k);
      guint collective = fab_dag_builder_collective (builder, &plan, FAB_DIMENSION_OTHER, name);

      for (guint s = 0; s < n_streams; s++)
        fab_dag_builder_join (builder, stream + s, collective);
    }
  }
  return TRUE;
}

const FabWorkloadOps fab_workload_collective = {
  .info = { .name = "collective",
            .summary = "Runs collectives one after another, without a training job.",
            .doc = "docs/models/collective.md",
            .params = collective_params,
            .params_size = sizeof (CollectiveParams),
            .check = collective_check },
  .build = collective_build,
};
