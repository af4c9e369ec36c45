/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - simulates one scenario many times with different assignments, several at once. */
#pragma once

#include "sim/study/point.h"

typedef struct {
  const char *path;        /* path of the scenario */
  const char *const *sets; /* assignments "a.b=c" of the scenario, NULL-ended, or NULL */
  const FabCatalog *catalog;
  const FabRegistry *registry;
} FabStudy;

/* One variant of the scenario. */
typedef struct {
  const char *const *sets; /* applied after the study's own, NULL-ended, or NULL */
  FabPoint *point;         /* NULL: not simulated yet, or impossible */
  char *problem;           /* why it is impossible; otherwise NULL */
} FabTry;

FabScenario *fab_study_load (const FabStudy *study, const char *const *sets, GError **error);

/* Simulates the variant, unless it already has a point or a problem. */
void fab_try_play (const FabStudy *study, FabTry *self);

/* Simulates the variants that have neither point nor problem, in parallel; the results do not depend on the number of
 * threads. */
void fab_study_play (const FabStudy *study, FabTry *const *tries, guint n);

void fab_try_clear (FabTry *self); /* frees its point and problem, but not the assignments */
