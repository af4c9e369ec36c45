/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - rings over all ranks, built as NCCL builds them.
 *
 * A ring visits every GPU of a node over the links inside the node, and then leaves for the next node through a NIC.
 * There are as many rings as NICs in a node (rails), and each carries an equal part of the bytes. A ring enters a
 * node at the GPU nearest to its NIC. Where a second GPU is beside the same NIC, the ring leaves from that GPU, on
 * the same rail. Where each NIC has one GPU, the ring leaves by the next NIC, and on odd nodes the two NICs change
 * roles; then no hop between nodes changes rails, except the last one of an odd number of nodes (NCCL
 * src/graph/connect.cc, "Alternate rings to avoid crossing rails"). A NIC that is far from every GPU of the group
 * carries no ring. In one node whose GPUs are behind switches there is one ring; where GPUs are wired to each other
 * there are as many rings as the wires allow (ring_search.h).
 *
 * Bytes that every link of a ring carries per byte of size, with n ranks, and steps that follow one another
 * (Patarasuk and Yuan, JPDC 69(2), 2009):
 *   all_reduce                   2(n-1)/n, in 2(n-1) steps, 2(nodes-1) of them between nodes
 *   all_gather, reduce_scatter   (n-1)/n, in n-1 steps, nodes-1 of them between nodes
 *   broadcast, reduce            1, in n-1 steps, nodes-1 of them between nodes; a chain from rank 0, or to rank 0
 */
#include "models/models.h"
#include "sim/collective/plan/form_recipe.h"
#include "sim/collective/shape/form_hops.h"
#include "sim/collective/shape/rings.h"
#include "sim/machine/rank_symmetry.h"

static gboolean
is_chain (FabOp op)
{
  return op == FAB_OP_BROADCAST || op == FAB_OP_REDUCE;
}

/* A broadcast goes round the ring from rank 0 and ends at the rank before it. A reduce begins at the rank after
 * rank 0 and ends at rank 0. Neither uses the hop that would close the ring. */
static guint
first_stop (const FabRings *rings, guint ring, FabOp op)
{
  return is_chain (op) ? fab_rings_root (rings, ring) + (op == FAB_OP_REDUCE ? 1 : 0) : 0;
}

/* The hops of all rings, each ring from its first stop on. */
typedef struct {
  FabOp op;
  guint n_ranks, n_rings, n_channels, per_ring;
  GArray *all; /* FabHop [n_rings * per_ring] */
} Hops;

