/* SPDX-License-Identifier: Apache-2.0 */
/* test_machines.c - a machine as a scenario: groups of parts, wires that are one line, notes, and slower wires. */
#include "tests/unit/formats/machine/told.h"

static guint
add (FabImportedMachine *self, FabImportedMachineKind kind, guint parent, const char *link)
{
  return fab_imported_machine_add (self, kind, parent, link, G_MAXUINT);
}

/* Two hosts; below the first a switch with another below it and two GPUs, below the second two bridges with a GPU
 * each. GPUs have the numbers 3, 0, 1 and 2. */
static FabImportedMachine *
made (void)
{
  FabImportedMachine *self = fab_imported_machine_new ("tool");
  guint a = add (self, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL);
  guint b = add (self, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL);
  guint outer = add (self, FAB_IMPORTED_MACHINE_SWITCH, a, "pcie4-x16");
  guint inner = add (self, FAB_IMPORTED_MACHINE_SWITCH, outer, "pcie4-x8");
  guint left = add (self, FAB_IMPORTED_MACHINE_BRIDGE, b, "pcie4-x16"),
        right = add (self, FAB_IMPORTED_MACHINE_BRIDGE, b, "pcie4-x16");
  guint gpus[4];

  gpus[0] = fab_imported_machine_add (self, FAB_IMPORTED_MACHINE_GPU, inner, "pcie4-x16", 3);
  gpus[1] = fab_imported_machine_add (self, FAB_IMPORTED_MACHINE_GPU, inner, "pcie4-x16", 0);
  gpus[2] = fab_imported_machine_add (self, FAB_IMPORTED_MACHINE_GPU, left, "pcie4-x16", 1);
  gpus[3] = fab_imported_machine_add (self, FAB_IMPORTED_MACHINE_GPU, right, "pcie4-x16", 2);
  (void) add (self, FAB_IMPORTED_MACHINE_NIC, left, "pcie4-x16");
  fab_imported_machine_join (self, gpus[0], gpus[1], "nvlink3", 4);
  fab_imported_machine_join (self, gpus[2], gpus[3], "nvlink3", 1);
  self->accelerator = "a100-sxm4-80gb";
  self->nic = "ib-hdr";
  self->socket_link = "xgmi-socket-rome";
  return self;
}

static const char node_text[] = "    accelerator: a100-sxm4-80gb\n    nic: ib-hdr\n    parts:\n"
                                "      - {name: gpu, kind: accelerator, count: 4}\n"
                                "      - {name: nic, kind: nic, count: 1}\n"
                                "      - {name: pcie_switch, kind: switch, count: 1}\n"
                                "      - {name: pcie_switch_b, kind: switch, count: 1}\n"
                                "      - {name: host_bridge, kind: bridge, count: 2}\n"
                                "      - {name: cpu, kind: host, count: 2}\n"
                                "    wires:\n"
                                "      - {from: gpu1, to: gpu2, link: nvlink3}\n"
                                "      - {from: gpu3, to: gpu0, link: nvlink3, count: 4}\n"
                                "      - {from: gpu0, to: pcie_switch_b, link: pcie4-x16}\n"
                                "      - {from: gpu3, to: pcie_switch_b, link: pcie4-x16}\n"
                                "      - {from: gpu1, to: host_bridge0, link: pcie4-x16}\n"
                                "      - {from: gpu2, to: host_bridge1, link: pcie4-x16}\n"
                                "      - {from: nic, to: host_bridge0, link: pcie4-x16}\n"
                                "      - {from: pcie_switch, to: cpu0, link: pcie4-x16}\n"
                                "      - {from: pcie_switch_b, to: pcie_switch, link: pcie4-x8}\n"
                                "      - {from: host_bridge0, to: cpu1, link: pcie4-x16, count: 2}\n"
                                "      - {from: host_bridge1, to: cpu1, link: pcie4-x16}\n"
                                "      - {from: cpu, to: cpu, link: xgmi-socket-rome, map: all}\n"
                                "    source: tool\n";

