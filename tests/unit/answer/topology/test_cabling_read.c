/* SPDX-License-Identifier: Apache-2.0 */
/* test_cabling_read.c - parts and cables of a graph and of an imported network: their names, ports, speeds and numbers.
 *
 * A cable is written "part port - part port: count x speed (rate in Gb/s) #number of the port", with "of" and what both
 * ends could do where that is known to be more.
 */
#include "tests/support/test.h"

#include "answer/topology/cabling.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static void
assert_cabling (const FabCabling *cabling, const char *const *parts, const char *const *cables)
{
  for (guint i = 0; i < cabling->parts->len; i++) {
    const FabCablingPart *part = fab_cabling_part (cabling, i);
    g_autofree char *text = g_strdup_printf ("%s %s%s", part->is_host ? "host" : "switch", part->name,
                                             part->n_unnamed > 0 ? " and others" : "");

    if (g_strcmp0 (text, parts[i]) != 0)
      fail_msg ("part %u is '%s', not '%s'", i, text, parts[i]);
  }
  assert_null (parts[cabling->parts->len]);
  for (guint i = 0; i < cabling->cables->len; i++) {
    const FabCable *cable = fab_cabling_cable (cabling, i);
    g_autofree char *possible = cable->possible != NULL
                                  ? g_strdup_printf (" of %s (%g)", cable->possible,
                                                     cable->possible_bytes_per_s * 8 / 1e9)
                                  : g_strdup ("");
    g_autofree char *text = g_strdup_printf (
        "%s %s - %s %s: %u x %s (%g)%s #%u", fab_cabling_part (cabling, cable->a)->name,
        cable->port_a != NULL ? cable->port_a : "-", fab_cabling_part (cabling, cable->b)->name,
        cable->port_b != NULL ? cable->port_b : "-", cable->count, cable->speed, cable->bytes_per_s * 8 / 1e9,
        possible, cable->nic);

    if (g_strcmp0 (text, cables[i]) != 0)
      fail_msg ("cable %u is '%s', not '%s'", i, text, cables[i]);
    if (cable->possible == NULL)
      assert_near (cable->possible_bytes_per_s, 0, 0);
  }
  assert_null (cables[cabling->cables->len]);
}

/* --- of a network --- */

typedef struct {
  FabImportedNetwork *network;
  guint leaves[2], spine;
} Network;

static void
network_init (Network *self)
{
  self->network = fab_imported_network_new ();
  self->leaves[0] = fab_imported_network_add (self->network, "S1", TRUE, "MF0;leafA:MQM9700/U1");
  self->leaves[1] = fab_imported_network_add (self->network, "S2", TRUE, "MF0;leafB:MQM9700/U1");
  self->spine = fab_imported_network_add (self->network, "S3", TRUE, "MF0;spine:MQM9700/U1");
}

static void
join (Network *self, guint a, guint port_a, guint b, guint port_b)
{
  const FabFileText file = { "test", "", 0 };

  assert_true (fab_imported_network_join (self->network, &file, 1, a, port_a, b, port_b, "4xNDR", NULL));
}

/* An adapter at a port of a leaf; `host` and `name` NULL: no description says them. */
static guint
add_adapter (Network *self, const char *host, const char *name, guint port, guint leaf, guint leaf_port)
{
  g_autofree char *id = g_strdup_printf ("H%u", self->network->devices->len);
  guint adapter = fab_imported_network_add (self->network, id, FALSE, NULL);

  fab_imported_network_device (self->network, adapter)->host = g_strdup (host);
  fab_imported_network_device (self->network, adapter)->adapter = g_strdup (name);
  join (self, self->leaves[leaf], leaf_port, adapter, port);
  return adapter;
}

/* Ports correspond by the number of the adapter and their own, 16 to an adapter; by names that several hosts have, from
 * 16 x 65536 on; and else by their switch, from 16 x 131072 on. */
