/* SPDX-License-Identifier: Apache-2.0 */
/* test_fit_pages.c - the pages of fits and of checks of links, from ones by hand: every number stands where it belongs,
 * and what there is none of is left out. */
#include "sim/base/version.h"
#include "tests/support/test.h"
#include "tests/unit/validate/fit/fit_support.h"
#include "validate/fit/print.h"

/* Errors of n sizes: a median of n / 32, the largest of n / 8 at n KiB. */
static FabErrors
errors_of (guint n)
{
  return (
      FabErrors){ .n = n, .median_fraction = n / 32.0, .max_fraction = n / 8.0, .max_size_bytes = 1024 * n };
}

static void
add_row (GArray *rows, FabBytes size_bytes, double measured_us, double predicted_us, double band_fraction,
         FabFitPart part)
{
  FabFitRow row = { size_bytes,         measured_us * 1e6,
                    predicted_us * 1e6, predicted_us / measured_us - 1,
                    band_fraction,      part };

  g_array_append_val (rows, row);
}

static FabSeries heads[4];

/* --- checks --- */

typedef struct {
  FabFitKind measured[2];
  FabLinkCheckKind kinds[2];
  FabLinkCheck check;
} CheckWorld;

static void
make_check (CheckWorld *self)
{
  heads[0] = heads[1] = network;
  heads[0].kind = FAB_MEASURE_LATENCY;
  heads[1].kind = FAB_MEASURE_BANDWIDTH;
  heads[1].method = NULL;
  *self = (CheckWorld){ .measured = { { .series = &heads[0], .n_series = 2 },
                                      { .series = &heads[1], .n_series = 1 } },
                        .kinds = { { .which = FAB_MEASURE_LATENCY,
                                     .n_left_out = 4,
                                     .n_in_band = 1,
                                     .errors = { errors_of (1), errors_of (2), errors_of (3) } },
                                   { .which = FAB_MEASURE_BANDWIDTH } },
                        .check = { "lab", g_ptr_array_new () } };
  for (guint i = 0; i < 2; i++) {
    self->kinds[i].measured = &self->measured[i];
    self->kinds[i].rows = g_array_new (FALSE, FALSE, sizeof (FabFitRow));
    g_ptr_array_add (self->check.kinds, &self->kinds[i]);
  }
  add_row (self->kinds[0].rows, 8, 4, 5, 0, FAB_FIT_FITTED);
  add_row (self->kinds[0].rows, 4096, 8, 6, 0.5, FAB_FIT_HELD_OUT);
  add_row (self->kinds[0].rows, 65536, 16, 16.25, 0.125, FAB_FIT_OUTSIDE);
}

/* --- fits --- */

typedef struct {
  FabLinkFit fits[2];
  FabFitCurve curves[2];
  FabFragment fragments[2];
  GPtrArray *all;
} FitWorld;

static const FabLinkSpec base = { .name = "base",
                                  .copy = { .achievable_fraction = 0.75 },
                                  .kernel = { .achievable_fraction = 0.625 } };

static FabFitKind *
add_kind (FabLinkFit *fit, FabDrive drive, FabMeasureKind which, FabFitCurve *curve, double GBps,
          double half_GBps)
{
  FabFitKind *kind = &fit->kinds[drive][which];
  FabFitPoint point = { 8, 3.5e6 };

  heads[which] = network;
  heads[which].kind = which;
  *kind = (FabFitKind){ .series = &heads[which],
                        .n_series = 1 + which,
                        .n_samples = 10 * which,
                        .points = g_array_new (FALSE, FALSE, sizeof (FabFitPoint)),
                        .curve = curve,
                        .from_bytes = 8,
                        .to_bytes = 65536,
                        .rate = GBps * 1e9,
                        .rate_half = half_GBps * 1e9 };
  g_array_append_val (kind->points, point);
  return kind;
}

