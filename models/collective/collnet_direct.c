/* SPDX-License-Identifier: Apache-2.0 */
/* collnet_direct.c - InfiniBand SHARP between nodes, all GPUs to all GPUs inside each node.
 *
 * A node has k NICs (rails). The GPU beside NIC r is the head of rail r.
 *
 * all_reduce Every GPU sends part r of k to head r, which adds these parts. The network's switches add the sums of
 * all
 *              nodes on the way up to a root and copy the result on the way down. Head r sends it to the other
 * GPUs of
 *              its node. A NIC carries 1/k of the size in each direction, however many nodes there are; a NIC of a
 * ring
 *              carries 2(n-1)/n / k.
 * all_gather, reduce_scatter Only where every GPU is the head of one rail. In an all_gather a NIC sends 1/(nodes k)
 * of
 *              the size, and the switches copy what comes down, 1/k. In a reduce_scatter a NIC sends 1/k, the
 * switches
 *              add on the way up, and 1/(nodes k) comes down.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/collective/collective.h"
#include "sim/collective/shape/trees.h"
#include "sim/machine/rails.h"

typedef struct {
  const FabGroup *group;
  FabOp op;
  FabSendGraph *sends;
  guint head, nic;
  double share; /* part of the size that this rail carries */
  GError **error;
} RailBuild;

/* Adds the sends between the head of a node and each of the node's other GPUs. */
static gboolean
add_inside (RailBuild *build, guint node, gboolean is_to_head, GArray *list)
{
  const FabGroup *group = build->group;
  g_autoptr (GArray) arrived = g_array_new (FALSE, FALSE, sizeof (guint));
  FabVertexId head = fab_group_gpu (group, node, build->head);

  for (guint i = 0; i < group->gpus_per_node; i++) {
    FabVertexId gpu = fab_group_gpu (group, node, i);
    FabHop hop;
    guint send;

    if (i == build->head)
      continue;
    if (!fab_hop_inside (group->cluster, is_to_head ? gpu : head, is_to_head ? head : gpu, &hop,
                         build->error))
      return FALSE;
    send = fab_send_graph_add (build->sends, &hop, build->share, group->gpus_per_node - 1,
                               is_to_head ? NULL : list);
    g_array_append_val (arrived, send);
  }
  g_array_set_size (list, 0);
  g_array_append_vals (list, arrived->data, arrived->len);
  return TRUE;
}

static gboolean
add_in_nodes (RailBuild *build, gboolean is_to_head, const GPtrArray *lists)
{
  for (guint node = 0; node < build->group->n_nodes; node++)
    if (!add_inside (build, node, is_to_head, fab_send_list (lists, node)))
      return FALSE;
  return TRUE;
}

static gboolean
add_rail (RailBuild *build)
{
  const FabGroup *group = build->group;
  g_autoptr (FabSwitchTree) tree = fab_switch_tree_new (group, build->nic, build->error);
  g_autoptr (GPtrArray) lists = fab_send_lists_new (group->n_nodes);
  double own = build->share / group->n_nodes; /* what one node has of the rail's part */
  gboolean is_gather = build->op == FAB_OP_ALL_GATHER, is_scatter = build->op == FAB_OP_REDUCE_SCATTER;
  FabSwitchPass pass = { .up = is_gather ? own : build->share,
                         .down = is_scatter ? own : build->share,
                         .is_summed_up = !is_gather,
                         .is_copied_down = !is_scatter };

  return tree != NULL && (is_gather || add_in_nodes (build, TRUE, lists))
      && fab_switch_tree_pass (tree, build->sends, group, build->head, &pass, lists, build->error)
      && (is_scatter || add_in_nodes (build, FALSE, lists));
}

static gboolean
add_rails (const FabGroup *group, FabOp op, FabSendGraph *sends, guint *n_rails, GError **error)
{
  g_autofree guint *rails = fab_rails_list (group, n_rails);

  for (guint i = 0; i < *n_rails; i++) {
    guint hops, head = fab_rails_gpu (group, rails[i], G_MAXUINT, &hops);
    RailBuild build = { group, op, sends, head, rails[i], 1.0 / *n_rails, error };

    if (!add_rail (&build))
      return FALSE;
  }
  return TRUE;
}

static gboolean
collnet_direct_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
                     GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, NULL, 1);
  guint n_rails;

  if (!add_rails (group, op, sends, &n_rails, error))
    return FALSE;
  fab_send_graph_form (sends, TRUE, form);
  form->n_channels = n_rails;
  return TRUE;
}

static gboolean
collnet_direct_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                         FabSchedule *schedule, GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, schedule, n_chunks);
  guint n_rails;

  if (!add_rails (group, op, sends, &n_rails, error))
    return FALSE;
  return TRUE;
}

static gboolean
is_everyone_a_head (const FabGroup *group, const guint *rails, guint n_rails)
{
  g_autofree gboolean *is_head = g_new0 (gboolean, group->gpus_per_node);

  for (guint i = 0; i < n_rails; i++) {
    guint hops, head = fab_rails_gpu (group, rails[i], G_MAXUINT, &hops);

    if (is_head[head])
      return FALSE;
    is_head[head] = TRUE;
  }
  return n_rails == group->gpus_per_node;
}

static gboolean
collnet_direct_supports (const FabGroup *group, FabOp op)
{
  guint n_rails;

  if (group->n_nodes < 2 || group->cluster->uneven != NULL
      || (op != FAB_OP_ALL_REDUCE && op != FAB_OP_ALL_GATHER && op != FAB_OP_REDUCE_SCATTER))
    return FALSE;
  g_autofree guint *rails = fab_rails_list (group, &n_rails);
  for (guint i = 0; i < n_rails; i++)
    if (!fab_switch_tree_is_possible (group, rails[i]))
      return FALSE;
  return n_rails > 0 && (op == FAB_OP_ALL_REDUCE || is_everyone_a_head (group, rails, n_rails));
}

const FabAlgorithmOps fab_algorithm_collnet_direct = {
  .info = { .name = "collnet_direct",
            .summary = "The network's switches reduce; GPUs of a node exchange directly, all to all.",
            .doc = "docs/models/collnet_direct.md" },
  .preference = 50,
  .reduces_in = FAB_REDUCES_IN_NETWORK_SWITCH,
  .wire_reason = "switches add and copy the data on its way",
  .supports = collnet_direct_supports,
  .form = collnet_direct_form,
  .schedule = collnet_direct_schedule,
};
