/* SPDX-License-Identifier: Apache-2.0 */
/* themis.c - chunks take the levels of a machine in different orders, so that all levels are busy (S. Rashidi et al.,
 * "Themis: a network bandwidth-aware collective scheduling policy for distributed training of DL models", ISCA 2022).
 *
 * The levels are the inside of nodes and what joins GPUs of the same number in different nodes. A chunk of an
 * all_reduce reduce-scatters at one level and then at the other, and all-gathers in the reverse order. The level that
 * comes first carries most. hierarchical, their baseline, sends every chunk inside nodes first.
 *
 * Their scheduler gives each of 64 chunks the order in which the level with the smaller load so far comes first, and
 * adds the time of the chunk on each level to its load. Where the loads differ by less than what a sixteenth of a
 * chunk would fill, the chunk goes inside first (astra-sim/astra-sim, astra-sim/system/scheduling/OfflineGreedy.cc).
 *
 * With g GPUs in each of N nodes, and the share x of the bytes inside first, each GPU sends per byte of size
 *
 *   inside its node   (x + (1 - x) / N) (g - 1) / g
 *   between nodes     (x / g + 1 - x) (N - 1) / N
 *
 * and twice that in an all_reduce. Each order is a pipeline of its own, and does not wait for the other.
 */
#include "models/models.h"
#include "sim/collective/shape/levels.h"
#include "sim/fabric/footprint.h"
#include "sim/machine/rails.h"

enum { N_CHUNKS = 64 };

/* --- one order --- */

static FabLevel
other_level (FabLevel level)
{
  return level == FAB_LEVEL_INSIDE ? FAB_LEVEL_BETWEEN : FAB_LEVEL_INSIDE;
}

/* The phases of the chunks whose reduce-scatter begins at a level, which are `share` of all bytes. (transfer full) */
static FabPhases *
order_phases (const FabGroup *group, FabOp op, FabLevel first, double share)
{
  FabPhases *phases = fab_phases_new (group, TRUE);
  FabLevels levels = fab_levels_of (group, phases, first);
  FabLevel second = other_level (first);
  double rest = share / fab_levels_members (group, first);

  if (op != FAB_OP_ALL_GATHER) {
    fab_levels_go (&levels, first, FALSE, share);
    fab_levels_go (&levels, second, FALSE, rest);
  }
  if (op != FAB_OP_REDUCE_SCATTER) {
    fab_levels_go (&levels, second, TRUE, rest);
    fab_levels_go (&levels, first, TRUE, share);
  }
  return phases;
}

/* --- the scheduler --- */

/* The time of all bytes at a level that comes first, in seconds per byte: that of a phase, for all of them are alike. 0
 * and *error: two ranks have no path. */
static double
level_time (const FabGroup *group, const FabAlgorithmEnv *env, FabLevel level, GError **error)
{
  g_autoptr (FabPhases) phases = fab_phases_new (group, TRUE);
  FabLevels levels = fab_levels_of (group, phases, level);
  FabCollectiveForm form;

  fab_levels_step (&levels, level, FALSE, 1, 1);
  if (!fab_phases_form (phases, env, &form, error))
    return 0;
  double time = fab_levels_phases (&levels, level) / form.footprint->rate_bytes_per_s;
  fab_footprint_free (form.footprint);
  return time;
}

/* How many chunks go inside first. `times`: of a chunk at each level when that comes first; `rests`: what each leaves
 * of a chunk for the other one. */
static guint
count_inside_first (const double times[FAB_N_LEVELS], const double rests[FAB_N_LEVELS])
{
  double loads[FAB_N_LEVELS] = { 0 };
  guint n = 0;

  for (guint chunk = 0; chunk < N_CHUNKS; chunk++) {
    FabLevel first = loads[FAB_LEVEL_INSIDE] <= loads[FAB_LEVEL_BETWEEN] ? FAB_LEVEL_INSIDE
                                                                         : FAB_LEVEL_BETWEEN;
    double apart = ABS (loads[FAB_LEVEL_INSIDE] - loads[FAB_LEVEL_BETWEEN]);

    if (apart < times[first] / 16)
      first = FAB_LEVEL_INSIDE;
    loads[first] += times[first];
    loads[other_level (first)] += times[other_level (first)] * rests[first];
    n += first == FAB_LEVEL_INSIDE ? 1 : 0;
  }
  return n;
}

