/* SPDX-License-Identifier: Apache-2.0 */
/* test_gpu_texts.c - the tree of NCCL_DEBUG, nvidia-smi nvlink, and names of products. */
#include "tests/support/test.h"

#include <string.h>

#include "formats/machine/known.h"

static FabImportedMachine *
read_text (const char *format, const char *text, GError **error)
{
  const FabImportRequest request = { .file = { "gpu", text, strlen (text) } };
  const FabFileFormat *row = fab_file_format_of (FAB_FILE_MACHINE, &request.file);
  FabImportedMachine *machine = fab_imported_machine_new ("test");

  assert_non_null (row);
  assert_string_equal (row->name, format);
  if (row->read.machine (machine, &request, error))
    return machine;
  fab_imported_machine_free (machine);
  return NULL;
}

static void
assert_machine (const char *format, const char *text, const char *accelerator, guint n_gpus, const char *wire)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_text (format, text, &error);
  g_autofree char *yaml = NULL;

  if (machine == NULL)
    fail_msg ("%s", error->message);
  assert_string_equal (machine->accelerator, accelerator);
  assert_int_equal (fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_GPU), n_gpus);
  yaml = fab_imported_machine_scenario (machine, "made", "gpu");
  assert_non_null (strstr (yaml, wire));
}

static void
assert_refused (const char *format, const char *text, const char *start)
{
  g_autoptr (GError) error = NULL;

  assert_null (read_text (format, text, &error));
  if (!g_str_has_prefix (error->message, start))
    fail_msg ("%s", error->message);
}

/* Two ranks print at the same time; what the other one prints is passed over. 240 GB/s are 12 links of 20. */
static void
a_tree_is_that_of_one_rank (G_GNUC_UNUSED void **state)
{
  assert_machine ("nccl-tree",
                  "a:1:2 [0] NCCL INFO === System : maxBw 240.0 totalBw 240.0 ===\n"
                  "a:1:2 [0] NCCL INFO CPU/0 (1/2/-1)\n"
                  "a:1:3 [1] NCCL INFO === System : maxBw 240.0 totalBw 240.0 ===\n"
                  "a:1:2 [0] NCCL INFO + PCI[24.0] - PCI/1000 (1000c0101000ffff)\n"
                  "a:1:3 [1] NCCL INFO CPU/0 (1/2/-1)\n"
                  "a:1:2 [0] NCCL INFO               + PCI[24.0] - GPU/7000 (0)\n"
                  "a:1:2 [0] NCCL INFO                             + NVL[240.0] - NVS/0\n"
                  "a:1:2 [0] NCCL INFO               + PCI[24.0] - GPU/8000 (1)\n"
                  "a:1:2 [0] NCCL INFO                             + NVL[240.0] - NVS/0\n"
                  "a:1:2 [0] NCCL INFO ==========================================\n"
                  "a:1:2 [0] NCCL INFO GPU/7000 :GPU/7000 (0/5000.0/LOC)\n",
                  "a100-sxm4-80gb", 2, "{from: gpu, to: nvswitch, link: nvlink3, count: 12}");
}

/* The PCI id of a DEV (10de:2330, H100 SXM) counts before the rate. Without the names of a printer, too. */
static void
a_device_says_the_accelerator (G_GNUC_UNUSED void **state)
{
  assert_machine ("nccl-tree",
                  "=== System : maxBw 370.8 totalBw 370.8 ===\n"
                  "CPU/0-0 (1/1/3)\n"
                  "+ PCI[48.0] - DEV/0-f000 (10de233010de16c1)\n"
                  "              + LOC[5000.0] - GPU/0-f000\n"
                  "              + NVL[370.8] - DEV/0-1f000\n"
                  "+ PCI[0.2] - DEV/0-1f000 (10de233010de16c1)\n"
                  "             + NVL[370.8] - DEV/0-f000\n"
                  "===========\n",
                  "h100-sxm5-80gb", 2, "count: 18");
}

/* The slow port is Ethernet, and the fast one, NET/1, is not. */
static void
the_fastest_port_says_its_kind (G_GNUC_UNUSED void **state)
{
  assert_machine (
      "nccl-tree",
      "n:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_2:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
      "n:1:2 [0] NCCL INFO === System : maxBw 24.0 totalBw 24.0 ===\n"
      "n:1:2 [0] NCCL INFO CPU/1 (1/2/-1)\n"
      "n:1:2 [0] NCCL INFO + PCI[24.0] - GPU/81000 (0)\n"
      "n:1:2 [0] NCCL INFO + PCI[24.0] - NIC/D1000\n"
      "n:1:2 [0] NCCL INFO               + NET[25.0] - NET/1 (7a852d0003f6ceb8/1/25.000000)\n"
      "n:1:2 [0] NCCL INFO + PCI[6.0] - NIC/21000\n"
      "n:1:2 [0] NCCL INFO              + NET[3.1] - NET/0 (b8e2ce0003f6ceb8/1/3.125000)\n"
      "n:1:2 [0] NCCL INFO =====\n",
      "a10g", 1, "nic: ib-hdr");
}