static void
hops_clear (Hops *self)
{
  g_clear_pointer (&self->all, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Hops, hops_clear)

static FabHop *
hop_at (const Hops *self, guint ring, guint index)
{
  return &g_array_index (self->all, FabHop, ring * self->per_ring + index);
}

static guint
count_per_ring (FabOp op, guint n_ranks)
{
  return is_chain (op) ? n_ranks - 1 : n_ranks;
}

static gboolean
find_hops (const FabGroup *group, FabOp op, Hops *self, GError **error)
{
  guint n = fab_group_n_ranks (group);
  g_auto (FabRings) rings = { 0 };

  if (!fab_rings_find (group, &rings, error))
    return FALSE;
  *self = (Hops){ op,
                  n,
                  rings.n_rings,
                  rings.n_channels,
                  count_per_ring (op, n),
                  g_array_new (FALSE, FALSE, sizeof (FabHop)) };
  g_array_set_clear_func (self->all, (GDestroyNotify) fab_hop_clear);
  for (guint ring = 0; ring < self->n_rings; ring++)
    for (guint i = 0; i < self->per_ring; i++) {
      FabHop hop;

      if (!fab_rings_hop (&rings, ring, first_stop (&rings, ring, op) + i, &hop, error))
        return FALSE;
      g_array_append_val (self->all, hop);
    }
  return TRUE;
}

/* --- form --- */

/* A form that is being made hop by hop and node by node, because all rings together have ranks x NICs hops. */
typedef struct {
  const FabRings *rings;
  double weight, net_stretch;
  FabFootprintBuilder *builder;
  FabCollectiveForm *form;
  FabFormRecipe *recipe;  /* NULL: nobody asks */
  FabSlowestHops slowest; /* one hop over PCIe makes all its steps those of PCIe */
  FabRankSymmetry *alike; /* nodes that are symmetric to the first two, one even and one odd; NULL: none */
  /* [rings * ranks of these two nodes] hops that have been counted for all symmetric nodes. */
  gboolean *is_told;
} Growth;

/* Whether the hop from a stop stays inside a node. Even nodes have one order of GPUs, odd nodes another. */
static gboolean
is_told (const Growth *self, guint ring, guint stop, gboolean **told)
{
  guint n = self->rings->group->gpus_per_node, node = stop / n; /* of an even group: no other is folded */

  if (stop % n + 1 == n || !fab_rank_symmetry_has (self->alike, node))
    return FALSE;
  *told = &self->is_told[(ring * 2 + node % 2) * n + stop % n];
  return node >= 2 && **told;
}

static gboolean
add_hop (Growth *self, guint ring, guint stop, GError **error)
{
  gboolean *told = NULL;
  FabHop hop;

  if (is_told (self, ring, stop, &told))
    return TRUE;
  if (!fab_rings_hop (self->rings, ring, stop, &hop, error))
    return FALSE;
  fab_slowest_hops_note_step (&self->slowest, &hop, self->form);
  if (self->recipe != NULL)
    fab_form_recipe_hop (self->recipe, &hop);
  if (told != NULL && fab_rank_symmetry_takes (&hop)) {
    *told = TRUE;
    fab_rank_symmetry_use (self->alike, stop / self->rings->group->gpus_per_node, &hop, self->weight,
                           self->net_stretch);
  } else {
    fab_hop_use (&hop, self->weight, self->net_stretch, self->builder);
  }
  fab_hop_clear (&hop);
  return TRUE;
}

static gboolean
add_hops (const FabRings *rings, FabOp op, const FabAlgorithmEnv *env, FabFootprintBuilder *builder,
          FabCollectiveForm *form, GError **error)
{
  const FabGroup *group = rings->group;
  guint n_ranks = fab_group_n_ranks (group), n_rings = rings->n_rings;
  g_autoptr (FabRankSymmetry) alike = is_chain (op) ? NULL : fab_rank_symmetry_new (group, 2);
  g_autofree gboolean *told = g_new0 (gboolean, 2 * group->gpus_per_node * n_rings);
  Growth growth = { .rings = rings,
                    .weight = fab_op_bus_factor (op, n_ranks) / n_rings,
                    .net_stretch = env->net_stretch,
                    .builder = builder,
                    .form = form,
                    .recipe = env->recipe,
                    .alike = alike,
                    .is_told = told };

  for (guint i = 0; i < count_per_ring (op, n_ranks); i++)
    for (guint ring = 0; ring < n_rings; ring++)
      if (!add_hop (&growth, ring, first_stop (rings, ring, op) + i, error))
        return FALSE;
  fab_rank_symmetry_add (alike, builder);
  return TRUE;
}

/* Time in seconds per byte of size on the slowest link of a hop, with all bytes that the footprint puts on it. */
static double
hop_s_per_byte (const FabGraph *graph, const FabFootprint *footprint, const FabHop *hop)
{
  double slowest = 0;

  for (guint s = 0; s < hop->shares->len; s++) {
    FabLinkId link = g_array_index (hop->shares, FabShare, s).link;
    double rate = (double) fab_graph_link (graph, link)->rate_bytes_per_s;

    slowest = MAX (slowest, footprint->line_weights[fab_footprint_find (footprint, link)] / rate);
  }
  return slowest;
}

/* The fill of a chain: a chunk passes all hops one after another, on all rings at once, and the rate of the whole
 * contains the time of one hop only. */
static double
find_fill (const Hops *hops, const FabGroup *group, const FabAlgorithmEnv *env, FabFootprintBuilder *builder,
           double rate_bytes_per_s)
{
  g_autofree double *sums = g_new0 (double, hops->n_rings);
  double longest = 0;

  for (guint i = 0; i < hops->per_ring; i++) {
    for (guint ring = 0; ring < hops->n_rings; ring++)
      fab_hop_use (hop_at (hops, ring, i), 1.0 / hops->n_rings, env->net_stretch, builder);
    g_autoptr (FabFootprint) front = fab_footprint_builder_finish (builder);
    for (guint ring = 0; ring < hops->n_rings; ring++)
      sums[ring] += hop_s_per_byte (group->cluster->graph, front, hop_at (hops, ring, i));
  }
  for (guint ring = 0; ring < hops->n_rings; ring++)
    longest = MAX (longest, sums[ring]);
  return MAX (longest - 1 / rate_bytes_per_s, 0);
}

static void
count_steps (const FabGroup *group, FabOp op, FabCollectiveForm *form)
{
  guint rounds = op == FAB_OP_ALL_REDUCE ? 2 : 1;

  form->n_inter_steps = rounds * (group->n_nodes - 1);
  form->n_intra_steps = rounds * (fab_group_n_ranks (group) - 1) - form->n_inter_steps;
}

static gboolean
ring_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
           GError **error)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (group->cluster->graph);
  g_auto (FabRings) rings = { 0 };
  g_auto (Hops) hops = { 0 };

  if (!fab_rings_find (group, &rings, error))
    return FALSE;
  *form = (FabCollectiveForm){ .n_channels = rings.n_channels };
  if (!add_hops (&rings, op, env, builder, form, error))
    return FALSE;
  count_steps (group, op, form);
  form->footprint = fab_footprint_builder_finish (builder);
  if (!is_chain (op)) {
    if (env->recipe != NULL)
      fab_form_recipe_close (env->recipe, FALSE);
    return TRUE;
  }
  if (!find_hops (group, op, &hops, error))
    return FALSE;
  form->fill_s_per_byte = find_fill (&hops, group, env, builder, form->footprint->rate_bytes_per_s);
  return TRUE;
}

