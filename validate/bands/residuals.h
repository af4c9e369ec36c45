/* SPDX-License-Identifier: Apache-2.0 */
/* residuals.h - by how much one table's sizes of one class differ from their predictions, as logarithms.
 *
 *   residual = ln (measured time / predicted time)
 */
#pragma once

#include "sim/run/plan_kind.h"
#include "validate/check/errors.h"

/* Of one size class of one table. */
typedef struct {
  const char *table, *publication, *family;
  FabPlanPlace place;
  FabPlanOperations operations;
  FabSizeClass size_class;
  guint n;             /* at least one */
  const double *logs;  /* [n] residuals */
  const char *machine; /* node entry; NULL: not told */
} FabResiduals;
