/* SPDX-License-Identifier: Apache-2.0 */
/* test_links.c - the shipped links and accelerators against arithmetic done by hand and what no entry may lack. */
#include "tests/support/play.h"
#include "tests/support/test.h"

static FabCatalog *catalog;

static const FabLinkSpec *
find_link (const char *name)
{
  const FabLinkSpec *link = fab_catalog_link (catalog, name);

  if (link == NULL)
    fail_msg ("no link '%s'", name);
  return link;
}

static double
line_gb_per_s (const char *name)
{
  return (double) fab_link_spec_line_rate (find_link (name)) / 1e9;
}

static double
reached_gb_per_s (const char *name, FabDrive drive)
{
  return line_gb_per_s (name) / fab_link_spec_cost (find_link (name), drive);
}

/* What packets leave, without `achievable`. */
static double
packet_gb_per_s (const char *name, const FabLinkDriveSpec *drive)
{
  double payload = (double) drive->payload_bytes;

  return payload > 0 ? line_gb_per_s (name) * payload / (payload + (double) drive->overhead_bytes)
                     : line_gb_per_s (name);
}

static void
assert_about (const char *name, double got, double wanted, double tolerance)
{
  if (ABS (got - wanted) > tolerance)
    fail_msg ("%s: %.6g GB/s, not %.6g", name, got, wanted);
}

/* 8, 16, 32 GT/s x 16 x 128/130 / 8; 64, 128 GT/s x 16 x 236/256 / 8; a lane is a sixteenth. */
static void
test_pcie_lines (G_GNUC_UNUSED void **state)
{
  static const double x16[] = { 15.754, 31.508, 63.015, 118.0, 236.0 };
  static const guint widths[] = { 1, 2, 4, 8, 16 };

  for (guint g = 0; g < G_N_ELEMENTS (x16); g++)
    for (guint w = 0; w < G_N_ELEMENTS (widths); w++) {
      g_autofree char *name = g_strdup_printf ("pcie%u-x%u", g + 3, widths[w]);

      assert_about (name, line_gb_per_s (name), x16[g] * widths[w] / 16, 0.0006);
    }
}

/* Line rate x payload / (payload + overhead): 15.754 x 128/152, 63.015 x 256/280, 118 x 256/272 and 128/144,
 * 64/88. */
static void
test_pcie_packets (G_GNUC_UNUSED void **state)
{
  assert_about ("gen 3", packet_gb_per_s ("pcie3-x16", &find_link ("pcie3-x16")->copy), 13.27, 0.005);
  assert_about ("gen 4", packet_gb_per_s ("pcie4-x16", &find_link ("pcie4-x16")->copy), 26.53, 0.005);
  assert_about ("gen 5", packet_gb_per_s ("pcie5-x16", &find_link ("pcie5-x16")->copy), 57.61, 0.005);
  assert_about ("gen 6", packet_gb_per_s ("pcie6-x16", &find_link ("pcie6-x16")->copy), 111.06, 0.005);
  assert_about ("gen 6", packet_gb_per_s ("pcie6-x16", &find_link ("pcie6-x16")->kernel), 104.89, 0.005);
  assert_about ("Intel", packet_gb_per_s ("pcie4-x16-root-intel", &find_link ("pcie4-x16-root-intel")->copy),
                22.91, 0.005);
}

/* Links per GPU x lanes x Gb/s / 8, x 16/17 where there is FEC. */
static void
test_nvlink_totals (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    double links, gb_per_s;
  } gpus[] = { { "nvlink1", 4, 80 },          { "nvlink2", 6, 154.6875 }, { "nvlink3", 12, 300 },
               { "nvlink4", 18, 450 },        { "nvlink5", 18, 900 },     { "nvlink6", 36, 1800 },
               { "nvlink3-rtx", 4, 56.25 },   { "nvlink-c2c", 1, 450 },   { "xgmi-mi300x", 7, 448 },
               { "xgmi-mi355x", 7, 535.5 },   { "gaudi2-roce", 24, 300 }, { "gaudi3-roce", 24, 600 },
               { "nvlink4-bridge", 12, 300 }, { "ualink-200", 1, 100 } };

  for (guint i = 0; i < G_N_ELEMENTS (gpus); i++)
    assert_about (gpus[i].name, line_gb_per_s (gpus[i].name) * gpus[i].links, gpus[i].gb_per_s, 1e-6);
}

