/* SPDX-License-Identifier: Apache-2.0 */
/* test_nccl_trees.c - the tree of NCCL_DEBUG: parts, links, rates and notes are those that its lines say. */
#include "tests/unit/formats/machine/told.h"

/* Two processors of Intel, the second with a switch below a switch. GPUs are numbered by their ranks, which begin at
 * 2 here. The slow NIC is left out, and so is the switch above it. Another rank prints a line of its own tree
 * between. */
static const MachineCase whole = {
  "nccl-tree",
  "a:1:2 [0] NCCL INFO NCCL version 2.19.3+cuda12.3\n"
  "a:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB [12]mlx5_2:1/IB [RO]; OOB eth0:10.0.0.1<0>\n"
  "a:1:2 [0] NCCL INFO === System : maxBw 48.0 totalBw 370.8 ===\n"
  "a:1:2 [0] NCCL INFO CPU/0 (1/1/2)\n"
  "a:1:2 [0] NCCL INFO + PCI[48.0] - GPU/7000 (3)\n"
  "a:1:2 [0] NCCL INFO               + NVL[370.8] - NVS/0\n"
  "a:1:3 [1] NCCL INFO + PCI[48.0] - GPU/9000 (9)\n"
  "a:1:2 [0] NCCL INFO + PCI[12.0] - PCI/8000 (1000c01010de13b8)\n"
  "a:1:2 [0] NCCL INFO               + PCI[6.0] - NIC/9000\n"
  "a:1:2 [0] NCCL INFO                            + NET[12.5] - NET/0 (1/1/12.500000)\n"
  "a:1:2 [0] NCCL INFO + SYS[10.0] - CPU/1\n"
  "a:1:2 [0] NCCL INFO CPU/1 (1/1/2)\n"
  "a:1:2 [0] NCCL INFO + PCI[48.0] - PCI/80000 (1000c0301000100b)\n"
  "a:1:2 [0] NCCL INFO               + PCI[24.0] - PCI/81000 (1000c0301000100b)\n"
  "a:1:2 [0] NCCL INFO                             + PCI[96.0] - GPU/82000 (2)\n"
  "a:1:2 [0] NCCL INFO                                           + NVL[370.8] - NVS/0\n"
  "a:1:2 [0] NCCL INFO               + PCI[3.0] - NIC/83000\n"
  "a:1:2 [0] NCCL INFO                            + NET[25.0] - NET/C (a/1/50.000000)\n"
  "a:1:2 [0] NCCL INFO                            + NET[25.0] - NET/D (b/1/50.000000)\n"
  "a:1:2 [0] NCCL INFO + SYS[10.0] - CPU/0\n"
  "a:1:2 [0] NCCL INFO =====\n"
  "a:1:2 [0] NCCL INFO + PCI[48.0] - GPU/AA000 (8)\n"
  "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 8 nNodes 1 localRanks 8\n"
  "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 8 nNodes 4 localRanks 2\n"
  "a:1:2 [0] NCCL INFO comm 0x1 rank 0 nRanks 8 nNodes 8 localRanks 2\n",
  "h100-sxm5-80gb",
  "ib-ndr",
  "upi-socket-skylake",
  4,
  "host 0\n"
  "gpu 1 < host 0, pcie5-x16\n"
  "host 1\n"
  "switch 0 < host 1, pcie5-x16\n"
  "switch 1 < switch 0, pcie4-x16\n"
  "gpu 0 < switch 1, pcie6-x16\n"
  "nic 0 < switch 0, pcie3-x4\n"
  "centre 0\n",
  "{from: gpu, to: nvswitch, link: nvlink4, count: 18}\n"
  "{from: cpu, to: cpu, link: upi-socket-skylake, map: all}\n",
  "5 inferred: accelerator: h100-sxm5-80gb, the usual one with 370.8 GB/s of NVLink, as NCCL counts it (H200 "
  "and H20 have as "
  "many links); --accelerator names another\n"
  "0 read: 2 wires between GPUs, or of GPUs and their switch (NVS, the NVSwitches as one)\n"
  "4 read: 2 GPUs below 2 hosts (NUMA nodes), with the PCIe switches between\n"
  "0 read: 1 NIC, whose network runs at 400 Gb/s\n"
  "0 left out: left out: 1 NIC that is slower than the others or has no network\n"
  "4 inferred: between hosts: upi-socket-skylake, as NCCL calls the CPU architecture 1, vendor 1, model 2\n"
  "24 read: 4 nodes in the communicator (nNodes)\n",
};

static void
trees_are_what_they_say (G_GNUC_UNUSED void **state)
{
  assert_told (&whole);
}

