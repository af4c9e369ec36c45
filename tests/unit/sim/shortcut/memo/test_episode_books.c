/* SPDX-License-Identifier: Apache-2.0 */
/* test_episode_books.c - what all episodes of a network have in common: which collectives are alike, when two begins
 * count as the same, and what is kept of links wherever these are.
 */
#include "tests/support/test.h"

#include "tests/unit/sim/shortcut/memo/books_scene.h"

static guint
shape_of (Scene *self, const FabCollectivePlan *plan)
{
  return fab_episode_plan_at (&self->books, number_of (self, plan))->shape.shape;
}

/* Of a collective that was played alone. */
static void
set_alone (Scene *self, const FabCollectivePlan *plan, FabTimePs alone_ps)
{
  fab_episode_shape_at (&self->books, shape_of (self, plan))->alone_ps = alone_ps;
}

/* --- shapes --- */

/* All that a network is told of a stream is part of its shape, and its links are not. */
static void
what_a_stream_is_told_is_its_shape (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene, KIND_APART);
  const FabCollectivePlan *first = PLAN (&scene, 100, 0, 1);
  FabCollectivePlan *plans[] = { PLAN (&scene, 100, 0, 1), PLAN (&scene, 100, 0, 1), PLAN (&scene, 100, 0, 1),
                                 PLAN (&scene, 100, 0, 1), PLAN (&scene, 101, 0, 1), PLAN (&scene, 100, 0, 1),
                                 PLAN (&scene, 100, 0, 1), PLAN (&scene, 100, 0, 1), PLAN (&scene, 100, 0) };
  guint n_before;

  plans[0]->startup_ps = 1;
  plans[1]->wire_factor = 1.5;
  plans[2]->most_bytes_per_s = 1e9;
  plans[3]->n_connections = 2;
  ((FabFootprint *) plans[5]->footprint)->rate_bytes_per_s = 2e12;
  plans[6]->footprint->weights[1] = 2;
  plans[7]->footprint->line_weights[1] = 2;
  assert_int_equal (shape_of (&scene, first), 0);
  for (guint i = 0; i < G_N_ELEMENTS (plans); i++)
    assert_int_equal (shape_of (&scene, plans[i]), i + 1);
  n_before = scene.books.shapes->len;
  assert_int_equal (shape_of (&scene, PLAN (&scene, 100, 2, 5)), 0);
  assert_int_equal (scene.books.shapes->len, n_before);
  assert_int_equal (scene.books.plans->len, n_before + 1);
  scene_clear (&scene);
}

/* Without shapes each collective is its own, by its number, and all meet. */
static void
where_nothing_is_apart_all_are_themselves (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene, KIND_WHOLE);
  const FabCollectivePlan *first = PLAN (&scene, 100, 0), *second = PLAN (&scene, 100, 1);
  guint32 a = number_of (&scene, first), b = number_of (&scene, second);
  g_autoptr (GArray) others = list (&a, 1);

  assert_int_equal (a, 0);
  assert_int_equal (b, 1);
  assert_int_equal (number_of (&scene, first), 0);
  assert_int_equal (shape_of (&scene, second), 1);
  assert_int_equal (scene.books.shapes->len, 2);
  assert_true (fab_episode_books_meet (&scene.books, a, b));
  assert_int_equal (fab_episode_books_key (&scene.books, b, others), b);
  scene_clear (&scene);
}

/* The key of a collective depends on its shape and on how it lies to those under way, wherever all of them are. */
static void
keys_follow_shapes_and_relations (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene, KIND_APART);
  guint32 a = number_of (&scene, PLAN (&scene, 100, 0, 1)), b = number_of (&scene, PLAN (&scene, 100, 1, 2)),
          c = number_of (&scene, PLAN (&scene, 100, 3, 4)), d = number_of (&scene, PLAN (&scene, 100, 4, 5)),
          e = number_of (&scene, PLAN (&scene, 200, 1, 2));
  g_autoptr (GArray) after_a = list (&a, 1), after_c = list (&c, 1), after_b = list (&b, 1),
                     after_ad = list ((const guint32[]){ a, d }, 2);
  FabEpisodeBooks *books = &scene.books;
  guint32 key = fab_episode_books_key (books, b, after_a);

  assert_int_equal (fab_episode_books_key (books, d, after_c), key);
  assert_int_not_equal (fab_episode_books_key (books, e, after_a), key);  /* another shape */
  assert_int_not_equal (fab_episode_books_key (books, a, after_b), key);  /* the other way round */
  assert_int_not_equal (fab_episode_books_key (books, b, after_c), key);  /* they do not meet */
  assert_int_not_equal (fab_episode_books_key (books, b, after_ad), key); /* one more is under way */
  assert_true (fab_episode_books_meet (books, a, b));
  assert_false (fab_episode_books_meet (books, a, c));
  assert_false (fab_episode_books_meet (books, b, d));
  scene_clear (&scene);
}

