/* SPDX-License-Identifier: Apache-2.0 */
/* test_xml_machines.c - topologies that NCCL and hwloc write: parts, links, ports and notes are what elements say. */
#include "tests/unit/formats/machine/told.h"

/* Two processors of Intel (Ice Lake). Class 0x0604 is a PCIe switch, 0x0680 an NVSwitch, 0x0207 InfiniBand, 0x0200
 * Ethernet. The slower port is left out, and so is the processor that has nothing else. */
static const MachineCase nccl = {
  "nccl-xml",
  "<system version=\"1\">\n"
  "<cpu numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"106\">\n"
  "<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">\n"
  "<pci busid=\"0000:0A:00.0\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x20b0\" link_speed=\"16.0 GT/s PCIe\" "
  "link_width=\"8\">\n"
  "<gpu dev=\"1\" sm=\"80\" rank=\"1\">\n"
  "<nvlink target=\"0000:c4:00.0\" count=\"6\" tclass=\"0x068000\"/>\n"
  "<nvlink target=\"0000:c5:00.0\" count=\"6\" tclass=\"0x068000\"/>\n"
  "</gpu>\n"
  "</pci>\n"
  "<pci busid=\"0000:0b:00.0\" class=\"0x020700\" vendor=\"0x15b3\" device=\"0x101b\" link_speed=\"8.0 GT/s PCIe\" "
  "link_width=\"16\"><nic>\n"
  "<net name=\"mlx5_0\" dev=\"0\" speed=\"100000\" port=\"1\" guid=\"0x1\"/>\n"
  "<net name=\"mlx5_1\" dev=\"1\" speed=\"200000\" port=\"2\" guid=\"0x506b4b0300a1b2c3\"/>\n"
  "</nic></pci>\n"
  "<pci busid=\"0000:0c:00.0\" class=\"0x020700\"><nic><net name=\"mlx5_2\" speed=\"100000\"/></nic></pci>\n"
  "</pci>\n"
  "</cpu>\n"
  "<cpu numaid=\"1\" vendor=\"GenuineIntel\"><pci busid=\"0000:80:00.0\" class=\"0x020000\"><nic><net name=\"eth0\" "
  "speed=\"10000\"/></nic></pci></cpu>\n"
  "<cpu numaid=\"2\" vendor=\"GenuineIntel\">\n"
  "<pci busid=\"0000:81:00.0\" class=\"0x120000\" vendor=\"0x10de\" device=\"0x20b0\" link_speed=\"16.0 GT/s PCIe\" "
  "link_width=\"255\"><gpu dev=\"0\" sm=\"80\"><nvlink target=\"0000:c4:00.0\" count=\"12\" "
  "tclass=\"0x068000\"/></gpu></pci>\n"
  "</cpu>\n"
  "</system>\n",
  "a100-sxm4-40gb",
  "ib-hdr",
  "upi-socket-icelake",
  1,
  "host 0\nswitch 0 < host 0, pcie4-x16\ngpu 1 < switch 0, pcie4-x8\nnic 0 < switch 0, pcie3-x16, mlx5_1, "
  "506b4b0300a1b2c3, port 2\n"
  "host 1\ngpu 0 < host 1, pcie4-x16\ncentre 0\n",
  "{from: gpu, to: nvswitch, link: nvlink3, count: 12}\n"
  "{from: cpu, to: cpu, link: upi-socket-icelake, map: all}\n",
  "4 read: accelerator: a100-sxm4-40gb, by its PCI id 10de:20b0\n"
  "19 inferred: PCIe: x16 where the file has link_width 255, which no link has; virtual machines print it\n"
  "1 read: 2 GPUs below 2 hosts (NUMA nodes), with the PCIe switches between\n"
  "5 inferred: the NVSwitches are one switch\n"
  "0 read: 2 wires between GPUs, or of GPUs and their switch\n"
  "10 read: 1 NIC\n"
  "14 left out: left out: 2 NICs that are slower than the others\n"
  "2 read: CPU GenuineIntel family 6 model 106, so upi-socket-icelake between hosts\n",
};

static void
elements_are_parts (G_GNUC_UNUSED void **state)
{
  assert_told (&nccl);
}

