/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_search.c - what models/library/nccl/search.c makes of switched nodes, by hand.
 *
 * Links as NCCL counts them: A100 12 x 20 = 240 GB/s, H100 18 x 20.6 = 370.8, B200 18 x 40.1 = 721.8.
 */
#include "models/library/nccl/search.h"
#include "tests/support/test.h"

static const double a100 = 240, h100 = 370.8, b200 = 721.8;

static NcclSearch
search (guint generation, double link_GBps, guint n_gpus, guint version)
{
  NcclSystem system = { .generation = generation, .n_gpus = n_gpus, .link_GBps = link_GBps, .n_nodes = 1 };
  NcclSearch found;

  nccl_search (&system, version, &found);
  return found;
}

static NcclSearch
search_nodes (guint generation, double link_GBps, guint n_gpus, guint n_nics, double nic_GBps, guint version)
{
  NcclSystem system = { .generation = generation,
                        .n_gpus = n_gpus,
                        .link_GBps = link_GBps,
                        .n_nodes = 2,
                        .n_nics = n_nics,
                        .nic_GBps = nic_GBps };
  NcclSearch found;

  nccl_search (&system, version, &found);
  return found;
}

static void
assert_graph (const NcclGraph *graph, guint n, double intra_GBps, double inter_GBps)
{
  assert_int_equal (graph->n, n);
  assert_near (graph->intra_GBps, intra_GBps, 1e-9);
  assert_near (graph->inter_GBps, inter_GBps, 1e-9);
}

/* A100: 6 x 40 fill 240, then 12 x 20. H100: 6 x 60 (7 x 50 are less), then 12 x 30. B200: 8 x 90, then 16 x 45.
 * All are doubled once more when they are connected. */
static void
one_node_has_as_many_channels_with_any_number_of_gpus (G_GNUC_UNUSED void **state)
{
  for (guint g = 2; g <= 8; g++) {
    NcclSearch ampere = search (8, a100, g, 22703), hopper = search (9, h100, g, 22902),
               blackwell = search (10, b200, g, 22902);

    assert_graph (&ampere.ring, 12, 20, 20);
    assert_graph (&hopper.ring, 12, 30, 30);
    assert_graph (&blackwell.ring, 16, 45, 45);
    assert_int_equal (ampere.n_channels, 24);
    assert_int_equal (hopper.n_channels, 24);
    assert_int_equal (blackwell.n_channels, 32);
  }
}

/* (g + 1) x speed fits into the links. H100: 9 x 40 = 360, 8 x 40, 7 x 50 = 350, 6 x 60 = 360, 5 x 60.
 * B200: 9 x 80 = 720, 8 x 90 = 720. 32 heads of 64 GPUs: 33 x 20 = 660. */
static void
heads_share_links (G_GNUC_UNUSED void **state)
{
  static const double hopper_GBps[] = { 60, 60, 50, 40, 40 }, blackwell_GBps[] = { 90, 90, 90, 90, 80 };

  for (guint i = 0; i < 5; i++) {
    NcclSearch hopper = search (9, h100, 4 + i, 22707), blackwell = search (10, b200, 4 + i, 22707);

    assert_int_equal (hopper.nvls.n, 4 + i);
    assert_near (hopper.nvls.intra_GBps, hopper_GBps[i], 1e-9);
    assert_int_equal (blackwell.nvls.n, 4 + i);
    assert_near (blackwell.nvls.intra_GBps, blackwell_GBps[i], 1e-9);
  }
  NcclSearch rack = search (10, b200, 64, 22807), ampere = search (8, a100, 8, 22707);
  assert_int_equal (rack.nvls.n, 32);
  assert_near (rack.nvls.intra_GBps, 20, 1e-9);
  assert_int_equal (ampere.nvls.n, 0);
}

/* 8 NICs of 400 Gbit/s: on H100 the links bound rings, 8 x 45 = 360 (8 x 48 = 384); on B200 8 x 48. Neither is
 * doubled before it is connected. 4 NICs: 4 x 48, doubled to 8 x 24. 1 NIC: 2 x 24; connected 4, as there are few. */
static void
adapters_bound_rings_between_nodes (G_GNUC_UNUSED void **state)
{
  NcclSearch hopper = search_nodes (9, h100, 8, 8, 50, 22902),
             blackwell = search_nodes (10, b200, 8, 8, 50, 22902),
             half = search_nodes (9, h100, 4, 4, 50, 22902), alone = search_nodes (9, h100, 1, 1, 50, 22902);

  assert_graph (&hopper.ring, 8, 45, 45);
  assert_int_equal (hopper.n_channels, 16);
  assert_graph (&blackwell.ring, 8, 48, 48);
  assert_int_equal (blackwell.n_channels, 16);
  assert_int_equal (half.ring.n, 8);
  assert_near (half.ring.inter_GBps, 24, 1e-9);
  assert_int_equal (half.n_channels, 16);
  assert_int_equal (alone.ring.n, 2);
  assert_near (alone.ring.inter_GBps, 24, 1e-9);
  assert_int_equal (alone.n_channels, 4);
}

