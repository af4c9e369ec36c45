/* SPDX-License-Identifier: Apache-2.0 */
/* test_nvlinks.c - nvidia-smi nvlink: links that are up, other ends, and which accelerator has so many. */
#include "tests/unit/formats/machine/told.h"

/* n GPUs called `name`, each with the links that `link (k)` says; %u is the number of the link. */
static char *
text_of (guint n, const char *name, guint n_links, const char *link)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    g_string_append_printf (text, "GPU %u: %s (UUID: GPU-%u)\n", i, name, i);
    for (guint k = 0; k < n_links; k++)
      g_string_append_printf (text, "\t Link %u%s\n", k, link);
  }
  return g_string_free (text, FALSE);
}

/* A link of P100 has 20 GB/s, of V100 25.781, of RTX 3090 14.062, of A100 25, of H100 26.562 and of B200 50 or more.
 * */
static void
rates_and_numbers_say_the_accelerator (G_GNUC_UNUSED void **state)
{
  static const struct {
    guint n_links;
    const char *link, *accelerator;
    double GBps;
  } rows[] = {
    { 18, ": 53.125 GB/s", "b200-sxm", 53.125 },
    { 4, ": 40.1 GB/s", "b200-sxm", 40.1 },
    { 4, ": 40 GB/s", "h100-sxm5-80gb", 40 },
    { 18, ": 26.562 GB/s", "h100-sxm5-80gb", 26.562 },
    { 4, ": 26.562 GB/s", "h100-sxm5-80gb", 26.562 },
    { 13, ": 25 GB/s", "h100-sxm5-80gb", 25 },
    { 12, ": 25 GB/s", "a100-sxm4-80gb", 25 },
    { 7, ": 25 GB/s", "a100-sxm4-80gb", 25 },
    { 6, ": 25.781 GB/s", "v100-sxm2-16gb", 25.781 },
    { 4, ": 14.062 GB/s", "rtx3090", 14.062 },
    { 7, ": 14.062 GB/s", "rtx3090", 14.062 },
    { 4, ": 13 GB/s", "p100-sxm2", 13 },
    { 4, ": 15 GB/s", "p100-sxm2", 15 },
    { 4, ": 20.625 GB/s", "p100-sxm2", 20.625 },
    { 4, ": 21 GB/s", "v100-sxm2-16gb", 21 },
    { 6, ": 26 GB/s", "v100-sxm2-16gb", 26 },
    { 12, ", P2P is supported: true", "a100-sxm4-80gb", 0 },
    { 6, ", P2P is supported: true", "v100-sxm2-16gb", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = text_of (2, "Graphics Device", rows[i].n_links, rows[i].link);
    g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-nvlink", NULL, text, NULL);
    g_autofree char *notes = notes_told (machine->notes), *why = NULL, *read = NULL;

    why = g_strdup_printf (
        "1 inferred: accelerator: %s, by %u links of %g GB/s; no name in the text is in the table; "
        "--accelerator names another\n",
        rows[i].accelerator, rows[i].n_links, rows[i].GBps);
    read = g_strdup_printf ("1 read: 2 GPUs with %u NVLinks\n", rows[i].n_links);
    assert_string_equal (machine->accelerator, rows[i].accelerator);
    assert_non_null (strstr (notes, why));
    assert_non_null (strstr (notes, read));
  }
}

static const MachineCase cases[] = {
  /* two cards with a bridge; a link that is down, and lines of errors, which say nothing of links */
  { "nvidia-nvlink",
    "GPU 0: NVIDIA A100 80GB PCIe (UUID: x)\n\t Link 0: 25 GB/s\n\t Link 1: 25 GB/s\n\t Link 2: "
    "<inactive>\n\t Link 3: Replay Errors: 0\n"
    "\t Link 2\nLink 9\nGPU 1: NVIDIA A100 80GB PCIe\n\t Link 0: 25 GB/s\n\t Link 1: 0 GB/s\n\t Link 2: inactive\n",
    "a100-pcie-80gb", NULL, "xgmi-socket-rome", 1,
    "host 0\ngpu 0 < host 0, pcie4-x16\ngpu 1 < host 0, pcie4-x16\n",
    "{from: gpu, to: gpu, link: nvlink3-bridge, map: all}\n",
    "1 read: accelerator: a100-pcie-80gb, as line 1 names A100 80G\n1 read: 2 GPUs with 2 NVLinks each but "
    "these: GPU 1 has 1\n"
    "0 inferred: PCIe: pcie4-x16 from each GPU to one host; the text says nothing about PCIe, hosts and NICs, "
    "which `nvidia-smi topo -m` "
    "does\n" },
  /* the other ends are as many as GPUs: bus ids in their order; a link that only one end says does not count */
  { "nvidia-nvlink",
    "GPU 0: Tesla V100-SXM2-16GB\n\t Link 0: Remote Device 00000000:0B:00.0: Link 0\n\t Link 1: Remote Device "
    "00000000:0B:00.0: Link 1\n"
    "\t Link 2: Remote Device 00000000:0C:00.0: Link 1\nGPU 1: Tesla V100-SXM2-16GB\n\t Link 0: 00000000:0A:00.0\n"
    "GPU 2: Tesla V100-SXM2-16GB\n\t Link 0: Remote Device 00000000:0A:00.0: Link 1\n",
    "v100-sxm2-16gb", NULL, "upi-socket-skylake", 1,
    "host 0\ngpu 0 < host 0, pcie3-x16\ngpu 1 < host 0, pcie3-x16\ngpu 2 < host 0, pcie3-x16\n",
    "{from: gpu0, to: gpu1, link: nvlink2}\n{from: gpu0, to: gpu2, link: nvlink2}\n",
    "1 read: accelerator: v100-sxm2-16gb, as line 1 names V100-SXM2-16GB\n1 read: 3 GPUs with 3 NVLinks each "
    "but these: GPU 1 has 1, GPU 2 has 1\n"
    "0 read: 2 of the pairs of 3 GPUs are joined by NVLink, directly\n"
    "0 inferred: PCIe: pcie3-x16 from each GPU to one host; the text says nothing about PCIe, hosts and NICs, "
    "which `nvidia-smi topo -m` "
    "does\n" },
  /* six other ends of two GPUs are switches; each differs from another one in one part of its bus id */
  { "nvidia-nvlink",
    "GPU 0: NVIDIA H200\n\t Link 0: 00000000:C1:00.0\n\t Link 1: 00000000:C1:01.0\n\t Link 2: 00000000:C2:00.0\n"
    "GPU 1: NVIDIA H200\n\t Link 0: 00000000:C1:00.1\n\t Link 1: 00000001:C1:00.0\n\t Link 2: 00000000:C2:00.1\n",
    "h200-sxm5", NULL, "upi-socket-sapphire-rapids", 1,
    "host 0\ngpu 0 < host 0, pcie5-x16\ngpu 1 < host 0, pcie5-x16\ncentre 0\n",
    "{from: gpu, to: nvswitch, link: nvlink4, count: 3}\n",
    "1 read: accelerator: h200-sxm5, as line 1 names H200\n1 read: 2 GPUs with 3 NVLinks\n0 read: 6 "
    "NVSwitches at the other ends, which are one here\n"
    "0 inferred: PCIe: pcie5-x16 from each GPU to one host; the text says nothing about PCIe, hosts and NICs, "
    "which `nvidia-smi topo -m` "
    "does\n" },
  { "nvidia-nvlink",
    "GPU 0: NVIDIA H200\n\t Link 0: 26.562 GB/s\nGPU 1: NVIDIA H200\n\t Link 0: <inactive>\n", "h200-sxm5",
    NULL, "upi-socket-sapphire-rapids", 1,
    "host 0\ngpu 0 < host 0, pcie5-x16\ngpu 1 < host 0, pcie5-x16\ncentre 0\n",
    "{from: gpu0, to: nvswitch, link: nvlink4}\n",
    "1 read: accelerator: h200-sxm5, as line 1 names H200\n1 read: 2 GPUs with 1 NVLink each but these: GPU 1 has 0\n"
    "0 inferred: one NVSwitch at the other ends, as machines with h200-sxm5 have; -R says the ends\n"
    "0 inferred: PCIe: pcie5-x16 from each GPU to one host; the text says nothing about PCIe, hosts and NICs, "
    "which `nvidia-smi topo -m` "
    "does\n" },
  /* four cards: neighbours are pairs; four V100 may be joined in any way */
  { "nvidia-nvlink",
    "GPU 0: NVIDIA RTX A6000\n\t Link 0: 14 GB/s\n\t Link 1: 14 GB/s\nGPU 1: NVIDIA RTX A6000\n\t Link 0: 14 "
    "GB/s\nGPU 2: NVIDIA RTX A6000\n"
    "\t Link 0: 14 GB/s\nGPU 3: NVIDIA RTX A6000\n\t Link 0: 14 GB/s\n",
    "rtx-a6000", NULL, "xgmi-socket-rome", 1,
    "host 0\ngpu 0 < host 0, pcie4-x16\ngpu 1 < host 0, pcie4-x16\ngpu 2 < host 0, pcie4-x16\ngpu 3 < host 0, "
    "pcie4-x16\n",
    "{from: gpu0, to: gpu1, link: nvlink3-rtx}\n{from: gpu2, to: gpu3, link: nvlink3-rtx}\n",
    "1 read: accelerator: rtx-a6000, as line 1 names RTX A6000\n1 read: 4 GPUs with 2 NVLinks each but these: "
    "GPU 1 has 1, GPU 2 has 1, GPU 3 has 1\n"
    "0 inferred: NVLink: GPU 0 with 1, 2 with 3 and so on, as bridges join cards in neighbouring slots; "
    "`nvidia-smi nvlink -R` or `nvidia-smi "
    "topo -m` says which\n"
    "0 inferred: PCIe: pcie4-x16 from each GPU to one host; the text says nothing about PCIe, hosts and NICs, "
    "which `nvidia-smi topo -m` "
    "does\n" },
};

static void
links_join_what_the_text_says (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_told (&cases[i]);
  for (guint n = 1; n <= 3; n++) {
    g_autofree char *text = text_of (n, "Tesla V100-SXM2-16GB", 6, ": 25.781 GB/s");
    g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-nvlink", NULL, text, NULL);
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);

    assert_string_equal (links, n == 2 ? "{from: gpu, to: gpu, link: nvlink2, count: 6, map: all}\n" : "");
    assert_true (
        (strstr (
             notes,
             "0 left out: left out: NVLink, as the text does not say which GPUs the links join; `nvidia-smi "
             "topo -m` does")
         != NULL)
        == (n == 3));
  }
}

