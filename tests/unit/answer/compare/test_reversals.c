/* SPDX-License-Identifier: Apache-2.0 */
/* test_reversals.c - a larger purchase that saves less than a smaller one is found, and the reason is told. */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "answer/compare/reversals.h"
#include "models/models.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

/* Sends of 1 GB over a port of 10 Gb/s. Ports of 12 and 14 Gb/s follow it; `late` is the latency of the latter. */
static FabUpgrades *
find (FabStudy **study, const char *late)
{
  g_autofree char *yaml = g_strdup_printf (
      "name: t\niterations: 1\n"
      "links:\n"
      "  - {name: slow, technology: InfiniBand, lanes: 1, signalling: 10Gb/s, latency: 1us}\n"
      "  - {name: quick, technology: InfiniBand, lanes: 1, signalling: 12Gb/s, latency: 1us}\n"
      "  - {name: last, technology: InfiniBand, lanes: 1, signalling: 14Gb/s, latency: %s}\n"
      "products:\n"
      "  - {name: quick-card, kind: nic, link: quick, price_usd: 20, power_watts: 1}\n"
      "  - {name: last-card, kind: nic, link: last, price_usd: 30, power_watts: 1}\n"
      "cluster: {node: dgx-h100, nodes: 2, gpus_per_node: 1, nics_per_node: 1, nic: slow, fabric: switch}\n"
      "collectives: plain\n"
      "job: {kind: collective, operations: [{op: send_recv, size: 1GB}]}\n",
      late);
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  int file = g_file_open_tmp ("reversals-XXXXXX.yaml", &path, &error);

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, yaml, -1, &error));
  *study = fab_study_new (path, NULL, catalog, &fab_models, &error);
  g_remove (path);
  if (*study == NULL)
    fail_msg ("%s", error->message);
  (*study)->n_threads = 1;
  FabUpgrades *found = fab_upgrades_find (
      *study, &(FabUpgradeLimits){ .kinds = 1U << FAB_UPGRADE_NIC, .has_no_band = TRUE }, &error);
  if (found == NULL)
    fail_msg ("%s", error->message);
  return found;
}

/* 0.8 s with 10 Gb/s, 0.667 with 12, which is 1/6 less, and 0.571 with 14. A port and its switch are passed with the
 * latency of two links: 0.1 s each make it 0.771 s, 3.6 % less than today and 15.7 % more than with 12 Gb/s. */
static void
a_later_port_saves_less (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = NULL;
  g_autoptr (FabUpgrades) all = find (&study, "100ms");
  g_autoptr (GPtrArray) reversals = fab_reversals_find (all);

  assert_int_equal (reversals->len, 1);
  const FabReversal *one = g_ptr_array_index (reversals, 0);
  assert_string_equal (one->larger->change.name, "NIC ports last");
  assert_string_equal (one->smaller->change.name, "NIC ports quick");
  assert_near (one->smaller->saved_fraction, 1.0 / 6, 1e-4);
  assert_string_equal (one->why,
                       "With NIC ports last the same work takes 3.6 % less time, with NIC ports quick 16.7 % "
                       "less. NIC ports last is 15.7 % slower than NIC ports quick: 104.8 ms more of "
                       "communication is exposed. Its 1 collective (send_recv direct) takes 104.8 ms more in "
                       "total.");
}

static void
a_quick_port_saves_more (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabStudy) study = NULL;
  g_autoptr (FabUpgrades) all = find (&study, "1us");
  g_autoptr (GPtrArray) reversals = fab_reversals_find (all);

  assert_int_equal (reversals->len, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_later_port_saves_less),
    cmocka_unit_test (a_quick_port_saves_more),
  };

  return play_run_tests ("reversals", tests, &catalog);
}
