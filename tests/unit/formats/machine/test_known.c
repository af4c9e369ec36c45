/* SPDX-License-Identifier: Apache-2.0 */
/* test_known.c - what names, PCI ids, processors and numbers of links imply. */
#include "tests/unit/formats/machine/told.h"

#include "formats/machine/known.h"

/* Links of a card: data sheets of their makers. Those without a switch are joined by bridges, or in a mesh. */
static void
accelerators_have_their_links (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    guint n_links, pcie;
    const char *link;
    gboolean has_switch;
  } rows[] = {
    { "p100-sxm2", 4, 3, "nvlink1", FALSE },
    { "v100-sxm2-16gb", 6, 3, "nvlink2", FALSE },
    { "v100-sxm2-32gb", 6, 3, "nvlink2", FALSE },
    { "v100-sxm3-32gb", 6, 3, "nvlink2", TRUE },
    { "v100-pcie-16gb", 0, 3, NULL, FALSE },
    { "t4", 0, 3, NULL, FALSE },
    { "rtx2080ti", 2, 3, "nvlink2-rtx", FALSE },
    { "a100-sxm4-40gb", 12, 4, "nvlink3", TRUE },
    { "a100-sxm4-64gb", 12, 4, "nvlink3", TRUE },
    { "a800-sxm4-80gb", 8, 4, "nvlink3", TRUE },
    { "a100-pcie-80gb", 12, 4, "nvlink3-bridge", FALSE },
    { "a30", 4, 4, "nvlink3-bridge", FALSE },
    { "rtx3090", 4, 4, "nvlink3-rtx", FALSE },
    { "rtx-a6000", 4, 4, "nvlink3-rtx", FALSE },
    { "rtx-a5000", 4, 4, "nvlink3-rtx", FALSE },
    { "a10g", 0, 4, NULL, FALSE },
    { "l4", 0, 4, NULL, FALSE },
    { "l40s", 0, 4, NULL, FALSE },
    { "rtx4090", 0, 4, NULL, FALSE },
    { "h100-sxm5-94gb", 18, 5, "nvlink4", TRUE },
    { "h100-pcie-80gb", 12, 5, "nvlink4-bridge", FALSE },
    { "h100-nvl-94gb", 18, 5, "nvlink4-bridge", FALSE },
    { "h800-sxm5", 8, 5, "nvlink4", TRUE },
    { "h20-sxm5", 18, 5, "nvlink4", TRUE },
    { "h200-sxm5", 18, 5, "nvlink4", TRUE },
    { "gh200-96gb", 18, 5, "nvlink4", FALSE },
    { "b200-sxm", 18, 5, "nvlink5", TRUE },
    { "b300-sxm", 18, 6, "nvlink5", TRUE },
    { "gb200", 18, 5, "nvlink5", TRUE },
    { "gb300", 18, 6, "nvlink5", TRUE },
    { "rtx5090", 0, 5, NULL, FALSE },
    { "rtx-pro-6000", 0, 5, NULL, FALSE },
    { "mi50", 2, 4, "xgmi-mi100", FALSE },
    { "mi100", 3, 4, "xgmi-mi100", FALSE },
    { "mi250x-gcd", 8, 4, "xgmi-mi250x", FALSE },
    { "mi210", 3, 4, "xgmi-mi250x", FALSE },
    { "mi300a", 6, 5, "xgmi-mi300x", FALSE },
    { "mi300x", 7, 5, "xgmi-mi300x", FALSE },
    { "mi308x", 7, 5, "xgmi-mi300x", FALSE },
    { "mi325x", 7, 5, "xgmi-mi325x", FALSE },
    { "mi350x", 7, 5, "xgmi-mi355x", FALSE },
    { "mi355x", 7, 5, "xgmi-mi355x", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabKnownAccelerator *known = fab_known_accelerator (rows[i].name);
    gboolean is_xgmi = rows[i].link != NULL && g_str_has_prefix (rows[i].link, "xgmi");

    if (known->n_links != rows[i].n_links || known->pcie_generation != rows[i].pcie
        || known->has_switch != rows[i].has_switch || g_strcmp0 (known->link, rows[i].link) != 0)
      fail_msg ("%s: %u of %s, PCIe %u", rows[i].name, known->n_links, known->link, known->pcie_generation);
    assert_true (g_strcmp0 (fab_xgmi_link (rows[i].name), is_xgmi ? rows[i].link : NULL) == 0);
  }
}

static FabImportedMachine *
machine_with (const char *accelerator)
{
  FabImportedMachine *machine = fab_imported_machine_new ("test");

  machine->accelerator = accelerator;
  return machine;
}

/* NVIDIA and AMD, as in the public pci.ids list. */
static void
pci_ids_say_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint vendor, device;
    const char *accelerator, *note;
  } rows[] = {
    { 0x10de, 0x20b2, "a100-sxm4-80gb", "7 read: accelerator: a100-sxm4-80gb, by its PCI id 10de:20b2\n" },
    { 0x1002, 0x740f, "mi210", "7 read: accelerator: mi210, by its PCI id 1002:740f\n" },
    { 0x1002, 0x74a0, "mi300a", "7 read: accelerator: mi300a, by its PCI id 1002:74a0\n" },
    { 0x1002, 0x66a0, "mi50",
      "7 inferred: accelerator: mi50 stands in for MI60 (PCI id 1002:66a0), which the catalogue lacks; "
      "--accelerator names "
      "another\n" },
    { 0x1002, 0x20b2, NULL, "" },
    { 0x10de, 0x0001, NULL, "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = machine_with (NULL);
    gboolean is_found = fab_known_accelerator_by_pci (machine, 7, rows[i].vendor, rows[i].device);
    g_autofree char *notes = notes_told (machine->notes);

    assert_true (is_found == (rows[i].accelerator != NULL));
    assert_true (g_strcmp0 (machine->accelerator, rows[i].accelerator) == 0);
    assert_string_equal (notes, rows[i].note);
  }
}