#define SYSTEM(cpu, pcis) "<system><cpu " cpu ">" pcis "</cpu></system>"
#define GPU(bus, id, rest)                                                                                \
  "<pci busid=\"" bus "\" class=\"0x030200\" " id "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">" rest \
  "</pci>"
#define PORT(class, id, nets)                                                                             \
  "<pci busid=\"9\" class=\"" class "\" " id "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><nic>" nets \
                                    "</nic></pci>"
#define ID(vendor, device) "vendor=\"" vendor "\" device=\"" device "\" "

/* A link without a rate or without a width is that of the accelerator; 32 lanes are as good as 16. */
static void
links_without_a_rate_are_usual (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *attributes, *link;
    gboolean is_known;
  } rows[] = { { "link_speed=\"8 GT/s\" link_width=\"4\"", "pcie3-x4", TRUE },
               { "link_speed=\"8 GT/s\"", "pcie5-x16", FALSE },
               { "link_width=\"4\"", "pcie5-x16", FALSE },
               { "link_speed=\"x\" link_width=\"4\"", "pcie5-x16", FALSE },
               { "link_speed=\"8 GT/s\" link_width=\"32\"", "pcie3-x16", TRUE },
               { "link_speed=\"8 GT/s\" link_width=\"33\"", "pcie3-x16", TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("<system><cpu>\n<pci class=\"0x030200\" %s/></cpu></system>",
                                             rows[i].attributes);
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-xml", "h100-sxm5-80gb", text, NULL);
    g_autofree char *parts = parts_told (machine), *notes = notes_told (machine->notes);
    g_autofree char *expected = g_strdup_printf ("host 0\ngpu 0 < host 0, %s\n", rows[i].link);

    assert_string_equal (parts, expected);
    assert_true (
        (strstr (notes,
                 "2 inferred: PCIe: generation 5 x16 where the file has no link_speed and link_width\n")
         == NULL)
        == rows[i].is_known);
    assert_true ((strstr (notes, "link_width 33") != NULL) == (i == 5));
    assert_null (strstr (notes, "link_width 32"));
  }
}

/* A NIC is called as its fastest port is, the first of those that are as fast. */
static void
nics_are_called_as_their_fastest_port (G_GNUC_UNUSED void **state)
{
  static const char *const speeds[][2] = { { "200000", "100000" },
                                           { "100000", "200000" },
                                           { "200000", "200000" } };

  for (guint i = 0; i < G_N_ELEMENTS (speeds); i++) {
    g_autofree char *text = g_strdup_printf (
        "<system><cpu><pci class=\"0x030200\"/><pci class=\"0x020700\"><nic>"
        "<net name=\"a\" speed=\"%s\"/><net name=\"b\" speed=\"%s\"/></nic></pci></cpu></system>",
        speeds[i][0], speeds[i][1]);
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-xml", "h100-sxm5-80gb", text, NULL);

    g_autofree char *parts = parts_told (machine);

    assert_string_equal (parts, i == 1 ? "host 0\ngpu 0 < host 0, pcie5-x16\nnic 0 < host 0, pcie5-x16, b\n"
                                       : "host 0\ngpu 0 < host 0, pcie5-x16\nnic 0 < host 0, pcie5-x16, a\n");
    assert_string_equal (machine->nic, "ib-hdr");
  }
  g_autoptr (FabImportedMachine) nameless = read_machine (
      "nccl-xml", "h100-sxm5-80gb",
      "<system><cpu><pci class=\"0x030200\"/><pci class=\"0x020700\"/>\n<pci class=\"0x020700\"/></cpu>"
      "<pci class=\"0x020700\"/></system>",
      NULL);
  g_autofree char *parts = parts_told (nameless), *notes = notes_told (nameless->notes);
  assert_string_equal (parts, "host 0\ngpu 0 < host 0, pcie5-x16\nnic 0 < host 0, pcie5-x16\n"
                              "nic 1 < host 0, pcie5-x16\n");
  assert_non_null (strstr (notes, "1 read: 2 NICs\n0 left out: left out: 1 NIC that is below no <cpu>\n"));
}

