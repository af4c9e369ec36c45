/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit_link.c - series of links whose truth is known, to fits, entries and checks. */
#include "models/models.h"
#include "sim/base/error.h"
#include "sim/scenario/scenario.h"
#include "tests/support/test.h"
#include "tests/unit/validate/fit/fit_support.h"
#include "validate/fit/check.h"
#include "validate/fit/fragment.h"
#include "validate/fit/print.h"

#define CATALOG FAB_SOURCE_DIR "/models/catalog"

static const FabFitSizes none = { .hold_out = 0 };

/* 20 us and 10 GB/s one way, 25 us and 8 GB/s both; 9.9 and 7.92 GB/s with a window. */
static GPtrArray *
network_series (void)
{
  GPtrArray *all = new_series ();

  add_series (all, &network, FAB_MEASURE_LATENCY, 20, 10);
  add_series (all, &network, FAB_MEASURE_EXCHANGE, 25, 8);
  add_series (all, &network, FAB_MEASURE_BANDWIDTH, 2, 9.9);
  add_series (all, &network, FAB_MEASURE_BIDIRECTIONAL, 2, 7.92);
  return all;
}

static const char *const no_files[] = { "lab.meas", NULL };
static const FabFragmentRequest plain = {
  .count = 1, .hops = 2, .date = "2026-11-21", .version = "1", .files = no_files
};

static FabFragment *
fragment (FabLinkFit *link, const FabFragmentRequest *request)
{
  g_autoptr (GError) error = NULL;
  FabFragment *made = fab_fragment_new (link, request, &error);

  assert_null (error);
  return made;
}

static void
test_a_network_link (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = network_series ();
  g_autoptr (FabLinkFit) link = fit (series, &third);
  g_autoptr (FabFragment) entry = fragment (link, &plain);
  const FabMessageRegime *rows = entry->spec.messages.data;

  assert_near (fab_link_fit_one_way (link, FAB_DRIVE_COPY)->rate, 9.9e9, 1e-6);
  assert_near (fab_link_fit_duplex (link, FAB_DRIVE_COPY, NULL), 0.8, 1e-6);
  assert_int_equal (link->kinds[FAB_DRIVE_COPY][FAB_MEASURE_LATENCY].curve->n_regimes, 1);
  assert_int_equal (entry->spec.messages.n, 2);
  assert_int_equal (rows[0].way, FAB_WAY_ONE);
  assert_near ((double) rows[0].overhead_ps, 20e6, 1e-6);
  assert_near ((double) rows[1].rate_bytes_per_s, 8e9, 1e-6);
  assert_near ((double) entry->spec.endpoint_ps, 20e6, 1e-3); /* no base, so no wires; 1 B is 0.1 ns */
  assert_near (entry->spec.collective_fraction, 0.8, 1e-6);
  assert_int_equal (entry->spec.measured.n_held_out, 4 * 8);
  assert_true (entry->spec.measured.from_bytes == 1 && entry->spec.measured.to_bytes == 1 << 24);
  assert_int_equal (entry->notes->len, 0);
}