static void
ports_of_hosts_have_numbers (G_GNUC_UNUSED void **state)
{
  static const char *const parts[] = { "switch leafA", "switch leafB", "switch spine",
                                       "host gpu1",    "host gpu2",    "host gpu3",
                                       "host gpu4",    "host gpu5",    NULL };
  static const char *const cables[] = {
    "gpu1 mlx5_3 - leafA 1: 1 x 4xNDR (400) #48",
    "gpu1 mlx5_3 port 2 - leafB 1: 1 x 4xNDR (400) #49",
    "gpu1 mlx5_4 - leafA 2: 1 x 4xNDR (400) #64",
    "gpu1 mlx5_5 port 16 - leafA 3: 1 x 4xNDR (400) #95",
    "gpu1 mlx5_6 port 20 - leafA 4: 1 x 4xNDR (400) #111",
    "gpu2 eth - leafA 5: 1 x 4xNDR (400) #1048656",
    "gpu2 ens - leafB 5: 1 x 4xNDR (400) #1048672",
    "gpu3 eth - leafB 6: 1 x 4xNDR (400) #1048656",
    "gpu3 ens port 3 - leafA 6: 1 x 4xNDR (400) #1048674",
    "gpu4 port to leafB - leafB 7: 1 x 4xNDR (400) #2097168",
    "gpu4 port to leafB - leafB 8: 1 x 4xNDR (400) #2097169",
    "gpu4 port to leafA - leafA 7: 1 x 4xNDR (400) #2097152",
    "gpu5 port to leafA - leafA 9: 1 x 4xNDR (400) #2097152",
    NULL,
  };
  Network self;

  network_init (&self);
  guint first = add_adapter (&self, "gpu1", "mlx5_3", 1, 0, 1);
  join (&self, self.leaves[1], 1, first, 2);
  add_adapter (&self, "gpu1", "mlx5_4", 0, 0, 2); /* its number is not stated */
  add_adapter (&self, "gpu1", "mlx5_5", 16, 0, 3);
  add_adapter (&self, "gpu1", "mlx5_6", 20, 0, 4);
  add_adapter (&self, "gpu2", "eth", 1, 0, 5);
  add_adapter (&self, "gpu2", "ens", 1, 1, 5);
  add_adapter (&self, "gpu3", "eth", 1, 1, 6);
  add_adapter (&self, "gpu3", "ens", 3, 0, 6);
  add_adapter (&self, "gpu4", "0c:42:a1:88:00:01", 1, 1, 7);
  add_adapter (&self, "gpu4", "0c:42:a1:88:00:02", 1, 1, 8);
  add_adapter (&self, "gpu4", "0c:42:a1:88:00:03", 1, 0, 7);
  add_adapter (&self, "gpu5", NULL, 1, 0, 9);
  g_autoptr (FabCabling) cabling = fab_cabling_of_network (self.network, "a text");
  assert_string_equal (cabling->source, "a text");
  assert_cabling (cabling, parts, cables);
  assert_int_equal (cabling->notes->len, 0);
  fab_imported_network_free (self.network);
}

/* Cables between switches have the ports of both ends, and what both could do. */
static void
switches_have_cables_of_their_own (G_GNUC_UNUSED void **state)
{
  static const char *const parts[] = { "switch leafA", "switch leafB", "switch spine", "host gpu1", NULL };
  static const char *const cables[] = {
    "gpu1 mlx5_0 - leafA 1: 1 x 4xHDR (200) of 4xNDR (400) #0",
    "leafA 31 - spine 1: 1 x 4xNDR (400) #0",
    "leafB 31 - spine 2: 1 x 4xEDR (100) of 4xHDR (200) #0",
    NULL,
  };
  Network self;

  network_init (&self);
  add_adapter (&self, "gpu1", "mlx5_0", 1, 0, 1);
  join (&self, self.leaves[0], 31, self.spine, 1);
  join (&self, self.spine, 2, self.leaves[1], 31);
  FabImportedCable *port = fab_imported_network_cable (self.network, 0),
                   *trunk = fab_imported_network_cable (self.network, 2);
  port->speed = "4xHDR";
  port->possible = "4xNDR";
  trunk->speed = "4xEDR";
  trunk->possible = "4xHDR";
  g_autoptr (FabCabling) cabling = fab_cabling_of_network (self.network, "a text");
  assert_cabling (cabling, parts, cables);
  fab_imported_network_free (self.network);
}

