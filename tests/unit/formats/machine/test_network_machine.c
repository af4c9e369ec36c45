/* SPDX-License-Identifier: Apache-2.0 */
/* test_network_machine.c - what becomes of a network's hosts, switches and cables: nodes, a fabric, faults, and what is
 * left out. */
#include "tests/unit/formats/machine/told.h"

#include "formats/machine/network_hosts.h"

/* A cable between two devices. Adapters are "n1 mlx5_0", switches have no blank; "x" stands for an adapter of
 * nobody. */
typedef struct {
  const char *a, *b;
  const char *speed;
} Cable;

static guint
device_of (FabImportedNetwork *network, const char *name)
{
  gboolean is_switch = strchr (name, ' ') == NULL && *name != 'x';
  g_autofree char *label = g_strdup_printf ("MF0;%s:MQM9700/U1", name);

  return fab_imported_network_add (network, name, is_switch, is_switch ? label : *name == 'x' ? NULL : name);
}

/* The i-th cable is on line i + 1, at port i of both ends. */
static FabImportedMachine *
fill (const Cable *cables, const FabImportRequest *request, FabImportedMachine *machine, GError **error)
{
  g_autoptr (FabImportedNetwork) network = fab_imported_network_new ();

  for (guint i = 0; cables[i].a != NULL; i++)
    assert_true (fab_imported_network_join (network, &request->file, i + 1, device_of (network, cables[i].a),
                                            i, device_of (network, cables[i].b), i, cables[i].speed, NULL));
  if (fab_imported_network_fill (network, machine, request, error))
    return machine;
  fab_imported_machine_free (machine);
  return NULL;
}

static FabImportedMachine *
machine_of (const Cable *cables)
{
  const FabImportRequest request = { .file = { "net", "", 0 } };
  g_autoptr (GError) error = NULL;
  FabImportedMachine *machine = fill (cables, &request, fab_imported_machine_new ("test"), &error);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  return machine;
}

/* Four hosts with two adapters each at two leaves, three cables up from each, one of them slower. n5 has one port,
 * n6 a third one, which others do not have, and n7 is nobody's. A chain of switches leads nowhere. One port of n3 is
 * slow. */
static const Cable whole[] = {
  { "n2 mlx5_0", "leaf1", "4xNDR" },
  { "n2 mlx5_1", "leaf2", "4xNDR" },
  { "n1 mlx5_0", "leaf1", "4xNDR" },
  { "n1 mlx5_1", "leaf2", "4xNDR" },
  { "n3 mlx5_0", "leaf1", "4xNDR" },
  { "n3 mlx5_1", "leaf2", "2xNDR" },
  { "n5 mlx5_0", "leaf1", "4xNDR" },
  { "n6 mlx5_9", "leaf2", "4xNDR" },
  { "n6 mlx5_0", "leaf2", "4xNDR" },
  { "n6 mlx5_1", "leaf2", "4xNDR" },
  { "x7", "leaf1", "4xNDR" },
  { "leaf1", "top", "4xNDR" },
  { "leaf1", "top", "4xNDR" },
  { "leaf1", "top", "4xHDR" },
  { "leaf2", "top", "4xNDR" },
  { "top", "end1", "4xNDR" },
  { "end1", "end2", "4xNDR" },
  { "x8", "lonely", "4xNDR" },
  { NULL, NULL, NULL },
};