/* What is written reads back as a link of a scenario, and says of what was measured what was measured. */
static void
test_the_entry_reads_back (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) series = network_series (), entries = g_ptr_array_new ();
  g_autoptr (FabLinkFit) link = fit (series, &third);
  g_autoptr (FabFragment) entry = fragment (link, &plain);
  g_autoptr (FabCatalog) catalog = fab_catalog_load (CATALOG, &fab_models, NULL);

  g_ptr_array_add (entries, entry);
  g_autofree char *yaml = fab_fragments_yaml (entries, &plain);
  g_autofree char *scenario = g_strconcat (
      yaml,
      "name: x\ncluster: {node: dgx-a100, nodes: 2, nic: measured}\n"
      "job: {kind: collective, operations: [{op: all_reduce, size: 1MB}]}\n",
      NULL);
  g_autoptr (FabScenario) read = fab_scenario_parse ("x", scenario, strlen (scenario), NULL, &fab_models,
                                                     catalog, &error);
  if (error)
    fail_msg ("%s", error->message);
  const FabLinkSpec *spec = fab_catalog_link (fab_scenario_catalog (read), "measured");
  g_autoptr (FabLinkCheck) check = fab_link_check_new (link, &(FabLinkCheckRequest){ spec, 1, 2 }, &error);
  assert_null (error);
  assert_int_equal (check->kinds->len, 4);
  for (guint i = 0; i < check->kinds->len; i++) {
    const FabLinkCheckKind *kind = g_ptr_array_index (check->kinds, i);
    gboolean is_alone = kind->which == FAB_MEASURE_LATENCY || kind->which == FAB_MEASURE_EXCHANGE;

    assert_int_equal (kind->errors[FAB_FIT_OUTSIDE].n, 0);
    assert_int_equal (kind->n_left_out, is_alone ? 0 : 16); /* below 64 KiB */
    assert_true (kind->errors[FAB_FIT_HELD_OUT].n > 0);
    if (is_alone)
      assert_true (kind->errors[FAB_FIT_HELD_OUT].max_fraction < 1e-4);
  }
}

static void
test_other_sizes_are_outside (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) series = network_series ();
  g_autoptr (FabLinkFit) small = fit (series, &(FabFitSizes){ .max_bytes = 65536 }),
                         all = fit (series, &none);
  g_autoptr (FabFragment) entry = fragment (small, &plain);
  g_autoptr (FabLinkCheck) check = fab_link_check_new (all, &(FabLinkCheckRequest){ &entry->spec, 1, 2 },
                                                       &error);
  const FabLinkCheckKind *latency = g_ptr_array_index (check->kinds, 0);

  assert_int_equal (latency->errors[FAB_FIT_FITTED].n, 17);
  assert_int_equal (latency->errors[FAB_FIT_OUTSIDE].n, 8);
}

static void
test_a_base_says_the_rest (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  const FabLinkSpec *base = fab_catalog_link (catalog, "ib-hdr");
  g_autoptr (GPtrArray) series = network_series ();
  g_autoptr (FabLinkFit) link = fit (series, &third);
  FabFragmentRequest request = plain;

  request.base = base;
  g_autoptr (FabFragment) entry = fragment (link, &request);
  double rate = (double) fab_link_spec_line_rate (&entry->spec)
              / fab_link_spec_cost (&entry->spec, FAB_DRIVE_COPY);
  assert_string_equal (entry->spec.name, "ib-hdr-measured");
  assert_int_equal (entry->spec.latency_ps, base->latency_ps);
  assert_near (rate, 9.9e9, 1e-6);
  assert_near ((double) entry->spec.endpoint_ps, 20e6 - 2 * (double) base->latency_ps, 1e-3);
  assert_near (entry->spec.collective_fraction, 0.8, 1e-6); /* both directions bound what a library gets */
}

/* 84 wires of 240 ns take longer than the smallest message did: nothing is left for the ends, and a note says so. */
static void
test_wires_that_take_all_leave_nothing (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabCatalog) catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  g_autoptr (GPtrArray) series = network_series ();
  g_autoptr (FabLinkFit) link = fit (series, &third);
  FabFragmentRequest request = plain;
  const guint hops[] = { 83, 84 };

  request.base = fab_catalog_link (catalog, "ib-hdr");
  assert_int_equal (request.base->latency_ps, 240000);
  for (guint i = 0; i < G_N_ELEMENTS (hops); i++) {
    request.hops = hops[i];
    g_autoptr (FabFragment) entry = fragment (link, &request);
    FabTimePs left_ps = 20000000 - (FabTimePs) hops[i] * 240000;

    if (left_ps > 0)
      assert_near ((double) entry->spec.endpoint_ps, (double) left_ps, 1e-2);
    else
      assert_int_equal (entry->spec.endpoint_ps, 0);
    assert_int_equal (entry->notes->len > 0, left_ps <= 0);
  }
}

