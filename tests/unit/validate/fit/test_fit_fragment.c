/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit_fragment.c - each number of a link's entry from fits and bases of round numbers, and what is refused. */
#include "sim/base/error.h"
#include "tests/support/test.h"
#include "tests/unit/validate/fit/fit_support.h"
#include "validate/fit/fragment.h"

static const FabDrive drives[] = { FAB_DRIVE_COPY, FAB_DRIVE_KERNEL };

/* 20 GB/s, of which packets of copies leave 18 and those of kernels 16. */
static const FabLinkSpec made = {
  .name = "made",
  .lanes = 2,
  .signalling_bytes_per_s = 20000000000,
  .coding_fraction = 0.5,
  .latency_ps = 1000000,
  .copy = { 900, 100, 0.5, "of the base" },
  .kernel = { 800, 200, 1, "of the base" },
  .endpoint_ps = 5000000,
  .collective_fraction = 0.6,
  .collective_source = "a library",
  .uncertainty = { 0.05, 0.06, 0.3, 0.08 },
};

static const char *const files[] = { "dir/lab.meas", NULL };
static const FabFragmentRequest without_base = {
  .count = 1, .hops = 3, .date = "2026-11-21", .version = "1", .files = files
};

static FabFragmentRequest
request_of (const FabLinkSpec *base)
{
  FabFragmentRequest request = without_base;

  request.base = base;
  return request;
}

/* --- fits by hand --- */

static FabLinkFit *
new_fit (void)
{
  FabLinkFit *fit = g_new0 (FabLinkFit, 1);

  fit->system = g_strdup ("lab");
  fit->notes = g_ptr_array_new_with_free_func (g_free);
  return fit;
}

static FabSeries heads[FAB_N_MEASURE_KINDS];

/* A kind of one size, 1 MiB at 1 GB/s, and this rate that many messages would reach. */
static FabFitKind *
add_kind (FabLinkFit *fit, FabDrive drive, FabMeasureKind which, double GBps, double half_GBps)
{
  FabFitKind *kind = &fit->kinds[drive][which];
  FabFitPoint point = { 1048576, 1048576e3 };

  heads[which] = network;
  heads[which].kind = which;
  *kind = (FabFitKind){ .series = &heads[which],
                        .n_series = 1,
                        .points = g_array_new (FALSE, FALSE, sizeof (FabFitPoint)),
                        .from_bytes = 1048576,
                        .to_bytes = 1048576,
                        .rate = GBps * 1e9,
                        .rate_half = half_GBps * 1e9 };
  g_array_append_val (kind->points, point);
  return kind;
}

/* This overhead and rate up to the size, and another one for all that is longer. */
static FabFitCurve *
add_curve (FabFitKind *kind, double overhead_us, double GBps, FabBytes up_to_bytes, double other_us,
           double other_GBps)
{
  FabFitCurve *curve = g_new0 (FabFitCurve, 1);

  curve->rows = g_array_new (FALSE, FALSE, sizeof (FabFitRow));
  curve->n_regimes = 2;
  curve->regimes[0].line = (FabFitLine){ overhead_us * 1e6, 1e3 / GBps };
  curve->regimes[1].line = (FabFitLine){ other_us * 1e6, 1e3 / other_GBps };
  curve->up_to_bytes[0] = up_to_bytes;
  curve->up_to_bytes[1] = kind->to_bytes;
  kind->curve = curve;
  return curve;
}

static void
add_row (FabFitCurve *curve, FabFitPart part, double error_fraction)
{
  FabFitRow row = { .size_bytes = 8, .measured_ps = 1, .part = part, .error_fraction = error_fraction };

  g_array_append_val (curve->rows, row);
}

static FabFragment *
fragment (FabLinkFit *fit, const FabFragmentRequest *request)
{
  g_autoptr (GError) error = NULL;
  FabFragment *self = fab_fragment_new (fit, request, &error);

  if (self == NULL)
    fail_msg ("%s", error->message);
  return self;
}

