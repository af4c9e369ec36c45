/* SPDX-License-Identifier: Apache-2.0 */
/* test_warm_up.c - collectives that are played alone, each on a network of its own: what is known of them afterwards,
 * and what cannot be known. A stream of b bytes takes b ps (fake_net.h).
 */
#include "tests/support/test.h"

#include "sim/shortcut/memo/warm_up.h"
#include "tests/support/fake_net.h"
#include "tests/support/rig.h"

enum { MOST_INPUTS = 20 };

typedef struct {
  Rig *rig;
  FakeNets nets;
  FabEngine *like;
  FabWarmUpEnv env;
  FabCollectivePlan plans[MOST_INPUTS];
  FabEpisodeInput inputs[MOST_INPUTS];
} Scene;

/* The first collective has 100 bytes, the second 200, and so on. */
static void
scene_init (Scene *self)
{
  *self = (Scene){ .rig = rig_new_flat (2), .nets = fake_nets (), .like = fab_engine_new () };
  self->env = (FabWarmUpEnv){
    .ops = &self->nets.ops, .params = &self->nets, .env = { .graph = self->rig->graph }, .n_threads = 2
  };
  for (guint i = 0; i < MOST_INPUTS; i++) {
    self->plans[i] = rig_plan (self->rig, FAB_OP_ALL_REDUCE, 100 * (i + 1));
    self->inputs[i].plan = &self->plans[i];
  }
}

static void
scene_clear (Scene *self)
{
  fab_engine_free (self->like);
  rig_free (self->rig);
}

static GArray *
play (Scene *self, guint n)
{
  return fab_warm_up (&self->env, self->like, self->inputs, n, TRUE);
}

static const FabWarmUp *
result_at (const GArray *results, guint i)
{
  return &g_array_index (results, FabWarmUp, i);
}

/* More than exist at once, on one thread and on several: each has its own time, its own bytes and two events, its end
 * and what comes late. */
static void
each_has_what_it_has_alone (G_GNUC_UNUSED void **state)
{
  for (guint n_threads = 1; n_threads <= 3; n_threads++) {
    Scene scene;
    scene_init (&scene);
    scene.env.n_threads = n_threads;
    scene.nets.late_ps = 30;
    scene.nets.late_bytes = 7;
    scene.nets.n_skipped = 5;
    g_autoptr (GArray) results = play (&scene, MOST_INPUTS);

    assert_int_equal (results->len, MOST_INPUTS);
    assert_int_equal (scene.nets.n_nets, MOST_INPUTS);
    assert_int_equal (scene.nets.n_streams, MOST_INPUTS);
    for (guint i = 0; i < MOST_INPUTS; i++) {
      const FabWarmUp *result = result_at (results, i);
      const FabFootprint *footprint = scene.plans[i].footprint;

      assert_int_equal (result->duration_ps, 100 * (i + 1));
      assert_int_equal (result->n_events, 2);
      assert_int_equal (result->n_skipped, 5);
      assert_int_equal (result->n_drawn, 0);
      assert_int_equal (result->skips->len, 0);
      assert_int_equal (result->folded_for, FAB_FOLDED_FOR_NONE);
      assert_int_equal (result->meter->len, footprint->n);
      for (guint k = 0; k < footprint->n; k++) {
        const FabMeterEntry *entry = &g_array_index (result->meter, FabMeterEntry, k);

        assert_int_equal (entry->link, footprint->links[k]);
        assert_near (entry->load.payload_bytes, 100 * (i + 1), 1e-12);
      }
      assert_int_equal (result->late->len, 1);
      assert_int_equal (g_array_index (result->late, FabMeterEntry, 0).link, footprint->links[0]);
      assert_near (g_array_index (result->late, FabMeterEntry, 0).load.payload_bytes, 7, 1e-12);
      assert_int_equal (result->queues->len, 1);
      assert_int_equal (g_array_index (result->queues, FabLaneQueue, 0).carried_bytes, 100 * (i + 1));
    }
    scene_clear (&scene);
  }
}

/* What comes late in the ps of the end belongs to the collective. */
static void
a_ps_is_played_to_its_end (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  scene.nets.late_bytes = 7;
  g_autoptr (GArray) results = play (&scene, 1);

  assert_near (g_array_index (result_at (results, 0)->meter, FabMeterEntry, 0).load.payload_bytes, 107,
               1e-12);
  assert_int_equal (result_at (results, 0)->late->len, 0);
  scene_clear (&scene);
}

/* A network may have none of what is asked for. */
static void
what_a_network_has_not_is_not_asked (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  scene.nets.ops.list_queues = NULL;
  scene.nets.ops.n_drawn = NULL;
  scene.nets.drawn_ps = 3;
  g_autoptr (GArray) results = play (&scene, 1);

  assert_int_equal (result_at (results, 0)->duration_ps, 100);
  assert_int_equal (result_at (results, 0)->queues->len, 0);
  assert_int_equal (result_at (results, 0)->n_drawn, 0);
  scene_clear (&scene);
}

static void
numbers_that_are_drawn_are_counted (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  scene.nets.drawn_ps = 3;
  g_autoptr (GArray) results = play (&scene, 2);

  assert_int_equal (result_at (results, 1)->n_drawn, 1);
  scene_clear (&scene);
}

/* The first jams, the second fails, the third ends. */
static void
what_does_not_end_has_no_time (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  scene.nets.jam_bytes = 100;
  scene.nets.fail_bytes = 200;
  g_autoptr (GArray) results = play (&scene, 3);

  assert_int_equal (result_at (results, 0)->duration_ps, -1);
  assert_int_equal (result_at (results, 0)->n_events, 0);
  assert_int_equal (result_at (results, 1)->duration_ps, -1);
  assert_int_equal (result_at (results, 2)->duration_ps, 300);
  scene_clear (&scene);
}

