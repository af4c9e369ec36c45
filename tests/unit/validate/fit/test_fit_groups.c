/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit_groups.c - which series are of one link, and which of them are chosen. */
#include "sim/base/error.h"
#include "tests/unit/validate/fit/fit_support.h"
#include "validate/fit/groups.h"

static GPtrArray *
group (const GPtrArray *series, const char *wanted)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *groups = fab_link_groups_new (series, &(FabGroupFilter){ .series = wanted }, &error);

  assert_null (error);
  return groups;
}

static const FabLinkGroup *
group_at (const GPtrArray *groups, guint i)
{
  return g_ptr_array_index (groups, i);
}

static void
test_drives_are_one_link (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = new_series ();
  FabSeries kernel = device;

  kernel.method = (char *) "kernel";
  add_series (series, &device, FAB_MEASURE_BANDWIDTH, 3, 250);
  add_series (series, &kernel, FAB_MEASURE_BANDWIDTH, 2, 230);
  g_autoptr (GPtrArray) groups = group (series, NULL);
  assert_int_equal (groups->len, 1);
  assert_string_equal (group_at (groups, 0)->suffix, "gpu-to-gpu");
  g_autoptr (FabLinkFit) link = fit (group_at (groups, 0)->series, &third);
  assert_near (fab_link_fit_one_way (link, FAB_DRIVE_COPY)->rate, 250e9, 1e-5);
  assert_near (fab_link_fit_one_way (link, FAB_DRIVE_KERNEL)->rate, 230e9, 1e-5);
}

/* Reads are another link, of the same two drives; of flags and loads a GPU's kernels are the drive. */
static void
test_reads_are_a_link_of_their_own (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = new_series ();
  FabSeries kernel = device, copy = device, flag = device;

  kernel.method = (char *) "kernel-read";
  copy.method = (char *) "copy-read";
  flag.method = (char *) "flag";
  add_series (series, &device, FAB_MEASURE_BANDWIDTH, 3, 250);
  add_series (series, &kernel, FAB_MEASURE_BANDWIDTH, 2, 150);
  add_series (series, &copy, FAB_MEASURE_BANDWIDTH, 2, 180);
  add_series (series, &flag, FAB_MEASURE_LATENCY, 1, 20);
  g_autoptr (GPtrArray) groups = group (series, NULL);
  g_autofree char *names = fab_link_groups_list (groups);
  assert_string_equal (names, "gpu-to-gpu, gpu-to-gpu-read, flag-gpu");
  g_autoptr (FabLinkFit) reads = fit (group_at (groups, 1)->series, &third),
                         flags = fit (group_at (groups, 2)->series, &third);
  assert_true (reads->is_device && flags->is_device);
  assert_near (fab_link_fit_one_way (reads, FAB_DRIVE_KERNEL)->rate, 150e9, 1e-5);
  assert_near (fab_link_fit_one_way (reads, FAB_DRIVE_COPY)->rate, 180e9, 1e-5);
  assert_near (fab_link_fit_one_way (flags, FAB_DRIVE_KERNEL)->rate, 20e9, 1e-5);
  assert_null (fab_link_fit_one_way (flags, FAB_DRIVE_COPY));
}

