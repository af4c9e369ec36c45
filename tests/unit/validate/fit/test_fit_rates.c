/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit_rates.c - which rate each kind of measurement of a link gives, how sure it is, what is refused and what is
 * noted. */
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "tests/unit/validate/fit/fit_support.h"

static const FabFitSizes all_sizes = { .hold_out = 0 };

static FabSeries
with_method (const FabSeries *like, const char *method)
{
  FabSeries series = *like;

  series.method = (char *) method;
  return series;
}

/* A series of these sizes and times in us. */
static FabMeasuredSeries *
add_sizes (GPtrArray *all, const FabSeries *like, FabMeasureKind kind, const double rows[][2], guint n)
{
  FabSeries head = *like;
  FabMeasuredSeries *series;

  head.kind = kind;
  series = fab_measured_series_new (&head);
  for (guint i = 0; i < n; i++)
    add_point (series, (FabBytes) rows[i][0], rows[i][1]);
  g_ptr_array_add (all, series);
  return series;
}

static void
assert_refused (const GPtrArray *series, const FabFitSizes *sizes, const char *message)
{
  g_autoptr (GError) error = NULL;

  assert_null (fab_link_fit_new (series, sizes, &error));
  assert_string_equal (error->message, message);
}

static gboolean
has_note (const FabLinkFit *fit, const char *note)
{
  for (guint i = 0; i < fit->notes->len; i++)
    if (strcmp (g_ptr_array_index (fit->notes, i), note) == 0)
      return TRUE;
  return FALSE;
}

/* --- what is fitted together --- */

/* Series of one kind and drive have one number of queue pairs, one MTU and one number of messages under way. */
static void
test_one_kind_is_measured_in_one_way (G_GNUC_UNUSED void **state)
{
  static const char *const messages[] = {
    "bandwidth was measured in more than one way: queue pairs 1 and 2; choose with --series n_queue_pairs=2",
    "bandwidth was measured in more than one way: MTU 3 and 4; choose with --series mtu_bytes=4",
    "bandwidth was measured in more than one way: messages under way 5 and 6; choose with --series window=6",
  };

  for (guint i = 0; i < 3; i++)
    for (guint same = 0; same < 3; same++) {
      g_autoptr (GPtrArray) series = new_series ();
      FabSeries one = network, other;

      one.n_queue_pairs = 1;
      one.mtu_bytes = 3;
      one.window = 5;
      other = one;
      other.n_queue_pairs += i == 0;
      other.mtu_bytes += i == 1;
      other.window += i == 2;
      add_series (series, &one, FAB_MEASURE_BANDWIDTH, 2, 10);
      if (same == 1) { /* another drive */
        other.method = (char *) "kernel";
        add_series (series, &other, FAB_MEASURE_BANDWIDTH, 2, 10);
      } else
        add_series (series, &other, same == 0 ? FAB_MEASURE_BANDWIDTH : FAB_MEASURE_BIDIRECTIONAL, 2, 10);
      if (same == 0) {
        assert_refused (series, &third, messages[i]);
        continue;
      }
      g_autoptr (FabLinkFit) link = fit (series, &third);
      assert_near (fab_link_fit_one_way (link, FAB_DRIVE_COPY)->rate, 10e9, 1e-6);
    }
}

