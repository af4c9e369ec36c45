/* SPDX-License-Identifier: Apache-2.0 */
/* test_rehearsal.c - episodes of several collectives that are played before the clock starts are in the tree as if they
 * had been played by the jobs. A stream of b bytes takes b ps (fake_net.h).
 */
#include "tests/support/test.h"

#include "sim/shortcut/memo/dry_run.h"
#include "sim/shortcut/memo/rehearsal.h"
#include "tests/unit/sim/shortcut/memo/books_scene.h"

static void
scene_start (Scene *self)
{
  scene_init (self, KIND_TRACES);
  self->nets.n_skipped = 5;
}

static FabWarmUpEnv
env_of (Scene *self, guint n_threads)
{
  return (FabWarmUpEnv){ .ops = &self->nets.ops,
                         .params = &self->nets,
                         .env = self->net->env,
                         .n_threads = n_threads,
                         .is_all = TRUE };
}

/* All collectives are on link 0; the first one of each shape was warmed up. */
static void
know (Scene *self, const FabBytes *bytes, guint n)
{
  g_autofree FabEpisodeInput *inputs = g_new0 (FabEpisodeInput, n);

  for (guint i = 0; i < n; i++)
    inputs[i].plan = PLAN (self, bytes[i], 0);
  fab_episode_books_try_apart (&self->books, inputs, n);
  for (guint32 i = 0; i < n; i++)
    scene_learn (self, i, bytes[i], (guint64) bytes[i]);
  self->net->n_skipped = 0;
}

static GArray *
expected_of (const FabExpectedInput *inputs, guint n)
{
  return g_array_append_vals (g_array_new (FALSE, FALSE, sizeof *inputs), inputs, n);
}

static void
rehearse (Scene *self, const FabExpectedInput *inputs, guint n)
{
  g_autoptr (GPtrArray) expected = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  const FabWarmUpEnv env = env_of (self, 1);

  g_ptr_array_add (expected, expected_of (inputs, n));
  fab_rehearse (&self->books, &env, expected);
}

static const FabEpisodeNode *
begin_of (const Scene *self, guint32 plan)
{
  return fab_episode_shape_at (&self->books, fab_episode_plan_at (&self->books, plan)->shape.shape)
      ->samples[0];
}

/* The input of `plan` that follows after so long, with `before` begun before it. */
static const FabEpisodeNode *
input_after (Scene *self, const FabEpisodeNode *node, guint32 plan, FabTimePs after_ps, const guint32 *before,
             guint n_before)
{
  g_autoptr (GArray) others = list (before, n_before);
  const FabEpisodeNode *found = fab_episode_node_find (node,
                                                       fab_episode_books_key (&self->books, plan, others),
                                                       after_ps, 0);

  assert_non_null (found);
  assert_true (found->is_played && !found->is_output);
  assert_ptr_equal (found->parent, node);
  return found;
}

static const FabEpisodeNode *
output_after (const FabEpisodeNode *node, guint32 what, FabTimePs after_ps)
{
  const FabEpisodeNode *found = node->output;

  assert_non_null (found);
  assert_true (found->is_played && found->is_output);
  assert_int_equal (found->what, what);
  assert_int_equal (found->after_ps, after_ps);
  assert_ptr_equal (found->parent, node);
  return found;
}

/* 0 to 100 and 40 to 240. It is quiet up to an input, and up to one ps before an output. */
static void
an_expected_episode_is_known_afterwards (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_start (&scene);
  scene.nets.skip_ps = 7;
  know (&scene, (const FabBytes[]){ 100, 200 }, 2);

  rehearse (&scene, (const FabExpectedInput[]){ { 0, FAB_AFTER_BEGIN, 0 }, { 1, FAB_AFTER_BEGIN, 40 } }, 2);
  const FabEpisodeNode *begin = begin_of (&scene, 0),
                       *second = input_after (&scene, begin, 1, 40, (const guint32[]){ 0 }, 1),
                       *first_end = output_after (second, 0, 60), *end = output_after (first_end, 1, 140);
  const FabSkip skips[] = { { 0, 7 }, { 40, 7 } };
  assert_int_equal (begin->quiet_ps, 40);
  assert_int_equal (second->quiet_ps, 59);
  assert_int_equal (first_end->quiet_ps, 139);
  assert_int_equal (end->quiet_ps, -1);
  assert_null (end->output);
  assert_memory_equal (g_bytes_get_data (second->skips, NULL), &skips[0], sizeof *skips);
  assert_memory_equal (g_bytes_get_data (first_end->skips, NULL), &skips[1], sizeof *skips);
  assert_null (end->skips);
  assert_null (first_end->queues);
  assert_null (first_end->late);
  assert_int_equal (g_bytes_get_size (end->queues), sizeof (FabLaneQueue));
  assert_int_equal (g_bytes_get_size (end->late), 0);
  assert_int_equal (((const FabLaneQueue *) g_bytes_get_data (end->queues, NULL))->carried_bytes, 300);
  assert_int_equal (scene.books.count.n_rehearsals, 1);
  assert_int_equal (scene.books.n_events, 2);
  assert_int_equal (scene.net->n_skipped, 10);
  scene_clear (&scene);
}

