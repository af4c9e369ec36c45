/* SPDX-License-Identifier: Apache-2.0 */
/* test_matrices.c - matrices of nvidia-smi and rocm-smi: groups of devices by their distances, names, and mistakes. */
#include "tests/unit/formats/machine/told.h"

/* GPU0, GPU1 and NIC0 are below one switch (PXB), GPU0 and NIC0 closer (PIX); GPU2 and NIC1 hang at another host
 * bridge of the same host (NODE); GPU3 is at the other host, and NIC2 too far from it to serve it. */
static const MachineCase distances = {
  "nvidia-smi",
  "$ nvidia-smi topo -m\n"
  "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tCPU Affinity\tNUMA Affinity\n"
  "GPU0\t X \tPXB\tNODE\tSYS\tPIX\tNODE\tSYS\t0-15\t0\n"
  "GPU1\tPXB\t X \tNODE\tSYS\tPXB\tNODE\tSYS\t0-15\t0\n"
  "GPU2\tNODE\tNODE\t X \tSYS\tNODE\tPIX\tSYS\t0-15\t0\n"
  "GPU3\tSYS\tSYS\tSYS\t X \tSYS\tSYS\tPHB\t16-31\t1\n"
  "NIC0\tPIX\tPXB\tNODE\tSYS\t X \tNODE\tSYS\n"
  "NIC1\tNODE\tNODE\tPIX\tSYS\tNODE\t X \tSYS\n"
  "NIC2\tSYS\tSYS\tSYS\tPHB\tSYS\tSYS\t X \n"
  "\n"
  "NIC Legend:\n\n"
  "  NIC0: mlx5_0\n"
  "  NIC1: mlx5_3\n"
  "  NIC2: mlx5_bond_0\n",
  "l40s",
  "ib-hdr",
  "xgmi-socket-rome",
  1,
  "host 0\nbridge 0 < host 0, pcie4-x16\nswitch 0 < bridge 0, pcie4-x16\nswitch 1 < switch 0, pcie4-x16\n"
  "gpu 0 < switch 1, pcie4-x16\nswitch 2 < switch 0, pcie4-x16\ngpu 1 < switch 2, pcie4-x16\n"
  "bridge 1 < host 0, pcie4-x16\nswitch 3 < bridge 1, pcie4-x16\ngpu 2 < switch 3, pcie4-x16\n"
  "host 1\ngpu 3 < host 1, pcie4-x16\n"
  "nic 0 < switch 1, pcie4-x16, mlx5_0\nnic 1 < switch 3, pcie4-x16, mlx5_3\n",
  "{from: cpu, to: cpu, link: xgmi-socket-rome, map: all}\n",
  "3 inferred: accelerator: l40s stands in, as there is no NVLink; --accelerator names the real one\n"
  "9 left out: left out as storage or management, since no GPU is within PXB of them: mlx5_bond_0\n"
  "3 read: 2 NICs beside them\n"
  "3 inferred: NIC ports: ib-hdr, the usual ones beside l40s; --nic names others\n"
  "3 read: 4 GPUs on 2 hosts (NUMA nodes), and the PCIe switches that their distances tell\n"
  "3 inferred: PCIe: pcie4-x16 everywhere, what l40s has; the matrix knows no generations and widths\n"
  "3 inferred: between hosts: xgmi-socket-rome, often seen beside l40s; the text names no CPU\n",
};

/* NVLinks hide distances: then GPUs with one affinity are at one host, and N/A says nothing. Two NICs are named by
 * the matrix itself, and no GPU is near any, so that all count. */
