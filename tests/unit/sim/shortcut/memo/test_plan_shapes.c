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
    cmocka_unit_test (keys_tell_what_is_under_way),
  };

  return cmocka_run_group_tests_name ("plan_shapes", tests, NULL, NULL);
}
