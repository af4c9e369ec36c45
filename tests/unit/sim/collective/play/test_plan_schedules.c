/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan_schedules.c - messages of plans are made once, by their links and the number of their chunks. */
#include "tests/support/test.h"

#include "sim/collective/play/plan_schedules.h"
#include "tests/support/rig.h"

/* How often messages were made, and of which plan last. */
typedef struct {
  FabCluster *cluster;
  guint n_made;
  const FabCollectivePlan *last;
} Maker;

static FabSchedule *
make (gconstpointer owner, const FabCollectivePlan *plan)
{
  Maker *self = (Maker *) owner;

  self->n_made++;
  self->last = plan;
  return fab_schedule_new (self->cluster);
}

static FabCollectivePlan
plan_of (const Maker *maker, const FabFootprint *footprint, guint n_chunks, FabBytes bytes)
{
  return (FabCollectivePlan){ .footprint = footprint,
                              .bytes = bytes,
                              .steps = { .make = make, .owner = maker, .n_chunks = n_chunks } };
}

/* Two footprints in one and in two chunks are four schedules; plans of other sizes share them. */
static void
messages_of_a_plan_are_made_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = 100 });
  static const FabFootprint footprints[2];
  g_autoptr (GHashTable) schedules = fab_plan_schedules_new ();
  Maker maker = { .cluster = &rig->cluster };
  FabPlanSchedule *made[4];

  for (guint i = 0; i < 4; i++) {
    FabCollectivePlan plan = plan_of (&maker, &footprints[i / 2], 1 + i % 2, 10);

    assert_null (fab_plan_schedules_find (schedules, &plan));
    made[i] = fab_plan_schedules_make (schedules, &plan);
    assert_int_equal (maker.n_made, i + 1);
    assert_ptr_equal (maker.last, &plan);
    assert_non_null (made[i]->schedule);
    assert_ptr_equal (made[i]->footprint, &footprints[i / 2]);
    assert_int_equal (made[i]->n_chunks, 1 + i % 2);
    for (guint k = 0; k < i; k++)
      assert_ptr_not_equal (made[k]->schedule, made[i]->schedule);
  }
  for (guint i = 0; i < 4; i++) {
    FabCollectivePlan plan = plan_of (&maker, &footprints[i / 2], 1 + i % 2, 20);

    assert_ptr_equal (fab_plan_schedules_find (schedules, &plan), made[i]);
    assert_ptr_equal (fab_plan_schedules_make (schedules, &plan), made[i]);
  }
  assert_int_equal (maker.n_made, 4);
}

/* A caller may bring the schedule of a plan, also one that has none. */
static void
a_schedule_that_is_brought_is_kept (G_GNUC_UNUSED void **state)
{
  g_autoptr (Rig) rig = rig_new (&(RigSpec){ .n_nodes = 1, .gpus_per_node = 2, .gpu_bytes_per_s = 100 });
  static const FabFootprint footprints[2];
  g_autoptr (GHashTable) schedules = fab_plan_schedules_new ();
  Maker maker = { .cluster = &rig->cluster };
  FabCollectivePlan with = plan_of (&maker, &footprints[0], 3, 10),
                    without = plan_of (&maker, &footprints[1], 3, 10);
  FabSchedule *brought = fab_schedule_new (&rig->cluster);

  assert_ptr_equal (fab_plan_schedules_add (schedules, &with, brought)->schedule, brought);
  assert_null (fab_plan_schedules_add (schedules, &without, NULL)->schedule);
  assert_ptr_equal (fab_plan_schedules_make (schedules, &with)->schedule, brought);
  assert_null (fab_plan_schedules_make (schedules, &without)->schedule);
  assert_int_equal (maker.n_made, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (messages_of_a_plan_are_made_once),
    cmocka_unit_test (a_schedule_that_is_brought_is_kept),
  };

  return cmocka_run_group_tests_name ("plan schedules", tests, NULL, NULL);
}
