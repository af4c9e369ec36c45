/* SPDX-License-Identifier: Apache-2.0 */
/* test_levels.c - a reduce-scatter and an all-gather over two levels: every message by hand for small groups, and the
 * ranks whose bytes each message has in it for larger ones. */
#include "tests/support/test.h"

#include "sim/collective/play/schedule_parts.h"
#include "sim/collective/shape/levels.h"
#include "tests/support/lanes.h"
#include "tests/support/mesh.h"

static Rig *
star (guint n_nodes, guint gpus_per_node)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = gpus_per_node,
                              .nics_per_node = n_nodes > 1 ? gpus_per_node : 0,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 10,
                              .gpu_latency_ps = 50,
                              .nic_latency_ps = 50 });
}

static Rig *
mesh (guint n_nodes, guint gpus_per_node)
{
  const Wiring wiring = wiring_full (gpus_per_node, 1);

  return mesh_new (&wiring, n_nodes, n_nodes > 1);
}

static FabLevel
other_level (FabLevel level)
{
  return level == FAB_LEVEL_INSIDE ? FAB_LEVEL_BETWEEN : FAB_LEVEL_INSIDE;
}

/* The messages of a reduce-scatter, which has the first level before the other one, or of an all-gather the other way
 * round, or of both. (transfer full) */
static FabSchedule *
schedule_of (const FabGroup *group, FabLevel first, gboolean scatters, gboolean gathers)
{
  g_autoptr (FabPhases) phases = fab_phases_new (group, FALSE);
  FabLevels levels = fab_levels_of (group, phases, first);
  double rest = 1.0 / fab_levels_members (group, first);
  FabSchedule *schedule = fab_schedule_new (group->cluster);

  if (scatters) {
    fab_levels_go (&levels, first, FALSE, 1);
    fab_levels_go (&levels, other_level (first), FALSE, rest);
  }
  if (gathers) {
    fab_levels_go (&levels, other_level (first), TRUE, rest);
    fab_levels_go (&levels, first, TRUE, 1);
  }
  assert_true (fab_phases_schedule (phases, &(FabAlgorithmEnv){ .net_stretch = 1 }, 1, schedule, NULL));
  return schedule;
}

static void
assert_messages (Rig *owned, FabLevel first, gboolean scatters, gboolean gathers, const char *expected)
{
  g_autoptr (Rig) rig = owned;
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = schedule_of (&group, first, scatters, gathers);

  lanes_assert (schedule, &rig->cluster, expected);
}

/* --- by hand --- */

/* Rank r begins with the part of rank r - 1, and adds its own to what has come before it sends it on. */
static void
a_ring_goes_round_one_node (G_GNUC_UNUSED void **state)
{
  assert_messages (star (1, 4), FAB_LEVEL_INSIDE, TRUE, FALSE,
                   "0>1 0.25\n1>2 0.25\n2>3 0.25\n3>0 0.25\n"
                   "0>1 0.25 after 3\n1>2 0.25 after 0\n2>3 0.25 after 1\n3>0 0.25 after 2\n"
                   "0>1 0.25 after 7\n1>2 0.25 after 4\n2>3 0.25 after 5\n3>0 0.25 after 6\n");
  assert_messages (star (1, 3), FAB_LEVEL_INSIDE, FALSE, TRUE,
                   "0>1 0.3333333333\n1>2 0.3333333333\n2>0 0.3333333333\n"
                   "0>1 0.3333333333 after 2\n1>2 0.3333333333 after 0\n2>0 0.3333333333 after 1\n");
}

/* In a mesh each rank sends its share of every part straight to the owner, and its own part to all in the end. */
static void
all_pairs_of_a_mesh_send_at_once (G_GNUC_UNUSED void **state)
{
  assert_messages (
      mesh (1, 4), FAB_LEVEL_INSIDE, TRUE, TRUE,
      "0>1 0.25\n1>2 0.25\n2>3 0.25\n3>0 0.25\n0>2 0.25\n1>3 0.25\n2>0 0.25\n3>1 0.25\n"
      "0>3 0.25\n1>0 0.25\n2>1 0.25\n3>2 0.25\n"
      "0>1 0.25 after 3 6 9\n1>2 0.25 after 0 7 10\n2>3 0.25 after 1 4 11\n3>0 0.25 after 2 5 8\n"
      "0>2 0.25 after 3 6 9\n1>3 0.25 after 0 7 10\n2>0 0.25 after 1 4 11\n3>1 0.25 after 2 5 8\n"
      "0>3 0.25 after 3 6 9\n1>0 0.25 after 0 7 10\n2>1 0.25 after 1 4 11\n3>2 0.25 after 2 5 8\n");
}

