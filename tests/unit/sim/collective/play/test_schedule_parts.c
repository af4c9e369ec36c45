/* SPDX-License-Identifier: Apache-2.0 */
/* test_schedule_parts.c - the indices of a schedule, its copies, the footprints of its lanes, and the sizes of its
 * messages; and the schedules that plans share. */
#include "tests/support/test.h"

#include "sim/collective/play/plan_schedules.h"
#include "sim/collective/play/schedule_parts.h"
#include "tests/support/lanes.h"
#include "tests/support/rig.h"

/* 1 byte per ps; a hop is two links of 50 ps. */
static Rig *
star (guint n_gpus)
{
  return rig_new (&(RigSpec){
      .n_nodes = 1, .gpus_per_node = n_gpus, .gpu_bytes_per_s = FAB_PS_PER_S, .gpu_latency_ps = 50 });
}

static FabHop
hop_between (const Rig *rig, guint from, guint to)
{
  FabGroup group = rig_group (rig);
  FabHop hop;

  assert_true (fab_hop_ranks (&group, from, to, &hop, NULL));
  return hop;
}

static guint
add_lane (FabSchedule *schedule, const Rig *rig, guint from, guint to, double weight, guint n)
{
  FabHop hop = hop_between (rig, from, to);
  guint lane = fab_schedule_lane (schedule, &hop, 1, weight, n);

  assert_null (hop.shares);
  return lane;
}

/* --- indices --- */

/* Five lanes of one message, of which 1 and 4 share a list. */
static FabSchedule *
some_schedule (const Rig *rig)
{
  FabSchedule *schedule = fab_schedule_new (&rig->cluster);

  for (guint i = 0; i < 6; i++)
    assert_int_equal (add_lane (schedule, rig, i, (i + 1) % 6, 1, 1), i);
  fab_schedule_depend (schedule, 5, 1, 0);
  fab_schedule_depend (schedule, 3, 0, 0);
  fab_schedule_depend_on_departure (schedule, 3, 2);
  fab_schedule_depend (schedule, 1, 0, 0);
  fab_schedule_depend (schedule, 5, 0, 0);
  fab_schedule_depend_like (schedule, 4, 1);
  return schedule;
}

static void
assert_numbers (const guint *numbers, guint n, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, i > 0 ? " %u" : "%u", numbers[i]);
  assert_string_equal (text->str, expected);
}

static void
assert_list (const FabSchedule *schedule, guint list, guint start, guint end, guint first, guint after)
{
  assert_int_equal (schedule->lists[list].start, start);
  assert_int_equal (schedule->lists[list].end, end);
  assert_int_equal (schedule->lists[list].first, first);
  assert_int_equal (schedule->lists[list].after, after);
}

/* Lists are numbered by their first lanes; dependencies are sorted by list, in the order in which they were added, and
 * can be found from the lanes that others wait for. */
static void
lists_are_in_the_order_of_lanes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (6);
  g_autoptr (FabSchedule) schedule = some_schedule (rig);

  for (guint time = 0; time < 3; time++) { /* freezing a second time changes nothing */
    if (time < 2)
      fab_schedule_freeze (schedule);
    else
      fab_schedule_freeze_again (schedule);
    assert_true (schedule->is_frozen);
    assert_true (schedule->has_departures);
    assert_false (schedule->has_offsets);
    assert_int_equal (schedule->n_lists, 3);
    assert_list (schedule, 0, 0, 1, 0, 2); /* lanes 1 and 4 */
    assert_list (schedule, 1, 1, 3, 2, 3); /* lane 3 */
    assert_list (schedule, 2, 3, 5, 3, 4); /* lane 5 */
    assert_numbers (schedule->waiters, 4, "1 4 3 5");
    assert_numbers (schedule->dependent_starts, 7, "0 3 4 5 5 5 5");
    assert_numbers (schedule->dependents, 5, "0 1 4 3 2");
    for (guint i = 0; i < 6; i++)
      assert_int_equal (fab_schedule_like (schedule, i), i == 4 ? 1 : i);
    lanes_assert (schedule, &rig->cluster,
                  "0>1 1\n1>2 1 after 0\n2>3 1\n3>4 1 after 0 2-\n4>5 1 after 0\n5>0 1 after 0 1\n");
  }
}

