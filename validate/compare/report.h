/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - predictions beside measurements, and how far apart they are.
 *
 *   error = predicted time / measured time - 1      per size; positive: predicted too slow
 *
 * Summarised per size class as the median and the largest of |error|, over each table and over all tables of a
 * role. Calibration and judged tables never share a number: only the second say how good a forecast is. Out of
 * place where a table has both. Rows that were printed with too few digits to show 1 % count nowhere.
 */
#pragma once

#include "answer/predict.h"
#include "validate/compare/measured.h"

/* below 256 KiB: software and latency; below 64 MiB: protocols and pipelining; from there: the links */
typedef enum { FAB_SIZE_SMALL, FAB_SIZE_MIDDLE, FAB_SIZE_LARGE, FAB_N_SIZE_CLASSES } FabSizeClass;

extern const char *const fab_size_class_names[FAB_N_SIZE_CLASSES + 1]; /* NULL-ended */

FabSizeClass fab_size_class (FabBytes size_bytes);

typedef struct {
  guint n;                 /* sizes; 0: the other fields mean nothing */
  double median_fraction;  /* of |error| */
  double max_fraction;     /* of |error| */
  double bias_fraction;    /* median of the signed error */
  FabBytes max_size_bytes; /* where the largest is; the smaller of equals */
} FabErrors;

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

/* All tables of one interconnect. */
typedef struct {
  const char *interconnect;
  FabErrors errors[FAB_N_ROLES][FAB_N_SIZE_CLASSES];
} FabInterconnectErrors;

typedef struct {
  GPtrArray *comparisons; /* FabComparison, in the order of the tables */
  GArray *interconnects;  /* FabInterconnectErrors, in the order of their first tables */
  FabErrors roles[FAB_N_ROLES][FAB_N_SIZE_CLASSES];
} FabReport;

/* Predicts every size of the tables (FabMeasuredTable, which outlive the report). `sets` are laid over each scenario
 * (NULL-ended, or NULL). */
FabReport *fab_report_new (const GPtrArray *tables, const char *const *sets, const FabCatalog *catalog,
                           const FabRegistry *registry, GError **error);
void fab_report_free (FabReport *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabReport, fab_report_free)

/* Of `n` signed errors at these sizes; sorts neither. */
FabErrors fab_errors_of (const double *errors, const FabBytes *sizes_bytes, guint n);
