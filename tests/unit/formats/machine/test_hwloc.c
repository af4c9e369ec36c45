/* SPDX-License-Identifier: Apache-2.0 */
/* test_hwloc.c - topologies of hwloc, versions 1 to 3: bridges and devices, rates, peers, and what names processors. */
#include "tests/unit/formats/machine/told.h"

#define HOST_BRIDGE(inner) "<object type=\"Bridge\" bridge_type=\"0-1\">" inner "</object>\n"
#define PORT(speed, inner) \
  "<object type=\"Bridge\" bridge_type=\"1-1\" pci_link_speed=\"" speed "\">" inner "</object>\n"
#define DEVICE(type, speed, inner) \
  "<object type=\"PCIDev\" pci_type=\"" type "\" pci_link_speed=\"" speed "\">" inner "</object>\n"
#define INFO(name, value) "<info name=\"" name "\" value=\"" value "\"/>"
#define V100(inner) DEVICE ("0302 [10de:1db5] [10de:1249] a1 00", "15.753846", inner)
#define FABRICS(name, guid) \
  "<object type=\"OSDev\" name=\"" name "\" osdev_type=\"3\">" INFO ("NodeGUID", guid) "</object>"
#define TOPOLOGY(inner) \
  "<topology version=\"2.0\">\n<object type=\"Machine\">\n" inner "</object>\n</topology>\n"
#define PACKAGE(inner) "<object type=\"Package\">" inner "</object>"

/* The first package has two host bridges with devices. Below a root port stand an upstream port, which is a switch,
 * and its downstream ports. The adapter without an OpenFabrics device, the display of the management controller, and
 * the bridge that holds nothing else are no parts. */
static const MachineCase whole = {
  "hwloc",
  "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
  "<topology version=\"2.0\">\n"
  "<object type=\"Machine\">" INFO (
      "HostName",
      "node7") "\n"
               "<object type=\"Package\">" INFO ("CPUVendor", "GenuineIntel") INFO (
                   "CPUFamilyNumber", "6") INFO ("CPUModelNumber", "85")
                   INFO ("CPUModel", "Intel(R) Xeon(R) Gold 6148") "\n" HOST_BRIDGE (
                       PORT ("15.753846",
                             PORT ("7.876923",
                                   PORT ("15.753846", V100 (""))
                                       PORT ("15.753846",
                                             "\n" DEVICE ("0207 [15b3:1017] [15b3:0007] 00 00", "7.876923",
                                                          FABRICS ("mlx5_0", "506b:4b03:003f:a9b6"))))))
                       HOST_BRIDGE (PORT ("15.753846",
                                          V100 ("<object type=\"OSDev\" name=\"cuda1\" osdev_type=\"5\"/>"))
                                        DEVICE ("0200 [8086:1572] [0000:0000] 00 00", "3.938462",
                                                "<object type=\"OSDev\" name=\"eth0\" osdev_type=\"2\"/>"))
                           HOST_BRIDGE (DEVICE (
                               "0300 [102b:0522] [0000:0000] 00 00", "0",
                               "")) "</object>\n" PACKAGE (HOST_BRIDGE (V100 (""))) "</object>\n</topology>\n",
  "v100-sxm2-32gb",
  "ib-edr",
  "upi-socket-skylake",
  1,
  "host 0\nhost 1\nbridge 0 < host 0, pcie3-x16\nswitch 0 < bridge 0, pcie3-x8\ngpu 0 < switch 0, pcie3-x16\n"
  "nic 0 < switch 0, pcie3-x8, mlx5_0, 506b4b03003fa9b6\nbridge 1 < host 0, pcie3-x16\ngpu 1 < bridge 1, pcie3-x16\n"
  "gpu 2 < host 1, pcie3-x16\n",
  "{from: cpu, to: cpu, link: upi-socket-skylake, map: all}\n",
  "6 read: accelerator: v100-sxm2-32gb, by its PCI id 10de:1db5\n"
  "6 inferred: PCIe: the widest link that gives the printed GB/s\n"
  "4 read: 3 GPUs below 2 packages, with the PCIe bridges between\n"
  "0 read: 1 NIC with an OpenFabrics device; other network cards are left out\n"
  "9 inferred: NIC ports: ib-edr, as the PCI id 15b3:1017 is a ConnectX-5, at its full rate; --nic names another\n"
  "5 read: CPU Intel(R) Xeon(R) Gold 6148, so upi-socket-skylake between hosts\n"
  "0 inferred: PCIe only: the text shows no nvlink2, and how it would be wired is not known\n",
};