static const MachineCase links = {
  "nvidia-smi",
  "\x1b[4m\tGPU0\tGPU1\tGPU2\tGPU3\tmlx5_0\tmlx5_1\tCPU Affinity\x1b[0m\r\n\r\n"
  "GPU0\t X \tNV2\tNV1\tSOC\tPHB\tSOC\t0-11\r\n"
  "GPU1\tNV2\t X \tPHB\tNV1\tPHB\tSOC\tN/A\r\n"
  "GPU2\tNV1\tPHB\t X \tNV2\tPHB\tSOC\t0-11\r\n"
  "GPU3\tSOC\tNV1\tNV2\t X \tSOC\tPHB\tN/A\r\n"
  "mlx5_0\tPHB\tPHB\tPHB\tSOC\t X \tSOC\r\n"
  "mlx5_1\tSOC\tSOC\tSOC\tPHB\tSOC\t X \r\n"
  "GPU 0: Tesla V100-SXM2-32GB (UUID: GPU-1)\r\n",
  "v100-sxm2-32gb",
  "ib-edr",
  "upi-socket-skylake",
  1,
  "host 0\ngpu 0 < host 0, pcie3-x16\ngpu 1 < host 0, pcie3-x16\ngpu 2 < host 0, pcie3-x16\n"
  "host 1\ngpu 3 < host 1, pcie3-x16\nnic 0 < host 0, pcie3-x16, mlx5_0\nnic 1 < host 1, pcie3-x16, mlx5_1\n",
  "{from: gpu0, to: gpu1, link: nvlink2, count: 2}\n{from: gpu0, to: gpu2, link: nvlink2}\n"
  "{from: gpu1, to: gpu3, link: nvlink2}\n{from: gpu2, to: gpu3, link: nvlink2, count: 2}\n"
  "{from: cpu, to: cpu, link: upi-socket-skylake, map: all}\n",
  "9 read: accelerator: v100-sxm2-32gb, as line 9 names V100-SXM2-32GB\n"
  "3 read: 2 NICs beside them\n"
  "3 read: 4 of the pairs of 4 GPUs are joined by NVLink, directly\n"
  "3 inferred: NIC ports: ib-edr, the usual ones beside v100-sxm2-32gb; --nic names others\n"
  "3 read: 4 GPUs on 2 hosts (NUMA nodes)\n"
  "3 inferred: PCIe: pcie3-x16 everywhere, what v100-sxm2-32gb has; the matrix knows no generations and widths\n"
  "3 inferred: each GPU at a PCIe port of its host: where NVLink joins two GPUs, their PCIe distance is not printed\n"
  "3 inferred: between hosts: upi-socket-skylake, often seen beside v100-sxm2-32gb; the text names no CPU\n",
};

/* GPUs below a switch of their own, at one host by their affinity, and one adapter of EFA, behind another one that is
 * left out. */
static const MachineCase cloud = {
  "nvidia-smi",
  "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\n"
  "GPU0\t X \tNV18\tPHB\tPXB\t0-11\n"
  "GPU1\tNV18\t X \tPHB\tPHB\t0-11\n"
  "NIC0\tPHB\tPHB\t X \tPHB\n"
  "NIC1\tPXB\tPHB\tPHB\t X \n"
  "  NIC1: rdmap1\n\tNIC0: mlx5_0\n",
  "h100-sxm5-80gb",
  "efa-v2",
  "upi-socket-sapphire-rapids",
  1,
  "host 0\nswitch 0 < host 0, pcie5-x16\nswitch 1 < switch 0, pcie5-x16\ngpu 0 < switch 1, pcie5-x16\n"
  "gpu 1 < host 0, pcie5-x16\nswitch 2 < switch 0, pcie5-x16\nnic 0 < switch 2, pcie5-x16, rdmap1\n",
  "{from: gpu, to: gpu, link: nvlink4, count: 18, map: all}\n",
  "2 inferred: accelerator: h100-sxm5-80gb, and so the NVLink generation, from 18 NVLinks per GPU (2 Turing, "
  "4 RTX 3090 or P100, "
  "6 V100, 12 A100, 18 H100 or B200; two PCIe cards with bridges print the same); --accelerator names another\n"
  "4 left out: left out as storage or management, since no GPU is within PXB of them: mlx5_0\n"
  "2 read: 1 NIC beside them\n"
  "2 read: 1 of the pairs of 2 GPUs is joined by NVLink, directly\n"
  "2 inferred: NIC ports: efa-v2, as 'rdmap1' is a name of EFA and efa-v2 usually stands beside "
  "h100-sxm5-80gb; --nic names another\n"
  "2 read: 2 GPUs on 1 host (NUMA node), and the PCIe switches that their distances tell\n"
  "2 inferred: PCIe: pcie5-x16 everywhere, what h100-sxm5-80gb has; the matrix knows no generations and widths\n"
  "2 inferred: each GPU at a PCIe port of its host: where NVLink joins two GPUs, their PCIe distance is not "
  "printed\n",
};