/* What was measured of a whole GPU: links x reached rate. */
static void
test_measured_gpus (G_GNUC_UNUSED void **state)
{
  assert_about ("P100 all-reduce", 4 * reached_gb_per_s ("nvlink1", FAB_DRIVE_KERNEL), 64.0, 0.01);
  assert_about ("V100 broadcast", 6 * reached_gb_per_s ("nvlink2", FAB_DRIVE_KERNEL), 122.15, 0.01);
  assert_about ("A100 copy", 12 * reached_gb_per_s ("nvlink3", FAB_DRIVE_COPY), 276.9, 0.01);
  assert_about ("H100 all-gather", 18 * reached_gb_per_s ("nvlink4", FAB_DRIVE_KERNEL), 366.03, 0.01);
  assert_about ("B200 ring", 18 * reached_gb_per_s ("nvlink5", FAB_DRIVE_KERNEL), 682.2, 0.01);
  assert_about ("8 Gaudi 2", 21 * reached_gb_per_s ("gaudi2-roce", FAB_DRIVE_COPY), 258.2, 0.01);
  assert_about ("a pair of MI300X", reached_gb_per_s ("xgmi-mi300x", FAB_DRIVE_COPY), 47.671, 0.001);
  assert_about ("8 MI300X", reached_gb_per_s ("xgmi-mi300x", FAB_DRIVE_KERNEL), 315.69 / 7, 0.001);
}

/* busbw of an all-reduce that a switch reduces: wire rate x 2 (n - 1) / (n + 1). Measured: 414.2, 435.6, 460.0 and
 * 473.1 GB/s on 5 to 8 H200, 778.2, 811.2 and 838.0 on 6 to 8 B200. One number of each link serves them all. */
static void
test_reducing_switch (G_GNUC_UNUSED void **state)
{
  static const double h200[] = { 414.2, 435.6, 460.0, 473.1 }, b200[] = { 778.2, 811.2, 838.0 };
  double h200_wire = 18 * reached_gb_per_s ("nvlink4", FAB_DRIVE_MULTIMEM);
  double b200_wire = 18 * reached_gb_per_s ("nvlink5", FAB_DRIVE_MULTIMEM);

  for (guint i = 0, n = 5; n <= 8; i++, n++)
    assert_about ("H200", h200_wire * 2 * (n - 1.0) / (n + 1.0), h200[i], 0.015 * h200[i]);
  for (guint i = 0, n = 6; n <= 8; i++, n++)
    assert_about ("B200", b200_wire * 2 * (n - 1.0) / (n + 1.0), b200[i], 0.015 * b200[i]);
}

/* Net Gb/s of a lane x lanes / 8. */
static void
test_network_lines (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    double lane_gb_per_s;
  } ib[] = { { "ib-edr", 3.125 }, { "ib-hdr", 6.25 }, { "ib-ndr", 12.5 },
             { "ib-xdr", 25 },    { "ib-gdr", 50 },   { "ib-ldr", 100 } };
  static const guint ethernet[] = { 25, 50, 100, 200, 400, 800 };

  for (guint i = 0; i < G_N_ELEMENTS (ib); i++) {
    static const guint widths[] = { 1, 8, 12 };

    assert_about (ib[i].name, line_gb_per_s (ib[i].name), 4 * ib[i].lane_gb_per_s, 1e-6);
    for (guint w = 0; w < G_N_ELEMENTS (widths); w++) {
      g_autofree char *name = g_strdup_printf ("%s-%ux", ib[i].name, widths[w]);

      assert_about (name, line_gb_per_s (name), widths[w] * ib[i].lane_gb_per_s, 1e-6);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (ethernet); i++) {
    g_autofree char *name = g_strdup_printf ("roce-%u", ethernet[i]);

    assert_about (name, line_gb_per_s (name), ethernet[i] / 8.0, 1e-6);
    assert_about (name, packet_gb_per_s (name, &find_link (name)->copy), ethernet[i] / 8.0 * 4096 / 4178,
                  1e-6);
  }
  assert_about ("tcp-100", packet_gb_per_s ("tcp-100", &find_link ("tcp-100")->copy), 12.5 * 8948 / 9038,
                1e-6);
}

