/* SPDX-License-Identifier: Apache-2.0 */
/* test_usual.c - the values that a study tries where the user gives none, by hand from the scenario's. */
#include "tests/support/test.h"

#include <glib/gstdio.h>

#include "models/models.h"
#include "sim/study/usual.h"
#include "tests/support/play.h"

static FabCatalog *catalog;

static FabAxis *
usual (const char *cluster, const char *fidelity, const char *key, GError **error)
{
  g_autofree char *path = NULL, *yaml = g_strdup_printf (
                                    "name: t\ncluster: {node: dgx-h100, %s}\nfidelity: {kind: packet, %s}\n"
                                    "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
                                    cluster, fidelity);
  int file = g_file_open_tmp ("usual-XXXXXX.yaml", &path, error);
  g_autoptr (FabStudy) study = NULL;

  assert_true (file >= 0 && g_close (file, NULL) && g_file_set_contents (path, yaml, -1, error));
  study = fab_study_new (path, NULL, catalog, &fab_models, error);
  g_remove (path);
  assert_non_null (study);
  return fab_axis_usual (study, key, error);
}

/* "2,4,8" (transfer full) */
static char *
written (const FabAxis *axis)
{
  g_ptr_array_add (axis->values, NULL);
  return g_strjoinv (",", (char **) axis->values->pdata);
}

static void
whole_numbers_double (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *cluster, *expected;
  } rows[] = { { "nodes: 8", "2,4,8,16,32,64" },
               { "nodes: 1", "1,2,4,8" },
               { "nodes: 3", "1,2,4,8,16,24" },
               { "nodes: 6", "1,2,4,8,16,32,48" } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabAxis) axis = usual (rows[i].cluster, "memo: true", "cluster.nodes", &error);
    g_autofree char *text = written (axis);

    assert_string_equal (axis->key, "cluster.nodes");
    assert_string_equal (text, rows[i].expected);
  }
}

static void
oversubscription_falls_by_quarters (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabAxis) axis = usual ("nodes: 4, fabric: {kind: leaf_spine, oversubscription: 2}", "memo: true",
                                    "cluster.fabric.oversubscription", &error);

  assert_int_equal (axis->values->len, 29);
  g_autofree char *text = written (axis);
  assert_true (g_str_has_prefix (text, "8,7.75,7.5,7.25,7,6.75,"));
  assert_true (g_str_has_suffix (text, ",1.75,1.5,1.25,1"));
}

/* From a quarter to eight times the value in steps of 5 %: 1.05^71 is 31.9, so that there are 72 values below the last
 * one. Three digits are written, with which the last two are one, and all digits of a size. A part of one ends at one:
 * 1.05^42 is 7.8, and 1.05^47 9.9. */
static void
other_numbers_rise_by_a_twentieth (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *fidelity, *key, *first, *last;
    guint n;
  } rows[] = {
    { "doorbell: 200ns", "fidelity.doorbell", "50ns,52.5ns,55.1ns,57.9ns,", ",1600ns", 72 },
    { "alpha: 0.5", "fidelity.alpha", "0.125,0.131,0.138,", ",0.97,1", 44 },
    { "pace: 40%", "fidelity.pace", "0.1,0.105,0.11,0.116,", ",0.991,1", 49 },
    { "alpha: 1.5", "fidelity.alpha", "0.375,0.394,0.413,", ",12", 72 },
    { "queue: 40kB", "fidelity.queue", "10kB,11kB,12kB,", ",320kB", 0 },
    { "mtu: 256B", "fidelity.mtu", "64B,67B,71B,74B,", ",2048B", 73 },
    { "alpha: 1", "fidelity.alpha", "1,2,4,8", "1,2,4,8", 4 },
    { "alpha: 12", "fidelity.alpha", "3,6,12,24,48,96", "3,6,12,24,48,96", 6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (FabAxis) axis = usual ("nodes: 2", rows[i].fidelity, rows[i].key, &error);

    if (axis == NULL)
      fail_msg ("%s", error->message);
    guint n = axis->values->len;
    g_autofree char *text = written (axis);

    if (!g_str_has_prefix (text, rows[i].first) || !g_str_has_suffix (text, rows[i].last)
        || (rows[i].n > 0 && n != rows[i].n))
      fail_msg ("%s: %u values: %s", rows[i].key, n, text);
  }
}