/* A tree of two GPUs below one processor, each with one more link. */
static FabImportedMachine *
read_pair (const char *cpu, const char *pcie, const char *details, const char *link, const char *other,
           const char *accelerator, GError **error)
{
  g_autofree char *text = g_strdup_printf ("=== System : maxBw 1.0 totalBw 1.0 ===\nCPU/0 (%s)\n"
                                           "+ PCI[%s] - GPU/1000 (%s)\n%*s+ %s - %s%s\n"
                                           "+ PCI[%s] - GPU/2000 (%s)\n%*s+ %s - %s%s\n=====\n",
                                           cpu, pcie, details, (int) strlen (pcie) + 10, "", link, other,
                                           strcmp (other, "GPU/") == 0 ? "2000" : "0", pcie, details,
                                           (int) strlen (pcie) + 10, "", link, other,
                                           strcmp (other, "GPU/") == 0 ? "1000" : "0");

  return read_machine ("nccl-tree", accelerator, text, error);
}

/* The number of links that the first line of `links_told` has. */
static guint
count_told (const char *links)
{
  const char *count = strstr (links, "count: "), *end = strchr (links, '\n');

  return count != NULL && count < end ? (guint) strtoul (count + strlen ("count: "), NULL, 10) : 1;
}

/* GB/s of one link in NCCL's src/graph/topo.h: SM60 18, SM70 20, SM80 20, SM86 12, SM90 20.6, SM100 40.1; older
 * versions had 21 for SM70 and 22 for SM80. H100 has 18 of them, H800 and A800 have 8, A100 12, V100 up to 6, P100
 * up to 4. */
static void
the_rate_of_nvlinks_says_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *GBps, *accelerator;
    guint count;
    gboolean is_in_table;
  } rows[] = {
    { "370.8", "h100-sxm5-80gb", 18, TRUE },  { "350.2", "h100-sxm5-80gb", 17, FALSE },
    { "391.4", "h100-sxm5-80gb", 19, FALSE }, { "164.8", "h800-sxm5", 8, TRUE },
    { "123.6", "h100-pcie-80gb", 6, TRUE },   { "144.2", "h100-pcie-80gb", 7, TRUE },
    { "185.4", "h100-pcie-80gb", 9, TRUE },   { "247.2", "h100-pcie-80gb", 12, TRUE },
    { "103.0", "h100-sxm5-80gb", 5, FALSE },  { "267.8", "h100-sxm5-80gb", 13, FALSE },
    { "721.8", "b200-sxm", 18, TRUE },        { "681.7", "h100-sxm5-80gb", 33, FALSE },
    { "240.0", "a100-sxm4-80gb", 12, TRUE },  { "264.0", "a100-sxm4-80gb", 12, TRUE },
    { "160.0", "a800-sxm4-80gb", 8, TRUE },   { "220.0", "h100-sxm5-80gb", 11, FALSE },
    { "20.0", "v100-sxm2-16gb", 1, TRUE },    { "120.0", "v100-sxm2-16gb", 6, TRUE },
    { "21.0", "v100-sxm2-16gb", 1, TRUE },    { "126.0", "v100-sxm2-16gb", 6, TRUE },
    { "147.0", "h100-sxm5-80gb", 7, FALSE },  { "48.0", "rtx3090", 4, TRUE },
    { "36.0", "p100-sxm2", 2, TRUE },         { "18.0", "p100-sxm2", 1, TRUE },
    { "72.0", "p100-sxm2", 4, TRUE },         { "90.0", "h100-sxm5-80gb", 4, FALSE },
    { "370.9", "h100-sxm5-80gb", 18, FALSE }, { "370.7", "h100-sxm5-80gb", 18, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint is_direct = 0; is_direct < 2; is_direct++) {
      g_autoptr (GError) error = NULL;
      g_autofree char *link = g_strdup_printf ("NVL[%s]", rows[i].GBps);
      g_autoptr (FabImportedMachine) machine = read_pair ("1/1/3", "24.0", "0", link,
                                                          is_direct ? "GPU/" : "NVS/", NULL, &error);

      if (machine == NULL)
        fail_msg ("%s: %s", rows[i].GBps, error->message);
      g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);
      if (strcmp (machine->accelerator, rows[i].accelerator) != 0 || count_told (links) != rows[i].count)
        fail_msg ("%s: %s\n%s", rows[i].GBps, machine->accelerator, links);
      assert_true (
          g_str_has_prefix (links, is_direct ? "{from: gpu, to: gpu, " : "{from: gpu, to: nvswitch, "));
      assert_true ((strstr (notes, "not in the table") == NULL) == rows[i].is_in_table);
      assert_true ((strstr (notes, "H200 and H20") != NULL)
                   == (rows[i].is_in_table && strcmp (rows[i].accelerator, "h100-sxm5-80gb") == 0));
      assert_true ((strstr (notes, "A100 with 40 GB") != NULL)
                   == (strcmp (rows[i].accelerator, "a100-sxm4-80gb") == 0));
    }
}