static void
assert_refused (FabLinkFit *fit, const FabFragmentRequest *request, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FabFragment) self = fab_fragment_new (fit, request, &error);

  assert_null (self);
  assert_string_equal (error->message, message);
}

static void
assert_only_note (const FabFragment *self, const char *note)
{
  assert_int_equal (self->notes->len, note != NULL);
  if (note != NULL)
    assert_string_equal (g_ptr_array_index (self->notes, 0), note);
}

/* --- rates --- */

/* Of both drives and all kinds the fastest is the line, with its own uncertainty: each in turn. */
static void
test_the_fastest_of_all_is_the_line (G_GNUC_UNUSED void **state)
{
  for (guint fastest = 0; fastest < 2 * FAB_MEASURE_COLLECTIVE; fastest++) {
    g_autoptr (FabLinkFit) fit = new_fit ();

    for (guint i = 0; i < 2 * FAB_MEASURE_COLLECTIVE; i++)
      add_kind (fit, drives[i / FAB_MEASURE_COLLECTIVE], (FabMeasureKind) (i % FAB_MEASURE_COLLECTIVE),
                i == fastest ? 10 : 5, i == fastest ? 1 : 0.1);
    g_autoptr (FabFragment) self = fragment (fit, &without_base);
    assert_int_equal (fab_link_spec_line_rate (&self->spec), 10000000000);
    assert_near (self->spec.uncertainty.rate_fraction, 0.1, 1e-12);
    assert_near (self->spec.kernel.achievable_fraction, fastest == 5 ? 1 : 0.5, 1e-12);
    assert_near (self->spec.copy.achievable_fraction, fastest == 1 ? 1 : 0.5, 1e-12);
    assert_int_equal (self->spec.lanes, 1);
    assert_near (self->spec.coding_fraction, 1, 0);
    assert_string_equal (self->spec.technology, "measured");
    assert_true (self->is_measured);
  }
}

/* Rates have six digits; kernels that were not measured are like copies, which a single message may exceed. */
static void
test_a_line_without_a_base (G_GNUC_UNUSED void **state)
{
  for (guint count = 1; count <= 3; count++) {
    g_autoptr (FabLinkFit) fit = new_fit ();
    FabFragmentRequest request = without_base;

    request.count = count;
    add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_LATENCY, 10, 9.5);
    add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, 8, 0.1);
    g_autoptr (FabFragment) self = fragment (fit, &request);
    assert_int_equal (fab_link_spec_line_rate (&self->spec), count == 3   ? 3333330000
                                                             : count == 2 ? 5000000000
                                                                          : 10000000000);
    assert_near (self->spec.copy.achievable_fraction, 0.8, 2e-6);
    assert_near (self->spec.kernel.achievable_fraction, self->spec.copy.achievable_fraction, 0);
    assert_string_equal (self->spec.kernel.source, self->spec.copy.source);
    assert_near (self->spec.uncertainty.rate_fraction, 0.9, 1e-12); /* at most */
    g_autofree char *source = g_strdup_printf (
        "measured bandwidth of lab, 8 GB/s over %u link%s; packets as none: no base was named", count,
        count == 1 ? "" : "s");
    assert_string_equal (self->spec.copy.source, source);
  }
}

