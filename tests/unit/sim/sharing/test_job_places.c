/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_places.c - which nodes a job is given, by hand and against a list of all free nodes; and nodes that are away
 * for repair, with the spares that stand in for them. */
#include "tests/support/random.h"
#include "tests/support/test.h"

#include "sim/base/mix.h"
#include "sim/sharing/broken_nodes.h"
#include "sim/sharing/job_places.h"

enum { GROUPS = 4 };

static GArray *
place (FabMixPlacement placement, guint *free_nodes, guint n, guint64 seed, guint64 *draw)
{
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (FabMixPart));

  fab_mix_place (placement, GROUPS, free_nodes, n, seed, draw, parts);
  return parts;
}

/* Packed: the fullest group that has room for all, or else whole groups, the emptiest first, until one has room for the
 * rest. Spread: each node where most are free. First: in the order of the groups. Of equal groups it is the first. */
static void
places_are_those_by_hand (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabMixPlacement placement;
    guint free_nodes[GROUPS], n;
    const char *parts; /* "group:nodes ..." in the order in which they are given */
  } rows[] = {
    { FAB_MIX_PACKED, { 4, 2, 3, 0 }, 3, "2:3 " },
    { FAB_MIX_PACKED, { 4, 2, 3, 0 }, 2, "1:2 " },
    { FAB_MIX_PACKED, { 4, 2, 3, 1 }, 1, "3:1 " },
    { FAB_MIX_PACKED, { 4, 2, 3, 0 }, 4, "0:4 " },
    { FAB_MIX_PACKED, { 4, 2, 3, 0 }, 5, "0:4 1:1 " },
    { FAB_MIX_PACKED, { 2, 4, 3, 0 }, 7, "1:4 2:3 " },
    { FAB_MIX_PACKED, { 4, 2, 3, 0 }, 9, "0:4 2:3 1:2 " },
    { FAB_MIX_PACKED, { 3, 3, 3, 3 }, 2, "0:2 " },
    { FAB_MIX_PACKED, { 1, 3, 3, 0 }, 5, "1:3 2:2 " },
    { FAB_MIX_SPREAD, { 4, 2, 3, 0 }, 5, "0:3 1:1 2:1 " },
    { FAB_MIX_SPREAD, { 1, 2, 5, 0 }, 3, "2:3 " },
    { FAB_MIX_SPREAD, { 3, 3, 3, 3 }, 6, "0:2 1:2 2:1 3:1 " },
    { FAB_MIX_FIRST, { 4, 2, 3, 0 }, 5, "0:4 1:1 " },
    { FAB_MIX_FIRST, { 0, 2, 0, 3 }, 3, "1:2 3:1 " },
    { FAB_MIX_FIRST, { 0, 2, 0, 3 }, 2, "1:2 " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint free_nodes[GROUPS];
    guint64 draw = 0;

    memcpy (free_nodes, rows[i].free_nodes, sizeof free_nodes);
    g_autoptr (GArray) parts = place (rows[i].placement, free_nodes, rows[i].n, 1, &draw);
    g_autoptr (GString) text = g_string_new (NULL);
    for (guint p = 0; p < parts->len; p++) {
      const FabMixPart *part = &g_array_index (parts, FabMixPart, p);

      g_string_append_printf (text, "%u:%u ", part->group, part->n);
      assert_int_equal (free_nodes[part->group], rows[i].free_nodes[part->group] - part->n);
    }
    if (strcmp (text->str, rows[i].parts) != 0)
      fail_msg ("row %u: %s", i, text->str);
    assert_int_equal (draw, 0);
  }
}

