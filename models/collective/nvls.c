/* SPDX-License-Identifier: Apache-2.0 */
/* nvls.c - NVLink SHARP in one node: the switch adds what GPUs read through it and copies what they write through it.
 *
 * GPU i of n owns part i of the bytes. To reduce, it loads its part through the switch, which reads that part from
 * all GPUs and returns the sum. To gather, it stores its part through the switch, which writes it to all GPUs. Bytes
 * that a GPU sends and receives per byte of size:
 *   all_reduce 1 + 1/n and 1/n + 1, reduce_scatter 1 and 1/n, all_gather 1/n and 1.
 */
#include "models/models.h"
#include "sim/collective/collective.h"
#include "sim/collective/shape/multicast.h"
#include "sim/collective/shape/send_graph.h"

static gboolean
add_node (const FabGroup *group, FabOp op, FabSendGraph *sends, GError **error)
{
  g_autoptr (GPtrArray) sums = fab_send_lists_new (group->gpus_per_node);

  if (op != FAB_OP_ALL_GATHER && !fab_multicast_load (sends, group, 0, NULL, sums, error))
    return FALSE;
  return op == FAB_OP_REDUCE_SCATTER || fab_multicast_store (sends, group, 0, NULL, sums, error);
}

static gboolean
nvls_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
           GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, NULL, 1);

  if (!add_node (group, op, sends, error))
    return FALSE;
  fab_send_graph_form (sends, TRUE, form);
  form->n_channels = 1;
  return TRUE;
}

static gboolean
nvls_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
               FabSchedule *schedule, GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, schedule, n_chunks);

  return add_node (group, op, sends, error);
}

static gboolean
nvls_supports (const FabGroup *group, FabOp op)
{
  FabVertexId centre;

  return (op == FAB_OP_ALL_REDUCE || op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER)
      && group->n_nodes == 1 && group->gpus_per_node >= 2 && fab_multicast_switch (group, 0, &centre);
}

const FabAlgorithmOps fab_algorithm_nvls = {
  .info = { .name = "nvls",
            .summary = "NVLink SHARP: the switch inside one node adds and copies the data.",
            .doc = "docs/models/nvls.md" },
  .preference = 30,
  .reduces_in = FAB_REDUCES_IN_NODE_SWITCH,
  .wire_reason = "the switch adds and copies, so each GPU sends its buffer plus 1/n of the result",
  .supports = nvls_supports,
  .form = nvls_form,
  .schedule = nvls_schedule,
};