/* What NCCL reached of a port: 23.57 GB/s of HDR, 48.89 of NDR, 340 of 400 Gb/s of EFA v1, 92.5 GB/s of four
 * Slingshot 11, 45.14 of gIB, 50.19 of four TCPX, 189.6 of sixteen RoCE 100. */
static void
test_collective_fractions (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name;
    double gb_per_s;
  } ports[] = { { "ib-hdr", 23.57 },        { "ib-ndr", 48.89 },       { "efa-v1", 10.625 },
                { "slingshot-11", 23.125 }, { "roce-400-gib", 45.14 }, { "tcpx-200", 50.19 / 4 },
                { "roce-100", 189.6 / 16 } };

  for (guint i = 0; i < G_N_ELEMENTS (ports); i++)
    assert_about (ports[i].name,
                  reached_gb_per_s (ports[i].name, FAB_DRIVE_COPY)
                      * find_link (ports[i].name)->collective_fraction,
                  ports[i].gb_per_s, 0.001 * ports[i].gb_per_s);
}

/* Neither the line nor what a copy reaches of it falls from one generation to the next, but for rounding. */
static void
test_generations_rise (G_GNUC_UNUSED void **state)
{
  static const char *const families[][8] = {
    { "pcie3-x16", "pcie4-x16", "pcie5-x16", "pcie6-x16", "pcie7-x16" },
    { "ib-edr", "ib-hdr", "ib-ndr", "ib-xdr", "ib-gdr", "ib-ldr" },
    { "efa-v1", "efa-v2", "efa-v3", "efa-v4" },
    { "slingshot-10", "slingshot-11", "slingshot-400" },
    { "opa-100", "opa-cn5000", "opa-cn6000" },
    { "xgmi-mi250x", "xgmi-mi300x", "xgmi-mi325x", "xgmi-mi355x" },
    { "gaudi2-roce", "gaudi3-roce" },
    { "nvme-gen3-x4", "nvme-gen4-x4", "nvme-gen5-x4" },
    { "qpi-socket-broadwell", "upi-socket-skylake", "upi-socket-icelake", "upi-socket-sapphire-rapids",
      "upi-socket-emerald-rapids" },
    { "xgmi-socket-rome", "xgmi-socket-genoa" },
    { "xbus-power8", "xbus-power9" },
    { "neuronlink2", "neuronlink3" },
    { "ici-v5e", "ici-v6e" },
    { "ddr4-4ch-2400", "ddr4-6ch-2666", "ddr4-8ch-3200", "ddr5-8ch-4800", "ddr5-12ch-4800" },
    { "nvlink3", "nvlink4", "nvlink5", "nvlink6" },
  };

  for (guint f = 0; f < G_N_ELEMENTS (families); f++)
    for (guint i = 0; families[f][i + 1]; i++) {
      const char *older = families[f][i], *newer = families[f][i + 1];

      assert_true (line_gb_per_s (newer) >= 0.999 * line_gb_per_s (older));
      if (g_str_has_prefix (newer, "upi") || g_str_equal (older, "nvlink3"))
        continue; /* a floor beside a planning constant; A100 copies lose less than H100 copies */
      assert_true (reached_gb_per_s (newer, FAB_DRIVE_COPY)
                   >= 0.999 * reached_gb_per_s (older, FAB_DRIVE_COPY));
    }
}