/* The third of the list waits for the second and begins at 310, after the fourth, which waits for the first and begins
 * at 120: so the tree counts it as the fourth. */
static void
those_that_wait_begin_in_their_order (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_start (&scene);
  know (&scene, (const FabBytes[]){ 100, 300, 50, 400 }, 4);

  rehearse (&scene,
            (const FabExpectedInput[]){
                { 0, FAB_AFTER_BEGIN, 0 }, { 1, FAB_AFTER_BEGIN, 0 }, { 2, 1, 10 }, { 3, 0, 20 } },
            4);
  const guint32 order[] = { 0, 1, 3 };
  const FabEpisodeNode *node = input_after (&scene, begin_of (&scene, 0), 1, 0, order, 1);
  node = input_after (&scene, output_after (node, 0, 100), 3, 20, order, 2);
  node = input_after (&scene, output_after (node, 1, 180), 2, 10, order, 3);
  node = output_after (output_after (node, 3, 50), 2, 160);
  assert_non_null (node->queues);
  assert_int_equal (scene.books.n_events, 4);
  scene_clear (&scene);
}

/* Two that end in one ps end in it both, and what waits for one of them begins in it, too. */
static void
a_ps_is_played_to_its_end (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_start (&scene);
  know (&scene, (const FabBytes[]){ 100, 60, 30, 500 }, 4);

  rehearse (&scene,
            (const FabExpectedInput[]){ { 0, FAB_AFTER_BEGIN, 0 },
                                        { 3, FAB_AFTER_BEGIN, 0 },
                                        { 1, FAB_AFTER_BEGIN, 40 },
                                        { 2, 0, 0 } },
            4);
  const guint32 order[] = { 0, 3, 1 };
  const FabEpisodeNode *node = input_after (&scene, begin_of (&scene, 0), 3, 0, order, 1);
  node = input_after (&scene, node, 1, 40, order, 2);
  node = output_after (output_after (node, 0, 60), 2, 0);
  node = input_after (&scene, node, 2, 0, order, 3);
  output_after (output_after (node, 3, 30), 1, 370);
  scene_clear (&scene);
}

/* What jams, fails or is cancelled is not known afterwards, and what waits for it never begins. What begins in the
 * first ps does so before anybody looks whether it was cancelled. */
static void
what_does_not_end_is_not_known (G_GNUC_UNUSED void **state)
{
  for (guint kind = 0; kind < 3; kind++) {
    const gint cancel = 1;
    Scene scene;
    scene_start (&scene);
    know (&scene, (const FabBytes[]){ 100, 200, 300 }, 3);
    scene.nets.jam_bytes = kind == 0 ? 200 : 0;
    scene.nets.fail_bytes = kind == 1 ? 200 : 0;
    if (kind == 2)
      fab_engine_set_cancel (scene.engine, &cancel);

    rehearse (
        &scene,
        (const FabExpectedInput[]){ { 0, FAB_AFTER_BEGIN, 0 }, { 1, FAB_AFTER_BEGIN, 40 }, { 2, 1, 5 } }, 3);
    assert_null (begin_of (&scene, 0)->inputs);
    assert_int_equal (scene.books.count.n_rehearsals, 1);
    assert_int_equal (scene.nets.n_streams, kind < 2 ? 2 : 1);
    assert_int_equal (scene.net->n_skipped, kind < 2 ? 10 : 5);
    scene_clear (&scene);
  }
}

/* What fails on its way out, when all have ended, is not known. */
static void
what_fails_after_its_end_is_not_known (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_start (&scene);
  know (&scene, (const FabBytes[]){ 100, 200 }, 2);
  scene.nets.late_ps = 500;
  scene.nets.late_bytes = scene.nets.fail_bytes = 7;

  rehearse (&scene, (const FabExpectedInput[]){ { 0, FAB_AFTER_BEGIN, 0 }, { 1, FAB_AFTER_BEGIN, 40 } }, 2);
  assert_null (begin_of (&scene, 0)->inputs);
  assert_int_equal (scene.books.n_events, 3); /* two ends, and the first that came late */
  scene_clear (&scene);
}

/* One without bytes ends at 0, and another one waits for that. */
static void
an_end_at_0_is_an_end (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_start (&scene);
  know (&scene, (const FabBytes[]){ 100, 0, 30 }, 3);

  rehearse (&scene,
            (const FabExpectedInput[]){ { 0, FAB_AFTER_BEGIN, 0 }, { 1, FAB_AFTER_BEGIN, 0 }, { 2, 1, 10 } },
            3);
  const guint32 order[] = { 0, 1 };
  const FabEpisodeNode *node = input_after (&scene, begin_of (&scene, 0), 1, 0, order, 1);
  node = input_after (&scene, output_after (node, 1, 0), 2, 10, order, 2);
  output_after (output_after (node, 2, 30), 0, 60);
  scene_clear (&scene);
}