static void
hosts_switches_and_cables_are_a_fabric (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = machine_of (whole);
  g_autofree char *parts = parts_told (machine), *notes = notes_told (machine->notes);

  assert_string_equal (
      machine->fabric->str,
      "    kind: custom\n    switches:\n      - {name: leaf, count: 2}\n      - {name: spine, count: 1}\n"
      "      # leaf0: leaf1\n      # leaf1: leaf2\n      # spine: top\n"
      "    links:\n"
      "      - {from: leaf0, to: spine, link: ib-ndr, count: 2}\n"
      "      - {from: leaf1, to: spine, link: ib-ndr, count: 1}\n"
      "    attach:\n"
      "      - {to: leaf0, nodes: 0-2, nics: 0} # n2 ... n3\n"
      "      - {to: leaf1, nodes: 3-3, nics: 0} # n6 ... n6\n"
      "      - {to: leaf1, nodes: 0-3, nics: 1} # n2 ... n6\n");
  assert_string_equal (machine->faults->str,
                       "  - {what: link, from: node2/nic1, to: leaf1, rate: 50%} # n3: 2xNDR\n");
  assert_string_equal (
      parts,
      "host 0\ngpu 0 < host 0, pcie5-x16\nnic 0 < host 0, pcie5-x16\ngpu 1 < host 0, pcie5-x16\nnic 1 < host "
      "0, pcie5-x16\n");
  assert_string_equal (machine->nic, "ib-ndr");
  assert_string_equal (machine->socket_link, "upi-socket-sapphire-rapids");
  assert_int_equal (machine->n_nodes, 4);
  assert_string_equal (
      notes,
      "9 left out: left out: further ports of 1 host that has more than 2\n"
      "7 left out: left out: 1 host with fewer ports than the 2 that most have\n"
      "11 left out: left out: 2 adapters whose description names no host of its own\n"
      "0 left out: left out: 1 switch whose hosts are all left out\n"
      "0 read: 2 switches with hosts (leaf), 1 without (spine)\n"
      "14 left out: left out: 1 cable from leaf0 to spine that is slower than the 4xNDR beside them\n"
      "6 read: 1 port that is slower than most, which the scenario has in `faults`\n"
      "1 read: 4 hosts with 2 ports each, most of them 4xNDR\n"
      "1 inferred: accelerator: h100-sxm5-80gb stands in, of the time of 4xNDR; --accelerator names the real one\n"
      "0 inferred: inside a node: one GPU for each port, both on pcie5-x16; the network does not see further. Take "
      "the node from an import of one of the hosts\n");
}

/* Rates of a lane: InfiniBand's road map; up to QDR eight of ten bits are data, of FDR 64 of 66. */
static void
speeds_are_links (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *speed, *nic, *accelerator;
    double gbps;
    const char *own; /* keys of an entry that the catalogue lacks */
  } rows[] = {
    { "4xSDR", "ib-sdr-4x", "v100-sxm2-16gb", 8, "lanes: 4\n    signalling: 2.5Gb/s\n    coding: 0.8\n" },
    { "1xDDR", "ib-ddr-1x", "v100-sxm2-16gb", 4, "lanes: 1\n    signalling: 5Gb/s\n    coding: 0.8\n" },
    { "12xQDR", "ib-qdr-12x", "v100-sxm2-16gb", 96, "lanes: 12\n    signalling: 10Gb/s\n    coding: 0.8\n" },
    { "4xFDR10", "ib-fdr10-4x", "v100-sxm2-16gb", 40,
      "lanes: 4\n    signalling: 10.3125Gb/s\n    coding: 0.969696969697\n" },
    { "4xFDR", "ib-fdr-4x", "v100-sxm2-16gb", 54.545454545,
      "lanes: 4\n    signalling: 14.0625Gb/s\n    coding: 0.969696969697\n" },
    { "4xEDR", "ib-edr", "v100-sxm2-16gb", 100, NULL },
    { "2xEDR", "ib-edr-2x", "v100-sxm2-16gb", 50, "lanes: 2\n    signalling: 25Gb/s\n    coding: 1\n" },
    { "8xEDR", "ib-edr-8x", "a100-sxm4-80gb", 200, NULL },
    { "4xHDR", "ib-hdr", "a100-sxm4-80gb", 200, NULL },
    { "2xHDR", "ib-hdr100", "v100-sxm2-16gb", 100, NULL },
    { "1xHDR", "ib-hdr-1x", "v100-sxm2-16gb", 50, NULL },
    { "4xNDR", "ib-ndr", "h100-sxm5-80gb", 400, NULL },
    { "2xNDR", "ib-ndr200", "a100-sxm4-80gb", 200, NULL },
    { "4xXDR", "ib-xdr", "b200-sxm", 800, NULL },
    { "4xGDR", "ib-gdr", "b200-sxm", 1600, NULL },
    { "100G", "roce-100", "v100-sxm2-16gb", 100, NULL },
    { "400G", "roce-400", "h100-sxm5-80gb", 400, NULL },
    { "1600G", "roce-800", "b200-sxm", 1600, NULL },
    { "1G", "roce-25", "v100-sxm2-16gb", 1, NULL },
  };
  static const char *const none[] = { "3xEDR", "4xABC", "EDR",   "xEDR", "13xEDR", "0xEDR",
                                      "4x",    "G",     "1601G", "0G",   "400",    "400M" };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const Cable cables[] = { { "n1 mlx5_0", "leaf", rows[i].speed }, { NULL, NULL, NULL } };
    g_autoptr (FabImportedMachine) machine = machine_of (cables);

    assert_string_equal (machine->nic, rows[i].nic);
    assert_string_equal (machine->accelerator, rows[i].accelerator);
    assert_near (fab_imported_network_gbps (rows[i].speed), rows[i].gbps, 1e-9);
    assert_true (fab_imported_network_is_speed (rows[i].speed));
    assert_true ((machine->own_links->len > 0) == (rows[i].own != NULL));
    if (rows[i].own != NULL)
      assert_true (g_str_has_suffix (machine->own_links->str, rows[i].own));
    assert_string_equal (machine->faults->str, "");
  }
  for (guint i = 0; i < G_N_ELEMENTS (none); i++)
    assert_false (fab_imported_network_is_speed (none[i]));
}

