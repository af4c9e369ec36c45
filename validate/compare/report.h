/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - predictions beside measurements, and how far apart they are.
 *
 *   error = predicted time / measured time - 1      per size; positive: predicted too slow
 *
 * Summarised per size class as the median and the largest of |error|, over each table and over the tables of an
 * account (accounts.h). Calibration and judged tables never share a number: only the second say how good a forecast
 * is. Out of place where a table has both. Rows that were printed with too few digits to show 1 % count nowhere.
 */
#pragma once

#include "answer/predict.h"
#include "validate/check/limits.h"
#include "validate/compare/accounts.h"

typedef struct {
  const FabMeasuredRow *measured;
  const FabPrediction *predicted;
  double error_fraction;
} FabComparisonRow;

typedef struct {
  const FabMeasuredTable *table;
  GArray *predictions; /* FabPrediction */
  GArray *rows;        /* FabComparisonRow */
  guint n_left_out;    /* rows of the table with too few digits */
  FabErrors errors[FAB_N_SIZE_CLASSES];
} FabComparison;

typedef struct {
  GPtrArray *comparisons; /* FabComparison, in the order of the tables */
  GArray *accounts;       /* FabAccount (accounts.h); the first is of all tables that are not doubtful */
} FabReport;

/* All tables of a role that are not doubtful: one FabTally per size class. */
const FabTally *fab_report_role (const FabReport *self, FabMeasuredRole role);

/* A table and what it is predicted with. */
typedef struct {
  const FabMeasuredTable *table;
  const FabCatalog *catalog;
  const char *sets; /* over what is known of the measured software, between blanks; NULL: none */
} FabReportItem;

/* Predicts every size of the tables. Accounts know no roles: all tables count as judged. */
FabReport *fab_report_of (const FabReportItem *items, guint n, const FabRegistry *registry, GError **error);

/* Predicts every size of the tables (FabMeasuredTable, which outlive the report). `sets` are laid over each scenario
 * (NULL-ended, or NULL). */
FabReport *fab_report_new (const GPtrArray *tables, const char *const *sets, const FabCatalog *catalog,
                           const FabRegistry *registry, GError **error);
void fab_report_free (FabReport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabReport, fab_report_free)

/* accept.yaml or one like it: every table must be one of `measured`. */
FabLimits *fab_report_limits_load (const char *path, const FabMeasured *measured, const FabRegistry *registry,
                                   GError **error);

/* One line per limit that the report exceeds, NULL-ended; empty when all is well. A table with sizes of a class that
 * has no limit exceeds it. The limit over all judged tables counts when every table is in the report.
 * (transfer full) */
char **fab_report_exceeded (const FabReport *self, const FabLimits *limits);