/* What fails on its way out, after the end, is not known either. */
static void
what_fails_after_its_end_has_no_time (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  scene.nets.late_ps = 30;
  scene.nets.late_bytes = scene.nets.fail_bytes = 7;
  g_autoptr (GArray) results = play (&scene, 1);

  assert_int_equal (result_at (results, 0)->duration_ps, -1);
  scene_clear (&scene);
}

/* A collective without bytes ends in the ps in which it begins. The skips are those of its network. */
static void
what_takes_no_time_has_ended (G_GNUC_UNUSED void **state)
{
  const FabSkip skip = { 0, 6 };
  Scene scene;
  scene_init (&scene);
  scene.plans[0].bytes = 0;
  scene.nets.skip_ps = 6;
  g_autoptr (GArray) results = play (&scene, 2);

  for (guint i = 0; i < 2; i++) {
    const FabWarmUp *result = result_at (results, i);

    assert_int_equal (result->duration_ps, 200 * i);
    assert_int_equal (result->meter->len, i == 0 ? 0 : scene.plans[i].footprint->n);
    assert_int_equal (result->skips->len, 1);
    assert_memory_equal (result->skips->data, &skip, sizeof skip);
  }
  scene_clear (&scene);
}

/* It takes 5001 events. The limit is looked at once in 4096 events. */
static void
what_takes_too_many_events_is_given_up (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint64 most_events, n_events;
    FabTimePs duration_ps;
  } rows[] = { { 0, 5001, 100 }, { 1, 4096, -1 }, { 4096, 4096, -1 }, { 4097, 5001, 100 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    Scene scene;
    scene_init (&scene);
    scene.nets.n_ticks = 5000;
    scene.env.most_events = rows[i].most_events;
    g_autoptr (GArray) results = play (&scene, 1);

    assert_int_equal (result_at (results, 0)->duration_ps, rows[i].duration_ps);
    assert_int_equal (result_at (results, 0)->n_events, rows[i].n_events);
    scene_clear (&scene);
  }
}

static void
what_is_cancelled_has_no_time (G_GNUC_UNUSED void **state)
{
  const gint cancel = 1;
  Scene scene;
  scene_init (&scene);
  fab_engine_set_cancel (scene.like, &cancel);
  g_autoptr (GArray) results = play (&scene, 2);

  for (guint i = 0; i < 2; i++)
    assert_int_equal (result_at (results, i)->duration_ps, -1);
  scene_clear (&scene);
}

/* A network is asked with all collectives on it, unless the caller knows that their order does not matter. */
static void
those_whose_order_matters_are_not_played (G_GNUC_UNUSED void **state)
{
  for (guint has_order = 0; has_order < 2; has_order++)
    for (guint is_any_order = 0; is_any_order < 2; is_any_order++) {
      Scene scene;
      scene_init (&scene);
      scene.nets.has_order = has_order;
      g_autoptr (GArray) results = fab_warm_up (&scene.env, scene.like, scene.inputs, 3, is_any_order);

      assert_int_equal (scene.nets.n_order_asked, !is_any_order);
      assert_int_equal (results == NULL, has_order && !is_any_order);
      assert_int_equal (scene.nets.n_streams, (is_any_order ? 0 : 3) + (results != NULL ? 3 : 0));
      scene_clear (&scene);
    }
}

static guint
extend_by_two (G_GNUC_UNUSED gpointer owner, guint folded_for, G_GNUC_UNUSED const FabCollectivePlan *plan)
{
  return folded_for + 2; /* of no collective yet: G_MAXUINT */
}

static FabPlay *
play_nothing (gpointer owner, G_GNUC_UNUSED FabNet *net, G_GNUC_UNUSED const FabEpisodeInput *input,
              guint folded_for, G_GNUC_UNUSED FabDone done)
{
  *(guint *) owner = folded_for;
  return NULL;
}

/* What is played is folded for the collective by itself; where `play` makes nothing it is a stream. */
static void
it_is_folded_for_itself (G_GNUC_UNUSED void **state)
{
  Scene scene;
  guint folded_for = 0;
  scene_init (&scene);
  scene.inputs[0].extend = extend_by_two;
  scene.inputs[0].play = play_nothing;
  scene.inputs[0].owner = &folded_for;
  g_autoptr (GArray) results = play (&scene, 1);

  assert_int_equal (folded_for, 1);
  assert_int_equal (result_at (results, 0)->folded_for, 1);
  assert_int_equal (result_at (results, 0)->duration_ps, 100);
  scene_clear (&scene);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (each_has_what_it_has_alone),
    cmocka_unit_test (a_ps_is_played_to_its_end),
    cmocka_unit_test (what_a_network_has_not_is_not_asked),
    cmocka_unit_test (numbers_that_are_drawn_are_counted),
    cmocka_unit_test (what_does_not_end_has_no_time),
    cmocka_unit_test (what_fails_after_its_end_has_no_time),
    cmocka_unit_test (what_takes_no_time_has_ended),
    cmocka_unit_test (what_takes_too_many_events_is_given_up),
    cmocka_unit_test (what_is_cancelled_has_no_time),
    cmocka_unit_test (those_whose_order_matters_are_not_played),
    cmocka_unit_test (it_is_folded_for_itself),
  };

  return cmocka_run_group_tests_name ("warm_up", tests, NULL, NULL);
}