static void
objects_are_parts (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, whole.text, NULL);

  assert_told (&whole);
  assert_string_equal (machine->host_name, "node7");
}

/* GB/s of one direction without line coding: 0.25 of a lane of generation 1, 0.5 of 2, 0.9846 of 3, and so on; 242
 * of 256 bytes from generation 6 on. Where two links have one rate the wider one counts. */
static void
rates_are_links (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *rate, *link;
    gboolean is_known;
  } rows[] = {
    { "15.753846", "pcie3-x16", TRUE }, { "7.876923", "pcie3-x8", TRUE }, { "3.938462", "pcie3-x4", TRUE },
    { "1.969231", "pcie3-x2", TRUE },   { "0.984615", "pcie3-x1", TRUE }, { "31.507692", "pcie4-x16", TRUE },
    { "63.015385", "pcie5-x16", TRUE }, { "121.008", "pcie6-x16", TRUE }, { "242.0", "pcie7-x16", TRUE },
    { "4.000000", "pcie3-x4", TRUE },   { "8.000000", "pcie3-x8", TRUE }, { "0.25", "pcie3-x1", TRUE },
    { "0.5", "pcie3-x1", TRUE },        { "15.60", "pcie3-x16", TRUE },   { "15.90", "pcie3-x16", TRUE },
    { "15.58", "pcie4-x16", FALSE },    { "15.92", "pcie4-x16", FALSE },  { "0.000000", "pcie4-x16", FALSE },
    { "", "pcie4-x16", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (TOPOLOGY (HOST_BRIDGE (DEVICE ("0302 [10de:26b9]", "%s", ""))),
                                             rows[i].rate);
    g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text, NULL);
    g_autofree char *parts = parts_told (machine), *notes = notes_told (machine->notes);
    g_autofree char *expected = g_strdup_printf ("host 0\ngpu 0 < host 0, %s\n", rows[i].link);

    assert_string_equal (parts, expected);
    assert_true ((strstr (notes, "3 inferred: PCIe: the widest link that gives the printed GB/s\n") != NULL)
                 == rows[i].is_known);
    assert_true (
        (strstr (notes, "3 inferred: PCIe: generation 4 x16 where the file has no known pci_link_speed\n")
         != NULL)
        == !rows[i].is_known);
  }
  g_autoptr (FabImportedMachine) silent = read_machine (
      "hwloc", NULL, TOPOLOGY ("<object type=\"PCIDev\" pci_type=\"0302 [10de:26b9]\"/>"), NULL);
  g_autofree char *parts = parts_told (silent);
  assert_string_equal (parts, "host 0\ngpu 0 < host 0, pcie4-x16\n");
}

/* Compute cards (0302, 0380, 12xx) of NVIDIA and AMD. AMD's displays (0300) count where the id is known, where ROCm
 * knows the card, or where there is no other GPU. */