/* The switch in front of the GPU is AMD's (1002), so it is no card of NVIDIA that stands in. */
static void
cards_without_links_are_of_their_maker (G_GNUC_UNUSED void **state)
{
  assert_machine ("nccl-tree",
                  "=== System : maxBw 6.0 totalBw 24.0 ===\n"
                  "CPU/0-0 (1/2/6)\n"
                  "+ PCI[5000.0] - NIC/0-0\n"
                  "+ PCI[24.0] - PCI/0-1000 (1002147800000000)\n"
                  "              + PCI[24.0] - GPU/0-3000 (0)\n"
                  "=====\n",
                  "mi50", 1, "link: pcie4-x16");
}

static void
trees_that_were_cut_or_lost_blanks_are_refused (G_GNUC_UNUSED void **state)
{
  assert_refused ("nccl-tree",
                  "=== System : maxBw 12.5 totalBw 72.0 ===\n"
                  "CPU/0 (1/2/4)\n"
                  "+ PCI[24.0] - GPU/47000 (0)\n"
                  "              + XGMI[24.0] - GPU/4C000\n",
                  "gpu:4: XGMI leads to GPU/4C000, which has no line of its own");
  assert_refused ("nccl-tree",
                  "=== System : maxBw 12.5 totalBw 72.0 ===\n"
                  "CPU/0 (1/2/4)\n"
                  "+ PCI[24.0] - GPU/47000 (0)\n"
                  "   + NVL[24.0] - NVS/0\n",
                  "gpu:4:4: this plus stands below the name of nothing above it");
  assert_refused ("nccl-tree", "=== System : maxBw 12.5 totalBw 72.0 ===\nCPU/0 (1/2/4)\n=====\n",
                  "gpu: the tree has no GPU");
}

#define V100(i, peer)                                           \
  "GPU " #i ": Tesla V100-SXM2-16GB (UUID: GPU-" #i ")\n"       \
  "\t Link 0: Remote Device 00000004:0" #peer ":00.0: Link 1\n" \
  "\t Link 1: Remote Device 00000004:0" #peer ":00.0: Link 0\n"

/* Other ends are GPUs where none would be joined to itself, in the order of their bus ids. */
static void
other_ends_are_gpus_or_switches (G_GNUC_UNUSED void **state)
{
  assert_machine ("nvidia-nvlink", V100 (0, 5) V100 (1, 4), "v100-sxm2-16gb", 2,
                  "{from: gpu, to: gpu, link: nvlink2, count: 2, map: all}");
  assert_machine ("nvidia-nvlink", V100 (0, 4) V100 (1, 5), "v100-sxm2-16gb", 2,
                  "{from: gpu, to: nvswitch, link: nvlink2, count: 2}");
}

static void
links_that_are_down_do_not_count (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_text (
      "nvidia-nvlink",
      "GPU 0: NVIDIA H200 (UUID: GPU-0)\n\t Link 0: 26.562 GB/s\n"
      "\t Link 1: 26.562 GB/s\n"
      "GPU 1: NVIDIA H200 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n"
      "\t Link 1: <inactive>\n",
      &error);

  assert_null (error);
  assert_string_equal (machine->accelerator, "h200-sxm5");
  for (guint i = 0; i < machine->notes->len; i++)
    if (strstr (fab_file_note (machine->notes, i)->text, "GPU 1 has 1") != NULL)
      return;
  fail_msg ("no note says which GPU has fewer links");
}

/* Only "GPU 7:" begins a GPU. Links behind other lines belong to the one before. */
static void
lines_that_name_a_gpu_begin_none (G_GNUC_UNUSED void **state)
{
  assert_machine ("nvidia-nvlink", V100 (0, 5) "GPU 7 is busy\n\t Link 2: <inactive>\n" V100 (1, 4) "GPU 9\n",
                  "v100-sxm2-16gb", 2, "{from: gpu, to: gpu, link: nvlink2, count: 2, map: all}");
}