/* An accelerator that the user names has its own generation, whatever the rate is; there is one link at least, and
 * 64 at most. */
static void
links_are_counted_by_their_generation (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *accelerator, *GBps, *link;
    guint count;
  } rows[] = {
    { "b200-sxm", "80.2", "nvlink5", 2 },          { "p100-sxm2", "54.0", "nvlink1", 3 },
    { "v100-sxm2-16gb", "42.0", "nvlink2", 2 },    { "v100-sxm2-16gb", "40.0", "nvlink2", 2 },
    { "v100-sxm2-16gb", "63.0", "nvlink2", 3 },    { "a100-sxm4-40gb", "66.0", "nvlink3", 3 },
    { "a100-sxm4-40gb", "60.0", "nvlink3", 3 },    { "rtx3090", "36.0", "nvlink3-rtx", 3 },
    { "h200-sxm5", "41.2", "nvlink4", 2 },         { "h200-sxm5", "9.0", "nvlink4", 1 },
    { "a100-sxm4-40gb", "1270.0", "nvlink3", 64 }, { "a100-sxm4-40gb", "1300.0", "nvlink3", 64 },
    { "a100-sxm4-40gb", "49.0", "nvlink3", 2 },    { "a100-sxm4-40gb", "51.0", "nvlink3", 3 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = NULL;
    g_autofree char *rate = g_strdup_printf ("NVL[%s]", rows[i].GBps), *links = NULL, *expected = NULL;

    machine = read_pair ("1/1/3", "24.0", "0", rate, "GPU/", rows[i].accelerator, NULL);
    links = links_told (machine);
    expected = rows[i].count == 1
                 ? g_strdup_printf ("{from: gpu, to: gpu, link: %s, map: all}\n", rows[i].link)
                 : g_strdup_printf ("{from: gpu, to: gpu, link: %s, count: %u, map: all}\n", rows[i].link,
                                    rows[i].count);
    assert_string_equal (links, expected);
  }
}

/* RCCL's src/graph/topo.h: 24 GB/s of an xGMI before MI200, 36 of MI200, 48 of MI300. MI50 has two links, MI100
 * three. */
static void
the_rate_of_xgmi_says_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *GBps, *accelerator, *link;
  } rows[] = { { "48.0", "mi300x", "xgmi-mi300x" },     { "96.0", "mi300x", "xgmi-mi300x" },
               { "36.0", "mi250x-gcd", "xgmi-mi250x" }, { "72.0", "mi250x-gcd", "xgmi-mi250x" },
               { "24.0", "mi50", "xgmi-mi100" },        { "60.0", "mi50", "xgmi-mi100" },
               { "61.0", "mi100", "xgmi-mi100" },       { "1.0", "mi50", "xgmi-mi100" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *rate = g_strdup_printf ("XGMI[%s]", rows[i].GBps);
    g_autoptr (FabImportedMachine) machine = read_pair ("1/2/4", "24.0", "0", rate, "GPU/", NULL, NULL);
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);
    g_autofree char *expected = g_strdup_printf ("{from: gpu, to: gpu, link: %s, map: all}\n", rows[i].link);
    g_autofree char *why = g_strdup_printf (
        "3 inferred: accelerator: %s, the usual one with %g GB/s of xGMI, as NCCL", rows[i].accelerator,
        g_ascii_strtod (rows[i].GBps, NULL));

    assert_string_equal (machine->accelerator, rows[i].accelerator);
    assert_string_equal (links, expected);
    assert_non_null (strstr (notes, why));
    assert_true ((strstr (notes, "MI325X") != NULL) == g_str_equal (rows[i].accelerator, "mi300x"));
  }
}