/* An own entry is written once. */
static void
own_links_stand_once (G_GNUC_UNUSED void **state)
{
  static const Cable cables[] = {
    { "n1 mlx5_0", "a", "4xQDR" }, { "n2 mlx5_0", "b", "4xQDR" }, { "a", "b", "4xQDR" }, { NULL, NULL, NULL }
  };
  g_autoptr (FabImportedMachine) machine = machine_of (cables);
  g_autofree char *notes = notes_told (machine->notes);

  assert_string_equal (
      machine->own_links->str,
      "  - name: ib-qdr-4x\n    summary: InfiniBand QDR, 4 lanes; packets and latency not stated\n"
      "    technology: InfiniBand\n    lanes: 4\n    signalling: 10Gb/s\n    coding: 0.8\n");
  assert_non_null (strstr (
      notes,
      "3 inferred: ib-qdr-4x: the catalogue has no such link, so line rate only, without packets and latency\n"));
  assert_string_equal (
      machine->fabric->str,
      "    kind: custom\n    switches:\n      - {name: leaf, count: 2}\n      # leaf0: a\n      # leaf1: b\n"
      "    links:\n      - {from: leaf0, to: leaf1, link: ib-qdr-4x, count: 1}\n"
      "    attach:\n      - {to: leaf0, nodes: 0-0, nics: 0} # n1 ... n1\n"
      "      - {to: leaf1, nodes: 1-1, nics: 0} # n2 ... n2\n");
}

/* Of equally frequent numbers of ports the larger counts. A lone switch has no number and no links. */
static void
most_hosts_say_the_number_of_ports (G_GNUC_UNUSED void **state)
{
  static const Cable cables[] = { { "n1 mlx5_0", "s", "100G" },
                                  { "n2 mlx5_0", "s", "100G" },
                                  { "n2 mlx5_1", "s", "100G" },
                                  { NULL, NULL, NULL } };
  static const Cable strangers[] = { { "x1", "s", "100G" }, { "x2", "s", "100G" }, { NULL, NULL, NULL } };
  g_autoptr (FabImportedMachine) machine = machine_of (cables), nobody = machine_of (strangers);

  assert_string_equal (
      machine->fabric->str,
      "    kind: custom\n    switches:\n      - {name: leaf, count: 1}\n      # leaf: s\n    attach:\n"
      "      - {to: leaf, nodes: 0-0, nics: 0} # n2 ... n2\n      - {to: leaf, nodes: 0-0, nics: 1} # n2 ... n2\n");
  assert_int_equal (machine->n_nodes, 1);
  assert_int_equal (nobody->n_nodes, 2);
  assert_non_null (strstr (nobody->fabric->str, "nodes: 0-1, nics: 0} # x1 ... x2\n"));
}

/* The ports that most hosts have stay: here those of mlx5_1, though mlx5_0 stands first. */
static void
rare_adapters_go_first (G_GNUC_UNUSED void **state)
{
  static const Cable cables[] = { { "n1 mlx5_1", "a", "100G" }, { "n2 mlx5_0", "b", "100G" },
                                  { "n2 mlx5_1", "a", "100G" }, { "n3 mlx5_1", "a", "100G" },
                                  { "a", "b", "100G" },         { NULL, NULL, NULL } };
  static const Cable equal[] = { { "n1 mlx5_0", "a", "100G" },
                                 { "n2 mlx5_0", "a", "100G" },
                                 { "n3 mlx5_1", "a", "100G" },
                                 { "n3 mlx5_0", "a", "100G" },
                                 { NULL, NULL, NULL } };
  g_autoptr (FabImportedMachine) machine = machine_of (cables), other = machine_of (equal);
  g_autofree char *notes = notes_told (machine->notes);

  assert_non_null (strstr (machine->fabric->str, "- {to: leaf, nodes: 0-2, nics: 0} # n1 ... n3\n"));
  assert_non_null (strstr (notes, "2 left out: left out: further ports of 1 host that has more than 1\n"));
  assert_null (strstr (notes, "names no host"));
  assert_null (strstr (notes, "fewer ports"));
  assert_non_null (strstr (other->fabric->str, "nodes: 0-2, nics: 0} # n1 ... n3\n"));
}