/* By its PCI id, else by its architecture, else by the generation of its PCIe. */
static void
the_first_gpu_says_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *accelerator, *note;
  } rows[] = {
    { SYSTEM ("", GPU ("1", ID ("0x10de", "0x2330"), "<gpu dev=\"0\" sm=\"80\"/>")), "h100-sxm5-80gb",
      "1 read: accelerator: h100-sxm5-80gb, by its PCI id 10de:2330\n" },
    { SYSTEM ("", GPU ("1", ID ("0x10de", "0x9999"), "<gpu dev=\"0\" sm=\"80\"/>")), "a100-sxm4-80gb",
      "1 inferred: accelerator: a100-sxm4-80gb, the usual one of its architecture (sm 80) and its PCI id "
      "10de:9999 is not in the table; "
      "--accelerator names another\n" },
    { SYSTEM ("", GPU ("1", "device=\"0x2330\" ", "<gpu dev=\"0\" sm=\"90\"/>")), "h100-sxm5-80gb",
      "1 inferred: accelerator: h100-sxm5-80gb, the usual one of its architecture (sm 90) and its PCI id "
      "0000:2330 is not in the table; --accelerator names another\n" },
    { SYSTEM ("", GPU ("1", "", "<gpu dev=\"0\" sm=\"90\"/>")), "h100-sxm5-80gb",
      "1 inferred: accelerator: h100-sxm5-80gb, the usual one of its architecture (sm 90) and the file gives "
      "no PCI id; --accelerator names "
      "another\n" },
    { SYSTEM ("", GPU ("1", "", "<gpu dev=\"0\" sm=\"10\" gcn=\"gfx942\"/>")), "mi300x",
      "1 inferred: accelerator: mi300x, the usual one of its architecture (gcn gfx942) and the file gives no "
      "PCI id; --accelerator names "
      "another\n" },
    { SYSTEM ("", GPU ("1", "", "<gpu dev=\"0\" gcn=\"gfx1200\"/>")), "mi250x-gcd",
      "1 inferred: accelerator: mi250x-gcd stands in, as its PCIe is generation 5 and the file gives no PCI "
      "id; --accelerator names the real "
      "one\n" },
    { SYSTEM ("", GPU ("1", "", "<gpu dev=\"0\" sm=\"12\"/>")), "h100-sxm5-80gb",
      "1 inferred: accelerator: h100-sxm5-80gb stands in, as its PCIe is generation 5 and the file gives no "
      "PCI id; --accelerator names the "
      "real one\n" },
    { SYSTEM ("", "<pci class=\"0x030200\" link_speed=\"16 GT/s\" link_width=\"16\"/>"), "a100-sxm4-80gb",
      "1 inferred: accelerator: a100-sxm4-80gb stands in, as its PCIe is generation 4 and the file gives no "
      "PCI id; --accelerator names the "
      "real one\n" },
    { SYSTEM ("", "<pci class=\"0x030200\" link_speed=\"8 GT/s\" link_width=\"16\"/>"), "v100-sxm2-16gb",
      "1 inferred: accelerator: v100-sxm2-16gb stands in, as its PCIe is generation 3 and the file gives no "
      "PCI id; --accelerator names the "
      "real one\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-xml", NULL, rows[i].text, NULL);
    g_autofree char *notes = notes_told (machine->notes);

    assert_string_equal (machine->accelerator, rows[i].accelerator);
    if (!g_str_has_prefix (notes, rows[i].note))
      fail_msg ("%s", notes);
  }
}