/* Inside a node a tree of eight loads links with 7/8 of its channels, so that NCCL raises their speed there:
 *   A100, 8 x 200G    24: 8 x 28, 8 x 30 = 210 fit into 240, 8 x 48 does not
 *   A100, 16 x 100G   12: 16 x 15 = 210 fit, 16 x 18 = 252 do not
 *   H100, 8 x 400G    48 is the first of the list: nothing to raise
 *   H100, 4 of 8      8 x 24, up to twice that: 8 x 48 x 3/4 = 288 fit into 370.8
 *   B200, 8 x 400G    48: 8 x 96 x 7/8 = 672 fit into 721.8; 2.27.3 has no speed above 47.9 */
static void
trees_of_two_nodes_are_faster_inside (G_GNUC_UNUSED void **state)
{
  NcclSearch few = search_nodes (8, a100, 8, 8, 25, 22703), many = search_nodes (8, a100, 8, 16, 12.5, 22703),
             hopper = search_nodes (9, h100, 8, 8, 50, 22902), half = search_nodes (9, h100, 4, 4, 50, 22902),
             blackwell = search_nodes (10, b200, 8, 8, 50, 22902),
             old = search_nodes (10, b200, 8, 8, 50, 22606);

  assert_graph (&few.tree, 8, 30, 24);
  assert_graph (&many.tree, 16, 15, 12);
  assert_graph (&hopper.tree, 8, 48, 48);
  assert_graph (&half.tree, 8, 48, 24);
  assert_graph (&blackwell.tree, 8, 96, 48);
  assert_graph (&old.tree, 8, 48, 48);
}

/* NVLS between nodes: every head has a NIC. H100: 8 heads of 40 inside, and 48 between, which is the NIC's. */
static void
heads_between_nodes_have_a_nic_each (G_GNUC_UNUSED void **state)
{
  NcclSearch eight = search_nodes (9, h100, 8, 8, 50, 22902), four = search_nodes (9, h100, 8, 4, 50, 22902);

  assert_graph (&eight.nvls, 8, 40, 48);
  assert_int_equal (four.nvls.n, 4);
}

/* Links and speeds of older releases: H100 18 x 20 = 360 in 2.18, one list for NVLink of Blackwell from 2.25. */
static void
older_releases_count_otherwise (G_GNUC_UNUSED void **state)
{
  assert_near (18 * nccl_link_GBps (9, 21806), 360, 1e-9);
  assert_near (18 * nccl_link_GBps (9, 22203), 370.8, 1e-9);
  assert_near (18 * nccl_link_GBps (10, 22606), 720, 1e-9);
  assert_near (18 * nccl_link_GBps (10, 22902), 721.8, 1e-9);
  assert_near (12 * nccl_link_GBps (8, 22902), 240, 1e-9);
  NcclSearch old = search (9, 360, 8, 21806);
  assert_graph (&old.ring, 12, 30, 30);
}

/* Adapters report 25, 50, 56, 100, 200, 400, 800 Gb/s and so on. What a port carries between two of them is a limited
 * port of the next one; a little above one is a measured port of that one. */
static void
adapters_report_their_own_speeds (G_GNUC_UNUSED void **state)
{
  static const double Gbps[][2] = { { 25, 25 },   { 50, 50 },   { 52, 50 },   { 60, 100 },   { 80, 100 },
                                    { 100, 100 }, { 197, 200 }, { 201, 200 }, { 270, 400 },  { 280, 400 },
                                    { 400, 400 }, { 430, 800 }, { 800, 800 }, { 1200, 1200 } };

  for (guint i = 0; i < G_N_ELEMENTS (Gbps); i++)
    assert_near (8 * nccl_reported_GBps (Gbps[i][0] / 8, FALSE), Gbps[i][1], 1e-9);
  assert_near (8 * nccl_reported_GBps (300.0 / 8, TRUE), 300, 1e-9); /* EDR of 12 lanes */
  assert_near (8 * nccl_reported_GBps (300.0 / 8, FALSE), 400, 1e-9);
}

/* 8 ports of 80 Gb/s would have 32 channels of 2.4 GB/s; adapters of 100 Gb/s have 8 of 12. */
static void
limited_ports_have_the_channels_of_their_adapters (G_GNUC_UNUSED void **state)
{
  NcclSearch between = search_nodes (9, h100, 8, 8, 10, 22902),
             reported = search_nodes (9, h100, 8, 8, nccl_reported_GBps (10, FALSE), 22902);

  assert_graph (&between.ring, 32, 2.4, 2.4);
  assert_graph (&reported.ring, 8, 12, 12);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (one_node_has_as_many_channels_with_any_number_of_gpus),
    cmocka_unit_test (heads_share_links),
    cmocka_unit_test (adapters_bound_rings_between_nodes),
    cmocka_unit_test (trees_of_two_nodes_are_faster_inside),
    cmocka_unit_test (heads_between_nodes_have_a_nic_each),
    cmocka_unit_test (older_releases_count_otherwise),
    cmocka_unit_test (adapters_report_their_own_speeds),
    cmocka_unit_test (limited_ports_have_the_channels_of_their_adapters),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