static void
cards_are_gpus_by_their_class (G_GNUC_UNUSED void **state)
{
#define RSMI(n) "<object type=\"OSDev\" name=\"rsmi" n "\" osdev_type=\"5\"/>"
  static const struct {
    const char *cards, *accelerator;
    guint n;
  } rows[] = {
    { DEVICE ("0302 [10de:2330]", "", "") DEVICE ("0300 [10de:26b9]", "", "")
          DEVICE ("0680 [10de:22a3]", "", ""),
      "h100-sxm5-80gb", 2 },
    { DEVICE ("1200 [1002:74a1]", "", "") DEVICE ("0380 [1002:9999]", "", "")
          DEVICE ("0300 [1002:9999]", "", ""),
      "mi300x", 2 },
    { DEVICE ("0300 [1002:66a1]", "", "") DEVICE ("0300 [1002:9999]", "", RSMI ("0"))
          DEVICE ("0300 [1002:9998]", "", RSMI ("x")),
      "mi50", 2 },
    { DEVICE ("0300 [1002:9999]", "", "") DEVICE ("0300 [1002:9998]", "", ""), "mi50", 2 },
    { DEVICE ("0302 [10de:9999]", "", "") DEVICE ("0300 [8086:1111]", "", "")
          DEVICE ("1300 [10de:2330]", "", ""),
      "l40s", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (TOPOLOGY ("%s"), rows[i].cards);
    g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text, NULL);
    g_autofree char *notes = notes_told (machine->notes);

    assert_string_equal (machine->accelerator, rows[i].accelerator);
    assert_int_equal (fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_GPU), rows[i].n);
    assert_true (
        (strstr (notes,
                 "3 inferred: accelerator: mi50 stands in for PCI id 1002:9999, which is not in the table;")
         != NULL)
        == (i == 3));
    assert_true (
        (strstr (notes,
                 "3 inferred: accelerator: l40s stands in for PCI id 10de:9999, which is not in the table;")
         != NULL)
        == (i == 4));
  }
}

/* osdev_type 3 is OpenFabrics; from hwloc 3 on it is bit 5 of a set, and the subtype says so too. */
static void
adapters_have_openfabrics_devices (G_GNUC_UNUSED void **state)
{
#define CARD(device) \
  TOPOLOGY (HOST_BRIDGE (DEVICE ("0302 [10de:2330]", "", "") DEVICE ("0207 [15b3:1021]", "", device)))
  static const struct {
    const char *text;
    guint64 guid; /* 1: no NIC */
  } rows[] = {
    { CARD ("<object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"3\"><info name=\"NodeGUID\" "
            "value=\"0000:0000:0000:0010\"/></object>"),
      16 },
    { CARD ("<object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"32\"/>"), 0 },
    { CARD ("<object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"36\" subtype=\"OpenFabrics\"><info "
            "name=\"NodeGUID\" value=\"x\"/></object>"),
      0 },
    { CARD ("<object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"3\"><info name=\"NodeGUID\" "
            "value=\"0000:0000:0000:001x\"/></object>"),
      0 },
    { CARD ("<object type=\"OSDev\" name=\"mlx5_0\" osdev_type=\"0\" subtype=\"OpenFabrics\"/>"), 1 },
    { CARD ("<object type=\"OSDev\" name=\"mlx5_0\" subtype=\"OpenFabrics\"/>"), 1 },
    { CARD ("<object type=\"OSDev\" name=\"eth0\" osdev_type=\"2\"/>"), 1 },
    { CARD ("<object type=\"Misc\" name=\"mlx5_0\" osdev_type=\"3\"/>"), 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, rows[i].text, NULL);
    g_autofree char *parts = parts_told (machine);
    g_autofree char *nic = rows[i].guid == 16 ? g_strdup ("nic 0 < host 0, pcie5-x16, mlx5_0, 10\n")
                         : rows[i].guid == 0  ? g_strdup ("nic 0 < host 0, pcie5-x16, mlx5_0\n")
                                              : g_strdup ("");
    g_autofree char *expected = g_strconcat ("host 0\ngpu 0 < host 0, pcie5-x16\n", nic, NULL);

    assert_string_equal (parts, expected);
    assert_true (g_strcmp0 (machine->nic, rows[i].guid == 1 ? NULL : "ib-ndr") == 0);
  }
}

/* Before version 2 bridges stand beside their package, below what holds both; Socket is its older name. With
 * --no-bridges devices stand there alone. */