/* The tolerance is of the shortest of those that a begin concerns, rounded down; without a time that was played, or
 * where the network tolerates nothing, times must be the same. */
static void
begins_may_differ_by_the_tolerance (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene, KIND_APART);
  const FabCollectivePlan *plans[] = { PLAN (&scene, 100, 0), PLAN (&scene, 200, 1), PLAN (&scene, 300, 2) };
  guint32 numbers[] = { number_of (&scene, plans[0]), number_of (&scene, plans[1]),
                        number_of (&scene, plans[2]) };
  g_autoptr (GArray) none = list (NULL, 0), second = list (&numbers[1], 1),
                     both = list ((const guint32[]){ numbers[1], numbers[2] }, 2);

  set_alone (&scene, plans[0], 7999);
  set_alone (&scene, plans[1], 9000);
  assert_int_equal (fab_episode_books_slack_ps (&scene.books, numbers[0], none), 7);
  assert_int_equal (fab_episode_books_slack_ps (&scene.books, numbers[0], second), 7);
  assert_int_equal (fab_episode_books_slack_ps (&scene.books, numbers[1], none), 9);
  assert_int_equal (fab_episode_books_slack_ps (&scene.books, numbers[0], both), 0);
  set_alone (&scene, plans[2], 3000);
  assert_int_equal (fab_episode_books_slack_ps (&scene.books, numbers[0], both), 3);
  scene.books.tolerance = 0;
  assert_int_equal (fab_episode_books_slack_ps (&scene.books, numbers[0], none), 0);
  scene_clear (&scene);
}

static void
the_tolerance_is_that_of_the_network (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene, KIND_APART);
  assert_near (scene.books.tolerance, 1e-3, 1e-12);
  scene_clear (&scene);
  scene_init (&scene, KIND_WHOLE);
  const FabCollectivePlan *plan = PLAN (&scene, 100, 0);
  guint32 number = number_of (&scene, plan);
  g_autoptr (GArray) none = list (NULL, 0);
  set_alone (&scene, plan, 5000);
  assert_int_equal (fab_episode_books_slack_ps (&scene.books, number, none), 0); /* nothing is apart */
  fab_episode_books_clear (&scene.books);
  scene.nets.ops.tolerance = NULL;
  fab_episode_books_init (&scene.books, scene.engine, scene.net, &scene.nets, TRUE);
  assert_true (scene.books.tolerance <= 0);
  fab_episode_books_clear (&scene.books);
  fab_episode_books_init (&scene.books, scene.engine, scene.net, NULL, TRUE);
  assert_true (scene.books.tolerance <= 0);
  scene_clear (&scene);
}

/* --- apart --- */

/* Episodes may be apart with memory, on a separable network whose parameters are known; at once where it does not trace
 * lines. */
