/* SPDX-License-Identifier: Apache-2.0 */
/* fragment.c - divides fitted rates by the share that the base's packets leave, and subtracts the base's wires from
 * fitted times. O(regimes). */
#include "validate/fit/fragment.h"

#include <math.h>
#include <string.h>

#include "models/library/nccl/parts.h"
#include "sim/base/error.h"
#include "sim/scenario/catalog_params.h"

/* Compares measured rates with those that the base's line and packets allow. O(sizes). */

/* Tolerance of a packet rate: the base's packet format may be a little wrong. */
static const double rounding = 1.02;
/* Tolerance of a single measured rate: a median of few samples, printed in three digits, can be this much off. The
 * smallest mistake of units, GiB for GB, is 7 %, and is still found. */
static const double too_fast = 1.05;

/* Returns the payload rate in bytes per second that a drive's packets can reach on one link, before any loss. */
static double
base_packet_rate (const FabLinkSpec *link, const FabLinkDriveSpec *drive)
{
  double packets = drive->payload_bytes > 0
                     ? (double) drive->payload_bytes / (double) (drive->payload_bytes + drive->overhead_bytes)
                     : 1;

  return (double) link->lanes * (double) link->signalling_bytes_per_s * link->coding_fraction * packets;
}

/* Fails when a message of any kind and size was faster than the line. */
static gboolean
check_points (const FabFitKind *kind, const FabFragmentRequest *request, GError **error)
{
  double line = (double) fab_link_spec_line_rate (request->base) * request->count, most = 0;
  FabFitPoint fastest = { 0 };

  for (guint i = 0; kind->points && i < kind->points->len; i++) {
    const FabFitPoint *point = &g_array_index (kind->points, FabFitPoint, i);
    double rate = point->size_bytes / point->time_ps * (double) FAB_PS_PER_S;

    if (rate > most)
      fastest = *point;
    most = MAX (most, rate);
  }
  if (most <= line * too_fast)
    return TRUE;
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, fastest.size_bytes);
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "%s: %.4g GB/s were measured (%s in %.4g us), and %u x %s carry %.4g GB/s at most: name a "
      "faster --base, or how many links there are with --count",
      fab_measure_kind_names[kind->series->kind], most / 1e9, size, fastest.time_ps / 1e6, request->count,
      request->base->name, line / 1e9);
}

/* Limits the fitted rates to what the base can carry. A rate above that was extrapolated beyond the largest measured
 * size, so the rate of that size replaces it. Fails when the messages themselves were faster than the line rate of
 * the base. Does nothing without a base. */
static gboolean
base_bound (FabLinkFit *fit, const FabFragmentRequest *request, GError **error)
{
  const FabLinkSpec *base = request->base;

  for (FabDrive drive = FAB_DRIVE_COPY; base && drive <= FAB_DRIVE_KERNEL; drive++) {
    double packets = base_packet_rate (base, drive == FAB_DRIVE_KERNEL ? &base->kernel : &base->copy);

    for (FabMeasureKind which = 0; which < FAB_MEASURE_COLLECTIVE; which++)
      if (!check_points (&fit->kinds[drive][which], request, error))
        return FALSE;
    fab_link_fit_bound (fit, drive, packets * rounding * request->count);
  }
  return TRUE;
}

/* Fails when a measured rate, less its uncertainty, is above what the packets of the base's drive can reach. */
static gboolean
base_check_rate (const FabFitKind *kind, const FabLinkDriveSpec *drive, const FabFragmentRequest *request,
                 GError **error)
{
  const FabLinkSpec *base = request->base;
  double surely = (kind->rate - kind->rate_half) / request->count;
  double packets = base_packet_rate (base, drive);

  if (surely > packets * rounding)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%.4g GB/s were measured, and packets leave %.4g of %u x %s: another --base, or another packet "
        "format, is right",
        kind->rate / 1e9, packets * request->count / 1e9, request->count, base->name);
  return TRUE;
}

/* Rounding to six digits changes a rate by less than this. */
static const double unrounded = 1.00001;
static const double smallest_achievable = 0.001, largest_rate_half = 0.9;
static const FabBytes largest_small_bytes = 4096;