/* Without links, the rate of PCIe tells generation 5 from those before, and a maker is known by any device. */
static void
cards_without_links_stand_in (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *pcie, *details, *accelerator, *link;
  } rows[] = {
    { "12.0", "0", "a10g", "pcie3-x16" },
    { "24.0", "0", "a10g", "pcie4-x16" },
    { "40.0", "0", "a10g", "pcie4-x16" },
    { "40.5", "0", "l40s", "pcie4-x16" },
    { "48.0", "0", "l40s", "pcie5-x16" },
    { "96.0", "0", "l40s", "pcie6-x16" },
    { "6.0", "0", "a10g", "pcie3-x8" },
    { "3.0", "0", "a10g", "pcie3-x4" },
    { "1.5", "0", "a10g", "pcie4-x16" },
    { "192.0", "0", "l40s", "pcie4-x16" },
    { "24.0", "1002999910de0001", "mi50", "pcie4-x16" },
    { "24.0", "10de999910020001", "a10g", "pcie4-x16" },
    { "24.0", "10de27b810de0001", "l4", "pcie4-x16" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = read_pair ("1/2/4", rows[i].pcie, rows[i].details, "LOC[5000.0]",
                                                        "GPU/", NULL, NULL);
    g_autofree char *parts = parts_told (machine), *notes = notes_told (machine->notes);
    g_autofree char *expected = g_strdup_printf ("host 0\ngpu 0 < host 0, %s\ngpu 1 < host 0, %s\n",
                                                 rows[i].link, rows[i].link);
    gboolean is_guess = g_str_has_prefix (rows[i].pcie, "40.") || g_str_equal (rows[i].pcie, "1.5")
                     || g_str_equal (rows[i].pcie, "192.0");
    g_autofree char *guess = g_strdup_printf ("3 inferred: PCIe: generation 4 x16 where the log has %g GB/s,",
                                              g_ascii_strtod (rows[i].pcie, NULL));

    assert_string_equal (machine->accelerator, rows[i].accelerator);
    assert_string_equal (parts, expected);
    assert_true ((strstr (notes, guess) != NULL) == is_guess);
    assert_true ((strstr (notes, "there is no NVLink") != NULL)
                 == (g_str_equal (machine->accelerator, "l4") == FALSE));
    assert_true (
        (strstr (notes, "as there is no NVLink, and its PCI id 1002:9999 is not in the table;") != NULL)
        == g_str_equal (rows[i].accelerator, "mi50"));
  }
}

/* Architecture, vendor and model, as src/include/graph.h of NCCL numbers them. */
static void
processors_say_the_link_between_them (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cpu, *accelerator, *link;
    gboolean is_named;
  } rows[] = {
    { "1/1/1", "a100-sxm4-80gb", "qpi-socket-broadwell", TRUE },
    { "1/1/2", "a100-sxm4-80gb", "upi-socket-skylake", TRUE },
    { "1/1/3", "a100-sxm4-80gb", "upi-socket-sapphire-rapids", TRUE },
    { "1/1/4", "a100-sxm4-80gb", "upi-socket-emerald-rapids", TRUE },
    { "1/1/0", "a100-sxm4-80gb", "xgmi-socket-rome", FALSE },
    { "1/1/5", "a100-sxm4-80gb", "xgmi-socket-rome", FALSE },
    { "1/2/4", "a100-sxm4-80gb", "xgmi-socket-rome", TRUE },
    { "1/2/4", "h100-sxm5-80gb", "xgmi-socket-genoa", TRUE },
    { "1/2/4", "b300-sxm", "xgmi-socket-genoa", TRUE },
    { "1/3/1", "h100-sxm5-80gb", "upi-socket-sapphire-rapids", FALSE },
    { "2/1/2", "v100-sxm2-16gb", "xbus-power9", TRUE },
    { "3/1/2", "gb200", "nv-grace-socket", TRUE },
    { "4/1/2", "v100-sxm2-16gb", "upi-socket-skylake", FALSE },
    { "0/1/2", "v100-sxm2-16gb", "upi-socket-skylake", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        "=== System : maxBw 1.0 totalBw 1.0 ===\nCPU/0 (%s)\n+ PCI[24.0] - GPU/1000 (0)\n"
        "CPU/1 (%s)\n+ PCI[24.0] - GPU/2000 (1)\n=====\n",
        rows[i].cpu, rows[i].cpu);
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-tree", rows[i].accelerator, text, NULL);
    g_autofree char *notes = notes_told (machine->notes);
    g_autofree char *named = g_strdup_printf (
        "2 inferred: between hosts: %s, as NCCL calls the CPU architecture %c, vendor %c, model %c\n",
        rows[i].link, rows[i].cpu[0], rows[i].cpu[2], rows[i].cpu[4]);

    assert_string_equal (machine->socket_link, rows[i].link);
    assert_true ((strstr (notes, named) != NULL) == rows[i].is_named);
    assert_true ((strstr (notes, "not named") == NULL) == rows[i].is_named);
  }
}