static void
make_fits (FitWorld *self)
{
  FabLinkFit *one = &self->fits[0], *other = &self->fits[1];

  *self = (FitWorld){ .all = g_ptr_array_new () };
  for (guint i = 0; i < 2; i++) {
    self->curves[i].rows = g_array_new (FALSE, FALSE, sizeof (FabFitRow));
    self->fits[i].notes = g_ptr_array_new ();
    self->fragments[i] = (FabFragment){ .fit = &self->fits[i], .count = 1, .notes = g_ptr_array_new () };
    self->fragments[i].spec.lanes = 1;
    self->fragments[i].spec.signalling_bytes_per_s = 32000000000;
    self->fragments[i].spec.coding_fraction = 1;
    self->fragments[i].spec.copy = (FabLinkDriveSpec){ .achievable_fraction = 0.5 };
    self->fragments[i].spec.kernel = (FabLinkDriveSpec){ .achievable_fraction = 0.25 };
    g_ptr_array_add (self->all, &self->fragments[i]);
  }
  /* Messages in two regimes: one of 2 us and 1 GB/s, one without overhead whose rate is not told. */
  FabFitCurve *curve = &self->curves[0];
  curve->n_regimes = 2;
  curve->regimes[0] = (FabFitRegime){ .line = { 2e6, 1000 },
                                      .overhead_half_ps = 0.25e6,
                                      .ps_per_byte_half = 125 };
  curve->regimes[1] = (FabFitRegime){ .line = { 0, 100 },
                                      .is_without_overhead = TRUE,
                                      .is_without_rate = TRUE };
  curve->up_to_bytes[0] = 4096;
  curve->up_to_bytes[1] = 65536;
  curve->errors[FAB_FIT_FITTED] = errors_of (1);
  curve->errors[FAB_FIT_HELD_OUT] = errors_of (2);
  add_row (curve->rows, 8, 4, 5, 0, FAB_FIT_FITTED);
  add_row (curve->rows, 4096, 8, 6, 0, FAB_FIT_HELD_OUT);
  curve = &self->curves[1];
  curve->n_regimes = 1;
  curve->regimes[0] = (FabFitRegime){ .line = { 1.5e6, 50 },
                                      .overhead_half_ps = 0.5e6,
                                      .ps_per_byte_half = 5 };
  curve->up_to_bytes[0] = 65536;
  one->system = (char *) "lab";
  add_kind (one, FAB_DRIVE_COPY, FAB_MEASURE_LATENCY, &self->curves[0], 0, 0);
  add_kind (one, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, &self->curves[1], 20, 2);
  add_kind (one, FAB_DRIVE_COPY, FAB_MEASURE_EXCHANGE, NULL, 0, 0);
  add_kind (one, FAB_DRIVE_KERNEL, FAB_MEASURE_BANDWIDTH, NULL, 16, 0);
  add_kind (one, FAB_DRIVE_KERNEL, FAB_MEASURE_BIDIRECTIONAL, NULL, 12, 1);
  g_ptr_array_add (one->notes, (char *) "of the fit");
  FabFragment *first = &self->fragments[0], *second = &self->fragments[1];
  first->base = &base;
  first->count = 2;
  first->spec.name = "lab";
  first->spec.endpoint_ps = 4000000;
  first->spec.collective_fraction = 0.875;
  first->spec.uncertainty = (FabLinkUncertainty){ .rate_fraction = 0.125,
                                                  .endpoint_fraction = 0.25,
                                                  .messages_fraction = 0.375 };
  first->spec.messages.n = 3;
  first->spec.measured = (FabLinkMeasured){ 8, 65536, 0.03125, 7, 2 };
  first->is_endpoint_measured = first->is_collective_measured = TRUE;
  g_ptr_array_add (first->notes, (char *) "of the entry");
  /* Copies of a device whose name is not known, of one size. */
  other->is_device = TRUE;
  add_kind (other, FAB_DRIVE_COPY, FAB_MEASURE_BANDWIDTH, NULL, 8, 1);
  second->spec.name = "copies";
  second->spec.endpoint_ps = 1;
  second->spec.collective_fraction = 0.5;
  second->spec.measured = (FabLinkMeasured){ 65536, 65536, 0, 1, 0 };
}

