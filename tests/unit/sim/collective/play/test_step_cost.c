/* SPDX-License-Identifier: Apache-2.0 */
/* test_step_cost.c - with the costs that are found, the longest sequence of messages takes what was asked. */
#include "tests/support/test.h"

#include <math.h>

#include "sim/collective/play/step_cost.h"
#include "tests/support/random.h"
#include "tests/support/rig.h"

enum { GPUS = 4, INSIDE_PS = 100, BETWEEN_PS = 1200 };

/* A hop inside a node is two links of 50 ps, one between nodes four of these and two of 500 ps. */
static Rig *
two_nodes (void)
{
  return rig_new (&(RigSpec){ .n_nodes = 2,
                              .gpus_per_node = GPUS,
                              .nics_per_node = GPUS,
                              .gpu_bytes_per_s = FAB_PS_PER_S,
                              .gpu_latency_ps = 50,
                              .nic_bytes_per_s = FAB_PS_PER_S,
                              .nic_latency_ps = 500 });
}

static guint
add_lane (FabSchedule *schedule, const Rig *rig, guint from, guint to, guint n)
{
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, from, to, &hop, NULL));
  return fab_schedule_lane (schedule, &hop, 1, 1, n);
}

static gboolean
is_between (const FabSchedule *schedule, guint lane)
{
  return fab_hop_kind_is_net (fab_schedule_lane_at (schedule, lane)->hop.kind);
}

/* When a message leaves its sender: after those of its lane before it, and after those that it waits for. It takes no
 * time to leave, and the cost of its step to arrive; in rings the next of a lane leaves that much later. Offsets are
 * those of the dependencies: 0 is the message of the same number, 1 the one before it. */
static FabTimePs
leaves_ps (const FabSchedule *schedule, const FabStepCost *cost, guint lane, guint number)
{
  const FabWaitList *list = fab_schedule_list_of (schedule, lane);
  FabTimePs ps = 0;

  if (number > 0 && schedule->has_offsets)
    ps = leaves_ps (schedule, cost, lane, number - 1) + cost->gap_ps;
  for (guint i = list->start; i < list->end; i++) {
    const FabDependency *on = fab_schedule_dependency_at (schedule, i);

    if (number < on->offset)
      continue;
    ps = MAX (ps,
              leaves_ps (schedule, cost, on->from, number - on->offset)
                  + (on->is_departure ? 0
                                      : fab_step_cost_ps (cost, fab_schedule_lane_at (schedule, on->from))));
  }
  return ps;
}

static FabTimePs
longest_ps (const FabSchedule *schedule, const FabStepCost *cost)
{
  FabTimePs ps = 0;

  for (guint l = 0; l < fab_schedule_n_lanes (schedule); l++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (schedule, l);
    guint last = schedule->has_offsets ? lane->n_messages - 1
                                       : 0; /* chunks that follow one another add nothing */

    ps = MAX (ps, leaves_ps (schedule, cost, l, last) + fab_step_cost_ps (cost, lane));
  }
  return ps;
}

/* Each step is rounded to a picosecond. */
static void
assert_takes (FabSchedule *schedule, const FabPlaySpec *spec, FabTimePs wires_ps)
{
  FabStepCost cost = fab_step_cost_find (schedule, spec);
  FabTimePs expected_ps = MAX (spec->steps_ps, wires_ps), found_ps = longest_ps (schedule, &cost);

  if (ABS (found_ps - expected_ps) > 20)
    fail_msg ("%" G_GINT64_FORMAT " ps instead of %" G_GINT64_FORMAT, found_ps, expected_ps);
}

/* --- graphs --- */

/* Lanes between random ranks, each of which waits for up to two before it. In some of the schedules all have three
 * messages, and in the others some wait for the same as the one before. */
static FabSchedule *
random_schedule (const Rig *rig, Random *random)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  guint n = random_between (random, 1, 12), n_messages = random_chance (random, 30) ? 3 : 1;

  for (guint l = 0; l < n; l++) {
    guint from = random_below (random, 2 * GPUS),
          to = (from + random_between (random, 1, 2 * GPUS - 1)) % (2 * GPUS);

    add_lane (schedule, rig, from, to, n_messages);
    if (n_messages == 1 && l > 0 && random_chance (random, 20)) {
      fab_schedule_depend_like (schedule, l, l - 1);
      continue;
    }
    for (guint i = random_below (random, 3); i > 0 && l > 0; i--) {
      guint before = random_below (random, l);

      if (n_messages == 1 && random_chance (random, 25))
        fab_schedule_depend_on_departure (schedule, l, before);
      else
        fab_schedule_depend (schedule, l, before, 0);
    }
  }
  fab_schedule_freeze (schedule);
  return schedule;
}