static void
distances_are_groups_of_devices (G_GNUC_UNUSED void **state)
{
  assert_told (&distances);
}

static void
affinity_and_names_count (G_GNUC_UNUSED void **state)
{
  assert_told (&links);
  assert_told (&cloud);
}

#define PAIR(there, back) "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \t" there "\t0-3\nGPU1\t" back "\t X \t0-3\n"

/* Where NVLink hides their distance, GPUs are at one host by what stands below CPU Affinity. */
static void
affinity_tells_hidden_hosts (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *one, *other;
    gboolean is_one_host;
  } rows[] = { { "0-3", "0-3", TRUE },  { "0-3", "4-7", FALSE }, { "N/A", "N/A", FALSE },
               { "0-3", "N/A", FALSE }, { "0-3", "", FALSE },    { "", "", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf (
        "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV1\t%s\nGPU1\tNV1\t X \t%s\n", rows[i].one, rows[i].other);
    g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-smi", "v100-sxm2-16gb", text, NULL);
    g_autofree char *parts = parts_told (machine);

    assert_string_equal (parts,
                         rows[i].is_one_host
                             ? "host 0\ngpu 0 < host 0, pcie3-x16\ngpu 1 < host 0, pcie3-x16\n"
                             : "host 0\ngpu 0 < host 0, pcie3-x16\nhost 1\ngpu 1 < host 1, pcie3-x16\n");
  }
}

static void
cells_are_checked (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message; /* NULL: it is good */
  } rows[] = {
    { PAIR ("NV1", "NV1"), NULL },
    { PAIR ("NV64", "NV64"), NULL },
    { PAIR ("NV0", "NV0"), "x:2: GPU0 to GPU1: 'NV0' is none of X, NV#, PIX, PXB, PHB, NODE, SYS" },
    { PAIR ("NV65", "NV65"), "x:2: GPU0 to GPU1: 'NV65' is none of X, NV#, PIX, PXB, PHB, NODE, SYS" },
    { PAIR ("PIX", "near"), "x:3: GPU1 to GPU0: 'near' is none of X, NV#, PIX, PXB, PHB, NODE, SYS" },
    { PAIR ("PIX", "PXB"), "x:3: GPU1 to GPU0 is 'PXB', but GPU0 to GPU1 'PIX'" },
    { "\tGPU0\tCPU Affinity\nGPU0\tPIX\t0-3\n", "x:2: GPU0 to itself must be 'X', not 'PIX'" },
    { "\tGPU0\tGPU1\nGPU1\tX\tX\nGPU0\tX\tX\n", "x:2: the row of GPU0 is expected here" },
    { "\tGPU0\tGPU1\nGPU0\tX\n", "x:2: the row has 1 cells, and the matrix has 2 names" },
    { "\tGPU0\tGPU1\nGPU0\tX\tSYS", "x:2: the text ends before the row of GPU1" },
    { "\tGPU0\tGPU1\nGPU0\tX\tSYS\n\nGPU1\tSYS\tX\n", "x:3: the row of GPU1 is expected here" },
    { "\tGPU0\tGPU1\n \t \n\nGPU0\tX\tSYS\nGPU1\tSYS\tX\n", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-smi", NULL, rows[i].text, &error);

    assert_true ((machine != NULL) == (rows[i].message == NULL));
    if (machine == NULL)
      assert_string_equal (error->message, rows[i].message);
  }
}