static void
architectures_say_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint sm;
    const char *accelerator;
  } sms[] = { { 60, "p100-sxm2" },
              { 70, "v100-sxm2-16gb" },
              { 75, "t4" },
              { 80, "a100-sxm4-80gb" },
              { 86, "rtx3090" },
              { 89, "l40s" },
              { 90, "h100-sxm5-80gb" },
              { 100, "b200-sxm" },
              { 61, NULL },
              { 0, NULL },
              { 101, NULL } };
  static const char *const gfx[][2] = { { "gfx906", "mi50" },
                                        { "906", "mi50" },
                                        { "gfx908", "mi100" },
                                        { "gfx90a", "mi250x-gcd" },
                                        { "gfx910", "mi250x-gcd" },
                                        { "gfx942", "mi300x" },
                                        { "gfx940", "mi300x" },
                                        { "gfx950", "mi355x" },
                                        { "gfx1100", NULL },
                                        { "x906", NULL },
                                        { "", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (sms); i++)
    assert_true (g_strcmp0 (fab_known_sm (sms[i].sm), sms[i].accelerator) == 0);
  for (guint i = 0; i < G_N_ELEMENTS (gfx); i++)
    assert_true (g_strcmp0 (fab_known_gfx (gfx[i][0]), gfx[i][1]) == 0);
}

/* CPUID models: Linux intel-family.h. 0x8f, 0xaf and 0xbf are families 23, 25 and 26 as CPUID packs them. */
static void
processors_say_their_link (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *vendor;
    guint family, model;
    const char *link;
  } rows[] = {
    { "GenuineIntel", 6, 63, "qpi-socket-broadwell" },
    { "GenuineIntel", 6, 79, "qpi-socket-broadwell" },
    { "GenuineIntel", 6, 85, "upi-socket-skylake" },
    { "GenuineIntel", 6, 106, "upi-socket-icelake" },
    { "GenuineIntel", 6, 143, "upi-socket-sapphire-rapids" },
    { "GenuineIntel", 6, 207, "upi-socket-emerald-rapids" },
    { "GenuineIntel", 6, 84, NULL },
    { "GenuineIntel", 6, 86, NULL },
    { "GenuineIntel", 7, 85, NULL },
    { "AuthenticAMD", 6, 85, NULL },
    { "AuthenticAMD", 23, 0, "xgmi-socket-rome" },
    { "AuthenticAMD", 23, 255, "xgmi-socket-rome" },
    { "AuthenticAMD", 23, 256, NULL },
    { "AuthenticAMD", 25, 0, "xgmi-socket-rome" },
    { "AuthenticAMD", 25, 15, "xgmi-socket-rome" },
    { "AuthenticAMD", 25, 16, "xgmi-socket-genoa" },
    { "AuthenticAMD", 25, 255, "xgmi-socket-genoa" },
    { "AuthenticAMD", 26, 0, "xgmi-socket-genoa" },
    { "AuthenticAMD", 26, 255, "xgmi-socket-genoa" },
    { "AuthenticAMD", 0x8f, 49, "xgmi-socket-rome" },
    { "AuthenticAMD", 0xaf, 1, "xgmi-socket-rome" },
    { "AuthenticAMD", 0xaf, 17, "xgmi-socket-genoa" },
    { "AuthenticAMD", 0xbf, 2, "xgmi-socket-genoa" },
    { "AuthenticAMD", 22, 0, NULL },
    { "AuthenticAMD", 0x8e, 49, NULL },
    { NULL, 6, 85, NULL },
  };
  static const char *const named[][2] = { { "POWER8E (raw)", "xbus-power8" },
                                          { "POWER9, altivec supported", "xbus-power9" },
                                          { "NVIDIA Grace A02", "nv-grace-socket" },
                                          { "Neoverse-N1", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_strcmp0 (fab_known_socket (rows[i].vendor, rows[i].family, rows[i].model), rows[i].link) != 0)
      fail_msg ("%s %u %u", rows[i].vendor, rows[i].family, rows[i].model);
  for (guint i = 0; i < G_N_ELEMENTS (named); i++)
    assert_true (g_strcmp0 (fab_known_socket_named (named[i][0]), named[i][1]) == 0);
}