static void
episodes_are_apart_where_the_network_allows_it (G_GNUC_UNUSED void **state)
{
  static const struct {
    Kind kind;
    gboolean has_params, remembers, may_be_apart, is_apart;
  } rows[] = {
    { KIND_WHOLE, TRUE, TRUE, FALSE, FALSE },  { KIND_APART, TRUE, TRUE, TRUE, TRUE },
    { KIND_TRACES, TRUE, TRUE, TRUE, FALSE },  { KIND_APART, FALSE, TRUE, FALSE, FALSE },
    { KIND_APART, TRUE, FALSE, FALSE, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Scene scene;
    scene_init (&scene, rows[i].kind);
    fab_episode_books_clear (&scene.books);
    fab_episode_books_init (&scene.books, scene.engine, scene.net, rows[i].has_params ? &scene.nets : NULL,
                            rows[i].remembers);
    assert_int_equal (scene.books.may_be_apart, rows[i].may_be_apart);
    assert_int_equal (scene.books.apart_by != NULL, rows[i].is_apart);
    assert_int_equal (scene.books.remembers, rows[i].remembers);
    scene_clear (&scene);
  }
}

/* On a network that traces lines they are apart once all collectives are known, unless one of them crosses a link that
 * affects all others; then it is as if nobody had tried. */
static void
one_link_may_keep_all_together (G_GNUC_UNUSED void **state)
{
  for (guint link = 0; link < 4; link++) {
    Scene scene;
    scene_init (&scene, KIND_TRACES);
    const FabEpisodeInput inputs[] = { { .plan = PLAN (&scene, 100, 0) },
                                       { .plan = PLAN (&scene, 100, 1, 2) } };

    scene.nets.inseparable = link;
    fab_episode_books_try_apart (&scene.books, inputs, 2);
    assert_int_equal (scene.books.apart_by != NULL, link == 3);
    assert_int_equal (scene.books.may_be_apart, link == 3);
    assert_int_equal (scene.books.plans->len, link == 3 ? 2 : 0);
    assert_int_equal (scene.books.shapes->len, link == 3 ? 2 : 0);
    if (link < 3)
      assert_int_equal (scene.books.tree.n_bytes, 0);
    assert_int_equal (number_of (&scene, inputs[1].plan), link == 3);
    assert_int_equal (number_of (&scene, inputs[0].plan), link < 3);
    scene_clear (&scene);
  }
}

/* --- what is counted --- */

static double
carried (Scene *self, FabLinkId link)
{
  g_autofree FabLinkLoad *loads = g_new (FabLinkLoad, fab_graph_n_links (self->rig->graph) + 1);

  fab_meter_take (self->books.meter, loads);
  return loads[link].payload_bytes;
}

/* What links carry is kept with a collective while there is room, and counted anew otherwise. */
static void
links_count_a_collective_that_is_not_kept (G_GNUC_UNUSED void **state)
{
  for (guint is_full = 0; is_full < 2; is_full++) {
    Scene scene;
    scene_init (&scene, KIND_APART);
    if (is_full)
      scene.books.tree.n_bytes = FAB_EPISODE_TREE_BYTES;
    const FabCollectivePlan *plan = PLAN (&scene, 100, 1, 3);
    guint32 number = number_of (&scene, plan);

    assert_int_equal (fab_episode_plan_at (&scene.books, number)->meter == NULL, is_full);
    for (guint n = 0; n < 3; n++)
      fab_episode_books_count (&scene.books, number);
    assert_near (carried (&scene, 3), 300, 1e-12);
    assert_near (carried (&scene, 3), 0, 1e-12); /* it was taken */
    scene_clear (&scene);
  }
}

/* The tree knows a collective that was warmed up as if it had been played: its end, the skips until then, what links
 * carried and what waited for them. */
static void
a_warm_up_is_known_like_what_was_played (G_GNUC_UNUSED void **state)
{
  for (Kind kind = KIND_WHOLE; kind <= KIND_APART; kind++) {
    const FabMeterEntry meter = { 1, { 100, 100 } }, late = { 1, { 5, 5 } };
    const FabSkip skip = { 30, 10 };
    const FabLaneQueue queue = { .lane = 3, .link = 3, .most_bytes = 40 };
    Scene scene;
    scene_init (&scene, kind);
    guint32 number = number_of (&scene, PLAN (&scene, 100, 1, 3));
    FabWarmUp warm_up = warm_up_new (80);

    warm_up.n_events = 12;
    warm_up.n_drawn = 1;
    warm_up.n_skipped = 6;
    warm_up.folded_for = 4;
    g_array_append_val (warm_up.meter, meter);
    g_array_append_val (warm_up.late, late);
    g_array_append_val (warm_up.skips, skip);
    g_array_append_val (warm_up.queues, queue);
    fab_episode_books_learn (&scene.books, number, &warm_up);
    const FabEpisodeShape *shape = fab_episode_shape_at (&scene.books, 0);
    const FabEpisodeNode *begin = shape->samples[0], *end = begin->output;
    assert_true (begin->is_played && !begin->is_output && end->is_played && end->is_output);
    assert_null (begin->skips);
    assert_int_equal (begin->what, 0);
    assert_int_equal (end->what, 0);
    assert_int_equal (end->after_ps, 80);
    assert_int_equal (end->quiet_ps, 0);
    assert_int_equal (end->folded_for, 4);
    assert_int_equal (g_bytes_get_size (end->skips), sizeof skip);
    assert_memory_equal (g_bytes_get_data (end->skips, NULL), &skip, sizeof skip);
    assert_int_equal (end->meter != NULL, kind == KIND_WHOLE);
    assert_int_equal (g_bytes_get_size (end->late), kind == KIND_WHOLE ? sizeof late : 0);
    assert_int_equal (shape->n_events, 12);
    assert_int_equal (shape->alone_ps, 80);
    assert_true (shape->will_have_drawn && !shape->has_drawn);
    assert_int_equal (scene.net->n_skipped, 6);
    if (kind == KIND_WHOLE)
      assert_int_equal (g_bytes_get_size (end->meter), sizeof meter);
    g_autoptr (GArray) plans = list (&number, 1);
    fab_episode_books_add_queues (&scene.books, plans, end->queues);
    assert_int_equal (g_array_index (scene.books.lanes, FabLaneQueue, 3).most_bytes, 40);
    warm_up_clear (&warm_up);
    scene_clear (&scene);
  }
}

/* What did not end is not known, neither is what the tree has no room for, and what is known stays. A warm-up without
 * events counts as one, so that its first use is seen. */
static void
a_warm_up_is_learned_once (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene, KIND_APART);
  guint32 number = number_of (&scene, PLAN (&scene, 100, 1));
  FabWarmUp endless = warm_up_new (-1), first = warm_up_new (0), second = warm_up_new (90);
  const FabEpisodeShape *shape = fab_episode_shape_at (&scene.books, 0);

  first.n_skipped = second.n_skipped = 3;
  fab_episode_books_learn (&scene.books, number, &endless);
  assert_null (shape->samples[0]);
  gsize n_bytes = scene.books.tree.n_bytes;
  scene.books.tree.n_bytes = FAB_EPISODE_TREE_BYTES;
  fab_episode_books_learn (&scene.books, number, &first);
  assert_null (shape->samples[0]);
  scene.books.tree.n_bytes = n_bytes;
  fab_episode_books_learn (&scene.books, number, &first);
  fab_episode_books_learn (&scene.books, number, &second);
  assert_int_equal (shape->samples[0]->output->after_ps, 0);
  assert_int_equal (shape->n_events, 1);
  assert_false (shape->will_have_drawn);
  assert_int_equal (scene.net->n_skipped, 3);
  warm_up_clear (&endless);
  warm_up_clear (&first);
  warm_up_clear (&second);
  scene_clear (&scene);
}