static void
a_machine_is_a_scenario (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = made ();
  g_autofree char *node = fab_imported_machine_node (machine, "n"), *expected = NULL, *scenario = NULL;

  assert_true (g_str_has_prefix (node, "  - name: n\n"));
  assert_string_equal (node + strlen ("  - name: n\n"), node_text);
  machine->n_nodes = 3;
  fab_imported_machine_read (machine, 1, "first");
  fab_imported_machine_infer (machine, 2, "second %d", 2);
  fab_imported_machine_leave_out (machine, 3, "third");
  fab_imported_machine_read (machine, 4, "first");
  fab_imported_machine_read (machine, 5, "fourth");
  scenario = fab_imported_machine_scenario (machine, "mine", "file\n1");
  expected = g_strconcat (
      "# A machine, from what `tool` prints: file 1\n#\n# Read:\n# - first\n# - fourth\n#\n"
      "# Not in that text, so inferred; change it where you know better:\n# - second 2\n# - third\n\n"
      "name: mine\nsummary: 12x a100-sxm4-80gb, all-reduce of 1 GB\niterations: 1\n\n"
      "cluster:\n  node: mine-node\n  nodes: 3\n\n"
      "job:\n  kind: collective\n  operations:\n    - {op: all_reduce, size: 1GB}\n\n"
      "nodes:\n  - name: mine-node\n",
      node_text, NULL);
  assert_string_equal (scenario, expected);
}

/* Nodes of the catalogue have their NIC beside them; sections stand where they are not empty. */
static void
sections_stand_where_they_are_needed (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("tool");

  machine->node = "dgx-h100";
  machine->nic = "ib-ndr";
  g_string_append (machine->fabric, "    kind: custom\n");
  g_string_append (machine->faults, "  - {what: link}\n");
  g_string_append (machine->own_links, "  - name: own\n");
  g_string_append (machine->other_nodes, "others\n");
  g_autofree char *scenario = fab_imported_machine_scenario (machine, "mine", "f");
  assert_string_equal (
      scenario, "# A machine, from what `tool` prints: f\n#\n# Read:\n#\n"
                "# Not in that text, so inferred; change it where you know better:\n\n"
                "name: mine\nsummary: 1 dgx-h100, all-reduce of 1 GB\niterations: 1\n\n"
                "cluster:\n  node: dgx-h100\n  nodes: 1\n  nic: ib-ndr\n  fabric:\n    kind: custom\n\n"
                "job:\n  kind: collective\n  operations:\n    - {op: all_reduce, size: 1GB}\n\n"
                "faults:\n  - {what: link}\n\nlinks:\n  - name: own\n\nothers\n");
}

/* Wires are one line where they are blocks or all pairs: n GPUs at m switches, GPU i at switch `at (i)`. */
static void
alike_wires_are_one_line (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *at; /* switch of each GPU */
    guint n_switches;
    gboolean is_block;
  } rows[] = { { "0011", 2, TRUE },  { "0101", 2, FALSE }, { "001", 2, TRUE }, { "011", 2, FALSE },
               { "00", 1, TRUE },    { "01", 2, TRUE },    { "10", 2, FALSE }, { "000111222", 3, TRUE },
               { "00112", 3, TRUE }, { "00122", 3, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) self = fab_imported_machine_new ("tool");
    guint host = add (self, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL), switches[9];

    self->accelerator = "l40s";
    for (guint k = 0; k < rows[i].n_switches; k++)
      switches[k] = add (self, FAB_IMPORTED_MACHINE_SWITCH, host, "pcie4-x16");
    for (guint k = 0; rows[i].at[k] != '\0'; k++)
      (void) add (self, FAB_IMPORTED_MACHINE_GPU, switches[rows[i].at[k] - '0'], "pcie4-x16");
    g_autofree char *node = fab_imported_machine_node (self, "n");
    if ((strstr (node, "- {from: gpu, to: pcie_switch, link: pcie4-x16}\n") != NULL) != rows[i].is_block)
      fail_msg ("%s: %s", rows[i].at, node);
    assert_non_null (strstr (node, "- {from: pcie_switch, to: cpu, link: pcie4-x16}\n"));
  }
}

/* Fewer GPUs than switches: switch i is above GPU i n / m. All pairs have map: all; with one count that differs they
 * have lines of their own. */