/* A generation doubles the rate of the one before, so that generation 1 x16 is as fast as generation 3 x4. */
static void
pcie_has_generations_and_widths (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint generation, lanes;
    const char *link;
  } rows[] = { { 3, 16, "pcie3-x16" }, { 4, 8, "pcie4-x8" },   { 5, 4, "pcie5-x4" },  { 6, 2, "pcie6-x2" },
               { 7, 1, "pcie7-x1" },   { 8, 16, "pcie7-x16" }, { 2, 16, "pcie3-x8" }, { 1, 16, "pcie3-x4" },
               { 2, 8, "pcie3-x4" },   { 1, 8, "pcie3-x2" },   { 1, 4, "pcie3-x1" },  { 1, 2, "pcie3-x1" },
               { 2, 1, "pcie3-x1" },   { 4, 32, "pcie4-x16" }, { 4, 12, "pcie4-x8" }, { 4, 0, "pcie4-x1" },
               { 4, 3, "pcie4-x2" } };
  static const struct {
    const char *speed;
    guint generation;
  } speeds[] = { { "2.5 GT/s PCIe", 1 },
                 { "2.4", 0 },
                 { "5 GT/s", 2 },
                 { "5.0 GT/s PCIe", 2 },
                 { "8.0 GT/s PCIe", 3 },
                 { "8 GT/s", 3 },
                 { "7.9", 2 },
                 { "16.0 GT/s PCIe", 4 },
                 { "32.0 GT/s PCIe", 5 },
                 { "64.0 GT/s PCIe", 6 },
                 { "128", 7 },
                 { "256", 7 },
                 { "inf", 7 },
                 { "nan", 0 },
                 { "", 0 },
                 { NULL, 0 },
                 { "Unknown", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = machine_with ("h100-sxm5-80gb");
    g_autofree char *notes = NULL, *expected = NULL;

    assert_string_equal (fab_known_pcie (machine, 5, rows[i].generation, rows[i].lanes), rows[i].link);
    notes = notes_told (machine->notes);
    expected = g_strdup_printf (
        "5 inferred: PCIe generation %u is not in the catalogue: pcie3 with fewer lanes is as fast. Cards that "
        "idle fall back to it, so look at one that works\n",
        rows[i].generation);
    assert_string_equal (notes, rows[i].generation < 3 ? expected : "");
  }
  for (guint i = 0; i < G_N_ELEMENTS (speeds); i++)
    assert_int_equal (fab_known_pcie_generation (speeds[i].speed), speeds[i].generation);
}

static void
pcie_is_usually_that_of_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = { { "v100-sxm2-16gb", "pcie3-x16" },
                                         { "l40s", "pcie4-x16" },
                                         { "h100-sxm5-80gb", "pcie5-x16" },
                                         { "b300-sxm", "pcie6-x16" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = machine_with (rows[i][0]);

    assert_string_equal (fab_known_usual_pcie (machine), rows[i][1]);
    assert_int_equal (machine->notes->len, 0);
  }
}