/* Rounds to six digits: the last bits of a fit differ between machines. */
static double
tidy (double value)
{
  double step = value > 0 ? pow (10, floor (log10 (value)) - 5) : 1;

  return step >= 1 ? round (value / step) * step : round (value / step) / round (1 / step);
}

static void G_GNUC_PRINTF (2, 3) note (FabFragment *self, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (self->notes, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

/* Keeps a text as a scenario may hold it, in UTF-8 and without characters that are not seen: names of files and of
 * machines may be anything. */
static const char *
keep (FabFragment *self, char *text)
{
  char *valid = fab_printable (text);

  g_free (text);
  g_ptr_array_add (self->texts, valid);
  return valid;
}

/* Sets the line rate; without a base it is the highest rate measured. */
static gboolean
set_line (FabFragment *self, const FabLinkFit *fit, const FabFragmentRequest *request, GError **error)
{
  double fastest = 0, half = 0;

  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++)
      if (fit->kinds[drive][which].rate > fastest) {
        fastest = fit->kinds[drive][which].rate;
        half = fit->kinds[drive][which].rate_half;
      }
  if (fastest <= 0)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "nothing that was measured tells a rate: name the link it is like with --base, or measure "
        "more sizes");
  self->spec.uncertainty.rate_fraction = MIN (tidy (half / fastest), largest_rate_half);
  self->spec.lanes = 1;
  self->spec.signalling_bytes_per_s = (FabBytesPerS) ceil (tidy (fastest / request->count));
  self->spec.coding_fraction = 1;
  self->spec.technology = "measured";
  self->spec.copy.achievable_fraction = self->spec.kernel.achievable_fraction = 1;
  self->spec.multimem.achievable_fraction = 1;
  return TRUE;
}

static gboolean
set_drive (FabFragment *self, const FabLinkFit *fit, FabDrive drive, const FabFragmentRequest *request,
           GError **error)
{
  static const char *const names[] = { "copy", "kernel" };
  FabLinkDriveSpec *spec = drive == FAB_DRIVE_KERNEL ? &self->spec.kernel : &self->spec.copy;
  const FabFitKind *kind = fab_link_fit_one_way (fit, drive);

  if (kind == NULL)
    return TRUE;
  if (request->base && !base_check_rate (kind, spec, request, error))
    return FALSE;
  self->is_measured = TRUE;
  double reached = kind->rate / request->count / base_packet_rate (&self->spec, spec);
  if (reached > unrounded)
    note (self, "%s: %.4g %% of what packets leave; taken as all of it", names[drive], reached * 100);
  spec->achievable_fraction = CLAMP (tidy (reached), smallest_achievable, 1);
  spec->source = keep (self,
                       g_strdup_printf ("measured %s of %s, %.4g GB/s over %u link%s; packets as %s",
                                        fab_measure_kind_names[kind->series->kind],
                                        kind->series->system ? kind->series->system : "an unnamed machine",
                                        kind->rate / 1e9, request->count, request->count == 1 ? "" : "s",
                                        request->base ? request->base->name : "none: no base was named"));
  self->spec.uncertainty.rate_fraction = MAX (self->spec.uncertainty.rate_fraction,
                                              MIN (tidy (kind->rate_half / kind->rate), largest_rate_half));
  return TRUE;
}

/* Keeps the collective rate that libraries reached over the base: as a fraction of the rate, but at least the same
 * rate over a slower port, because the measured limit may be what held the library back. */
static void
keep_collective (FabFragment *self, const FabLinkSpec *base)
{
  double was = base_packet_rate (base, &base->copy) * base->copy.achievable_fraction;
  double is = base_packet_rate (&self->spec, &self->spec.copy) * self->spec.copy.achievable_fraction;

  if (base->collective_fraction > 0 && is < was) {
    self->spec.collective_fraction = MIN (tidy (base->collective_fraction * was / is), 1);
    self->spec.collective_source = keep (
        self,
        g_strdup_printf ("of %.4g GB/s that were measured; as much as of the %.4g GB/s of %s: %s", is / 1e9,
                         was / 1e9, base->name, base->collective_source ? base->collective_source : ""));
  }
}

/* Bounds the rate of collectives by the port's rate while the other direction is busy. A bound above the rate that a
 * library is known to reach adds nothing. */
