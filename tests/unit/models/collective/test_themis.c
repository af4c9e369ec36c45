/* SPDX-License-Identifier: Apache-2.0 */
/* test_themis.c - chunks in two orders: what levels carry, when an order pays, and that every rank ends with the right
 * contents. */
#include "tests/support/test.h"

#include "sim/collective/play/schedule_parts.h"
#include "tests/support/rig.h"

static const FabAlgorithmEnv env = { .net_stretch = 1 };
static const FabOp ops[] = { FAB_OP_ALL_REDUCE, FAB_OP_ALL_GATHER, FAB_OP_REDUCE_SCATTER };

/* GPUs of 1 byte per ps, each with a NIC. */
static Rig *
rig_of (guint n_nodes, guint n_gpus, double nic_bytes_per_ps)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = n_gpus,
                              .nics_per_node = n_gpus,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = (FabBytesPerS) (nic_bytes_per_ps * (double) FAB_PS_PER_S) });
}

/* --- who has two levels --- */

/* Two nodes and more, of two GPUs and more, as many in each; operations that reduce or gather on all ranks. */
static void
two_levels_have_two_orders (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_nodes, n_gpus;
    gboolean has_two;
  } rows[] = { { 1, 4, FALSE }, { 2, 1, FALSE }, { 2, 2, TRUE }, { 3, 4, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Rig) rig = rig_of (rows[i].n_nodes, rows[i].n_gpus, 1);
    FabGroup group = rig_group (rig), uneven = group;
    FabCluster cluster = *group.cluster;

    cluster.uneven = (gpointer) &cluster; /* nobody looks into it */
    uneven.cluster = &cluster;
    for (FabOp op = 0; op < FAB_N_OPS; op++) {
      gboolean is_of_all = op == FAB_OP_ALL_REDUCE || op == FAB_OP_ALL_GATHER || op == FAB_OP_REDUCE_SCATTER;

      assert_int_equal (fab_algorithm_themis.supports (&group, op), rows[i].has_two && is_of_all);
      assert_false (fab_algorithm_themis.supports (&uneven, op));
    }
  }
}

/* --- what levels carry --- */

/* Bytes per byte of size that a GPU sends inside its node and between nodes. */
typedef struct {
  double inside, between;
} Loads;

/* Every GPU sends all of its bytes over the wire to its switch, and those between nodes over its NIC too. */
static Loads
loads_of (const Rig *rig, const FabAlgorithmOps *algorithm, FabOp op)
{
  FabGroup group = rig_group (rig);
  FabCollectiveForm form;
  double sent = 0, crossed = 0;

  assert_true (algorithm->supports (&group, op));
  assert_true (algorithm->form (&group, op, &env, &form, NULL));
  for (guint i = 0; i < form.footprint->n; i++) {
    FabVertexId from = fab_graph_link (rig->graph, form.footprint->links[i])->src;

    if (from == rig_gpu (rig, 0))
      sent = form.footprint->weights[i];
    if (from == fab_group_nic (&group, 0, 0))
      crossed = MAX (crossed, form.footprint->weights[i]);
  }
  fab_footprint_free (form.footprint);
  return (Loads){ sent - crossed, crossed };
}

/* The loads that the paper's equations give where `n_inside` of 64 chunks go inside first. */
static void
check_loads (const Rig *rig, FabOp op, guint n_inside)
{
  double x = n_inside / 64.0, n = rig->spec.n_nodes, g = rig->spec.gpus_per_node;
  double rounds = op == FAB_OP_ALL_REDUCE ? 2 : 1;
  Loads loads = loads_of (rig, &fab_algorithm_themis, op);

  assert_near (loads.inside, rounds * (x + (1 - x) / n) * (g - 1) / g, 1e-9);
  assert_near (loads.between, rounds * (x / g + 1 - x) * (n - 1) / n, 1e-9);
}