static void
devices_belong_to_the_package_beside_them (G_GNUC_UNUSED void **state)
{
#define CARD_AT(speed) DEVICE ("0302 [10de:2330]", speed, "")
  static const struct {
    const char *text, *parts;
  } rows[] = {
    { TOPOLOGY ("<object type=\"NUMANode\"><object type=\"Socket\"/>" HOST_BRIDGE (
          CARD_AT ("15.753846")) "</object>"
                                 "<object type=\"NUMANode\"><object type=\"Socket\"/>" HOST_BRIDGE (
                                     CARD_AT ("7.876923")) "</object>"),
      "host 0\nhost 1\ngpu 0 < host 0, pcie3-x16\ngpu 1 < host 1, pcie3-x8\ncentre 0\n" },
    { TOPOLOGY ("<object type=\"Group\"><object type=\"Package\"/><object type=\"Package\"/>" CARD_AT (
          "15.753846") "</object>"
                       "<object type=\"Package\">" CARD_AT ("7.876923") "</object>" CARD_AT ("3.938462")),
      "host 0\nhost 1\ngpu 0 < host 0, pcie3-x16\ngpu 1 < host 1, pcie3-x8\ngpu 2 < host 0, pcie3-x4\ncentre 0\n" },
    { TOPOLOGY (PORT ("15.753846", PORT ("15.753846", CARD_AT ("15.753846")))),
      "host 0\nswitch 0 < host 0, pcie3-x16\ngpu 0 < switch 0, pcie3-x16\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, rows[i].text, NULL);
    g_autofree char *parts = parts_told (machine);

    assert_string_equal (parts, rows[i].parts);
  }
}

/* --- links beside PCIe --- */

#define MI50(n, gp, peers)                                           \
  DEVICE ("0380 [1002:66a1]", "15.753846",                           \
          "<object type=\"OSDev\" name=\"rsmi" n "\" gp_index=\"" gp \
          "\" osdev_type=\"5\">" INFO ("XGMIPeers", peers) "</object>")

/* Peers of a hive that are two hops apart are not wired. GPUs have ROCm's numbers. */
static void
peers_are_wired_where_they_are_one_hop_apart (G_GNUC_UNUSED void **state)
{
  static const char cards[] = MI50 ("2", "12", "rsmi0 rsmi1 ") MI50 ("0", "10", "rsmi1 rsmi2")
      MI50 ("1", "11", "rsmi0  rsmi2 rsmi9");
  static const struct {
    const char *matrix, *links;
  } rows[] = {
    { "", "{from: gpu, to: gpu, link: xgmi-mi100, map: all}\n" },
    { "<distances2 name=\"XGMIHops\"><indexes>10 11 12</indexes><u64values>0 1 2 1 0 "
      "1</u64values><u64values>2 1 0</u64values></distances2>",
      "{from: gpu0, to: gpu1, link: xgmi-mi100}\n{from: gpu1, to: gpu2, link: xgmi-mi100}\n" },
    { "<distances2hetero name=\"XGMIHops\"><indexes>12\n11</indexes><indexes>10</indexes><u64values>0 2 1 2 0 "
      "1 1 1 0</u64values></distances2hetero>",
      "{from: gpu0, to: gpu1, link: xgmi-mi100}\n{from: gpu0, to: gpu2, link: xgmi-mi100}\n" },
    { "<distances2 name=\"XGMIHops\"><indexes>10 11 12</indexes><u64values>0 2 2 2 0 2 2 2</u64values></distances2>",
      "{from: gpu, to: gpu, link: xgmi-mi100, map: all}\n" },
    { "<distances2 name=\"XGMIBandwidth\"><indexes>10 11 12</indexes><u64values>0 2 2 2 0 2 2 2 "
      "0</u64values></distances2>",
      "{from: gpu, to: gpu, link: xgmi-mi100, map: all}\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("<topology><object type=\"Machine\">%s</object>%s</topology>",
                                             cards, rows[i].matrix);
    g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text, NULL);
    g_autofree char *links = links_told (machine), *parts = parts_told (machine),
                    *notes = notes_told (machine->notes);

    assert_string_equal (
        parts, "host 0\ngpu 2 < host 0, pcie3-x16\ngpu 0 < host 0, pcie3-x16\ngpu 1 < host 0, pcie3-x16\n");
    assert_string_equal (links, rows[i].links);
    assert_non_null (strstr (notes, "0 read: GPUs that are peers by xGMI (XGMIPeers)\n"));
  }
}