/* The last of three cards has no neighbour. */
static void
bridges_join_pairs (G_GNUC_UNUSED void **state)
{
  for (guint n = 2; n <= 3; n++) {
    g_autofree char *text = text_of (n, "NVIDIA RTX A6000", 4, ": 14.062 GB/s");
    g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-nvlink", NULL, text, NULL);
    g_autofree char *links = links_told (machine), *notes = notes_told (machine->notes);

    assert_string_equal (links, n == 2 ? "{from: gpu, to: gpu, link: nvlink3-rtx, count: 4, map: all}\n"
                                       : "{from: gpu0, to: gpu1, link: nvlink3-rtx, count: 4}\n");
    assert_true ((strstr (notes, "as bridges join cards in neighbouring slots") != NULL) == (n == 3));
  }
}

/* Cards without NVLink in the catalogue have links of some generation all the same. */
static void
a_named_card_keeps_its_links (G_GNUC_UNUSED void **state)
{
  g_autofree char *text = text_of (2, "x", 3, ": 25 GB/s");
  g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-nvlink", "l40s", text, NULL);
  g_autofree char *links = links_told (machine);

  assert_string_equal (links, "{from: gpu, to: gpu, link: nvlink3, count: 3, map: all}\n");
}

static void
mistakes_are_told_at_their_place (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *text, *message; /* NULL: it is good */
  } rows[] = {
    { "GPU 0: x\n\t Link 0: fast\n", NULL },
    { "GPU 0: x\n\t Link 0: 5\n", "x:2:11: a rate belongs here, as 26.562 GB/s, or <inactive>" },
    { "GPU 0: x\n\t Link 0: 5 MB/s\n", "x:2:11: a rate belongs here, as 26.562 GB/s, or <inactive>" },
    { "GPU 0: x\n\t Link 0: Remote Device 0000:00\n",
      "x:2:11: a bus id belongs here, as Remote Device 00000000:D5:00.0: Link 0" },
    { "GPU 0: x\n\t Link 0: Remote Device 00000000:100:00.0\n",
      "x:2:11: a bus id belongs here, as Remote Device 00000000:D5:00.0: Link 0" },
    { "GPU 0: x\n\t Link 0: Remote Device 00000000:00:100.0\n",
      "x:2:11: a bus id belongs here, as Remote Device 00000000:D5:00.0: Link 0" },
    { "GPU 0: x\n\t Link 0: Remote Device 00000000:00:00.10\n",
      "x:2:11: a bus id belongs here, as Remote Device 00000000:D5:00.0: Link 0" },
    { "GPU 0: x\n\t Link 0: Remote Device 100000000:00:00.0\n",
      "x:2:11: a bus id belongs here, as Remote Device 00000000:D5:00.0: Link 0" },
    { "GPU 0: x\n\t Link 0: Remote Device FFFFFFFF:FF:FF.F: Link 0\n", NULL },
    { "GPU 1: x\n\t Link 0: 25 GB/s\n", "x:1:8: GPU 1 comes before GPU 0" },
    { "GPU 0: x\n\t Link 0: 25 GB/s\nGPU 2: x\n", "x:3:8: GPU 2 comes before GPU 1" },
    { "GPU 0: x\n\t Link 0: 25 GB/s\n\t Link 64: 5\n", NULL },
    { "GPU 0: x\n\t Link 0: 25 GB/s\n\t Link 63: 5\n",
      "x:3:12: a rate belongs here, as 26.562 GB/s, or <inactive>" },
  };
  static const struct {
    const char *text;
    gboolean is_one;
  } known[] = { { "GPU 0: x\n Link 0\n", TRUE },    { "GPU 255: x\n Link 0\n", TRUE },
                { "GPU 256: x\n Link 0\n", FALSE }, { " Link 0\nGPU 0: x\n", FALSE },
                { "GPU 0\n Link 0\n", FALSE },      { "GPU 0: x\n Link 1\n", FALSE },
                { "GPU 0: Link 0\n", TRUE } };
  const FabFileFormat *format = fab_file_format_named (FAB_FILE_MACHINE, "nvidia-nvlink");

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabImportedMachine) machine = read_machine ("nvidia-nvlink", "h200-sxm5", rows[i].text,
                                                           &error);

    assert_true ((machine == NULL) == (error != NULL));
    if ((error == NULL) != (rows[i].message == NULL)
        || (error != NULL && !g_str_has_prefix (error->message, rows[i].message)))
      fail_msg ("%s%s", rows[i].text, error ? error->message : "good");
  }
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (format->recognises (&(FabFileText){ "x", known[i].text, strlen (known[i].text) }) != known[i].is_one)
      fail_msg ("%s", known[i].text);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (rates_and_numbers_say_the_accelerator),
    cmocka_unit_test (links_join_what_the_text_says),
    cmocka_unit_test (bridges_join_pairs),
    cmocka_unit_test (a_named_card_keeps_its_links),
    cmocka_unit_test (mistakes_are_told_at_their_place),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