/* --- pages --- */

static const char check_text[] =
    "link 'lab': error = predicted time / measured time - 1\n"
    "tcp latency, a to b, sockets and others\n"
    "        size    measured us  predicted us      error       band\n"
    "         8 B          4.000         5.000    +25.00%\n"
    "       4 KiB          8.000         6.000    -25.00%  +- 50.00%  held-out\n"
    "      64 KiB         16.000        16.250     +1.56%  +- 12.50%  outside\n"
    "  fitted       1 sizes  median |error|   3.12 %  largest  12.50 % at 1 KiB\n"
    "  held-out     2 sizes  median |error|   6.25 %  largest  25.00 % at 2 KiB\n"
    "  outside      3 sizes  median |error|   9.38 %  largest  37.50 % at 3 KiB\n"
    "  in their band: 1 of 3 sizes\n"
    "  left out: 4 sizes that a link entry says nothing of\n"
    "\n"
    "tcp bandwidth, a to b\n";

static const char check_markdown[] = "Link `lab`, error = predicted time / measured time - 1:\n"
                                     "\n"
                                     "| measured | sizes | number | median error | largest |\n"
                                     "|---|---|---|---|---|\n"
                                     "| latency | fitted | 1 | 3.12 % | 12.50 % at 1 KiB |\n"
                                     "| latency | held-out | 2 | 6.25 % | 25.00 % at 2 KiB |\n"
                                     "| latency | outside | 3 | 9.38 % | 37.50 % at 3 KiB |\n"
                                     "\n"
                                     "tcp latency, a to b, sockets:\n"
                                     "\n"
                                     "| size | measured us | predicted us | error | band | |\n"
                                     "|---|---|---|---|---|---|\n"
                                     "| 8 B | 4.000 | 5.000 | +25.00 % | not known |  |\n"
                                     "| 4 KiB | 8.000 | 6.000 | -25.00 % | 50.00 % | held-out |\n"
                                     "| 64 KiB | 16.000 | 16.250 | +1.56 % | 12.50 % | outside |\n"
                                     "\n"
                                     "tcp bandwidth, a to b:\n"
                                     "\n"
                                     "| size | measured us | predicted us | error | band | |\n"
                                     "|---|---|---|---|---|---|\n";

static const char check_csv[] =
    "kind,method,size_bytes,measured_us,predicted_us,error_fraction,band_fraction,part\n"
    "latency,sockets,8,4,5,0.250000,,fitted\n"
    "latency,sockets,4096,8,6,-0.250000,0.500000,held-out\n"
    "latency,sockets,65536,16,16.25,0.015625,0.125000,outside\n";

static const char check_json[] =
    "{\"version\" : \"" FAB_VERSION
    "\",\"link\" : \"lab\",\"measured\" : [{\"kind\" : \"latency\",\"method\" : "
    "\"sockets\",\"left_out\" : 4,\"in_band\" : 1,\"errors\" : {\"fitted\" : {\"sizes\" : "
    "1,\"median_fraction\" : 0.03125,\"max_fraction\" : 0.125,\"max_size_bytes\" : 1024},\"held-out\" : "
    "{\"sizes\" : 2,\"median_fraction\" : 0.0625,\"max_fraction\" : 0.25,\"max_size_bytes\" : "
    "2048},\"outside\" : {\"sizes\" : 3,\"median_fraction\" : 0.09375,\"max_fraction\" : "
    "0.375,\"max_size_bytes\" : 3072}},\"rows\" : [{\"size_bytes\" : 8,\"measured_us\" : "
    "4.0,\"predicted_us\" : 5.0,\"error_fraction\" : 0.25,\"part\" : \"fitted\"},{\"size_bytes\" : "
    "4096,\"measured_us\" : 8.0,\"predicted_us\" : 6.0,\"error_fraction\" : -0.25,\"band_fraction\" : "
    "0.5,\"part\" : \"held-out\"},{\"size_bytes\" : 65536,\"measured_us\" : 16.0,\"predicted_us\" : "
    "16.25,\"error_fraction\" : 0.015625,\"band_fraction\" : 0.125,\"part\" : \"outside\"}]},{\"kind\" : "
    "\"bandwidth\",\"method\" : null,\"left_out\" : 0,\"in_band\" : 0,\"errors\" : {      },\"rows\" : []}]}";

