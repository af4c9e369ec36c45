/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - fits the series of each kind. O(series x points) without the fits. */
#include "validate/fit/link.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "validate/fit/groups.h"

/* Overhead below this fraction of the largest message's time is not visible. */
static const double hidden_fraction = 0.1;

static const FabFitKind *link_fit_both_ways (const FabLinkFit *self, FabDrive drive);

/* Returns how two series of one kind were measured differently; NULL: they were not. (transfer full) */
static char *
find_difference (const FabSeries *a, const FabSeries *b)
{
  struct {
    const char *what, *key;
    guint a, b;
  } numbers[] = { { "queue pairs", "n_queue_pairs", a->n_queue_pairs, b->n_queue_pairs },
                  { "MTU", "mtu_bytes", a->mtu_bytes, b->mtu_bytes },
                  { "messages under way", "window", a->window, b->window } };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (numbers[i].a != numbers[i].b)
      return g_strdup_printf ("%s %u and %u; choose with --series %s=%u", numbers[i].what, numbers[i].a,
                              numbers[i].b, numbers[i].key, numbers[i].b);
  return NULL;
}

/* Fails unless all series of one kind and drive were measured in the same way. */
static gboolean
check_alike (const GPtrArray *chosen, GError **error)
{
  for (guint i = 0; i < chosen->len; i++)
    for (guint k = 0; k < i; k++) {
      const FabSeries *a = &((const FabMeasuredSeries *) g_ptr_array_index (chosen, k))->series;
      const FabSeries *b = &((const FabMeasuredSeries *) g_ptr_array_index (chosen, i))->series;
      gboolean is_comparable = a->kind == b->kind && fab_series_drive (a) == fab_series_drive (b);
      g_autofree char *difference = is_comparable ? find_difference (a, b) : NULL;

      if (difference != NULL)
        return fab_throw (error, FAB_ERROR_INPUT, "%s was measured in more than one way: %s",
                          fab_measure_kind_names[a->kind], difference);
    }
  return TRUE;
}

static gboolean
is_size_wanted (const FabMeasuredPoint *point, const FabFitSizes *sizes)
{
  return point->size_bytes > 0 && point->size_bytes >= sizes->min_bytes
      && (sizes->max_bytes == 0 || point->size_bytes <= sizes->max_bytes);
}

/* Collects the points of all series of a kind, and fills `kind` with what is known of them. (transfer full) */
static GArray *
gather (const GPtrArray *chosen, FabDrive drive, FabMeasureKind which, const FabFitSizes *sizes,
        FabFitKind *kind)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (FabFitPoint));

  for (guint i = 0; i < chosen->len; i++) {
    const FabMeasuredSeries *one = g_ptr_array_index (chosen, i);
    guint before = points->len;

    if (one->series.kind != which || fab_series_drive (&one->series) != drive)
      continue;
    for (guint k = 0; k < one->points->len; k++) {
      const FabMeasuredPoint *point = &g_array_index (one->points, FabMeasuredPoint, k);
      FabFitPoint fit = { (double) point->size_bytes, (double) point->time_ps };

      if (!is_size_wanted (point, sizes))
        continue;
      g_array_append_val (points, fit);
      kind->n_samples += point->n_samples;
      kind->from_bytes = kind->from_bytes ? MIN (kind->from_bytes, point->size_bytes) : point->size_bytes;
      kind->to_bytes = MAX (kind->to_bytes, point->size_bytes);
    }
    if (points->len == before)
      continue;
    kind->series = kind->series ? kind->series : &one->series;
    kind->n_series++;
  }
  return points;
}

/* Fails when pairs of ends differ too much in rate: then they are joined by different kinds of links. */
static gboolean
check_pairs (const GArray *points, FabMeasureKind which, double size_bytes, GError **error)
{
  static const double alike = 1.3;
  double least = INFINITY, most = 0;

  for (guint i = 0; i < points->len; i++) {
    const FabFitPoint *point = &g_array_index (points, FabFitPoint, i);

    if (point->size_bytes == size_bytes) {
      least = MIN (least, point->time_ps);
      most = MAX (most, point->time_ps);
    }
  }
  if (most > alike * least)
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "%s of %.0f B is %.4g GB/s between some ends and %.4g between others: they are not joined alike; "
        "choose with --from and --to",
        fab_measure_kind_names[which], size_bytes, size_bytes / least * 1e3, size_bytes / most * 1e3);
  return TRUE;
}

