/* SPDX-License-Identifier: Apache-2.0 */
/* errors.c - medians and maxima. O(n log n) in the rows. */
#include "validate/check/errors.h"

#include <math.h>

#include "sim/base/order.h"
#include "sim/base/stats.h"

static const FabBytes middle_bytes = 256 * 1024, large_bytes = 64 * 1024 * 1024;

const char *const fab_size_class_names[FAB_N_SIZE_CLASSES + 1] = {
  [FAB_SIZE_SMALL] = "small", [FAB_SIZE_MIDDLE] = "middle", [FAB_SIZE_LARGE] = "large"
};

FabSizeClass
fab_size_class (FabBytes size_bytes)
{
  return size_bytes < middle_bytes ? FAB_SIZE_SMALL
       : size_bytes < large_bytes  ? FAB_SIZE_MIDDLE
                                   : FAB_SIZE_LARGE;
}

/* Sorts the values. */
static double
median (GArray *values)
{
  g_array_sort (values, fab_order_doubles);
  return fab_median ((const double *) (gpointer) values->data, values->len);
}

FabErrors
fab_errors_of (const double *errors, const FabBytes *sizes_bytes, guint n)
{
  g_autoptr (GArray) signed_errors = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) magnitudes = g_array_new (FALSE, FALSE, sizeof (double));
  FabErrors all = { .n = n };

  if (n == 0)
    return all;
  for (guint i = 0; i < n; i++) {
    double magnitude = fabs (errors[i]);

    g_array_append_val (signed_errors, errors[i]);
    g_array_append_val (magnitudes, magnitude);
    if (i == 0 || magnitude > all.max_fraction
        || (magnitude == all.max_fraction && sizes_bytes[i] < all.max_size_bytes)) {
      all.max_fraction = magnitude;
      all.max_size_bytes = sizes_bytes[i];
    }
  }
  all.median_fraction = median (magnitudes);
  all.bias_fraction = median (signed_errors);
  return all;
}

FabErrors
fab_errors_of_class (const double *errors, const FabBytes *sizes_bytes, guint n, FabSizeClass size_class)
{
  g_autofree double *own_errors = g_new (double, n + 1);
  g_autofree FabBytes *own_sizes = g_new (FabBytes, n + 1);
  guint n_own = 0;

  for (guint i = 0; i < n; i++)
    if (fab_size_class (sizes_bytes[i]) == size_class) {
      own_errors[n_own] = errors[i];
      own_sizes[n_own++] = sizes_bytes[i];
    }
  return fab_errors_of (own_errors, own_sizes, n_own);
}

void
fab_errors_append_text (GString *out, const FabErrors *errors, const char *limit)
{
  g_string_append_printf (out, "median |error| %5.1f %%%s  bias %+6.1f %%  largest %5.1f %%",
                          errors->median_fraction * 100, limit, errors->bias_fraction * 100,
                          errors->max_fraction * 100);
}

void
fab_errors_add_json (FabJson *json, const char *count, const FabErrors *errors, guint members)
{
  fab_json_add_whole (json, count, errors->n);
  if (errors->n == 0)
    return;
  fab_json_add_real (json, "median_fraction", errors->median_fraction);
  if (members & FAB_ERRORS_BIAS)
    fab_json_add_real (json, "bias_fraction", errors->bias_fraction);
  fab_json_add_real (json, "max_fraction", errors->max_fraction);
  if (members & FAB_ERRORS_SIZE)
    fab_json_add_whole (json, "max_size_bytes", (gint64) errors->max_size_bytes);
}
