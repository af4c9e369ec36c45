/* SPDX-License-Identifier: Apache-2.0 */
/* measure_request.c - the options of `fabricast measure` as a plan: sizes, kinds, how sure, how long. */
#include <string.h>

#include "cli/collective.h"
#include "cli/measure.h"
#include "sim/base/error.h"

#define DEFAULT_SIZES "8..64M"
#define DEFAULT_PRECISION "2%"
#define DEFAULT_TIME "5"

#define MAX_SIZE_BYTES (G_GUINT64_CONSTANT (64) << 30)

enum { MAX_SIZES = 10000, MAX_SAMPLES = 1000000, MAX_WINDOW = 65536, MAX_TIMEOUT_S = 86400 };

/* --- sizes --- */

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  FabBytes x = *(const FabBytes *) a, y = *(const FabBytes *) b;

  return (x > y) - (x < y);
}

/* FROM, twice that and so on, and TO. */
static gboolean
add_range (GArray *sizes_bytes, const char *from, const char *to, GError **error)
{
  FabBytes first, last;

  if (!collective_parse_size ("--sizes", from, &first, error)
      || !collective_parse_size ("--sizes", to, &last, error))
    return FALSE;
  if (last < first)
    return fab_throw (error, FAB_ERROR_INPUT, "--sizes %s..%s: the second must not be smaller", from, to);
  if (last > MAX_SIZE_BYTES)
    return fab_throw (error, FAB_ERROR_INPUT, "--sizes %s: messages are at most 64G", to);
  for (FabBytes size = first; size < last; size *= 2)
    g_array_append_val (sizes_bytes, size);
  g_array_append_val (sizes_bytes, last);
  return TRUE;
}

static gboolean
add_item (GArray *sizes_bytes, const char *item, GError **error)
{
  const char *dots = strstr (item, "..");
  g_autofree char *from = g_strndup (item, dots ? (gsize) (dots - item) : strlen (item));

  return add_range (sizes_bytes, from, dots ? dots + 2 : from, error);
}

static void
sort_sizes (GArray *sizes_bytes)
{
  guint n = 0;

  g_array_sort (sizes_bytes, compare_sizes);
  for (guint i = 0; i < sizes_bytes->len; i++) {
    FabBytes size = g_array_index (sizes_bytes, FabBytes, i);

    if (n == 0 || g_array_index (sizes_bytes, FabBytes, n - 1) != size)
      g_array_index (sizes_bytes, FabBytes, n++) = size;
  }
  g_array_set_size (sizes_bytes, n);
}

static gboolean
read_sizes (MeasureRequest *self, const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ",", -1);

  self->sizes_bytes = g_array_new (FALSE, FALSE, sizeof (FabBytes));
  for (guint i = 0; items[i]; i++)
    if (!add_item (self->sizes_bytes, g_strstrip (items[i]), error))
      return FALSE;
  if (self->sizes_bytes->len == 0 || self->sizes_bytes->len > MAX_SIZES)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "--sizes: from 1 to %d sizes; write for example 8..64M or 1K,1M", MAX_SIZES);
  sort_sizes (self->sizes_bytes);
  return TRUE;
}

/* --- the rest --- */

static gboolean
read_kinds (MeasureRequest *self, const char *text, GError **error)
{
  g_auto (GStrv) names = text ? g_strsplit (text, ",", -1) : NULL;

  for (guint i = 0; text == NULL && i < FAB_N_MEASURE_KINDS; i++)
    self->kinds[i] = TRUE;
  for (guint i = 0; names && names[i]; i++) {
    const char *nearest = fab_nearest (names[i], fab_measure_kind_names);
    FabMeasureKind kind;

    if (!fab_measure_kind_find (names[i], &kind)) {
      g_autofree char *all = g_strjoinv (", ", (char **) fab_measure_kind_names);

      return fab_throw (error, FAB_ERROR_INPUT, "--kinds: no kind '%s'%s%s; there are %s", names[i],
                        nearest ? "; nearest is " : "", nearest ? nearest : "", all);
    }
    self->kinds[kind] = TRUE;
  }
  return TRUE;
}

static gboolean
read_precision (MeasureRequest *self, const char *text, GError **error)
{
  double *fraction = &self->limits.precision_fraction;

  if (fab_units_parse_real (FAB_UNIT_FRACTION, text, fraction, NULL) && *fraction > 0 && *fraction < 1)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT,
                    "--precision %s: not between 0%% and 100%%; write for example 2%%", text);
}

/* "5" is 5 s. */
static gboolean
read_time (MeasureRequest *self, const char *text, GError **error)
{
  gboolean is_plain = strspn (text, "0123456789.") == strlen (text);
  g_autofree char *spelt = g_strconcat (text, is_plain ? "s" : "", NULL);

  if (fab_units_parse_whole (FAB_UNIT_TIME, spelt, &self->limits.max_time_ps, NULL)
      && self->limits.max_time_ps > 0)
    return TRUE;
  return fab_throw (error, FAB_ERROR_INPUT, "--time %s: not a time; write for example 5 or 500ms", text);
}

static gboolean
check_count (const char *option, gint64 value, gint64 min, gint64 max, GError **error)
{
  return (value >= min && value <= max)
      || fab_throw (error, FAB_ERROR_INPUT,
                    "%s %" G_GINT64_FORMAT ": from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, option, value,
                    min, max);
}

gboolean
measure_request_read (MeasureRequest *self, const MeasureOptions *o, GError **error)
{
  if (!read_sizes (self, o->sizes ? o->sizes : DEFAULT_SIZES, error) || !read_kinds (self, o->kinds, error)
      || !read_precision (self, o->precision ? o->precision : DEFAULT_PRECISION, error)
      || !read_time (self, o->time ? o->time : DEFAULT_TIME, error)
      || !check_count ("--min-samples", o->min_samples, 1, MAX_SAMPLES, error)
      || !check_count ("--max-samples", o->max_samples, o->min_samples, MAX_SAMPLES, error)
      || !check_count ("--window", o->window, 0, MAX_WINDOW, error)
      || !check_count ("--timeout", o->timeout_s, 1, MAX_TIMEOUT_S, error))
    return FALSE;
  self->limits.min_samples = (guint) o->min_samples;
  self->limits.max_samples = (guint) o->max_samples;
  self->plan = (FabMeasurePlan){ .sizes_bytes = (const FabBytes *) self->sizes_bytes->data,
                                 .n_sizes = self->sizes_bytes->len,
                                 .kinds = self->kinds,
                                 .window = (guint) o->window,
                                 .peer = o->peer,
                                 .listen = o->listen,
                                 .timeout_s = (guint) o->timeout_s,
                                 .once = o->once };
  return TRUE;
}

void
measure_request_clear (MeasureRequest *self)
{
  g_clear_pointer (&self->sizes_bytes, g_array_unref);
}
