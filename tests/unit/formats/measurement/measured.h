/* SPDX-License-Identifier: Apache-2.0 */
/* measured.h - series and points of a text of measurements. */
#pragma once

#include "tests/support/test.h"

#include "formats/measurement/measurements.h"

static inline FabMeasurements *
measured_text (const char *text, guint n_ranks, GError **error)
{
  FabMeasurementRequest request = { .file = { "t", text, strlen (text) }, .n_ranks = n_ranks };

  return fab_measurements_read (&request, error);
}

static inline const FabMeasuredSeries *
measured_at (const FabMeasurements *measurements, guint i)
{
  assert_in_range (i, 0, measurements->series->len - 1);
  return g_ptr_array_index (measurements->series, i);
}

static inline const FabMeasuredPoint *
measured_point (const FabMeasuredSeries *series, FabBytes size_bytes)
{
  for (guint i = 0; i < series->points->len; i++) {
    const FabMeasuredPoint *point = &g_array_index (series->points, FabMeasuredPoint, i);

    if (point->size_bytes == size_bytes)
      return point;
  }
  fail_msg ("no size %" G_GUINT64_FORMAT, size_bytes);
  return NULL;
}