/* All series of a kind count, as far as their sizes are wanted: both ends of the range are. */
static void
test_what_is_known_of_a_kind (G_GNUC_UNUSED void **state)
{
  static const double small[][2] = { { 0, 5 }, { 1, 5 }, { 16, 5 }, { 64, 5.1 } };
  static const double large[][2] = { { 32, 5.1 }, { 64, 5.3 }, { 1024, 6 }, { 65536, 12 }, { 1048576, 110 } };
  static const struct {
    FabFitSizes sizes;
    guint n_series, n_sizes;
    FabBytes from_bytes, to_bytes;
  } cases[] = {
    { { 0, 0, 0 }, 2, 7, 1, 1048576 },   { { 16, 0, 0 }, 2, 6, 16, 1048576 },
    { { 17, 1024, 0 }, 2, 3, 32, 1024 }, { { 65, 65536, 0 }, 1, 2, 1024, 65536 },
    { { 0, 1023, 0 }, 2, 4, 1, 64 },     { { 1048576, 1048576, 0 }, 1, 1, 1048576, 1048576 },
    { { 16, 31, 0 }, 1, 1, 16, 16 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) series = new_series ();
    FabMeasuredSeries *one = add_sizes (series, &network, FAB_MEASURE_LATENCY, small, G_N_ELEMENTS (small)),
                      *other = add_sizes (series, &network, FAB_MEASURE_LATENCY, large, G_N_ELEMENTS (large));
    guint64 n_samples = 0;

    for (guint k = 0; k < 9; k++) {
      FabMeasuredPoint *point = k < 4 ? &g_array_index (one->points, FabMeasuredPoint, k)
                                      : &g_array_index (other->points, FabMeasuredPoint, k - 4);

      point->n_samples = 1u << k;
      n_samples += point->size_bytes >= cases[i].from_bytes && point->size_bytes <= cases[i].to_bytes
                     ? 1u << k
                     : 0;
    }
    g_autoptr (FabLinkFit) link = fit (series, &cases[i].sizes);
    const FabFitKind *kind = &link->kinds[FAB_DRIVE_COPY][FAB_MEASURE_LATENCY];

    assert_int_equal (kind->n_series, cases[i].n_series);
    assert_int_equal (kind->points->len, cases[i].n_sizes);
    assert_int_equal (kind->from_bytes, cases[i].from_bytes);
    assert_int_equal (kind->to_bytes, cases[i].to_bytes);
    assert_int_equal (kind->n_samples, n_samples);
    assert_ptr_equal (kind->series,
                      cases[i].n_series == 1 && cases[i].from_bytes > 64 ? &other->series : &one->series);
    assert_int_equal (kind->curve != NULL, cases[i].n_sizes >= FAB_FIT_MIN_SIZES);
    assert_string_equal (link->system, "lab");
  }
  g_autoptr (GPtrArray) none = new_series ();
  add_sizes (none, &network, FAB_MEASURE_LATENCY, small, G_N_ELEMENTS (small));
  assert_refused (none, &(FabFitSizes){ 65, 0, 0 },
                  "no size that was measured is between --min-size and --max-size");
  assert_refused (none, &(FabFitSizes){ 17, 63, 0 },
                  "no size that was measured is between --min-size and --max-size");
}

/* At the largest size the slowest pair takes at most 1.3 times as long as the fastest. */
static void
test_pairs_of_ends_are_alike (G_GNUC_UNUSED void **state)
{
  static const double factors[] = { 1.299, 1.3, 1.301 };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (factors); i++) {
    g_autoptr (GPtrArray) series = new_series ();
    double factor = factors[i / 2];
    const double fast[][2] = { { 65536, 10 }, { 1048576, 100 } };
    const double slow[][2] = { { 65536, 100 }, { 1048576, 100 * factor } };

    add_sizes (series, &network, FAB_MEASURE_BANDWIDTH, i % 2 ? fast : slow, 2);
    add_sizes (series, &network, FAB_MEASURE_BANDWIDTH, i % 2 ? slow : fast, 2);
    if (factor > 1.3) {
      assert_refused (
          series, &all_sizes,
          "bandwidth of 1048576 B is 10.49 GB/s between some ends and 8.06 between others: they are not "
          "joined alike; choose with --from and --to");
      continue;
    }
    g_autoptr (FabLinkFit) link = fit (series, &all_sizes);
    assert_int_equal (link->kinds[FAB_DRIVE_COPY][FAB_MEASURE_BANDWIDTH].n_series, 2);
  }
}

/* --- rates --- */

