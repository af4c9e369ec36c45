/* SPDX-License-Identifier: Apache-2.0 */
/* nvls_tree.c - NVLink SHARP inside each node, and two binary trees between the nodes for each GPU's part.
 *
 * The h GPUs of a node that own a NIC, its nearest GPU each, are heads (NVIDIA/nccl v2.30.7, src/graph/search.cc:
 * ncclTopoSearchRecNet). Head i loads the node's sum of part i through the switch, reduces it up two trees over the
 * nodes, broadcasts the result down again, and stores it through the switch. Where a head has several NICs, each
 * carries two trees and an equal share of the part. The NICs of a head carry twice its part (once with two nodes), as
 * those of the tree algorithm do; the heads' own links carry 1 + 1/h per byte of size, where those of a tree carry 2.
 */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/collective/plan/form_recipe.h"
#include "sim/collective/shape/multicast.h"
#include "sim/collective/shape/trees.h"
#include "sim/machine/nic_paths.h"
#include "sim/machine/rails.h"

typedef struct {
  const FabGroup *group;
  FabSendGraph *sends;
  guint local, nic; /* the head of each node whose part it is, and its NIC */
  double weight;    /* bytes per byte of size that one tree carries */
  GError **error;
} PartBuild;

static gboolean
add_between (PartBuild *build, guint from, guint to, guint n_children, const GArray *after, guint *send)
{
  const FabGroup *group = build->group;
  FabHop hop;

  if (!fab_hop_over (group->cluster, fab_group_gpu (group, from, build->local),
                     fab_group_nic (group, from, build->nic), fab_group_nic (group, to, build->nic),
                     fab_group_gpu (group, to, build->local), build->local, &hop, build->error))
    return FALSE;
  *send = fab_send_graph_add (build->sends, &hop, build->weight, n_children, after);
  return TRUE;
}

/* Adds one tree. List i of `ready` says for which sends the part of node i waits; on return it has the sends that
 * bring node i the sum over all nodes. */
static gboolean
add_tree (PartBuild *build, guint which, const GPtrArray *ready)
{
  g_autoptr (FabTree) tree = fab_tree_new (build->group->n_nodes, which, FAB_TREE_ROOTS_APART);
  guint send;

  for (guint i = tree->n - 1; i > 0; i--) {
    guint node = tree->order[i], parent = tree->parents[node];

    if (!add_between (build, node, parent, tree->n_children[parent], fab_send_list (ready, node), &send))
      return FALSE;
    g_array_append_vals (fab_send_list (ready, parent), &send, 1);
  }
  for (guint i = 1; i < tree->n; i++) {
    guint node = tree->order[i], parent = tree->parents[node];

    if (!add_between (build, parent, node, tree->n_children[parent], fab_send_list (ready, parent), &send))
      return FALSE;
    g_array_set_size (fab_send_list (ready, node), 0);
    g_array_append_vals (fab_send_list (ready, node), &send, 1);
  }
  return TRUE;
}

/* Adds one tree over one NIC. It starts with the sums that the GPU has loaded (`sums`, for each node a list for each
 * GPU). Appends to list i of `arrived` the sends for which the store in node i has to wait. */
static gboolean
add_share (PartBuild *build, guint which, const GPtrArray *sums, const GPtrArray *arrived)
{
  guint n = build->group->n_nodes;
  g_autoptr (GPtrArray) ready = fab_send_lists_new (n);

  for (guint node = 0; node < n; node++) {
    const GArray *sum = fab_send_list (g_ptr_array_index (sums, node), build->local);

    g_array_append_vals (fab_send_list (ready, node), sum->data, sum->len);
  }
  if (!add_tree (build, which, ready))
    return FALSE;
  for (guint node = 0; node < n; node++) {
    const GArray *last = fab_send_list (ready, node);

    g_array_append_vals (fab_send_list (arrived, node), last->data, last->len);
  }
  return TRUE;
}

/* Adds all trees of one of `n_heads` parts. `sums` has for each node a list for each GPU: at first the sends that load
 * its sum, on return the sends for which its store has to wait. */