/* Each drawn number takes one node from the list of those that are free, in the order of their groups. */
static void
random_places_take_nodes_from_a_list (G_GNUC_UNUSED void **state)
{
  for (guint round = 0; round < 200; round++) {
    Random random = { 31 * round };
    guint free_nodes[GROUPS], before[GROUPS], counts[GROUPS] = { 0 }, n_parts = 0;
    g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (guint));
    guint64 draw = round, seed = 1000 + round;

    for (guint g = 0; g < GROUPS; g++) {
      before[g] = free_nodes[g] = random_between (&random, g == 0, 6);
      for (guint i = 0; i < free_nodes[g]; i++)
        g_array_append_val (list, g);
    }
    guint n = random_between (&random, 1, list->len);
    for (guint i = 0; i < n; i++) {
      guint which = (guint) (fab_mix (seed, round + i) % list->len);

      counts[g_array_index (list, guint, which)]++;
      g_array_remove_index (list, which);
    }
    g_autoptr (GArray) parts = place (FAB_MIX_RANDOM, free_nodes, n, seed, &draw);
    assert_int_equal (draw, round + n);
    for (guint g = 0; g < GROUPS; g++) {
      assert_int_equal (free_nodes[g], before[g] - counts[g]);
      if (counts[g] == 0)
        continue;
      assert_int_equal (g_array_index (parts, FabMixPart, n_parts).group, g);
      assert_int_equal (g_array_index (parts, FabMixPart, n_parts++).n, counts[g]);
    }
    assert_int_equal (parts->len, n_parts);
  }
}

/* Of two nodes the one that is whole first comes back first, to its own group; of equal ones that which broke first. */
static void
nodes_come_back_to_their_groups (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBrokenNodes) broken = fab_broken_nodes_new (0);
  static const struct {
    double back_s;
    guint group;
  } order[] = { { 5, 2 }, { 7, 4 }, { 7, 3 }, { 9, 1 } };

  assert_false (fab_broken_nodes_add (broken, 1, 9));
  assert_false (fab_broken_nodes_add (broken, 2, 5));
  assert_false (fab_broken_nodes_add (broken, 4, 7));
  assert_false (fab_broken_nodes_add (broken, 3, 7));
  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    assert_int_equal (fab_broken_nodes_missing (broken), 4 - i);
    assert_near (fab_broken_nodes_next (broken), order[i].back_s, 0);
    assert_int_equal (fab_broken_nodes_return (broken), order[i].group);
  }
  assert_true (isinf (fab_broken_nodes_next (broken)));
  assert_int_equal (fab_broken_nodes_missing (broken), 0);
}

/* Two spares stand in for the first two that break. The third and the fourth are missing: when a node is whole for
 * which a spare stands in, that spare goes to the one that broke first of them. The last two are spares again. */
static void
spares_go_to_who_waits_longest (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabBrokenNodes) broken = fab_broken_nodes_new (2);
  static const struct {
    double back_s;
    guint group, n_missing;
  } order[] = { { 6, 9, 1 }, { 10, 8, 0 }, { 12, G_MAXUINT, 0 }, { 20, G_MAXUINT, 0 } };

  assert_true (fab_broken_nodes_add (broken, 6, 20));
  assert_true (fab_broken_nodes_add (broken, 7, 10));
  assert_int_equal (fab_broken_nodes_missing (broken), 0);
  assert_false (fab_broken_nodes_add (broken, 8, 12));
  assert_false (
      fab_broken_nodes_add (broken, 9, 6)); /* whole before the others, so it comes back to its own group */
  assert_int_equal (fab_broken_nodes_missing (broken), 2);
  for (guint i = 0; i < G_N_ELEMENTS (order); i++) {
    assert_near (fab_broken_nodes_next (broken), order[i].back_s, 0);
    assert_int_equal (fab_broken_nodes_return (broken), order[i].group);
    assert_int_equal (fab_broken_nodes_missing (broken), order[i].n_missing);
  }
  assert_true (fab_broken_nodes_add (broken, 1, 30));
  assert_true (fab_broken_nodes_add (broken, 2, 30));
  assert_false (fab_broken_nodes_add (broken, 3, 30));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (places_are_those_by_hand),
    cmocka_unit_test (random_places_take_nodes_from_a_list),
    cmocka_unit_test (nodes_come_back_to_their_groups),
    cmocka_unit_test (spares_go_to_who_waits_longest),
  };

  return cmocka_run_group_tests_name ("job_places", tests, NULL, NULL);
}