/* Ranks number GPUs where they follow each other; else they are numbered as they stand. */
static void
ranks_number_gpus (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *ranks[3], *orders;
  } rows[] = { { { "0", "1", "2" }, "012" }, { { "7", "5", "6" }, "201" }, { { "5", "6", "8" }, "012" },
               { { "2", "0", "1" }, "201" }, { { "2", "x", "1" }, "012" }, { { "1", "1", "0" }, "012" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        "=== System : maxBw 1.0 totalBw 1.0 ===\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000 (%s)\n"
        "+ PCI[24.0] - GPU/2000 (%s)\n+ PCI[24.0] - GPU/3000 (%s)\n===========\n",
        rows[i].ranks[0], rows[i].ranks[1], rows[i].ranks[2]);
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-tree", NULL, text, NULL);
    g_autofree char *parts = parts_told (machine), *expected = NULL;
    const char *orders = rows[i].orders;

    /* "1" twice is not three ranks that follow each other */
    expected = g_strdup_printf (
        "host 0\ngpu %c < host 0, pcie4-x16\ngpu %c < host 0, pcie4-x16\ngpu %c < host 0, pcie4-x16\n",
        orders[0], orders[1], orders[2]);
    assert_string_equal (parts, expected);
  }
}

#define PORTS(head, nets)                                                                    \
  head "=== System : maxBw 1.0 totalBw 1.0 ===\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000 (0)\n" \
       "+ PCI[24.0] - NIC/2000\n" nets "=====\n"
#define NET(rest) "              + NET[" rest "\n"

/* The kind of a port is that of the fastest one, whose number is hexadecimal; a rate behind the slash counts before
 * the one in brackets. */
static void
ports_have_their_kind_and_rate (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *nic, *note;
  } rows[] = {
    { PORTS ("NET/IB : Using [0]mlx5_0:1/RoCE\n", NET ("12.5] - NET/0 (1/1/12.500000)")), "roce-100",
      "0 read: 1 NIC, whose network runs at 100 Gb/s" },
    { PORTS ("NET/IB : Using [0]mlx5_0:1/IB\n", NET ("12.5] - NET/0 (1/1/25.000000)")), "ib-hdr",
      "1 NIC, whose network runs at 200 Gb/s" },
    { PORTS ("NET/IB : Using [0]mlx5_0:1/IB\n", NET ("50.0] - NET/0")), "ib-ndr",
      "1 NIC, whose network runs at 400 Gb/s" },
    { PORTS ("NET/IB : Using [0]a:1/IB [11]c:1/IB [10]b:1/RoCE\n",
             NET ("12.5] - NET/0") NET ("25.0] - NET/0-10") NET ("12.5] - NET/0-11")),
      "ib-hdr", "InfiniBand, which the log does not say" },
    { PORTS ("NET/IB : Using [0]a:1/IB [16]b:1/RoCE\n", NET ("12.5] - NET/0") NET ("25.0] - NET/0-10")),
      "roce-200", "network runs at 200" },
    { PORTS ("", NET ("50.0] - NET/0")), "ib-ndr",
      "0 inferred: NIC ports: InfiniBand, which the log does not say, as it has no line NET/IB : Using" },
    { PORTS ("Using network Socket\n", NET ("25.0] - NET/0")), "roce-200", "network runs at 200" },
    { PORTS ("Using network Socket\n", NET ("1.2] - NET/0 (1/1/0.125000)")), "roce-25",
      "network runs at 1 Gb/s" },
    { PORTS ("NET/OFI Selected provider is efa\n", NET ("12.5] - NET/0")), "efa-v1",
      "'efa' is a name of EFA" },
    { PORTS ("NET/OFI Selected Provider is efa (found 4)\n", NET ("12.5] - NET/0")), "efa-v1",
      "'efa' is a name of EFA" },
    { PORTS ("NET/IB : Using [0]mlx5_0:1/Other [1]x:1/IB\nNET/IB : Using [0]mlx5_0:1/RoCE\n",
             NET ("25.0] - NET/0")),
      "roce-200", "network runs at 200" },
    { PORTS ("NET/IB : Using [0]mlx5_0:1/IB\n", NET ("3.1] - NET/0 (1/1/3.125000)")), "ib-edr",
      "InfiniBand at 25 Gb/s is not in the catalogue" },
    { PORTS ("NET/IB : Using [0]mlx5_0:1/IB\n", ""), NULL,
      "1 GPU below 1 host (NUMA node), with the PCIe switches between" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-tree", NULL, rows[i].text, NULL);
    g_autofree char *notes = notes_told (machine->notes);

    if (g_strcmp0 (machine->nic, rows[i].nic) != 0 || strstr (notes, rows[i].note) == NULL)
      fail_msg ("%s%s\n%s", rows[i].text, machine->nic, notes);
    assert_true ((strstr (notes, "InfiniBand, which") != NULL)
                 == (strstr (rows[i].note, "InfiniBand, which") != NULL));
    assert_int_equal (fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_NIC), rows[i].nic != NULL);
    assert_null (strstr (notes, "left out"));
  }
}