static void
test_a_rate_over_a_base (G_GNUC_UNUSED void **state)
{
  static const struct {
    double GBps, half_GBps, reached, uncertainty;
    const char *note;
  } cases[] = {
    { 9, 0.09, 0.5, 0.05, NULL }, /* the base is less sure */
    { 9, 0.9, 0.5, 0.1, NULL },
    { 9, 8.9, 0.5, 0.9, NULL },
    { 12.34567891, 0, 0.685871, 0.05, NULL },
    { 0.0036, 0, 0.001, 0.05, NULL }, /* at least */
    { 18, 0, 1, 0.05, NULL },
    { 18.0001, 0, 1, 0.05, NULL },
    { 18 * 1.00001, 0, 1, 0.05, NULL },
    { 18.2, 0, 1, 0.05, "copy: 101.1 % of what packets leave; taken as all of it" },
    { 18.35, 0, 1, 0.05, "copy: 101.9 % of what packets leave; taken as all of it" },
    { 19, 0.76, 1, 0.05, "copy: 105.6 % of what packets leave; taken as all of it" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint count = 1; count <= 2; count++) {
      g_autoptr (FabLinkFit) fit = new_fit ();
      FabFragmentRequest request = request_of (&made);

      request.count = count;
      add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, cases[i].GBps * count,
                cases[i].half_GBps * count);
      g_autoptr (FabFragment) self = fragment (fit, &request);
      assert_near (self->spec.copy.achievable_fraction, cases[i].reached, 1e-12);
      assert_near (self->spec.uncertainty.rate_fraction, cases[i].uncertainty, 1e-12);
      assert_near (self->spec.uncertainty.latency_fraction, 0.06, 0);
      assert_only_note (self, cases[i].note);
      assert_int_equal (fab_link_spec_line_rate (&self->spec), 20000000000);
      assert_true (g_str_has_suffix (self->spec.copy.source, "; packets as made"));
      assert_string_equal (self->spec.kernel.source, "of the base");
      assert_true (self->is_measured && self->is_endpoint_measured == FALSE);
    }
}

/* A rate less its uncertainty is at most 1.02 times what packets leave. */
static void
test_a_rate_that_packets_do_not_leave_is_refused (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < G_N_ELEMENTS (drives); i++)
    for (guint count = 1; count <= 2; count++) {
      double leave = (i == 0 ? 18 : 16) * count, rate = leave * 1.03;
      FabFragmentRequest request = request_of (&made);
      g_autoptr (FabLinkFit) fit = new_fit ();
      FabFitKind *kind = add_kind (fit, drives[i], FAB_MEASURE_BANDWIDTH, rate, leave * 0.009);
      g_autofree char *message = g_strdup_printf (
          "%.4g GB/s were measured, and packets leave %.4g of %u x made: another --base, or another packet "
          "format, is right",
          rate, leave, count);

      request.count = count;
      assert_refused (fit, &request, message);
      kind->rate = leave * 1e9 * 1.02;
      kind->rate_half = 0;
      g_autoptr (FabFragment) equal = fragment (fit, &request);
      kind->rate = rate * 1e9;
      kind->rate_half = leave * 0.011e9;
      g_autoptr (FabFragment) self = fragment (fit, &request);
      assert_near (i == 0 ? self->spec.copy.achievable_fraction : self->spec.kernel.achievable_fraction, 1,
                   0);
    }
}

/* What one message took is at most 1.05 times the line, of any kind: the fastest size says so. */
static void
test_a_message_faster_than_the_line_is_refused (G_GNUC_UNUSED void **state)
{
  static const double limits[] = { 20.9, 21.1 };

  for (guint i = 0; i < 2 * FAB_MEASURE_COLLECTIVE * 2 * 2; i++) {
    guint which = i / 4 % FAB_MEASURE_COLLECTIVE, count = 1 + i % 2;
    double GBps = limits[i / 2 % 2] * count, time_ps = 2097152 / GBps * 1e3;
    FabFitPoint fast = { 2097152, time_ps }, slow = { 4194304, 4194304e3 };
    FabFragmentRequest request = request_of (&made);
    g_autoptr (FabLinkFit) fit = new_fit ();
    FabFitKind *kind = add_kind (fit, drives[i / 4 / FAB_MEASURE_COLLECTIVE], which, 0, 0);
    g_autofree char *message = g_strdup_printf (
        "%s: %.4g GB/s were measured (2 MiB in %.4g us), and %u x made carry %.4g GB/s at most: name a faster "
        "--base, or how many links there are with --count",
        fab_measure_kind_names[which], GBps, time_ps / 1e6, count, 20.0 * count);

    request.count = count;
    g_array_append_val (kind->points, fast);
    g_array_append_val (kind->points, slow);
    if (i / 2 % 2) {
      assert_refused (fit, &request, message);
      continue;
    }
    g_autoptr (FabFragment) self = fragment (fit, &request);
    assert_near (self->spec.copy.achievable_fraction, 0.5, 0); /* no rate: that of the base */
  }
}