static const char summary_text[] =
    "link 'lab': error = predicted time / measured time - 1\n"
    "tcp latency, a to b, sockets and others\n"
    "  fitted       1 sizes  median |error|   3.12 %  largest  12.50 % at 1 KiB\n"
    "  held-out     2 sizes  median |error|   6.25 %  largest  25.00 % at 2 KiB\n"
    "  outside      3 sizes  median |error|   9.38 %  largest  37.50 % at 3 KiB\n"
    "  in their band: 1 of 3 sizes\n"
    "  left out: 4 sizes that a link entry says nothing of\n"
    "\n"
    "tcp bandwidth, a to b\n";

static const char summary_markdown[] = "Link `lab`, error = predicted time / measured time - 1:\n"
                                       "\n"
                                       "| measured | sizes | number | median error | largest |\n"
                                       "|---|---|---|---|---|\n"
                                       "| latency | fitted | 1 | 3.12 % | 12.50 % at 1 KiB |\n"
                                       "| latency | held-out | 2 | 6.25 % | 25.00 % at 2 KiB |\n"
                                       "| latency | outside | 3 | 9.38 % | 37.50 % at 3 KiB |\n";

static const char summary_csv[] = "kind,method,part,sizes,median_fraction,max_fraction,max_size_bytes\n"
                                  "latency,sockets,fitted,1,0.031250,0.125000,1024\n"
                                  "latency,sockets,held-out,2,0.062500,0.250000,2048\n"
                                  "latency,sockets,outside,3,0.093750,0.375000,3072\n";

static const char summary_json[] =
    "{\"version\" : \"" FAB_VERSION
    "\",\"link\" : \"lab\",\"measured\" : [{\"kind\" : \"latency\",\"method\" : "
    "\"sockets\",\"left_out\" : 4,\"in_band\" : 1,\"errors\" : {\"fitted\" : {\"sizes\" : "
    "1,\"median_fraction\" : 0.03125,\"max_fraction\" : 0.125,\"max_size_bytes\" : 1024},\"held-out\" : "
    "{\"sizes\" : 2,\"median_fraction\" : 0.0625,\"max_fraction\" : 0.25,\"max_size_bytes\" : "
    "2048},\"outside\" : {\"sizes\" : 3,\"median_fraction\" : 0.09375,\"max_fraction\" : "
    "0.375,\"max_size_bytes\" : 3072}}},{\"kind\" : \"bandwidth\",\"method\" : null,\"left_out\" : "
    "0,\"in_band\" : 0,\"errors\" : {      }}]}";