static void
ports_have_entries_of_their_rate (G_GNUC_UNUSED void **state)
{
  static const struct {
    FabPortKind kind;
    const char *name;
    guint mbps;
    const char *entry, *note;
  } rows[] = {
    { FAB_PORT_INFINIBAND, "mlx5_0", 100000, "ib-edr", "" },
    { FAB_PORT_INFINIBAND, NULL, 200000, "ib-hdr", "" },
    { FAB_PORT_INFINIBAND, NULL, 400000, "ib-ndr", "" },
    { FAB_PORT_INFINIBAND, NULL, 800000, "ib-xdr", "" },
    { FAB_PORT_INFINIBAND, NULL, 56000, "ib-edr",
      "9 inferred: InfiniBand at 56 Gb/s is not in the catalogue: the entry of 100 Gb/s stands for it\n" },
    { FAB_PORT_INFINIBAND, NULL, 399999, "ib-hdr",
      "9 inferred: InfiniBand at 399 Gb/s is not in the catalogue: the entry of 200 Gb/s stands for it\n" },
    { FAB_PORT_INFINIBAND, NULL, 1600000, "ib-xdr",
      "9 inferred: InfiniBand at 1600 Gb/s is not in the catalogue: the entry of 800 Gb/s stands for it\n" },
    { FAB_PORT_ETHERNET, NULL, 25000, "roce-25", "" },
    { FAB_PORT_ETHERNET, NULL, 50000, "roce-50", "" },
    { FAB_PORT_ETHERNET, NULL, 100000, "roce-100", "" },
    { FAB_PORT_ETHERNET, NULL, 200000, "roce-200", "" },
    { FAB_PORT_ETHERNET, NULL, 400000, "roce-400", "" },
    { FAB_PORT_ETHERNET, NULL, 800000, "roce-800", "" },
    { FAB_PORT_ETHERNET, NULL, 10000, "roce-25",
      "9 inferred: Ethernet at 10 Gb/s is not in the catalogue: the entry of 25 Gb/s stands for it\n" },
    { FAB_PORT_ETHERNET, NULL, 40000, "roce-25",
      "9 inferred: Ethernet at 40 Gb/s is not in the catalogue: the entry of 25 Gb/s stands for it\n" },
    { FAB_PORT_ETHERNET, NULL, 1600000, "roce-800",
      "9 inferred: Ethernet at 1600 Gb/s is not in the catalogue: the entry of 800 Gb/s stands for it\n" },
    { FAB_PORT_ETHERNET, NULL, 1600001, "ib-hdr",
      "9 inferred: NIC ports: a speed of 1600001 Mb/s, that is 1600 Gb/s, is more than any port has, so it "
      "does not count; what unit "
      "was meant?\n9 inferred: NIC ports: ib-hdr, the usual ones beside a100-sxm4-80gb; --nic names others\n" },
    { FAB_PORT_ETHERNET, NULL, 0, "ib-hdr",
      "9 inferred: NIC ports: ib-hdr, the usual ones beside a100-sxm4-80gb; --nic names others\n" },
    { FAB_PORT_UNKNOWN, NULL, 100000, "ib-hdr",
      "9 inferred: NIC ports: ib-hdr, the usual ones beside a100-sxm4-80gb; --nic names others\n" },
    { FAB_PORT_ETHERNET, "rdmap16s27", 100000, "efa-v1",
      "9 inferred: NIC ports: efa-v1, as 'rdmap16s27' is a name of EFA and efa-v1 usually stands beside "
      "a100-sxm4-80gb; --nic names another\n" },
    { FAB_PORT_UNKNOWN, "efa_0", 0, "efa-v1",
      "9 inferred: NIC ports: efa-v1, as 'efa_0' is a name of EFA and efa-v1 usually stands beside "
      "a100-sxm4-80gb; --nic names another\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = machine_with ("a100-sxm4-80gb");
    g_autofree char *notes = NULL;

    assert_string_equal (fab_known_port (machine, 9, rows[i].kind, rows[i].name, rows[i].mbps),
                         rows[i].entry);
    notes = notes_told (machine->notes);
    assert_string_equal (notes, rows[i].note);
    assert_true (fab_known_is_port_speed (rows[i].mbps) == (rows[i].mbps <= 1600000));
  }
}

/* pci.ids: Mellanox 15b3, HPE 17db, Intel 8086, Amazon 1d0f. */
static void
adapters_are_known_by_their_pci_ids (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint vendor, device;
    FabPortKind kind;
    const char *entry, *product, *more;
  } rows[] = {
    { 0x15b3, 0x1013, FAB_PORT_INFINIBAND, "ib-edr", "ConnectX-4", "" },
    { 0x15b3, 0x1017, FAB_PORT_ETHERNET, "roce-100", "ConnectX-5", "" },
    { 0x15b3, 0x1019, FAB_PORT_UNKNOWN, "ib-edr", "ConnectX-5 Ex",
      " and with InfiniBand, which the text does not say" },
    { 0x15b3, 0x101b, FAB_PORT_ETHERNET, "roce-200", "ConnectX-6", "" },
    { 0x15b3, 0x101d, FAB_PORT_ETHERNET, "roce-100", "ConnectX-6 Dx", "" },
    { 0x15b3, 0x1021, FAB_PORT_INFINIBAND, "ib-ndr", "ConnectX-7", "" },
    { 0x15b3, 0x1023, FAB_PORT_INFINIBAND, "ib-xdr", "ConnectX-8", "" },
    { 0x15b3, 0xa2d6, FAB_PORT_ETHERNET, "roce-200", "BlueField-2", "" },
    { 0x15b3, 0xa2dc, FAB_PORT_ETHERNET, "roce-400", "BlueField-3", "" },
    { 0x17db, 0x0501, FAB_PORT_UNKNOWN, "slingshot-11", "Slingshot 11", "" },
    { 0x8086, 0x24f0, FAB_PORT_ETHERNET, "opa-100", "Omni-Path 100", "" },
    { 0x8086, 0x24f1, FAB_PORT_UNKNOWN, "opa-100", "Omni-Path 100", "" },
    { 0x1d0f, 0xefa0, FAB_PORT_UNKNOWN, "efa-v2", NULL, NULL },
    { 0x1d0f, 0xefaf, FAB_PORT_UNKNOWN, "efa-v2", NULL, NULL },
    { 0x1d0f, 0xefb0, FAB_PORT_UNKNOWN, NULL, NULL, NULL },
    { 0x1d0e, 0xefa0, FAB_PORT_UNKNOWN, NULL, NULL, NULL },
    { 0x15b3, 0x1016, FAB_PORT_INFINIBAND, NULL, NULL, NULL },
    { 0x8086, 0x1021, FAB_PORT_INFINIBAND, NULL, NULL, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = machine_with ("h100-sxm5-80gb");
    const char *entry = fab_known_port_by_pci (machine, 3, rows[i].vendor, rows[i].device, rows[i].kind);
    g_autofree char *notes = notes_told (machine->notes), *expected = NULL;

    assert_true (g_strcmp0 (entry, rows[i].entry) == 0);
    if (rows[i].product != NULL)
      expected = g_strdup_printf (
          "3 inferred: NIC ports: %s, as the PCI id %04x:%04x is a %s, at its full rate%s; --nic names another\n",
          rows[i].entry, rows[i].vendor, rows[i].device, rows[i].product, rows[i].more);
    else if (rows[i].entry != NULL)
      expected = g_strdup_printf (
          "3 inferred: NIC ports: efa-v2, as the PCI id 1d0f:%04x is one of EFA and efa-v2 usually stands beside "
          "h100-sxm5-80gb; --nic names another\n",
          rows[i].device);
    assert_string_equal (notes, expected ? expected : "");
  }
}

/* --- numbers of links --- */

/* GPUs at `n_hosts` hosts, as many at each; `parts` are theirs. */
static FabImportedMachine *
machine_of (const char *accelerator, guint n, guint n_hosts, guint *parts)
{
  FabImportedMachine *machine = machine_with (accelerator);

  for (guint host = 0; host < n_hosts; host++)
    (void) fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL,
                                     G_MAXUINT);
  for (guint i = 0; i < n; i++)
    parts[i] = fab_imported_machine_add (machine, FAB_IMPORTED_MACHINE_GPU, i * n_hosts / n, "pcie4-x16",
                                         G_MAXUINT);
  machine->socket_link = "upi-socket-skylake";
  return machine;
}

