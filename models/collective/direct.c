/* SPDX-License-Identifier: Apache-2.0 */
/* direct.c - every rank sends to each rank for which it has something, all at once.
 *
 * Bytes from each rank to each other per byte of size, with n ranks:
 *   all_reduce                                               1/n for a rank to reduce, then 1/n of the result
 *   reduce_scatter, all_gather, all_to_all, gather, scatter  1/n
 *   broadcast, reduce                                        1, from rank 0 or to rank 0
 *   send_recv                                                1, to the next rank only
 * An all_reduce has two steps, all others have one. On a full mesh this uses all wires. Behind a switch it takes as
 * long as a ring, with less latency.
 */
#include "models/models.h"
#include "sim/collective/shape/all_pairs.h"
#include "sim/collective/shape/phases.h"

/* Each rank sends the part of the receiver, or its own result where that replaces what others have. */
static void
send_all_pairs (FabPhases *phases, guint n, double weight, gboolean replaces)
{
  fab_phases_next (phases);
  for (guint distance = 1; distance < n; distance++)
    for (guint from = 0; from < n; from++) {
      guint to = (from + distance) % n;

      fab_phases_send (phases, from, to, weight, (FabParts){ replaces ? from : to, 1, replaces });
    }
}

static void
send_from_root (FabPhases *phases, guint n, double weight)
{
  for (guint to = 1; to < n; to++)
    fab_phases_send (phases, 0, to, weight, FAB_WHOLE_BUFFER);
}

static void
send_to_root (FabPhases *phases, guint n, double weight)
{
  for (guint from = 1; from < n; from++)
    fab_phases_send (phases, from, 0, weight, FAB_WHOLE_BUFFER);
}

static void
send_on (FabPhases *phases, guint n)
{
  for (guint from = 0; from < n; from++)
    fab_phases_send (phases, from, (from + 1) % n, 1, FAB_WHOLE_BUFFER);
}

static FabPhases *
direct_phases (const FabGroup *group, FabOp op)
{
  FabPhases *phases = fab_phases_new (group, FALSE);
  guint n = fab_group_n_ranks (group);

  switch (op) {
  case FAB_OP_ALL_REDUCE:
    send_all_pairs (phases, n, 1.0 / n, FALSE);
    send_all_pairs (phases, n, 1.0 / n, TRUE);
    break;
  case FAB_OP_ALL_GATHER:
  case FAB_OP_REDUCE_SCATTER:
  case FAB_OP_ALL_TO_ALL: send_all_pairs (phases, n, 1.0 / n, FALSE); break;
  case FAB_OP_BROADCAST: send_from_root (phases, n, 1); break;
  case FAB_OP_SCATTER: send_from_root (phases, n, 1.0 / n); break;
  case FAB_OP_REDUCE: send_to_root (phases, n, 1); break;
  case FAB_OP_GATHER: send_to_root (phases, n, 1.0 / n); break;
  case FAB_OP_SEND_RECV: send_on (phases, n); break;
  case FAB_N_OPS:
  default: g_assert_not_reached ();
  }
  return phases;
}

static gboolean
direct_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
             GError **error)
{
  gboolean is_all_pairs = op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER || op == FAB_OP_ALL_TO_ALL;

  if (is_all_pairs && fab_all_pairs_form (group, 1.0 / fab_group_n_ranks (group), env, form))
    return TRUE;
  g_autoptr (FabPhases) phases = direct_phases (group, op);
  return fab_phases_form (phases, env, form, error);
}

static gboolean
direct_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                 FabSchedule *schedule, GError **error)
{
  g_autoptr (FabPhases) phases = direct_phases (group, op);

  return fab_phases_schedule (phases, env, n_chunks, schedule, error);
}

static gboolean
direct_supports (G_GNUC_UNUSED const FabGroup *group, FabOp op)
{
  return op < FAB_N_OPS;
}

const FabAlgorithmOps fab_algorithm_direct = {
  .info = { .name = "direct",
            .summary = "Each rank sends to every other rank at once, over the path between the two.",
            .doc = "docs/models/direct.md" },
  .preference = 90,
  .supports = direct_supports,
  .form = direct_form,
  .schedule = direct_schedule,
};
