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
#include "sim/collective/shape/phases.h"
#include "sim/machine/rails.h"

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

/* The buffer is cut into as many parts as there are ranks. Those of a GPU's number, one for each node, are what the
 * GPUs of that number reduce between nodes. */
static FabParts
parts_of (const Hierarchy *self, guint local, gboolean replaces)
{
  return (FabParts){ local * self->group->n_nodes, self->group->n_nodes, replaces };
}

/* In every node each GPU sends to the one whose number is larger by `distance`, counted round the node: the parts of
 * the GPU whose number is smaller by `back`. */
static void
send_inside (Hierarchy *self, guint distance, guint back, gboolean replaces)
{
  guint g = self->group->gpus_per_node;

  for (guint node = 0; node < self->group->n_nodes; node++)
    for (guint local = 0; local < g; local++)
      fab_phases_send (self->phases, rank_at (self, node, local),
                       rank_at (self, node, (local + distance) % g), 1.0 / g,
                       parts_of (self, (local + g - back) % g, replaces));
}

/* The reduce-scatter inside each node, after which each GPU has the sums of its parts. On a mesh each GPU sends to
 * another one the parts of that one. */
static void
reduce_inside (Hierarchy *self)
{
  guint g = self->group->gpus_per_node;

  for (guint step = 1; step < g; step++) {
    if (!self->is_mesh || step == 1)
      fab_phases_next (self->phases);
    send_inside (self, self->is_mesh ? step : 1, self->is_mesh ? g - step : step, FALSE);
  }
}

/* The all-gather inside each node. On a mesh each GPU sends its own parts. */
static void
gather_inside (Hierarchy *self)
{
  guint g = self->group->gpus_per_node;

  for (guint step = 1; step < g; step++) {
    if (!self->is_mesh || step == 1)
      fab_phases_next (self->phases);
    send_inside (self, self->is_mesh ? step : 1, self->is_mesh ? 0 : step - 1, TRUE);
  }
}

/* A ring over the nodes: sums end at the node of their number, or results begin there. */
static void
go_between (Hierarchy *self, gboolean replaces)
{
  guint n_nodes = self->group->n_nodes, g = self->group->gpus_per_node;

  for (guint step = 1; step < n_nodes; step++) {
    guint back = replaces ? step - 1 : step;

    fab_phases_next (self->phases);
    for (guint node = 0; node < n_nodes; node++)
      for (guint local = 0; local < g; local++) {
        FabParts part = { local * n_nodes + (node + n_nodes - back) % n_nodes, 1, replaces };

        fab_phases_send (self->phases, rank_at (self, node, local),
                         rank_at (self, (node + 1) % n_nodes, local), 1.0 / g / n_nodes, part);
      }
  }
}

/* An all-to-all hands bytes to the right rail first. */
static void
hand_on (Hierarchy *self)
{
  guint n_nodes = self->group->n_nodes, g = self->group->gpus_per_node;

  fab_phases_next (self->phases);
  for (guint distance = 1; distance < g; distance++)
    for (guint node = 0; node < n_nodes; node++)
      for (guint local = 0; local < g; local++)
        fab_phases_send (self->phases, rank_at (self, node, local),
                         rank_at (self, node, (local + distance) % g), 1.0 / g, FAB_WHOLE_BUFFER);
  fab_phases_next (self->phases);
  for (guint distance = 1; distance < n_nodes; distance++)
    for (guint node = 0; node < n_nodes; node++)
      for (guint local = 0; local < g; local++)
        fab_phases_send (self->phases, rank_at (self, node, local),
                         rank_at (self, (node + distance) % n_nodes, local), 1.0 / n_nodes, FAB_WHOLE_BUFFER);
}

static FabPhases *
hierarchical_phases (const FabGroup *group, FabOp op)
{
  Hierarchy self = { group, fab_phases_new (group, op != FAB_OP_ALL_TO_ALL), is_full_mesh (group) };

  if (op == FAB_OP_ALL_TO_ALL) {
    hand_on (&self);
    return self.phases;
  }
  if (op != FAB_OP_ALL_GATHER) {
    reduce_inside (&self);
    go_between (&self, FALSE);
  }
  if (op != FAB_OP_REDUCE_SCATTER) {
    go_between (&self, TRUE);
    gather_inside (&self);
  }
  return self.phases;
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