/* Directions that take nothing from each other do not make a library better than its own default. */
static void
test_duplex_without_loss_says_nothing (G_GNUC_UNUSED void **state)
{
  static const struct {
    double both_GBps, collective_fraction;
  } cases[] = { { 9.9, 0 }, { 9.9 * 0.96, 0 }, { 9.9 * 0.95, 0.95 } };
  g_autoptr (FabCatalog) catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  FabLinkSpec base = *fab_catalog_link (catalog, "roce-100");
  FabFragmentRequest request = plain;

  base.collective_fraction = 0;
  base.collective_source = NULL;
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) series = new_series ();

    request.base = i % 2 ? &base : NULL;
    add_series (series, &network, FAB_MEASURE_BANDWIDTH, 2, 9.9);
    add_series (series, &network, FAB_MEASURE_BIDIRECTIONAL, 2, cases[i / 2].both_GBps);
    g_autoptr (FabLinkFit) link = fit (series, &third);
    g_autoptr (FabFragment) entry = fragment (link, &request);
    assert_near (entry->spec.collective_fraction, cases[i / 2].collective_fraction, 1e-6);
    assert_true ((entry->spec.collective_source && *entry->spec.collective_source)
                 == (cases[i / 2].collective_fraction > 0));
  }
}

/* Like is divided by like, and the source names what was divided. */
static void
test_what_duplex_is_of (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = new_series (), copies = new_series ();

  add_series (series, &network, FAB_MEASURE_LATENCY, 20, 10);
  add_series (series, &network, FAB_MEASURE_BIDIRECTIONAL, 2, 5);
  add_series (copies, &device, FAB_MEASURE_LATENCY, 20, 10);
  add_series (copies, &device, FAB_MEASURE_BIDIRECTIONAL, 2, 5);
  g_autoptr (FabLinkFit) unlike = fit (series, &third), engines = fit (copies, &third);
  assert_true (fab_link_fit_duplex (unlike, FAB_DRIVE_COPY, NULL) == 0);
  assert_near (fab_link_fit_duplex (engines, FAB_DRIVE_COPY, NULL), 0.5, 1e-6);
  add_series (series, &network, FAB_MEASURE_EXCHANGE, 25, 8);
  g_autoptr (FabLinkFit) link = fit (series, &third);
  g_autoptr (FabFragment) entry = fragment (link, &plain);
  assert_near (entry->spec.collective_fraction, 0.8, 1e-6);
  assert_non_null (strstr (entry->spec.collective_source, "(exchange)"));
}

/* One link from two parts, the second without latency: what the first says of messages stays. */
static void
test_messages_of_the_base_stay (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) first = network_series (), second = new_series (), third_one = new_series ();
  FabFragmentRequest request = plain;

  g_array_set_size (add_series (second, &network, FAB_MEASURE_BANDWIDTH, 2, 9)->points, 23);
  add_series (third_one, &network, FAB_MEASURE_LATENCY, 30, 10);
  g_autoptr (FabLinkFit) of_base = fit (first, &third), rate = fit (second, &third),
                         latency = fit (third_one, &third);
  g_autoptr (FabFragment) base = fragment (of_base, &plain);
  base->spec.uncertainty.messages_fraction = 0.03;
  base->spec.uncertainty.rate_fraction = 0.02;
  request.base = &base->spec;
  g_autoptr (FabFragment) entry = fragment (rate, &request), other = fragment (latency, &request);
  assert_near ((double) fab_link_spec_line_rate (&entry->spec)
                   / fab_link_spec_cost (&entry->spec, FAB_DRIVE_COPY),
               9e9, 1e-6);
  assert_int_equal (entry->spec.messages.n, base->spec.messages.n);
  assert_ptr_equal (entry->spec.messages.data, base->spec.messages.data);
  assert_near (entry->spec.uncertainty.messages_fraction, 0.03, 1e-9);
  assert_memory_equal (&entry->spec.measured, &base->spec.measured, sizeof base->spec.measured);
  assert_int_equal (other->spec.messages.n, 1);
  assert_true (other->spec.uncertainty.messages_fraction < 0.03);
  assert_near (other->spec.uncertainty.rate_fraction, 0.02, 1e-9); /* no rate was measured with it */
  assert_int_equal (other->spec.measured.n_held_out, 8);
}

