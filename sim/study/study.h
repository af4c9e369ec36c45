/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - simulates one scenario many times with different assignments, several at once. */
#pragma once

#include "sim/study/point.h"

typedef struct {
  const char *path;        /* path of the scenario */
  const char *const *sets; /* assignments "a.b=c" of the scenario, NULL-ended, or NULL */
  const FabCatalog *catalog;
  const FabRegistry *registry;
  guint n_threads;    /* that play at once; 0: as many as there are processors */
  const gint *cancel; /* plays end soon once it is not 0 (sim/scenario/run.h); NULL: nobody cancels */
} FabStudy;

/* One variant of the scenario. */
typedef struct {
  const char *const *sets; /* laid over the study's, NULL-ended, or NULL */
  FabPoint *point;         /* NULL: it was not played yet, or could not be */
  char *problem;           /* why it could not be; NULL otherwise */
  /* It was cancelled, or broke an invariant, so that nothing can be said about it; NULL otherwise. Whoever plays tries
   * passes this on and shows none of them. */
  GError *trouble;
} FabTry;

FabScenario *fab_study_load (const FabStudy *study, const char *const *sets, GError **error);

/* Plays it, unless it has a point, a problem or trouble already. */
void fab_try_play (const FabStudy *study, FabTry *self);
/* The same for what may need `most_bytes` of memory (0: any): more is not played, and has no times. */
void fab_try_play_within (const FabStudy *study, FabTry *self, FabBytes most_bytes);

/* Plays those that have none of these yet, several at once; what comes out does not depend on how many. FALSE and
 * *error: one of them was cancelled, or broke an invariant. */
gboolean fab_study_play (const FabStudy *study, FabTry *const *tries, guint n, GError **error);

void fab_try_clear (FabTry *self); /* frees its point, problem and trouble, not the sets */