enum { MOST_GPUS = 16 };

/* The matrix of n GPUs in which each pair has `count` links (NULL: all), or those pairs "01 23" that are named. */
static void
wire_pairs (guint n, guint count, const char *pairs, guint *n_links)
{
  memset (n_links, 0, MOST_GPUS * MOST_GPUS * sizeof *n_links);
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < n; j++)
      n_links[i * n + j] = pairs == NULL && i != j ? count : 0;
  for (const char *at = pairs; at != NULL && *at != '\0'; at += strspn (at + 2, " ") + 2) {
    guint i = (guint) (at[0] - '0'), j = (guint) (at[1] - '0');

    n_links[i * n + j] = n_links[j * n + i] = count;
  }
}

/* NVn of nvidia-smi: 8 GPUs at a switch show NV18 or NV12 to each other; without one the links of a GPU add up. */
static void
numbers_of_links_say_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n, count;
    const char *pairs, *accelerator, *reason;
  } rows[] = {
    { 8, 18, NULL, "h100-sxm5-80gb", "from 18 NVLinks per GPU" },
    { 8, 12, NULL, "a100-sxm4-80gb", "from 12 NVLinks per GPU" },
    { 8, 6, NULL, "v100-sxm2-16gb", "from 6 NVLinks per GPU" },
    { 4, 4, NULL, "a100-sxm4-80gb", "from 12 NVLinks per GPU" },
    { 4, 6, NULL, "h100-sxm5-80gb", "from 18 NVLinks per GPU" },
    { 4, 7, NULL, "a100-sxm4-80gb", "from 7 NVLinks per GPU" },
    { 4, 2, NULL, "v100-sxm2-16gb", "from 6 NVLinks per GPU" },
    { 3, 2, NULL, "p100-sxm2", "from 4 NVLinks per GPU" },
    { 3, 1, NULL, "rtx2080ti", "from 2 NVLinks per GPU" },
    { 2, 4, NULL, "rtx3090",
      "from 4 NVLinks per GPU (2 Turing, 4 RTX 3090 or P100, 6 V100, 12 A100, 18 H100 or B200; two PCIe cards "
      "with bridges print the same)" },
    { 2, 2, NULL, "rtx2080ti",
      "from 2 NVLinks per GPU (2 Turing, 4 RTX 3090 or P100, 6 V100, 12 A100, 18 H100 or B200);" },
    { 2, 1, NULL, "rtx2080ti", "from 1 NVLinks per GPU" },
    { 2, 3, NULL, "v100-sxm2-16gb",
      "from 3 NVLinks per GPU (2 Turing, 4 RTX 3090 or P100, 6 V100, 12 A100, 18 H100 or B200);" },
    { 2, 5, NULL, "v100-sxm2-16gb", "from 5 NVLinks per GPU" },
    { 2, 7, NULL, "a100-sxm4-80gb", "from 7 NVLinks per GPU" },
    { 2, 12, NULL, "a100-sxm4-80gb", "from 12 NVLinks per GPU" },
    { 2, 13, NULL, "h100-sxm5-80gb", "from 13 NVLinks per GPU" },
    { 4, 4, "01 23", "rtx-a6000", "as 4 NVLinks join pairs only" },
    { 4, 8, "01 23", "a100-pcie-80gb", "as 8 NVLinks join pairs only" },
    { 4, 12, "02 13", "a100-pcie-80gb", "as 12 NVLinks join pairs only" },
    { 3, 18, "12", "h100-nvl-94gb", "as 18 NVLinks join pairs only" },
    { 4, 6, "01 23", "v100-sxm2-16gb", "from 6 NVLinks per GPU" },
    { 4, 4, "01 12", "a100-sxm4-80gb", "from 8 NVLinks per GPU" },
    { 4, 0, NULL, "l40s", "as there is no NVLink" },
    { 1, 0, NULL, "l40s", "as there is no NVLink" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = machine_with (NULL);
    guint n_links[MOST_GPUS * MOST_GPUS];
    const char *name;

    wire_pairs (rows[i].n, rows[i].count, rows[i].pairs, n_links);
    name = fab_nvlink_accelerator (machine, 4, rows[i].n, n_links);
    g_autofree char *notes = notes_told (machine->notes);
    g_autofree char *start = g_strdup_printf ("4 inferred: accelerator: %s", rows[i].accelerator);
    if (strcmp (name, rows[i].accelerator) != 0 || strstr (notes, rows[i].reason) == NULL
        || !g_str_has_prefix (notes, start))
      fail_msg ("%u %u: %s", rows[i].n, rows[i].count, notes);
  }
}

