/* SPDX-License-Identifier: Apache-2.0 */
/* test_given_messages.c - the order into which messages of a given algorithm are put, what its schedule and form make
 * of them, and for which collectives it is. */
#include "tests/support/test.h"

#include "sim/collective/plan/given.h"
#include "tests/support/lanes.h"
#include "tests/support/rig.h"

typedef struct {
  guint from, to;
  double weight;
  guint n_waits;
  FabGivenWait waits[3];
} Row;

static FabGiven *
given_of (const Row *rows, guint n)
{
  FabGiven *given = fab_given_new ("name", "source");

  for (guint i = 0; i < n; i++) {
    g_autoptr (GArray) waits = g_array_new (FALSE, FALSE, sizeof (FabGivenWait));

    g_array_append_vals (waits, rows[i].waits, rows[i].n_waits);
    assert_int_equal (fab_given_add (given, rows[i].from, rows[i].to, rows[i].weight, waits), i);
  }
  return given;
}

static Rig *
nodes (guint n_nodes, guint gpus_per_node, guint nics_per_node)
{
  return rig_new (&(RigSpec){ .n_nodes = n_nodes,
                              .gpus_per_node = gpus_per_node,
                              .nics_per_node = nics_per_node,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .nic_bytes_per_s = FAB_PS_PER_S / 10,
                              .gpu_latency_ps = 50,
                              .nic_latency_ps = 500 });
}

static void
assert_schedule (const Rig *rig, FabGiven *given, const char *expected)
{
  const FabAlgorithmEnv env = { .net_stretch = 1, .owner = given };
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  assert_true (given->ops.schedule (&group, given->op, &env, 9, schedule, NULL));
  lanes_assert (schedule, &rig->cluster, expected);
}

/* --- order --- */

/* By the longest sequence for which a message waits, by its sender, by its receiver, and then as they were added. What
 * it waits for is in the order of their new numbers; an arrival comes before a departure. */
static void
messages_are_put_into_one_order (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = {
    { 2, 3, 0.1, 0, { { 0 } } },
    { 0, 1, 0.2, 0, { { 0 } } },
    { 1, 0, 0.3, 1, { { 1, FALSE } } },
    { 0, 2, 0.4, 2, { { 2, TRUE }, { 0, FALSE } } },
    { 0, 1, 0.5, 0, { { 0 } } },
    { 0, 3, 0.6, 2, { { 1, TRUE }, { 1, FALSE } } },
    { 3, 1, 0.7, 3, { { 0, FALSE }, { 3, FALSE }, { 4, FALSE } } },
  };
  g_autoptr (Rig) rig = nodes (1, 4, 0);
  g_autoptr (FabGiven) given = given_of (rows, G_N_ELEMENTS (rows));

  fab_given_finish (given);
  assert_schedule (rig, given,
                   "0>1 0.2\n0>1 0.5\n2>3 0.1\n0>3 0.6 after 0 0-\n1>0 0.3 after 0\n0>2 0.4 after 2 4-\n"
                   "3>1 0.7 after 1 2 5\n");
  const FabGivenMessage *third = &g_array_index (given->messages, FabGivenMessage, 3);
  const FabGivenWait *waits = &g_array_index (given->waits, FabGivenWait, third->first_wait);
  assert_int_equal (third->n_waits, 2);
  assert_false (waits[0].is_departure);
  assert_true (waits[1].is_departure);
}

/* Two files that say the same in another order become the same. */
static void
the_order_of_a_file_does_not_count (G_GNUC_UNUSED void **state)
{
  static const Row one[] = { { 0, 1, 0.5, 0, { { 0 } } },
                             { 2, 1, 0.25, 0, { { 0 } } },
                             { 1, 2, 1, 2, { { 0, FALSE }, { 1, FALSE } } } },
                   other[] = { { 2, 1, 0.25, 0, { { 0 } } },
                               { 0, 1, 0.5, 0, { { 0 } } },
                               { 1, 2, 1, 2, { { 0, FALSE }, { 1, FALSE } } } };
  const Row *const files[] = { one, other };
  g_autoptr (Rig) rig = nodes (1, 3, 0);

  for (guint i = 0; i < 2; i++) {
    g_autoptr (FabGiven) given = given_of (files[i], 3);

    fab_given_finish (given);
    assert_schedule (rig, given, "0>1 0.5\n2>1 0.25\n1>2 1 after 0 1\n");
  }
}

/* --- schedules and forms --- */

static FabCollectiveForm
form_of (const Rig *rig, FabGiven *given)
{
  const FabAlgorithmEnv env = { .net_stretch = 1, .owner = given };
  FabGroup group = rig_group (rig);
  FabCollectiveForm form;

  assert_true (given->ops.form (&group, given->op, &env, &form, NULL));
  assert_int_equal (form.n_channels, 1);
  return form;
}

/* A message of 1 byte and one of half a byte that waits for it take 1.5 ps, where each link is busy for 1 at most. Over
 * the same link they take as long as the link is busy. Where it waits for the departure, there is one step in
 * sequence. */