static void
maps_go_both_ways (G_GNUC_UNUSED void **state)
{
  for (guint odd = 0; odd < 2; odd++) {
    g_autoptr (FabImportedMachine) self = fab_imported_machine_new ("tool");
    guint host = add (self, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL), gpus[3],
          centres[2], nics[4];

    self->accelerator = "l40s";
    for (guint i = 0; i < 3; i++)
      gpus[i] = add (self, FAB_IMPORTED_MACHINE_GPU, host, "pcie4-x16");
    for (guint i = 0; i < 2; i++)
      centres[i] = add (self, FAB_IMPORTED_MACHINE_SCALE_UP, FAB_IMPORTED_MACHINE_NO_PARENT, NULL);
    for (guint i = 0; i < 4; i++)
      nics[i] = add (self, FAB_IMPORTED_MACHINE_NIC, host, "pcie4-x16");
    for (guint i = 0; i < 3; i++)
      for (guint k = 0; k < 2; k++)
        fab_imported_machine_join (self, gpus[i], centres[k], "nvlink4", odd && i == 2 && k == 1 ? 8 : 9);
    for (guint i = 0; i < 4; i++)
      fab_imported_machine_join (self, centres[i / 2], nics[i], "nvlink5", 1);
    g_autofree char *node = fab_imported_machine_node (self, "n");
    assert_non_null (strstr (node, odd ? "- {from: gpu2, to: nvswitch1, link: nvlink4, count: 8}\n"
                                       : "- {from: gpu, to: nvswitch, link: nvlink4, count: 9, map: all}\n"));
    assert_non_null (strstr (node, "- {from: nvswitch, to: nic, link: nvlink5}\n"));
    assert_non_null (strstr (node, "- {from: gpu, to: cpu, link: pcie4-x16}\n"));
  }
}

/* Switches below each other have letters up to z, and those that are deeper are of the last one. */
static void
levels_have_letters (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) self = fab_imported_machine_new ("tool");
  guint above = add (self, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL);

  self->accelerator = "l40s";
  for (guint i = 0; i < 28; i++)
    above = add (self, FAB_IMPORTED_MACHINE_SWITCH, above, "pcie4-x16");
  g_autofree char *node = fab_imported_machine_node (self, "n");
  assert_non_null (strstr (node, "      - {name: pcie_switch, kind: switch, count: 1}\n"
                                 "      - {name: pcie_switch_b, kind: switch, count: 1}\n"));
  assert_non_null (strstr (node, "      - {name: pcie_switch_y, kind: switch, count: 1}\n"
                                 "      - {name: pcie_switch_z, kind: switch, count: 3}\n"
                                 "      - {name: cpu, kind: host, count: 1}\n"));
}

static void
parts_can_be_dropped (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) machine = made ();

  fab_imported_machine_drop (machine, 10); /* the NIC, whose bridge had two trees */
  assert_int_equal (fab_imported_machine_part (machine, 4)->count, 1);
  fab_imported_machine_drop (machine, 7); /* GPU 0 at the inner switch */
  g_autofree char *parts = parts_told (machine), *links = links_told (machine);
  assert_string_equal (
      parts,
      "host 0\nhost 1\nswitch 0 < host 0, pcie4-x16\nswitch 1 < switch 0, pcie4-x8\nbridge 0 < host 1, pcie4-x16\n"
      "bridge 1 < host 1, pcie4-x16\ngpu 3 < switch 1, pcie4-x16\ngpu 1 < bridge 0, pcie4-x16\ngpu 2 < bridge "
      "1, pcie4-x16\n");
  g_autoptr (FabImportedMachine) joined = fab_imported_machine_new ("tool");
  guint host = add (joined, FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL),
        nic = add (joined, FAB_IMPORTED_MACHINE_NIC, host, "pcie4-x16"),
        one = add (joined, FAB_IMPORTED_MACHINE_GPU, host, "pcie4-x16"),
        other = add (joined, FAB_IMPORTED_MACHINE_GPU, host, "pcie4-x16"),
        last = add (joined, FAB_IMPORTED_MACHINE_GPU, host, "pcie4-x16");

  fab_imported_machine_join (joined, one, other, "nvlink3", 4);
  fab_imported_machine_join (joined, other, last, "nvlink3", 2);
  fab_imported_machine_drop (joined, nic);
  g_autofree char *kept = links_told (joined);
  assert_string_equal (kept, "{from: gpu0, to: gpu1, link: nvlink3, count: 4}\n"
                             "{from: gpu1, to: gpu2, link: nvlink3, count: 2}\n");
  assert_int_equal (fab_imported_machine_host (machine, 6), 0);
  assert_int_equal (fab_imported_machine_host (machine, 8), 1);
  assert_int_equal (fab_imported_machine_host (machine, 1), 1);
  assert_non_null (
      strstr (links, "{from: gpu0, to: gpu1, link: nvlink3}\n")); /* of those that were gpu1 and gpu2 */
}

