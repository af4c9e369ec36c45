/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - what a planner asks for: a figure and a bound, "exposed<=5%", "mfu>=40%", "step<=1.2s", "train<=30d". */
#pragma once

#include "sim/study/point.h"

typedef struct {
  const FabFigure *figure;
  gboolean is_most; /* at most the bound; FALSE: at least */
  double bound;     /* in the figure's unit */
} FabTarget;

/* FALSE and *error, which says what would be right. Blanks around the sign may stand. */
gboolean fab_target_parse (const char *text, FabTarget *target, GError **error);

/* FALSE where the point has no such figure, which is 0 then. */
gboolean fab_target_is_met (const FabTarget *target, const FabPoint *point);

/* How far the point is from the bound, as a share of it; below 0: met. G_MAXDOUBLE: it has no such figure. */
double fab_target_gap (const FabTarget *target, const FabPoint *point);

/* Of several that are all to be met: whether they are, and how far the farthest is. */
gboolean fab_targets_are_met (const FabTarget *targets, guint n, const FabPoint *point);
double fab_targets_gap (const FabTarget *targets, guint n, const FabPoint *point);
char *fab_targets_write (const FabTarget *targets, guint n); /* "exposed <= 5%, mfu >= 40%" (transfer full) */

/* "exposed <= 5%". (transfer full) */
char *fab_target_write (const FabTarget *target);
