/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchical.c - first inside each node, then between nodes, then inside each node again.
 *
 * all_reduce: the GPUs of a node reduce-scatter; each GPU all-reduces its part with the GPUs of the same number in
 * the other nodes, over its NICs; the GPUs of a node all-gather. A reduce_scatter is the first two phases, an
 * all_gather the last two. Between nodes it is a ring. Inside a node all pairs of GPUs send at once where a wire
 * joins every pair; else it is a ring in the order of the GPUs. It is a pipeline: chunks follow one another through
 * the phases.
 *
 * With g GPUs in each of N nodes, each GPU sends per byte of size (g-1)/g inside its node and (N-1)/(N g) between
 * nodes, and twice that in an all_reduce.
 */
#include "models/models.h"
#include "sim/collective/phases.h"
#include "sim/machine/nic_paths.h"

typedef struct {
  const FabGroup *group;
  FabPhases *phases;
  gboolean is_mesh;
} Hierarchy;

static guint
rank_at (const Hierarchy *self, guint node, guint local)
{
  return node * self->group->gpus_per_node + local;
}

static gboolean
has_wire (const FabGroup *group, guint from, guint to)
{
  const FabGraph *graph = group->cluster->graph;
  FabLinkId first;
  guint n_links = fab_graph_out_links (graph, fab_group_gpu (group, 0, from), &first);

  for (FabLinkId link = first; link < first + n_links; link++)
    if (fab_graph_link (graph, link)->dst == fab_group_gpu (group, 0, to))
      return TRUE;
  return FALSE;
}

static gboolean
is_full_mesh (const FabGroup *group)
{
  for (guint from = 0; from < group->gpus_per_node; from++)
    for (guint to = 0; to < group->gpus_per_node; to++)
      if (from != to && !has_wire (group, from, to))
        return FALSE;
  return TRUE;
}

/* In every node each GPU sends to the GPU whose number is larger by `distance`, counted round the node. */
static void
send_inside (Hierarchy *self, guint distance, double weight)
{
  guint g = self->group->gpus_per_node;

  for (guint node = 0; node < self->group->n_nodes; node++)
    for (guint local = 0; local < g; local++)
      fab_phases_send (self->phases, rank_at (self, node, local),
                       rank_at (self, node, (local + distance) % g), weight);
}

/* The reduce-scatter or the all-gather inside each node; both send the same bytes. */
static void
go_inside (Hierarchy *self)
{
  guint g = self->group->gpus_per_node;

  for (guint step = 1; step < g; step++) {
    if (!self->is_mesh || step == 1)
      fab_phases_next (self->phases);
    send_inside (self, self->is_mesh ? step : 1, 1.0 / g);
  }
}

static void
go_between (Hierarchy *self, guint rounds)
{
  guint n_nodes = self->group->n_nodes, g = self->group->gpus_per_node;

  for (guint step = 0; step < rounds * (n_nodes - 1); step++) {
    fab_phases_next (self->phases);
    for (guint node = 0; node < n_nodes; node++)
      for (guint local = 0; local < g; local++)
        fab_phases_send (self->phases, rank_at (self, node, local),
                         rank_at (self, (node + 1) % n_nodes, local), 1.0 / g / n_nodes);
  }
}

static FabPhases *
hierarchical_phases (const FabGroup *group, FabOp op)
{
  Hierarchy self = { group, fab_phases_new (group, TRUE), is_full_mesh (group) };

  if (op != FAB_OP_ALL_GATHER)
    go_inside (&self);
  go_between (&self, op == FAB_OP_ALL_REDUCE ? 2 : 1);
  if (op != FAB_OP_REDUCE_SCATTER)
    go_inside (&self);
  return self.phases;
}

static gboolean
hierarchical_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
                   GError **error)
{
  g_autoptr (FabPhases) phases = hierarchical_phases (group, op);

  if (!fab_phases_form (phases, env, form, error))
    return FALSE;
  g_autofree guint *rails = fab_rails_list (group, &form->n_channels);
  return TRUE;
}

static gboolean
hierarchical_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                       FabSchedule *schedule, GError **error)
{
  g_autoptr (FabPhases) phases = hierarchical_phases (group, op);

  return fab_phases_schedule (phases, env, n_chunks, schedule, error);
}

static gboolean
hierarchical_supports (const FabGroup *group, FabOp op)
{
  return group->n_nodes > 1 && group->cluster->uneven == NULL && group->gpus_per_node > 1
      && (op == FAB_OP_ALL_REDUCE || op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER);
}

const FabAlgorithmOps fab_algorithm_hierarchical = {
  .info = { .name = "hierarchical",
            .summary = "Inside the node, between GPUs of the same number, inside the node again.",
            .doc = "docs/models/hierarchical.md" },
  .preference = 100,
  .supports = hierarchical_supports,
  .form = hierarchical_form,
  .schedule = hierarchical_schedule,
};