/* As many hosts have mlx5_0 as have mlx5_1, and so none of the two goes first; one that half of the hosts have does. */
static void
adapters_of_half_the_hosts_are_rare (G_GNUC_UNUSED void **state)
{
  static const Cable equal[] = { { "n1 mlx5_0", "a", "100G" }, { "n2 mlx5_0", "a", "100G" },
                                 { "n2 mlx5_1", "b", "100G" }, { "n3 mlx5_1", "b", "100G" },
                                 { "a", "b", "100G" },         { NULL, NULL, NULL } };
  static const Cable half[] = { { "n1 mlx5_1", "b", "100G" }, { "n2 mlx5_0", "a", "100G" },
                                { "n2 mlx5_1", "b", "100G" }, { "n3 mlx5_1", "b", "100G" },
                                { "n4 mlx5_0", "a", "100G" }, { "a", "b", "100G" },
                                { NULL, NULL, NULL } };
  static const Cable nameless[] = { { "n1 ib_a", "a", "100G" }, { "n1 ib_b", "b", "100G" },
                                    { "n2 ib_a", "a", "100G" }, { "n3 ib_a", "a", "100G" },
                                    { "a", "b", "100G" },       { NULL, NULL, NULL } };
  g_autoptr (FabImportedMachine) one = machine_of (equal), other = machine_of (half),
                                 plain = machine_of (nameless);

  assert_true (g_str_has_suffix (one->fabric->str,
                                 "    attach:\n      - {to: leaf0, nodes: 0-1, nics: 0} # n1 ... n2\n"
                                 "      - {to: leaf1, nodes: 2-2, nics: 0} # n3 ... n3\n"));
  assert_true (g_str_has_suffix (other->fabric->str,
                                 "    attach:\n      - {to: leaf0, nodes: 0-2, nics: 0} # n1 ... n3\n"
                                 "      - {to: leaf1, nodes: 3-3, nics: 0} # n4 ... n4\n"));
  assert_true (g_str_has_suffix (plain->fabric->str,
                                 "    attach:\n      - {to: leaf, nodes: 0-2, nics: 0} # n1 ... n3\n"));
}

/* The fastest cables of two switches count, wherever the slower ones stand among them. */
static void
slower_cables_are_left_out (G_GNUC_UNUSED void **state)
{
  static const Cable cables[] = { { "n1 mlx5_0", "a", "4xNDR" }, { "n2 mlx5_0", "b", "4xNDR" },
                                  { "a", "b", "4xEDR" },         { "a", "b", "4xHDR" },
                                  { "b", "a", "4xNDR" },         { "a", "b", "4xHDR" },
                                  { "a", "b", "4xNDR" },         { NULL, NULL, NULL } };
  g_autoptr (FabImportedMachine) machine = machine_of (cables);
  g_autofree char *notes = notes_told (machine->notes);

  assert_non_null (strstr (machine->fabric->str,
                           "    links:\n      - {from: leaf0, to: leaf1, link: ib-ndr, count: 2}\n"
                           "    attach:\n"));
  assert_non_null (strstr (
      notes,
      "3 left out: left out: 3 cables from leaf0 to leaf1 that are slower than the 4xNDR beside them\n"));
}

/* Cables of one rate count together, whatever their widths are; the first says the link. */
static void
cables_of_one_rate_count_together (G_GNUC_UNUSED void **state)
{
  static const Cable cables[] = { { "n1 mlx5_0", "a", "4xHDR" }, { "n2 mlx5_0", "b", "4xHDR" },
                                  { "a", "b", "4xHDR" },         { "a", "b", "2xNDR" },
                                  { "a", "b", "4xEDR" },         { NULL, NULL, NULL } };
  g_autoptr (FabImportedMachine) machine = machine_of (cables);
  g_autofree char *notes = notes_told (machine->notes);

  assert_non_null (
      strstr (machine->fabric->str, "      - {from: leaf0, to: leaf1, link: ib-hdr, count: 2}\n"));
  assert_non_null (strstr (
      notes,
      "5 left out: left out: 1 cable from leaf0 to leaf1 that is slower than the 4xHDR beside them\n"));
}