/* Two pairs on NVLink, one on PCIe, one from the host, and a collective that is of no link. */
static void
test_links_are_told_apart (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = new_series ();
  FabSeries other = device, far = device, host = device, all_reduce = device;

  other.to = (char *) "gpu2";
  far.to = (char *) "gpu3";
  host.from = host.from_memory = (char *) "host";
  all_reduce.op = (char *) "all_reduce";
  add_series (series, &device, FAB_MEASURE_BANDWIDTH, 3, 250);
  add_series (series, &other, FAB_MEASURE_BANDWIDTH, 3, 240);
  add_series (series, &far, FAB_MEASURE_BANDWIDTH, 3, 20);
  add_series (series, &far, FAB_MEASURE_LATENCY, 9, 20);
  add_series (series, &host, FAB_MEASURE_BANDWIDTH, 3, 26);
  add_series (series, &all_reduce, FAB_MEASURE_COLLECTIVE, 30, 100);
  g_autoptr (GPtrArray) groups = group (series, NULL), one = group (series, "gpu-to-gpu-2");
  assert_int_equal (groups->len, 3);
  assert_string_equal (group_at (groups, 0)->suffix, "gpu-to-gpu");
  assert_int_equal (group_at (groups, 0)->series->len, 2);
  assert_string_equal (group_at (groups, 1)->suffix, "gpu-to-gpu-2");
  assert_int_equal (group_at (groups, 1)->series->len, 2);
  assert_string_equal (group_at (groups, 2)->suffix, "host-to-gpu");
  assert_int_equal (one->len, 1);
  g_autoptr (GError) error = NULL;
  assert_null (fab_link_groups_new (series, &(FabGroupFilter){ .series = "tape" }, &error));
  assert_non_null (strstr (error->message, "gpu-to-gpu, gpu-to-gpu-2, host-to-gpu"));
}

static void
test_other_windows_are_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) series = new_series ();
  FabSeries wide = network;

  wide.window = 64;
  add_series (series, &network, FAB_MEASURE_BANDWIDTH, 3, 10);
  add_series (series, &wide, FAB_MEASURE_BANDWIDTH, 3, 10);
  assert_null (fab_link_fit_new (series, &third, &error));
  assert_non_null (strstr (error->message, "--series window=64"));
}

/* What the refusal advises works: kinds without a window stay, a part of its number is not it. */
static void
test_a_window_is_chosen (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) series = new_series ();
  FabSeries narrow = network, wide = network;

  narrow.window = 6;
  wide.window = 64;
  add_series (series, &network, FAB_MEASURE_LATENCY, 20, 10);
  add_series (series, &network, FAB_MEASURE_BANDWIDTH, 3, 8); /* no window is known: not the one of 64 */
  add_series (series, &narrow, FAB_MEASURE_BANDWIDTH, 3, 9);
  add_series (series, &wide, FAB_MEASURE_BANDWIDTH, 3, 10);
  add_series (series, &wide, FAB_MEASURE_BIDIRECTIONAL, 3, 8);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GPtrArray) groups = group (series, i == 0 ? "window=64" : "window=6");
    g_autoptr (FabLinkFit) link = fit (group_at (groups, 0)->series, &third);

    assert_int_equal (groups->len, 1);
    assert_int_equal (group_at (groups, 0)->series->len, i == 0 ? 3 : 2);
    assert_near (fab_link_fit_one_way (link, FAB_DRIVE_COPY)->rate, i == 0 ? 10e9 : 9e9, 1e-5);
    assert_non_null (link->kinds[FAB_DRIVE_COPY][FAB_MEASURE_LATENCY].curve);
  }
  assert_null (fab_link_groups_new (series, &(FabGroupFilter){ .series = "window=4" }, &error));
  assert_non_null (strstr (error->message, "there are the links sockets"));
}

/* Texts are compared as a whole too; any other text may be a part of the key. */
static void
test_a_member_is_chosen (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = new_series ();
  FabSeries other = network;

  other.to = (char *) "bb";
  add_series (series, &network, FAB_MEASURE_BANDWIDTH, 3, 10);
  add_series (series, &other, FAB_MEASURE_BANDWIDTH, 3, 10);
  add_series (series, &other, FAB_MEASURE_LATENCY, 3, 10);
  g_autoptr (GPtrArray) end = group (series, "to_end=b"), part = group (series, "bandwidth;");
  assert_int_equal (group_at (end, 0)->series->len, 1);
  assert_int_equal (group_at (part, 0)->series->len, 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_drives_are_one_link),  cmocka_unit_test (test_reads_are_a_link_of_their_own),
    cmocka_unit_test (test_links_are_told_apart), cmocka_unit_test (test_other_windows_are_refused),
    cmocka_unit_test (test_a_window_is_chosen),   cmocka_unit_test (test_a_member_is_chosen),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