/* Ranks 0 and 1 in one node, 2 and 3 in the other. After lanes 0 to 3 every rank has half of the sums of its node,
 * after 4 to 7 a quarter of the sums of all, which waits for both. In 8 to 11 it gets the other quarter of its half
 * from the other node, which replaces what it had, and it sends both quarters inside the node. */
static void
two_nodes_take_two_levels (G_GNUC_UNUSED void **state)
{
  assert_messages (star (2, 2), FAB_LEVEL_INSIDE, TRUE, TRUE,
                   "0>1 0.5\n1>0 0.5\n2>3 0.5\n3>2 0.5\n"
                   "0>2 0.25 after 1\n1>3 0.25 after 0\n2>0 0.25 after 3\n3>1 0.25 after 2\n"
                   "0>2 0.25 after 1 6\n1>3 0.25 after 0 7\n2>0 0.25 after 3 4\n3>1 0.25 after 2 5\n"
                   "0>1 0.5 after 1 6 10\n1>0 0.5 after 0 7 11\n2>3 0.5 after 3 4 8\n3>2 0.5 after 2 5 9\n");
  assert_messages (star (2, 2), FAB_LEVEL_BETWEEN, TRUE, TRUE,
                   "0>2 0.5\n1>3 0.5\n2>0 0.5\n3>1 0.5\n"
                   "0>1 0.25 after 2\n1>0 0.25 after 3\n2>3 0.25 after 0\n3>2 0.25 after 1\n"
                   "0>1 0.25 after 2 5\n1>0 0.25 after 3 4\n2>3 0.25 after 0 7\n3>2 0.25 after 1 6\n"
                   "0>2 0.5 after 2 5 9\n1>3 0.5 after 3 4 8\n2>0 0.5 after 0 7 11\n3>1 0.5 after 1 6 10\n");
}

/* --- any size --- */

static guint
count_bits (guint64 word)
{
  return (guint) __builtin_popcountll (word);
}

typedef struct {
  const FabGroup *group;
  FabSchedule *schedule;
  FabLevel first;
  gboolean is_mesh;
  const guint64 *sources;
  double *received; /* [ranks] */
  guint lane;       /* the next one */
} Walk;

/* Looks at the messages of one level. In the reduce-scatter the part of a ring's step s has the bytes of s members in
 * it, and each member has those of `each` ranks; in the all-gather it has those of all. */
static void
walk_level (Walk *self, FabLevel level, gboolean gathers, guint each, double weight)
{
  guint n = fab_levels_members (self->group, level), n_ranks = fab_group_n_ranks (self->group);
  gboolean is_at_once = level == FAB_LEVEL_INSIDE && self->is_mesh;

  for (guint step = 1; step < n; step++)
    for (guint i = 0; i < n_ranks; i++, self->lane++) {
      guint from = lanes_from (self->schedule, self->group->cluster, self->lane),
            to = lanes_to (self->schedule, self->group->cluster, self->lane);
      guint g = self->group->gpus_per_node;
      gboolean is_inside = from / g == to / g;

      assert_int_equal (is_inside, level == FAB_LEVEL_INSIDE);
      assert_true (is_inside || from % g == to % g);
      assert_near (lanes_weight (self->schedule, self->lane), weight, 1e-12);
      assert_int_equal (count_bits (self->sources[self->lane]), gathers      ? n_ranks
                                                                : is_at_once ? each
                                                                             : step * each);
      self->received[to] += weight;
    }
}