/* Sets the rate: the mean over the pairs at the largest size. Its interval is the variation between pairs. */
static void
fit_largest (FabFitKind *kind, const GArray *points)
{
  double sum = 0, squares = 0;
  guint n = 0;

  for (guint i = 0; i < points->len; i++) {
    const FabFitPoint *point = &g_array_index (points, FabFitPoint, i);
    double rate = point->size_bytes / point->time_ps * (double) FAB_PS_PER_S;

    if ((FabBytes) point->size_bytes != kind->to_bytes)
      continue;
    sum += rate;
    squares += rate * rate;
    n++;
  }
  kind->rate = sum / n;
  if (n > 1)
    kind->rate_half = fab_fit_student_95 (n - 1)
                    * sqrt (MAX (squares / n - kind->rate * kind->rate, 0) / (n - 1));
}

static void G_GNUC_PRINTF (2, 3) note (FabLinkFit *self, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_ptr_array_add (self->notes, g_strdup_vprintf (format, arguments));
  va_end (arguments);
}

/* Sets the rate of the last regime. Messages in flight hide each other's overhead. Where overhead is still visible at
 * the largest size, a rate beyond it would be an extrapolation, so the rate of the largest size is used. */
static void
fit_saturated (FabLinkFit *self, FabFitKind *kind, FabMeasureKind which, const GArray *points)
{
  const FabFitRegime *last = &kind->curve->regimes[kind->curve->n_regimes - 1];
  gboolean is_alone = which == FAB_MEASURE_LATENCY || which == FAB_MEASURE_EXCHANGE;
  double largest_ps = fab_fit_line_time_ps (&last->line, (double) kind->to_bytes);
  g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, (double) kind->to_bytes);

  if (is_alone && !fab_fit_regime_has_rate (last))
    return;
  kind->rate = fab_fit_regime_rate (last);
  kind->rate_half = fab_fit_regime_rate_half (last);
  if (is_alone || (fab_fit_regime_has_rate (last) && last->line.overhead_ps < hidden_fraction * largest_ps))
    return;
  fit_largest (kind, points);
  kind->rate_half = MAX (kind->rate_half, kind->rate * last->line.overhead_ps / largest_ps);
  note (self, "%s: overhead still shows at %s, its largest size: what that reaches stands for the rate",
        fab_measure_kind_names[which], size);
}

void
fab_link_fit_bound (FabLinkFit *self, FabDrive drive, double most_bytes_per_s)
{
  for (FabMeasureKind which = 0; which < FAB_MEASURE_COLLECTIVE; which++) {
    FabFitKind *kind = &self->kinds[drive][which];
    gboolean is_alone = which == FAB_MEASURE_LATENCY || which == FAB_MEASURE_EXCHANGE;

    if (kind->curve == NULL || kind->rate <= most_bytes_per_s || (is_alone && !self->is_device))
      continue;
    const FabFitPoint *largest = &g_array_index (kind->points, FabFitPoint, kind->points->len - 1);
    double reached = largest->size_bytes / largest->time_ps * (double) FAB_PS_PER_S;
    g_autofree char *size = fab_units_show (FAB_UNIT_BYTES, largest->size_bytes);

    note (self,
          "%s: the fitted rate of %.4g GB/s is more than the base carries: what %s reaches stands for it",
          fab_measure_kind_names[which], kind->rate / 1e9, size);
    kind->rate = reached;
    kind->rate_half = MAX (most_bytes_per_s - reached, 0);
  }
}

