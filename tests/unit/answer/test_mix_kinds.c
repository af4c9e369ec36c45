/* SPDX-License-Identifier: Apache-2.0 */
/* test_mix_kinds.c - what a mix measures of its machine and of its kinds of jobs: groups of nodes, steps at each
 * place and beside each load of others, and the shares of the uplinks.
 */
#include "tests/unit/answer/mixes.h"

static FabCatalog *catalog;

/* Of an exchange between four nodes, each sends 3 parts through its NIC; where two are at each leaf, 2 x 2 parts take
 * the uplink of one NIC's rate, 4/3 of the time. A ring sends as much over the uplink as through a NIC. Others that
 * take a share f of the uplink leave 1 - f of it. One GPU has nobody to send to, and its step takes no time. */
static void
kinds_answer_to_places_and_others (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (catalog, "name: mixed\n" CLUSTER EXCHANGE "\n" THREE_KINDS, NULL);
  g_autoptr (FabMixAnswer) self = good (play->scenario);
  static const double others[] = { 0, 0.25, 0.5, 0.75, 0.9 };

  assert_int_equal (self->n_nodes, 8);
  assert_int_equal (self->gpus_per_node, 1);
  assert_int_equal (self->machine.n_groups, 2);
  for (guint g = 0; g < 2; g++) {
    assert_int_equal (self->machine.group_nodes[g], 4);
    assert_string_equal (self->group_names[g], g == 0 ? "leaf0" : "leaf1");
  }
  assert_null (self->group_names[2]);
  assert_int_equal (self->kinds->len, 3);
  for (guint i = 0; i < 3; i++) {
    const FabMixedKind *kind = kind_at (self, i);
    const FabMixKind *table = &kind->table;

    assert_int_equal (table->n_loads, 5);
    assert_int_equal (table->n_levels, i == 1 ? 2 : 1);
    assert_null (table->failures);
    assert_near (table->nodes_per_group[0], i == 0 ? 1 : i == 1 ? 4 : 3, 1e-12);
    assert_near (kind->inter_node_fraction + 1, i == 0 ? 1 : 2, 1e-9);
    for (guint k = 0; k < 5; k++) {
      assert_near (table->others[k] + 1, others[k] + 1, 1e-12);
      assert_near (table->slowdown[k], i == 2 ? 1 / (1 - others[k]) : 1, 1e-3);
    }
    assert_near (table->own_load[0] + 1, i == 2 ? 2 : 1, 1e-3);
    assert_near (table->duty[0] + 1, i == 0 ? 1 : 2, 1e-3);
  }
  const FabMixKind *four = &kind_at (self, 1)->table;
  assert_near (four->nodes_per_group[1], 2, 1e-12);
  assert_near (four->own_load[1], 1, 1e-3);
  assert_near (four->duty[1], 1, 1e-3);
  for (guint k = 0; k < 5; k++)
    assert_near (four->slowdown[5 + k], 4.0 / 3 / (1 - others[k]), 1e-3);
  assert_true (kind_at (self, 0)->step_s == 0 && kind_at (self, 1)->step_s > 0);
  assert_near (kind_at (self, 1)->step_s, kind_at (self, 1)->point->step_s, 1e-9);
}

/* Sixteen nodes at four leaves. The four of an exchange are at one leaf, two at each of two, or each at its own: then
 * 3 x 1 parts take each uplink, as many as go through a NIC. Each level is played alone and with four loads of others,
 * but for jobs that need no uplink. Where the scenario places its own job is of no matter. */
