/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - errors of predicted kernel times: predicted / measured - 1, by table, kind and role.
 *
 * All *_to_* return a new text that ends its last line. The same tables give the same bytes on every machine:
 * docs/reference/validation-kernels.md is kept equal to one.
 */
#pragma once

#include "validate/check/limits.h"
#include "validate/kernels/tables.h"

/* Of the rows that the model prices; fractions. */
typedef struct {
  guint n;
  double median, bias, p90; /* median |error|; median of the signed error; 90th percentile of |error| */
} FabKernelErrors;

typedef struct {
  const FabKernelTable *table;
  const char *kind;
  FabKernelRole role;
  FabKernelErrors errors;
} FabKernelAccount;

/* `tables`: FabKernelTable, whose rows are predicted. (transfer full): FabKernelAccount, in the order of tables and of
 * kinds in them. */
GArray *fab_kernel_accounts (const GPtrArray *tables);

/* Over all tables of a type. */
FabKernelErrors fab_kernel_errors_of_type (const GPtrArray *tables, FabKernelType type, FabKernelRole role);

/* Over the rows of a table that are judged or left out. */
FabKernelErrors fab_kernel_errors_of_table (const FabKernelTable *table);

/* A line for each table that is worse than its limit, NULL-ended. (transfer full) */
char **fab_kernel_exceeded (const GPtrArray *tables, const FabLimits *limits);

typedef struct {
  const GPtrArray *tables;
  const FabCatalog *catalog;
  const FabLimits *limits; /* NULL: none are shown */
} FabKernelView;

char *fab_kernels_to_text (const FabKernelView *view);
char *fab_kernels_to_markdown (
    const FabKernelView *view);                       /* and all constants, with what each was fitted to */
char *fab_kernels_to_csv (const FabKernelView *view); /* a row of each measured row */
char *fab_kernels_to_json (
    const FabKernelView *view); /* "tables", each with its accelerator, rows and errors; "constants" */
