/* SPDX-License-Identifier: Apache-2.0 */
/* test_net_replicas.c - networks that are lent, given back and used again. */
#include "tests/support/test.h"

#include "sim/shortcut/memo/net_replicas.h"
#include "tests/support/fake_net.h"
#include "tests/support/rig.h"

typedef struct {
  Rig *rig;
  FakeNets nets;
  FabEngine *engine;
  FabNet *net;
  FabNetReplicas *replicas;
} Scene;

static void
scene_init (Scene *self)
{
  self->rig = rig_new_flat (2);
  self->nets = fake_nets ();
  self->engine = fab_engine_new ();
  self->net = fake_net_new (&self->nets, self->engine, self->rig);
  self->replicas = fab_net_replicas_new (self->net, &self->nets);
}

static void
scene_clear (Scene *self)
{
  fab_net_replicas_free (self->replicas);
  fab_net_destroy (self->net);
  fab_engine_free (self->engine);
  rig_free (self->rig);
}

/* The caller's network comes first, and another one is made only where none is idle. */
static void
what_was_given_back_is_lent_again (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);
  FabNetReplica *first = fab_net_replicas_take (scene.replicas),
                *second = fab_net_replicas_take (scene.replicas),
                *third = fab_net_replicas_take (scene.replicas);

  assert_ptr_equal (first->net, scene.net);
  assert_ptr_equal (first->engine, scene.engine);
  assert_int_equal (scene.nets.n_nets, 3);
  assert_ptr_not_equal (second->engine, first->engine);
  assert_ptr_not_equal (second->engine, third->engine);
  assert_ptr_equal (second->net->env.engine, second->engine);
  assert_ptr_equal (second->net->env.graph, scene.rig->graph);
  assert_int_equal (second->net->env.seed, scene.net->env.seed);
  fab_net_replicas_give (scene.replicas, second);
  fab_net_replicas_give (scene.replicas, first);
  assert_ptr_equal (fab_net_replicas_take (scene.replicas), first); /* that was given last */
  assert_ptr_equal (fab_net_replicas_take (scene.replicas), second);
  assert_int_equal (scene.nets.n_nets, 3);
  scene_clear (&scene);
}

static void
do_nothing (G_GNUC_UNUSED gpointer owner, G_GNUC_UNUSED guint64 arg)
{
}

/* 2, 3 and 4 events, and 10, 20 and 30 packets that were skipped, on three networks. */
static void
counts_are_those_of_all (G_GNUC_UNUSED void **state)
{
  Scene scene;
  scene_init (&scene);

  for (guint i = 0; i < 3; i++) {
    FabNetReplica *replica = fab_net_replicas_take (scene.replicas);

    for (guint n = 0; n < 2 + i; n++)
      fab_engine_at (replica->engine, n, do_nothing, NULL, 0);
    fab_engine_run (replica->engine);
    replica->net->n_skipped += 10 * (i + 1);
  }
  assert_int_equal (fab_net_replicas_events (scene.replicas), 9);
  assert_int_equal (fab_net_replicas_n_skipped (scene.replicas), 60);
  scene_clear (&scene);
}

/* The flag that cancels the first engine is that of all. */
static void
who_cancels_one_cancels_all (G_GNUC_UNUSED void **state)
{
  Scene scene;
  gint cancel = 0;
  scene_init (&scene);

  fab_engine_set_cancel (scene.engine, &cancel);
  fab_net_replicas_take (scene.replicas);
  FabNetReplica *second = fab_net_replicas_take (scene.replicas);
  fab_engine_run (second->engine);
  assert_false (fab_engine_is_cancelled (second->engine));
  cancel = 1;
  fab_engine_at (second->engine, 5, do_nothing, NULL, 0);
  fab_engine_run (second->engine);
  assert_true (fab_engine_is_cancelled (second->engine));
  scene_clear (&scene);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (what_was_given_back_is_lent_again),
    cmocka_unit_test (counts_are_those_of_all),
    cmocka_unit_test (who_cancels_one_cancels_all),
  };

  return cmocka_run_group_tests_name ("net_replicas", tests, NULL, NULL);
}