/* A fitted rate of more than 1.02 times what the drive's packets leave becomes that of the largest size. */
static void
test_an_extrapolated_rate_is_bound_by_the_base (G_GNUC_UNUSED void **state)
{
  static const double factors[] = { 1.01, 1.03 };

  for (guint i = 0; i < 8; i++) {
    guint drive = i % 2, count = 1 + i / 2 % 2;
    double leave = (drive == 0 ? 18 : 16) * count, factor = factors[i / 4];
    FabFragmentRequest request = request_of (&made);
    g_autoptr (FabLinkFit) fit = new_fit ();

    request.count = count;
    add_curve (add_kind (fit, drives[drive], FAB_MEASURE_BANDWIDTH, leave * factor, leave * 0.05), 1, 1, 8, 1,
               1);
    g_autoptr (FabFragment) self = fragment (fit, &request);
    const FabLinkDriveSpec *spec = drive == 0 ? &self->spec.copy : &self->spec.kernel;
    assert_near (spec->achievable_fraction, factor < 1.02 ? 1 : 1 / leave, 1e-5); /* 1 GB/s of 1 MiB */
  }
}

static void
test_nothing_that_tells_a_rate_is_refused (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLinkFit) fit = new_fit ();
  FabFragmentRequest request = request_of (&made);

  add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_LATENCY, 0, 0);
  assert_refused (fit, &without_base,
                  "nothing that was measured tells a rate: name the link it is like with --base, or measure "
                  "more sizes");
  g_autoptr (FabFragment) self = fragment (fit, &request);
  assert_near (self->spec.uncertainty.rate_fraction, 0.05, 0);
}

/* --- collectives --- */

/* A library reaches the same part of a slower port, and at least the same rate as long as that is not all of it. */
static void
test_what_a_library_reaches_of_a_slower_port (G_GNUC_UNUSED void **state)
{
  static const struct {
    double GBps, library, fraction;
    const char *source;
  } cases[] = {
    { 9.5, 0.6, 0.6, "a library" },
    { 9, 0.6, 0.6, "a library" }, /* not slower */
    { 7.5, 0.6, 0.72, "of 7.5 GB/s that were measured; as much as of the 9 GB/s of made: a library" },
    { 5, 0.6, 1, "of 5 GB/s that were measured; as much as of the 9 GB/s of made: a library" },
    { 7.5, 0, 0, "a library" },
    { 7.5, 0.6, 0.72, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabLinkFit) fit = new_fit ();
    FabLinkSpec base = made;
    FabFragmentRequest request = request_of (&base);

    base.collective_fraction = cases[i].library;
    base.collective_source = cases[i].source == NULL ? NULL : "a library";
    add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, cases[i].GBps, 0);
    g_autoptr (FabFragment) self = fragment (fit, &request);
    assert_near (self->spec.collective_fraction, cases[i].fraction, 2e-6);
    assert_string_equal (self->spec.collective_source,
                         cases[i].source != NULL
                             ? cases[i].source
                             : "of 7.5 GB/s that were measured; as much as of the 9 GB/s of made: ");
    assert_false (self->is_collective_measured);
  }
}

