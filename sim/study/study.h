/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - many plays of one scenario: the same file with other assignments, several at once. */
#pragma once

#include "sim/study/point.h"

typedef struct {
  const char *path;        /* of the scenario */
  const char *const *sets; /* its "a.b=c" assignments, NULL-ended, or NULL */
  const FabCatalog *catalog;
  const FabRegistry *registry;
} FabStudy;

/* One of them. */
typedef struct {
  const char *const *sets; /* laid over the study's, NULL-ended, or NULL */
  FabPoint *point;         /* NULL: it was not played yet, or could not be */
  char *problem;           /* why it could not be; NULL otherwise */
} FabTry;

FabScenario *fab_study_load (const FabStudy *study, const char *const *sets, GError **error);

/* Plays it, unless it has a point or a problem already. */
void fab_try_play (const FabStudy *study, FabTry *self);

/* Plays those that have neither point nor problem yet, on all processors; what comes out does not depend on how many
 * there are. */
void fab_study_play (const FabStudy *study, FabTry *const *tries, guint n);

void fab_try_clear (FabTry *self); /* frees its point and problem, not the sets */
