/* SPDX-License-Identifier: Apache-2.0 */
/* fit_support.h - series whose truth is known, and their fits. */
#pragma once

#include "tests/support/test.h"
#include "validate/fit/link.h"

static const FabFitSizes third = { .hold_out = 1.0 / 3 };

static inline void
add_point (FabMeasuredSeries *series, FabBytes size_bytes, double us)
{
  FabMeasuredPoint point = { .size_bytes = size_bytes,
                             .time_ps = (FabTimePs) (us * 1e6 + 0.5),
                             .is_complete = TRUE };

  g_array_append_val (series->points, point);
}

/* Powers of two at overhead + m / rate. */
static inline FabMeasuredSeries *
add_series (GPtrArray *all, const FabSeries *like, FabMeasureKind kind, double overhead_us, double GBps)
{
  FabSeries head = *like;
  FabMeasuredSeries *series;

  head.kind = kind;
  series = fab_measured_series_new (&head);
  for (guint i = 0; i <= 24; i++)
    add_point (series, (FabBytes) 1 << i, overhead_us + (double) (1u << i) / GBps / 1e3);
  g_ptr_array_add (all, series);
  return series;
}

static inline GPtrArray *
new_series (void)
{
  return g_ptr_array_new_with_free_func (fab_measured_series_free);
}

static const FabSeries network = { .backend = (char *) "tcp",
                                   .system = (char *) "lab",
                                   .from = (char *) "a",
                                   .to = (char *) "b",
                                   .method = (char *) "sockets",
                                   .n_pairs = 1 };
static const FabSeries device = { .backend = (char *) "cuda",
                                  .system = (char *) "lab",
                                  .from = (char *) "gpu0",
                                  .to = (char *) "gpu1",
                                  .from_memory = (char *) "gpu",
                                  .to_memory = (char *) "gpu",
                                  .method = (char *) "copy",
                                  .n_pairs = 1 };

static inline FabLinkFit *
fit (const GPtrArray *series, const FabFitSizes *sizes)
{
  g_autoptr (GError) error = NULL;
  FabLinkFit *link = fab_link_fit_new (series, sizes, &error);

  assert_null (error);
  return link;
}