/* The first collective of an episode must be known alone: where it was not warmed up nothing follows it. */
static void
what_has_no_first_collective_in_the_tree_is_not_known (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_start (&scene);
  const FabEpisodeInput inputs[] = { { .plan = PLAN (&scene, 100, 0) }, { .plan = PLAN (&scene, 200, 0) } };
  fab_episode_books_try_apart (&scene.books, inputs, 2);

  rehearse (&scene, (const FabExpectedInput[]){ { 0, FAB_AFTER_BEGIN, 0 }, { 1, FAB_AFTER_BEGIN, 40 } }, 2);
  assert_null (begin_of (&scene, 0));
  assert_int_equal (scene.books.count.n_rehearsals, 1);
  assert_int_equal (scene.nets.n_streams, 2);
  scene_clear (&scene);
}

/* A tree that is full learns nothing, and one that knows something else there stays as it is. */
static void
what_the_tree_knows_stays (G_GNUC_UNUSED void **state)
{
  for (guint is_full = 0; is_full < 2; is_full++) {
    const FabExpectedInput inputs[] = { { 0, FAB_AFTER_BEGIN, 0 }, { 1, FAB_AFTER_BEGIN, 40 } };
    Scene scene;
    scene_start (&scene);
    know (&scene, (const FabBytes[]){ 100, 200 }, 2);
    gsize n_bytes = scene.books.tree.n_bytes;

    if (is_full) {
      scene.books.tree.n_bytes = FAB_EPISODE_TREE_BYTES;
      rehearse (&scene, inputs, 2);
      assert_null (begin_of (&scene, 0)->inputs);
      scene.books.tree.n_bytes = n_bytes;
    }
    rehearse (&scene, inputs, 2);
    const FabEpisodeNode *known = begin_of (&scene, 0)->inputs;
    GBytes *queues = known->output->output->queues;
    n_bytes = scene.books.tree.n_bytes;
    scene.nets.slow_ps = 1; /* from now on all take longer */
    rehearse (&scene, inputs, 2);
    rehearse (&scene, inputs, 2);
    assert_int_equal (scene.books.tree.n_bytes, n_bytes);
    assert_ptr_equal (begin_of (&scene, 0)->inputs, known);
    assert_null (known->sibling);
    assert_int_equal (known->output->after_ps, 60);
    assert_ptr_equal (known->output->output->queues, queues);
    scene_clear (&scene);
  }
}

/* Several episodes on one thread and on several: the tree has all of them, and those with most events come first. */
static void
the_longest_are_played_first (G_GNUC_UNUSED void **state)
{
  for (guint n_threads = 1; n_threads <= 3; n_threads += 2) {
    static const FabBytes bytes[] = { 100, 200, 300 };
    static const guint32 pairs[][2] = {
      { 0, 1 }, { 1, 2 }, { 0, 0 }, { 0, 2 }
    }; /* 300, 500, 200, 400 events alone */
    static const guint order[] = { 1, 3, 0, 2 };
    Scene scene;
    scene_start (&scene);
    know (&scene, bytes, 3);
    g_autoptr (GPtrArray) expected = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
    const FabWarmUpEnv env = env_of (&scene, n_threads);
    gpointer before[4];

    for (guint i = 0; i < 4; i++) {
      const FabExpectedInput inputs[] = { { pairs[i][0], FAB_AFTER_BEGIN, 0 },
                                          { pairs[i][1], FAB_AFTER_BEGIN, 10 } };

      before[i] = expected_of (inputs, 2);
      g_ptr_array_add (expected, before[i]);
    }
    fab_rehearse (&scene.books, &env, expected);
    for (guint i = 0; i < 4; i++) {
      assert_ptr_equal (g_ptr_array_index (expected, i), before[order[i]]);
      input_after (&scene, begin_of (&scene, pairs[i][0]), pairs[i][1], 10, &pairs[i][0], 1);
    }
    assert_int_equal (scene.books.count.n_rehearsals, 4);
    assert_int_equal (scene.books.n_events, 8);
    assert_int_equal (scene.net->n_skipped, 40);
    assert_int_equal (scene.nets.n_nets, 5);
    scene_clear (&scene);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (an_expected_episode_is_known_afterwards),
    cmocka_unit_test (those_that_wait_begin_in_their_order),
    cmocka_unit_test (a_ps_is_played_to_its_end),
    cmocka_unit_test (what_does_not_end_is_not_known),
    cmocka_unit_test (what_fails_after_its_end_is_not_known),
    cmocka_unit_test (an_end_at_0_is_an_end),
    cmocka_unit_test (what_has_no_first_collective_in_the_tree_is_not_known),
    cmocka_unit_test (what_the_tree_knows_stays),
    cmocka_unit_test (the_longest_are_played_first),
  };

  return cmocka_run_group_tests_name ("rehearsal", tests, NULL, NULL);
}
