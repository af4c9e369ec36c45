/* SPDX-License-Identifier: Apache-2.0 */
/* test_port_use.c - how full leaves are, counted by hand. */
#include "tests/support/test.h"

#include "models/models.h"
#include "sim/cost/ports.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabPortUse *
use_with (const char *cluster, const char *own)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\ncluster: {node: dgx-h100, %s}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n%s",
      cluster, own);
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);

  return fab_port_use_new (play->scenario, fab_simulation_plant (play->simulation)->graph);
}

static FabPortUse *
use_of (const char *cluster)
{
  return use_with (cluster, "");
}

/* Two NICs a node and four nodes a leaf: eight leaves of 4 nodes have 8 ports down, that of the last node has 2, and
 * each has one to each of 8 spines, of 64. */
static void
the_emptiest_and_the_fullest_leaf_are_known (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) use = use_of (
      "nodes: 33, nics_per_node: 2, fabric: {kind: leaf_spine, nodes_per_leaf: 4}");
  const FabEmptyPorts *leaves = &g_array_index (use->half_used, FabEmptyPorts, 0);

  assert_int_equal (use->half_used->len, 1);
  assert_string_equal (leaves->name, "leaf");
  assert_int_equal (leaves->n, 9);
  assert_int_equal (leaves->n_all, 9);
  assert_int_equal (leaves->n_least_ports, 2 + 8);
  assert_int_equal (leaves->n_most_ports, 8 + 8);
  assert_int_equal (leaves->n_ports, 64);
  assert_int_equal (use->n_nic_ports, 66);
  assert_true (use->n_enough > 1 && use->n_enough < use->n_switches);
  assert_null (use->lone_name);
}

/* Eight leaves of 8 or 9 NICs have trunks of 16 links to a spine: as many of these are used as the NICs can fill. */
static void
links_that_nothing_fills_are_not_used (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) use = use_of (
      "nodes: 66, nics_per_node: 1, fabric: {kind: custom, switches: [{name: leaf, count: 8}, {name: s}], "
      "attach: [{to: leaf}], links: [{from: leaf, to: s, count: 16}]}");
  const FabEmptyPorts *leaves = &g_array_index (use->half_used, FabEmptyPorts, 0);

  assert_int_equal (use->half_used->len, 1);
  assert_int_equal (leaves->n, 8);
  assert_int_equal (leaves->n_least_ports, 8 + 8);
  assert_int_equal (leaves->n_most_ports, 9 + 9);
}

/* Faster uplinks decide which product a leaf is: one of 144 ports at 800 Gb/s, of which four go to spines. */
static void
the_fastest_link_says_what_a_leaf_is (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) use = use_of (
      "nodes: 33, nics_per_node: 2, fabric: {kind: leaf_spine, nodes_per_leaf: 4, uplink: ib-xdr}");
  const FabEmptyPorts *leaves = &g_array_index (use->half_used, FabEmptyPorts, 0);

  assert_int_equal (leaves->n, 9);
  assert_int_equal (leaves->n_ports, 144);
  assert_int_equal (leaves->n_least_ports, 2 + 4);
  assert_int_equal (leaves->n_most_ports, 8 + 4);
}

/* Slower ports are those of another product, and of empty places nothing is said. */
static void
places_that_are_empty_on_purpose_are_not_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) slow = use_of (
      "nodes: 66, nics_per_node: 1, nic: ib-hdr, fabric: {kind: leaf_spine, nodes_per_leaf: 1}");
  g_autoptr (FabPortUse) empty = use_of (
      "nodes: 65, places: 70, nics_per_node: 1, fabric: {kind: leaf_spine, nodes_per_leaf: 1}");
  const FabEmptyPorts *leaves = &g_array_index (slow->half_used, FabEmptyPorts, 0);

  assert_int_equal (slow->n_lone, 66);
  assert_int_equal (leaves->n_ports, 40);
  assert_int_equal (leaves->n_least_ports, 2);
  assert_int_equal (leaves->n_most_ports, 2);
  assert_int_equal (slow->n_enough, 4 + 2); /* 66 ports by leaves of 20 and spines of 40 */
  assert_int_equal (empty->half_used->len, 0);
  assert_int_equal (empty->n_lone, 0);
  assert_null (empty->lone_name);
}

