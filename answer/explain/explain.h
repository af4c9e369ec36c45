/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - why a figure is what it is: the chain from its formula to the numbers of links and accelerators. */
#pragma once

#include "answer/explain/statement.h"
#include "sim/study/study.h"

typedef struct {
  GPtrArray *statements; /* FabStatement, as they are to be read */
  FabVerdict *verdict;
} FabExplanation;

void fab_explanation_free (FabExplanation *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabExplanation, fab_explanation_free)

/* Of the study's scenario, played once. NULL and *error where it cannot be played or has no such figure. */
FabExplanation *fab_explain_figure (const FabStudy *study, const FabFigure *figure, GError **error);

/* What of the run was simulated, and what was not, since something else says how it goes. */
FabExplanation *fab_explain_run (const FabStudy *study, GError **error);

/* Of one collective of the last iteration by its name, "bucket3", or "LARGEST", the first that moves most. */
FabExplanation *fab_explain_collective (const FabStudy *study, const char *name, GError **error);