static void
a_node_is_taken_with_its_notes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) network = fab_imported_machine_new ("network"), node = made ();
  g_autofree char *before = parts_told (node), *links_before = links_told (node);

  fab_imported_machine_read (node, 7, "a sentence");
  g_string_append (node->own_links, "own");
  fab_imported_machine_take_node (network, node, "host.xml");
  g_autofree char *parts = parts_told (network), *links = links_told (network),
                  *notes = notes_told (network->notes);
  g_autofree char *yaml = fab_imported_machine_node (network, "n");
  assert_string_equal (parts, before);
  assert_string_equal (links, links_before);
  assert_string_equal (notes, "7 read: host.xml: a sentence\n");
  assert_string_equal (fab_file_note (network->notes, 0)->file, "host.xml");
  assert_string_equal (network->accelerator, "a100-sxm4-80gb");
  assert_string_equal (network->socket_link, "xgmi-socket-rome");
  assert_string_equal (network->own_links->str, "own");
  assert_null (network->nic);
  assert_true (g_str_has_suffix (yaml, "    source: tool\n"));
}

/* Only PCIe links may differ; a slower one has its share of the usual rate. */
static void
slower_wires_are_found (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *link, *usual;
    gboolean is_alike;
    double share; /* 0: it is not slower */
  } rows[] = { { "pcie4-x16", "pcie4-x16", TRUE, 0 },   { "pcie4-x8", "pcie4-x16", TRUE, 0.5 },
               { "pcie3-x16", "pcie4-x16", TRUE, 0.5 }, { "pcie3-x4", "pcie5-x16", TRUE, 1 / 16.0 },
               { "pcie5-x16", "pcie4-x16", TRUE, 0 },   { "nvlink3", "pcie4-x16", FALSE, 0 },
               { "pcie4-x16", "nvlink3", FALSE, 0 },    { "pcie-x16", "pcie4-x16", FALSE, 0 },
               { "pcie4", "pcie4-x16", FALSE, 0 },      { "pcie4-x0", "pcie4-x16", FALSE, 0 },
               { "pcie0-x16", "pcie4-x16", FALSE, 0 },  { "pcie4-x8", "pcie3-x16", TRUE, 0 },
               { "pcie1-x16", "pcie2-x16", TRUE, 0.5 }, { "pcie3-x1", "pcie3-x2", TRUE, 0.5 },
               { "pcie4-x16", "pcie4", FALSE, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) one = made (), usual = made ();

    fab_imported_machine_part (one, 10)->link = rows[i].link;
    fab_imported_machine_part (usual, 10)->link = rows[i].usual;
    g_autoptr (GArray) slow = fab_imported_machine_slow_wires (one, usual);
    assert_true ((slow != NULL) == rows[i].is_alike);
    assert_int_equal (slow ? slow->len : 0, rows[i].share > 0);
    if (rows[i].share > 0) {
      const FabImportedSlowWire *wire = &g_array_index (slow, FabImportedSlowWire, 0);

      assert_string_equal (wire->from, "nic");
      assert_string_equal (wire->to, "host_bridge0");
      assert_near (wire->share, rows[i].share, 1e-12);
    }
  }
}