static void
nvlink_is_refused_at_the_place (G_GNUC_UNUSED void **state)
{
  assert_refused ("nvidia-nvlink", "GPU 0: NVIDIA H200\n\t Link 0: 26.562 MB/s\n",
                  "gpu:2:11: a rate belongs here");
  assert_refused ("nvidia-nvlink", "GPU 1: NVIDIA H200\n\t Link 0: 26.562 GB/s\n", "gpu:1:");
}

static void
assert_product (const char *text, const char *accelerator)
{
  g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");
  gboolean is_found = fab_known_accelerator_in_text (machine, &(FabFileText){ "gpu", text, strlen (text) });

  assert_true (is_found == (accelerator != NULL));
  if (is_found)
    assert_string_equal (machine->accelerator, accelerator);
}

static void
names_of_products_say_the_accelerator (G_GNUC_UNUSED void **state)
{
  assert_product ("GPU 0: NVIDIA H100 80GB HBM3 (UUID: x)", "h100-sxm5-80gb");
  assert_product ("|   0  NVIDIA H100 PCIe               Off |", "h100-pcie-80gb");
  assert_product ("|   0  NVIDIA A100-SXM...  On   | 0MiB / 40536MiB |", "a100-sxm4-40gb");
  assert_product ("GPU 0: NVIDIA L40S", "l40s");
  assert_product ("GPU 0: NVIDIA H200", "h200-sxm5");
  assert_product ("GPU 0: NVIDIA H20", "h20-sxm5");
  assert_product ("GPU 0: NVIDIA B200", "b200-sxm");
  assert_product ("GPU 0: NVIDIA GB200", "gb200");
  assert_product ("GPU0 NV18 CPU Affinity", NULL);
  assert_product ("rack B200 of the hall", NULL); /* no maker stands before it */
  assert_product ("first\nNVIDIA H100 PCIe", "h100-pcie-80gb");
  assert_product ("NVIDIA\nB200", NULL);
}

/* One name of each product; where a product has several memories, names with each, and cut ones with a table's column.
 */
static void
each_product_has_its_entry (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "NVIDIA GB300", "gb300" },
    { "NVIDIA GH200 144G HBM3e", "gh200-144gb" },
    { "NVIDIA GH200 120GB", "gh200-120gb" },
    { "NVIDIA GH200 480GB", "gh200-96gb" },
    { "NVIDIA B300 SXM6 AC", "b300-sxm" },
    { "NVIDIA H200 NVL", "h200-sxm5" },
    { "NVIDIA H100 NVL", "h100-nvl-94gb" },
    { "NVIDIA H100 80GB HBM2e", "h100-pcie-80gb" },
    { "NVIDIA H100 64GB HBM2", "h100-sxm5-64gb" },
    { "NVIDIA H800", "h800-sxm5" },
    { "NVIDIA A100-SXM-64GB", "a100-sxm4-64gb" },
    { "NVIDIA A100-SXM4-40GB", "a100-sxm4-40gb" },
    { "NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb" },
    { "NVIDIA A100-SXM... 0MiB / 81251MiB", "a100-sxm4-80gb" },
    { "NVIDIA A100 80GB PCIe", "a100-pcie-80gb" },
    { "A100-PCIE-80GB", NULL },
    { "NVIDIA A100-PCIE-80GB", "a100-pcie-80gb" },
    { "NVIDIA A100-PCIE-40GB", "a100-pcie-40gb" },
    { "NVIDIA A800-SXM4-80GB", "a800-sxm4-80gb" },
    { "NVIDIA A30", "a30" },
    { "NVIDIA A10G", "a10g" },
    { "NVIDIA A40", "rtx-a6000" },
    { "NVIDIA A4000", NULL },
    { "NVIDIA A30X", NULL },
    { "NVIDIA XH100", NULL },
    { "NVIDIA RTX A5000", "rtx-a5000" },
    { "NVIDIA L40", "l40" },
    { "NVIDIA L4", "l4" },
    { "NVIDIA RTX 6000 Ada Generation", "rtx6000-ada" },
    { "NVIDIA RTX PRO 6000 Blackwell", "rtx-pro-6000" },
    { "NVIDIA GeForce RTX 5090", "rtx5090" },
    { "GeForce RTX 2080 Ti", "rtx2080ti" },
    { "Tesla V100-SXM3-32GB", "v100-sxm3-32gb" },
    { "Tesla V100-SXM2-32GB", "v100-sxm2-32gb" },
    { "Tesla V100-SXM2... 0MiB / 32510MiB", "v100-sxm2-32gb" },
    { "Tesla V100-SXM2... 0MiB / 16160MiB", "v100-sxm2-16gb" },
    { "Tesla V100-PCIE-16GB", "v100-pcie-16gb" },
    { "Tesla P100-SXM2-16GB", "p100-sxm2" },
    { "Tesla T4", "t4" },
    { "AMD Instinct MI300X", "mi300x" },
    { "AMD Instinct MI250X", "mi250x-gcd" },
    { "AMD Instinct MI250", "mi250-gcd" },
    { "Instinct MI60", "mi50" },
    { "Quadro T4", "t4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("two\nlines NVIDIA\n0 %s x\n", rows[i][0]);

    assert_product (text, rows[i][1]);
    assert_product (rows[i][0], rows[i][1]);
  }
}