/* Every pair of an NVSwitch shows the total of a GPU; direct links of a GPU add up to its total, of 18 at most. */
static void
links_are_direct_or_go_to_a_switch (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *accelerator;
    guint n, count;
    const char *pairs, *links, *notes;
  } rows[] = {
    { "h100-sxm5-80gb", 8, 18, NULL, "{from: gpu, to: nvswitch, link: nvlink4, count: 18}\n",
      "2 read: all 8 GPUs are NV18 to each other\n"
      "2 inferred: one NVSwitch with 18 nvlink4 to each GPU: more than 18 direct links for 7 peers cannot be\n" },
    { "a100-sxm4-80gb", 3, 12, NULL, "{from: gpu, to: nvswitch, link: nvlink3, count: 12}\n",
      "2 read: all 3 GPUs are NV12 to each other\n"
      "2 inferred: one NVSwitch with 12 nvlink3 to each GPU: more than 12 direct links for 2 peers cannot be\n" },
    /* one pair without links, whichever it is: no switch */
    { "h100-sxm5-80gb", 3, 18, "01 02",
      "{from: gpu0, to: gpu1, link: nvlink4, count: 18}\n{from: gpu0, to: gpu2, link: nvlink4, count: 18}\n",
      "2 read: 2 of the pairs of 3 GPUs are joined by NVLink, directly\n" },
    { "h100-sxm5-80gb", 3, 18, "01 12",
      "{from: gpu0, to: gpu1, link: nvlink4, count: 18}\n{from: gpu1, to: gpu2, link: nvlink4, count: 18}\n",
      "2 read: 2 of the pairs of 3 GPUs are joined by NVLink, directly\n" },
    { "h100-sxm5-80gb", 3, 18, "02 12",
      "{from: gpu0, to: gpu2, link: nvlink4, count: 18}\n{from: gpu1, to: gpu2, link: nvlink4, count: 18}\n",
      "2 read: 2 of the pairs of 3 GPUs are joined by NVLink, directly\n" },
    { "l40s", 4, 8, NULL, "{from: gpu, to: nvswitch, link: nvlink3, count: 8}\n",
      "2 read: all 4 GPUs are NV8 to each other\n"
      "2 inferred: one NVSwitch with 8 nvlink3 to each GPU: more than 18 direct links for 3 peers cannot be\n" },
    { "mi300x", 4, 6, NULL, "{from: gpu, to: gpu, link: nvlink3, count: 6, map: all}\n",
      "2 read: 6 of the pairs of 4 GPUs are joined by NVLink, directly\n" },
    { "h100-sxm5-80gb", 2, 18, NULL, "{from: gpu, to: gpu, link: nvlink4, count: 18, map: all}\n",
      "2 read: 1 of the pairs of 2 GPUs is joined by NVLink, directly\n" },
    { "a100-sxm4-80gb", 4, 4, NULL, "{from: gpu, to: gpu, link: nvlink3, count: 4, map: all}\n",
      "2 read: 6 of the pairs of 4 GPUs are joined by NVLink, directly\n" },
    { "a100-pcie-80gb", 4, 12, "01 23",
      "{from: gpu0, to: gpu1, link: nvlink3-bridge, count: 12}\n{from: gpu2, to: gpu3, link: nvlink3-bridge, "
      "count: 12}\n",
      "2 read: 2 of the pairs of 4 GPUs are joined by NVLink, directly\n" },
    { "v100-sxm2-16gb", 3, 1, "02", "{from: gpu0, to: gpu2, link: nvlink2}\n",
      "2 read: 1 of the pairs of 3 GPUs is joined by NVLink, directly\n" },
    { "l40s", 4, 0, NULL, "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint n_links[MOST_GPUS * MOST_GPUS], parts[MOST_GPUS];
    g_autoptr (FabImportedMachine) machine = machine_of (rows[i].accelerator, rows[i].n, 1, parts);

    wire_pairs (rows[i].n, rows[i].count, rows[i].pairs, n_links);
    fab_nvlink_add (machine, 2, rows[i].n, n_links, parts);
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);
    assert_string_equal (links, rows[i].links);
    assert_string_equal (notes, rows[i].notes);
  }
}

static void
texts_without_links_are_told_apart (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *accelerator;
    guint n;
    const char *links, *notes;
  } rows[] = {
    { "h100-sxm5-80gb", 2, "{from: gpu, to: nvswitch, link: nvlink4, count: 18}\n",
      "6 inferred: one NVSwitch with 18 nvlink4 to each GPU: the text shows PCIe only, and machines with "
      "h100-sxm5-80gb have it\n" },
    { "h100-sxm5-80gb", 1, "", "" },
    { "v100-sxm2-16gb", 2, "",
      "6 inferred: PCIe only: the text shows no nvlink2, and how it would be wired is not known\n" },
    { "v100-sxm2-16gb", 1, "", "" },
    { "l40s", 4, "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint parts[MOST_GPUS];
    g_autoptr (FabImportedMachine) machine = machine_of (rows[i].accelerator, rows[i].n, 1, parts);

    fab_nvlink_assume (machine, 6, rows[i].n, parts);
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);
    assert_string_equal (links, rows[i].links);
    assert_string_equal (notes, rows[i].notes);
  }
}

static void
sockets_are_joined_as_usual (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_hosts;
    const char *cpu, *found, *link, *notes;
  } rows[] = {
    { 2, "X1", "xbus-power9", "xbus-power9", "" },
    { 2, "X1", NULL, "xgmi-socket-rome",
      "8 inferred: between hosts: xgmi-socket-rome, often seen beside a100-sxm4-80gb; the links of the CPU "
      "'X1' are not in the table\n" },
    { 2, NULL, NULL, "xgmi-socket-rome",
      "8 inferred: between hosts: xgmi-socket-rome, often seen beside a100-sxm4-80gb; the text names no CPU\n" },
    { 1, NULL, NULL, "xgmi-socket-rome", "" },
    { 1, "X1", NULL, "xgmi-socket-rome", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint parts[MOST_GPUS];
    g_autoptr (FabImportedMachine) machine = machine_of ("a100-sxm4-80gb", 2, rows[i].n_hosts, parts);

    fab_nvlink_sockets (machine, 8, rows[i].cpu, rows[i].found);
    g_autofree char *notes = notes_told (machine->notes);
    assert_string_equal (machine->socket_link, rows[i].link);
    assert_string_equal (notes, rows[i].notes);
  }
}