/* MI50 with more peers than links are a ring in ROCm's order, wherever they stand in the file. */
static void
rings_follow_the_numbers_of_rocm (G_GNUC_UNUSED void **state)
{
  static const char text[] = TOPOLOGY (
      MI50 ("3", "13", "rsmi0 rsmi1 rsmi2") MI50 ("1", "11", "rsmi0 rsmi2 rsmi3")
          MI50 ("0", "10", "rsmi1 rsmi2 rsmi3") MI50 ("2", "12", "rsmi0 rsmi1 rsmi3"));
  g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text, NULL);
  g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);

  assert_string_equal (
      links, "{from: gpu0, to: gpu1, link: xgmi-mi100}\n{from: gpu0, to: gpu3, link: xgmi-mi100}\n"
             "{from: gpu1, to: gpu2, link: xgmi-mi100}\n{from: gpu2, to: gpu3, link: xgmi-mi100}\n");
  assert_non_null (strstr (notes, "3 inferred: xGMI: mi50 has 2 links for 3 peers"));
}

/* One that ROCm does not know stands beside the hive. Two of one number stay in the order of
 * the file. */
static void
cards_without_a_number_come_last (G_GNUC_UNUSED void **state)
{
  static const char text[] = TOPOLOGY (
      DEVICE ("0380 [1002:66a1]", "15.753846", "") MI50 ("3", "13", "rsmi0 rsmi1 rsmi2")
          MI50 ("1", "11", "rsmi0 rsmi2 rsmi3") MI50 ("0", "10", "rsmi1 rsmi2 rsmi3")
              MI50 ("2", "12", "rsmi0 rsmi1 rsmi3"));
  static const char twins[] = TOPOLOGY (MI50 ("0", "10", "rsmi1") MI50 ("0", "12", "rsmi1")
                                            MI50 ("1", "11", ""));
  g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text, NULL),
                                 other = read_machine ("hwloc", NULL, twins, NULL);
  g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes),
                  *of_twins = links_told (other);

  /* the card without a number was added first, so that it is gpu0, and ROCm's first is gpu1 */
  assert_string_equal (
      links, "{from: gpu1, to: gpu2, link: xgmi-mi100}\n{from: gpu1, to: gpu4, link: xgmi-mi100}\n"
             "{from: gpu2, to: gpu3, link: xgmi-mi100}\n{from: gpu3, to: gpu4, link: xgmi-mi100}\n");
  assert_non_null (strstr (notes, "0 inferred: xGMI: mi50 has 2 links for 3 peers"));
  assert_string_equal (
      of_twins, "{from: gpu0, to: gpu2, link: xgmi-mi100}\n{from: gpu1, to: gpu2, link: xgmi-mi100}\n");
}

#define NVML(id, n, gp)                      \
  DEVICE ("0302 [10de:" id "]", "15.753846", \
          "<object type=\"OSDev\" name=\"nvml" n "\" gp_index=\"" gp "\" osdev_type=\"5\"/>")
#define RATES(indexes, values)                                                                  \
  "<distances2hetero name=\"NVLinkBandwidth\"><indexes>" indexes "</indexes><u64values>" values \
  "</u64values></distances2hetero>"

/* Rates are those of all links of a pair, in MB/s: 25000 of each, 20000 of P100. Links to ports of NVSwitches count
 * for every pair; POWER's packages are no GPUs. */