/* A link stands at both ends in the file, and counts once. */
static void
peers_are_joined_once (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *accelerator, *pcis, *links;
  } rows[] = {
    { "v100-sxm2-16gb",
      GPU ("0000:0A:00.0", "",
           "<gpu dev=\"0\"><nvlink target=\"0000:0b:00.0\" count=\"2\" tclass=\"0x030200\"/></gpu>")
          GPU ("0000:0b:00.0", "",
               "<gpu dev=\"1\"><nvlink target=\"0000:0a:00.0\" count=\"2\" tclass=\"0x030200\"/></gpu>"),
      "{from: gpu, to: gpu, link: nvlink2, count: 2, map: all}\n" },
    { "mi300x",
      GPU ("a", "", "<gpu><xgmi target=\"b\"/></gpu>")
          GPU ("b", "", "<gpu><xgmi target=\"a\" count=\"1\"/></gpu>"),
      "{from: gpu, to: gpu, link: xgmi-mi300x, map: all}\n" },
    { "gh200-96gb", GPU ("a", "", "<gpu><c2c bw=\"1\"/></gpu>"), "{from: gpu, to: cpu, link: nvlink-c2c}\n" },
    { "v100-sxm2-16gb", GPU ("a", "", "<gpu><nvlink target=\"x\" count=\"3\" tclass=\"0x068001\"/></gpu>"),
      "{from: gpu, to: cpu, link: nvlink2-power9, count: 3}\n" },
    { "l40s", GPU ("a", "", "<gpu><nvlink target=\"x\" count=\"3\" tclass=\"0x068000\"/></gpu>"),
      "{from: gpu, to: nvswitch, link: nvlink3, count: 3}\n" },
    { "h100-sxm5-80gb", GPU ("a", "", "<gpu><other/></gpu>") GPU ("b", "", ""),
      "{from: gpu, to: nvswitch, link: nvlink4, count: 18}\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("<system><cpu>%s</cpu></system>", rows[i].pcis);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-xml", rows[i].accelerator, text, &error);

    if (machine == NULL)
      fail_msg ("%s", error->message);
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);
    assert_string_equal (links, rows[i].links);
    assert_null (strstr (notes, "is it another accelerator?"));
    assert_true ((strstr (notes, ", and the links nvlink3") != NULL)
                 == (strcmp (rows[i].accelerator, "l40s") == 0));
    assert_true ((strstr (notes, "the text shows PCIe only") != NULL)
                 == (strcmp (rows[i].accelerator, "h100-sxm5-80gb") == 0));
    assert_true ((strstr (notes, "1 wire between GPUs") == NULL)
                 == (strcmp (rows[i].accelerator, "h100-sxm5-80gb") == 0));
  }
}

static void
counts_are_held_against_the_card (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint count;
    gboolean is_good, is_strange;
  } rows[] = { { 0, FALSE, FALSE }, { 1, TRUE, FALSE }, { 6, TRUE, FALSE },
               { 7, TRUE, TRUE },   { 64, TRUE, TRUE }, { 65, FALSE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        "<system><cpu><pci class=\"0x030200\"><gpu>\n<nvlink tclass=\"0x068000\" "
        "count=\"%u\"/></gpu></pci></cpu></system>",
        rows[i].count);
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-xml", "v100-sxm2-16gb", text, &error);
    g_autofree char *notes = machine ? notes_told (machine->notes) : NULL;
    g_autofree char *strange = g_strdup_printf (
        "2 inferred: %u NVLinks in line 2, and v100-sxm2-16gb has 6: is it another accelerator? --accelerator "
        "names it\n",
        rows[i].count);
    g_autofree char *refusal = g_strdup_printf ("x:2: <nvlink count=\"%u\">: from 1 to 64", rows[i].count);

    assert_true ((machine != NULL) == rows[i].is_good);
    if (machine == NULL)
      assert_string_equal (error->message, refusal);
    else
      assert_true ((strstr (notes, strange) != NULL) == rows[i].is_strange);
  }
}