static const char fits_text[] =
    "machine: lab\n"
    "+- is half of the 95 % interval; numbers come from the sizes not held out\n"
    "\n"
    "tcp latency, a to b, sockets (1 series)\n"
    "  to 4 KiB     overhead 2 +- 0.25 us           rate 1 +- 0.12 GB/s\n"
    "  above        overhead none                   rate not told by so short messages\n"
    "        size    measured us     fitted us     error\n"
    "         8 B          4.000         5.000   +25.00%\n"
    "       4 KiB          8.000         6.000   -25.00%  held out\n"
    "  fitted     1 sizes: median |error|  3.12 %, largest 12.50 % at 1 KiB\n"
    "  held-out   2 sizes: median |error|  6.25 %, largest 25.00 % at 2 KiB\n"
    "\n"
    "tcp bandwidth, a to b, sockets and others (2 series, 10 samples)\n"
    "  all sizes    overhead 1.5 +- 0.5 us          rate 20 +- 2 GB/s\n"
    "        size    measured us     fitted us     error\n"
    "\n"
    "tcp exchange, a to b, sockets and others (3 series, 20 samples)\n"
    "  at 8 B: 3.5 us\n"
    "\n"
    "tcp bandwidth, a to b, sockets and others (2 series, 10 samples)\n"
    "  at 64 KiB: 16 GB/s\n"
    "\n"
    "tcp bidirectional, a to b, sockets and others (4 series, 30 samples)\n"
    "  at 64 KiB: 12 +- 1 GB/s\n"
    "\n"
    "link 'lab' on top of 'base'\n"
    "  copy                 10 +- 1 GB/s, achievable 0.5 (base: 0.75)\n"
    "  kernel               8 GB/s, achievable 0.25 (base: 0.625)\n"
    "  endpoint             4 +- 1 us\n"
    "  both directions      0.75 of the rate with one (kernel)\n"
    "  collective_fraction  0.875\n"
    "  gap                  1.5 +- 0.5 us between small messages (not in the entry)\n"
    "  messages             3 rows, +- 38 %\n"
    "\n"
    "Quality: fair. Sizes that the fit did not see are 3.1 % off. Measured from 8 B to 64 KiB; predictions "
    "of other sizes are marked.\n"
    "Note: of the fit.\n"
    "Note: of the entry.\n"
    "\n"
    "machine: not known\n"
    "+- is half of the 95 % interval; numbers come from the sizes not held out\n"
    "\n"
    "tcp bandwidth, a to b, sockets and others (2 series, 10 samples)\n"
    "  at 64 KiB: 8 +- 1 GB/s\n"
    "\n"
    "link 'copies', without a base\n"
    "  copy                 8 +- 1 GB/s, achievable 0.5\n"
    "\n"
    "Quality: not known, as too few sizes were measured to judge a fit. Measured at 64 KiB only; predictions "
    "of other sizes are marked.\n";

static const char fits_csv[] = "link,kind,drive,size_bytes,measured_us,fitted_us,error_fraction,held_out\n"
                               "lab,latency,copy,8,4,5,0.250000,0\n"
                               "lab,latency,copy,4096,8,6,-0.250000,1\n";