/* A switch whose hosts are all left out stays where it leads from one switch with hosts to another one, whichever
 * of the two the text names first. */
static void
switches_that_lead_on_stay (G_GNUC_UNUSED void **state)
{
  static const Cable orders[][12] = {
    { { "n1 mlx5_0", "a", "4xNDR" },
      { "n1 mlx5_1", "a", "4xNDR" },
      { "n2 mlx5_0", "b", "4xNDR" },
      { "n2 mlx5_1", "b", "4xNDR" },
      { "n3 mlx5_0", "mid", "4xNDR" },
      { "a", "mid", "4xNDR" },
      { "mid", "b", "4xNDR" },
      { NULL, NULL, NULL } },
    { { "n3 mlx5_0", "mid", "4xNDR" },
      { "n1 mlx5_0", "a", "4xNDR" },
      { "n1 mlx5_1", "a", "4xNDR" },
      { "n2 mlx5_0", "b", "4xNDR" },
      { "n2 mlx5_1", "b", "4xNDR" },
      { "a", "mid", "4xNDR" },
      { "mid", "b", "4xNDR" },
      { NULL, NULL, NULL } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    g_autoptr (FabImportedMachine) machine = machine_of (orders[i]);
    g_autofree char *notes = notes_told (machine->notes);

    assert_non_null (strstr (machine->fabric->str, "      # spine: mid\n"));
    assert_non_null (strstr (notes, "0 read: 2 switches with hosts (leaf), 1 without (spine)\n"));
    assert_null (strstr (notes, "hosts are all left out"));
  }
}

static void
slow_ports_are_faults_of_their_nodes (G_GNUC_UNUSED void **state)
{
  static const Cable cables[] = { { "n1 mlx5_0", "a", "1xSDR" },
                                  { "n2 mlx5_0", "a", "4xXDR" },
                                  { "n3 mlx5_0", "a", "4xXDR" },
                                  { "n4 mlx5_0", "a", "8xXDR" },
                                  { NULL, NULL, NULL } };
  const FabImportRequest some = { .file = { "net", "", 0 }, .n_nodes = 1 };
  g_autoptr (FabImportedMachine) machine = machine_of (cables),
                                 one = fill (cables, &some, fab_imported_machine_new ("test"), NULL);
  g_autofree char *notes = notes_told (machine->notes);

  assert_string_equal (machine->faults->str,
                       "  - {what: link, from: node0/nic, to: leaf, rate: 0.25%} # n1: 1xSDR\n");
  assert_string_equal (one->faults->str, "");
  assert_non_null (strstr (notes, "2 read: 4 hosts with 1 port each, most of them 4xXDR\n"));
}

static void
networks_without_hosts_are_refused (G_GNUC_UNUSED void **state)
{
  static const Cable none[] = { { "a", "b", "100G" },
                                { "n1 mlx5_0", "n2 mlx5_0", "100G" },
                                { NULL, NULL, NULL } };
  static const Cable two[] = { { "n1 mlx5_0", "s", "100G" },
                               { "n2 mlx5_0", "s", "100G" },
                               { NULL, NULL, NULL } };
  FabImportRequest request = { .file = { "net", "", 0 } };
  g_autoptr (GError) error = NULL;

  assert_null (fill (none, &request, fab_imported_machine_new ("test"), &error));
  assert_string_equal (error->message, "net: no host has a port on a switch");
  g_clear_error (&error);
  request.n_nodes = 3;
  assert_null (fill (two, &request, fab_imported_machine_new ("test"), &error));
  assert_string_equal (error->message, "net: --nodes 3, but there are 2 hosts");
  request.n_nodes = 2;
  g_autoptr (FabImportedMachine) machine = fill (two, &request, fab_imported_machine_new ("test"), NULL);
  assert_non_null (machine);
}

static void
hosts_have_up_to_256_ports (G_GNUC_UNUSED void **state)
{
  for (guint extra = 0; extra < 2; extra++) {
    g_autoptr (FabImportedNetwork) network = fab_imported_network_new ();
    const FabImportRequest request = { .file = { "net", "", 0 } };
    g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");
    g_autoptr (GError) error = NULL;
    guint leaf = device_of (network, "leaf");

    assert_int_equal (network->n_owners, 1);
    for (guint i = 0; i < 256 + extra; i++) {
      g_autofree char *name = g_strdup_printf ("n1 mlx5_%u", i);

      assert_true (fab_imported_network_join (network, &request.file, 1, leaf, i + 1,
                                              device_of (network, name), 1, "4xNDR", NULL));
    }
    assert_true (fab_imported_network_fill (network, machine, &request, &error) == (extra == 0));
    assert_int_equal (network->n_owners, 2); /* the machine keeps it */
    if (extra > 0)
      assert_string_equal (error->message, "net: one host has 257 ports; at most 256 are possible");
  }
}

static void
the_speed_of_most_hosts_counts (G_GNUC_UNUSED void **state)
{
  enum { FIRST = 1100, MORE = 1101 };
  g_autoptr (FabImportedNetwork) network = fab_imported_network_new ();
  const FabImportRequest request = { .file = { "net", "", 0 } };
  g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");
  guint leaf = device_of (network, "leaf");

  for (guint i = 0; i < FIRST + MORE; i++) {
    g_autofree char *name = g_strdup_printf ("n%u mlx5_0", i);

    assert_true (fab_imported_network_join (network, &request.file, i + 1, leaf, i + 1,
                                            device_of (network, name), 1, i < FIRST ? "4xNDR" : "2xNDR",
                                            NULL));
  }
  assert_true (fab_imported_network_fill (network, machine, &request, NULL));
  assert_string_equal (machine->nic, "ib-ndr200");
  assert_string_equal (machine->faults->str, "");
  g_autofree char *notes = notes_told (machine->notes);
  assert_non_null (strstr (notes, "1101 read: 2201 hosts with 1 port each, most of them 2xNDR\n"));
}

/* What somebody gives counts before what the network says. */
static void
given_parts_of_a_node_stay (G_GNUC_UNUSED void **state)
{
  static const Cable cables[] = { { "n1 mlx5_0", "s", "4xNDR" }, { NULL, NULL, NULL } };
  const FabImportRequest request = { .file = { "net", "", 0 } };
  FabImportedMachine *given = fab_imported_machine_new ("test");

  given->nic = "roce-25";
  given->accelerator = "v100-sxm2-16gb";
  g_autoptr (FabImportedMachine) machine = fill (cables, &request, given, NULL);
  g_autofree char *notes = notes_told (machine->notes), *parts = parts_told (machine);
  assert_string_equal (machine->nic, "roce-25");
  assert_string_equal (parts, "host 0\ngpu 0 < host 0, pcie3-x16\nnic 0 < host 0, pcie3-x16\n");
  assert_null (strstr (notes, "most of them"));
  assert_null (strstr (notes, "stands in"));
}

/* --- devices --- */

/* "HCA-1" is the first device, as mlx5_0 is; interfaces and addresses have no number. */
static void
adapters_have_numbers (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint number;
  } rows[] = { { "mlx5_0", 0 },
               { "mlx5_12", 12 },
               { "HCA-1", 0 },
               { "HCA-2", 1 },
               { "HCA-0", 0 },
               { "hfi1_3", 3 },
               { "ens1f0np0", G_MAXUINT },
               { "0c:42:a1:88:00:01", G_MAXUINT },
               { "mlx5_", G_MAXUINT },
               { "7", G_MAXUINT },
               { "", G_MAXUINT },
               { NULL, G_MAXUINT },
               { "a_65535", 65535 },
               { "a_65536", G_MAXUINT } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_int_equal (fab_network_adapter_number (rows[i].name), rows[i].number);
}

static void
descriptions_name_hosts (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *id, *description;
    gboolean is_switch;
    guint64 guid;
    const char *host, *adapter, *label;
    gboolean is_aggregation;
  } rows[] = {
    { "H-ec0d9a0300ec8240", "gpu3 mlx5_0", FALSE, G_GUINT64_CONSTANT (0xec0d9a0300ec8240), "gpu3", "mlx5_0",
      "gpu3 mlx5_0", FALSE },
    { "0x10", "n.1-a_b HCA-2", FALSE, 0x10, "n.1-a_b", "HCA-2", "n.1-a_b HCA-2", FALSE },
    { "11", "MT23108 InfiniHost Mellanox Technologies", FALSE, 0x11, NULL, NULL,
      "MT23108 InfiniHost Mellanox Technologies", FALSE },
    { "zz", "mlx5_0", FALSE, 0, NULL, NULL, "mlx5_0", FALSE },
    { "0x", "a/b mlx5_0", FALSE, 0, NULL, NULL, "a/b mlx5_0", FALSE },
    { "S-1", "Mellanox Technologies Aggregation Node", FALSE, 1, NULL, NULL,
      "Mellanox Technologies Aggregation Node", TRUE },
    { "S-2", "aggregation node mlx5_0", TRUE, 2, NULL, NULL, "aggregation node mlx5_0", FALSE },
    { "S-3", "MF0;leaf04:MQM9701/U1", TRUE, 3, NULL, NULL, "leaf04", FALSE },
    { "S-4", "MF0;:x", TRUE, 4, NULL, NULL, "MF0;:x", FALSE },
    { "S-5", "a;b", TRUE, 5, NULL, NULL, "a;b", FALSE },
    { "S-6", "MF0;twin:x", TRUE, 6, NULL, NULL, "twin (S-6)", FALSE },
    { "S-7", "MF0;twin:y", TRUE, 7, NULL, NULL, "twin (S-7)", FALSE },
    { "S-8", NULL, TRUE, 8, NULL, NULL, "S-8", FALSE },
  };
  g_autoptr (FabImportedNetwork) network = fab_imported_network_new ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    assert_int_equal (fab_imported_network_add (network, rows[i].id, rows[i].is_switch, ""), i);
    assert_int_equal (fab_imported_network_add (network, rows[i].id, rows[i].is_switch, rows[i].description),
                      i);
    assert_int_equal (fab_imported_network_add (network, rows[i].id, rows[i].is_switch,
                                                rows[i].description ? "late mlx5_9" : NULL),
                      i);
  }
  g_auto (GStrv) labels = fab_imported_network_labels (network);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabImportedDevice *device = fab_imported_network_device (network, i);

    assert_true (device->guid == rows[i].guid);
    assert_true (g_strcmp0 (device->host, rows[i].host) == 0);
    assert_true (g_strcmp0 (device->adapter, rows[i].adapter) == 0);
    assert_true (device->is_aggregation == rows[i].is_aggregation);
    assert_string_equal (labels[i], rows[i].label);
  }
}

