/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_shapes.c - which collectives are alike but for the links they use. The links of the rig have the same rate,
 * but for those of NICs.
 */
#include "tests/support/test.h"

#include "sim/shortcut/memo/plan_shapes.h"
#include "tests/support/rig.h"

typedef struct {
  Rig *rig;
  FabPlanShapes *shapes;
} Scene;

static Scene
scene_new (void)
{
  return (Scene){ rig_new_flat (6), fab_plan_shapes_new () };
}

static void
scene_clear (Scene *self)
{
  fab_plan_shapes_free (self->shapes);
  rig_free (self->rig);
}

static FabPlanShape
find (Scene *self, guint64 word, const FabLinkId *links, guint n)
{
  g_autoptr (GArray) words = g_array_new (FALSE, FALSE, sizeof word),
                     all = g_array_new (FALSE, FALSE, sizeof *links);

  g_array_append_val (words, word);
  g_array_append_vals (all, links, n);
  return fab_plan_shapes_find (self->shapes, self->rig->graph, words, all);
}

/* The order of links is that of what crosses them: 3, 5, 3 is 1, 2, 1 moved, and not 5, 3, 5. */
static void
links_count_by_their_order_alone (G_GNUC_UNUSED void **state)
{
  Scene scene = scene_new ();
  FabPlanShape first = find (&scene, 7, (const FabLinkId[]){ 1, 2, 1 }, 3);

  assert_int_equal (find (&scene, 7, (const FabLinkId[]){ 3, 5, 3 }, 3).shape, first.shape);
  assert_int_not_equal (find (&scene, 7, (const FabLinkId[]){ 5, 3, 5 }, 3).shape, first.shape);
  assert_int_not_equal (find (&scene, 7, (const FabLinkId[]){ 1, 2, 2 }, 3).shape, first.shape);
  assert_int_not_equal (find (&scene, 8, (const FabLinkId[]){ 1, 2, 1 }, 3).shape, first.shape);
  scene_clear (&scene);
}

/* Sets of links are the same in any order. */
static void
relations_say_which_links_are_the_same (G_GNUC_UNUSED void **state)
{
  Scene scene = scene_new ();
  guint a = find (&scene, 0, (const FabLinkId[]){ 1, 2 }, 2).links,
        b = find (&scene, 0, (const FabLinkId[]){ 2, 3 }, 2).links,
        c = find (&scene, 0, (const FabLinkId[]){ 3, 4 }, 2).links, none = find (&scene, 0, NULL, 0).links;
  FabPlanShapes *shapes = scene.shapes;

  assert_int_equal (find (&scene, 0, (const FabLinkId[]){ 2, 1, 2 }, 3).links, a);
  assert_int_equal (fab_plan_shapes_relation (shapes, a, c), 0);
  assert_true (fab_plan_shapes_relation (shapes, a, b) > 0);
  assert_int_equal (fab_plan_shapes_relation (shapes, a, b), fab_plan_shapes_relation (shapes, b, c));
  assert_int_not_equal (fab_plan_shapes_relation (shapes, a, b), fab_plan_shapes_relation (shapes, b, a));
  assert_int_equal (fab_plan_shapes_relation (shapes, a, a), fab_plan_shapes_relation (shapes, c, c));
  assert_int_equal (fab_plan_shapes_relation (shapes, none, a), 0);
  assert_true (fab_plan_shapes_relation (shapes, none, none) > 0);
  scene_clear (&scene);
}

/* Of all pairs of sets of four links: they meet where a link is in both, and only then their relation is not 0. */
static void
relations_are_those_of_the_sets (G_GNUC_UNUSED void **state)
{
  Scene scene = scene_new ();
  guint sets[16];

  for (guint bits = 0; bits < G_N_ELEMENTS (sets); bits++) {
    FabLinkId links[4];
    guint n = 0;

    for (guint i = 0; i < 4; i++)
      if (bits >> i & 1)
        links[n++] = i + 1;
    sets[bits] = find (&scene, 0, links, n).links;
  }
  for (guint a = 0; a < G_N_ELEMENTS (sets); a++)
    for (guint b = 0; b < G_N_ELEMENTS (sets); b++) {
      gboolean meet = (a & b) != 0 || (a == 0 && b == 0);

      assert_int_equal (fab_plan_shapes_relation (scene.shapes, sets[a], sets[b]) > 0, meet);
      assert_int_equal (fab_plan_shapes_meet (scene.shapes, sets[a], sets[b]), meet);
    }
  scene_clear (&scene);
}