/* Every rank receives as much as theory says: a share of 1 - 1/n of what it has at each level, twice. */
static void
check_all_reduce (Rig *owned, FabLevel first, gboolean is_mesh)
{
  g_autoptr (Rig) rig = owned;
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = schedule_of (&group, first, TRUE, TRUE);
  g_autofree guint64 *sources = lanes_sources (schedule, &rig->cluster);
  guint n_ranks = fab_group_n_ranks (&group), n_first = fab_levels_members (&group, first),
        n_second = n_ranks / n_first;
  g_autofree double *received = g_new0 (double, n_ranks);
  Walk walk = { &group, schedule, first, is_mesh, sources, received, 0 };

  walk_level (&walk, first, FALSE, 1, 1.0 / n_first);
  walk_level (&walk, other_level (first), FALSE, n_first, 1.0 / n_ranks);
  walk_level (&walk, other_level (first), TRUE, 0, 1.0 / n_ranks);
  walk_level (&walk, first, TRUE, 0, 1.0 / n_first);
  assert_int_equal (walk.lane, fab_schedule_n_lanes (schedule));
  for (guint i = 0; i < n_ranks; i++)
    assert_near (received[i], 2.0 * (n_first - 1) / n_first + 2.0 * (n_second - 1) / n_ranks, 1e-12);
}

static void
every_part_has_the_bytes_of_all_before_it_is_gathered (G_GNUC_UNUSED void **state)
{
  for (guint n_nodes = 1; n_nodes <= 4; n_nodes++)
    for (guint g = 2; g <= 5; g++)
      for (FabLevel first = FAB_LEVEL_INSIDE; first < FAB_N_LEVELS; first++) {
        check_all_reduce (star (n_nodes, g), first, FALSE);
        check_all_reduce (mesh (n_nodes, g), first, TRUE);
      }
}

/* Of an all-gather each rank gets the parts of all others once. */
static void
a_gather_brings_the_bytes_of_all (G_GNUC_UNUSED void **state)
{
  for (guint n_nodes = 1; n_nodes <= 3; n_nodes++)
    for (guint g = 2; g <= 5; g++)
      for (FabLevel first = FAB_LEVEL_INSIDE; first < FAB_N_LEVELS; first++) {
        g_autoptr (Rig) rig = star (n_nodes, g);
        FabGroup group = rig_group (rig);
        g_autoptr (FabSchedule) schedule = schedule_of (&group, first, FALSE, TRUE);
        g_autofree guint64 *sources = lanes_sources (schedule, &rig->cluster);
        guint n_ranks = n_nodes * g;
        g_autofree guint64 *has = g_new0 (guint64, n_ranks);
        g_autofree double *weights = g_new0 (double, n_ranks);

        for (guint l = 0; l < fab_schedule_n_lanes (schedule); l++) {
          guint to = lanes_to (schedule, &rig->cluster, l);

          has[to] |= sources[l];
          weights[to] += lanes_weight (schedule, l);
        }
        for (guint i = 0; i < n_ranks; i++) {
          assert_int_equal (count_bits (has[i] | G_GUINT64_CONSTANT (1) << i), n_ranks);
          assert_near (weights[i], (double) (n_ranks - 1) / n_ranks, 1e-12);
        }
      }
}

/* --- what a level is --- */

static void
a_mesh_takes_one_phase (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *rows; /* NULL: behind a switch */
    guint n_inside;
  } cases[] = { { "0111 1011 1101 1110", 1 },
                { "0101 1010 0101 1010", 3 },
                { "0111 1011 1100 1100", 3 }, /* all but one pair */
                { NULL, 3 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Wiring wiring = wiring_of_rows (4, cases[i].rows != NULL ? cases[i].rows : "0000000000000000");
    g_autoptr (Rig) rig = mesh_new (&wiring, 3, TRUE);
    FabGroup group = rig_group (rig);
    g_autoptr (FabPhases) phases = fab_phases_new (&group, FALSE);
    FabLevels levels = fab_levels_of (&group, phases, FAB_LEVEL_INSIDE);

    assert_int_equal (fab_levels_members (&group, FAB_LEVEL_INSIDE), 4);
    assert_int_equal (fab_levels_members (&group, FAB_LEVEL_BETWEEN), 3);
    assert_int_equal (fab_levels_phases (&levels, FAB_LEVEL_INSIDE), cases[i].n_inside);
    assert_int_equal (fab_levels_phases (&levels, FAB_LEVEL_BETWEEN), 2);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_ring_goes_round_one_node),
    cmocka_unit_test (all_pairs_of_a_mesh_send_at_once),
    cmocka_unit_test (two_nodes_take_two_levels),
    cmocka_unit_test (every_part_has_the_bytes_of_all_before_it_is_gathered),
    cmocka_unit_test (a_gather_brings_the_bytes_of_all),
    cmocka_unit_test (a_mesh_takes_one_phase),
  };

  return cmocka_run_group_tests_name ("levels", tests, NULL, NULL);
}