static void
ports_of_a_file_are_of_one_kind (G_GNUC_UNUSED void **state)
{
#define ALONE GPU ("1", ID ("0x10de", "0x2330"), "<gpu dev=\"0\" sm=\"90\"/>")
  static const struct {
    const char *pcis, *nic, *note;
  } rows[] = {
    { PORT ("0x020700", "", "<net name=\"a\" speed=\"400000\"/>"), "ib-ndr", "1 read: 1 NIC\n" },
    { PORT ("0x020000", "", "<net name=\"a\" speed=\"400000\"/>"), "roce-400", "1 read: 1 NIC\n" },
    { PORT ("0x020000", ID ("0x15b3", "0x1021"), ""), "roce-400",
      "as the PCI id 15b3:1021 is a ConnectX-7, at its full rate;" },
    { PORT ("0x020700", ID ("0x15b3", "0x101b"), ""), "ib-hdr",
      "as the PCI id 15b3:101b is a ConnectX-6, at its full rate;" },
    { PORT ("0x020700", ID ("0x1111", "0x101b"), ""), "ib-ndr",
      "NIC ports: ib-ndr, the usual ones beside h100-sxm5-80gb" },
    { PORT ("0x020000", ID ("0x1d0f", "0xefa2"), "<net name=\"x\" speed=\"100000\"/>"), "efa-v2",
      "as the PCI id 1d0f:efa2 is one of EFA" },
    { PORT ("0x020000", ID ("0x15b3", "0x1021"), "<net name=\"x\" speed=\"100000\"/>"), "roce-100",
      "1 read: 1 NIC\n" },
    { PORT ("0x020000", "", "<net name=\"rdmap1\" speed=\"100000\"/>"), "efa-v2",
      "as 'rdmap1' is a name of EFA" },
    { PORT ("0x020000", "", "<net name=\"rdmap1\"/>"), "efa-v2", "as 'rdmap1' is a name of EFA" },
    { PORT ("0x020700", "", "<net name=\"a\" speed=\"400000\"/><net name=\"b\" speed=\"400000\"/>"), "ib-ndr",
      "1 read: 1 NIC\n" },
    { PORT ("0x020700", "", "<net name=\"a\" speed=\"400000\"/><net name=\"rdmap1\" speed=\"200000\"/>"),
      "ib-ndr", "1 read: 1 NIC\n" },
    { PORT ("0x020700", "", "<net name=\"a\" speed=\"1600000\"/>"), "ib-xdr",
      "InfiniBand at 1600 Gb/s is not in the catalogue" },
    { PORT ("0x020700", "", "<net name=\"a\" speed=\"1600001\"/>"), "ib-ndr",
      "is more than any port has, so it does not count" },
    { "", NULL, "read: 1 GPU below 1 host (NUMA node), with the PCIe switches between" },
    { "<pci class=\"0x010000\"/>", NULL, "read: 1 GPU below 1 host (NUMA node)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("<system><cpu>%s%s</cpu></system>", ALONE, rows[i].pcis);
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-xml", NULL, text, NULL);
    g_autofree char *notes = notes_told (machine->notes);

    if (g_strcmp0 (machine->nic, rows[i].nic) != 0 || strstr (notes, rows[i].note) == NULL)
      fail_msg ("%s\n%s %s", text, machine->nic, notes);
    assert_null (strstr (notes, "left out"));
    assert_null (strstr (notes, "counts as the others do"));
  }
  g_autoptr (FabImportedMachine) strange = read_machine (
      "nccl-xml", NULL,
      "<system><cpu>" ALONE PORT ("0x020700", "", "<net name=\"a\" speed=\"100000\"/>") "\n" PORT (
          "0x020700", "", "<net name=\"a\" speed=\"100000000\"/>") "</cpu></system>",
      NULL);
  g_autofree char *notes = notes_told (strange->notes);
  assert_string_equal (strange->nic, "ib-edr");
  assert_non_null (strstr (
      notes,
      "2 inferred: a speed in line 2 is more than any port has, so that NIC counts as the others do; what unit was "
      "meant?\n1 read: 2 NICs\n"));
}

static void
processors_of_a_file_say_their_link (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cpu, *link, *note;
  } rows[] = {
    { "arch=\"arm64\"", "nv-grace-socket",
      "3 read: CPU  family - model -, so nv-grace-socket between hosts\n" },
    { "arch=\"ppc64\"", "xbus-power9", "3 read: CPU  family - model -, so xbus-power9 between hosts\n" },
    { "arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"143\" modelid=\"49\"", "xgmi-socket-rome",
      "3 read: CPU AuthenticAMD family 143 model 49, so xgmi-socket-rome between hosts\n" },
    { "arch=\"x86_64\"", "upi-socket-sapphire-rapids",
      "3 inferred: between hosts: upi-socket-sapphire-rapids, often seen beside h100-sxm5-80gb; the links of "
      "the CPU 'x86_64 family 0 model 0' "
      "are not in the table\n" },
    { "vendor=\"Other\" familyid=\"1\" modelid=\"2\"", "upi-socket-sapphire-rapids",
      "3 inferred: between hosts: upi-socket-sapphire-rapids, often seen beside h100-sxm5-80gb; the links of "
      "the CPU 'Other family 1 model 2' "
      "are not in the table\n" },
    { "", "upi-socket-sapphire-rapids",
      "3 inferred: between hosts: upi-socket-sapphire-rapids, often seen beside h100-sxm5-80gb; the text "
      "names no CPU\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("<system>\n\n<cpu %s>%s</cpu><cpu>%s</cpu></system>",
                                             rows[i].cpu, GPU ("1", "", ""), GPU ("2", "", ""));
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-xml", "h100-sxm5-80gb", text, NULL);
    g_autofree char *notes = notes_told (machine->notes);

    assert_string_equal (machine->socket_link, rows[i].link);
    if (!g_str_has_suffix (notes, rows[i].note))
      fail_msg ("%s", notes);
  }
}