/* Without messages, what two parts were fitted to is added. */
static void
test_ranges_without_messages_are_added (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) copies = new_series (), kernels = new_series ();
  FabSeries kernel = device;
  FabFragmentRequest request = plain;

  kernel.method = (char *) "kernel";
  add_series (copies, &device, FAB_MEASURE_BANDWIDTH, 3, 250);
  g_array_set_size (add_series (kernels, &kernel, FAB_MEASURE_BANDWIDTH, 2, 230)->points, 20);
  g_autoptr (FabLinkFit) one = fit (copies, &third), other = fit (kernels, &third);
  g_autoptr (FabFragment) base = fragment (one, &plain);
  request.base = &base->spec;
  g_autoptr (FabFragment) entry = fragment (other, &request);
  const FabLinkMeasured *all = &entry->spec.measured, *before = &base->spec.measured;
  assert_true (all->from_bytes == 1 && all->to_bytes == 1 << 24);
  assert_true (all->n_held_out > before->n_held_out);
  assert_int_equal (all->n_held_out + all->n_rows, 25 + 20);
}

/* Half of the links make half of the rate each; messages are then of no single link. */
static void
test_links_side_by_side (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = network_series ();
  g_autoptr (FabLinkFit) link = fit (series, &third);
  FabFragmentRequest request = plain;

  request.count = 2;
  g_autoptr (FabFragment) entry = fragment (link, &request);
  assert_near ((double) fab_link_spec_line_rate (&entry->spec)
                   / fab_link_spec_cost (&entry->spec, FAB_DRIVE_COPY),
               9.9e9 / 2, 1e-6);
  assert_int_equal (entry->spec.messages.n, 0);
  g_autoptr (GPtrArray) entries = g_ptr_array_new ();
  g_ptr_array_add (entries, entry);
  g_autofree char *text = fab_fits_to_text (entries);
  assert_non_null (strstr (text, "\n  copy                 4.95"));
  assert_null (strstr (text, "4.95e"));
}

/* The head of an entry says which files it comes from and what is to be noted of the fit and of the entry, on a line
 * each: what would end a comment, or is not to be seen, stands as its code point. */
static void
test_what_an_entry_comes_from (G_GNUC_UNUSED void **state)
{
  static const char *const files[] = { "dir/plain.meas", "a\nb\tc\rd", "\u00e9\u6c34", "x\u2028y\u2029z",
                                       "\x01\x7f",       "\U000e0001", "\xff",         NULL };
  static const char head[] = "# Written by fabricast calibrate 1 on 2026-11-21 from:\n"
                             "#   plain.meas\n"
                             "#   a b c d\n"
                             "#   \u00e9\u6c34\n"
                             "#   x\\u2028y\\u2029z\n"
                             "#   \\u0001\\u007F\n"
                             "#   \\U000E0001\n"
                             "#   \ufffd\n"
                             "# Link 'measured':\n";
  g_autoptr (GPtrArray) series = network_series (), entries = g_ptr_array_new ();
  g_autoptr (FabLinkFit) link = fit (series, &third);
  FabFragmentRequest request = plain;

  request.files = files;
  g_ptr_array_add (link->notes, g_strdup ("Of the fit."));
  g_autoptr (FabFragment) entry = fragment (link, &request);
  g_ptr_array_add (entry->notes, g_strdup ("Of the entry."));
  g_ptr_array_add (entries, entry);
  g_autofree char *yaml = fab_fragments_yaml (entries, &request);
  if (!g_str_has_prefix (yaml, head))
    fail_msg ("%s", yaml);
  assert_non_null (
      strstr (yaml, "\n#   Of the fit.\n#   Of the entry.\n# A scenario takes it with `include:`"));
}