/* Long sets are looked up, and numbered when they are compared first; short ones are compared each time, which numbers
 * nothing. The first relation that is asked for has the next number. */
static void
long_sets_are_looked_up (G_GNUC_UNUSED void **state)
{
  for (guint n = 32; n <= 33; n++) {
    Scene scene = { rig_new_flat (40), fab_plan_shapes_new () };
    FabLinkId links[66];

    for (guint i = 0; i < G_N_ELEMENTS (links); i++)
      links[i] = i;
    guint left = find (&scene, 0, links, n).links, right = find (&scene, 0, links + n, 32).links,
          both = find (&scene, 0, links + n - 1, 32).links, one = find (&scene, 0, links, 1).links;
    assert_false (fab_plan_shapes_meet (scene.shapes, left, right));
    assert_true (fab_plan_shapes_meet (scene.shapes, left, both));
    assert_true (fab_plan_shapes_meet (scene.shapes, both, right));
    assert_int_equal (fab_plan_shapes_relation (scene.shapes, one, one), n == 32 ? 1 : 2);
    scene_clear (&scene);
  }
}

/* Wires of which each differs from the first in one thing that a network may know of a link. */
static void
what_links_are_is_part_of_the_shape (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabVertexKind from, to;
    FabLinkForm form;
    gboolean joins_groups;
    FabTimePs added_ps, reverse_ps; /* by a fault */
  } wires[] = {
    { FAB_VERTEX_SWITCH, FAB_VERTEX_SWITCH, { 1000, 10, 0, 1 }, FALSE, 0, 0 },
    { FAB_VERTEX_SWITCH, FAB_VERTEX_SWITCH, { 2000, 10, 0, 1 }, FALSE, 0, 0 },
    { FAB_VERTEX_SWITCH, FAB_VERTEX_SWITCH, { 1000, 10, 1, 1 }, FALSE, 0, 0 },
    { FAB_VERTEX_SWITCH, FAB_VERTEX_SWITCH, { 500, 10, 0, 2 }, FALSE, 0, 0 },
    { FAB_VERTEX_SWITCH, FAB_VERTEX_SWITCH, { 1000, 10, 0, 1 }, TRUE, 0, 0 },
    { FAB_VERTEX_SWITCH, FAB_VERTEX_SWITCH, { 1000, 10, 0, 1 }, FALSE, 5, 0 },
    { FAB_VERTEX_SWITCH, FAB_VERTEX_SWITCH, { 1000, 10, 0, 1 }, FALSE, 0, 5 },
    { FAB_VERTEX_NIC, FAB_VERTEX_SWITCH, { 1000, 10, 0, 1 }, FALSE, 0, 0 },
    { FAB_VERTEX_SWITCH, FAB_VERTEX_NIC, { 1000, 10, 0, 1 }, FALSE, 0, 0 },
    { FAB_VERTEX_SWITCH, FAB_VERTEX_SWITCH, { 1000, 10, 0, 1 }, FALSE, 0, 0 }, /* as the first */
  };
  enum { N = G_N_ELEMENTS (wires) };
  g_autoptr (FabGraphBuilder) builder = fab_graph_builder_new ();
  FabPlanShapes *shapes = fab_plan_shapes_new ();
  guint part = fab_graph_builder_part (builder, "vertex", TRUE);
  FabLinkChange changes[2 * N];
  g_autoptr (GArray) words = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint i = 0; i < 2; i++)
    fab_graph_builder_class (builder,
                             &(FabLinkClass){ .name = i == 0 ? "one" : "other", .cost = { 1, 1, 1 } });
  for (guint i = 0; i < N; i++) {
    FabVertexId from = fab_graph_builder_vertex (builder, wires[i].from, FAB_NO_NODE, part, 2 * i),
                to = fab_graph_builder_vertex (builder, wires[i].to, FAB_NO_NODE, part, 2 * i + 1);

    if (wires[i].joins_groups)
      fab_graph_builder_join_groups (builder, from, to, &wires[i].form);
    else
      fab_graph_builder_join (builder, from, to, &wires[i].form);
    changes[2 * i] = (FabLinkChange){ 1, wires[i].added_ps };
    changes[2 * i + 1] = (FabLinkChange){ 1, wires[i].reverse_ps };
  }
  g_autoptr (FabGraph) graph = fab_graph_builder_freeze (builder);
  fab_graph_change (graph, changes);
  for (FabLinkId i = 0; i < N; i++) {
    const FabLinkId link = 2 * i;
    g_autoptr (GArray) links = g_array_append_vals (g_array_new (FALSE, FALSE, sizeof link), &link, 1);

    assert_int_equal (fab_graph_link (graph, link)->src, 2 * i);
    assert_int_equal (fab_plan_shapes_find (shapes, graph, words, links).shape, i < N - 1 ? i : 0);
  }
  fab_plan_shapes_free (shapes);
}