static void
set_collective (FabFragment *self, const FabLinkFit *fit)
{
  const FabFitKind *both = NULL;
  double duplex = fab_link_fit_duplex (fit, FAB_DRIVE_COPY, &both), known;

  if (fit->is_device)
    return;
  if (self->base)
    keep_collective (self, self->base);
  known = self->spec.collective_fraction > 0 ? self->spec.collective_fraction : NCCL_NET_FRACTION;
  if (duplex == 0 || known <= duplex)
    return;
  self->is_measured = self->is_collective_measured = TRUE;
  self->spec.collective_fraction = MIN (tidy (duplex), 1);
  self->spec.collective_source = keep (
      self, g_strdup_printf ("measured: rate with both directions busy (%s) over rate with one%s",
                             fab_measure_kind_names[both->series->kind],
                             self->base && self->base->collective_fraction > 0
                                 ? "; below what the base entry says of a library"
                                 : ""));
}

static void
add_messages (FabFragment *self, const FabFitKind *kind, FabMessageWay way)
{
  double most = base_packet_rate (&self->spec, &self->spec.copy);

  for (guint k = 0; k < kind->curve->n_regimes; k++) {
    const FabFitRegime *regime = &kind->curve->regimes[k];
    gboolean is_last = k + 1 == kind->curve->n_regimes;
    double rate = fab_fit_regime_rate (regime);

    if (is_last && rate > most * unrounded)
      note (self, "%s: its largest messages at %.4g GB/s are faster than packets; taken as %.4g",
            fab_measure_kind_names[kind->series->kind], rate / 1e9, most / 1e9);
    if (is_last)
      rate = MIN (rate, most);
    FabMessageRegime message = { .way = (int) way,
                                 .up_to_bytes = is_last ? 0 : kind->curve->up_to_bytes[k],
                                 .overhead_ps = (FabTimePs) llround (tidy (regime->line.overhead_ps)),
                                 .rate_bytes_per_s = (FabBytesPerS) MAX (tidy (rate), 1) };
    g_array_append_val (self->messages, message);
  }
}

static void
set_messages (FabFragment *self, const FabLinkFit *fit, const FabFragmentRequest *request)
{
  const FabFitKind *one = &fit->kinds[FAB_DRIVE_COPY][FAB_MEASURE_LATENCY];
  const FabFitKind *both = &fit->kinds[FAB_DRIVE_COPY][FAB_MEASURE_EXCHANGE];

  if (one->curve == NULL)
    return;
  if (request->count > 1) {
    note (self, "messages were measured over %u links at once: an entry is one link, so it has none",
          request->count);
    return;
  }
  self->is_measured = TRUE;
  add_messages (self, one, FAB_WAY_ONE);
  if (both->curve)
    add_messages (self, both, FAB_WAY_BOTH);
  double deviation = MAX (one->curve->scatter_fraction, both->curve ? both->curve->scatter_fraction : 0);
  self->spec.uncertainty.messages_fraction = MIN (tidy (fab_fit_student_95 (30) * deviation), 0.9);
  self->spec.messages = (FabParamList){ self->messages->data, self->messages->len };
}

/* Sets the endpoint's time: that of a small message less the wires between the ends. */
static void
set_endpoint (FabFragment *self, const FabLinkFit *fit, const FabFragmentRequest *request)
{
  const FabFitKind *latency = &fit->kinds[FAB_DRIVE_COPY][FAB_MEASURE_LATENCY];
  double wires_ps = (double) request->hops * (double) self->spec.latency_ps, small_ps;

  if (latency->series == NULL || fit->is_device || latency->from_bytes > largest_small_bytes)
    return;
  self->is_measured = self->is_endpoint_measured = TRUE;
  small_ps = latency->curve ? fab_fit_curve_time_ps (latency->curve, (double) latency->from_bytes)
                            : g_array_index (latency->points, FabFitPoint, 0).time_ps;
  if (small_ps < wires_ps)
    note (self, "the smallest message takes %.4g us, and %u links of %s alone %.4g: endpoint 0; see --hops",
          small_ps / 1e6, request->hops, request->base ? request->base->name : "no base", wires_ps / 1e6);
  self->spec.endpoint_ps = (FabTimePs) llround (tidy (MAX (small_ps - wires_ps, 0)));
  self->spec.uncertainty.endpoint_fraction = 0;
  if (self->spec.endpoint_ps > 0 && latency->curve)
    self->spec.uncertainty.endpoint_fraction = MIN (
        tidy (latency->curve->regimes[0].overhead_half_ps / (double) self->spec.endpoint_ps), 1);
}