/* What both directions leave bounds a library, where it is less than what the library is known to reach. */
static void
test_both_directions_bound_a_library (G_GNUC_UNUSED void **state)
{
  static const char
      *const measured = "measured: rate with both directions busy (bidirectional) over rate with one";

  for (guint i = 0; i < 4; i++) {
    gboolean has_base = i % 2, is_device = i / 2;

    for (guint k = 0; k < 2; k++) {
      g_autoptr (FabLinkFit) fit = new_fit ();
      FabFragmentRequest request = request_of (has_base ? &made : NULL);
      double known = has_base ? 0.6 : 0.9588, duplex = k == 0 ? known - 0.001 : known;
      gboolean is_bound = k == 0 && !is_device;

      fit->is_device = is_device;
      add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, 10, 0);
      add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BIDIRECTIONAL, 10 * duplex, 0)->rate = 10e9 * duplex;
      g_autoptr (FabFragment) self = fragment (fit, &request);
      assert_near (self->spec.collective_fraction, is_bound ? duplex : has_base ? 0.6 : 0, 1e-12);
      assert_int_equal (self->is_collective_measured, is_bound);
      if (is_bound) {
        g_autofree char *source = g_strconcat (
            measured, has_base ? "; below what the base entry says of a library" : "", NULL);

        assert_string_equal (self->spec.collective_source, source);
      }
    }
  }
}

/* --- messages and ends --- */

static void
test_messages_are_the_regimes (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLinkFit) fit = new_fit ();
  FabFragmentRequest request = request_of (&made);
  FabFitKind *one = add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_LATENCY, 0, 0),
             *both = add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_EXCHANGE, 0, 0);

  add_curve (one, 2.3456789, 25, 8192, 12, 18.0001)->scatter_fraction = 0.01;
  add_curve (both, 3, 0.4e-9, 4096, 13, 20)->scatter_fraction = 0.02;
  g_autoptr (FabFragment) self = fragment (fit, &request);
  const FabMessageRegime *rows = self->spec.messages.data;
  static const FabMessageRegime right[] = {
    { .way = FAB_WAY_ONE, .up_to_bytes = 8192, .overhead_ps = 2345680, .rate_bytes_per_s = 25000000000 },
    { .way = FAB_WAY_ONE, .up_to_bytes = 0, .overhead_ps = 12000000, .rate_bytes_per_s = 18000000000 },
    { .way = FAB_WAY_BOTH, .up_to_bytes = 4096, .overhead_ps = 3000000, .rate_bytes_per_s = 1 },
    { .way = FAB_WAY_BOTH, .up_to_bytes = 0, .overhead_ps = 13000000, .rate_bytes_per_s = 18000000000 },
  };

  assert_int_equal (self->spec.messages.n, G_N_ELEMENTS (right));
  for (guint i = 0; i < G_N_ELEMENTS (right); i++) {
    assert_int_equal (rows[i].way, right[i].way);
    assert_int_equal (rows[i].up_to_bytes, right[i].up_to_bytes);
    assert_int_equal (rows[i].overhead_ps, right[i].overhead_ps);
    assert_near ((double) rows[i].rate_bytes_per_s, (double) right[i].rate_bytes_per_s, 1e-9);
  }
  assert_only_note (self, "exchange: its largest messages at 20 GB/s are faster than packets; taken as 18");
  assert_near (self->spec.uncertainty.messages_fraction, 0.0408454, 1e-9); /* 2.04227 times 2 % */
  assert_near (self->spec.uncertainty.rate_fraction, 0.05, 0);
  one->curve->scatter_fraction = 0.03;
  g_autoptr (FabFragment) other = fragment (fit, &request);
  assert_near (other->spec.uncertainty.messages_fraction, 0.0612681, 1e-5);
  one->curve->scatter_fraction = 0.5;
  g_autoptr (FabFragment) unsure = fragment (fit, &request);
  assert_near (unsure->spec.uncertainty.messages_fraction, 0.9, 0);
  request.count = 2;
  g_autoptr (FabFragment) two = fragment (fit, &request);
  assert_int_equal (two->spec.messages.n, 0);
  assert_only_note (two, "messages were measured over 2 links at once: an entry is one link, so it has none");
}