static void
each_place_and_each_load_is_played (G_GNUC_UNUSED void **state)
{
  static const char *const placed[] = { "", ", placement: random", ", placement: strided, place_stride: 3",
                                        ", places: 32" };

  for (guint i = 0; i < G_N_ELEMENTS (placed); i++) {
    g_autofree char *yaml = g_strdup_printf (
        "name: t\ncluster: {node: dgx-h100, nodes: 16, gpus_per_node: 1, nics_per_node: 1, fabric: {kind: leaf_spine, "
        "nodes_per_leaf: 4, oversubscription: 4}%s}\ncollectives: plain\n" RING
        "\nmix: {jobs: [{name: four, nodes: 4, count: 1, " EXCHANGE
        "}, {name: all, nodes: 16, count: 1, " RING "}]}\n",
        placed[i]);
    g_autoptr (Play) play = play_new (catalog, yaml, NULL);
    FabPulse pulse = { 0 };
    g_autoptr (FabMixAnswer) self = fab_mix_answer (
        play->scenario, &(FabMixRequest){ .registry = &fab_models, .n_threads = 1, .pulse = &pulse }, NULL);
    const FabMixKind *four = &kind_at (self, 0)->table, *all = &kind_at (self, 1)->table;

    assert_int_equal (self->n_nodes, 16);
    assert_int_equal (self->machine.n_groups, 4);
    for (guint g = 0; g < 4; g++)
      assert_int_equal (self->machine.group_nodes[g], 4);
    assert_int_equal (pulse.n_known, 1 + 5 + 5 + 5);
    assert_int_equal (pulse.n_done, pulse.n_known);
    assert_int_equal (four->n_levels, 3);
    assert_int_equal (all->n_levels, 1);
    assert_near (all->nodes_per_group[0], 4, 1e-12);
    for (guint level = 0; level < 3; level++) {
      static const double nodes[] = { 4, 2, 1 }, alone[] = { 1, 4.0 / 3, 1 };

      assert_near (four->nodes_per_group[level], nodes[level], 1e-12);
      if (level == 0)
        assert_true (four->own_load[level] == 0); /* no uplink carries anything */
      else
        assert_near (four->own_load[level], 1, 1e-3);
      assert_near (four->duty[level], 1, 1e-3);
      for (guint k = 0; k < 5; k++)
        assert_near (four->slowdown[5 * level + k], level == 0 ? 1 : alone[level] / (1 - four->others[k]),
                     1e-3);
    }
  }
}

/* Each leaf has two uplinks, of which a ring of all nodes takes one in each direction. */
static void
loads_are_shares_of_all_uplinks (G_GNUC_UNUSED void **state)
{
  g_autoptr (Play) play = play_new (
      catalog,
      "name: t\ncluster: {node: dgx-h100, nodes: 8, gpus_per_node: 1, nics_per_node: 1, route: shortest, "
      "fabric: {kind: "
      "leaf_spine, nodes_per_leaf: 4, oversubscription: 2}}\ncollectives: {kind: plain, algorithm: ring}\n" RING
      "\nmix: {jobs: [{name: all, nodes: 8, count: 1, " RING "}]}\n",
      NULL);
  g_autoptr (FabMixAnswer) self = good (play->scenario);

  assert_near (kind_at (self, 0)->table.own_load[0], 0.5, 1e-3);
  assert_near (kind_at (self, 0)->table.duty[0], 1, 1e-3);
}

/* A kind has the step of the second iteration of its job, alone on the machine and with the seed of the scenario. */
static void
a_step_is_that_of_the_second_iteration (G_GNUC_UNUSED void **state)
{
#define JITTERY                                                                                \
  "job: {kind: ddp, model: gpt2, micro_batch: 1, sequence: 1024, jitter: {cv: 10%}, compute: " \
  "{kind: mfu, mfu: 40%}}"
  g_autoptr (Play) play = play_new (catalog,
                                    "name: t\niterations: 3\nseed: 4\n" CLUSTER JITTERY
                                    "\nmix: {jobs: [{name: all, nodes: 8, count: 1, " JITTERY "}]}\n",
                                    NULL);
  g_autoptr (FabMixAnswer) self = good (play->scenario);
  FabTimePs steps_ps[3];

  for (guint i = 0; i < 3; i++) {
    fab_simulation_step (play->simulation);
    steps_ps[i] = fab_simulation_probe (play->simulation)->step.times.duration_ps;
  }
  assert_true (steps_ps[0] != steps_ps[1] && steps_ps[1] != steps_ps[2]);
  assert_near (kind_at (self, 0)->step_s, fab_ps_to_seconds (steps_ps[1]), 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (kinds_answer_to_places_and_others),
    cmocka_unit_test (each_place_and_each_load_is_played),
    cmocka_unit_test (loads_are_shares_of_all_uplinks),
    cmocka_unit_test (a_step_is_that_of_the_second_iteration),
  };

  return play_run_tests ("mix_kinds", tests, &catalog);
}