/* Sets `measured`: the sizes of the fitted messages, or of everything where there are none, and the errors of all
 * rows. Messages taken from the base keep their sizes; without messages the new sizes are added to the base's. */
static void
set_measured (FabFragment *self, const FabLinkFit *fit)
{
  FabLinkMeasured *measured = &self->spec.measured;
  gboolean has_messages = self->messages->len > 0;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (FabFitRow));

  if (!has_messages && self->spec.messages.n > 0)
    return;
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++) {
      const FabFitKind *kind = &fit->kinds[drive][which];
      gboolean counts = !has_messages || which == FAB_MEASURE_LATENCY || which == FAB_MEASURE_EXCHANGE;

      if (kind->curve)
        g_array_append_vals (rows, kind->curve->rows->data, kind->curve->rows->len);
      if (kind->series == NULL || !counts)
        continue;
      measured->from_bytes = measured->from_bytes ? MIN (measured->from_bytes, kind->from_bytes)
                                                  : kind->from_bytes;
      measured->to_bytes = MAX (measured->to_bytes, kind->to_bytes);
      if (kind->curve == NULL)
        measured->n_rows += kind->points->len;
    }
  FabErrors held_out = fab_fit_errors (rows, FAB_FIT_HELD_OUT);
  measured->n_held_out += held_out.n;
  measured->n_rows += rows->len - held_out.n;
  measured->held_out_error_fraction = MAX (measured->held_out_error_fraction,
                                           MIN (tidy (held_out.median_fraction), 1));
}

/* Lists what was measured where, each once: "A100 node (source)". */
static char *
list_sources (const FabLinkFit *fit)
{
  g_autoptr (GString) out = g_string_new (fit->system ? fit->system : "an unnamed machine");
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++) {
      const FabSeries *series = fit->kinds[drive][which].series;

      if (series && series->source && g_hash_table_add (seen, series->source))
        g_string_append_printf (out, "; %s", series->source);
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static void
set_origin (FabFragment *self, const FabLinkFit *fit, const FabFragmentRequest *request)
{
  const FabLinkSpec *base = request->base;
  g_autofree char *sources = list_sources (fit);

  g_autofree char *usual = base ? g_strconcat (base->name, "-measured", NULL) : g_strdup ("measured");

  self->spec.name = keep (self, g_strconcat (request->name ? request->name : usual,
                                             request->suffix ? "-" : "", request->suffix, NULL));
  self->spec.summary = keep (self, g_strdup_printf ("Measured: %s", fit->system ? fit->system : "a machine"));
  self->spec.source = keep (
      self, g_strdup_printf ("fabricast calibrate %s from measurements of %s%s%s", request->version, sources,
                             base ? "; what was not measured is that of " : "", base ? base->name : ""));
  self->spec.date = request->date;
}

/* Removes the base's message regimes and their sources where this fit has its own. */
static void
forget_messages (FabFragment *self, const FabLinkFit *fit)
{
  FabLinkUncertainty was = self->spec.uncertainty;
  gboolean has_rate = fab_link_fit_one_way (fit, FAB_DRIVE_COPY) != NULL;

  if (fit->kinds[FAB_DRIVE_COPY][FAB_MEASURE_LATENCY].curve == NULL)
    return;
  self->spec.uncertainty = (FabLinkUncertainty){ .rate_fraction = has_rate ? 0 : was.rate_fraction,
                                                 .latency_fraction = was.latency_fraction };
  self->spec.measured = (FabLinkMeasured){ 0 };
  self->spec.messages = (FabParamList){ NULL, 0 };
}

FabFragment *
fab_fragment_new (FabLinkFit *fit, const FabFragmentRequest *request, GError **error)
{
  g_autoptr (FabFragment) self = g_new0 (FabFragment, 1);

  g_assert (request->count > 0);
  self->notes = g_ptr_array_new_with_free_func (g_free);
  self->texts = g_ptr_array_new_with_free_func (g_free);
  self->messages = g_array_new (FALSE, FALSE, sizeof (FabMessageRegime));
  self->fit = fit;
  self->base = request->base;
  self->count = request->count;
  if (request->base)
    self->spec = *request->base;
  self->spec.evidence = FAB_EVIDENCE_TABLES; /* the entry says itself how sure it is */
  forget_messages (self, fit);
  self->is_measured = request->base == NULL;
  if (!base_bound (fit, request, error) || (request->base == NULL && !set_line (self, fit, request, error)))
    return NULL;
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    if (!set_drive (self, fit, drive, request, error))
      return NULL;
  if (request->base == NULL && fab_link_fit_one_way (fit, FAB_DRIVE_KERNEL) == NULL)
    self->spec.kernel = self->spec.copy;
  set_collective (self, fit);
  set_messages (self, fit, request);
  set_endpoint (self, fit, request);
  set_measured (self, fit);
  set_origin (self, fit, request);
  return g_steal_pointer (&self);
}

void
fab_fragment_free (FabFragment *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->notes);
  g_ptr_array_unref (self->texts);
  g_array_unref (self->messages);
  g_free (self);
}