/* --- xGMI --- */

/* All pairs of eight MI300X have a link; an MI50 with more peers than links is in a ring; a die of MI250X has links
 * to four others, four of the links to the one in its package. */
static void
xgmi_is_a_mesh_or_a_ring (G_GNUC_UNUSED void **state)
{
  static const char dies[] =
      "{from: gpu0, to: gpu1, link: xgmi-mi250x, count: 4}\n{from: gpu0, to: gpu2, link: xgmi-mi250x}\n"
      "{from: gpu0, to: gpu6, link: xgmi-mi250x, count: 2}\n{from: gpu1, to: gpu3, link: xgmi-mi250x}\n"
      "{from: gpu1, to: gpu5, link: xgmi-mi250x}\n{from: gpu2, to: gpu3, link: xgmi-mi250x, count: 4}\n"
      "{from: gpu2, to: gpu4, link: xgmi-mi250x, count: 2}\n{from: gpu3, to: gpu7, link: xgmi-mi250x}\n"
      "{from: gpu4, to: gpu5, link: xgmi-mi250x, count: 4}\n{from: gpu4, to: gpu6, link: xgmi-mi250x}\n"
      "{from: gpu5, to: gpu7, link: xgmi-mi250x}\n{from: gpu6, to: gpu7, link: xgmi-mi250x, count: 4}\n";
  static const struct {
    const char *accelerator;
    guint n;
    const char *pairs, *links, *notes;
  } rows[] = {
    { "mi300x", 8, NULL, "{from: gpu, to: gpu, link: xgmi-mi300x, map: all}\n",
      "3 inferred: one xgmi-mi300x on each of the 28 pairs with xGMI: the text does not count links\n" },
    { "mi100", 4, NULL, "{from: gpu, to: gpu, link: xgmi-mi100, map: all}\n",
      "3 inferred: one xgmi-mi100 on each of the 6 pairs with xGMI: the text does not count links\n" },
    { "mi50", 4, NULL,
      "{from: gpu0, to: gpu1, link: xgmi-mi100}\n{from: gpu0, to: gpu3, link: xgmi-mi100}\n{from: gpu1, to: "
      "gpu2, link: xgmi-mi100}\n"
      "{from: gpu2, to: gpu3, link: xgmi-mi100}\n",
      "3 inferred: xGMI: mi50 has 2 links for 3 peers, so that the GPUs of a hive are a ring in their order\n" },
    /* hives of 0 2 4 6 and 1 3 5 7 */
    { "mi50", 8, "02 04 06 24 26 46 13 15 17 35 37 57",
      "{from: gpu0, to: gpu2, link: xgmi-mi100}\n{from: gpu0, to: gpu6, link: xgmi-mi100}\n{from: gpu1, to: "
      "gpu3, link: xgmi-mi100}\n"
      "{from: gpu1, to: gpu7, link: xgmi-mi100}\n{from: gpu2, to: gpu4, link: xgmi-mi100}\n{from: gpu3, to: "
      "gpu5, link: xgmi-mi100}\n"
      "{from: gpu4, to: gpu6, link: xgmi-mi100}\n{from: gpu5, to: gpu7, link: xgmi-mi100}\n",
      "3 inferred: xGMI: mi50 has 2 links for 3 peers, so that the GPUs of a hive are a ring in their order\n" },
    /* a hive of four, and one of two, which has one link */
    { "mi50", 8, "02 04 06 24 26 46 13",
      "{from: gpu0, to: gpu2, link: xgmi-mi100}\n{from: gpu0, to: gpu6, link: xgmi-mi100}\n{from: gpu1, to: "
      "gpu3, link: xgmi-mi100}\n{from: gpu2, to: gpu4, link: xgmi-mi100}\n{from: gpu4, to: gpu6, link: xgmi-mi100}\n",
      "3 inferred: xGMI: mi50 has 2 links for 3 peers, so that the GPUs of a hive are a ring in their order\n" },
    { "mi50", 4, "01 23",
      "{from: gpu0, to: gpu1, link: xgmi-mi100}\n{from: gpu2, to: gpu3, link: xgmi-mi100}\n",
      "3 inferred: one xgmi-mi100 on each of the 2 pairs with xGMI: the text does not count links\n" },
    { "mi250x-gcd", 8, NULL, dies,
      "3 inferred: xGMI: the text says that 8 dies are peers and not which links join them; they are wired as "
      "in the catalogue's node "
      "mi250x\n" },
    { "mi250x-gcd", 4, NULL, "{from: gpu, to: gpu, link: xgmi-mi250x, map: all}\n",
      "3 inferred: one xgmi-mi250x on each of the 6 pairs with xGMI: the text does not count links (MI250X "
      "has up to four on some)\n" },
    { "mi250x-gcd", 8, "01 02 03 04",
      "{from: gpu0, to: gpu1, link: xgmi-mi250x}\n{from: gpu0, to: gpu2, link: xgmi-mi250x}\n"
      "{from: gpu0, to: gpu3, link: xgmi-mi250x}\n{from: gpu0, to: gpu4, link: xgmi-mi250x}\n",
      "3 inferred: one xgmi-mi250x on each of the 4 pairs with xGMI: the text does not count links (MI250X "
      "has up to four on some)\n" },
    { "l40s", 2, NULL, "",
      "3 left out: left out: xGMI, as the catalogue knows no xGMI links of l40s; --accelerator names another\n" },
    { "h100-sxm5-80gb", 2, NULL, "",
      "3 left out: left out: xGMI, as the catalogue knows no xGMI links of h100-sxm5-80gb; --accelerator "
      "names another\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint wired[MOST_GPUS * MOST_GPUS], parts[MOST_GPUS];
    g_autoptr (FabImportedMachine) machine = machine_of (rows[i].accelerator, rows[i].n, 1, parts);
    gboolean is_wired[MOST_GPUS * MOST_GPUS];

    wire_pairs (rows[i].n, 1, rows[i].pairs, wired);
    for (guint k = 0; k < MOST_GPUS * MOST_GPUS; k++)
      is_wired[k] = wired[k] > 0;
    fab_xgmi_add (machine, 3, rows[i].n, is_wired, parts);
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);
    assert_string_equal (links, rows[i].links);
    assert_string_equal (notes, rows[i].notes);
  }
}