static const char fits_json[] =
    "{\"version\" : \"" FAB_VERSION "\",\"links\" : [{\"link\" : \"lab\",\"base\" : \"base\",\"system\" : "
    "\"lab\",\"copy_GBps\" : 16.0,\"kernel_GBps\" : 8.0,\"endpoint_us\" : 4.0,\"collective_fraction\" : "
    "0.875,\"from_bytes\" : 8,\"to_bytes\" : 65536,\"held_out\" : 2,\"held_out_error_fraction\" : "
    "0.03125,\"uncertainty\" : {\"rate_fraction\" : 0.125,\"endpoint_fraction\" : 0.25,\"messages_fraction\" "
    ": 0.375},\"measured\" : [{\"kind\" : \"latency\",\"drive\" : \"copy\",\"method\" : "
    "\"sockets\",\"series\" : 1,\"samples\" : 0,\"regimes\" : [{\"up_to_bytes\" : 4096,\"overhead_us\" : "
    "2.0,\"overhead_half_us\" : 0.25,\"rate_GBps\" : 1.0,\"rate_half_GBps\" : 0.125},{\"up_to_bytes\" : "
    "65536,\"overhead_us\" : 0.0,\"overhead_half_us\" : 0.0}],\"errors\" : {\"fitted\" : {\"sizes\" : "
    "1,\"median_fraction\" : 0.03125,\"max_fraction\" : 0.125,\"max_size_bytes\" : 1024},\"held-out\" : "
    "{\"sizes\" : 2,\"median_fraction\" : 0.0625,\"max_fraction\" : 0.25,\"max_size_bytes\" : "
    "2048}},\"rows\" : [{\"size_bytes\" : 8,\"measured_us\" : 4.0,\"predicted_us\" : 5.0,\"error_fraction\" "
    ": 0.25,\"part\" : \"fitted\"},{\"size_bytes\" : 4096,\"measured_us\" : 8.0,\"predicted_us\" : "
    "6.0,\"error_fraction\" : -0.25,\"part\" : \"held-out\"}]},{\"kind\" : \"bandwidth\",\"drive\" : "
    "\"copy\",\"method\" : \"sockets\",\"series\" : 2,\"samples\" : 10,\"rate_GBps\" : "
    "20.0,\"rate_half_GBps\" : 2.0,\"regimes\" : [{\"up_to_bytes\" : 65536,\"overhead_us\" : "
    "1.5,\"overhead_half_us\" : 0.5,\"rate_GBps\" : 20.0,\"rate_half_GBps\" : 2.0}],\"errors\" : {          "
    "},\"rows\" : []},{\"kind\" : \"exchange\",\"drive\" : \"copy\",\"method\" : \"sockets\",\"series\" : "
    "3,\"samples\" : 20},{\"kind\" : \"bandwidth\",\"drive\" : \"kernel\",\"method\" : "
    "\"sockets\",\"series\" : 2,\"samples\" : 10,\"rate_GBps\" : 16.0},{\"kind\" : "
    "\"bidirectional\",\"drive\" : \"kernel\",\"method\" : \"sockets\",\"series\" : 4,\"samples\" : "
    "30,\"rate_GBps\" : 12.0,\"rate_half_GBps\" : 1.0}],\"notes\" : [\"of the fit\",\"of the "
    "entry\"]},{\"link\" : \"copies\",\"base\" : null,\"system\" : null,\"copy_GBps\" : 16.0,\"kernel_GBps\" "
    ": 8.0,\"endpoint_us\" : 9.9999999999999995e-07,\"collective_fraction\" : 0.5,\"from_bytes\" : "
    "65536,\"to_bytes\" : 65536,\"held_out\" : 0,\"held_out_error_fraction\" : 0.0,\"uncertainty\" : "
    "{\"rate_fraction\" : 0.0,\"endpoint_fraction\" : 0.0,\"messages_fraction\" : 0.0},\"measured\" : "
    "[{\"kind\" : \"bandwidth\",\"drive\" : \"copy\",\"method\" : \"sockets\",\"series\" : 2,\"samples\" : "
    "10,\"rate_GBps\" : 8.0}],\"notes\" : []}]}";

static void
assert_page (char *page, const char *right)
{
  assert_string_equal (page, right);
  g_free (page);
}

/* A document on one line. */
static void
assert_document (char *page, const char *right)
{
  g_autoptr (GRegex) breaks = g_regex_new ("\\s*\n\\s*", 0, 0, NULL);

  assert_page (g_regex_replace_literal (breaks, page, -1, 0, "", 0, NULL), right);
  g_free (page);
}

static void
leave_fits (FitWorld *self)
{
  for (guint i = 0; i < 2; i++) {
    for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
      for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++)
        g_clear_pointer (&self->fits[i].kinds[drive][which].points, g_array_unref);
    g_array_unref (self->curves[i].rows);
    g_ptr_array_unref (self->fits[i].notes);
    g_ptr_array_unref (self->fragments[i].notes);
  }
  g_ptr_array_unref (self->all);
}

static void
pages_of_a_check (G_GNUC_UNUSED void **state)
{
  CheckWorld world;

  make_check (&world);
  assert_page (fab_link_check_to_text (&world.check, FALSE), check_text);
  assert_page (fab_link_check_to_markdown (&world.check, FALSE), check_markdown);
  assert_page (fab_link_check_to_csv (&world.check, FALSE), check_csv);
  assert_document (fab_link_check_to_json (&world.check, FALSE), check_json);
  assert_page (fab_link_check_to_text (&world.check, TRUE), summary_text);
  assert_page (fab_link_check_to_markdown (&world.check, TRUE), summary_markdown);
  assert_page (fab_link_check_to_csv (&world.check, TRUE), summary_csv);
  assert_document (fab_link_check_to_json (&world.check, TRUE), summary_json);
  for (guint i = 0; i < 2; i++)
    g_array_unref (world.kinds[i].rows);
  g_ptr_array_unref (world.check.kinds);
}

