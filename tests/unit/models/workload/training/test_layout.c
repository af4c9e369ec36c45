/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout.c - which ranks are in one group, against the coordinates of each rank.
 *
 * The first axis of the order varies fastest: a coordinate is the rank over the sizes of the axes before, modulo the
 * size of its own. Two ranks are in one group if all coordinates are equal along which the group does not lie.
 */
#include "tests/support/test.h"

#include <string.h>

#include "models/workload/training/layout.h"
#include "tests/support/rig.h"

enum { N_RANKS = 24 };

static const char *const names[N_AXES] = { "tp", "cp", "dp", "pp" };

static const char *const orders[] = { "tp-cp-ep-dp-pp", "tp-cp-dp-pp",    "pp-dp-cp-tp",   "dp-ep-tp-pp-cp",
                                      "cp-pp-ep-tp-dp", "ep-dp-pp-tp-cp", "tp-pp-dp-cp-ep" };

/* Tensor, context, pipeline, and ranks that share the experts. */
static const guint sizes[][4] = {
  { 2, 1, 3, 2 }, { 1, 2, 4, 3 }, { 2, 2, 1, 3 }, { 3, 1, 2, 4 }, { 1, 1, 1, 6 }
};

typedef struct {
  Rig *rig;
  const char *order;
  Layout layout;
  guint place[N_RANKS][N_AXES]; /* coordinates */
} Grid;

static guint
coordinate (const Grid *grid, guint rank, Axis axis)
{
  g_auto (GStrv) words = g_strsplit (grid->order, "-", -1);
  guint apart = 1;

  for (guint i = 0; strcmp (words[i], names[axis]) != 0; i++)
    for (Axis before = 0; before < N_AXES; before++)
      apart *= strcmp (words[i], names[before]) == 0 ? grid->layout.size[before] : 1;
  return rank / apart % grid->layout.size[axis];
}

static Grid
grid_new (Rig *rig, const char *order, const guint *size, guint expert, guint expert_tensor)
{
  const ParallelParams params = { .tensor = size[0],
                                  .context = size[1],
                                  .pipeline = size[2],
                                  .expert = expert,
                                  .expert_tensor = expert_tensor,
                                  .virtual_stages = 1,
                                  .order = order };
  Grid grid = { .rig = rig, .order = order };

  assert_true (layout_init (&grid.layout, &rig->cluster, &params, NULL));
  assert_int_equal (grid.layout.size[AXIS_TENSOR], size[0]);
  assert_int_equal (grid.layout.size[AXIS_CONTEXT], size[1]);
  assert_int_equal (grid.layout.size[AXIS_PIPELINE], size[2]);
  assert_int_equal (grid.layout.size[AXIS_DATA], N_RANKS / (size[0] * size[1] * size[2]));
  for (guint rank = 0; rank < N_RANKS; rank++)
    for (Axis axis = 0; axis < N_AXES; axis++)
      grid.place[rank][axis] = coordinate (&grid, rank, axis);
  return grid;
}

static gboolean
is_selected (const Grid *grid, const Selection *s, guint rank)
{
  guint stage = grid->place[rank][AXIS_PIPELINE], data = grid->place[rank][AXIS_DATA];
  gboolean is_twin = s->has_twin && stage + s->first_stage + 1 == grid->layout.size[AXIS_PIPELINE];

  return (is_twin || (stage >= s->first_stage && stage < s->first_stage + s->n_stages))
      && data >= s->first_data && data < s->first_data + s->n_data;
}

static gboolean
is_one_part (const Selection *s, guint a, guint b)
{
  switch (s->data) {
  case DATA_ALL: return TRUE;
  case DATA_RUNS: return a / s->block == b / s->block;
  case DATA_EVERY: return a % s->block == b % s->block;
  case DATA_ONE:
  default: return a == b;
  }
}