/* Of few sizes the largest gives the rate: the mean over the pairs, with the interval of Student's t between them. */
static void
test_the_rate_of_few_sizes (G_GNUC_UNUSED void **state)
{
  static const double us[] = { 100, 90, 80 }; /* of 1 MB: 10, 11.1 and 12.5 GB/s */

  for (guint n = 1; n <= G_N_ELEMENTS (us); n++) {
    g_autoptr (GPtrArray) series = new_series ();

    for (guint i = 0; i < n; i++) {
      const double rows[][2] = { { 8, 3 }, { 1e6, us[i] } };

      add_sizes (series, &network, FAB_MEASURE_BANDWIDTH, rows, 2);
    }
    g_autoptr (FabLinkFit) link = fit (series, &all_sizes);
    const FabFitKind *kind = fab_link_fit_one_way (link, FAB_DRIVE_COPY);
    double mean = 0, squares = 0;

    for (guint i = 0; i < n; i++)
      mean += 1e12 / us[i] / n;
    for (guint i = 0; i < n; i++)
      squares += pow (1e12 / us[i] - mean, 2);
    assert_near (kind->rate, mean, 1e-12);
    assert_near (kind->rate_half, n == 1 ? 0 : (n == 2 ? 12.7062 : 4.3027) * sqrt (squares / (n - 1) / n),
                 1e-6);
    assert_null (kind->curve);
    assert_true (has_note (link, "bandwidth has 2 sizes: only its rate is used, nothing is held out"));
    assert_true (fab_link_fit_has_rate (link));
  }
}

static void
test_the_time_of_few_sizes (G_GNUC_UNUSED void **state)
{
  static const double rows[][2] = { { 8, 3 }, { 16, 3.5 }, { 32, 4 } };
  static const FabMeasureKind kinds[] = { FAB_MEASURE_LATENCY, FAB_MEASURE_EXCHANGE };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint n = 1; n <= 3; n++) {
      g_autoptr (GPtrArray) series = new_series ();
      g_autofree char *note = g_strdup_printf (
          "%s has %u size%s: only its smallest time is used, nothing is held out",
          fab_measure_kind_names[kinds[i]], n, n == 1 ? "" : "s");

      add_sizes (series, &network, kinds[i], rows, n);
      g_autoptr (FabLinkFit) link = fit (series, &all_sizes);
      assert_near (link->kinds[FAB_DRIVE_COPY][kinds[i]].rate, 0, 0);
      assert_true (has_note (link, note));
      assert_false (fab_link_fit_has_rate (link));
    }
}

/* Many messages at 9 us and 1 GB/s: the overhead is a tenth of 81 KB, and shows at what is shorter. */
static void
test_a_rate_where_overhead_shows (G_GNUC_UNUSED void **state)
{
  static const double to[] = { 80000, 82000 };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (to); i++) {
    g_autoptr (GPtrArray) series = new_series ();
    FabMeasureKind which = i % 2 ? FAB_MEASURE_BIDIRECTIONAL : FAB_MEASURE_BANDWIDTH;
    double sizes[8][2];

    for (guint k = 0; k < 8; k++) {
      sizes[k][0] = to[i / 2] / (1u << (7 - k));
      sizes[k][1] = 9 + sizes[k][0] / 1e3;
    }
    add_sizes (series, &network, which, (const double (*)[2]) sizes, 8);
    g_autoptr (FabLinkFit) link = fit (series, &all_sizes);
    const FabFitKind *kind = &link->kinds[FAB_DRIVE_COPY][which];
    double reached = 80e3 / 89e3 * 1e9;
    g_autofree char *note = g_strdup_printf (
        "%s: overhead still shows at 80 kB, its largest size: what that reaches stands for the rate",
        fab_measure_kind_names[which]);

    assert_near (kind->rate, i / 2 ? 1e9 : reached, 1e-4);
    assert_int_equal (has_note (link, note), i / 2 == 0);
    if (i / 2 == 0) /* up to what it would be without overhead */
      assert_near (kind->rate_half, reached * 9 / 89, 1e-3);
  }
}