/* What a network is told of links is not mixed up with what it is told of them in words, and a set has its links in
 * ascending order, each once. */
static void
words_and_links_are_told_apart (G_GNUC_UNUSED void **state)
{
  Scene scene = scene_new ();
  static const FabLinkId links[] = { 5, 2, 5, 3 }, ascending[] = { 2, 3, 5 };
  const guint64 zeros[2] = { 0 };
  g_autoptr (GArray) none = g_array_new (FALSE, FALSE, sizeof *zeros),
                     two = g_array_append_vals (g_array_new (FALSE, FALSE, sizeof *zeros), zeros, 2),
                     no_links = g_array_new (FALSE, FALSE, sizeof *links);
  guint n;

  assert_int_equal (fab_plan_shapes_find (scene.shapes, scene.rig->graph, none, no_links).shape, 0);
  assert_int_equal (fab_plan_shapes_find (scene.shapes, scene.rig->graph, two, no_links).shape, 1);
  const FabLinkId *set = fab_plan_shapes_links (scene.shapes, find (&scene, 0, links, 4).links, &n);
  assert_int_equal (n, 3);
  assert_memory_equal (set, ascending, sizeof ascending);
  fab_plan_shapes_links (scene.shapes, find (&scene, 0, NULL, 0).links, &n);
  assert_int_equal (n, 0);
  fab_plan_shapes_free (NULL);
  scene_clear (&scene);
}

static void
keys_tell_what_is_under_way (G_GNUC_UNUSED void **state)
{
  Scene scene = scene_new ();
  FabPlanShapes *shapes = scene.shapes;
  guint32 key = fab_plan_shapes_key (shapes, 1, (const guint[]){ 4, 0 }, 2);

  assert_int_equal (fab_plan_shapes_key (shapes, 1, (const guint[]){ 4, 0 }, 2), key);
  assert_int_not_equal (fab_plan_shapes_key (shapes, 1, (const guint[]){ 0, 4 }, 2), key);
  assert_int_not_equal (fab_plan_shapes_key (shapes, 1, (const guint[]){ 4 }, 1), key);
  assert_int_not_equal (fab_plan_shapes_key (shapes, 2, (const guint[]){ 4, 0 }, 2), key);
  scene_clear (&scene);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (links_count_by_their_order_alone),
    cmocka_unit_test (relations_say_which_links_are_the_same),
    cmocka_unit_test (relations_are_those_of_the_sets),
    cmocka_unit_test (long_sets_are_looked_up),
    cmocka_unit_test (what_links_are_is_part_of_the_shape),
    cmocka_unit_test (words_and_links_are_told_apart),
    cmocka_unit_test (keys_tell_what_is_under_way),
  };

  return cmocka_run_group_tests_name ("plan_shapes", tests, NULL, NULL);
}