/* The number of a rank among those of its stage that are selected. */
static guint
number_in_stage (const Grid *grid, const Selection *s, guint rank)
{
  guint n = 0;

  for (guint other = 0; other < rank; other++)
    n += grid->place[other][AXIS_PIPELINE] == grid->place[rank][AXIS_PIPELINE]
      && is_selected (grid, s, other);
  return n;
}

static gboolean
are_folded_together (const Grid *grid, const Selection *s, guint a, guint b)
{
  guint shared = grid->layout.n_expert_tensor, n = grid->layout.n_expert;
  guint x = number_in_stage (grid, s, a), y = number_in_stage (grid, s, b);
  gboolean is_part = x % shared == y % shared, is_expert = x / shared % n == y / shared % n,
           is_copy = x / (shared * n) == y / (shared * n);

  return (is_part || s->fold == FOLD_EXPERT_TENSOR) && (is_expert || s->fold == FOLD_EXPERT)
      && (is_copy || s->fold == FOLD_EXPERT_DATA);
}

static gboolean
are_together (const Grid *grid, const Selection *s, guint a, guint b)
{
  const guint *x = grid->place[a], *y = grid->place[b];

  if (s->fold != FOLD_NONE)
    return are_folded_together (grid, s, a, b);
  return (s->varies[AXIS_TENSOR] || x[AXIS_TENSOR] == y[AXIS_TENSOR])
      && (s->varies[AXIS_CONTEXT] || x[AXIS_CONTEXT] == y[AXIS_CONTEXT])
      && (s->varies[AXIS_PIPELINE] || s->has_twin || x[AXIS_PIPELINE] == y[AXIS_PIPELINE])
      && is_one_part (s, x[AXIS_DATA], y[AXIS_DATA]);
}

/* [group][index]: ranks of all groups, one after another. (transfer full) */
static guint *
ranks_of (const Grid *grid, const FabConcurrentGroups *groups)
{
  guint n = fab_concurrent_groups_n_ranks (groups), at = 0;
  guint *ranks = g_new (guint, (gsize) n * fab_concurrent_groups_n_groups (groups));

  for (guint i = 0; i < fab_concurrent_groups_n_groups (groups); i++) {
    FabGroup group = fab_concurrent_groups_group (groups, i);

    assert_int_equal (fab_group_n_ranks (&group), n);
    for (guint k = 0; k < n; k++) {
      guint rank = 0;

      while (grid->rig->cluster.gpus[rank] != group.cluster->gpus[k])
        rank++;
      ranks[at++] = rank;
    }
  }
  return ranks;
}

/* Each selected rank is in one group, with all that belong to it, in ascending order; groups come in that of their
 * first ranks. */
static void
check_groups (const Grid *grid, const Selection *s)
{
  g_autoptr (FabConcurrentGroups) groups = layout_concurrent_groups (&grid->layout, s);
  g_autofree guint *ranks = ranks_of (grid, groups);
  guint n = fab_concurrent_groups_n_ranks (groups), n_all = n * fab_concurrent_groups_n_groups (groups),
        of[N_RANKS] = { 0 };

  for (guint i = 0; i < n_all; i++) {
    assert_true (is_selected (grid, s, ranks[i]));
    assert_int_equal (of[ranks[i]], 0);
    of[ranks[i]] = i / n + 1;
    assert_true (i % n == 0 || ranks[i] > ranks[i - 1]);
    assert_true (i < n || ranks[i - i % n] > ranks[i - i % n - n]);
  }
  for (guint a = 0; a < N_RANKS; a++) {
    assert_int_equal (of[a] > 0, is_selected (grid, s, a));
    for (guint b = 0; b < a && of[a] > 0; b++)
      if (of[b] > 0)
        assert_int_equal (of[a] == of[b], are_together (grid, s, a, b));
  }
}

