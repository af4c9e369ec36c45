/* SPDX-License-Identifier: Apache-2.0 */
/* test_blast.c - how far a change reaches: collectives that are slower, ranks that wait, algorithms that are
 * others. */
#include "tests/support/test.h"

#include <string.h>

#include "answer/variants/blast.h"

static FabVariant *
variant (double step_s, const FabVariantClass *classes, guint n_classes,
         const FabVariantCollective *collectives, guint n)
{
  FabVariant *self = g_new0 (FabVariant, 1);
  FabFact step = { FAB_FACT_STEP, NULL, 0, step_s };

  self->facts = g_array_new (FALSE, FALSE, sizeof (FabFact));
  g_array_append_val (self->facts, step);
  self->classes = g_array_new (FALSE, FALSE, sizeof (FabVariantClass));
  g_array_append_vals (self->classes, classes, n_classes);
  self->collectives = g_array_new (FALSE, FALSE, sizeof (FabVariantCollective));
  g_array_append_vals (self->collectives, collectives, n);
  return self;
}

static const FabVariantCollective before[] = { { "all_reduce", "ring", 1000, 1 },
                                               { "all_reduce", "tree", 10, 0.1 },
                                               { "all_reduce", "tree", 10, 0.1 } };
static const FabVariantCollective after[] = { { "all_reduce", "ring", 1000, 2 },
                                              { "all_reduce", "nvls", 10, 0.05 },
                                              { "all_reduce", "nvls", 10, 0.1005 } };

/* Of a step of 10 s waits of 5 ms and less are none. 3 ranks wait as long as before, 1 waits 0.1 s longer. One
 * collective is twice as slow, one half; 0.5 % are no difference. */
static void
slower_and_waiting_are_counted (G_GNUC_UNUSED void **state)
{
  const FabVariantClass then[] = { { 3, 1 }, { 1, 1 } }, now[] = { { 3, 1.004 }, { 1, 1.1 } };
  g_autoptr (FabVariant) a = variant (10, then, 2, before, 3), b = variant (11, now, 2, after, 3);
  FabBlast blast = fab_blast_of (a, b);

  assert_int_equal (blast.n_collectives, 3);
  assert_int_equal (blast.n_slower, 1);
  assert_int_equal (blast.n_faster, 1);
  assert_int_equal (blast.n_ranks, 4);
  assert_int_equal (blast.n_waiting, 1);
}

/* Ranks were one class that waited 1 s; now the slow one is alone and waits for nobody. */
static void
other_classes_are_held_against_the_mean (G_GNUC_UNUSED void **state)
{
  const FabVariantClass then[] = { { 4, 1 } }, now[] = { { 3, 2 }, { 1, 0 } };
  g_autoptr (FabVariant) a = variant (10, then, 1, before, 3), b = variant (11, now, 2, after, 2);
  FabBlast blast = fab_blast_of (a, b);

  assert_int_equal (blast.n_collectives, 0);
  assert_int_equal (blast.n_ranks, 4);
  assert_int_equal (blast.n_waiting, 3);
}

static void
other_algorithms_are_gathered_by_size (G_GNUC_UNUSED void **state)
{
  const FabVariantClass one = { 4, 1 };
  g_autoptr (FabVariant) a = variant (10, &one, 1, before, 3), b = variant (11, &one, 1, after, 3);
  g_autoptr (GArray) switches = fab_switches_of (a, b);
  const FabSwitch *found = (const FabSwitch *) (gpointer) switches->data;

  assert_int_equal (switches->len, 1);
  assert_string_equal (found->before, "tree");
  assert_string_equal (found->after, "nvls");
  assert_int_equal (found->n, 2);
  assert_int_equal (found->bytes, 10);
  assert_near (found->before_s, 0.2, 1e-12);
  assert_near (found->after_s, 0.1505, 1e-12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (slower_and_waiting_are_counted),
    cmocka_unit_test (other_classes_are_held_against_the_mean),
    cmocka_unit_test (other_algorithms_are_gathered_by_size),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