/* What the smallest message takes, less three wires of 1 us. */
static void
test_an_endpoint_is_what_wires_leave (G_GNUC_UNUSED void **state)
{
  static const struct {
    gboolean is_device, has_curve;
    FabBytes from_bytes;
    double overhead_us, half_us;
    FabTimePs endpoint_ps;
    double uncertainty;
    const char *note;
  } cases[] = {
    { FALSE, TRUE, 8, 10, 0.700008, 7000080, 0.1, NULL }, /* 8 B at 100 GB/s: 80 ps */
    { FALSE, TRUE, 8, 10, 9, 7000080, 1, NULL },
    { FALSE, TRUE, 4096, 10, 7.04096, 7040960, 1, NULL },
    { FALSE, TRUE, 4097, 10, 1, 5000000, 0, NULL }, /* no small one: that of the base */
    { TRUE, TRUE, 8, 10, 1, 5000000, 0, NULL },
    { FALSE, TRUE, 8, 2.9, 1, 0, 0,
      "the smallest message takes 2.9 us, and 3 links of made alone 3: endpoint 0; see --hops" },
    { FALSE, FALSE, 8, 10, 1, 7000000, 0, NULL },
    { FALSE, FALSE, 8, 3, 1, 0, 0, NULL },
    { FALSE, FALSE, 8, 2.9, 1, 0, 0,
      "the smallest message takes 2.9 us, and 3 links of made alone 3: endpoint 0; see --hops" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabLinkFit) fit = new_fit ();
    FabFragmentRequest request = request_of (&made);
    FabFitKind *kind = add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_LATENCY, 0, 0);

    fit->is_device = cases[i].is_device;
    kind->from_bytes = cases[i].from_bytes;
    g_array_index (kind->points, FabFitPoint, 0).time_ps = cases[i].overhead_us * 1e6;
    if (!cases[i].has_curve)
      g_array_index (kind->points, FabFitPoint, 0).size_bytes = 8;
    else
      add_curve (kind, cases[i].overhead_us, 100, 1 << 16, 1, 1)->regimes[0].overhead_half_ps = cases[i]
                                                                                                    .half_us
                                                                                              * 1e6;
    if (cases[i].has_curve) /* 1 MiB in these few us would be faster than the line */
      g_array_index (kind->points, FabFitPoint, 0).time_ps = 1e9;
    g_autoptr (FabFragment) self = fragment (fit, &request);
    gboolean is_measured = !cases[i].is_device && cases[i].from_bytes <= 4096;

    assert_int_equal (self->spec.endpoint_ps, cases[i].endpoint_ps);
    assert_near (self->spec.uncertainty.endpoint_fraction, cases[i].uncertainty, 1e-6);
    assert_int_equal (self->is_endpoint_measured, is_measured);
    assert_only_note (self, cases[i].note);
  }
}

/* Of one drive of a network without a base, there are no wires. */
static void
test_an_endpoint_without_a_base (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLinkFit) fit = new_fit ();

  add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, 10, 0);
  add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_LATENCY, 0, 0)->from_bytes = 1;
  g_array_index (fit->kinds[FAB_DRIVE_COPY][FAB_MEASURE_LATENCY].points, FabFitPoint, 0).time_ps = 4e6;
  g_autoptr (FabFragment) self = fragment (fit, &without_base);
  assert_int_equal (self->spec.endpoint_ps, 4000000);
}

/* --- what an entry says of itself --- */