static void
a_form_has_the_time_of_its_sequence (G_GNUC_UNUSED void **state)
{
  static const struct {
    Row rows[2];
    guint n_steps;
    double link_ps, limit_ps; /* 0: no limit */
  } cases[] = {
    { { { 0, 1, 1, 0, { { 0 } } }, { 1, 2, 0.5, 1, { { 0, FALSE } } } }, 2, 1, 1.5 },
    { { { 0, 1, 1, 0, { { 0 } } }, { 1, 2, 0.5, 1, { { 0, TRUE } } } }, 1, 1, 1.5 },
    { { { 0, 1, 1, 0, { { 0 } } }, { 1, 2, 0.5, 0, { { 0 } } } }, 1, 1, 0 },
    { { { 0, 1, 1, 0, { { 0 } } }, { 0, 1, 0.5, 1, { { 0, FALSE } } } }, 2, 1.5, 0 },
    { { { 0, 1, 0.5, 0, { { 0 } } }, { 2, 1, 1, 1, { { 0, FALSE } } } }, 2, 1.5, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Rig) rig = nodes (1, 3, 0);
    g_autoptr (FabGiven) given = given_of (cases[i].rows, 2);
    FabCollectiveForm form = form_of (rig, given);

    assert_int_equal (form.n_intra_steps, cases[i].n_steps);
    assert_int_equal (form.n_inter_steps, 0);
    assert_int_equal (form.intra_latency_ps, 100);
    assert_near (1e12 / form.footprint->rate_bytes_per_s, cases[i].link_ps, 1e-9);
    if (cases[i].limit_ps > 0)
      assert_near (1e12 / form.phases_bytes_per_s, cases[i].limit_ps, 1e-9);
    else
      assert_near (form.phases_bytes_per_s, 0, 0);
    fab_footprint_free (form.footprint);
  }
}

/* Over two NICs a message is two, of half the bytes each, and what waits for it waits for both: 5 + 2.5 + 5 ps, where
 * each NIC is busy for 7.5 at most in one direction. */
static void
a_message_over_two_nics_is_two (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = { { 0, 1, 1, 0, { { 0 } } },
                              { 1, 0, 0.5, 1, { { 0, FALSE } } },
                              { 1, 2, 1, 2, { { 0, FALSE }, { 1, TRUE } } } };
  g_autoptr (Rig) rig = nodes (3, 1, 2);
  g_autoptr (FabGiven) given = given_of (rows, 3);
  FabCollectiveForm form = form_of (rig, given);

  assert_near (1e12 / form.footprint->rate_bytes_per_s, 7.5, 1e-9);
  assert_near (1e12 / form.phases_bytes_per_s, 12.5, 1e-9);
  assert_int_equal (form.n_inter_steps, 2);
  fab_footprint_free (form.footprint);
  assert_schedule (rig, given,
                   "0>1 0.5\n0>1 0.5\n1>0 0.25 after 0 1\n1>0 0.25 after 0 1\n"
                   "1>2 0.5 after 0 1 2- 3-\n1>2 0.5 after 0 1 2- 3-\n");
}

static void
ranks_without_a_path_are_refused (G_GNUC_UNUSED void **state)
{
  static const Row rows[] = { { 0, 1, 1, 0, { { 0 } } }, { 1, 2, 1, 1, { { 0, FALSE } } } };
  g_autoptr (Rig) rig = nodes (2, 2, 0);
  g_autoptr (FabGiven) given = given_of (rows, 2);
  const FabAlgorithmEnv env = { .net_stretch = 1, .owner = given };
  FabGroup group = rig_group (rig);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  FabCollectiveForm form;
  g_autoptr (GError) error = NULL, other = NULL;

  assert_false (given->ops.form (&group, FAB_OP_ALL_REDUCE, &env, &form, &error));
  assert_non_null (error);
  assert_false (given->ops.schedule (&group, FAB_OP_ALL_REDUCE, &env, 1, schedule, &other));
  assert_non_null (other);
}

/* --- for what it is --- */

static void
an_algorithm_is_for_its_sizes (G_GNUC_UNUSED void **state)
{
  static const Row row = { 0, 1, 1, 0, { { 0 } } };
  g_autoptr (FabGiven) given = given_of (&row, 1);
  g_autoptr (Rig) rig = nodes (1, 4, 0);
  FabGroup group = rig_group (rig);

  assert_string_equal (given->name, "name");
  assert_string_equal (given->source, "source");
  assert_string_equal (given->ops.info.name, "name");
  given->op = FAB_OP_GATHER;
  given->n_ranks = 4;
  given->from_bytes = 100;
  given->to_bytes = 200;
  assert_true (fab_given_fits (given, 4, FAB_OP_GATHER, 100));
  assert_true (fab_given_fits (given, 4, FAB_OP_GATHER, 200));
  assert_false (fab_given_fits (given, 4, FAB_OP_GATHER, 99));
  assert_false (fab_given_fits (given, 4, FAB_OP_GATHER, 201));
  assert_false (fab_given_fits (given, 3, FAB_OP_GATHER, 150));
  assert_false (fab_given_fits (given, 4, FAB_OP_SCATTER, 150));
  given->to_bytes = 0;
  assert_true (fab_given_fits (given, 4, FAB_OP_GATHER, 1 << 30));
  assert_false (given->ops.supports (&group, FAB_OP_GATHER)); /* a library asks whether it fits */
  fab_given_free (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (messages_are_put_into_one_order),
    cmocka_unit_test (the_order_of_a_file_does_not_count),
    cmocka_unit_test (a_form_has_the_time_of_its_sequence),
    cmocka_unit_test (a_message_over_two_nics_is_two),
    cmocka_unit_test (ranks_without_a_path_are_refused),
    cmocka_unit_test (an_algorithm_is_for_its_sizes),
  };

  return cmocka_run_group_tests_name ("given messages", tests, NULL, NULL);
}