/* A communicator of one node says nothing, and 100000 are the most. */
static void
communicators_say_how_many_nodes (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *nodes;
    guint n;
  } rows[] = { { "1", 1 }, { "2", 2 }, { "100000", 100000 }, { "100001", 1 }, { "x", 1 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000 (0)\n=====\ncomm nNodes %s end\n",
        rows[i].nodes);
    g_autoptr (FabImportedMachine) machine = read_machine ("nccl-tree", NULL, text, NULL);
    g_autofree char *notes = notes_told (machine->notes),
                    *note = g_strdup_printf ("5 read: %u nodes in the communicator (nNodes)\n", rows[i].n);

    assert_int_equal (machine->n_nodes, rows[i].n);
    assert_true ((strstr (notes, note) != NULL) == (rows[i].n > 1));
  }
}

/* Ports within one hundredth of the fastest are as fast; a NIC may have several. */
static void
slower_nics_are_left_out (G_GNUC_UNUSED void **state)
{
  static const char text[] =
      "=== System : maxBw 1.0 totalBw 1.0 ===\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000 (0)\n"
      "+ PCI[24.0] - NIC/2000\n" NET ("12.0] - NET/0") NET ("25.0] - NET/1") "+ PCI[12.0] - NIC/3000\n" NET (
          "24.8] - NET/2") "+ PCI[12.0] - NIC/4000\n" NET ("24.7] - NET/3") "+ PCI[12.0] - NIC/5000\n=====\n";
  g_autoptr (FabImportedMachine) machine = read_machine ("nccl-tree", NULL, text, NULL);
  g_autofree char *notes = notes_told (machine->notes), *parts = parts_told (machine);

  assert_string_equal (
      parts, "host 0\ngpu 0 < host 0, pcie4-x16\nnic 0 < host 0, pcie4-x16\nnic 1 < host 0, pcie3-x16\n");
  assert_non_null (strstr (notes, "2 NICs, whose network runs at 200 Gb/s"));
  assert_non_null (
      strstr (notes, "0 left out: left out: 2 NICs that are slower than the others or have no network"));
  assert_null (strstr (notes, "nNodes"));
}

/* Chips of one package, and NVLinks of a GPU to its processor. A processor without devices is no host. */
static void
gpus_are_joined_to_their_processors (G_GNUC_UNUSED void **state)
{
  static const MachineCase rows[] = {
    { "nccl-tree",
      "=== System : maxBw 1.0 totalBw 1.0 ===\nCPU/0 (3/-1/-1)\n+ PCI[48.0] - GPU/1000 (0)\n"
      "              + C2C[288.0] - CPU/0\n"
      "              + NVL[123.6] - GPU/2000\nCPU/1 (3/-1/-1)\n+ PCI[48.0] - GPU/2000 (1)\n"
      "              + NVL[123.6] - GPU/1000\n"
      "              + C2C[288.0] - CPU/1\nCPU/2 (3/-1/-1)\n+ PCI[12.0] - PCI/3000\n=====\n",
      "h100-pcie-80gb", NULL, "nv-grace-socket", 1,
      "host 0\ngpu 0 < host 0, pcie5-x16\nhost 1\ngpu 1 < host 1, pcie5-x16\n",
      "{from: gpu, to: gpu, link: nvlink4-bridge, count: 6, map: all}\n{from: gpu, to: cpu, link: nvlink-c2c}\n"
      "{from: cpu, to: cpu, link: nv-grace-socket, map: all}\n",
      "3 inferred: accelerator: h100-pcie-80gb, the usual one with 123.6 GB/s of NVLink, as NCCL counts it; "
      "--accelerator names "
      "another\n"
      "0 read: 3 wires between GPUs, or of GPUs and their switch\n"
      "2 read: 2 GPUs below 2 hosts (NUMA nodes), with the PCIe switches between\n"
      "2 inferred: between hosts: nv-grace-socket, as NCCL calls the CPU architecture 3, vendor 0, model 0\n" },
    { "nccl-tree",
      "=== System : maxBw 1.0 totalBw 1.0 ===\nCPU/0 (2/-1/-1)\n+ PCI[12.0] - GPU/1000 (0)\n"
      "              + NVL[60.0] - CPU/0\n=====\n",
      "v100-sxm2-16gb", NULL, "xbus-power9", 1, "host 0\ngpu 0 < host 0, pcie3-x16\n",
      "{from: gpu, to: cpu, link: nvlink2-power9, count: 3}\n",
      "3 inferred: accelerator: v100-sxm2-16gb stands in, as there is no NVLink; --accelerator names the real "
      "one\n" },
  };

  for (guint i = 0; i < 1; i++)
    assert_told (&rows[i]);
  g_autoptr (FabImportedMachine) power = read_machine ("nccl-tree", "v100-sxm2-16gb", rows[1].text, NULL);
  g_autofree char *links = links_told (power), *notes = notes_told (power->notes);
  assert_string_equal (links, rows[1].links);
  assert_string_equal (notes, "0 read: 1 wire between GPUs, or of GPUs and their switch\n"
                              "2 read: 1 GPU below 1 host (NUMA node), with the PCIe switches between\n");
}