/* Fits too few sizes to tell overhead from rate: `bandwidth` gives the rate, `latency` the smallest time. */
static void
fit_few (FabLinkFit *self, FabFitKind *kind, FabMeasureKind which, const GArray *points)
{
  guint n_sizes = kind->points->len;
  gboolean is_timed = which == FAB_MEASURE_LATENCY || which == FAB_MEASURE_EXCHANGE;

  if (!is_timed)
    fit_largest (kind, points);
  note (self, "%s has %u size%s: only its %s is used, nothing is held out", fab_measure_kind_names[which],
        n_sizes, n_sizes == 1 ? "" : "s", is_timed ? "smallest time" : "rate");
}

/* Leaves out a kind whose times are not those of messages; the other kinds are still used. */
static void
leave_out (FabLinkFit *self, FabFitKind *kind, FabMeasureKind which, const GError *why)
{
  note (self, "%s is left out: %s", fab_measure_kind_names[which], why->message);
  g_array_unref (kind->points);
  *kind = (FabFitKind){ .is_left_out = TRUE };
}

static void
fit_curve (FabLinkFit *self, FabFitKind *kind, FabMeasureKind which, const GArray *points,
           const FabFitSizes *sizes)
{
  g_autoptr (GError) why = NULL;
  guint n_sizes = kind->points->len;
  gboolean can_hold_out = n_sizes >= 2 * FAB_FIT_MIN_SIZES;

  kind->curve = fab_fit_curve_new ((const FabFitPoint *) (gpointer) kind->points->data, n_sizes,
                                   can_hold_out ? sizes->hold_out : 0, &why);
  if (kind->curve == NULL) {
    leave_out (self, kind, which, why);
    return;
  }
  if (!can_hold_out && sizes->hold_out > 0)
    note (self, "%s has only %u sizes: none of them is held out", fab_measure_kind_names[which], n_sizes);
  fit_saturated (self, kind, which, points);
}

static gboolean
fit_kind (FabLinkFit *self, FabDrive drive, FabMeasureKind which, const GPtrArray *chosen,
          const FabFitSizes *sizes, GError **error)
{
  FabFitKind *kind = &self->kinds[drive][which];
  g_autoptr (GArray) points = gather (chosen, drive, which, sizes, kind);
  const FabFitPoint *first = (const FabFitPoint *) (gpointer) points->data;

  for (guint i = 0; i < points->len; i++)
    if (!fab_fit_check_point (&first[i], error)) {
      g_prefix_error (error, "%s: ", fab_measure_kind_names[which]);
      return FALSE;
    }
  if (points->len == 0)
    return TRUE;
  if (!check_pairs (points, which, (double) kind->to_bytes, error))
    return FALSE;
  kind->points = fab_fit_merge_sizes (first, points->len);
  if (kind->points->len < FAB_FIT_MIN_SIZES)
    fit_few (self, kind, which, points);
  else
    fit_curve (self, kind, which, points, sizes);
  return TRUE;
}

static gboolean
is_missing (const FabFitKind *kind)
{
  return kind->series == NULL && !kind->is_left_out;
}

static void
note_missing (FabLinkFit *self)
{
  const FabFitKind *copy = self->kinds[FAB_DRIVE_COPY];

  if (!self->is_device && is_missing (&copy[FAB_MEASURE_LATENCY]))
    note (self, "no latency was measured: messages and endpoint are not fitted");
  if (!self->is_device && copy[FAB_MEASURE_LATENCY].curve && copy[FAB_MEASURE_EXCHANGE].curve == NULL
      && !copy[FAB_MEASURE_EXCHANGE].is_left_out)
    note (self, "no exchange was measured: messages with both directions busy are not fitted");
  if (!self->is_device && copy[FAB_MEASURE_LATENCY].series && is_missing (&copy[FAB_MEASURE_BANDWIDTH]))
    note (self, "no bandwidth was measured: what many messages under way reach is not fitted");
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++) {
    const char *name = drive == FAB_DRIVE_KERNEL ? "kernel" : "copy";
    gboolean has_one = fab_link_fit_one_way (self, drive) != NULL;
    gboolean has_both = link_fit_both_ways (self, drive) != NULL;

    if (has_one && !has_both)
      note (self,
            "%s: both directions at once were not measured: what they take from each other is not known",
            name);
    if (has_both && fab_link_fit_duplex (self, drive, NULL) == 0)
      note (self, "%s: only both directions at once were measured: the rate of one alone is not known", name);
  }
}