/* The slowest port that is sold has S, the fastest F: from S / 4 in steps of 2 % to F. */
static void
rates_are_those_of_ports (G_GNUC_UNUSED void **state)
{
  g_autofree const char **names = fab_catalog_names (catalog, FAB_SECTION_PRODUCTS);
  g_autoptr (GError) error = NULL;
  double least = HUGE_VAL, most = 0;

  for (guint i = 0; names[i] != NULL; i++) {
    const FabProductSpec *product = fab_catalog_product (catalog, names[i]);

    if (product->kind == FAB_PRODUCT_NIC) {
      double gbit = (double) fab_link_spec_line_rate (fab_catalog_link (catalog, product->link)) / 125e6;

      least = MIN (least, gbit);
      most = MAX (most, gbit);
    }
  }
  g_autoptr (FabAxis) axis = usual ("nodes: 2", "memo: true", "cluster.nic_rate", &error);
  const char *first = g_ptr_array_index (axis->values, 0),
             *last = g_ptr_array_index (axis->values, axis->values->len - 1),
             *tenth = g_ptr_array_index (axis->values, 10);
  assert_near (g_ascii_strtod (first, NULL), least / 4, 0.005);
  assert_near (g_ascii_strtod (tenth, NULL), least / 4 * pow (1.02, 10), 0.005);
  assert_near (g_ascii_strtod (last, NULL), most, 0.005);
  assert_true (g_str_has_suffix (first, "Gb/s") && g_str_has_suffix (last, "Gb/s"));
  assert_in_range (axis->values->len, (guint) (log (4 * most / least) / log (1.02)),
                   (guint) (log (4 * most / least) / log (1.02)) + 2);
}

/* A share of the power ends where the accelerator has all of it. */
static void
a_share_ends_at_all (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabAxis) axis = usual ("nodes: 1, power_cap: 60%", "memo: true", "cluster.power_cap", &error);

  if (axis == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *text = written (axis);
  if (!g_str_has_prefix (text, "0.15,0.158,0.165,") || !g_str_has_suffix (text, ",0.958,1"))
    fail_msg ("%s", text);
}

/* Watts are whole. */
static void
watts_are_whole (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabAxis) axis = usual ("nodes: 1, power_cap: 300W", "memo: true", "cluster.power_cap", &error);

  if (axis == NULL)
    fail_msg ("%s", error->message);
  g_autofree char *text = written (axis);
  if (!g_str_has_prefix (text, "75W,79W,83W,87W,") || !g_str_has_suffix (text, "W,2400W"))
    fail_msg ("%s", text);
}

static void
a_key_without_a_number_is_refused (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *key, *message;
  } rows[] = {
    { "fidelity.kind",
      "--vary fidelity.kind: the scenario has no number above 0 there but packet; give the values: "
      "fidelity.kind=A..B:x2 or fidelity.kind=A,B,C" },
    { "fidelity.message_gap",
      "--vary fidelity.message_gap: the scenario has no number above 0 there but 0s; give the values: "
      "fidelity.message_gap=A..B:x2 or fidelity.message_gap=A,B,C" },
    { "cluster.nothing", "--vary cluster.nothing: the scenario has no number above 0 there; give the values: "
                         "cluster.nothing=A..B:x2 or cluster.nothing=A,B,C" },
    { "cluster.nic", "--vary cluster.nic: the scenario has no number above 0 there; give the values: "
                     "cluster.nic=A..B:x2 or cluster.nic=A,B,C" },
    { "job.operations", "--vary job.operations: the scenario has no number above 0 there; give the values: "
                        "job.operations=A..B:x2 or job.operations=A,B,C" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;

    assert_null (usual ("nodes: 2", "message_gap: 0ns", rows[i].key, &error));
    assert_string_equal (error->message, rows[i].message);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (whole_numbers_double),
    cmocka_unit_test (oversubscription_falls_by_quarters),
    cmocka_unit_test (other_numbers_rise_by_a_twentieth),
    cmocka_unit_test (rates_are_those_of_ports),
    cmocka_unit_test (a_share_ends_at_all),
    cmocka_unit_test (watts_are_whole),
    cmocka_unit_test (a_key_without_a_number_is_refused),
  };

  return play_run_tests ("usual", tests, &catalog);
}
