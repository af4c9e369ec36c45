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

/* --- names, classes and filters --- */

static void
test_names_of_links (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *method, *from, *to, *from_memory, *to_memory;
    guint n_pairs;
    const char *name;
  } cases[] = {
    { NULL, "a", "b", NULL, NULL, 1, "link" },
    { "sockets", "a", "b", NULL, NULL, 0, "sockets" },
    { "sockets", "a", "b", NULL, NULL, 2, "sockets-2-pairs" },
    { "write", "a", "b", "gpu", "gpu", 1, "write-gpu" },
    { "write", "a", "b", "gpu", "host", 1, "write-gpu-to-host" },
    { "write", "a", "a", "gpu", "gpu", 1, "write-within-gpu" },
    { "write", NULL, NULL, "gpu", "gpu", 1, "write-gpu" },
    { "copy", "gpu0", "gpu1", "gpu", "gpu", 1, "gpu-to-gpu" },
    { "kernel", "gpu0", "gpu1", "gpu", "gpu", 1, "gpu-to-gpu" },
    { "copy-read", "gpu0", "gpu1", "gpu", "gpu", 1, "gpu-to-gpu-read" },
    { "kernel-read", "host", "gpu1", "host", "gpu", 8, "host-to-gpu-read-8-pairs" },
    { "copy", "gpu0", "gpu0", "gpu", "gpu", 1, "within-gpu" },
    { "copy", "gpu0", "gpu1", "gpu", NULL, 1, "gpu" },
    { "copy", "gpu0", "gpu1", NULL, "gpu", 1, "to-gpu" },
    { "copy", "gpu0", "gpu1", NULL, NULL, 1, "link" },
    { "staged", "gpu0", "gpu1", "gpu", "gpu", 1, "staged-gpu" },
    { "flag", "gpu0", "gpu1", "gpu", "host", 1, "flag-gpu-to-host" },
    { "load", "gpu0", "gpu0", "gpu", "gpu", 1, "load-within-gpu" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) series = new_series ();
    FabSeries one = { .system = (char *) "lab",
                      .method = (char *) cases[i].method,
                      .from = (char *) cases[i].from,
                      .to = (char *) cases[i].to,
                      .from_memory = (char *) cases[i].from_memory,
                      .to_memory = (char *) cases[i].to_memory,
                      .n_pairs = cases[i].n_pairs };

    add_series (series, &one, FAB_MEASURE_BANDWIDTH, 3, 10);
    one.system = NULL; /* of another machine: a link of its own, whose name comes a second time */
    add_series (series, &one, FAB_MEASURE_BANDWIDTH, 3, 10);
    g_autoptr (GPtrArray) groups = group (series, NULL);
    g_autofree char *names = fab_link_groups_list (groups),
                    *right = g_strdup_printf ("%s, %s-2", cases[i].name, cases[i].name);
    assert_string_equal (names, right);
    assert_ptr_equal (g_ptr_array_index (group_at (groups, 1)->series, 0), g_ptr_array_index (series, 1));
  }
}

/* Pairs of ends are of one link where the fastest of them is at most 1.3 times as fast, at the largest messages of the
 * first kind that was measured. What else was measured between two ends goes with them; ends without that kind count as
 * the fastest. */
static void
test_pairs_of_like_rates (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *to;
    FabMeasureKind kind;
    double GBps;
    guint rank;
  } cases[] = {
    { "a", FAB_MEASURE_BANDWIDTH, 59, 1 }, { "b", FAB_MEASURE_BANDWIDTH, 100, 0 },
    { "c", FAB_MEASURE_BANDWIDTH, 76, 1 }, { "d", FAB_MEASURE_BANDWIDTH, 58, 2 },
    { "e", FAB_MEASURE_BANDWIDTH, 77, 0 }, { "d", FAB_MEASURE_LATENCY, 1000, 2 },
    { "f", FAB_MEASURE_LATENCY, 1, 0 },    { "a", FAB_MEASURE_BIDIRECTIONAL, 10, 1 },
    { "c", FAB_MEASURE_BANDWIDTH, 20, 1 }, { "e", FAB_MEASURE_EXCHANGE, 500, 0 },
    { "g", FAB_MEASURE_BANDWIDTH, 10, 3 },
  };
  static const char *const names[] = { "gpu-to-gpu", "gpu-to-gpu-2", "gpu-to-gpu-3", "gpu-to-gpu-4" };
  g_autoptr (GPtrArray) series = new_series ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FabSeries one = device;
    FabMeasuredSeries *added;

    one.to = (char *) cases[i].to;
    one.kind = cases[i].kind;
    g_ptr_array_add (series, added = fab_measured_series_new (&one));
    add_point (added, 1000, i * 10 + 1); /* of small messages nothing follows */
    add_point (added, 1000000, 1e3 / cases[i].GBps);
  }
  g_autoptr (GPtrArray) groups = group (series, NULL);
  assert_int_equal (groups->len, G_N_ELEMENTS (names));
  for (guint rank = 0; rank < groups->len; rank++) {
    const FabLinkGroup *one = group_at (groups, rank);
    guint n = 0;

    assert_string_equal (one->suffix, names[rank]);
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      if (cases[i].rank == rank)
        assert_ptr_equal (g_ptr_array_index (one->series, n++), g_ptr_array_index (series, i));
    assert_int_equal (one->series->len, n);
  }
}

/* Each text must be equal; a memory may be that of either end. Collectives and kernels are of no link, and a series
 * without a point is none. */