static void
other_machines_are_not_compared (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabImportedMachine) with_nic = fab_imported_machine_new ("tool"),
                                 with_switch = fab_imported_machine_new ("tool");
  FabImportedMachine *kinds[] = { with_nic, with_switch };

  /* a NIC and a switch stand at the same place */
  for (guint i = 0; i < 2; i++) {
    guint host = add (kinds[i], FAB_IMPORTED_MACHINE_HOST, FAB_IMPORTED_MACHINE_NO_PARENT, NULL);

    (void) add (kinds[i], FAB_IMPORTED_MACHINE_GPU, host, "pcie4-x16");
    (void) add (kinds[i], i == 0 ? FAB_IMPORTED_MACHINE_NIC : FAB_IMPORTED_MACHINE_SWITCH, host, "pcie4-x16");
  }
  assert_null (fab_imported_machine_slow_wires (kinds[0], kinds[1]));
  for (guint what = 0; what < 6; what++) {
    g_autoptr (FabImportedMachine) one = made (), usual = made ();

    switch (what) {
    case 0: one->accelerator = "l40s"; break;
    case 1: fab_imported_machine_drop (one, 10); break;
    case 2: (void) add (one, FAB_IMPORTED_MACHINE_NIC, 4, "pcie4-x16"); break;
    case 3: fab_imported_machine_part (one, 10)->parent = 5; break;
    case 4: fab_imported_machine_join (one, 6, 8, "nvlink3", 1); break;
    default: fab_imported_machine_part (one, 10)->count = 2; break;
    }
    g_autoptr (GArray) slow = fab_imported_machine_slow_wires (one, usual);
    assert_null (slow);
  }
}

/* A NIC that somebody names is that of the NICs of the text; a text without any has none, whatever it is called. */
static void
a_given_nic_needs_nics (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *format, *text;
    gboolean has_nics;
  } rows[] = {
    { "nvidia-smi", "\tGPU0\nGPU0\tX\n", FALSE },
    { "nvidia-smi", "\tGPU0\tmlx5_0\nGPU0\tX\tSYS\nmlx5_0\tSYS\tX\n", TRUE },
    { "nvidia-nvlink", "GPU 0: NVIDIA H200\n\t Link 0: 26.562 GB/s\n", FALSE },
    { "rocm-smi", "Link Type between two GPUs\n GPU0\nGPU0 0\n", FALSE },
    { "nccl-tree", "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000 (0)\n=====\n", FALSE },
    { "nccl-tree",
      "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000 (0)\n+ PCI[24.0] - NIC/2000\n"
      "              + NET[12.5] - NET/0\n=====\n",
      TRUE },
    { "nccl-xml", "<system><cpu><pci class=\"0x030200\"/></cpu></system>", FALSE },
    { "nccl-xml",
      "<system><cpu><pci class=\"0x030200\"/><pci class=\"0x020700\"><nic><net speed=\"200000\"/></nic></pci>"
      "</cpu></system>",
      TRUE },
    { "nccl-xml",
      "<system><cpu><pci class=\"0x030200\"/><pci class=\"0x020000\" vendor=\"0x1d0f\" device=\"0xefa0\"/>"
      "</cpu></system>",
      TRUE },
    { "hwloc",
      "<topology><object type=\"Machine\"><object type=\"PCIDev\" pci_type=\"0302 [10de:2330]\"/></object>"
      "</topology>",
      FALSE },
    { "hwloc",
      "<topology><object type=\"Machine\"><object type=\"PCIDev\" pci_type=\"0302 [10de:2330]\"/>"
      "<object type=\"PCIDev\" pci_type=\"0207 [15b3:1021]\"><object type=\"OSDev\" osdev_type=\"3\"/></object>"
      "</object></topology>",
      TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const FabImportRequest request = { .file = { "x", rows[i].text, strlen (rows[i].text) } };
    const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, rows[i].format);
    g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");
    g_autoptr (GError) error = NULL;

    machine->accelerator = "h100-sxm5-80gb";
    machine->nic = "roce-25";
    if (!format->read.machine (machine, &request, &error))
      fail_msg ("%s", error->message);
    g_autofree char *notes = notes_told (machine->notes);
    if (g_strcmp0 (machine->nic, rows[i].has_nics ? "roce-25" : NULL) != 0)
      fail_msg ("%s%s", rows[i].text, machine->nic);
    assert_null (strstr (notes, "NIC ports:"));
    assert_null (strstr (notes, "accelerator:"));
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_machine_is_a_scenario),  cmocka_unit_test (sections_stand_where_they_are_needed),
    cmocka_unit_test (alike_wires_are_one_line), cmocka_unit_test (maps_go_both_ways),
    cmocka_unit_test (parts_can_be_dropped),     cmocka_unit_test (a_node_is_taken_with_its_notes),
    cmocka_unit_test (slower_wires_are_found),   cmocka_unit_test (other_machines_are_not_compared),
    cmocka_unit_test (a_given_nic_needs_nics),   cmocka_unit_test (levels_have_letters),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