/* A cable is listed at both ends and counts once; 20000 are the most. */
static void
cables_count_once (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedNetwork) network = fab_imported_network_new ();
  const FabFileText file = { "net", "", 0 };
  guint a = fab_imported_network_add (network, "a", TRUE, NULL),
        b = fab_imported_network_add (network, "b", TRUE, NULL);
  g_autoptr (GError) error = NULL;

  assert_true (fab_imported_network_join (network, &file, 3, b, 7, a, 9, "100G", NULL));
  assert_true (fab_imported_network_join (network, &file, 4, a, 9, b, 7, "100G", NULL));
  assert_true (fab_imported_network_join (network, &file, 5, a, 9, a, 8, "100G", NULL));
  assert_int_equal (network->cables->len, 1);
  const FabImportedCable *cable = fab_imported_network_cable (network, 0);
  assert_true (cable->a == a && cable->b == b && cable->port_a == 9 && cable->port_b == 7
               && cable->line == 3);
  for (guint i = 1; i < 20000; i++)
    assert_true (fab_imported_network_join (network, &file, 3, a, i + 10, b, i, "100G", NULL));
  assert_int_equal (network->cables->len, 20000);
  assert_false (fab_imported_network_join (network, &file, 6, a, 1, b, 30000, "100G", &error));
  assert_string_equal (error->message, "net:6: the network has more than 20000 cables");
}