static void
mistakes_of_a_file_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *format, *text, *message;
  } rows[] = {
    { "nccl-xml", "<system>\n</system>",
      "x:1: there is no GPU, that is no <pci> of class 0x03.... or 0x12...." },
    { "nccl-xml", "<system><cpu>" GPU ("1", "", "\n<gpu><xgmi target=\"2\"/></gpu>") "</cpu></system>",
      "x:2: <xgmi target=\"2\">: no other GPU has this busid" },
    { "nccl-xml", "<system><cpu>" GPU ("1", "", "\n<gpu><nvlink target=\"1\"/></gpu>") "</cpu></system>",
      "x:2: <nvlink target=\"1\">: no other GPU has this busid" },
    { "nccl-xml", "<system><cpu>" GPU ("1", "", "\n<gpu><nvlink/></gpu>") "</cpu></system>",
      "x:2: <nvlink target=\"\">: no other GPU has this busid" },
    { "nccl-xml",
      "<system><cpu>" GPU ("1", "", "<gpu><xgmi target=\"2\"/></gpu>") GPU ("2", "", "") "</cpu></system>",
      "x:1: <xgmi>, but the catalogue knows no such links of h100-sxm5-80gb; --accelerator names another" },
    { "nccl-xml", "<system>" GPU ("1", "", "") "<cpu>" GPU ("2", "", "") "</cpu></system>",
      "x:1: there are 2 GPUs, but only 1 of them are below a <cpu>; all must be, and none below another GPU" },
    { "nccl-xml", "<system><cpu>" GPU ("2", "", GPU ("3", "", "")) "</cpu></system>",
      "x:1: there are 2 GPUs, but only 1 of them are below a <cpu>; all must be, and none below another GPU" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (read_machine (rows[i].format, "h100-sxm5-80gb", rows[i].text, &error));
    assert_string_equal (error->message, rows[i].message);
  }
}

/* 256 GPUs and 256 NICs are read, and no more. */
static void
large_files_are_refused (G_GNUC_UNUSED void **state)
{
  static const guint numbers[][2] = { { 256, 256 }, { 257, 1 }, { 1, 257 } };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    g_autoptr (GString) text = g_string_new ("<system><cpu>");
    g_autoptr (GError) error = NULL;

    for (guint k = 0; k < numbers[i][0]; k++)
      g_string_append (text, "<pci class=\"0x030200\"/>");
    for (guint k = 0; k < numbers[i][1]; k++)
      g_string_append (text, "<pci class=\"0x020700\"/>");
    g_string_append (text, "</cpu></system>");
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-xml", "l40s", text->str, &error);
    assert_true ((machine != NULL) == (i == 0));
    if (i > 0)
      assert_string_equal (error->message, "x:1: the machine has more than 256 GPUs or NICs");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (elements_are_parts),
    cmocka_unit_test (links_without_a_rate_are_usual),
    cmocka_unit_test (nics_are_called_as_their_fastest_port),
    cmocka_unit_test (the_first_gpu_says_the_accelerator),
    cmocka_unit_test (peers_are_joined_once),
    cmocka_unit_test (counts_are_held_against_the_card),
    cmocka_unit_test (ports_of_a_file_are_of_one_kind),
    cmocka_unit_test (processors_of_a_file_say_their_link),
    cmocka_unit_test (mistakes_of_a_file_are_told),
    cmocka_unit_test (large_files_are_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