/* What begins a matrix: names of GPUs, and not a line of `nvidia-smi -L`. */
static void
heads_are_lines_of_names (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *line;
    gboolean is_head;
  } rows[] = { { "\tGPU0\tGPU1", TRUE },
               { "GPU0", TRUE },
               { "GPU0 CPU Affinity", TRUE },
               { "GPU0 mlx5_0 CPU", TRUE },
               { "GPU0 NIC0", TRUE },
               { "GPU0 X NV1", FALSE },
               { "GPU0 SYS", FALSE },
               { "GPU 0: NVIDIA H100", FALSE },
               { "GPUx GPU1", FALSE },
               { "GPU GPU1", FALSE },
               { "", FALSE },
               { "NIC0 GPU0", FALSE },
               { "GPU12 GPU13", TRUE },
               { "GPU1x GPU2", FALSE } };
  const FabFileFormat *smi = fab_file_format_named (FAB_FILE_MACHINE, "nvidia-smi"),
                      *rocm = fab_file_format_named (FAB_FILE_MACHINE, "rocm-smi");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strdup_printf ("first\n%s\n", rows[i].line),
                    *rocms = g_strdup_printf ("ROCm\n%s\n", rows[i].line);
    g_autofree char *types = g_strdup_printf ("Link Type between two GPUs\n%s\n", rows[i].line);

    if (smi->recognises (&(FabFileText){ "x", text, strlen (text) }) != rows[i].is_head)
      fail_msg ("%s", rows[i].line);
    assert_false (smi->recognises (&(FabFileText){ "x", rocms, strlen (rocms) }));
    assert_false (smi->recognises (&(FabFileText){ "x", types, strlen (types) }));
    assert_true (rocm->recognises (&(FabFileText){ "x", types, strlen (types) }));
  }
}

/* A matrix of n GPUs; those that are `others` are NICs. */
static char *
large_matrix (guint n, guint n_gpus)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "\t%s%u", i < n_gpus ? "GPU" : "mlx5_", i);
  for (guint i = 0; i < n; i++) {
    g_string_append_printf (text, "\n%s%u", i < n_gpus ? "GPU" : "mlx5_", i);
    for (guint j = 0; j < n; j++)
      g_string_append (text, i == j ? "\tX" : "\tSYS");
  }
  return g_string_free (text, FALSE);
}

static void
large_matrices_are_refused (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n, n_gpus;
    const char *message;
  } rows[] = { { 257, 257, "x: the machine has more than 256 GPUs or 512 devices" },
               { 513, 1, "x: the machine has more than 256 GPUs or 512 devices" },
               { 1024, 1, "x: the machine has more than 256 GPUs or 512 devices" },
               { 1025, 1, "x:1: the matrix has more than 1024 names" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = large_matrix (rows[i].n, rows[i].n_gpus);
    g_autoptr (GError) error = NULL;

    assert_null (read_machine ("nvidia-smi", NULL, text, &error));
    assert_string_equal (error->message, rows[i].message);
  }
  g_autofree char *gpus = large_matrix (257, 257),
                  *types = g_strconcat ("Link Type between two GPUs\n", gpus, NULL);
  g_autoptr (GError) refusal = NULL;
  assert_null (read_machine ("rocm-smi", NULL, types, &refusal));
  assert_string_equal (refusal->message, "x: the machine has more than 256 GPUs");
  /* so large a matrix is read, up to a mistake in its last cell */
  g_autofree char *whole = large_matrix (512, 1);
  g_autoptr (GError) error = NULL;
  whole[strlen (whole) - 1] = 'Y';
  assert_null (read_machine ("nvidia-smi", NULL, whole, &error));
  assert_string_equal (error->message, "x:513: mlx5_511 to itself must be 'X', not 'Y'");
  g_autofree char *most = large_matrix (256, 256);
  g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-smi", "l40s", most, NULL);
  assert_int_equal (machine->parts->len, 512); /* each at a host of its own */
}