/* IBM's AC922 with four GPUs has three links between a GPU and each of its neighbours, that with six has two. */
static void
power9_shares_the_links_of_its_gpus (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *accelerator, *socket;
    guint n, n_hosts;
    guint count; /* 0: it is no such machine */
  } rows[] = { { "v100-sxm2-16gb", "xbus-power9", 6, 2, 2 }, { "v100-sxm2-32gb", "xbus-power9", 4, 2, 3 },
               { "v100-sxm2-16gb", "xbus-power9", 2, 2, 6 }, { "v100-sxm2-16gb", "xbus-power9", 3, 1, 2 },
               { "v100-sxm2-16gb", "xbus-power9", 4, 1, 0 }, { "v100-sxm2-16gb", "xbus-power9", 5, 2, 0 },
               { "v100-sxm2-16gb", "xbus-power8", 4, 2, 0 }, { "v100-pcie-16gb", "xbus-power9", 4, 2, 0 },
               { "v100-sxm2-16gb", "xbus-power9", 8, 2, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint parts[MOST_GPUS], n_beside = rows[i].n / rows[i].n_hosts;
    g_autoptr (FabImportedMachine) machine = machine_of (rows[i].accelerator, rows[i].n, rows[i].n_hosts,
                                                         parts);
    g_autoptr (GString) expected = g_string_new (NULL);

    machine->socket_link = rows[i].socket;
    assert_true (fab_nvlink_power9 (machine, 5, rows[i].n, parts) == (rows[i].count > 0));
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);
    if (rows[i].count > 0)
      g_string_printf (
          expected,
          "5 inferred: NVLink: %u links of each V100 to its POWER9 and to each other V100 beside it, as in "
          "IBM's AC922, the "
          "only machine that joins the two; the text does not show them\n",
          rows[i].count);
    assert_string_equal (notes, expected->str);
    g_string_truncate (expected, 0);
    if (rows[i].count > 0 && rows[i].n_hosts == 1)
      g_string_append_printf (expected, "{from: gpu, to: gpu, link: nvlink2, count: %u, map: all}\n",
                              rows[i].count);
    for (guint a = 0; a < rows[i].n && rows[i].count > 0 && rows[i].n_hosts > 1; a++)
      for (guint b = a + 1; b < rows[i].n; b++)
        if (a / n_beside == b / n_beside)
          g_string_append_printf (expected, "{from: gpu%u, to: gpu%u, link: nvlink2, count: %u}\n", a, b,
                                  rows[i].count);
    if (rows[i].count > 0)
      g_string_append_printf (expected, "{from: gpu, to: cpu, link: nvlink2-power9, count: %u}\n",
                              rows[i].count);
    if (rows[i].n_hosts > 1)
      g_string_append_printf (expected, "{from: cpu, to: cpu, link: %s, map: all}\n", rows[i].socket);
    assert_string_equal (links, expected->str);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (accelerators_have_their_links),
    cmocka_unit_test (pci_ids_say_the_accelerator),
    cmocka_unit_test (architectures_say_the_accelerator),
    cmocka_unit_test (processors_say_their_link),
    cmocka_unit_test (pcie_has_generations_and_widths),
    cmocka_unit_test (pcie_is_usually_that_of_the_accelerator),
    cmocka_unit_test (ports_have_entries_of_their_rate),
    cmocka_unit_test (adapters_are_known_by_their_pci_ids),
    cmocka_unit_test (numbers_of_links_say_the_accelerator),
    cmocka_unit_test (links_are_direct_or_go_to_a_switch),
    cmocka_unit_test (texts_without_links_are_told_apart),
    cmocka_unit_test (sockets_are_joined_as_usual),
    cmocka_unit_test (xgmi_is_a_mesh_or_a_ring),
    cmocka_unit_test (power9_shares_the_links_of_its_gpus),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