/* Ports of 100 Gb/s that are split into two links of 50: a leaf with two NICs and two uplinks uses 2 of 8, and the last
 * one, with one NIC and as many uplinks as it can fill, 1.5. The 17 NICs need 9 ports: 3 leaves of 4, and 2 spines. */
static void
split_ports_hold_several_links (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) use = use_with (
      "nodes: 17, gpus_per_node: 1, nics_per_node: 1, nic: ours, nic_rate: 50Gb/s, "
      "fabric: {kind: leaf_spine, nodes_per_leaf: 2}",
      "links:\n  - {name: ours, technology: Omni-Path, signalling: 100Gb/s, endpoint: 1us}\n"
      "products:\n  - {name: twin, kind: switch, link: ours, ports: 8, links_per_port: 2, price_usd: 50}\n");
  const FabEmptyPorts *leaves = &g_array_index (use->half_used, FabEmptyPorts, 0);

  assert_int_equal (use->half_used->len, 1);
  assert_int_equal (leaves->n, 9);
  assert_int_equal (leaves->n_ports, 8);
  assert_int_equal (leaves->n_least_ports, 2);
  assert_int_equal (leaves->n_most_ports, 2);
  assert_int_equal (use->n_nic_ports, 17);
  assert_int_equal (use->n_enough, 3 + 2);
}

/* Two kinds of switches, of four and two NICs with two uplinks each, and as many ports: each has a row of its own. */
static void
each_name_has_its_row (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) use = use_of (
      "nodes: 70, nics_per_node: 1, fabric: {kind: custom, switches: [{name: leaf, count: 8}, {name: t, count: 2}, "
      "{name: s, count: 2}], attach: [{nodes: 0-63, to: leaf}, {nodes: 64-69, to: t}], "
      "links: [{from: leaf, to: s}, {from: t, to: s}]}");

  assert_int_equal (use->half_used->len, 2);
  for (guint i = 0; i < 2; i++) {
    const FabEmptyPorts *row = &g_array_index (use->half_used, FabEmptyPorts, i);

    assert_string_equal (row->name, i == 0 ? "leaf" : "t");
    assert_int_equal (row->n, i == 0 ? 8 : 2);
    assert_int_equal (row->n_all, i == 0 ? 8 : 2);
    assert_int_equal (row->n_most_ports, i == 0 ? 8 + 2 : 3 + 2);
  }
}

/* Of links that are equally fast the first one that was drawn, here to the spine, says what a leaf is. */
static void
the_first_of_equal_links_decides (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) use = use_with (
      "nodes: 66, nics_per_node: 1, fabric: {kind: custom, switches: [{name: leaf, count: 8}, {name: s}], "
      "attach: [{to: leaf}], links: [{from: leaf, to: s, link: roce-400}]}",
      "products:\n  - {name: odd, kind: switch, link: ib-ndr, ports: 60, price_usd: 50}\n"
      "  - {name: even, kind: switch, link: roce-400, ports: 62, price_usd: 50}\n");

  assert_int_equal (use->half_used->len, 1);
  assert_int_equal (g_array_index (use->half_used, FabEmptyPorts, 0).n_ports, 62);
}

/* What is broken was bought: a fault leaves the count as it is. */
static void
faults_do_not_count (G_GNUC_UNUSED void **state)
{
  static const char cluster[] = "nodes: 33, nics_per_node: 2, fabric: {kind: leaf_spine, nodes_per_leaf: 4}";
  g_autoptr (FabPortUse) whole = use_of (cluster),
                         broken = use_with (cluster,
                                            "faults: [{what: nic, name: node32/nic1, dead: true}]\n");
  const FabEmptyPorts *a = &g_array_index (whole->half_used, FabEmptyPorts, 0),
                      *b = &g_array_index (broken->half_used, FabEmptyPorts, 0);

  assert_int_equal (broken->n_nic_ports, whole->n_nic_ports);
  assert_int_equal (b->n_least_ports, a->n_least_ports);
  assert_int_equal (b->n_most_ports, a->n_most_ports);
}