/* A list hands bytes on when something in it is of the same round. */
static void
lists_that_hand_on_are_known (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  for (guint i = 0; i < 4; i++)
    add_lane (schedule, rig, i, (i + 1) % 4, 0.5, 2);
  fab_schedule_depend (schedule, 0, 3, 1);
  fab_schedule_depend (schedule, 1, 0, 0);
  fab_schedule_depend (schedule, 2, 1, 1);
  fab_schedule_depend (schedule, 2, 0, 0);
  assert_true (schedule->has_offsets);
  assert_false (schedule->has_departures);
  assert_int_equal (fab_schedule_n_messages (schedule), 8);
  lanes_assert (schedule, &rig->cluster,
                "0>1 0.5 x2 after 3'\n1>2 0.5 x2 after 0\n2>3 0.5 x2 after 0 1'\n3>0 0.5 x2\n");
  assert_false (schedule->lists[0].hands_on);
  assert_true (schedule->lists[1].hands_on);
  assert_true (schedule->lists[2].hands_on);
  assert_false (fab_schedule_list_of (schedule, 3)->hands_on);
}

/* --- copies --- */

/* A copy outlives what it was made from. */
static void
a_copy_is_the_same (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (6);
  FabSchedule *schedule = some_schedule (rig);
  g_autofree char *text = lanes_text (schedule, &rig->cluster);

  for (guint has_footprints = 0; has_footprints < 2; has_footprints++) {
    if (has_footprints)
      fab_schedule_make_footprints (schedule, FALSE);
    g_autoptr (FabSchedule) copy = fab_schedule_copy (schedule);
    assert_true (copy->is_frozen);
    assert_true (copy->has_departures);
    assert_false (copy->has_offsets);
    assert_int_equal (fab_schedule_n_messages (copy), 6);
    assert_int_equal (fab_schedule_n_lanes (copy), 6);
    assert_int_equal (fab_schedule_n_alike (copy), 0);
    assert_null (copy->total);
    for (guint i = 0; i < 6; i++) {
      const FabScheduleLane *lane = fab_schedule_lane_at (copy, i), *of = fab_schedule_lane_at (schedule, i);

      assert_int_equal (lane->footprint != NULL, has_footprints);
      assert_null (lane->whole_footprint);
      if (has_footprints)
        assert_near (lane->footprint->rate_bytes_per_s, of->footprint->rate_bytes_per_s, 0);
    }
    if (has_footprints)
      g_clear_pointer (&schedule, fab_schedule_free);
    lanes_assert (copy, &rig->cluster, text);
  }
}

static void
a_copy_of_rounds_has_offsets (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  add_lane (schedule, rig, 0, 1, 0.25, 3);
  add_lane (schedule, rig, 1, 0, 0.25, 3);
  fab_schedule_depend (schedule, 0, 1, 1);
  fab_schedule_depend (schedule, 1, 0, 1);
  schedule->n_alike = 7;
  g_autoptr (FabSchedule) copy = fab_schedule_copy (schedule);
  assert_true (copy->has_offsets);
  assert_false (copy->has_departures);
  assert_int_equal (fab_schedule_n_messages (copy), 6);
  assert_int_equal (fab_schedule_n_alike (copy), 7);
  lanes_assert (copy, &rig->cluster, "0>1 0.25 x3 after 1'\n1>0 0.25 x3 after 0'\n");
}

/* The same bytes in other chunks. */
static void
a_pipeline_is_cut_again (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

  add_lane (schedule, rig, 0, 1, 0.25, 4);
  add_lane (schedule, rig, 1, 2, 0.125, 4);
  fab_schedule_depend (schedule, 1, 0, 0);
  assert_true (fab_schedule_is_in_chunks (schedule, 4));
  assert_false (fab_schedule_is_in_chunks (schedule, 3));
  assert_false (fab_schedule_is_in_chunks (schedule, 5));
  g_autoptr (FabSchedule) two = fab_schedule_in_chunks (schedule, 2), ten = fab_schedule_in_chunks (two, 10);
  lanes_assert (two, &rig->cluster, "0>1 0.5 x2\n1>2 0.25 x2 after 0\n");
  lanes_assert (ten, &rig->cluster, "0>1 0.1 x10\n1>2 0.05 x10 after 0\n");
  assert_int_equal (fab_schedule_n_messages (two), 4);
  assert_int_equal (fab_schedule_n_messages (ten), 20);
  assert_true (fab_schedule_is_in_chunks (two, 2));
  assert_int_equal (fab_schedule_n_messages (schedule), 8);
}

