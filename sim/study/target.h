/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - a target of a planner: a figure and a bound, "exposed<=5%", "mfu>=40%", "step<=1.2s", "train<=30d". */
#pragma once

#include "sim/study/spread.h"

typedef struct {
  const FabFigure *figure;
  gboolean is_most; /* the figure is at most the bound; FALSE: at least */
  double bound;     /* in the figure's unit */
} FabTarget;

/* FALSE and *error, which says what would be right. Blanks around the sign are allowed. */
gboolean fab_target_parse (const char *text, FabTarget *target, GError **error);

/* A target is met when it is met with every seed of the point. Returns FALSE when the point does not have the
 * figure. */
gboolean fab_target_is_met (const FabTarget *target, const FabPoint *point);

/* Returns the distance of the point's worst seed from the bound, as a fraction of the bound; below 0: the target is
 * met. G_MAXDOUBLE: the point does not have the figure. */
double fab_target_gap (const FabTarget *target, const FabPoint *point);

/* For several targets that must all be met: whether they are, and the largest gap. */
gboolean fab_targets_are_met (const FabTarget *targets, guint n, const FabPoint *point);
double fab_targets_gap (const FabTarget *targets, guint n, const FabPoint *point);
/* The same of the seeds that are best, and of the one in the middle. */
gboolean fab_targets_are_met_by_some (const FabTarget *targets, guint n, const FabPoint *point);
double fab_targets_middle_gap (const FabTarget *targets, guint n, const FabPoint *point);
/* Returns what the worst seed of the point has. */
double fab_target_worst (const FabTarget *target, const FabPoint *point);
/* Returns "exposed <= 5%, mfu >= 40%". (transfer full) */
char *fab_targets_write (const FabTarget *targets, guint n);

/* Returns "exposed <= 5%". (transfer full) */
char *fab_target_write (const FabTarget *target);