static void
test_a_slow_base_is_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabCatalog) catalog = fab_catalog_load (CATALOG, &fab_models, NULL);
  g_autoptr (GPtrArray) series = network_series ();
  g_autoptr (FabLinkFit) link = fit (series, &third);
  FabFragmentRequest request = plain;

  request.base = fab_catalog_link (catalog, "tcp-10");
  assert_null (fab_fragment_new (link, &request, &error));
  assert_non_null (strstr (error->message, "name a faster --base"));
}

/* One size: a rate of bandwidth, an endpoint of latency; an entry with neither is none. */
static void
test_one_size (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = new_series (), latency = new_series ();
  FabSeries head = network;
  g_autoptr (GError) error = NULL;

  head.kind = FAB_MEASURE_BANDWIDTH;
  g_ptr_array_add (series, fab_measured_series_new (&head));
  add_point (g_ptr_array_index (series, 0), 65536, 6.5536);
  head.kind = FAB_MEASURE_LATENCY;
  for (guint i = 0; i < 2; i++) {
    GPtrArray *to = i == 0 ? series : latency;

    g_ptr_array_add (to, fab_measured_series_new (&head));
    add_point (g_ptr_array_index (to, to->len - 1), 8, 3);
  }
  g_autoptr (FabLinkFit) link = fit (series, &third), only = fit (latency, &third);
  g_autoptr (FabFragment) entry = fragment (link, &plain);
  assert_near ((double) fab_link_spec_line_rate (&entry->spec), 10e9, 1e-6);
  assert_int_equal (entry->spec.endpoint_ps, 3000000);
  assert_int_equal (entry->spec.messages.n, 0);
  assert_true (entry->spec.uncertainty.rate_fraction == 0);
  assert_null (fab_fragment_new (only, &plain, &error));
  assert_non_null (strstr (error->message, "--base"));
}

static void
test_impossible_times_are_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) series = new_series ();

  add_point (add_series (series, &network, FAB_MEASURE_LATENCY, 3, 10), 1 << 25, 0);
  assert_null (fab_link_fit_new (series, &third, &error));
  assert_non_null (strstr (error->message, "latency: 32 MiB in 0 us"));
}

/* What 16 KiB reach is no rate of the line where the gap between messages is most of it. */
static void
test_short_messages_do_not_saturate (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = new_series ();
  FabSeries head = network;

  head.kind = FAB_MEASURE_BANDWIDTH;
  g_ptr_array_add (series, fab_measured_series_new (&head));
  for (guint i = 0; i <= 14; i++)
    add_point (g_ptr_array_index (series, 0), (FabBytes) 1 << i, 0.2 + (double) (1u << i) / 50e3);
  g_autoptr (FabLinkFit) link = fit (series, &none);
  const FabFitKind *kind = fab_link_fit_one_way (link, FAB_DRIVE_COPY);
  assert_near (kind->rate, 16384 / (0.2 + 16384 / 50e3) * 1e6, 1e-3);
  assert_true (kind->rate + kind->rate_half > 35e9);
  assert_non_null (strstr (g_ptr_array_index (link->notes, 0), "overhead still shows"));
}

/* Copies of 10 GB/s, and kernels at another rate: the line has the faster of both, and each drive its part of it. Where
 * kernels were not measured they are as fast as copies; a base says itself how fast they are. */