static gboolean
has_points (const FabLinkFit *self)
{
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_MEASURE_COLLECTIVE; which++)
      if (self->kinds[drive][which].points != NULL)
        return TRUE;
  return FALSE;
}

FabLinkFit *
fab_link_fit_new (const GPtrArray *series, const FabFitSizes *sizes, GError **error)
{
  g_autoptr (FabLinkFit) self = g_new0 (FabLinkFit, 1);
  const FabSeries *first = &((const FabMeasuredSeries *) g_ptr_array_index (series, 0))->series;

  self->notes = g_ptr_array_new_with_free_func (g_free);
  if (!check_alike (series, error))
    return NULL;
  self->system = g_strdup (first->system);
  self->is_device = fab_series_device_method (first) != NULL;
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_MEASURE_COLLECTIVE; which++)
      if (!fit_kind (self, drive, which, series, sizes, error))
        return NULL;
  if (!has_points (self)) {
    if (self->notes->len > 0)
      fab_throw (error, FAB_ERROR_INPUT, "nothing is left to fit: %s", (char *) self->notes->pdata[0]);
    else
      fab_throw (error, FAB_ERROR_INPUT, "no size that was measured is between --min-size and --max-size");
    return NULL;
  }
  note_missing (self);
  return g_steal_pointer (&self);
}

void
fab_link_fit_free (FabLinkFit *self)
{
  if (self == NULL)
    return;
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++) {
      fab_fit_curve_free (self->kinds[drive][which].curve);
      g_clear_pointer (&self->kinds[drive][which].points, g_array_unref);
    }
  g_ptr_array_unref (self->notes);
  g_free (self->system);
  g_free (self);
}

gboolean
fab_link_fit_has_rate (const FabLinkFit *self)
{
  for (FabDrive drive = FAB_DRIVE_COPY; drive <= FAB_DRIVE_KERNEL; drive++)
    for (FabMeasureKind which = 0; which < FAB_N_MEASURE_KINDS; which++)
      if (self->kinds[drive][which].rate > 0)
        return TRUE;
  return FALSE;
}

static const FabFitKind *
first_of (const FabFitKind *kinds, FabMeasureKind a, FabMeasureKind b)
{
  return kinds[a].rate > 0 ? &kinds[a] : kinds[b].rate > 0 ? &kinds[b] : NULL;
}

const FabFitKind *
fab_link_fit_one_way (const FabLinkFit *self, FabDrive drive)
{
  return first_of (self->kinds[drive], FAB_MEASURE_BANDWIDTH,
                   self->is_device ? FAB_MEASURE_LATENCY : FAB_MEASURE_BANDWIDTH);
}

/* Returns the kind that gives the rate with both directions busy; NULL: not measured. */
static const FabFitKind *
link_fit_both_ways (const FabLinkFit *self, FabDrive drive)
{
  return first_of (self->kinds[drive], FAB_MEASURE_BIDIRECTIONAL, FAB_MEASURE_EXCHANGE);
}

/* Compares the same kinds only: a network's `latency` has no window, and its `bidirectional` has one. */
double
fab_link_fit_duplex (const FabLinkFit *self, FabDrive drive, const FabFitKind **busy)
{
  static const FabMeasureKind pairs[][2] = { { FAB_MEASURE_BIDIRECTIONAL, FAB_MEASURE_BANDWIDTH },
                                             { FAB_MEASURE_EXCHANGE, FAB_MEASURE_LATENCY },
                                             { FAB_MEASURE_BIDIRECTIONAL, FAB_MEASURE_LATENCY } };
  guint n_pairs = self->is_device ? 3 : 2;

  for (guint i = 0; i < n_pairs; i++) {
    double both = self->kinds[drive][pairs[i][0]].rate, one = self->kinds[drive][pairs[i][1]].rate;

    if (both > 0 && one > 0) {
      if (busy)
        *busy = &self->kinds[drive][pairs[i][0]];
      return MIN (both / one, 1);
    }
  }
  return 0;
}