/* From less than the wires take to much more. */
static void
the_longest_sequence_takes_what_was_asked (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes ();

  for (guint seed = 0; seed < 400; seed++) {
    Random random = { seed };
    g_autoptr (FabSchedule) schedule = random_schedule (rig, &random);
    FabTimePs wires_ps = longest_ps (schedule, &(FabStepCost){ 0 });
    FabPlaySpec spec = { .steps_ps = (FabTimePs) ((double) wires_ps * random_scale (&random, 0.3, 30)),
                         .intra_cost = random_scale (&random, 0.1, 10),
                         .inter_cost = random_scale (&random, 0.1, 10) };

    assert_takes (schedule, &spec, wires_ps);
    FabStepCost cost = fab_step_cost_find (schedule, &spec);
    assert_true (fabs (cost.intra_ps * spec.inter_cost - cost.inter_ps * spec.intra_cost)
                 <= 1e-9 * cost.inter_ps * spec.intra_cost);
    assert_int_equal (cost.gap_ps, 0);
  }
}

/* Two hops inside a node and one between: 2 x 700 + 2100 with costs of 1 : 3. Where 3 x 300 are less than the wires
 * between nodes take, these take their 1200 and the others share the rest. */
static void
steps_inside_and_between_nodes_share_the_time (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes ();
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  FabPlaySpec spec = { .steps_ps = 3500, .intra_cost = 1, .inter_cost = 3 };
  const FabTimePs intra_ps[] = { 700, 300 }, inter_ps[] = { 2100, 900 };

  for (guint l = 0; l < 3; l++) {
    add_lane (schedule, rig, l, l < 2 ? l + 1 : GPUS, 1);
    if (l > 0)
      fab_schedule_depend (schedule, l, l - 1, 0);
  }
  fab_schedule_freeze (schedule);
  assert_true (is_between (schedule, 2) && !is_between (schedule, 1));
  for (guint i = 0; i < 2; i++) {
    FabStepCost cost = fab_step_cost_find (schedule, &spec);

    assert_int_equal (lround (cost.intra_ps), intra_ps[i]);
    assert_int_equal (lround (cost.inter_ps), inter_ps[i]);
    assert_int_equal (fab_step_cost_ps (&cost, fab_schedule_lane_at (schedule, 0)), intra_ps[i]);
    assert_int_equal (fab_step_cost_ps (&cost, fab_schedule_lane_at (schedule, 2)),
                      MAX (inter_ps[i], BETWEEN_PS));
    spec.steps_ps = 2 * 300 + BETWEEN_PS;
  }
}

/* Without a time for the steps there are only wires. */
static void
nothing_asked_is_the_wires (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes ();
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  add_lane (schedule, rig, 0, 1, 1);
  add_lane (schedule, rig, 0, GPUS, 1);
  fab_schedule_freeze (schedule);
  FabStepCost cost = fab_step_cost_find (schedule, &(FabPlaySpec){ .bytes = 1 });
  assert_true (fpclassify (cost.intra_ps) == FP_ZERO && fpclassify (cost.inter_ps) == FP_ZERO);
  assert_int_equal (cost.gap_ps, 0);
  assert_int_equal (fab_step_cost_ps (&cost, fab_schedule_lane_at (schedule, 0)), INSIDE_PS);
  assert_int_equal (fab_step_cost_ps (&cost, fab_schedule_lane_at (schedule, 1)), BETWEEN_PS);
}

/* --- rings --- */

/* A ring over ranks of both nodes, whose lanes send what they received in the round before. The first lane may have
 * other many messages than the others, and may wait for none: then it is its own messages that take the time. */
static FabSchedule *
ring_of (const Rig *rig, guint n_rounds, guint n_of_first, gboolean is_open)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);
  const guint ranks[] = { 0, 1, GPUS, GPUS + 1 };

  for (guint i = 0; i < 4; i++)
    add_lane (schedule, rig, ranks[i], ranks[(i + 1) % 4], i == 0 ? n_of_first : n_rounds);
  for (guint i = is_open ? 1 : 0; i < 4; i++)
    fab_schedule_depend (schedule, i, (i + 3) % 4, 1);
  fab_schedule_freeze (schedule);
  return schedule;
}

/* Of a ring every step costs the same, inside a node or between nodes; where the wires between nodes are longer than a
 * step, they take part of the others' time. */
static void
rounds_of_a_ring_take_what_was_asked (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes ();

  for (guint n_rounds = 1; n_rounds <= 6; n_rounds++)
    for (guint n_of_first = MAX (n_rounds, 2) - 1; n_of_first <= n_rounds; n_of_first++)
      for (FabTimePs step_ps = 50; step_ps <= 3300; step_ps += 50) {
        g_autoptr (FabSchedule) ring = ring_of (rig, n_rounds, n_of_first, FALSE);
        FabPlaySpec spec = { .steps_ps = step_ps * n_rounds, .intra_cost = 1, .inter_cost = 5 };
        FabStepCost cost = fab_step_cost_find (ring, &spec);

        assert_takes (ring, &spec, longest_ps (ring, &(FabStepCost){ 0 }));
        assert_true (fabs (cost.intra_ps - cost.inter_ps) <= 1e-9 * cost.inter_ps);
        assert_int_equal (cost.gap_ps, (FabTimePs) cost.inter_ps);
        if (step_ps >= BETWEEN_PS)
          assert_int_equal (lround (cost.inter_ps), step_ps);
      }
}