/* Writes link entries as a commented catalogue file. */

/* Escapes control characters and odd line ends as in values: YAML does not allow them in comments either. */
static void
append_comment (GString *out, const char *text)
{
  g_autofree char *line = g_strdelimit (g_utf8_make_valid (text, -1), "\r\n\t", ' ');

  g_string_append (out, "# ");
  for (const char *p = line; *p; p = g_utf8_next_char (p)) {
    gunichar c = g_utf8_get_char (p);

    if (g_unichar_isprint (c) && c != 0x2028 && c != 0x2029)
      g_string_append_unichar (out, c);
    else
      g_string_append_printf (out, c < 0x10000 ? "\\u%04X" : "\\U%08X", c);
  }
  g_string_append_c (out, '\n');
}

static void
append_kinds (GString *out, const FabLinkFit *fit)
{
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++) {
      const FabFitKind *kind = &fit->kinds[drive][which];
      g_autofree char *title = kind->series ? fab_series_title (kind->series) : NULL;
      g_autofree char *text = kind->series
                                ? g_strdup_printf ("  %s%s: %u series, %" G_GUINT64_FORMAT
                                                   " to %" G_GUINT64_FORMAT " B, %" G_GUINT64_FORMAT
                                                   " samples%s",
                                                   title, kind->n_series > 1 ? " and others" : "",
                                                   kind->n_series, kind->from_bytes, kind->to_bytes,
                                                   kind->n_samples, kind->n_samples == 0 ? " known" : "")
                                : NULL;

      if (text)
        append_comment (out, text);
    }
}

static void
append_notes (GString *out, const GPtrArray *notes)
{
  for (guint i = 0; i < notes->len; i++) {
    g_autofree char *text = g_strconcat ("  ", g_ptr_array_index (notes, i), NULL);

    append_comment (out, text);
  }
}

char *
fab_fragments_yaml (const GPtrArray *fragments, const FabFragmentRequest *request)
{
  g_autoptr (GArray) specs = g_array_new (FALSE, FALSE, sizeof (FabLinkSpec));
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "# Written by fabricast calibrate %s on %s from:\n", request->version,
                          request->date);
  for (guint i = 0; request->files[i]; i++) {
    g_autofree char *name = g_path_get_basename (request->files[i]);
    g_autofree char *text = g_strconcat ("  ", name, NULL);

    append_comment (out, text);
  }
  for (guint i = 0; i < fragments->len; i++) {
    const FabFragment *self = g_ptr_array_index (fragments, i);
    g_autofree char *head = g_strdup_printf ("Link '%s':", self->spec.name);

    append_comment (out, head);
    append_kinds (out, self->fit);
    append_notes (out, self->fit->notes);
    append_notes (out, self->notes);
    g_array_append_val (specs, self->spec);
  }
  append_comment (out, "A scenario takes it with `include:` and names a link of it where a link is named.");
  FabCatalogSections sections = { .links = { specs->data, specs->len } };
  g_autofree char *yaml = fab_schema_write (fab_catalog_params, &sections);
  g_string_append_printf (out, "\n%s", yaml);
  return g_string_free (out, FALSE);
}
