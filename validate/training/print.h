/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - a training report as a person, a page or a program reads it. All return a new text that ends its last
 * line.
 *
 * Errors are percent in text and Markdown and fractions in CSV and JSON. The same report gives the same bytes on
 * every machine: docs/reference/validation-training.md is kept equal to one.
 */
#pragma once

#include "validate/training/report.h"

typedef struct {
  const FabTrainingReport *report;
  const FabLimits *limits; /* NULL: none are shown */
  gboolean is_summary;     /* only the errors, not the rows */
} FabTrainingView;

char *fab_training_to_text (const FabTrainingView *view);
char *fab_training_to_markdown (const FabTrainingView *view);
char *fab_training_to_csv (const FabTrainingView *view); /* a row per measured row */
char *fab_training_to_json (
    const FabTrainingView
        *view); /* "sources" with "rows", "strategies", "divisions", "cases", "generations", "all", "wrong" */

/* Blind predictions beside the column `peer_s`, what others projected: docs/reference/published.md. (transfer full) */
char *fab_training_published_to_markdown (const FabTrainingReport *report);

/* What tells a row apart: its cells in the source's `same` and `factors` columns. (transfer full) */
char *fab_training_describe_row (const FabTrainingResult *result, const FabTrainingComparison *row);