static void
pages_of_fits (G_GNUC_UNUSED void **state)
{
  FitWorld world;

  make_fits (&world);
  assert_page (fab_fits_to_text (world.all), fits_text);
  assert_page (fab_fits_to_csv (world.all), fits_csv);
  /* A document has no number for what is not known. */
  world.fits[1].kinds[FAB_DRIVE_COPY][FAB_MEASURE_BANDWIDTH].rate_half = INFINITY;
  assert_document (fab_fits_to_json (world.all), fits_json);
  leave_fits (&world);
}

/* What no base and no measurement says is left out, and what is of the base says so. */
static void
lines_of_an_entry (G_GNUC_UNUSED void **state)
{
  FitWorld world;

  make_fits (&world);
  world.fragments[0].is_endpoint_measured = world.fragments[0].is_collective_measured = FALSE;
  world.fragments[0].spec.uncertainty.endpoint_fraction = 0;
  world.curves[1].regimes[0].is_without_overhead = TRUE;
  g_autofree char *of_base = fab_fits_to_text (world.all);
  assert_non_null (strstr (of_base, "\n  endpoint             4 us (of the base)\n"));
  assert_non_null (strstr (of_base, "\n  collective_fraction  0.875 (of the base)\n"));
  assert_null (strstr (of_base, "\n  gap "));
  world.fragments[0].spec.endpoint_ps = 0;
  world.fragments[0].spec.collective_fraction = 0;
  world.fragments[0].spec.messages.n = 0;
  world.fits[0].kinds[FAB_DRIVE_COPY][FAB_MEASURE_BIDIRECTIONAL].rate = 10e9;
  g_autofree char *without = fab_fits_to_text (world.all);
  assert_null (strstr (without, "\n  endpoint "));
  assert_null (strstr (without, "\n  collective_fraction "));
  assert_null (strstr (without, "\n  messages "));
  assert_non_null (strstr (without, "\n  both directions      0.5 of the rate with one (copy)\n"));
  leave_fits (&world);
}

/* Up to 2 % is good and up to 5 % fair; errors of sizes that were fitted can only say that a fit is poor. */
static void
words_of_quality (G_GNUC_UNUSED void **state)
{
  static const struct {
    gint64 n_held_out;
    double error;
    const char *words;
  } cases[] = {
    { 1, 0.02, "Quality: good. Sizes that the fit did not see are 2 % off. Measured " },
    { 1, 0.021, "Quality: fair. Sizes that the fit did not see are 2.1 % off. Measured " },
    { 1, 0.05, "Quality: fair. Sizes that the fit did not see are 5 % off. Measured " },
    { 1, 0.051, "Quality: poor. Sizes that the fit did not see are 5.1 % off: the times are not those of " },
    { 0, 0.0625,
      "Quality: poor. No size was held out; those that were fitted are 6.2 % off: the times are not " },
    { 0, 0.015625,
      "Quality: not known. No size was held out; those that were fitted are 1.6 % off. Measured " },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    FitWorld world;

    make_fits (&world);
    world.fragments[0].spec.measured.n_held_out = cases[i].n_held_out;
    world.fragments[0].spec.measured.held_out_error_fraction = cases[i].error;
    g_array_index (world.curves[0].rows, FabFitRow, 0).error_fraction = -cases[i].error;
    g_autofree char *text = fab_fits_to_text (world.all);
    if (strstr (text, cases[i].words) == NULL)
      fail_msg ("'%s' is not in %s", cases[i].words, text);
    leave_fits (&world);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pages_of_a_check),
    cmocka_unit_test (pages_of_fits),
    cmocka_unit_test (lines_of_an_entry),
    cmocka_unit_test (words_of_quality),
  };

  return cmocka_run_group_tests_name ("fit_pages", tests, NULL, NULL);
}