/* Queues are kept by the place of a link among those of the collectives. What waited for links 1 and 2 of an episode
 * over 0, 1 and 1, 2 waits for 4 and 5 of one over 3, 4 and 4, 5. */
static void
queues_follow_the_links_of_an_episode (G_GNUC_UNUSED void **state)
{
  static const guint64 most[] = { 20, 30 };
  Scene scene;
  scene_init (&scene, KIND_APART);
  const guint32 here[] = { number_of (&scene, PLAN (&scene, 100, 0, 1)),
                           number_of (&scene, PLAN (&scene, 90, 1, 2)) },
                there[] = { number_of (&scene, PLAN (&scene, 100, 3, 4)),
                            number_of (&scene, PLAN (&scene, 90, 4, 5)) };
  g_autoptr (GArray) plans = list (here, 2), others = list (there, 2),
                     queues = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue)),
                     none = g_array_new (FALSE, FALSE, sizeof (FabLaneQueue));

  for (guint i = 0; i < 2; i++) {
    FabLaneQueue queue = { .lane = i + 1, .link = i + 1, .most_bytes = most[i], .n_stalls = 1 };

    g_array_append_val (queues, queue);
  }
  GBytes *kept = fab_episode_books_keep_queues (&scene.books, plans, queues);
  assert_int_equal (g_array_index (queues, FabLaneQueue, 0).link, 1); /* the caller's stay as they are */
  fab_episode_books_add_queues (&scene.books, others, kept);
  fab_episode_books_add_queues (&scene.books, plans, kept);
  fab_episode_books_add_queues (&scene.books, others, kept);
  fab_episode_books_add_queues (&scene.books, others,
                                fab_episode_books_keep_queues (&scene.books, plans, none));
  assert_int_equal (scene.books.lanes->len, 6);
  for (guint link = 0; link < 6; link++) {
    const FabLaneQueue *lane = &g_array_index (scene.books.lanes, FabLaneQueue, link);

    assert_int_equal (lane->most_bytes, link % 3 > 0 ? most[link % 3 - 1] : 0);
    assert_int_equal (lane->n_stalls, link % 3 > 0 ? 1 + link / 3 : 0);
    assert_int_equal (lane->link, link % 3 > 0 ? link : 0);
  }
  scene_clear (&scene);
}