/* Where somebody names the format and the NIC: a text without a matrix, and one without NICs. */
static void
the_format_and_the_nic_may_be_given (G_GNUC_UNUSED void **state)
{
  const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, "nvidia-smi");
  g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");
  g_autoptr (GError) error = NULL;
  const char *text = "GPU 0: NVIDIA H100\n";

  assert_false (
      format->read.machine (machine, &(FabImportRequest){ .file = { "x", text, strlen (text) } }, &error));
  assert_string_equal (error->message, "x: there is no matrix, because a line with GPU0 GPU1 ... is missing");
  for (guint has_nic = 0; has_nic < 2; has_nic++) {
    g_autoptr (FabImportedMachine) one = fab_imported_machine_new ("test");

    text = has_nic ? "\tGPU0\tmlx5_0\nGPU0\tX\tSYS\nmlx5_0\tSYS\tX\n" : "\tGPU0\nGPU0\tX\n";
    one->nic = "ib-edr";
    assert_true (
        format->read.machine (one, &(FabImportRequest){ .file = { "x", text, strlen (text) } }, NULL));
    assert_true (g_strcmp0 (one->nic, has_nic ? "ib-edr" : NULL) == 0);
  }
}

#define ROCM(types, hops, nodes)                                            \
  "= ROCm =\n= Hops between two GPUs =\n\n       GPU0   GPU1   GPU2\n" hops \
  "\n= Link Type between two GPUs =\n"                                      \
  "       GPU0   GPU1   GPU2\n" types nodes

/* Two hops of xGMI lead over another GPU; a GPU whose node is not said is at a host of its own. */
static void
rocm_smi_says_links_and_hosts (G_GNUC_UNUSED void **state)
{
  static const MachineCase rows[] = {
    { "rocm-smi",
      ROCM ("GPU0   0      XGMI   XGMI\nGPU1   XGMI   0      PCIE\nGPU2   XGMI   PCIE   0\n",
            "GPU0   0      1      2\nGPU1   1      0      2\nGPU2   2      2      0\n",
            "GPU[0]\t\t: (Topology) Numa Node: 1\nGPU[0]\t\t: (Topology) Numa Affinity: 7\nGPU[1]\t\t: "
            "(Topology) Numa Node: 0\n"
            "GPU[2]\t\t: (Topology) Numa Node: 1\nxGPU[1]: Numa Node: 5\n"),
      "mi250x-gcd", NULL, "xgmi-socket-rome", 1,
      "host 0\nhost 1\ngpu 0 < host 0, pcie4-x16\ngpu 1 < host 1, pcie4-x16\ngpu 2 < host 0, pcie4-x16\n",
      "{from: gpu0, to: gpu1, link: xgmi-mi250x}\n{from: cpu, to: cpu, link: xgmi-socket-rome, map: all}\n",
      "11 inferred: accelerator: mi250x-gcd, as 1 of 3 pairs have xGMI (all of 8 GPUs MI300X, some MI250X, "
      "none an older card); "
      "--accelerator names another\n"
      "0 read: 3 GPUs on 2 hosts (NUMA nodes)\n"
      "0 inferred: PCIe: pcie4-x16 from each GPU to its host; the text knows no generations, widths, switches\n"
      "11 read: 1 pair with an xGMI wire between them\n"
      "11 inferred: one xgmi-mi250x on each of the 1 pairs with xGMI: the text does not count links (MI250X "
      "has up to four on some)\n"
      "0 inferred: between hosts: xgmi-socket-rome, often seen beside mi250x-gcd; the text names no CPU\n" },
    { "rocm-smi",
      "Link Type between two GPUs\n      GPU0  GPU1\nGPU0  0     PCIE\nGPU1  PCIE  0\nGPU 0: Numa Node: "
      "0\nGPU 1: Numa Node: 0\n",
      "mi50", NULL, "xgmi-socket-rome", 1, "host 0\ngpu 0 < host 0, pcie4-x16\ngpu 1 < host 0, pcie4-x16\n",
      "",
      "3 inferred: accelerator: mi50, as 0 of 1 pairs have xGMI (all of 8 GPUs MI300X, some MI250X, none an "
      "older card); "
      "--accelerator names another\n"
      "0 read: 2 GPUs on 1 host (NUMA node)\n"
      "0 inferred: PCIe: pcie4-x16 from each GPU to its host; the text knows no generations, widths, switches\n" },
    { "amd-smi",
      "LINK TYPE TABLE:\n             0000:03:00.0 0000:83:00.0\n0000:03:00.0 SELF         XGMI\n0000:83:00.0 "
      "XGMI         SELF\n\n"
      "HOPS TABLE:\n             0000:03:00.0 0000:83:00.0\n0000:03:00.0 0            1\n0000:83:00.0 1       "
      "     0\n",
      "mi250x-gcd", NULL, "xgmi-socket-rome", 1,
      "host 0\ngpu 0 < host 0, pcie4-x16\ngpu 1 < host 0, pcie4-x16\n",
      "{from: gpu, to: gpu, link: xgmi-mi250x, map: all}\n",
      "3 inferred: accelerator: mi250x-gcd, as 1 of 1 pairs have xGMI (all of 8 GPUs MI300X, some MI250X, "
      "none an older card); "
      "--accelerator names another\n"
      "0 read: 2 GPUs on 1 host (NUMA node)\n"
      "0 inferred: PCIe: pcie4-x16 from each GPU to its host; the text knows no generations, widths, switches\n"
      "3 read: 1 pair with an xGMI wire between them\n"
      "3 inferred: one xgmi-mi250x on each of the 1 pairs with xGMI: the text does not count links (MI250X "
      "has up to four on some)\n" },
  };
  g_autoptr (GString) eight = g_string_new (
      "Link Type between two GPUs\n GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7\n");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    assert_told (&rows[i]);
  for (guint i = 0; i < 8; i++) {
    g_string_append_printf (eight, "GPU%u", i);
    for (guint j = 0; j < 8; j++)
      g_string_append (eight, i == j ? " 0" : " XGMI");
    g_string_append_c (eight, '\n');
  }
  g_autoptr (FabImportedMachine) machine = read_machine ("rocm-smi", NULL, eight->str, NULL);
  assert_string_equal (machine->accelerator, "mi300x");
}

