/* SPDX-License-Identifier: Apache-2.0 */
/* collnet_chain.c - InfiniBand SHARP between nodes, a chain through the GPUs of each node.
 *
 * all_reduce, on each of the k rails: a chain of the node's GPUs adds up to the GPU beside the NIC; network switches
 * add the sums of the nodes on the way up to a root; the result comes back the same way. Both directions work at
 * once. A NIC carries 1/k of the size in each direction.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/collective/collective.h"
#include "sim/collective/shape/trees.h"
#include "sim/machine/rails.h"

typedef struct {
  const FabGroup *group;
  FabSendGraph *sends;
  guint *order; /* local ranks: the GPU beside the NIC first, then the others in the order of their numbers */
  guint n_beside; /* rails whose chains begin at that GPU */
  guint n_rails;
  GError **error;
} RailBuild;

static gboolean
add_hop (RailBuild *build, guint node, guint from, guint to, GArray *list)
{
  const FabGroup *group = build->group;
  guint send;
  FabHop hop;

  if (!fab_hop_inside (group->cluster, fab_group_gpu (group, node, build->order[from]),
                       fab_group_gpu (group, node, build->order[to]), &hop, build->error))
    return FALSE;
  send = fab_send_graph_add (build->sends, &hop, 1.0 / build->n_rails, build->n_beside, list);
  g_array_set_size (list, 0);
  g_array_append_val (list, send);
  return TRUE;
}

static gboolean
add_chains (RailBuild *build, gboolean is_to_nic, const GPtrArray *lists)
{
  guint n = build->group->gpus_per_node;

  for (guint node = 0; node < build->group->n_nodes; node++)
    for (guint i = 0; i + 1 < n; i++) {
      guint from = is_to_nic ? n - 1 - i : i, to = is_to_nic ? from - 1 : from + 1;

      if (!add_hop (build, node, from, to, fab_send_list (lists, node)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_rail (RailBuild *build, guint nic)
{
  const FabGroup *group = build->group;
  g_autoptr (FabSwitchTree) tree = fab_switch_tree_new (group, nic, build->error);
  g_autoptr (GPtrArray) lists = fab_send_lists_new (group->n_nodes);
  double share = 1.0 / build->n_rails;
  FabSwitchPass pass = { .up = share, .down = share, .is_summed_up = TRUE, .is_copied_down = TRUE };

  return tree != NULL && add_chains (build, TRUE, lists)
      && fab_switch_tree_pass (tree, build->sends, group, build->order[0], &pass, lists, build->error)
      && add_chains (build, FALSE, lists);
}

/* Finds the GPU beside each NIC; `counts` receives the number of NICs of each GPU. */
static guint *
find_heads (const FabGroup *group, const guint *rails, guint n_rails, guint *counts)
{
  guint *heads = g_new (guint, n_rails);

  for (guint i = 0; i < n_rails; i++) {
    guint hops;

    heads[i] = fab_rails_gpu (group, rails[i], G_MAXUINT, &hops);
    counts[heads[i]]++;
  }
  return heads;
}

static gboolean
add_rails (const FabGroup *group, FabSendGraph *sends, guint *n_rails, GError **error)
{
  g_autofree guint *rails = fab_rails_list (group, n_rails);
  guint n = group->gpus_per_node;
  g_autofree guint *order = g_new (guint, n);
  g_autofree guint *counts = g_new0 (guint, n);
  g_autofree guint *heads = find_heads (group, rails, *n_rails, counts);

  for (guint i = 0; i < *n_rails; i++) {
    RailBuild build = { group, sends, order, counts[heads[i]], *n_rails, error };

    for (guint k = 0; k < n; k++)
      order[k] = (heads[i] + k) % n;
    if (!add_rail (&build, rails[i]))
      return FALSE;
  }
  return TRUE;
}

static gboolean
collnet_chain_form (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env,
                    FabCollectiveForm *form, GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, NULL, 1);
  guint n_rails;

  if (!add_rails (group, sends, &n_rails, error))
    return FALSE;
  fab_send_graph_form (sends, TRUE, form);
  form->n_channels = n_rails;
  return TRUE;
}

static gboolean
collnet_chain_schedule (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env,
                        guint n_chunks, FabSchedule *schedule, GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, schedule, n_chunks);
  guint n_rails;

  if (!add_rails (group, sends, &n_rails, error))
    return FALSE;
  return TRUE;
}

static gboolean
collnet_chain_supports (const FabGroup *group, FabOp op)
{
  guint n_rails;

  if (op != FAB_OP_ALL_REDUCE || group->n_nodes < 2 || group->cluster->uneven != NULL)
    return FALSE;
  g_autofree guint *rails = fab_rails_list (group, &n_rails);
  for (guint i = 0; i < n_rails; i++)
    if (!fab_switch_tree_is_possible (group, rails[i]))
      return FALSE;
  return n_rails > 0;
}

const FabAlgorithmOps fab_algorithm_collnet_chain = {
  .info = { .name = "collnet_chain",
            .summary = "The network's switches reduce; the GPUs of each node form a chain.",
            .doc = "docs/models/collnet_chain.md" },
  .preference = 60,
  .reduces_in = FAB_REDUCES_IN_NETWORK_SWITCH,
  .wire_reason = "switches add and copy the data on its way",
  .supports = collnet_chain_supports,
  .form = collnet_chain_form,
  .schedule = collnet_chain_schedule,
};
