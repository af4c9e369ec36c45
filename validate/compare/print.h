/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - a report as a person, a page or a program reads it. All return a new text that ends its last line.
 *
 * Rates are GB/s of 1e9 bytes, times are microseconds; errors are percent in text and Markdown and fractions in CSV
 * and JSON. The same report gives the same bytes on every machine: docs/reference/validation.md is kept equal to one.
 */
#pragma once

#include "validate/compare/report.h"

typedef struct {
  const FabReport *report;
  const FabReport
      *left_out; /* each table as if its family had not been measured (left_out.h); NULL: not shown */
  const FabLimits *limits; /* NULL: none are shown */
  gboolean is_summary;     /* only the errors, not the sizes */
} FabReportView;

char *fab_report_to_text (const FabReportView *view);
char *fab_report_to_markdown (const FabReportView *view);

/* One row per size; of a summary, one row per table, and per account and role, and class. */
char *fab_report_to_csv (const FabReportView *view);

/* One object: "tables" (each with "rows" and "errors"), "roles", "accounts", "interconnects" and "exceeded". */
char *fab_report_to_json (const FabReportView *view);

/* The errors of a table of `report` as if its family had not been measured; NULL: not shown. */
const FabErrors *fab_report_view_left_out (const FabReportView *view, const FabComparison *comparison,
                                           FabSizeClass size_class);