/* An all_reduce is a reduce_scatter and an all_gather: the same hops, with twice as many bytes on each. */
static gboolean
ring_derive (const FabGroup *group, FabOp op, FabOp known_op, const FabCollectiveForm *known,
             FabCollectiveForm *form)
{
  if (op > FAB_OP_REDUCE_SCATTER || known_op > FAB_OP_REDUCE_SCATTER)
    return FALSE;
  *form = *known;
  count_steps (group, op, form);
  form->footprint = fab_footprint_doubled (known->footprint,
                                           (op == FAB_OP_ALL_REDUCE) - (known_op == FAB_OP_ALL_REDUCE));
  return TRUE;
}

/* --- messages --- */

/* In a ring every rank sends in each step what it received in the step before. In a chain each chunk goes from
 * rank to rank, with the next chunk behind it. */
static void
add_ring (const Hops *hops, guint ring, const FabAlgorithmEnv *env, guint n_chunks, FabSchedule *schedule)
{
  gboolean is_round = !is_chain (hops->op);
  guint n = hops->per_ring, first = fab_schedule_n_lanes (schedule);
  guint n_messages = is_round ? (hops->op == FAB_OP_ALL_REDUCE ? 2 : 1) * (n - 1) : n_chunks;
  double weight = 1.0 / hops->n_rings / (is_round ? n : n_chunks);

  for (guint i = 0; i < n; i++)
    fab_schedule_lane (schedule, hop_at (hops, ring, i), env->net_stretch, weight, n_messages);
  for (guint i = is_round ? 0 : 1; i < n; i++)
    fab_schedule_depend (schedule, first + i, first + (i + n - 1) % n, is_round ? 1 : 0);
}

static gboolean
ring_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
               FabSchedule *schedule, GError **error)
{
  g_auto (Hops) hops = { 0 };

  if (!find_hops (group, op, &hops, error))
    return FALSE;
  for (guint ring = 0; ring < hops.n_rings; ring++)
    add_ring (&hops, ring, env, n_chunks, schedule);
  return TRUE;
}

static gboolean
ring_supports (G_GNUC_UNUSED const FabGroup *group, FabOp op)
{
  return op <= FAB_OP_REDUCE;
}

const FabAlgorithmOps fab_algorithm_ring = {
  .info = { .name = "ring",
            .summary = "Rings through all GPUs of each node; one NIC per ring carries data between nodes.",
            .doc = "docs/models/ring.md" },
  .preference = 10,
  .supports = ring_supports,
  .form = ring_form,
  .schedule = ring_schedule,
  .derive = ring_derive,
};