static void
each_grid (void (*check) (Rig *rig, const char *order, const guint *size))
{
  g_autoptr (Rig) rig = rig_new_flat (N_RANKS);

  for (guint o = 0; o < G_N_ELEMENTS (orders); o++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      check (rig, orders[o], sizes[i]);
}

/* Along any axes, of all stages and ranks or of some. */
static void
check_all_axes (Rig *rig, const char *order, const guint *size)
{
  Grid grid = grid_new (rig, order, size, 1, 0);
  guint n_stages = size[2], n_data = grid.layout.size[AXIS_DATA];

  for (guint axes = 0; axes < 8; axes++)
    for (DataPart part = DATA_ONE; part <= DATA_EVERY; part++)
      for (guint block = 1; block <= n_data; block++)
        for (guint some = 0; some < 2; some++) {
          Selection s = { .varies = { axes & 1, axes & 2, FALSE, axes & 4 },
                          .data = part,
                          .block = block,
                          .first_stage = some ? n_stages - 1 : 0,
                          .n_stages = some ? 1 : n_stages,
                          .first_data = some ? n_data - block : 0,
                          .n_data = some ? block : n_data };

          if (n_data % block == 0 && (block == 1 || part != DATA_ALL))
            check_groups (&grid, &s);
        }
}

static void
groups_lie_along_their_axes (G_GNUC_UNUSED void **state)
{
  each_grid (check_all_axes);
}

/* Both stages of a pair that is as far from the two ends. */
static void
check_twins (Rig *rig, const char *order, const guint *size)
{
  Grid grid = grid_new (rig, order, size, 1, 0);

  for (guint stage = 0; size[2] % 2 == 0 && stage < size[2] / 2; stage++)
    for (DataPart part = DATA_ONE; part <= DATA_ALL; part++)
      check_groups (&grid, &(Selection){ .varies = { FALSE, part == DATA_ALL, FALSE, FALSE },
                                         .data = part,
                                         .first_stage = stage,
                                         .n_stages = 1,
                                         .n_data = grid.layout.size[AXIS_DATA],
                                         .has_twin = TRUE });
}

static void
twins_are_in_one_group (G_GNUC_UNUSED void **state)
{
  each_grid (check_twins);
}

/* Expert-parallel ranks are neighbours along the data axis where ep comes before dp, and else as far apart as there are
 * groups; the ranks between them have the same experts as others. Both divide the data axis. */
static void
check_experts (Rig *rig, const char *order, const guint *size)
{
  const char *ep = strstr (order, "ep"), *dp = strstr (order, "dp");
  guint n_data = N_RANKS / (size[0] * size[1] * size[2]), expert_block = 0, same_block = 0;

  if (n_data % size[3] != 0)
    return;
  Grid grid = grid_new (rig, order, size, size[3], 0);
  gboolean is_inner = ep == NULL || ep < dp;
  DataPart expert = layout_expert_part (&grid.layout, &expert_block),
           same = layout_expert_data_part (&grid.layout, &same_block);

  assert_int_equal (expert, is_inner ? DATA_RUNS : DATA_EVERY);
  assert_int_equal (same, is_inner ? DATA_EVERY : DATA_RUNS);
  assert_int_equal (expert_block, is_inner ? size[3] : n_data / size[3]);
  assert_int_equal (same_block, expert_block);
  assert_int_equal (layout_has_expert_groups (&grid.layout), size[3] > 1);
  assert_int_equal (layout_expert_unit (&grid.layout), size[3]);
  assert_int_equal (layout_n_expert_replicas (&grid.layout), n_data * size[1] / size[3]);
}

static void
experts_divide_the_data_axis (G_GNUC_UNUSED void **state)
{
  each_grid (check_experts);
}

/* With a grid of their own, experts are shared by neighbours among all ranks of a stage, whatever these share of other
 * layers. The unit is the fewest data coordinates whose ranks are whole blocks of that grid. */
static void
experts_have_a_grid_over_a_stage (G_GNUC_UNUSED void **state)
{
  static const char *const inner[] = { "tp-cp-ep-dp-pp", "cp-tp-ep-pp-dp", "pp-tp-cp-ep-dp" };
  g_autoptr (Rig) rig = rig_new_flat (N_RANKS);

  for (guint o = 0; o < G_N_ELEMENTS (inner); o++)
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      for (guint shared = 1; shared <= 4; shared++)
        for (guint expert = 1; expert <= 6; expert++) {
          const guint *size = sizes[i];
          guint n_of_stage = N_RANKS / size[2], n_both = size[0] * size[1], unit = 1;

          if (n_of_stage % (shared * expert) != 0)
            continue;
          Grid grid = grid_new (rig, inner[o], size, expert, shared);
          while (unit * n_both % (shared * expert) != 0)
            unit++;
          assert_int_equal (layout_expert_unit (&grid.layout), unit);
          assert_int_equal (layout_n_expert_replicas (&grid.layout), n_of_stage / (shared * expert));
          assert_true (layout_has_expert_groups (&grid.layout));
          for (Fold fold = FOLD_EXPERT; fold <= FOLD_EXPERT_DATA; fold++)
            for (guint way = 0; way < 5; way++) {
              guint n_data = grid.layout.size[AXIS_DATA];
              Selection s = { .fold = fold,
                              .first_stage = way == 4 ? (size[2] - 1) / 2
                                           : way % 2  ? size[2] - 1
                                                      : 0,
                              .n_stages = 1,
                              .first_data = way == 1 ? n_data - unit : 0,
                              .n_data = way == 1 ? unit : n_data,
                              .has_twin = (way == 2 || way == 4) && size[2] % 2 == 0 };

              if (!s.has_twin || fold == FOLD_EXPERT_DATA)
                check_groups (&grid, &s);
            }
        }
}

/* A rank of one stage is paired with that of the other which has the same coordinates otherwise; the lower stage is
 * first, whichever sends. */
static void
check_pairs (Rig *rig, const char *order, const guint *size)
{
  Grid grid = grid_new (rig, order, size, 1, 0);
  guint n_data = grid.layout.size[AXIS_DATA];

  for (guint from = 0; from < size[2]; from++)
    for (guint to = 0; to < size[2]; to++)
      for (guint first = 0; first < 2 && from != to; first++) {
        g_autoptr (FabConcurrentGroups) pairs = layout_pairs (&grid.layout, from, to, first, n_data - first);
        g_autofree guint *ranks = ranks_of (&grid, pairs);
        guint n = fab_concurrent_groups_n_groups (pairs);

        assert_int_equal (fab_concurrent_groups_n_ranks (pairs), 2);
        assert_int_equal (n, (n_data - first) * size[0] * size[1]);
        for (guint i = 0; i < n; i++) {
          const guint *low = grid.place[ranks[2 * i]], *high = grid.place[ranks[2 * i + 1]];

          assert_true (i == 0 || ranks[2 * i] > ranks[2 * i - 2]);
          assert_int_equal (low[AXIS_PIPELINE], MIN (from, to));
          assert_int_equal (high[AXIS_PIPELINE], MAX (from, to));
          assert_true (low[AXIS_DATA] >= first);
          for (Axis axis = 0; axis < N_AXES; axis++)
            assert_true (axis == AXIS_PIPELINE || low[axis] == high[axis]);
        }
      }
}

static void
stages_are_joined_rank_by_rank (G_GNUC_UNUSED void **state)
{
  each_grid (check_pairs);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (groups_lie_along_their_axes),    cmocka_unit_test (twins_are_in_one_group),
    cmocka_unit_test (experts_divide_the_data_axis),   cmocka_unit_test (experts_have_a_grid_over_a_stage),
    cmocka_unit_test (stages_are_joined_rank_by_rank),
  };

  return cmocka_run_group_tests_name ("layout", tests, NULL, NULL);
}