/* Not where one lane has another number, nor where rounds follow one another. */
static void
not_every_schedule_is_in_chunks (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  g_autoptr (FabSchedule) uneven = fab_schedule_new (&rig->cluster), ring = fab_schedule_new (&rig->cluster);

  add_lane (uneven, rig, 0, 1, 1, 2);
  add_lane (uneven, rig, 0, 1, 1, 3);
  assert_false (fab_schedule_is_in_chunks (uneven, 2));
  assert_false (fab_schedule_is_in_chunks (uneven, 3));
  add_lane (ring, rig, 0, 1, 1, 2);
  assert_true (fab_schedule_is_in_chunks (ring, 2));
  fab_schedule_depend (ring, 0, 0, 1);
  assert_false (fab_schedule_is_in_chunks (ring, 2));
}

/* --- footprints --- */

/* Of a message, or of all bytes of size; where both directions of a hop are in use, a byte takes as much longer as the
 * hop says, whether the other direction belongs to an earlier lane or to a later one. */
static void
footprints_are_of_messages_or_of_all_bytes (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (4);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  static const guint ends[][2] = { { 0, 1 }, { 1, 0 }, { 2, 3 } };

  for (guint i = 0; i < 3; i++) {
    FabHop hop = hop_between (rig, ends[i][0], ends[i][1]);

    hop.duplex_stretch = 1.5;
    fab_schedule_lane (schedule, &hop, 1, 0.25, 1);
  }
  fab_schedule_make_footprints (schedule, FALSE);
  for (guint i = 0; i < 3; i++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (schedule, i);

    assert_null (lane->whole_footprint);
    assert_int_equal (lane->footprint->n, 2);
    assert_near (lane->footprint->weights[0], 1, 0);
    assert_near (lane->footprint->rate_bytes_per_s, i < 2 ? 1e12 / 1.5 : 1e12, 1e-12);
  }
  const FabFootprint *first = fab_schedule_lane_at (schedule, 0)->footprint;
  fab_schedule_make_footprints (schedule, FALSE); /* they are there */
  assert_ptr_equal (fab_schedule_lane_at (schedule, 0)->footprint, first);
  fab_schedule_make_footprints (schedule, TRUE);
  for (guint i = 0; i < 3; i++) {
    const FabScheduleLane *lane = fab_schedule_lane_at (schedule, i);

    assert_near (lane->footprint->weights[0], 1, 0);
    assert_near (lane->whole_footprint->weights[0], 0.25, 0);
    assert_near (lane->whole_footprint->rate_bytes_per_s, i < 2 ? 4e12 / 1.5 : 4e12, 1e-12);
  }
}

/* --- what messages do to ports, and their sizes --- */

/* What a message is told of its step, in one number. */
static double
step_number (G_GNUC_UNUSED gconstpointer data, const FabMessageStep *step)
{
  return step->bytes + 1000 * step->port_bytes + (step->is_both ? 1e9 : 0);
}

/* Inside a node a message has no port, and only its own bytes count. */
static void
messages_inside_a_node_have_no_port (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (3);

  for (guint n = 1; n <= 2; n++) {
    g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster),
                            empty = fab_schedule_new (&rig->cluster);

    add_lane (schedule, rig, 0, 1, 0.5, n);
    add_lane (schedule, rig, 1, 0, 0.25, 1);
    add_lane (schedule, rig, 2, 1, 0.125, 1);
    assert_near (fab_schedule_longest (schedule, 8, step_number, NULL), n * (4 + 4000), 1e-12);
    assert_near (fab_schedule_longest (schedule, 16, step_number, NULL), n * (8 + 8000), 1e-12);
    assert_near (fab_schedule_longest (empty, 8, step_number, NULL), 0, 0);
  }
}

/* Between nodes all messages of a step load the port of the sender and that of the receiver, and the busier one
 * counts; what the receiver sends in that step, or the sender receives, comes the other way. The last lane of some
 * waits for the first one, and is a step of its own. Of 8 bytes. */