static void
messages_of_an_open_ring_follow_one_another (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes ();

  for (guint n_rounds = 1; n_rounds <= 3; n_rounds++)
    for (guint n_of_first = MAX (n_rounds, 2) - 1; n_of_first <= 9; n_of_first++)
      for (FabTimePs steps_ps = 500; steps_ps <= 20000; steps_ps += 500) {
        g_autoptr (FabSchedule) ring = ring_of (rig, n_rounds, n_of_first, TRUE);

        assert_takes (ring, &(FabPlaySpec){ .steps_ps = steps_ps, .intra_cost = 1, .inter_cost = 1 },
                      longest_ps (ring, &(FabStepCost){ 0 }));
      }
}

/* --- what is remembered --- */

/* Each question has its own answer, however often and in which order it is asked. */
static void
each_question_keeps_its_answer (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes ();
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  const FabPlaySpec specs[] = {
    { .steps_ps = 9000, .intra_cost = 1, .inter_cost = 2 },
    { .steps_ps = 9001, .intra_cost = 1, .inter_cost = 2 },
    { .steps_ps = 9000, .intra_cost = 2, .inter_cost = 2 },
    { .steps_ps = 9000, .intra_cost = 0.5, .inter_cost = 2 },
    { .steps_ps = 9000, .intra_cost = 1, .inter_cost = 3 },
    { .steps_ps = 9000, .intra_cost = 1, .inter_cost = 1 },
  };
  FabStepCost first[G_N_ELEMENTS (specs)];

  add_lane (schedule, rig, 0, GPUS, 1);
  fab_schedule_depend (schedule, add_lane (schedule, rig, GPUS, GPUS + 1, 1), 0, 0);
  fab_schedule_freeze (schedule);
  for (guint i = 0; i < G_N_ELEMENTS (specs); i++) {
    double sum = specs[i].intra_cost + specs[i].inter_cost, ps = (double) specs[i].steps_ps;

    first[i] = fab_step_cost_find (schedule, &specs[i]);
    assert_true (fabs (first[i].intra_ps - ps * specs[i].intra_cost / sum) < 1e-3);
    assert_true (fabs (first[i].inter_ps - ps * specs[i].inter_cost / sum) < 1e-3);
  }
  assert_int_equal (schedule->step_costs->len, G_N_ELEMENTS (specs));
  for (guint i = G_N_ELEMENTS (specs); i-- > 0;) {
    FabStepCost again = fab_step_cost_find (schedule, &specs[i]);

    assert_memory_equal (&again, &first[i], sizeof again);
  }
  assert_int_equal (schedule->step_costs->len, G_N_ELEMENTS (specs));
}

/* A schedule takes the costs of another one: here of one that is half as long, so that a step costs twice as much. */
static void
costs_are_taken_from_the_folded_schedule (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = two_nodes ();
  g_autoptr (FabSchedule) whole = fab_schedule_new (&rig->cluster), folded = fab_schedule_new (&rig->cluster);
  const FabPlaySpec spec = { .steps_ps = 8000, .intra_cost = 1, .inter_cost = 1 };

  add_lane (whole, rig, 0, 1, 1);
  fab_schedule_depend (whole, add_lane (whole, rig, 1, 2, 1), 0, 0);
  add_lane (folded, rig, 0, 1, 1);
  fab_schedule_freeze (whole);
  fab_step_cost_take (whole, folded, &spec);
  assert_int_equal (lround (fab_step_cost_find (whole, &spec).intra_ps), 8000);
  assert_int_equal (folded->step_costs->len, 1);
  fab_step_cost_take (whole, folded, &spec);
  assert_int_equal (whole->step_costs->len, 1);
  fab_step_cost_take (whole, whole, &(FabPlaySpec){ .steps_ps = 6000, .intra_cost = 1, .inter_cost = 1 });
  assert_int_equal (whole->step_costs->len, 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_longest_sequence_takes_what_was_asked),
    cmocka_unit_test (steps_inside_and_between_nodes_share_the_time),
    cmocka_unit_test (nothing_asked_is_the_wires),
    cmocka_unit_test (rounds_of_a_ring_take_what_was_asked),
    cmocka_unit_test (messages_of_an_open_ring_follow_one_another),
    cmocka_unit_test (each_question_keeps_its_answer),
    cmocka_unit_test (costs_are_taken_from_the_folded_schedule),
  };

  return cmocka_run_group_tests_name ("step_cost", tests, NULL, NULL);
}
