/* SPDX-License-Identifier: Apache-2.0 */
/* pat.c - parallel aggregated trees: all_gather and reduce_scatter in log2 (n) steps, with one GPU per node.
 *
 * In an all_gather every rank's part spreads over a binomial tree of its own; the trees of all ranks have the same
 * shape, turned round by their ranks' numbers. In the first step a part goes to the rank n/2 away, in the second the
 * two ranks that have it send it n/4 on, and so on. Whatever a rank sends to one other rank in a step goes in one
 * message: in the step of distance d these are as many parts as there are odd multiples of d below n. A
 * reduce_scatter is the same backwards. In total each rank sends (n-1)/n of the size, as in a ring, in fewer steps,
 * but over longer distances.
 */
#include "models/models.h"
#include "sim/collective/collective.h"
#include "sim/collective/shape/send_graph.h"
#include "sim/machine/nic_paths.h"

/* Adds one message, spread over all NICs of the two ranks. */
static gboolean
add_send (const FabNicPaths *ways, guint from, guint to, double weight, const GPtrArray *arrived,
          FabSendGraph *sends, GArray *sent, GError **error)
{
  g_autoptr (GArray) hops = fab_nic_paths_hops ();

  if (!fab_nic_paths_between (ways, from, to, hops, error))
    return FALSE;
  for (guint i = 0; i < hops->len; i++) {
    FabHop *hop = &g_array_index (hops, FabHop, i);
    guint send = fab_send_graph_add (sends, hop, weight / hops->len, 1, fab_send_list (arrived, from));

    g_array_append_val (sent, send);
  }
  return TRUE;
}

/* Adds the step of distance d, in which every rank sends. */
static gboolean
add_step (const FabNicPaths *ways, FabOp op, guint distance, const GPtrArray *arrived, FabSendGraph *sends,
          GError **error)
{
  guint n = fab_group_n_ranks (ways->group), n_parts = ((n - 1) / distance + 1) / 2;
  g_autoptr (GPtrArray) sent = fab_send_lists_new (n);

  for (guint rank = 0; rank < n; rank++) {
    guint to = op == FAB_OP_ALL_GATHER ? (rank + distance) % n : (rank + n - distance) % n;

    if (!add_send (ways, rank, to, (double) n_parts / n, arrived, sends, fab_send_list (sent, to), error))
      return FALSE;
  }
  for (guint rank = 0; rank < n; rank++) {
    const GArray *got = fab_send_list (sent, rank);

    g_array_append_vals (fab_send_list (arrived, rank), got->data, got->len);
  }
  return TRUE;
}

/* An all_gather begins with the longest distance, so that the many parts of its last steps go to near ranks. */
static gboolean
add_steps (const FabGroup *group, FabOp op, FabSendGraph *sends, GError **error)
{
  guint n = fab_group_n_ranks (group), n_steps = g_bit_storage (n - 1);
  g_autoptr (GPtrArray) arrived = fab_send_lists_new (n);
  g_autoptr (FabNicPaths) ways = fab_nic_paths_new (group);

  for (guint step = 0; step < n_steps; step++) {
    guint distance = 1u << (op == FAB_OP_ALL_GATHER ? n_steps - 1 - step : step);

    if (!add_step (ways, op, distance, arrived, sends, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
pat_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
          GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, NULL, 1);

  if (!add_steps (group, op, sends, error))
    return FALSE;
  fab_send_graph_form (sends, FALSE, form);
  form->n_channels = 1;
  return TRUE;
}

static gboolean
pat_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, G_GNUC_UNUSED guint n_chunks,
              FabSchedule *schedule, GError **error)
{
  g_autoptr (FabSendGraph) sends = fab_send_graph_new (group, env, schedule, 1);

  if (!add_steps (group, op, sends, error))
    return FALSE;
  return TRUE;
}

static gboolean
pat_supports (const FabGroup *group, FabOp op)
{
  return (op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER) && group->gpus_per_node == 1
      && group->n_nodes > 1;
}

const FabAlgorithmOps fab_algorithm_pat = {
  .info = { .name = "pat",
            .summary = "Parallel aggregated trees: log2 (n) steps, one GPU per node.",
            .doc = "docs/models/pat.md" },
  .preference = 70,
  .supports = pat_supports,
  .form = pat_form,
  .schedule = pat_schedule,
};