/* From what crosses the NICs of a reduce-scatter. */
static double
share_inside_first (const Rig *rig)
{
  double n = rig->spec.n_nodes, g = rig->spec.gpus_per_node;
  Loads loads = loads_of (rig, &fab_algorithm_themis, FAB_OP_REDUCE_SCATTER);

  return (1 - loads.between * n / (n - 1)) / (1 - 1 / g);
}

/* Two nodes of four, NICs as fast as GPUs. A chunk loads its first level with 3/4 inside or 1/2 between, the other one
 * with 1/8 between or 3/8 inside. After the first chunk, which goes inside first, the loads are (6, 1) eighths, and
 * each of the next five adds (3, 4): (21, 21), where it begins again. So 11 of 64 go inside first. */
static void
levels_are_loaded_as_the_scheduler_counts (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_of (2, 4, 1);

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    check_loads (rig, ops[i], 11);
}

/* The two levels take the same time but for one chunk, whose time at a level is at most the 64th of all bytes'. */
static void
levels_are_busy_for_the_same_time (G_GNUC_UNUSED void **state)
{
  static const guint shapes[][2] = { { 2, 4 }, { 2, 8 }, { 3, 2 }, { 5, 3 }, { 8, 4 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    double n = shapes[i][0], g = shapes[i][1], nic_bytes_per_ps = 0.75;
    g_autoptr (Rig) rig = rig_of (shapes[i][0], shapes[i][1], nic_bytes_per_ps);
    Loads loads = loads_of (rig, &fab_algorithm_themis, FAB_OP_REDUCE_SCATTER);
    double apart = fabs (loads.inside - loads.between / nic_bytes_per_ps);

    assert_true (apart <= MAX ((g - 1) / g, (n - 1) / n / nic_bytes_per_ps) / 64 * (1 + 1e-9));
  }
}

static guint64
n_messages_of (const Rig *rig, const FabAlgorithmOps *algorithm, FabOp op)
{
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (group.cluster);

  assert_true (algorithm->schedule (&group, op, &env, 1, schedule, NULL));
  return fab_schedule_n_messages (schedule);
}

/* NICs at an eighth of the rate of GPUs have more to carry than GPUs even if all chunks go inside first. */
static void
slow_nics_leave_the_order_of_hierarchical (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_of (4, 4, 0.125);

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++) {
    Loads loads = loads_of (rig, &fab_algorithm_hierarchical, ops[i]);

    check_loads (rig, ops[i], 64);
    assert_near (loads_of (rig, &fab_algorithm_themis, ops[i]).between, loads.between, 1e-12);
    assert_int_equal (n_messages_of (rig, &fab_algorithm_themis, ops[i]),
                      n_messages_of (rig, &fab_algorithm_hierarchical, ops[i]));
  }
}

/* --- contents --- */

enum { MOST_RANKS = 16, MOST_LANES = 1024 };

/* How often each rank's data are in a sum. */
typedef struct {
  guint n[MOST_RANKS];
} Sum;

/* One order's lanes, one per rank and phase. The bytes are cut into blocks, one for each pair of a position in the ring
 * inside a node and one in the ring between nodes. */
typedef struct {
  const FabSchedule *schedule;
  const Rig *rig;
  FabOp op;
  gboolean is_inside_first;
  guint start, n_ranks; /* of its lanes */
  guint n_phases;
  gboolean *past;             /* [n_lanes x n_lanes] whether a lane begins after another has arrived */
  Sum (*carried)[MOST_RANKS]; /* [n_lanes] of each block that the lane carries */
} Contents;

/* A phase: step `step` of a reduce-scatter or an all-gather at a level. */
typedef struct {
  gboolean is_inside, is_gather;
  guint step;
} Phase;

static guint
level_size (const Contents *self, gboolean is_inside)
{
  return is_inside ? self->rig->spec.gpus_per_node : self->rig->spec.n_nodes;
}

