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

/* A hundredth of a collective and half a thousandth of a step are no difference; what is beyond is. */
static void
limits_are_no_difference (G_GNUC_UNUSED void **state)
{
  static const struct {
    double time_s, waited_s;
    guint n_slower, n_faster, n_waiting;
  } cases[] = {
    { 100, 1, 0, 0, 0 },   { 101, 1, 0, 0, 0 },   { 101.25, 1, 1, 0, 0 },   { 99, 1, 0, 0, 0 },
    { 98.75, 1, 0, 1, 0 }, { 100, 1.5, 0, 0, 0 }, { 100, 1.5625, 0, 0, 7 }, { 100, 0, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const FabVariantCollective then = { "all_reduce", "ring", 10, 100 },
                               now = { "all_reduce", "ring", 10, cases[i].time_s };
    const FabVariantClass waited = { 7, 1 }, waits = { 7, cases[i].waited_s };
    g_autoptr (FabVariant) a = variant (1000, &waited, 1, &then, 1), b = variant (1000, &waits, 1, &now, 1);
    FabBlast blast = fab_blast_of (a, b);

    assert_int_equal (blast.n_slower, cases[i].n_slower);
    assert_int_equal (blast.n_faster, cases[i].n_faster);
    assert_int_equal (blast.n_ranks, 7);
    assert_int_equal (blast.n_waiting, cases[i].n_waiting);
  }
}

/* Without ranks nobody waited; ranks of other classes are held against 0 then. The mean counts each rank. */
static void
the_mean_is_over_ranks (G_GNUC_UNUSED void **state)
{
  const FabVariantClass then[] = { { 3, 1 }, { 1, 5 } }, now[] = { { 1, 1.9 }, { 2, 2.1 }, { 4, 3 } };
  g_autoptr (FabVariant) a = variant (10, then, 2, NULL, 0), none = variant (10, NULL, 0, NULL, 0),
                         b = variant (10, now, 3, NULL, 0);

  assert_int_equal (fab_blast_of (a, b).n_waiting, 6); /* the mean is 2 */
  assert_int_equal (fab_blast_of (none, b).n_waiting, 7);
  assert_int_equal (fab_blast_of (a, none).n_ranks, 0);
}

/* Collectives are held against each other where each has the same operation on the same size. */
static void
other_work_is_not_held_against_this (G_GNUC_UNUSED void **state)
{
  static const FabVariantCollective then = { "all_reduce", "ring", 10, 1 },
                                    now[] = { { "all_reduce", "tree", 11, 2 },
                                              { "all_gather", "tree", 10, 2 } };
  const FabVariantClass one = { 4, 1 };
  g_autoptr (FabVariant) a = variant (10, &one, 1, &then, 1);

  for (guint i = 0; i < G_N_ELEMENTS (now); i++) {
    g_autoptr (FabVariant) b = variant (10, &one, 1, &now[i], 1);
    g_autoptr (GArray) switches = fab_switches_of (a, b);

    assert_int_equal (fab_blast_of (a, b).n_collectives, 0);
    assert_int_equal (switches->len, 0);
  }
}

/* By the time that they took before, the longest first; equal ones as they came. Of one size, operation and pair of
 * algorithms there is one switch; none where the algorithm stayed, or where neither has one. */
static void
switches_are_sorted_by_time (G_GNUC_UNUSED void **state)
{
  static const FabVariantCollective
      then[] = { { "all_reduce", "ring", 10, 1 },   { "all_reduce", "ring", 20, 5 },
                 { "all_gather", "ring", 10, 1 },   { "all_reduce", "ring", 10, 1.5 },
                 { "all_reduce", "tree", 10, 2.5 }, { "all_reduce", "ring", 10, 0.5 },
                 { "barrier", NULL, 0, 9 },         { "all_reduce", "pat", 10, 7 } },
      now[] = { { "all_reduce", "tree", 10, 3 }, { "all_reduce", "tree", 20, 4 },
                { "all_gather", "tree", 10, 2 }, { "all_reduce", "tree", 10, 1 },
                { "all_reduce", "nvls", 10, 1 }, { "all_reduce", "nvls", 10, 8 },
                { "barrier", NULL, 0, 9 },       { "all_reduce", "pat", 10, 6 } };
  static const struct {
    FabBytes bytes;
    const char *op, *before, *after;
    guint n;
    double before_s, after_s;
  } expected[] = { { 20, "all_reduce", "ring", "tree", 1, 5, 4 },
                   { 10, "all_reduce", "ring", "tree", 2, 2.5, 4 },
                   { 10, "all_reduce", "tree", "nvls", 1, 2.5, 1 },
                   { 10, "all_gather", "ring", "tree", 1, 1, 2 },
                   { 10, "all_reduce", "ring", "nvls", 1, 0.5, 8 } };
  const FabVariantClass one = { 4, 1 };
  g_autoptr (FabVariant) a = variant (10, &one, 1, then, G_N_ELEMENTS (then)),
                         b = variant (10, &one, 1, now, G_N_ELEMENTS (now));
  g_autoptr (GArray) switches = fab_switches_of (a, b);

  assert_int_equal (switches->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < switches->len; i++) {
    const FabSwitch *found = &g_array_index (switches, FabSwitch, i);

    assert_int_equal (found->bytes, expected[i].bytes);
    assert_string_equal (found->op, expected[i].op);
    assert_string_equal (found->before, expected[i].before);
    assert_string_equal (found->after, expected[i].after);
    assert_int_equal (found->n, expected[i].n);
    assert_near (found->before_s, expected[i].before_s, 1e-12);
    assert_near (found->after_s, expected[i].after_s, 1e-12);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (slower_and_waiting_are_counted),
    cmocka_unit_test (other_classes_are_held_against_the_mean),
    cmocka_unit_test (other_algorithms_are_gathered_by_size),
    cmocka_unit_test (limits_are_no_difference),
    cmocka_unit_test (the_mean_is_over_ranks),
    cmocka_unit_test (other_work_is_not_held_against_this),
    cmocka_unit_test (switches_are_sorted_by_time),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