static void
test_kernels_have_their_own_rate (G_GNUC_UNUSED void **state)
{
  static const double kernel_GBps[] = { 0, 5, 8, 10, 20 };
  FabSeries kernel = device;

  kernel.method = (char *) "kernel";
  for (guint i = 0; i < G_N_ELEMENTS (kernel_GBps); i++) {
    g_autoptr (GPtrArray) series = new_series ();
    double fastest = MAX (10, kernel_GBps[i]), kernels = kernel_GBps[i] > 0 ? kernel_GBps[i] : 10;

    add_series (series, &device, FAB_MEASURE_BANDWIDTH, 3, 10);
    if (kernel_GBps[i] > 0)
      add_series (series, &kernel, FAB_MEASURE_BANDWIDTH, 3, kernel_GBps[i]);
    g_autoptr (FabLinkFit) link = fit (series, &none);
    g_autoptr (FabFragment) entry = fragment (link, &plain);
    assert_near ((double) fab_link_spec_line_rate (&entry->spec), fastest * 1e9, 1e-5);
    assert_near (entry->spec.copy.achievable_fraction, 10 / fastest, 1e-5);
    assert_near (entry->spec.kernel.achievable_fraction, kernels / fastest, 1e-5);
    assert_near (entry->spec.multimem.achievable_fraction, 1, 0);
    if (i > 0)
      continue;
    FabLinkSpec base = entry->spec;
    FabFragmentRequest request = plain;

    base.kernel.achievable_fraction = 0.25;
    request.base = &base;
    g_autoptr (FabLinkFit) again = fit (series, &none);
    g_autoptr (FabFragment) other = fragment (again, &request);
    assert_near (other->spec.copy.achievable_fraction, 1, 1e-5);
    assert_near (other->spec.kernel.achievable_fraction, 0.25, 0);
  }
}

/* With both directions busy each is as fast as alone, which was measured less well: how sure the rate is follows from
 * what was measured of one direction. */
static void
test_the_first_of_equal_rates_says_how_sure_it_is (G_GNUC_UNUSED void **state)
{
  g_autoptr (GPtrArray) series = new_series ();

  add_series (series, &network, FAB_MEASURE_BANDWIDTH, 3, 10);
  add_series (series, &network, FAB_MEASURE_BIDIRECTIONAL, 3, 10);
  g_autoptr (FabLinkFit) link = fit (series, &none);
  FabFitKind *one = &link->kinds[FAB_DRIVE_COPY][FAB_MEASURE_BANDWIDTH],
             *both = &link->kinds[FAB_DRIVE_COPY][FAB_MEASURE_BIDIRECTIONAL];
  one->rate = both->rate = 10e9;
  one->rate_half = 1e9;
  both->rate_half = 3e9;
  g_autoptr (FabFragment) entry = fragment (link, &plain);
  assert_near (entry->spec.uncertainty.rate_fraction, 0.1, 1e-9);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_network_link),
    cmocka_unit_test (test_the_entry_reads_back),
    cmocka_unit_test (test_other_sizes_are_outside),
    cmocka_unit_test (test_a_base_says_the_rest),
    cmocka_unit_test (test_wires_that_take_all_leave_nothing),
    cmocka_unit_test (test_duplex_without_loss_says_nothing),
    cmocka_unit_test (test_what_duplex_is_of),
    cmocka_unit_test (test_messages_of_the_base_stay),
    cmocka_unit_test (test_ranges_without_messages_are_added),
    cmocka_unit_test (test_links_side_by_side),
    cmocka_unit_test (test_what_an_entry_comes_from),
    cmocka_unit_test (test_a_slow_base_is_refused),
    cmocka_unit_test (test_one_size),
    cmocka_unit_test (test_impossible_times_are_refused),
    cmocka_unit_test (test_short_messages_do_not_saturate),
    cmocka_unit_test (test_kernels_have_their_own_rate),
    cmocka_unit_test (test_the_first_of_equal_rates_says_how_sure_it_is),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