static gboolean
add_part (PartBuild *build, const GArray *nics, guint n_heads, const GPtrArray *sums)
{
  g_autoptr (GPtrArray) arrived = fab_send_lists_new (build->group->n_nodes);

  build->weight = 0.5 / n_heads / nics->len;
  for (guint i = 0; i < 2 * nics->len; i++) {
    build->nic = g_array_index (nics, guint, i / 2);
    if (!add_share (build, i % 2, sums, arrived))
      return FALSE;
  }
  for (guint node = 0; node < build->group->n_nodes; node++) {
    GArray *ready = fab_send_list (g_ptr_array_index (sums, node), build->local);
    const GArray *last = fab_send_list (arrived, node);

    g_array_set_size (ready, 0);
    g_array_append_vals (ready, last->data, last->len);
  }
  return TRUE;
}

static void
free_lists (gpointer lists)
{
  g_ptr_array_unref (lists);
}

/* The local ranks that own a NIC. */
static GArray *
find_heads (const FabGroup *group)
{
  GArray *heads = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree gboolean *owns_nic = g_new0 (gboolean, group->gpus_per_node);
  guint n_rails, hops;
  g_autofree guint *rails = fab_rails_list (group, &n_rails);

  for (guint i = 0; i < n_rails; i++)
    owns_nic[fab_rails_gpu (group, rails[i], G_MAXUINT, &hops)] = TRUE;
  for (guint local = 0; local < group->gpus_per_node; local++)
    if (owns_nic[local])
      g_array_append_val (heads, local);
  return heads;
}

static gboolean
add_all (const FabGroup *group, FabSendGraph *sends, guint *n_channels, GError **error)
{
  g_autoptr (FabNicPaths) ways = fab_nic_paths_new (group);
  g_autoptr (GArray) heads = find_heads (group);
  PartBuild build = { .group = group, .sends = sends, .error = error };
  g_autoptr (GPtrArray) sums = g_ptr_array_new_with_free_func (free_lists);

  for (guint node = 0; node < group->n_nodes; node++) {
    g_ptr_array_add (sums, fab_send_lists_new (group->gpus_per_node));
    if (!fab_multicast_load (sends, group, node, heads, g_ptr_array_index (sums, node), error))
      return FALSE;
  }
  *n_channels = ways->n_nics;
  for (guint i = 0; i < heads->len; i++) {
    build.local = g_array_index (heads, guint, i);
    if (!add_part (&build, fab_nic_paths_nics (ways, 0, build.local), heads->len, sums))
      return FALSE;
  }
  for (guint node = 0; node < group->n_nodes; node++)
    if (!fab_multicast_store (sends, group, node, heads, g_ptr_array_index (sums, node), error))
      return FALSE;
  return TRUE;
}

static gboolean
nvls_tree_form (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env,
                FabCollectiveForm *form, GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, NULL, 1);
  guint n_channels;

  if (!add_all (group, sends, &n_channels, error))
    return FALSE;
  fab_send_graph_form (sends, TRUE, form);
  if (env->recipe != NULL)
    fab_form_recipe_close (env->recipe, TRUE);
  form->n_channels = n_channels;
  return TRUE;
}

static gboolean
nvls_tree_schedule (const FabGroup *group, G_GNUC_UNUSED FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                    FabSchedule *schedule, GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, schedule, n_chunks);
  guint n_channels;

  if (!add_all (group, sends, &n_channels, error))
    return FALSE;
  return TRUE;
}

static gboolean
nvls_tree_supports (const FabGroup *group, FabOp op)
{
  FabVertexId centre;

  return op == FAB_OP_ALL_REDUCE && group->n_nodes > 1 && group->cluster->uneven == NULL
      && group->gpus_per_node > 1 && group->cluster->nics_per_node > 0
      && fab_multicast_switch (group, 0, &centre);
}

const FabAlgorithmOps fab_algorithm_nvls_tree = {
  .info = { .name = "nvls_tree",
            .summary = "NVLink SHARP inside each node, two binary trees per NIC between nodes.",
            .doc = "docs/models/nvls_tree.md" },
  .preference = 40,
  .reduces_in = FAB_REDUCES_IN_NODE_SWITCH,
  .wire_reason = "switches add and copy the data on its way",
  .supports = nvls_tree_supports,
  .form = nvls_tree_form,
  .schedule = nvls_tree_schedule,
};
