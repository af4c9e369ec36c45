/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - predicted peaks of memory beside measured ones, and the band that their differences make.
 *
 *   error    = predicted / measured - 1
 *   residual = ln (measured / predicted)
 *
 * The band holds nine tenths of a mixture of residuals in which every source weighs the same. How often it holds a
 * source that it was made without says whether it can be trusted for others.
 */
#pragma once

#include "sim/scenario/catalog.h"
#include "validate/check/limits.h"
#include "validate/memory/sources.h"

typedef struct {
  const FabMemoryRow *measured;
  double predicted_bytes, error_fraction;
  gboolean is_refused; /* by the verdict, though it ran */
  char *problem;       /* why it could not be predicted; NULL: it was */
} FabMemoryComparison;

typedef struct {
  const FabMemorySource *source;
  FabMemoryComparison *rows; /* [source->rows->len] */
  FabErrors errors;          /* of the rows that are neither doubtful nor a problem */
  guint n_refused, n_problems;
  double held_fraction; /* of its rows, by a band that was made without it */
} FabMemoryResult;

typedef struct {
  GArray *results; /* FabMemoryResult */
  FabErrors all, looked_at, held_out;
  double low_factor, high_factor; /* the band: measured over predicted */
  double held_fraction;           /* mean over sources that were left out */
} FabMemoryReport;

/* `sources` (FabMemorySource) are predicted on all processors. (transfer full) NULL and *error: no row of a source can
 * be predicted. */
FabMemoryReport *fab_memory_report_new (const GPtrArray *sources, const FabCatalog *catalog,
                                        const FabRegistry *registry, const char *const *sets, GError **error);
void fab_memory_report_free (FabMemoryReport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMemoryReport, fab_memory_report_free)

/* A line for each limit that is exceeded, NULL-ended. (transfer full) */
char **fab_memory_report_exceeded (const FabMemoryReport *self, const FabLimits *limits);

/* Pages. (transfer full) */
typedef struct {
  const FabMemoryReport *report;
  const FabLimits *limits; /* NULL: none are shown */
  gboolean is_summary;     /* without rows */
} FabMemoryView;

char *fab_memory_to_text (const FabMemoryView *view);
char *fab_memory_to_json (const FabMemoryView *view);
char *fab_memory_to_csv (const FabMemoryView *view);
char *fab_memory_to_markdown (const FabMemoryView *view);