/* Messages alone never hide their overhead: theirs is the rate of the line, where they are long enough to tell it. */
static void
test_a_rate_of_messages_alone (G_GNUC_UNUSED void **state)
{
  static const double short_ones[][2] = { { 1, 9 }, { 2, 9.001 }, { 4, 9 }, { 8, 9.002 }, { 16, 9 } };
  static const double long_ones[][2] = { { 1e3, 10 }, { 2e3, 11 }, { 4e3, 13 }, { 8e3, 17 }, { 16e3, 25 } };
  static const FabMeasureKind kinds[] = { FAB_MEASURE_LATENCY, FAB_MEASURE_EXCHANGE };

  for (guint i = 0; i < 4; i++) {
    g_autoptr (GPtrArray) series = new_series ();

    add_sizes (series, &network, kinds[i % 2], i / 2 ? long_ones : short_ones, 5);
    g_autoptr (FabLinkFit) link = fit (series, &all_sizes);
    assert_near (link->kinds[FAB_DRIVE_COPY][kinds[i % 2]].rate, i / 2 ? 1e9 : 0, 1e-6);
  }
}

/* A rate above the bound becomes that of the largest size, which the bound may exceed; a network's messages alone are
 * no saturated rate. */
static void
test_a_bound_of_rates (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 32; i++) {
    FabMeasureKind which = i % 4;
    gboolean is_device = i / 4 % 2, is_above = i / 8 % 2, is_kernel = i / 16;
    gboolean is_alone = which == FAB_MEASURE_LATENCY || which == FAB_MEASURE_EXCHANGE;
    gboolean is_bound = is_above && (is_device || !is_alone);
    g_autoptr (GPtrArray) series = new_series ();
    FabSeries kernel = with_method (&device, "kernel");
    FabDrive drive = is_kernel ? FAB_DRIVE_KERNEL : FAB_DRIVE_COPY;

    add_series (series, is_kernel ? &kernel : &device, which, 100, 10); /* 16 MiB in 1777.7 us */
    g_autoptr (FabLinkFit) link = fit (series, &all_sizes);
    FabFitKind *kind = &link->kinds[drive][which];
    double reached = 16777216 / 1777.7216 * 1e6;

    link->is_device = is_device;
    kind->rate = 10e9;
    kind->rate_half = 0.25e9;
    g_ptr_array_set_size (link->notes, 0);
    fab_link_fit_bound (link, drive, is_above ? 9.9e9 : 10e9);
    assert_near (kind->rate, is_bound ? reached : 10e9, 1e-6);
    assert_near (kind->rate_half, is_bound ? 9.9e9 - reached : 0.25e9, 1e-6);
    assert_int_equal (link->notes->len, is_bound);
    if (is_bound) {
      g_autofree char *note = g_strdup_printf (
          "%s: the fitted rate of 10 GB/s is more than the base carries: what 16 MiB reaches stands for it",
          fab_measure_kind_names[which]);

      assert_string_equal (g_ptr_array_index (link->notes, 0), note);
      kind->rate = 10e9;
      fab_link_fit_bound (link, drive, 9e9); /* less than what was reached */
      assert_near (kind->rate, reached, 1e-6);
      assert_near (kind->rate_half, 0, 0);
    }
  }
}

/* --- what directions take from each other --- */

