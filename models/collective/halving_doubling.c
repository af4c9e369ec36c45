/* SPDX-License-Identifier: Apache-2.0 */
/* halving_doubling.c - recursive halving, recursive doubling, and both together (Rabenseifner's all-reduce).
 *
 *   reduce_scatter   for distances d = 1, 2, 4, ...: each rank exchanges half of what it still has to reduce with the
 *                    rank at distance d, so that the largest part goes to the nearest rank
 *   all_gather       the same backwards
 *   all_reduce       a reduce_scatter, then an all_gather
 *
 * A reduce_scatter and an all_gather take log2 n steps each. In all of its steps a rank sends (n-1)/n of the size.
 *
 * Where n is no power of two, p is the largest power of two below n, and the first n - p pairs of neighbours act as
 * one rank each. The lower rank of a pair hands its data to the upper one before, and receives its result afterwards.
 */
#include "models/models.h"
#include "sim/collective/shape/phases.h"

typedef struct {
  FabPhases *phases;
  FabOp op;
  guint n_ranks;
  guint n_groups; /* ranks and pairs of ranks that act as one; a power of two */
} Halving;

static guint
n_pairs (const Halving *self)
{
  return self->n_ranks - self->n_groups;
}

static guint
rank_of (const Halving *self, guint group)
{
  return group < n_pairs (self) ? 2 * group + 1 : group + n_pairs (self);
}

/* The part of the size that is the result of a group. */
static double
part_of (const Halving *self, guint group)
{
  if (self->op == FAB_OP_ALL_REDUCE)
    return 1.0 / self->n_groups;
  return (group < n_pairs (self) ? 2.0 : 1.0) / self->n_ranks;
}

/* The sum of the parts of all groups whose number has the same remainder as `group` when it is divided by
 * `modulus`. */
static double
sum_of_parts (const Halving *self, guint group, guint modulus)
{
  double sum = 0;

  for (guint i = group % modulus; i < self->n_groups; i += modulus)
    sum += part_of (self, i);
  return sum;
}

static void
halve (Halving *self)
{
  for (guint distance = 1; distance < self->n_groups; distance *= 2) {
    fab_phases_next (self->phases);
    for (guint group = 0; group < self->n_groups; group++)
      fab_phases_send_in_turn (self->phases, rank_of (self, group), rank_of (self, group ^ distance),
                               sum_of_parts (self, group ^ distance, 2 * distance));
  }
}

static void
rejoin (Halving *self)
{
  for (guint distance = self->n_groups / 2; distance > 0; distance /= 2) {
    fab_phases_next (self->phases);
    for (guint group = 0; group < self->n_groups; group++)
      fab_phases_send_in_turn (self->phases, rank_of (self, group), rank_of (self, group ^ distance),
                               sum_of_parts (self, group, 2 * distance));
  }
}

/* In each pair the lower rank sends to the upper one, or the upper one back. */
static void
fold (Halving *self, gboolean is_back, double weight)
{
  fab_phases_next (self->phases);
  for (guint group = 0; group < n_pairs (self); group++)
    fab_phases_send_in_turn (self->phases, 2 * group + (is_back ? 1 : 0), 2 * group + (is_back ? 0 : 1),
                             weight);
}

/* In reduce_scatter and all_gather a rank does not send its own part. */
static FabPhases *
halving_phases (const FabGroup *group, FabOp op)
{
  guint n = fab_group_n_ranks (group);
  Halving self = { fab_phases_new (group, FALSE), op, n, 1U << (g_bit_storage (n) - 1) };
  double own = 1.0 / n;

  fold (&self, FALSE, op == FAB_OP_ALL_REDUCE ? 1 : op == FAB_OP_ALL_GATHER ? own : 1 - own);
  if (op != FAB_OP_ALL_GATHER)
    halve (&self);
  if (op != FAB_OP_REDUCE_SCATTER)
    rejoin (&self);
  fold (&self, TRUE, op == FAB_OP_ALL_REDUCE ? 1 : op == FAB_OP_ALL_GATHER ? 1 - own : own);
  return self.phases;
}

static gboolean
halving_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
              GError **error)
{
  g_autoptr (FabPhases) phases = halving_phases (group, op);

  return fab_phases_form (phases, env, form, error);
}

static gboolean
halving_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                  FabSchedule *schedule, GError **error)
{
  g_autoptr (FabPhases) phases = halving_phases (group, op);

  return fab_phases_schedule (phases, env, n_chunks, schedule, error);
}

static gboolean
halving_supports (G_GNUC_UNUSED const FabGroup *group, FabOp op)
{
  return op == FAB_OP_ALL_REDUCE || op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER;
}

const FabAlgorithmOps fab_algorithm_halving_doubling = {
  .info = { .name = "halving_doubling",
            .summary = "Ranks exchange over doubling distances: 2 log2 n steps for an all-reduce.",
            .doc = "docs/models/halving_doubling.md" },
  .preference = 80,
  .supports = halving_supports,
  .form = halving_form,
  .schedule = halving_schedule,
};