/* The levels in their order: there, in a reduce-scatter, and back, in an all-gather. */
static Phase
phase_at (const Contents *self, guint index)
{
  gboolean first = self->is_inside_first;
  const Phase levels[] = {
    { first, FALSE, 0 }, { !first, FALSE, 0 }, { !first, TRUE, 0 }, { first, TRUE, 0 }
  };

  for (guint i = self->op == FAB_OP_ALL_GATHER ? 2 : 0; i < G_N_ELEMENTS (levels); i++) {
    Phase phase = levels[i];

    if (index < level_size (self, phase.is_inside) - 1) {
      phase.step = index;
      return phase;
    }
    index -= level_size (self, phase.is_inside) - 1;
  }
  g_assert_not_reached ();
}

static guint
rank_of (const Rig *rig, FabVertexId gpu)
{
  for (guint rank = 0; rank < MOST_RANKS; rank++)
    if (rig_gpu (rig, rank) == gpu)
      return rank;
  g_assert_not_reached ();
}

static const FabScheduleLane *
lane_at (const Contents *self, guint lane)
{
  return fab_schedule_lane_at (self->schedule, self->start + lane);
}

static guint
sender (const Contents *self, guint lane)
{
  return rank_of (self->rig, lane_at (self, lane)->hop.legs[0].src);
}

static guint
receiver (const Contents *self, guint lane)
{
  const FabHop *hop = &lane_at (self, lane)->hop;

  return rank_of (self->rig, hop->legs[hop->n_legs - 1].dst);
}

/* The number of a rank, or of a block, at a level. */
static guint
position (const Contents *self, guint rank, gboolean is_inside)
{
  guint g = self->rig->spec.gpus_per_node;

  return is_inside ? rank % g : rank / g;
}

/* Whether a rank has the sum of a block, as far as one level says: the one of its number. */
static gboolean
is_left_with (const Contents *self, guint rank, guint block, gboolean is_inside)
{
  return position (self, block, is_inside) == position (self, rank, is_inside);
}

/* Whether a lane has the block: in step s of an all-gather, from 0 on, it is the one of the sender's number less s, in
 * a reduce-scatter the one before. Where the level comes second, only blocks that the first level left here are
 * sent. */
static gboolean
carries (const Contents *self, guint lane, guint block)
{
  Phase phase = phase_at (self, lane / self->n_ranks);
  guint rank = sender (self, lane), n = level_size (self, phase.is_inside);
  guint sent = (position (self, rank, phase.is_inside) + n - 1 + phase.is_gather - phase.step) % n;

  return position (self, block, phase.is_inside) == sent
      && (phase.is_inside == self->is_inside_first
          || is_left_with (self, rank, block, self->is_inside_first));
}

/* The block as the rank has it when all lanes of which `is_there` says so have arrived, and no others. */
static Sum
block_at (const Contents *self, guint rank, guint block, const gboolean *is_there)
{
  Sum sum = { 0 };

  if (self->op != FAB_OP_ALL_GATHER
      || (is_left_with (self, rank, block, TRUE) && is_left_with (self, rank, block, FALSE)))
    sum.n[rank] = 1;
  for (guint lane = 0; lane < self->n_phases * self->n_ranks; lane++) {
    if (!is_there[lane] || receiver (self, lane) != rank || !carries (self, lane, block))
      continue;
    if (phase_at (self, lane / self->n_ranks).is_gather)
      sum = self->carried[lane][block];
    else
      for (guint i = 0; i < self->n_ranks; i++)
        sum.n[i] += self->carried[lane][block].n[i];
  }
  return sum;
}

static void
find_past (Contents *self, guint lane)
{
  guint n_lanes = self->n_phases * self->n_ranks;
  gboolean *past = self->past + lane * n_lanes;

  const FabWaitList *list = fab_schedule_list_of (self->schedule, self->start + lane);
  for (guint i = list->start; i < list->end; i++) {
    const FabDependency *dependency = fab_schedule_dependency_at (self->schedule, i);

    /* an order waits for nothing of the other */
    assert_true (dependency->from >= self->start && dependency->from < self->start + lane);
    guint from = dependency->from - self->start;
    past[from] = TRUE;
    for (guint before = 0; before < from; before++)
      past[before] |= self->past[from * n_lanes + before];
  }
}

