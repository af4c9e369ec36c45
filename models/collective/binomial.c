/* SPDX-License-Identifier: Apache-2.0 */
/* binomial.c - binomial trees with rank 0 as root that move whole buffers, as in Open MPI.
 *
 * reduce      For distances d = 1, 2, 4, ...: every rank that is an odd multiple of d sends its sum to the rank d
 *             below. A rank receives from one child at a time.
 * gather      The same, with the parts of all ranks in the sender's subtree. scatter is a gather backwards.
 * broadcast A rank that has the buffer sends it to all its children at once; these transfers share its NIC. Rank r
 * has
 *             the children r + d for every power of two d > r.
 * all_reduce A reduce, then a broadcast.
 *
 * With n = 2^k ranks and the time T of one message: reduce takes k T, broadcast (k + ... + 1) T = k(k+1)/2 T.
 *
 * Source: Open MPI coll_base_topo.c (in-order binomial trees for reduce, bmtree for broadcast), coll_base_bcast.c.
 */
#include "models/models.h"
#include "sim/collective/shape/phases.h"

typedef struct {
  FabPhases *phases;
  guint n_ranks;
  gboolean has_parts; /* gather and scatter: each rank has its own part of the size */
} Tree;

static double
weight_of (const Tree *self, guint rank, guint distance)
{
  return self->has_parts ? (double) MIN (distance, self->n_ranks - rank) / self->n_ranks : 1;
}

static void
add_step (const Tree *self, guint distance, gboolean is_up)
{
  fab_phases_next (self->phases);
  for (guint rank = distance; rank < self->n_ranks; rank += 2 * distance)
    fab_phases_send_in_turn (self->phases, is_up ? rank : rank - distance, is_up ? rank - distance : rank,
                             weight_of (self, rank, distance));
}

/* A rank sends to all its children. */
static void
hand_out (const Tree *self, guint rank)
{
  guint distance = 1;

  while (distance <= rank)
    distance *= 2;
  for (; rank + distance < self->n_ranks; distance *= 2)
    fab_phases_send (self->phases, rank, rank + distance, 1, (FabParts){ 0, 1, TRUE });
}

/* The depth of a rank in the tree is the number of bits that are set in its number. */
static guint
depth_of (guint rank)
{
  guint depth = 0;

  for (; rank > 0; rank &= rank - 1)
    depth++;
  return depth;
}

static void
broadcast (const Tree *self, guint n_steps)
{
  for (guint depth = 0; depth < n_steps; depth++) {
    fab_phases_next (self->phases);
    for (guint rank = 0; rank < self->n_ranks; rank++)
      if (depth_of (rank) == depth)
        hand_out (self, rank);
  }
}

static FabPhases *
binomial_phases (const FabGroup *group, FabOp op)
{
  guint n = fab_group_n_ranks (group), n_steps = g_bit_storage (n - 1);
  Tree self = { fab_phases_new (group, FALSE), n, op == FAB_OP_GATHER || op == FAB_OP_SCATTER };

  for (guint step = 0; op != FAB_OP_BROADCAST && op != FAB_OP_SCATTER && step < n_steps; step++)
    add_step (&self, 1U << step, TRUE);
  for (guint step = n_steps; op == FAB_OP_SCATTER && step-- > 0;)
    add_step (&self, 1U << step, FALSE);
  if (op == FAB_OP_BROADCAST || op == FAB_OP_ALL_REDUCE)
    broadcast (&self, n_steps);
  return self.phases;
}

static gboolean
binomial_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
               GError **error)
{
  g_autoptr (FabPhases) phases = binomial_phases (group, op);

  return fab_phases_form (phases, env, form, error);
}

static gboolean
binomial_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                   FabSchedule *schedule, GError **error)
{
  g_autoptr (FabPhases) phases = binomial_phases (group, op);

  return fab_phases_schedule (phases, env, n_chunks, schedule, error);
}

static gboolean
binomial_supports (G_GNUC_UNUSED const FabGroup *group, FabOp op)
{
  return op == FAB_OP_ALL_REDUCE || op == FAB_OP_BROADCAST || op == FAB_OP_REDUCE || op == FAB_OP_GATHER
      || op == FAB_OP_SCATTER;
}

const FabAlgorithmOps fab_algorithm_binomial = {
  .info = { .name = "binomial",
            .summary = "Binomial trees from rank 0 that pass on whole buffers, as in Open MPI.",
            .doc = "docs/models/binomial.md" },
  .preference = 110,
  .wire_reason = "each rank sends the whole buffer to each of its children",
  .supports = binomial_supports,
  .form = binomial_form,
  .schedule = binomial_schedule,
};