/* A reader sees where each number is from, and which way it goes is in the file's head. Only what stands in for
 * nothing, host-bus, takes no time. */
static void
test_every_link_is_whole (G_GNUC_UNUSED void **state)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_LINKS);

  for (guint i = 0; names[i]; i++) {
    const FabLinkSpec *link = find_link (names[i]);

    if (!link->source || !link->date || !link->technology || !link->summary || !link->copy.source
        || !link->kernel.source || (link->latency_ps <= 0 && !g_str_equal (names[i], "host-bus")))
      fail_msg ("link '%s' lacks a source, date, technology, summary or latency", names[i]);
    if (link->collective_fraction > 0 && link->collective_source == NULL)
      fail_msg ("link '%s' has a share of collectives and no source of it", names[i]);
    if (link->can_reduce && !g_str_has_prefix (names[i], "ib-"))
      fail_msg ("link '%s' has SHARP and is not InfiniBand", names[i]);
  }
  assert_false (find_link ("ib-edr")->can_reduce);
}

/* TF32 is a matrix type between FP32 and FP16, FP8 runs at FP16's rate at least; what is called a GPU has a count. */
static gboolean
has_sound_matrices (const FabAcceleratorSpec *chip)
{
  const char *others[] = { "cpu", "gaudi", "trainium", "tpu", NULL };
  gboolean is_gpu = chip->architecture != NULL && !g_strv_contains (others, chip->architecture);

  if (chip->peak_tf32_flops_per_s > 0
      && (chip->peak_tf32_flops_per_s < chip->peak_fp32_flops_per_s
          || chip->peak_tf32_flops_per_s > chip->peak_fp16_flops_per_s))
    return FALSE;
  if (chip->peak_fp8_flops_per_s > 0 && chip->peak_fp8_flops_per_s < chip->peak_fp16_flops_per_s)
    return FALSE;
  return !is_gpu || (chip->n_sms >= 16 && chip->n_sms <= 400);
}

/* A matrix peak below the plain one, or a device that reads its memory in more than 0.1 s (a socket: 5 s), is a slip
 * of a unit. */
static void
test_accelerators (G_GNUC_UNUSED void **state)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_ACCELERATORS);

  for (guint i = 0; names[i]; i++) {
    const FabAcceleratorSpec *chip = fab_catalog_accelerator (catalog, names[i]);
    double read_s = (double) chip->memory_bytes / (double) chip->memory_bytes_per_s;

    if (chip->architecture == NULL || chip->peak_fp16_flops_per_s < chip->peak_fp32_flops_per_s
        || read_s < 0.005 || read_s > (g_strcmp0 (chip->architecture, "cpu") == 0 ? 5 : 0.1)
        || !has_sound_matrices (chip))
      fail_msg ("accelerator '%s': no architecture, or numbers that do not fit each other", names[i]);
  }
  assert_int_equal (fab_catalog_accelerator (catalog, "trn2")->memory_bytes, G_GINT64_CONSTANT (96) << 30);
}

static int
load (G_GNUC_UNUSED void **state)
{
  catalog = play_catalog ();
  return catalog == NULL;
}

static int
unload (G_GNUC_UNUSED void **state)
{
  fab_catalog_free (catalog);
  return 0;
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_pcie_lines),           cmocka_unit_test (test_pcie_packets),
    cmocka_unit_test (test_nvlink_totals),        cmocka_unit_test (test_measured_gpus),
    cmocka_unit_test (test_reducing_switch),      cmocka_unit_test (test_network_lines),
    cmocka_unit_test (test_collective_fractions), cmocka_unit_test (test_generations_rise),
    cmocka_unit_test (test_every_link_is_whole),  cmocka_unit_test (test_accelerators),
  };

  return cmocka_run_group_tests (tests, load, unload);
}