static void
rates_of_pairs_are_nvlinks (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cards, *matrix, *links;
  } rows[] = {
    { NVML ("1db1", "0", "40") NVML ("1db1", "1", "41"),
      RATES ("OSDev:40 OSDev:41 ", "1000000 50000 50000 1000000"),
      "{from: gpu, to: gpu, link: nvlink2, count: 2, map: all}\n" },
    { NVML ("15f9", "0", "40") NVML ("15f9", "1", "41"), RATES ("40 41", "1000000 20000 20000 1000000"),
      "{from: gpu, to: gpu, link: nvlink1, map: all}\n" },
    { NVML ("15f9", "0", "40") NVML ("15f9", "1", "41"), RATES ("40 41", "0 19999 19999 0"), "" },
    { NVML ("1db1", "0", "40") NVML ("1db1", "1", "41"), RATES ("40 41", "0 24999 24999 0"), "" },
    { NVML ("1db1", "0", "40") NVML ("1db1", "1", "41"), RATES ("40 41", "0 25000 25000"), "" },
    { NVML ("20b2", "0", "40") NVML ("20b2", "1", "41") NVML ("20b2", "2", "42"),
      RATES (
          "OSDev:40 OSDev:41 OSDev:42 PCIDev:90 PCIDev:91 Package:3",
          "0 0 0 150000 150000 25000 0 0 0 150000 150000 0 0 0 0 150000 150000 0 1 1 1 0 0 0 1 1 1 0 0 0 1 1 "
          "1 0 0 0"),
      "{from: gpu, to: nvswitch, link: nvlink3, count: 12}\n" },
    { NVML ("1db1", "0", "41") NVML ("1db1", "1", "40") NVML ("1db1", "2", "49"),
      RATES ("OSDev:40 OSDev:41 OSDev:50", "0 75000 25000 75000 0 25000 1 1 0"),
      "{from: gpu0, to: gpu1, link: nvlink2, count: 3}\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("<topology><object type=\"Machine\">%s</object>\n%s</topology>",
                                             rows[i].cards, rows[i].matrix);
    g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text, NULL);
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);

    if (strcmp (links, rows[i].links) != 0)
      fail_msg ("%u: %s", i, links);
    assert_true ((strstr (notes, "read: NVLinks of each pair of GPUs (NVLinkBandwidth)\n") != NULL)
                 == (*rows[i].links != '\0'));
    assert_true ((strstr (notes, "PCIe only") != NULL) == (*rows[i].links == '\0'));
  }
}

/* --- processors --- */

static void
packages_name_their_processor (G_GNUC_UNUSED void **state)
{
#define AMD(family, model) \
  INFO ("CPUVendor", "AuthenticAMD") INFO ("CPUFamilyNumber", family) INFO ("CPUModelNumber", model)
  static const struct {
    const char *root, *package, *link, *note; /* NULL: no note */
  } rows[] = {
    { "", AMD ("25", "17") INFO ("CPUModel", "EPYC 9654"), "xgmi-socket-genoa",
      "3 read: CPU EPYC 9654, so xgmi-socket-genoa between hosts\n" },
    { "", AMD ("23", "49"), "xgmi-socket-rome",
      "3 read: CPU AuthenticAMD, so xgmi-socket-rome between hosts\n" },
    { AMD ("23", "49"), "", "xgmi-socket-rome",
      "2 read: CPU AuthenticAMD, so xgmi-socket-rome between hosts\n" },
    { AMD ("23", "49"), INFO ("CPUModel", "POWER9 (raw)"), "xbus-power9",
      "3 read: CPU POWER9 (raw), so xbus-power9 between hosts\n" },
    { INFO ("PlatformModel", "POWER8 x"), INFO ("CPUModel", "strange"), "xbus-power8",
      "3 read: CPU strange, so xbus-power8 between hosts\n" },
    { INFO ("PlatformModel", "POWER8 x"), "", "xbus-power8", NULL },
    { "", INFO ("CPUModel", "strange"), "upi-socket-sapphire-rapids",
      "3 inferred: between hosts: upi-socket-sapphire-rapids, often seen beside h100-sxm5-80gb; the links of "
      "the CPU 'strange' are not in the "
      "table\n" },
    { "", AMD ("22", "49"), "upi-socket-sapphire-rapids",
      "3 inferred: between hosts: upi-socket-sapphire-rapids, often seen beside h100-sxm5-80gb; the links of "
      "the CPU 'AuthenticAMD' are not in "
      "the table\n" },
    { "", "", "upi-socket-sapphire-rapids",
      "3 inferred: between hosts: upi-socket-sapphire-rapids, often seen beside h100-sxm5-80gb; the text "
      "names no CPU\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        "<topology>\n<object type=\"Machine\">%s\n<object type=\"Package\">%s" CARD_AT (
            "") "</object>"
                "<object type=\"Package\">" CARD_AT ("") "</object></object></topology>",
        rows[i].root, rows[i].package);
    g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text, NULL);
    g_autofree char *notes = notes_told (machine->notes);

    assert_string_equal (machine->socket_link, rows[i].link);
    if (rows[i].note != NULL && strstr (notes, rows[i].note) == NULL)
      fail_msg ("%s", notes);
    assert_true (rows[i].note != NULL || strstr (notes, "between hosts") == NULL);
  }
}