static void
test_directions_over_one (G_GNUC_UNUSED void **state)
{
  static const struct {
    double latency, bandwidth, exchange, bidirectional; /* GB/s */
    double network, copies;
    int busy;
  } cases[] = {
    { 0, 10, 0, 8, 0.8, 0.8, FAB_MEASURE_BIDIRECTIONAL },
    { 0, 10, 0, 12, 1, 1, FAB_MEASURE_BIDIRECTIONAL }, /* at most */
    { 10, 0, 7, 0, 0.7, 0.7, FAB_MEASURE_EXCHANGE },
    { 10, 20, 7, 8, 0.4, 0.4, FAB_MEASURE_BIDIRECTIONAL },
    { 10, 0, 7, 8, 0.7, 0.7, FAB_MEASURE_EXCHANGE },
    { 10, 0, 0, 6, 0, 0.6, FAB_MEASURE_BIDIRECTIONAL },
    { 0, 10, 7, 0, 0, 0, -1 },
    { 10, 10, 0, 0, 0, 0, -1 },
    { 0, 0, 7, 7, 0, 0, -1 },
  };

  for (guint i = 0; i < 4 * G_N_ELEMENTS (cases); i++) {
    guint at = i / 4;
    FabDrive drive = i / 2 % 2 ? FAB_DRIVE_KERNEL : FAB_DRIVE_COPY;
    gboolean is_device = i % 2;
    FabLinkFit link = { .is_device = is_device };
    const double rates[] = { cases[at].latency, cases[at].bandwidth, cases[at].exchange,
                             cases[at].bidirectional };
    const FabFitKind *busy = NULL, *one_way;
    double right = is_device ? cases[at].copies : cases[at].network;

    for (guint k = 0; k < 4; k++)
      link.kinds[drive][k].rate = rates[k];
    assert_near (fab_link_fit_duplex (&link, drive, &busy), right, 1e-12);
    assert_near (fab_link_fit_duplex (&link, 1 - drive, NULL), 0, 0);
    if (right > 0)
      assert_ptr_equal (busy, &link.kinds[drive][cases[at].busy]);
    else
      assert_null (busy);
    /* One direction: many messages, or for copies one at a time. */
    one_way = fab_link_fit_one_way (&link, drive);
    if (cases[at].bandwidth > 0)
      assert_ptr_equal (one_way, &link.kinds[drive][FAB_MEASURE_BANDWIDTH]);
    else if (is_device && cases[at].latency > 0)
      assert_ptr_equal (one_way, &link.kinds[drive][FAB_MEASURE_LATENCY]);
    else
      assert_null (one_way);
    assert_true (fab_link_fit_has_rate (&link));
  }
}

/* --- notes --- */

static const char
    *const no_latency = "no latency was measured: messages and endpoint are not fitted",
           *const no_exchange = "no exchange was measured: messages with both directions busy are not "
                                "fitted",
           *const no_bandwidth = "no bandwidth was measured: what many messages under way reach is not "
                                 "fitted",
           *const no_both = "both directions at once were not measured: what they take from each other "
                            "is not known",
           *const no_one = "only both directions at once were measured: the rate of one alone is not "
                           "known";

/* Every choice of kinds of a network's messages, and of one drive of a device. */
static void
test_what_was_not_measured_is_noted (G_GNUC_UNUSED void **state)
{
  for (guint i = 1; i < 16; i++)
    for (guint machine = 0; machine < 3; machine++) {
      g_autoptr (GPtrArray) series = new_series ();
      FabSeries like = machine == 0 ? network : with_method (&device, machine == 1 ? "copy" : "kernel");
      gboolean has[4], is_network = machine == 0;

      for (guint k = 0; k < 4; k++) {
        has[k] = i >> k & 1;
        if (has[k])
          add_series (series, &like, (FabMeasureKind) k, 2, 10);
      }
      g_autoptr (FabLinkFit) link = fit (series, &all_sizes);
      gboolean latency = has[FAB_MEASURE_LATENCY], bandwidth = has[FAB_MEASURE_BANDWIDTH];
      gboolean exchange = has[FAB_MEASURE_EXCHANGE], bidirectional = has[FAB_MEASURE_BIDIRECTIONAL];
      gboolean has_one = bandwidth || (!is_network && latency);
      gboolean is_known = (bidirectional && bandwidth) || (exchange && latency)
                       || (!is_network && bidirectional && latency);
      g_autofree char *both = g_strdup_printf ("%s: %s", machine == 2 ? "kernel" : "copy", no_both);
      g_autofree char *one = g_strdup_printf ("%s: %s", machine == 2 ? "kernel" : "copy", no_one);
      const struct {
        const char *note;
        gboolean is_noted;
      } notes[] = {
        { no_latency, is_network && !latency },
        { no_exchange, is_network && latency && !exchange },
        { no_bandwidth, is_network && latency && !bandwidth },
        { both, has_one && !exchange && !bidirectional },
        { one, (exchange || bidirectional) && !is_known },
      };
      guint n = 0;

      for (guint k = 0; k < G_N_ELEMENTS (notes); k++) {
        assert_int_equal (has_note (link, notes[k].note), notes[k].is_noted);
        n += notes[k].is_noted;
      }
      assert_int_equal (link->notes->len, n);
      assert_int_equal (link->is_device, !is_network);
    }
}