/* Links of one pair are those of no other. */
static void
gpus_are_joined_to_those_that_are_named (G_GNUC_UNUSED void **state)
{
  static const char text[] = "=== System : maxBw 1.0\nCPU/0 (1/1/2)\n+ PCI[12.0] - GPU/1000 (0)\n"
                             "              + NVL[40.0] - GPU/2000\n+ PCI[12.0] - GPU/2000 (1)\n"
                             "              + NVL[40.0] - GPU/1000\n              + NVL[20.0] - GPU/3000\n"
                             "+ PCI[12.0] - GPU/3000 (2)\n              + NVL[20.0] - GPU/2000\n=====\n";
  g_autoptr (FabImportedMachine) machine = read_machine ("nccl-tree", "v100-sxm2-16gb", text, NULL);
  g_autofree char *links = links_told (machine);

  assert_string_equal (
      links, "{from: gpu0, to: gpu1, link: nvlink2, count: 2}\n{from: gpu1, to: gpu2, link: nvlink2}\n");
}

/* A log with times before each line, in which another message of the same rank stands between those of the tree. The
 * first processor has no device. */
static void
lines_begin_with_times (G_GNUC_UNUSED void **state)
{
  static const char text[] = "[12:00:01] a:1:2 [0] NCCL INFO === System : maxBw 1.0 totalBw 1.0 ===\n"
                             "[12:00:02] a:1:2 [0] NCCL INFO CPU/0 (1/1/3)\n"
                             "[12:00:03]   a:1:2   [0] NCCL INFO Attribute arch of node cpu\n"
                             "[12:00:04] a:1:2 [0] NCCL INFO CPU/1 (1/1/3)\n"
                             "[12:00:05] a:1:2 [1] NCCL INFO + PCI[24.0] - GPU/1000 (0)\n"
                             "[12:00:05] a:1:3 [0] NCCL INFO + PCI[24.0] - GPU/1000 (0)\n"
                             "[12:00:06] a:1:2 [0] NCCL INFO + PCI[24.0] - GPU/2000 (1)\n"
                             "[12:00:07] a:1:2 [0] NCCL INFO =====\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (FabImportedMachine) machine = read_machine ("nccl-tree", NULL, text, &error);

  if (machine == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *parts = parts_told (machine), *notes = notes_told (machine->notes);
  assert_string_equal (parts, "host 0\ngpu 0 < host 0, pcie4-x16\n");
  assert_null (strstr (notes, "wires"));
}

/* As many GPUs and lines as are read, and one more. */
static void
large_trees_are_refused (G_GNUC_UNUSED void **state)
{
  for (guint extra = 0; extra < 2; extra++)
    for (guint is_parts = 0; is_parts < 2; is_parts++) {
      g_autoptr (GString) text = g_string_new ("=== System : maxBw 1.0\nCPU/0 (1/1/3)\n");
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i < 256 + extra && !is_parts; i++)
        g_string_append_printf (text, "+ PCI[24.0] - GPU/%u (%u)\n", 1000 + i, i);
      for (guint i = 0; i < 2046 + extra && is_parts; i++)
        g_string_append_printf (text, "+ PCI[24.0] - PCI/%u (0)\n", 1000 + i);
      g_string_append (text, is_parts ? "+ PCI[24.0] - GPU/1 (0)\n" : "");
      g_autoptr (FabImportedMachine) machine = read_machine ("nccl-tree", NULL, text->str, &error);
      assert_true ((machine != NULL) == (extra == 0));
      if (extra > 0)
        assert_true (g_str_has_prefix (error->message, is_parts
                                                           ? "x:2050:15: the machine has more than 2048 parts"
                                                           : "x: the machine has more than 256 GPUs"));
    }
}