/* A product that the catalogue lacks is said to be another one, which is inferred and not read. */
static void
products_that_stand_in_are_inferred (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "\nGPU 0: NVIDIA A30", "accelerator: a30, as line 2 names A30" },
    { "\n\nGPU 0: NVIDIA A40",
      "accelerator: rtx-a6000 stands in for A40, which line 3 names and the catalogue lacks; --accelerator names "
      "another" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");

    assert_true (
        fab_known_accelerator_in_text (machine, &(FabFileText){ "gpu", rows[i][0], strlen (rows[i][0]) }));
    assert_int_equal (machine->notes->len, 1);
    assert_string_equal (fab_file_note (machine->notes, 0)->text, rows[i][1]);
    assert_int_equal (fab_file_note (machine->notes, 0)->line, i + 2);
    assert_int_equal (fab_file_note (machine->notes, 0)->kind, i == 0 ? FAB_NOTE_READ : FAB_NOTE_INFERRED);
  }
}

#define NIC(bus, speed)                                                                             \
  "<pci busid=\"" bus "\" class=\"0x020700\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><nic>" \
  "<net name=\"mlx5\" speed=\"" speed "\"/></nic></pci>"
#define XML(width, nics)                                                                                             \
  "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"1\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" " \
  "link_speed=\"32.0 GT/s PCIe\" link_width=\"" width "\"><gpu dev=\"0\" sm=\"90\"/></pci>" nics                     \
  "</cpu></system>"

/* A speed that no port has does not make the others slower ones, and a width that no link has is asked about. */
static void
values_that_cannot_be_are_asked_about (G_GNUC_UNUSED void **state)
{
  assert_machine ("nccl-xml", XML ("16", NIC ("2", "200000000") NIC ("3", "400000")), "h100-sxm5-80gb", 1,
                  "{name: nic, kind: nic, count: 2}");
  assert_machine ("nccl-xml", XML ("16", NIC ("2", "200000000") NIC ("3", "400000")), "h100-sxm5-80gb", 1,
                  "nic: ib-ndr");
  assert_machine ("nccl-xml", XML ("16", NIC ("2", "200000000")), "h100-sxm5-80gb", 1,
                  "is more than any port has");
  assert_machine ("nccl-xml", XML ("255", NIC ("2", "400000")), "h100-sxm5-80gb", 1, "link: pcie5-x16");
}

/* GMarkup reads a second element beside the first one; XML has none, and what it held was forgotten. */
static void
one_element_holds_all (G_GNUC_UNUSED void **state)
{
  assert_refused ("nccl-xml", XML ("16", NIC ("2", "400000")) "\n<pci/>",
                  "gpu:2: the XML is not well-formed: <pci> stands beside <system>");
  assert_refused ("nccl-xml", "<system version=\"1\"/><system version=\"1\"/>",
                  "gpu:1: the XML is not well-formed: <system> stands beside <system>");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_tree_is_that_of_one_rank),
    cmocka_unit_test (a_device_says_the_accelerator),
    cmocka_unit_test (the_fastest_port_says_its_kind),
    cmocka_unit_test (cards_without_links_are_of_their_maker),
    cmocka_unit_test (trees_that_were_cut_or_lost_blanks_are_refused),
    cmocka_unit_test (other_ends_are_gpus_or_switches),
    cmocka_unit_test (links_that_are_down_do_not_count),
    cmocka_unit_test (lines_that_name_a_gpu_begin_none),
    cmocka_unit_test (nvlink_is_refused_at_the_place),
    cmocka_unit_test (names_of_products_say_the_accelerator),
    cmocka_unit_test (each_product_has_its_entry),
    cmocka_unit_test (products_that_stand_in_are_inferred),
    cmocka_unit_test (values_that_cannot_be_are_asked_about),
    cmocka_unit_test (one_element_holds_all),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