/* Where nothing is apart, queues are those of their lanes. */
static void
queues_stay_where_they_are (G_GNUC_UNUSED void **state)
{
  const FabLaneQueue queue = { .lane = 4, .link = 2, .most_bytes = 30 };
  Scene scene;
  scene_init (&scene, KIND_WHOLE);
  const guint32 number = number_of (&scene, PLAN (&scene, 100, 0, 1));
  g_autoptr (GArray) plans = list (&number, 1), queues = g_array_new (FALSE, FALSE, sizeof queue);

  g_array_append_val (queues, queue);
  fab_episode_books_add_queues (&scene.books, plans,
                                fab_episode_books_keep_queues (&scene.books, plans, queues));
  assert_int_equal (scene.books.lanes->len, 5);
  assert_int_equal (g_array_index (scene.books.lanes, FabLaneQueue, 4).link, 2);
  assert_int_equal (g_array_index (scene.books.lanes, FabLaneQueue, 4).most_bytes, 30);
  scene_clear (&scene);
}

/* Of three skips the first was made before, so that two are noted, on the clock of the episode, which began at 100. A
 * node is noted once. */
static void
skips_are_noted_since_the_parent (G_GNUC_UNUSED void **state)
{
  static const FabSkip made[] = { { 110, 1 }, { 120, 2 }, { 130, 3 } }, noted[] = { { 20, 2 }, { 30, 3 } };
  Scene scene;
  scene_init (&scene, KIND_WHOLE);
  FabEpisodeNode node = { 0 }, empty = { 0 };
  g_autoptr (GArray) skips = g_array_append_vals (g_array_new (FALSE, FALSE, sizeof *made), made, 3);

  fab_episode_books_note_skips (&scene.books, NULL, skips, 0, 100, 5);
  fab_episode_books_note_skips (&scene.books, &empty, skips, 3, 100, 5);
  assert_true (empty.is_played);
  assert_null (empty.skips);
  fab_episode_books_note_skips (&scene.books, &node, skips, 1, 100, 5);
  fab_episode_books_note_skips (&scene.books, &node, skips, 0, 100, 6);
  assert_true (node.is_played);
  assert_int_equal (node.folded_for, 5);
  assert_int_equal (g_bytes_get_size (node.skips), sizeof noted);
  assert_memory_equal (g_bytes_get_data (node.skips, NULL), noted, sizeof noted);
  scene_clear (&scene);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_a_stream_is_told_is_its_shape),
    cmocka_unit_test (where_nothing_is_apart_all_are_themselves),
    cmocka_unit_test (keys_follow_shapes_and_relations),
    cmocka_unit_test (begins_may_differ_by_the_tolerance),
    cmocka_unit_test (the_tolerance_is_that_of_the_network),
    cmocka_unit_test (episodes_are_apart_where_the_network_allows_it),
    cmocka_unit_test (one_link_may_keep_all_together),
    cmocka_unit_test (links_count_a_collective_that_is_not_kept),
    cmocka_unit_test (a_warm_up_is_known_like_what_was_played),
    cmocka_unit_test (a_warm_up_is_learned_once),
    cmocka_unit_test (queues_follow_the_links_of_an_episode),
    cmocka_unit_test (queues_stay_where_they_are),
    cmocka_unit_test (skips_are_noted_since_the_parent),
  };

  return cmocka_run_group_tests_name ("episode_books", tests, NULL, NULL);
}