static void
messages_of_a_step_share_ports (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n;
    struct {
      guint from, to;
      double weight;
    } lanes[3];
    gboolean waits;
    double expected;
  } cases[] = {
    { 1, { { 0, 1, 0.5 } }, FALSE, 4004 },
    { 2, { { 0, 1, 0.5 }, { 2, 3, 0.25 } }, FALSE, 4004 },
    { 2, { { 0, 1, 0.5 }, { 2, 1, 0.25 } }, FALSE, 6004 },
    { 2, { { 0, 1, 0.5 }, { 0, 2, 0.25 } }, FALSE, 6004 },
    { 2, { { 0, 1, 0.5 }, { 3, 0, 0.25 } }, FALSE, 1e9 + 4004 },
    { 2, { { 0, 1, 0.5 }, { 1, 3, 0.25 } }, FALSE, 1e9 + 4004 },
    { 3, { { 0, 1, 0.5 }, { 2, 1, 0.25 }, { 1, 3, 0.125 } }, FALSE, 1e9 + 6004 },
    { 2, { { 0, 1, 0.5 }, { 1, 0, 0.25 } }, TRUE, 4004 + 2002 },
    { 3, { { 0, 1, 0.5 }, { 2, 1, 0.25 }, { 1, 0, 0.25 } }, TRUE, 6004 + 2002 },
    { 3, { { 0, 1, 0.5 }, { 3, 0, 0.25 }, { 1, 0, 0.125 } }, TRUE, 1e9 + 4004 + 1001 },
  };
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 4,
                                             .gpus_per_node = 1,
                                             .nics_per_node = 1,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .nic_bytes_per_s = FAB_PS_PER_S });

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);

    for (guint l = 0; l < cases[i].n; l++)
      add_lane (schedule, rig, cases[i].lanes[l].from, cases[i].lanes[l].to, cases[i].lanes[l].weight, 1);
    if (cases[i].waits)
      fab_schedule_depend (schedule, cases[i].n - 1, 0, 0);
    for (guint time = 0; time < 2; time++)
      assert_near (fab_schedule_longest (schedule, 8, step_number, NULL), cases[i].expected, 1e-12);
  }
}

/* A way that leaves and comes in by the same port loads it once. */
static void
one_port_is_loaded_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 2,
                                             .gpus_per_node = 1,
                                             .nics_per_node = 1,
                                             .gpu_bytes_per_s = FAB_PS_PER_S,
                                             .nic_bytes_per_s = FAB_PS_PER_S });

  for (guint is_one = 0; is_one < 2; is_one++) {
    g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
    FabHop hop = hop_between (rig, 0, 1);

    if (is_one)
      hop.in_port = hop.out_port;
    fab_schedule_lane (schedule, &hop, 1, 0.5, 1);
    assert_near (fab_schedule_longest (schedule, 8, step_number, NULL), 4 + 4000, 1e-12);
  }
}

static void
assert_size (const GArray *sizes, guint i, FabBytes bytes, gboolean is_outside)
{
  assert_int_equal (g_array_index (sizes, FabMessageSize, i).bytes, bytes);
  assert_int_equal (g_array_index (sizes, FabMessageSize, i).is_outside, is_outside);
}

/* Sizes are listed once, rounded to bytes, and are outside below the smallest size that was measured or above the
 * largest. Links that were not measured, or of which no largest size is known, have none. */
