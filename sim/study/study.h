/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - simulates one scenario many times with different assignments, several at once. */
#pragma once

#include "sim/study/point.h"

typedef struct {
  const char *path;        /* path of the scenario */
  const char *const *sets; /* assignments "a.b=c" of the scenario, NULL-ended, or NULL */
  const FabCatalog *catalog;
  const FabRegistry *registry;
  guint n_threads;    /* that simulate at once; 0: one per processor */
  const gint *cancel; /* plays end soon once it is not 0 (sim/scenario/run.h); NULL: nobody cancels */
} FabStudy;

/* One variant of the scenario. */
typedef struct {
  const char *const *sets; /* applied after the study's own, NULL-ended, or NULL */
  FabPoint *point;         /* NULL: not simulated yet, or impossible */
  char *problem;           /* why it is impossible; otherwise NULL */
  /* FAB_ERROR_CANCELLED or FAB_ERROR_BROKEN: nothing can be said about the variant, and none of the study may be shown.
   * Otherwise NULL. */
  GError *trouble;
} FabTry;

FabScenario *fab_study_load (const FabStudy *study, const char *const *sets, GError **error);

/* Simulates the variant, unless it already has a point, a problem or trouble. */
void fab_try_play (const FabStudy *study, FabTry *self);
/* The same, but a variant that needs more than `most_bytes` of memory (0: any) is not simulated: its point has no
 * times. */
void fab_try_play_within (const FabStudy *study, FabTry *self, FabBytes most_bytes);

/* Simulates the variants that have none of these yet, in parallel; the results do not depend on the number of threads.
 * FALSE and *error: one of them was cancelled, or broke an invariant. */
gboolean fab_study_play (const FabStudy *study, FabTry *const *tries, guint n, GError **error);

void fab_try_clear (FabTry *self); /* frees its point, problem and trouble, but not the assignments */
