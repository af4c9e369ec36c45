/* SPDX-License-Identifier: Apache-2.0 */
/* hierarchical.c - first inside each node, then between nodes, then inside each node again.
 *
 * all_reduce: the GPUs of a node reduce-scatter; each GPU all-reduces its part with the GPUs of the same number in
 * the other nodes, over its NICs; the GPUs of a node all-gather. A reduce_scatter is the first two phases, an
 * all_gather the last two. Between nodes it is a ring. Inside a node all pairs of GPUs send at once where a wire
 * joins every pair; else it is a ring in the order of the GPUs. It is a pipeline: chunks follow one another through
 * the phases.
 *
 * all_to_all: each GPU sends to every other one of its node what the GPUs of that number in all nodes shall have; then
 * it sends what it holds to the GPUs of its number. So no byte changes rails between nodes. It is no pipeline: a GPU
 * sends between nodes when it has all that the others of its node hand on. This is how a rail-only network forwards. It
 * takes 8.2 to 11.2 % longer than an all-to-all over a network that joins all rails (W. Wang et al., "Rail-only", arXiv
 * 2307.12169); the ratio of the rates of NIC and NVLink.
 *
 * With g GPUs in each of N nodes, each GPU sends per byte of size (g-1)/g inside its node and (N-1)/(N g) between
 * nodes, and twice that in an all_reduce. In an all_to_all it sends (g-1)/g and (N-1)/N.
 */
#include "models/models.h"
#include "sim/collective/shape/levels.h"
#include "sim/machine/rails.h"

/* An all-to-all hands bytes to the right rail first. */
static void
hand_on (const FabGroup *group, FabPhases *phases)
{
  guint n_nodes = group->n_nodes, g = group->gpus_per_node;

  fab_phases_next (phases);
  for (guint distance = 1; distance < g; distance++)
    for (guint node = 0; node < n_nodes; node++)
      for (guint local = 0; local < g; local++)
        fab_phases_send (phases, node * g + local, node * g + (local + distance) % g, 1.0 / g,
                         FAB_WHOLE_BUFFER);
  fab_phases_next (phases);
  for (guint distance = 1; distance < n_nodes; distance++)
    for (guint node = 0; node < n_nodes; node++)
      for (guint local = 0; local < g; local++)
        fab_phases_send (phases, node * g + local, (node + distance) % n_nodes * g + local, 1.0 / n_nodes,
                         FAB_WHOLE_BUFFER);
}

static FabPhases *
hierarchical_phases (const FabGroup *group, FabOp op)
{
  FabPhases *phases = fab_phases_new (group, op != FAB_OP_ALL_TO_ALL);
  FabLevels levels = fab_levels_of (group, phases, FAB_LEVEL_INSIDE);
  double rest = 1.0 / group->gpus_per_node;

  if (op == FAB_OP_ALL_TO_ALL) {
    hand_on (group, phases);
    return phases;
  }
  if (op != FAB_OP_ALL_GATHER) {
    fab_levels_go (&levels, FAB_LEVEL_INSIDE, FALSE, 1);
    fab_levels_go (&levels, FAB_LEVEL_BETWEEN, FALSE, rest);
  }
  if (op != FAB_OP_REDUCE_SCATTER) {
    fab_levels_go (&levels, FAB_LEVEL_BETWEEN, TRUE, rest);
    fab_levels_go (&levels, FAB_LEVEL_INSIDE, TRUE, 1);
  }
  return phases;
}

static gboolean
hierarchical_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
                   GError **error)
{
  g_autoptr (FabPhases) phases = hierarchical_phases (group, op);

  if (!fab_phases_form (phases, env, form, error))
    return FALSE;
  g_free (fab_rails_list (group, &form->n_channels));
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
      && (op == FAB_OP_ALL_REDUCE || op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER
          || op == FAB_OP_ALL_TO_ALL);
}

/* Whether a NIC reaches the same one of the next node and not the others. */
static gboolean
are_rails_apart (const FabGroup *group)
{
  FabRouter *router = group->cluster->router;
  FabVertexId nic = fab_group_nic (group, 0, 0);
  FabPath path = { 0 };

  if (group->cluster->nics_per_node < 2
      || !fab_router_append (router, nic, fab_group_nic (group, 1, 0), 0, &path))
    return FALSE;
  for (guint other = 1; other < group->cluster->nics_per_node; other++) {
    path.n = 0;
    if (fab_router_append (router, nic, fab_group_nic (group, 1, other), 0, &path))
      return FALSE;
  }
  return TRUE;
}

/* More messages than this are no longer timed one by one. */
#define MOST_MESSAGES (200 * 1000)

static gboolean
hierarchical_follows_fabric (const FabGroup *group, FabOp op)
{
  return op == FAB_OP_ALL_TO_ALL && hierarchical_supports (group, op)
      && (guint64) fab_group_n_ranks (group) * group->n_nodes <= MOST_MESSAGES && are_rails_apart (group);
}

const FabAlgorithmOps fab_algorithm_hierarchical = {
  .info = { .name = "hierarchical",
            .summary = "Reduces inside each node, then between GPUs of the same number, then inside again.",
            .doc = "docs/models/hierarchical.md" },
  .preference = 100,
  .follows_fabric = hierarchical_follows_fabric,
  .supports = hierarchical_supports,
  .form = hierarchical_form,
  .schedule = hierarchical_schedule,
};