/* Sizes are those of messages where there are any; rows of all curves count, and points of messages without a curve. */
static void
test_sizes_and_rows_that_were_measured (G_GNUC_UNUSED void **state)
{
  g_autoptr (FabLinkFit) fit = new_fit ();
  FabLinkSpec base = made;
  FabFragmentRequest request = request_of (&base);
  FabFitKind *one = add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_LATENCY, 0, 0),
             *both = add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_EXCHANGE, 0, 0),
             *many = add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, 8, 0),
             *busy = add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BIDIRECTIONAL, 8, 0);
  const FabLinkMeasured before = { 2, 1 << 25, 0.2, 7, 2 };
  FabFitCurve *curve = add_curve (one, 10, 1, 8192, 12, 10), *rate = add_curve (many, 10, 1, 8192, 12, 10);

  base.measured = before;
  one->from_bytes = 16;
  both->from_bytes = 8;
  both->to_bytes = 1 << 21;
  many->from_bytes = 1;
  many->to_bytes = 1 << 24;
  const FabFitPoint again[] = { g_array_index (both->points, FabFitPoint, 0),
                                g_array_index (busy->points, FabFitPoint, 0) };
  g_array_append_val (both->points, again[0]);
  g_array_append_val (busy->points, again[1]);
  for (guint i = 0; i < 3; i++)
    add_row (curve, FAB_FIT_FITTED, 0.5);
  add_row (curve, FAB_FIT_HELD_OUT, 0.01);
  add_row (curve, FAB_FIT_HELD_OUT, -0.0300000049);
  add_row (rate, FAB_FIT_HELD_OUT, 0.05);
  g_autoptr (FabFragment) self = fragment (fit, &request);
  assert_int_equal (self->spec.measured.from_bytes, 8);
  assert_int_equal (self->spec.measured.to_bytes, 1 << 21);
  assert_int_equal (self->spec.measured.n_held_out, 3);
  assert_int_equal (self->spec.measured.n_rows, 3 + 2);
  assert_near (self->spec.measured.held_out_error_fraction, 0.03, 1e-12);

  /* Without messages all kinds count, and what the base says is added to. */
  one->curve = NULL;
  g_autoptr (FabFragment) added = fragment (fit, &request);
  assert_int_equal (added->spec.measured.from_bytes, 1);
  assert_int_equal (added->spec.measured.to_bytes, 1 << 25);
  assert_int_equal (added->spec.measured.n_held_out, 2 + 1);
  assert_int_equal (added->spec.measured.n_rows, 7 + 1 + 2 + 2);
  assert_near (added->spec.measured.held_out_error_fraction, 0.2, 1e-12);
  add_row (rate, FAB_FIT_HELD_OUT, 3);
  g_autoptr (FabFragment) wrong = fragment (fit, &request);
  assert_near (wrong->spec.measured.held_out_error_fraction, 1, 1e-12); /* at most */

  /* Messages of the base keep what it says of them. */
  FabMessageRegime regime = { .rate_bytes_per_s = 1 };
  base.messages = (FabParamList){ &regime, 1 };
  g_autoptr (FabFragment) kept = fragment (fit, &request);
  assert_memory_equal (&kept->spec.measured, &before, sizeof before);
  one->curve = curve;
}

static void
test_names_and_sources (G_GNUC_UNUSED void **state)
{
  static const struct {
    const char *name, *suffix, *right;
    gboolean has_base;
  } cases[] = { { NULL, NULL, "measured", FALSE },
                { NULL, NULL, "made-measured", TRUE },
                { "lab", NULL, "lab", TRUE },
                { "lab", "gpu-to-gpu", "lab-gpu-to-gpu", FALSE },
                { NULL, "write", "measured-write", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (FabLinkFit) fit = new_fit ();
    g_autoptr (GPtrArray) all = g_ptr_array_new ();
    FabFragmentRequest request = request_of (cases[i].has_base ? &made : NULL);
    FabSeries one = network, other = network, third_one = network;
    const char *system = i == 1 ? "an unnamed machine" : "lab";

    request.name = cases[i].name;
    request.suffix = cases[i].suffix;
    one.source = third_one.source = (char *) "paper";
    other.source = (char *) "log";
    add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, 10, 0)->series = &one;
    add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BIDIRECTIONAL, 9.9, 0)->series = &other;
    add_kind (fit, FAB_DRIVE_KERNEL, FAB_MEASURE_LATENCY, 10, 0)->series = &third_one;
    fit->kinds[FAB_DRIVE_COPY][FAB_MEASURE_BANDWIDTH].n_series = 2;
    fit->kinds[FAB_DRIVE_COPY][FAB_MEASURE_BANDWIDTH].n_samples = 70;
    if (i == 1)
      g_clear_pointer (&fit->system, g_free);
    g_autoptr (FabFragment) self = fragment (fit, &request);
    g_autofree char *source = g_strdup_printf ("fabricast calibrate 1 from measurements of %s; paper; log%s",
                                               system,
                                               cases[i].has_base ? "; what was not measured is that of made"
                                                                 : "");
    g_autofree char *summary = g_strdup_printf ("Measured: %s", i == 1 ? "a machine" : "lab");

    assert_string_equal (self->spec.name, cases[i].right);
    assert_string_equal (self->spec.source, source);
    assert_string_equal (self->spec.summary, summary);
    assert_string_equal (self->spec.date, "2026-11-21");
    assert_int_equal (self->spec.evidence, FAB_EVIDENCE_TABLES);

    /* Each kind is named with its series, sizes and samples. */
    g_ptr_array_add (all, self);
    g_autofree char *yaml = fab_fragments_yaml (all, &request);
    g_autofree char *title = fab_series_title (&one);
    g_autofree char *head = g_strdup_printf (
        "# Written by fabricast calibrate 1 on 2026-11-21 from:\n#   lab.meas\n"
        "# Link '%s':\n"
        "#   %s and others: 2 series, 1048576 to 1048576 B, 70 samples\n"
        "#   %s: 1 series, 1048576 to 1048576 B, 0 samples known\n"
        "#   %s: 1 series, 1048576 to 1048576 B, 0 samples known\n"
        "# A scenario takes it",
        cases[i].right, title, title, title);
    if (!g_str_has_prefix (yaml, head))
      fail_msg ("%s\n%s", head, yaml);
  }
}