/* Any pair may be wired, and be the only one. */
static void
each_pair_of_rocm_smi_counts (G_GNUC_UNUSED void **state)
{
  static const char *const rows[][2] = {
    { "GPU0 0 XGMI PCIE\nGPU1 XGMI 0 PCIE\nGPU2 PCIE PCIE 0\n",
      "{from: gpu0, to: gpu1, link: xgmi-mi250x}\n" },
    { "GPU0 0 PCIE XGMI\nGPU1 PCIE 0 PCIE\nGPU2 XGMI PCIE 0\n",
      "{from: gpu0, to: gpu2, link: xgmi-mi250x}\n" },
    { "GPU0 0 PCIE PCIE\nGPU1 PCIE 0 XGMI\nGPU2 PCIE XGMI 0\n",
      "{from: gpu1, to: gpu2, link: xgmi-mi250x}\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat ("Link Type between two GPUs\n GPU0 GPU1 GPU2\n", rows[i][0], NULL);
    g_autoptr (FabImportedMachine) machine = read_machine ("rocm-smi", NULL, text, NULL);
    g_autofree char *wires = links_told (machine), *notes = notes_told (machine->notes);

    assert_string_equal (wires, rows[i][1]);
    assert_non_null (strstr (notes, "3 inferred: accelerator: mi250x-gcd, as 1 of 3 pairs have xGMI"));
    assert_non_null (strstr (notes, "3 read: 1 pair with an xGMI wire between them\n"));
  }
}

/* Nodes are those of numbers in brackets or behind a blank, of several digits too; what is no number says nothing. */
static void
numa_nodes_are_those_of_each_gpu (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *lines;
    gboolean is_one_host; /* of GPU 0 and GPU 1 */
  } rows[] = {
    { "GPU[0] : (Topology) Numa Node: 12\nGPU[1] : (Topology) Numa Node: 12\n", TRUE },
    { "GPU[0] : (Topology) Numa Node: 12\nGPU[1] : (Topology) Numa Node: 13\n", FALSE },
    { "GPU[0] : (Topology) Numa Node: 0\nGPU[1] : (Topology) Numa Node: 4096 \n", FALSE },
    { "GPU[0] : (Topology) Numa Node: x\nGPU[1] : (Topology) Numa Node: 4097\n",
      TRUE }, /* neither says one */
    { "GPU[0] : (Topology) Numa Node: x\nGPU[0] : Numa Node: 3\nGPU[1] : Numa Node: 3\n", TRUE },
    { "GPU[10] : Numa Node: 3\nGPU[0] : Numa Node: 2\nGPU[1] : Numa Node: 3\n", FALSE },
    { "GPU[1] : Numa Node: 3\nGPU[0] : Numa Node: 3\nGPU[1] : Numa Node: 2\n", TRUE }, /* the first counts */
    { "GPU[1] : Numa Node: 0\n", FALSE }, /* that of GPU 0 is not said */
    { "", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = g_strconcat ("Link Type between two GPUs\n GPU0 GPU1\nGPU0 0 PCIE\nGPU1 PCIE 0\n",
                                         rows[i].lines, NULL);
    g_autoptr (FabImportedMachine) machine = read_machine ("rocm-smi", NULL, text, NULL);

    if (fab_imported_machine_count (machine, FAB_IMPORTED_MACHINE_HOST) != (rows[i].is_one_host ? 1 : 2))
      fail_msg ("%s", rows[i].lines);
  }
}

static void
mistakes_of_rocm_smi_are_told (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *format, *text, *message;
  } rows[] = {
    { "rocm-smi", "Link Type between two GPUs\n\n\nx\n GPU0\nGPU0 0\n",
      "x:1: there is no matrix below 'Link Type between two GPUs'" },
    { "rocm-smi", "Link Type between two GPUs\n",
      "x:1: there is no matrix below 'Link Type between two GPUs'" },
    { "rocm-smi", "Link Type between two GPUs\n\n\n GPU0\nGPU0 0\n", NULL },
    { "rocm-smi", "Link Type between two GPUs\n GPU0 GPU1\nGPU0 0 XGMI\nGPU1 WIRE 0\n",
      "x:4: GPU1 to GPU0: 'WIRE' is neither XGMI nor PCIE" },
    { "rocm-smi", "Link Type between two GPUs\n GPU0 GPU1\nGPU0 WIRE XGMI\nGPU1 XGMI 0\n",
      "x:3: GPU0 to GPU0: 'WIRE' is neither XGMI nor PCIE" },
    { "rocm-smi",
      "Hops between two GPUs\n GPU0\nGPU0 0\nLink Type between two GPUs\n GPU0 GPU1\nGPU0 0 XGMI\nGPU1 XGMI 0\n",
      "x: the text has hops of 1 GPUs and link types of 2" },
    { "amd-smi", "LINK TYPE TABLE\n 0000:1\n", "x:1: there is no matrix below 'LINK TYPE TABLE'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_machine (rows[i].format, NULL, rows[i].text, &error);

    if (g_strcmp0 (error ? error->message : NULL, rows[i].message) != 0)
      fail_msg ("%s%s", rows[i].text, error ? error->message : "good");
  }
  for (guint is_amd = 0; is_amd < 2; is_amd++) { /* where somebody names the format */
    const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, is_amd ? "amd-smi" : "rocm-smi");
    const FabImportRequest request = { .file = { "x", "GPU0\n", 5 } };
    g_autoptr (FabImportedMachine) machine = fab_imported_machine_new ("test");
    g_autoptr (GError) error = NULL;

    assert_false (format->read.machine (machine, &request, &error));
    assert_string_equal (error->message, is_amd ? "x: the line 'LINK TYPE TABLE' is missing"
                                                : "x: the line 'Link Type between two GPUs' is missing");
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (distances_are_groups_of_devices),
    cmocka_unit_test (affinity_and_names_count),
    cmocka_unit_test (affinity_tells_hidden_hosts),
    cmocka_unit_test (cells_are_checked),
    cmocka_unit_test (heads_are_lines_of_names),
    cmocka_unit_test (large_matrices_are_refused),
    cmocka_unit_test (the_format_and_the_nic_may_be_given),
    cmocka_unit_test (rocm_smi_says_links_and_hosts),
    cmocka_unit_test (each_pair_of_rocm_smi_counts),
    cmocka_unit_test (numa_nodes_are_those_of_each_gpu),
    cmocka_unit_test (mistakes_of_rocm_smi_are_told),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
