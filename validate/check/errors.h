/* SPDX-License-Identifier: Apache-2.0 */
/* errors.h - how far predictions are from measurements, summed up.
 *
 *   error = predicted / measured - 1      of one row; positive: predicted too slow
 */
#pragma once

#include "sim/base/json.h"
#include "sim/base/units.h"

/* below 256 KiB: software and latency; below 64 MiB: protocols and pipelining; from there: the links */
typedef enum { FAB_SIZE_SMALL, FAB_SIZE_MIDDLE, FAB_SIZE_LARGE, FAB_N_SIZE_CLASSES } FabSizeClass;

extern const char *const fab_size_class_names[FAB_N_SIZE_CLASSES + 1]; /* NULL-ended */

FabSizeClass fab_size_class (FabBytes size_bytes);

typedef struct {
  guint n;                 /* rows; 0: the other fields are 0 */
  double median_fraction;  /* of |error| */
  double max_fraction;     /* of |error| */
  double bias_fraction;    /* median of the signed error */
  FabBytes max_size_bytes; /* where the largest is; the smaller of equals */
} FabErrors;

/* Of `n` signed errors at these sizes; sorts neither. */
FabErrors fab_errors_of (const double *errors, const FabBytes *sizes_bytes, guint n);

/* Of those of one size class. */
FabErrors fab_errors_of_class (const double *errors, const FabBytes *sizes_bytes, guint n,
                               FabSizeClass size_class);

/* "median |error|  3.2 %LIMIT  bias   -1.0 %  largest  9.1 %": what each line of errors has in its middle. */
void fab_errors_append_text (GString *out, const FabErrors *errors, const char *limit);

/* Members of the open object: the number of rows as `count`, then the median and the largest; where asked for, the
 * bias between them and the size of the largest behind. */
typedef enum { FAB_ERRORS_BIAS = 1, FAB_ERRORS_SIZE = 2 } FabErrorsMembers;
void fab_errors_add_json (FabJson *json, const char *count, const FabErrors *errors, guint members);