/* Messages that are measured anew are no longer those of the base; the rate is, unless it was measured too. */
static void
test_new_messages_forget_those_of_the_base (G_GNUC_UNUSED void **state)
{
  for (guint i = 0; i < 4; i++) {
    g_autoptr (FabLinkFit) fit = new_fit ();
    FabMessageRegime regime = { .rate_bytes_per_s = 1 };
    FabLinkSpec base = made;
    FabFragmentRequest request = request_of (&base);
    gboolean has_messages = i % 2, has_rate = i / 2;
    FabFitKind *kind = add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_LATENCY, 0, 0);

    base.messages = (FabParamList){ &regime, 1 };
    if (has_messages)
      add_curve (kind, 10, 1, 8192, 12, 10);
    if (has_rate)
      add_kind (fit, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, 8, 0.08);
    g_autoptr (FabFragment) self = fragment (fit, &request);
    assert_int_equal (self->spec.messages.n, has_messages ? 2 : 1);
    assert_near (self->spec.uncertainty.rate_fraction, has_messages && has_rate ? 0.01 : 0.05, 1e-12);
    assert_near (self->spec.uncertainty.latency_fraction, 0.06, 0);
    assert_near (self->spec.uncertainty.endpoint_fraction, has_messages ? 0 : 0.3, 0);
    assert_near (self->spec.uncertainty.messages_fraction, has_messages ? 0 : 0.08, 0);
    assert_int_equal (self->is_measured, has_messages || has_rate);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_fastest_of_all_is_the_line),
    cmocka_unit_test (test_a_line_without_a_base),
    cmocka_unit_test (test_a_rate_over_a_base),
    cmocka_unit_test (test_a_rate_that_packets_do_not_leave_is_refused),
    cmocka_unit_test (test_a_message_faster_than_the_line_is_refused),
    cmocka_unit_test (test_an_extrapolated_rate_is_bound_by_the_base),
    cmocka_unit_test (test_nothing_that_tells_a_rate_is_refused),
    cmocka_unit_test (test_what_a_library_reaches_of_a_slower_port),
    cmocka_unit_test (test_both_directions_bound_a_library),
    cmocka_unit_test (test_messages_are_the_regimes),
    cmocka_unit_test (test_an_endpoint_is_what_wires_leave),
    cmocka_unit_test (test_an_endpoint_without_a_base),
    cmocka_unit_test (test_sizes_and_rows_that_were_measured),
    cmocka_unit_test (test_names_and_sources),
    cmocka_unit_test (test_new_messages_forget_those_of_the_base),
  };

  return cmocka_run_group_tests_name ("fit_fragment", tests, NULL, NULL);
}