static void
sizes_of_measured_links_are_listed_once (G_GNUC_UNUSED void **state)
{
  static const FabMessages narrow = { .from_bytes = 100, .to_bytes = 200 },
                           wide = { .from_bytes = 1, .to_bytes = 4000 },
                           endless = { .from_bytes = 1, .to_bytes = 0 };
  static const struct {
    const FabMessages *messages;
    double weight;
  } lanes[] = { { &narrow, 0.25 }, { &narrow, 0.5 }, { &narrow, 0.25 }, { NULL, 0.75 }, { &endless, 0.75 },
                { &wide, 0.5 },    { &wide, 1 },     { &wide, 0.25 },   { &narrow, 1 } };
  g_autoptr (Rig) rig = star (2);
  g_autoptr (FabSchedule) schedule = fab_schedule_new (&rig->cluster);
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (FabMessageSize));

  for (guint i = 0; i < G_N_ELEMENTS (lanes); i++) {
    FabHop hop = hop_between (rig, 0, 1);

    hop.messages = lanes[i].messages;
    fab_schedule_lane (schedule, &hop, 1, lanes[i].weight, 1);
  }
  fab_schedule_longest (schedule, 1, step_number, NULL);
  fab_schedule_longest (schedule, 1, step_number, NULL);
  fab_schedule_add_sizes (schedule, 398, sizes);
  /* 99.5 is 100 bytes, the smallest of the narrow link. */
  assert_int_equal (sizes->len, 4);
  assert_size (sizes, 0, 100, FALSE);
  assert_size (sizes, 1, 199, FALSE);
  assert_size (sizes, 2, 398, FALSE);
  assert_size (sizes, 3, 398, TRUE);
  fab_schedule_add_sizes (schedule, 398, sizes);
  assert_int_equal (sizes->len, 4);
  fab_schedule_add_sizes (schedule, 397, sizes);
  assert_size (sizes, 4, 99, TRUE);
  g_array_set_size (sizes, 0);
  fab_schedule_add_sizes (schedule, 400, sizes);
  assert_size (sizes, 1, 200, FALSE);
  g_array_set_size (sizes, 0);
  fab_schedule_add_sizes (schedule, 402, sizes);
  assert_size (sizes, 1, 201, TRUE);
}

/* --- schedules of plans --- */

static guint n_made;

static FabSchedule *
make_schedule (gconstpointer owner, G_GNUC_UNUSED const FabCollectivePlan *plan)
{
  n_made++;
  return fab_schedule_new (owner);
}

/* Plans with the same footprint and number of chunks have one schedule, whatever else they are. */
static void
alike_plans_have_one_schedule (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = star (2);
  g_autoptr (GHashTable) schedules = fab_plan_schedules_new ();
  const FabFootprint footprints[2] = { { .n = 1 }, { .n = 1 } };
  FabPlanSchedule *made[2][3];

  n_made = 0;
  for (guint f = 0; f < 2; f++)
    for (guint chunks = 0; chunks < 3; chunks++) {
      FabCollectivePlan plan = { .footprint = &footprints[f],
                                 .bytes = 100,
                                 .steps = {
                                     .make = make_schedule, .owner = &rig->cluster, .n_chunks = chunks } };

      assert_null (fab_plan_schedules_find (schedules, &plan));
      made[f][chunks] = fab_plan_schedules_make (schedules, &plan);
      assert_non_null (made[f][chunks]->schedule);
      assert_ptr_equal (made[f][chunks]->footprint, &footprints[f]);
      assert_int_equal (made[f][chunks]->n_chunks, chunks);
      plan.bytes = 200;
      assert_ptr_equal (fab_plan_schedules_make (schedules, &plan), made[f][chunks]);
      assert_ptr_equal (fab_plan_schedules_find (schedules, &plan), made[f][chunks]);
    }
  assert_int_equal (n_made, 6);
  assert_int_equal (g_hash_table_size (schedules), 6);
  const FabCollectivePlan later = { .footprint = &footprints[0], .steps.n_chunks = 9 };
  FabPlanSchedule *added = fab_plan_schedules_add (schedules, &later, NULL);
  assert_null (added->schedule);
  assert_ptr_equal (fab_plan_schedules_make (schedules, &later), added);
  assert_int_equal (n_made, 6);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (lists_are_in_the_order_of_lanes),
    cmocka_unit_test (lists_that_hand_on_are_known),
    cmocka_unit_test (a_copy_is_the_same),
    cmocka_unit_test (a_copy_of_rounds_has_offsets),
    cmocka_unit_test (a_pipeline_is_cut_again),
    cmocka_unit_test (not_every_schedule_is_in_chunks),
    cmocka_unit_test (footprints_are_of_messages_or_of_all_bytes),
    cmocka_unit_test (messages_inside_a_node_have_no_port),
    cmocka_unit_test (messages_of_a_step_share_ports),
    cmocka_unit_test (one_port_is_loaded_once),
    cmocka_unit_test (sizes_of_measured_links_are_listed_once),
    cmocka_unit_test (alike_plans_have_one_schedule),
  };

  return cmocka_run_group_tests_name ("schedule parts", tests, NULL, NULL);
}