/* Fills in the share of all bytes whose reduce-scatter begins at each level. */
static gboolean
share_out (const FabGroup *group, const FabAlgorithmEnv *env, double shares[FAB_N_LEVELS], GError **error)
{
  double times[FAB_N_LEVELS], rests[FAB_N_LEVELS];

  for (FabLevel first = FAB_LEVEL_INSIDE; first < FAB_N_LEVELS; first++) {
    times[first] = level_time (group, env, first, error);
    if (times[first] <= 0)
      return FALSE;
    rests[first] = 1.0 / fab_levels_members (group, first);
  }
  shares[FAB_LEVEL_INSIDE] = (double) count_inside_first (times, rests) / N_CHUNKS;
  shares[FAB_LEVEL_BETWEEN] = 1 - shares[FAB_LEVEL_INSIDE];
  return TRUE;
}

/* --- both orders --- */

/* Seconds per byte of size that the first chunk of a form needs for all of its phases. */
static double
whole_way (const FabCollectiveForm *form)
{
  return 1 / form->footprint->rate_bytes_per_s + form->fill_s_per_byte;
}

/* Makes one form of two whose hops are of the same kinds, and takes their footprints. */
static void
join_forms (const FabGroup *group, const FabCollectiveForm parts[FAB_N_LEVELS], FabCollectiveForm *form)
{
  g_autoptr (FabFootprintBuilder) builder = fab_footprint_builder_new (group->cluster->graph);
  gboolean is_later = fab_form_latency_ps (&parts[FAB_LEVEL_BETWEEN])
                    > fab_form_latency_ps (&parts[FAB_LEVEL_INSIDE]);
  double way = MAX (whole_way (&parts[FAB_LEVEL_INSIDE]), whole_way (&parts[FAB_LEVEL_BETWEEN]));

  *form = parts[is_later ? FAB_LEVEL_BETWEEN : FAB_LEVEL_INSIDE];
  for (FabLevel first = FAB_LEVEL_INSIDE; first < FAB_N_LEVELS; first++) {
    fab_footprint_builder_add_footprint (builder, parts[first].footprint);
    fab_footprint_free (parts[first].footprint);
  }
  form->footprint = fab_footprint_builder_finish (builder);
  form->fill_s_per_byte = MAX (way - 1 / form->footprint->rate_bytes_per_s, 0);
}

static gboolean
order_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabLevel first, double share,
            FabCollectiveForm *form, GError **error)
{
  g_autoptr (FabPhases) phases = order_phases (group, op, first, share);

  return fab_phases_form (phases, env, form, error);
}

static gboolean
themis_form (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, FabCollectiveForm *form,
             GError **error)
{
  double shares[FAB_N_LEVELS];
  FabCollectiveForm parts[FAB_N_LEVELS];

  if (!share_out (group, env, shares, error)
      || !order_form (group, op, env, FAB_LEVEL_INSIDE, shares[FAB_LEVEL_INSIDE], &parts[FAB_LEVEL_INSIDE],
                      error))
    return FALSE;
  *form = parts[FAB_LEVEL_INSIDE];
  if (shares[FAB_LEVEL_BETWEEN] > 0) {
    if (!order_form (group, op, env, FAB_LEVEL_BETWEEN, shares[FAB_LEVEL_BETWEEN], &parts[FAB_LEVEL_BETWEEN],
                     error)) {
      fab_footprint_free (parts[FAB_LEVEL_INSIDE].footprint);
      return FALSE;
    }
    join_forms (group, parts, form);
  }
  g_free (fab_rails_list (group, &form->n_channels));
  return TRUE;
}

static gboolean
themis_schedule (const FabGroup *group, FabOp op, const FabAlgorithmEnv *env, guint n_chunks,
                 FabSchedule *schedule, GError **error)
{
  double shares[FAB_N_LEVELS];

  if (!share_out (group, env, shares, error))
    return FALSE;
  for (FabLevel first = FAB_LEVEL_INSIDE; first < FAB_N_LEVELS; first++) {
    if (shares[first] <= 0)
      continue;
    g_autoptr (FabPhases) phases = order_phases (group, op, first, shares[first]);
    if (!fab_phases_schedule (phases, env, n_chunks, schedule, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
themis_supports (const FabGroup *group, FabOp op)
{
  return group->n_nodes > 1 && group->cluster->uneven == NULL && group->gpus_per_node > 1
      && (op == FAB_OP_ALL_REDUCE || op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER);
}

const FabAlgorithmOps fab_algorithm_themis = {
  .info = { .name = "themis",
            .summary =
                "Some chunks go inside nodes first, others between nodes, so that both levels are busy.",
            .doc = "docs/models/themis.md" },
  .preference = 105,
  .supports = themis_supports,
  .form = themis_form,
  .schedule = themis_schedule,
};