/* Times that fall with size are those of no link: the kind is left out, and not called unmeasured; alone it is
 * nothing. */
static void
test_a_kind_that_is_left_out (G_GNUC_UNUSED void **state)
{
  static const double falling[][2] = { { 1, 100 }, { 2, 100 }, { 64, 10 }, { 128, 10 }, { 256, 10 } };

  for (FabMeasureKind which = 0; which < FAB_MEASURE_COLLECTIVE; which++) {
    g_autoptr (GPtrArray) series = new_series (), alone = new_series ();
    g_autoptr (GError) error = NULL;

    for (FabMeasureKind other = 0; other < FAB_MEASURE_COLLECTIVE; other++)
      if (other != which)
        add_series (series, &network, other, 2, 10);
    add_sizes (series, &network, which, falling, G_N_ELEMENTS (falling));
    add_sizes (alone, &network, which, falling, G_N_ELEMENTS (falling));
    g_autoptr (FabLinkFit) link = fit (series, &all_sizes);
    g_autofree char *note = g_strdup_printf ("%s is left out: no link has times that fall with size",
                                             fab_measure_kind_names[which]);
    g_autofree char *nothing = g_strdup_printf ("nothing is left to fit: %s", note);

    assert_true (link->kinds[FAB_DRIVE_COPY][which].is_left_out);
    assert_null (link->kinds[FAB_DRIVE_COPY][which].series);
    assert_null (link->kinds[FAB_DRIVE_COPY][which].points);
    assert_true (g_str_has_prefix (g_ptr_array_index (link->notes, 0), note));
    for (guint i = 0; i < link->notes->len; i++)
      assert_false (g_str_has_prefix (g_ptr_array_index (link->notes, i), "no "));
    assert_null (fab_link_fit_new (alone, &all_sizes, &error));
    assert_true (g_str_has_prefix (error->message, nothing));
  }
}

/* From eight sizes on some are held out; fewer are all fitted, which is noted where some were to be held out. */
static void
test_few_sizes_are_not_held_out (G_GNUC_UNUSED void **state)
{
  for (guint n = 4; n <= 8; n++)
    for (guint is_asked = 0; is_asked < 2; is_asked++) {
      g_autoptr (GPtrArray) series = new_series ();
      g_autofree char *note = g_strdup_printf ("latency has only %u sizes: none of them is held out", n);

      g_array_set_size (add_series (series, &network, FAB_MEASURE_LATENCY, 2, 10)->points, n);
      g_autoptr (FabLinkFit) link = fit (series, is_asked ? &third : &all_sizes);
      const FabFitCurve *curve = link->kinds[FAB_DRIVE_COPY][FAB_MEASURE_LATENCY].curve;

      assert_int_equal (curve->errors[FAB_FIT_HELD_OUT].n, is_asked && n >= 8 ? 2 : 0);
      assert_int_equal (has_note (link, note), is_asked && n < 8);
    }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_one_kind_is_measured_in_one_way),
    cmocka_unit_test (test_what_is_known_of_a_kind),
    cmocka_unit_test (test_pairs_of_ends_are_alike),
    cmocka_unit_test (test_the_rate_of_few_sizes),
    cmocka_unit_test (test_the_time_of_few_sizes),
    cmocka_unit_test (test_a_rate_where_overhead_shows),
    cmocka_unit_test (test_a_rate_of_messages_alone),
    cmocka_unit_test (test_a_bound_of_rates),
    cmocka_unit_test (test_directions_over_one),
    cmocka_unit_test (test_what_was_not_measured_is_noted),
    cmocka_unit_test (test_a_kind_that_is_left_out),
    cmocka_unit_test (test_few_sizes_are_not_held_out),
  };

  return cmocka_run_group_tests_name ("fit_rates", tests, NULL, NULL);
}