/* Of an all-gather: the block's owner, once. Of the others: everybody, once. */
static void
check_block (const Contents *self, guint rank, guint block)
{
  guint n_lanes = self->n_phases * self->n_ranks;
  g_autofree gboolean *all = g_new (gboolean, n_lanes);
  gboolean is_mine = is_left_with (self, rank, block, TRUE) && is_left_with (self, rank, block, FALSE);

  for (guint i = 0; i < n_lanes; i++)
    all[i] = TRUE;
  if (self->op == FAB_OP_REDUCE_SCATTER && !is_mine)
    return;
  Sum sum = block_at (self, rank, block, all);
  for (guint i = 0; i < self->n_ranks; i++) {
    gboolean is_owner = is_left_with (self, i, block, TRUE) && is_left_with (self, i, block, FALSE);

    assert_int_equal (sum.n[i], self->op != FAB_OP_ALL_GATHER || is_owner ? 1 : 0);
  }
}

/* Plays one order's lanes: each carries what its sender has for certain when the lane begins. */
static void
check_order (Contents *self, double share)
{
  guint n_lanes = self->n_phases * self->n_ranks;
  double block_weight = share / self->n_ranks;

  g_assert (n_lanes <= MOST_LANES && self->n_ranks <= MOST_RANKS);
  self->past = g_new0 (gboolean, (gsize) n_lanes * n_lanes);
  self->carried = g_malloc0 (n_lanes * sizeof *self->carried);
  for (guint lane = 0; lane < n_lanes; lane++) {
    guint n_blocks = 0;

    find_past (self, lane);
    for (guint block = 0; block < self->n_ranks; block++)
      if (carries (self, lane, block)) {
        self->carried[lane][block] = block_at (self, sender (self, lane), block, self->past + lane * n_lanes);
        n_blocks++;
      }
    assert_near (lane_at (self, lane)->weight / n_blocks, block_weight, 1e-9);
  }
  for (guint rank = 0; rank < self->n_ranks; rank++)
    for (guint block = 0; block < self->n_ranks; block++)
      check_block (self, rank, block);
  g_free (self->past);
  g_free (self->carried);
}

static void
check_contents (const Rig *rig, FabOp op)
{
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  FabGroup group = rig_group (rig);
  guint n_ranks = rig->spec.n_nodes * rig->spec.gpus_per_node;
  guint rounds = op == FAB_OP_ALL_REDUCE ? 2 : 1;
  Contents contents = { .schedule = schedule,
                        .rig = rig,
                        .op = op,
                        .n_ranks = n_ranks,
                        .n_phases = rounds * (rig->spec.n_nodes + rig->spec.gpus_per_node - 2) };
  guint n_lanes = contents.n_phases * n_ranks;

  double inside_first = share_inside_first (rig);
  assert_true (fab_algorithm_themis.schedule (&group, op, &env, 1, schedule, NULL));
  fab_schedule_freeze (schedule);
  assert_int_equal (fab_schedule_n_lanes (schedule), 2 * n_lanes);
  for (guint i = 0; i < 2; i++) {
    contents.is_inside_first = i == 0;
    contents.start = i * n_lanes;
    check_order (&contents, i == 0 ? inside_first : 1 - inside_first);
  }
}

/* NICs as fast as GPUs, so that both orders are taken. */
static void
every_rank_ends_with_the_right_contents (G_GNUC_UNUSED void **state)
{
  static const guint shapes[][2] = { { 2, 2 }, { 2, 4 }, { 3, 2 }, { 4, 4 }, { 5, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autoptr (Rig) rig = rig_of (shapes[i][0], shapes[i][1], 1);

    for (guint o = 0; o < G_N_ELEMENTS (ops); o++)
      check_contents (rig, ops[o]);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (two_levels_have_two_orders),
    cmocka_unit_test (levels_are_loaded_as_the_scheduler_counts),
    cmocka_unit_test (levels_are_busy_for_the_same_time),
    cmocka_unit_test (slow_nics_leave_the_order_of_hierarchical),
    cmocka_unit_test (every_rank_ends_with_the_right_contents),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
