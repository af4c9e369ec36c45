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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (accelerators_have_their_links),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