static void
test_what_is_asked_for (G_GNUC_UNUSED void **state)
{
  static const FabGroupFilter filters[] = {
    { 0 },
    { .system = "lab" },
    { .system = "hall" },
    { .from = "gpu0" },
    { .from = "gpu1" },
    { .to = "gpu1" },
    { .to = "gpu0" },
    { .method = "copy" },
    { .method = "cop" },
    { .memory = "gpu" },
    { .memory = "host" },
    { .memory = "tape" },
    { .system = "lab", .from = "gpu0", .to = "gpu1", .method = "copy", .memory = "host" },
  };
  static const gboolean is_there[] = { TRUE, TRUE,  FALSE, TRUE, FALSE, TRUE, FALSE,
                                       TRUE, FALSE, TRUE,  TRUE, FALSE, TRUE };

  for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
    g_autoptr (GPtrArray) series = new_series ();
    FabSeries one = device;
    g_autoptr (GError) error = NULL;

    one.to_memory = (char *) "host";
    for (FabMeasureKind kind = 0; kind < FAB_N_MEASURE_KINDS; kind++)
      add_series (series, &one, kind, 3, 10);
    g_array_set_size (add_series (series, &one, FAB_MEASURE_BANDWIDTH, 3, 10)->points, 0);
    g_autoptr (GPtrArray) groups = fab_link_groups_new (series, &filters[i], &error);
    assert_int_equal (groups != NULL, is_there[i]);
    if (groups == NULL) {
      assert_true (g_error_matches (error, FAB_ERROR, FAB_ERROR_INPUT));
      assert_string_equal (error->message,
                           "none of the 11 series is a point-to-point measurement that was asked for");
      continue;
    }
    assert_int_equal (groups->len, 1);
    assert_int_equal (group_at (groups, 0)->series->len, FAB_MEASURE_COLLECTIVE);
    for (guint k = 0; k < FAB_MEASURE_COLLECTIVE; k++)
      assert_ptr_equal (g_ptr_array_index (group_at (groups, 0)->series, k), g_ptr_array_index (series, k));
  }
}

/* Of two links, a name leaves one; what a member says leaves its series in each, and those of kinds that say nothing of
 * it, but where another of that kind says it. A number of 0 is not known; it can be asked for as well. */
static void
test_what_series_say (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *wanted, *links;
    guint series; /* a bit for each */
  } cases[] = {
    { "gpu-to-gpu", "gpu-to-gpu", 7 },
    { "gpu-to-gpu-read", "gpu-to-gpu-read", 24 },
    { "window=8", "gpu-to-gpu, gpu-to-gpu-read", 1 + 4 + 8 },
    { "window=0", "gpu-to-gpu, gpu-to-gpu-read", 2 + 4 + 16 },
    { "window=9", NULL, 0 },
    { "windo=8", NULL, 0 },
    { "windows=8", NULL, 0 },
    { "to_end=gpu1", "gpu-to-gpu, gpu-to-gpu-read", 31 },
    { "note=warm", "gpu-to-gpu, gpu-to-gpu-read", 2 + 4 + 8 + 16 },
    { "method=copy-read", "gpu-to-gpu-read", 24 },
    { "latency;", "gpu-to-gpu", 4 },
    { "tape", NULL, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) series = new_series ();
    FabSeries head = device;
    g_autoptr (GError) error = NULL;
    guint found = 0;

    head.window = 8;
    add_series (series, &head, FAB_MEASURE_BANDWIDTH, 3, 10);
    head.window = 0;
    head.note = (char *) "warm";
    add_series (series, &head, FAB_MEASURE_BANDWIDTH, 3, 10);
    head.note = NULL;
    add_series (series, &head, FAB_MEASURE_LATENCY, 3, 10);
    head.method = (char *) "copy-read";
    head.window = 8;
    add_series (series, &head, FAB_MEASURE_BANDWIDTH, 3, 10);
    head.window = 0;
    add_series (series, &head, FAB_MEASURE_BANDWIDTH, 3, 10);
    g_autoptr (GPtrArray) groups = fab_link_groups_new (series,
                                                        &(FabGroupFilter){ .series = cases[i].wanted },
                                                        &error);
    g_autofree char *right = g_strdup_printf (
        "no series has '%s' in its key; there are the links gpu-to-gpu, gpu-to-gpu-read", cases[i].wanted);
    if (cases[i].links == NULL) {
      assert_null (groups);
      assert_string_equal (error->message, right);
      continue;
    }
    if (groups == NULL)
      fail_msg ("%s", error->message);
    g_autofree char *links = fab_link_groups_list (groups);
    assert_string_equal (links, cases[i].links);
    for (guint k = 0; k < groups->len; k++)
      for (guint n = 0; n < group_at (groups, k)->series->len; n++) {
        guint at;

        assert_true (g_ptr_array_find (series, g_ptr_array_index (group_at (groups, k)->series, n), &at));
        found |= 1u << at;
      }
    if (found != cases[i].series)
      fail_msg ("%s: %u, not %u", cases[i].wanted, found, cases[i].series);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_drives_are_one_link),  cmocka_unit_test (test_reads_are_a_link_of_their_own),
    cmocka_unit_test (test_links_are_told_apart), cmocka_unit_test (test_other_windows_are_refused),
    cmocka_unit_test (test_a_window_is_chosen),   cmocka_unit_test (test_a_member_is_chosen),
    cmocka_unit_test (test_names_of_links),       cmocka_unit_test (test_pairs_of_like_rates),
    cmocka_unit_test (test_what_is_asked_for),    cmocka_unit_test (test_what_series_say),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