/* An adapter whose description names no host is no part; its switch counts its ports. */
static void
adapters_of_unknown_hosts_stay_out (G_GNUC_UNUSED void **state)
{
  static const char *const parts[] = { "switch leafA and others", "switch leafB and others", "switch spine",
                                       "host gpu1", NULL };
  static const char *const cables[] = { "gpu1 mlx5_0 - leafA 9: 1 x 4xNDR (400) #0", NULL };
  Network self;

  network_init (&self);
  for (guint i = 0; i < 4; i++)
    add_adapter (&self, NULL, "mlx5_0", 1, i == 3, 1 + i);
  add_adapter (&self, "gpu1", "mlx5_0", 1, 0, 9);
  g_autoptr (FabCabling) cabling = fab_cabling_of_network (self.network, "a text");
  assert_cabling (cabling, parts, cables);
  assert_int_equal (fab_cabling_part (cabling, 0)->n_unnamed, 3);
  assert_int_equal (fab_cabling_part (cabling, 1)->n_unnamed, 1);
  assert_int_equal (cabling->notes->len, 1);
  assert_string_equal (
      g_ptr_array_index (cabling->notes, 0),
      "The descriptions of 4 adapters name no host of their own, so their ports were not compared.");
  fab_imported_network_free (self.network);
}

/* --- of a graph --- */

static void
assert_cluster (const char *cluster, const char *const *parts, const char *const *cables)
{
  g_autoptr (Play) play = play_cluster (catalog, cluster, "");
  g_autoptr (FabCabling) cabling = fab_cabling_of_cluster (fab_simulation_cluster (play->simulation),
                                                           "a graph");

  assert_string_equal (cabling->source, "a graph");
  assert_cabling (cabling, parts, cables);
  assert_int_equal (cabling->notes->len, 0);
}

/* Nodes come before switches, and a cable between two switches is there once. With two ports the first one is called as
 * its NIC is. */
static void
graphs_have_nodes_and_switches (G_GNUC_UNUSED void **state)
{
  static const char *const parts[] = {
    "host node0", "host node1", "switch leaf0", "switch leaf1", "switch spine0", "switch spine1", NULL
  };
  static const char *const cables[] = {
    "node0 nic0 - leaf0 -: 1 x ib-hdr (200) #0",
    "node0 nic1 - leaf0 -: 1 x ib-hdr (200) #16",
    "node1 nic0 - leaf1 -: 1 x ib-hdr (200) #0",
    "node1 nic1 - leaf1 -: 1 x ib-hdr (200) #16",
    "leaf0 - - spine0 -: 1 x ib-hdr (200) #0",
    "leaf0 - - spine1 -: 1 x ib-hdr (200) #0",
    "leaf1 - - spine0 -: 1 x ib-hdr (200) #0",
    "leaf1 - - spine1 -: 1 x ib-hdr (200) #0",
    NULL,
  };
  static const char *const racks[] = { "host node0",   "host node1",    "switch leaf0",
                                       "switch leaf1", "switch spine0", NULL };
  static const char *const ports[] = {
    "node0 nic0 - leaf0 -: 1 x roce-200 (200) #0",
    "node0 nic0 port 2 - leaf1 -: 1 x roce-200 (200) #1",
    "node1 nic0 - leaf0 -: 1 x roce-200 (200) #0",
    "node1 nic0 port 2 - leaf1 -: 1 x roce-200 (200) #1",
    "leaf0 - - spine0 -: 1 x roce-200 (200) #0",
    "leaf0 - - spine0 -: 1 x roce-200 (200) #0",
    "leaf1 - - spine0 -: 1 x roce-200 (200) #0",
    "leaf1 - - spine0 -: 1 x roce-200 (200) #0",
    NULL,
  };

  assert_cluster ("node: dgx-a100, nodes: 2, nics_per_node: 2, "
                  "fabric: {kind: leaf_spine, nodes_per_leaf: 1, spines: 2}",
                  parts, cables);
  assert_cluster ("node: dgx-h100, nodes: 2, nics_per_node: 1, nic: roce-200, nic_ports: 2, port_use: bond, "
                  "fabric: {kind: leaf_spine, nodes_per_leaf: 2, tors: 2, spines: 1}",
                  racks, ports);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ports_of_hosts_have_numbers),
    cmocka_unit_test (switches_have_cables_of_their_own),
    cmocka_unit_test (adapters_of_unknown_hosts_stay_out),
    cmocka_unit_test (graphs_have_nodes_and_switches),
  };

  return play_run_tests ("cabling_read", tests, &catalog);
}
