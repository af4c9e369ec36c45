/* SPDX-License-Identifier: Apache-2.0 */
/* test_imported_network.c - what becomes of a network that a tool listed: hosts, their ports in order, switches, slow
 * ports. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/import_request.h"
#include "formats/machine/machine.h"
#include "formats/machine/network_hosts.h"

/* Two hosts with two adapters each, and the SHARP unit of leaf1. The second adapter stands first in the text, the
 * first one is at leaf2. The port of n2 at leaf2 runs at half the width. */
static const char text[] = "sysimgguid=0x51\n"
                           "Switch 8 \"S-51\" # \"MF0;leaf1:MQM9700/U1\" enhanced port 0 lid 1 lmc 0\n"
                           "[1] \"H-12\"[1](12) # \"n1 mlx5_1\" lid 5 4xNDR\n"
                           "[2] \"H-22\"[1](22) # \"n2 mlx5_1\" lid 6 4xNDR\n"
                           "[7] \"S-52\"[7] # \"MF0;leaf2:MQM9700/U1\" lid 2 4xNDR\n"
                           "[8] \"H-59\"[1](59) # \"Mellanox Technologies Aggregation Node\" lid 9 4xNDR\n"
                           "Switch 8 \"S-52\" # \"MF0;leaf2:MQM9700/U1\" enhanced port 0 lid 2 lmc 0\n"
                           "[1] \"H-11\"[1](11) # \"n1 HCA-1\" lid 7 4xNDR\n"
                           "[2] \"H-21\"[1](21) # \"n2 HCA-1\" lid 8 2xNDR\n"
                           "[3] \"H-31\"[1](31) # \"MT4129 ConnectX7   Mellanox Technologies\" lid 10 4xNDR\n"
                           "[4] \"H-41\"[1](41) # \"localhost mlx5_0\" lid 11 4xNDR\n"
                           "[5] \"H-42\"[1](42) # \"localhost mlx5_0\" lid 12 4xNDR\n"
                           "[7] \"S-51\"[7] # \"MF0;leaf1:MQM9700/U1\" lid 1 4xNDR\n"
                           "sysimgguid=0x10\n"
                           "Ca 1 \"H-11\" # \"n1 HCA-1\"\n"
                           "[1](11) \"S-52\"[1] # lid 7 lmc 0 \"MF0;leaf2:MQM9700/U1\" lid 2 4xNDR\n";

static FabImportedMachine *
read_text (void)
{
  const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, "ibnetdiscover");
  FabImportRequest request = { .file = { "fabric.txt", text, strlen (text) } };
  FabImportedMachine *machine = fab_imported_machine_new (format->tool);

  assert_true (format->read.machine (machine, &request, NULL));
  return machine;
}

static const FabFileNote *
find_note (const FabImportedMachine *machine, const char *part)
{
  for (guint i = 0; i < machine->notes->len; i++)
    if (strstr (fab_file_note (machine->notes, i)->text, part) != NULL)
      return fab_file_note (machine->notes, i);
  return NULL;
}

static void
devices_keep_their_names (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_text ();
  const FabImportedNetwork *network = machine->network;
  g_auto (GStrv) labels = fab_imported_network_labels (network);
  const FabImportedDevice *n1 = NULL;

  for (guint i = 0; i < network->devices->len; i++)
    if (strcmp (fab_imported_network_device (network, i)->id, "H-11") == 0)
      n1 = fab_imported_network_device (network, i);
  assert_string_equal (labels[0], "leaf1");
  assert_string_equal (n1->host, "n1");
  assert_string_equal (n1->adapter, "HCA-1");
  assert_int_equal (n1->guid, 0x11);
  assert_int_equal (n1->system_guid, 0x10);
}

/* Neither the SHARP unit nor the adapter without a name is a host, and two machines are called localhost. HCA-1 is the
 * driver's first device, mlx5_0. */
static void
hosts_have_their_ports_in_order (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_text ();
  g_autoptr (GPtrArray) hosts = fab_network_hosts_of (machine->network);
  const FabNetworkHost *n1 = g_ptr_array_index (hosts, 0);

  assert_int_equal (hosts->len, 5);
  assert_string_equal (n1->name, "n1");
  assert_int_equal (n1->ports->len, 2);
  assert_string_equal (fab_network_host_adapter (machine->network, n1, 0)->adapter, "HCA-1");
  assert_string_equal (fab_network_host_adapter (machine->network, n1, 1)->adapter, "mlx5_1");
  for (guint i = 2; i < hosts->len; i++)
    assert_false (((const FabNetworkHost *) g_ptr_array_index (hosts, i))->is_named);
  assert_int_equal (fab_network_adapter_number ("HCA-6"), 5);
  assert_int_equal (fab_network_adapter_number ("mlx5_5"), 5);
  assert_int_equal (fab_network_adapter_number ("ibp"), G_MAXUINT);
  assert_int_equal (fab_network_adapter_number ("ens1f0np0"), G_MAXUINT);
  assert_int_equal (fab_network_adapter_number ("0c:42:a1:88:00:01"), G_MAXUINT);
  assert_int_equal (fab_network_adapter_number ("7"), G_MAXUINT);
  assert_int_equal (fab_network_adapter_number (NULL), G_MAXUINT);
}

/* NIC 0 of both nodes is at leaf2, which the text lists last. */
static void
ports_reach_their_switches (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_text ();

  assert_int_equal (machine->n_nodes, 2);
  assert_non_null (strstr (machine->fabric->str, "{to: leaf1, nodes: 0-1, nics: 0}"));
  assert_non_null (strstr (machine->fabric->str, "{to: leaf0, nodes: 0-1, nics: 1}"));
  assert_non_null (strstr (machine->fabric->str, "# leaf1: leaf2\n"));
}

static void
slow_ports_are_faults (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_text ();

  assert_string_equal (machine->faults->str,
                       "  - {what: link, from: node1/nic0, to: leaf1, rate: 50%} # n2: 2xNDR\n");
}

static void
what_is_no_host_is_left_out (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_text ();

  assert_non_null (find_note (machine, "1 aggregation node of switches for SHARP"));
  assert_non_null (find_note (machine, "3 adapters whose description names no host of its own"));
  assert_null (find_note (machine, "with fewer ports"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (devices_keep_their_names),    cmocka_unit_test (hosts_have_their_ports_in_order),
    cmocka_unit_test (ports_reach_their_switches),  cmocka_unit_test (slow_ports_are_faults),
    cmocka_unit_test (what_is_no_host_is_left_out),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
