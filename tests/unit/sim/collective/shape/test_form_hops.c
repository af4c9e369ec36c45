/* SPDX-License-Identifier: Apache-2.0 */
/* test_form_hops.c - which hops a form is of, and which of two sequences of steps is the longer. */
#include "tests/support/test.h"

#include "sim/collective/shape/form_hops.h"
#include "tests/support/technologies.h"

static const FabTechnology other_technology;

static FabHop
hop_of (FabHopKind kind, double bytes_per_s, FabTimePs latency_ps)
{
  return (FabHop){ .kind = kind,
                   .rate_bytes_per_s = bytes_per_s,
                   .latency_ps = latency_ps,
                   .endpoint_ps = fab_hop_kind_is_net (kind) ? latency_ps / 10 : 0,
                   .technology = &test_nvlink };
}

/* --- the slowest hops --- */

/* The slowest of each place and the longest of each place, which are different hops, in every order of the four. */
static void
the_slowest_hop_names_the_kind (G_GNUC_UNUSED void **state)
{
  for (guint order = 0; order < 4; order++) {
    FabHop hops[] = { hop_of (FAB_HOP_STAGED, 10, 100), hop_of (FAB_HOP_DIRECT, 20, 300),
                      hop_of (FAB_HOP_NET_STAGED, 5, 2000), hop_of (FAB_HOP_NET, 40, 4000) };
    FabCollectiveForm form = { 0 };
    FabSlowestHops slowest = { 0 };

    hops[0].technology = &other_technology;
    for (guint i = 0; i < 4; i++)
      fab_slowest_hops_note_step (&slowest, &hops[(order + i) % 4], &form);
    assert_int_equal (form.intra_kind, FAB_HOP_STAGED);
    assert_int_equal (form.inter_kind, FAB_HOP_NET_STAGED);
    assert_ptr_equal (form.intra_technology, &other_technology);
    assert_int_equal (form.intra_latency_ps, 300);
    assert_int_equal (form.inter_latency_ps, 4000);
    assert_int_equal (form.inter_endpoint_ps, 400);
  }
}

static void
of_hops_of_one_rate_the_first_counts (G_GNUC_UNUSED void **state)
{
  const FabHop hops[] = { hop_of (FAB_HOP_STAGED, 0.5, 1), hop_of (FAB_HOP_DIRECT, 0.5, 1),
                          hop_of (FAB_HOP_NET_HOST, 0.5, 1), hop_of (FAB_HOP_NET, 0.5, 1) };
  FabCollectiveForm form = { 0 };
  FabSlowestHops slowest = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (hops); i++)
    fab_slowest_hops_note_step (&slowest, &hops[i], &form);
  assert_int_equal (form.intra_kind, FAB_HOP_STAGED);
  assert_int_equal (form.inter_kind, FAB_HOP_NET_HOST);
}

/* A form without a hop inside a node has no technology there, and one without a hop between nodes no adapters. */
static void
hops_of_one_place_say_nothing_of_the_other (G_GNUC_UNUSED void **state)
{
  const FabHop inside = hop_of (FAB_HOP_STAGED, 10, 100), between = hop_of (FAB_HOP_NET_STAGED, 10, 100);
  FabCollectiveForm of_one = { 0 }, of_other = { 0 };

  fab_slowest_hops_note_step (&(FabSlowestHops){ 0 }, &inside, &of_one);
  fab_slowest_hops_note_step (&(FabSlowestHops){ 0 }, &between, &of_other);
  assert_int_equal (of_one.inter_latency_ps, 0);
  assert_int_equal (of_one.inter_endpoint_ps, 0);
  assert_int_equal (of_one.inter_kind, 0);
  assert_int_equal (of_other.intra_latency_ps, 0);
  assert_int_equal (of_other.intra_kind, 0);
  assert_null (of_other.intra_technology);
}

/* Where a step is several hops, only their sum is its latency. */
static void
a_part_of_a_step_has_no_latency_of_its_own (G_GNUC_UNUSED void **state)
{
  const FabHop between = hop_of (FAB_HOP_NET, 10, 100);
  FabCollectiveForm form = { 0 };

  fab_slowest_hops_note (&(FabSlowestHops){ 0 }, &between, &form);
  assert_int_equal (form.inter_latency_ps, 0);
  assert_int_equal (form.inter_endpoint_ps, 10);
  assert_int_equal (form.inter_kind, FAB_HOP_NET);
}

/* --- the longest sequence --- */

/* From the shortest to the longest: by the steps between nodes, then by the wires, then by the steps inside nodes. */
static void
sequences_have_one_order (G_GNUC_UNUSED void **state)
{
  static const FabStepChain chains[] = { { 0, 0, 0 }, { 0, 1, 0 }, { 0, 2, 0 }, { 5, 1, 0 }, { 5, 2, 0 },
                                         { 9, 1, 0 }, { 1, 0, 1 }, { 1, 3, 1 }, { 2, 0, 1 }, { 0, 0, 2 } };

  for (guint i = 0; i < G_N_ELEMENTS (chains); i++)
    for (guint k = 0; k < G_N_ELEMENTS (chains); k++)
      assert_int_equal (fab_step_chain_is_longer (&chains[i], &chains[k]), i > k);
}

static void
each_step_is_counted_where_it_is (G_GNUC_UNUSED void **state)
{
  const FabHop inside = hop_of (FAB_HOP_DIRECT, 1, 3), between = hop_of (FAB_HOP_NET, 1, 50);
  FabStepChain chain = { 0 };

  for (guint i = 0; i < 3; i++)
    fab_step_chain_add (&chain, &inside);
  for (guint i = 0; i < 2; i++)
    fab_step_chain_add (&chain, &between);
  assert_int_equal (chain.latency_ps, 3 * 3 + 2 * 50);
  assert_int_equal (chain.n_intra, 3);
  assert_int_equal (chain.n_inter, 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_slowest_hop_names_the_kind),
    cmocka_unit_test (of_hops_of_one_rate_the_first_counts),
    cmocka_unit_test (hops_of_one_place_say_nothing_of_the_other),
    cmocka_unit_test (a_part_of_a_step_has_no_latency_of_its_own),
    cmocka_unit_test (sequences_have_one_order),
    cmocka_unit_test (each_step_is_counted_where_it_is),
  };

  return cmocka_run_group_tests_name ("form_hops", tests, NULL, NULL);
}