/* As many hosts have one port as have two: two count, whichever are listed first, and those with one are left out. */
static void
of_as_many_hosts_more_ports_count (G_GNUC_UNUSED void **state)
{
  static const Cable orders[][7] = {
    { { "n1 mlx5_0", "leaf1", "4xNDR" },
      { "n1 mlx5_1", "leaf1", "4xNDR" },
      { "n2 mlx5_0", "leaf1", "4xNDR" },
      { NULL, NULL, NULL } },
    { { "n2 mlx5_0", "leaf1", "4xNDR" },
      { "n1 mlx5_0", "leaf1", "4xNDR" },
      { "n1 mlx5_1", "leaf1", "4xNDR" },
      { NULL, NULL, NULL } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    g_autoptr (FabImportedMachine) machine = machine_of (orders[i]);
    g_autofree char *notes = notes_told (machine->notes);

    assert_int_equal (machine->n_nodes, 1);
    assert_non_null (strstr (notes, "left out: 1 host with fewer ports than the 2 that most have\n"));
    assert_non_null (strstr (notes, "1 host with 2 ports each, most of them 4xNDR\n"));
  }
}

/* Nodes are numbered by their leaf, and at one leaf by their first cable. With one port a NIC has no number. The line
 * of several slow ports is that of the first; the speed of most ports is that of the NIC. */
static void
slow_ports_of_several_nodes (G_GNUC_UNUSED void **state)
{
  static const Cable cables[] = {
    { "leaf1", "top", "4xNDR" },       { "leaf2", "top", "4xNDR" },
    { "n4 mlx5_0", "leaf2", "4xHDR" }, { "n3 mlx5_0", "leaf1", "4xHDR" },
    { "n2 mlx5_0", "leaf1", "4xNDR" }, { "n1 mlx5_0", "leaf2", "4xNDR" },
    { "n5 mlx5_0", "leaf1", "4xNDR" }, { NULL, NULL, NULL },
  };
  g_autoptr (FabImportedMachine) machine = machine_of (cables);
  g_autofree char *notes = notes_told (machine->notes);

  assert_string_equal (machine->faults->str,
                       "  - {what: link, from: node0/nic, to: leaf0, rate: 50%} # n3: 4xHDR\n"
                       "  - {what: link, from: node3/nic, to: leaf1, rate: 50%} # n4: 4xHDR\n");
  assert_string_equal (machine->nic, "ib-ndr");
  assert_non_null (
      strstr (notes, "4 read: 2 ports that are slower than most, which the scenario has in `faults`\n"));
  assert_non_null (strstr (notes, "5 read: 5 hosts with 1 port each, most of them 4xNDR\n"));
}

/* What carries out SHARP in a switch looks like an adapter of nobody, and is counted by itself. */
static void
aggregation_nodes_are_left_out (G_GNUC_UNUSED void **state)
{
  for (guint n = 1; n <= 2; n++) {
    g_autoptr (FabImportedNetwork) network = fab_imported_network_new ();
    const FabImportRequest request = { .file = { "net", "", 0 } };
    g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");
    guint leaf = device_of (network, "leaf1");

    assert_true (fab_imported_network_join (network, &request.file, 1, leaf, 1,
                                            device_of (network, "n1 mlx5_0"), 1, "4xNDR", NULL));
    for (guint i = 0; i < n; i++) {
      guint node = device_of (network, i == 0 ? "x1" : "x2");

      fab_imported_network_device (network, node)->is_aggregation = TRUE;
      assert_true (
          fab_imported_network_join (network, &request.file, 2 + i, leaf, 41 + i, node, 1, "4xNDR", NULL));
    }
    assert_true (fab_imported_network_fill (network, machine, &request, NULL));
    g_autofree char *notes = notes_told (machine->notes);
    assert_non_null (
        strstr (notes, n == 1 ? "0 left out: left out: 1 aggregation node of switches for SHARP\n"
                              : "0 left out: left out: 2 aggregation nodes of switches for SHARP\n"));
    assert_int_equal (machine->n_nodes, 1);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (hosts_switches_and_cables_are_a_fabric),
    cmocka_unit_test (speeds_are_links),
    cmocka_unit_test (own_links_stand_once),
    cmocka_unit_test (most_hosts_say_the_number_of_ports),
    cmocka_unit_test (rare_adapters_go_first),
    cmocka_unit_test (adapters_of_half_the_hosts_are_rare),
    cmocka_unit_test (slower_cables_are_left_out),
    cmocka_unit_test (cables_of_one_rate_count_together),
    cmocka_unit_test (switches_that_lead_on_stay),
    cmocka_unit_test (slow_ports_are_faults_of_their_nodes),
    cmocka_unit_test (networks_without_hosts_are_refused),
    cmocka_unit_test (hosts_have_up_to_256_ports),
    cmocka_unit_test (the_speed_of_most_hosts_counts),
    cmocka_unit_test (given_parts_of_a_node_stay),
    cmocka_unit_test (adapters_have_numbers),
    cmocka_unit_test (descriptions_name_hosts),
    cmocka_unit_test (cables_count_once),
    cmocka_unit_test (of_as_many_hosts_more_ports_count),
    cmocka_unit_test (slow_ports_of_several_nodes),
    cmocka_unit_test (aggregation_nodes_are_left_out),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