/* A machine of one package has nothing between hosts. */
static void
one_package_has_no_link_between_hosts (G_GNUC_UNUSED void **state)
{
  g_autofree char *text = g_strdup_printf (TOPOLOGY ("%s"),
                                           PACKAGE (AMD ("25", "17") INFO ("CPUModel", "EPYC") CARD_AT ("")));
  g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text, NULL);
  g_autofree char *notes = notes_told (machine->notes);

  assert_string_equal (machine->socket_link, "xgmi-socket-genoa");
  assert_null (strstr (notes, "between hosts"));
}

static void
mistakes_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { "<topology>\n</topology>", "x:1: an object of type Machine is missing" },
    { "<topology>\n<object type=\"Machine\"/></topology>",
      "x:2: there is no GPU, that is no PCIDev of NVIDIA or AMD; was lstopo run with --no-io?" },
    { TOPOLOGY (DEVICE ("0302 [10de:2330]", "", DEVICE ("0302 [10de:2330]", "", ""))),
      "x:2: there are 2 GPUs, but 1 of them are below another device" },
    { "<topology>\n<object>", "x:2: the XML is not well-formed:" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (read_machine ("hwloc", NULL, rows[i].text, &error));
    if (!g_str_has_prefix (error->message, rows[i].message))
      fail_msg ("%s", error->message);
  }
  for (guint extra = 0; extra < 2; extra++) {
    g_autoptr (GString) text = g_string_new ("<topology><object type=\"Machine\">");
    g_autoptr (GError) error = NULL;

    for (guint i = 0; i < 256 + extra; i++)
      g_string_append (text, "<object type=\"PCIDev\" pci_type=\"0302 [10de:2330]\"/>");
    g_string_append (text, "</object></topology>");
    g_autoptr (FabImportedMachine) machine = read_machine ("hwloc", NULL, text->str, &error);
    assert_true ((machine == NULL) == (extra == 1));
    if (extra == 1)
      assert_string_equal (error->message, "x:1: the machine has more than 256 GPUs or 2048 parts");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (objects_are_parts),
    cmocka_unit_test (rates_are_links),
    cmocka_unit_test (cards_are_gpus_by_their_class),
    cmocka_unit_test (adapters_have_openfabrics_devices),
    cmocka_unit_test (devices_belong_to_the_package_beside_them),
    cmocka_unit_test (peers_are_wired_where_they_are_one_hop_apart),
    cmocka_unit_test (rings_follow_the_numbers_of_rocm),
    cmocka_unit_test (cards_without_a_number_come_last),
    cmocka_unit_test (rates_of_pairs_are_nvlinks),
    cmocka_unit_test (packages_name_their_processor),
    cmocka_unit_test (one_package_has_no_link_between_hosts),
    cmocka_unit_test (mistakes_are_told),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