static void
mistakes_of_a_tree_are_told_at_their_place (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message;
  } rows[] = {
    { "=== System : maxBw 1.0\n", "x: there is no tree below a line '=== System : maxBw ...'" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n",
      "x: the tree has no GPU; a line such as + PCI[24.0] - GPU/47000 (0) is one" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI24.0 - GPU/1000\n",
      "x:3:1: a link and its GB/s belong here, as + NVL[370.8] - NVS/0-0" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[fast] - GPU/1000\n",
      "x:3:1: a link and its GB/s belong here, as + NVL[370.8] - NVS/0-0" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0 - GPU/1000\n",
      "x:3:1: a link and its GB/s belong here, as + NVL[370.8] - NVS/0-0" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] GPU/1000\n",
      "x:3:1: a link and its GB/s belong here, as + NVL[370.8] - NVS/0-0" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCIEXPRS[24.0] - GPU/1000\n",
      "x:3:1: a link and its GB/s belong here, as + NVL[370.8] - NVS/0-0" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU\n",
      "x:3:15: a name belongs here, as GPU/0-4c000" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/\n",
      "x:3:15: a name belongs here, as GPU/0-4c000" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000\n"
      "              + XGMI[24.0] - GPU/2000\n+ PCI[24.0] - GPU/3000\n=====\n",
      "x:4: XGMI leads to GPU/2000, which has no line of its own; the log was cut: leave all lines of the "
      "tree, up to that of "
      "=====" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000\n             + NVL[24.0] - GPU/2000\n",
      "x:4:14: this plus stands below the name of nothing above it; were blanks lost from the log?" },
    { "=== System : maxBw 1.0\nCPU/0 (1/1/3)\n+ PCI[24.0] - GPU/1000\n              + NVL[20.0] - GPU/2000\n"
      "                            + PCI[24.0] - NIC/1\n",
      "x:5:29: this plus stands below the name of nothing above it; were blanks lost from the log?" },
    { "CPU/0 (1/1/3)\n=== System : maxBw 1.0\n+ PCI[24.0] - GPU/1000\n",
      "x:3:1: this plus stands below the name of nothing above it; were blanks lost from the log?" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (read_machine ("nccl-tree", NULL, rows[i].text, &error));
    if (!g_str_has_prefix (error->message, rows[i].message))
      fail_msg ("%s%s", rows[i].text, error->message);
  }
}

/* A link that the accelerator, which the user names, does not have. */
static void
links_must_be_those_of_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *accelerator, *link;
    gboolean is_good;
  } rows[] = { { "l40s", "NVL[20.0]", FALSE },          { "mi100", "NVL[20.0]", FALSE },
               { "mi100", "XGMI[24.0]", TRUE },         { "h100-sxm5-80gb", "XGMI[24.0]", FALSE },
               { "h100-sxm5-80gb", "NVL[20.6]", TRUE }, { "l40s", "LOC[1.0]", TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_pair ("1/1/3", "24.0", "0", rows[i].link, "GPU/",
                                                        rows[i].accelerator, &error);

    assert_true ((machine != NULL) == rows[i].is_good);
    if (!rows[i].is_good) {
      g_autofree char *message = g_strdup_printf (
          "x:4: %.*s, but the catalogue knows no such links of %s; --accelerator names another",
          (int) strcspn (rows[i].link, "["), rows[i].link, rows[i].accelerator);
      assert_string_equal (error->message, message);
    }
  }
}

static void
output_of_nccl_tests_is_no_tree (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text;
    gboolean is_tree;
  } rows[] = { { "=== System : maxBw\n", TRUE },
               { "=== System : maxBw\nalgbw\n", TRUE },
               { "=== System : maxBw\nbusbw\n", TRUE },
               { "=== System : maxBw\nalgbw busbw\n", FALSE },
               { "algbw\n", FALSE },
               { "=== System\n", FALSE } };
  const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, "nccl-tree");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_true (format->recognises (&(FabFileText){ "x", rows[i].text, strlen (rows[i].text) })
                 == rows[i].is_tree);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (trees_are_what_they_say),
    cmocka_unit_test (the_rate_of_nvlinks_says_the_accelerator),
    cmocka_unit_test (links_are_counted_by_their_generation),
    cmocka_unit_test (the_rate_of_xgmi_says_the_accelerator),
    cmocka_unit_test (cards_without_links_stand_in),
    cmocka_unit_test (processors_say_the_link_between_them),
    cmocka_unit_test (ranks_number_gpus),
    cmocka_unit_test (ports_have_their_kind_and_rate),
    cmocka_unit_test (communicators_say_how_many_nodes),
    cmocka_unit_test (slower_nics_are_left_out),
    cmocka_unit_test (gpus_are_joined_to_their_processors),
    cmocka_unit_test (gpus_are_joined_to_those_that_are_named),
    cmocka_unit_test (lines_begin_with_times),
    cmocka_unit_test (large_trees_are_refused),
    cmocka_unit_test (mistakes_of_a_tree_are_told_at_their_place),
    cmocka_unit_test (links_must_be_those_of_the_accelerator),
    cmocka_unit_test (output_of_nccl_tests_is_no_tree),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