/* A switch that nodes share leads to their accelerators, so it is none of the fabric, whatever its links are. */
static void
switches_of_machines_are_not_told (G_GNUC_UNUSED void **state)
{
  g_autofree char *yaml = g_strdup (
      "name: t\ncluster: {node: tray, nodes: 66, fabric: {kind: leaf_spine, nodes_per_leaf: 11}}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n"
      "nodes: [{name: tray, accelerator: h100-sxm5-80gb, nic: ib-ndr, parts: [\n"
      "  {name: gpu, kind: accelerator}, {name: nic, kind: nic}, {name: plx, kind: switch, shared: 2}],\n"
      "  wires: [{from: nic, to: plx, link: ib-ndr}, {from: gpu, to: plx, link: ib-ndr}]}]\n");
  g_autoptr (Play) play = play_new (catalog, yaml, NULL);
  g_autoptr (FabPortUse) use = fab_port_use_new (play->scenario,
                                                 fab_simulation_plant (play->simulation)->graph);

  assert_int_equal (use->half_used->len, 1);
  assert_string_equal (g_array_index (use->half_used, FabEmptyPorts, 0).name, "leaf");
  assert_int_equal (use->n_nic_ports, 66);
  assert_int_equal (use->n_lone, 0);
}

/* With a leaf for each node and a NIC for each, every leaf connects one NIC. */
static void
a_switch_for_one_nic_is_lone (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) use = use_of (
      "nodes: 65, nics_per_node: 1, fabric: {kind: leaf_spine, nodes_per_leaf: 1}");

  assert_string_equal (use->lone_name, "leaf");
  assert_int_equal (use->n_lone, 65);
  assert_int_equal (use->n_all_lone, 65);
}

/* Two nodes are enough to have leaves of one NIC each, where no switch has ports for all. */
static void
two_nodes_may_be_told (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabPortUse) use = use_with (
      "nodes: 2, fabric: {kind: rail, nodes_per_leaf: 1}",
      "products:\n  - {name: small, kind: switch, link: ib-ndr, ports: 8, price_usd: 50}\n");

  assert_int_equal (use->n_lone, 16);
  assert_int_equal (use->n_all_lone, 16);
  assert_int_equal (use->half_used->len, 1);
  assert_int_equal (g_array_index (use->half_used, FabEmptyPorts, 0).n_ports, 8);
}

/* Nothing is said of one switch, of one node, nor of full leaves. */
static void
what_is_full_or_single_is_not_told (G_GNUC_UNUSED void **state)
{
  static const char *const clusters[] = { "nodes: 4", "nodes: 1",
                                          "nodes: 64, fabric: {kind: rail, nodes_per_leaf: 32}" };

  for (guint i = 0; i < G_N_ELEMENTS (clusters); i++) {
    g_autoptr (FabPortUse) use = use_of (clusters[i]);

    assert_int_equal (use->half_used->len, 0);
    assert_int_equal (use->n_lone, 0);
    assert_int_equal (use->n_enough, i == 0 ? 1 : 0); /* it is counted only where something might be told */
  }
  fab_port_use_free (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_emptiest_and_the_fullest_leaf_are_known),
    cmocka_unit_test (a_switch_for_one_nic_is_lone),
    cmocka_unit_test (links_that_nothing_fills_are_not_used),
    cmocka_unit_test (split_ports_hold_several_links),
    cmocka_unit_test (each_name_has_its_row),
    cmocka_unit_test (faults_do_not_count),
    cmocka_unit_test (the_first_of_equal_links_decides),
    cmocka_unit_test (switches_of_machines_are_not_told),
    cmocka_unit_test (the_fastest_link_says_what_a_leaf_is),
    cmocka_unit_test (places_that_are_empty_on_purpose_are_not_told),
    cmocka_unit_test (two_nodes_may_be_told),
    cmocka_unit_test (what_is_full_or_single_is_not_told),
  };

  return play_run_tests ("port_use", tests, &catalog);
}
