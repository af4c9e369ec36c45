/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - one measured row simulated: a scenario in, the last iteration's times out; and the efficiency that makes a
 * row take the time that was measured. */
#pragma once

#include "sim/scenario/catalog.h"
#include "validate/training/sources.h"

typedef struct {
  double step_s;
  double compute_s; /* mean over ranks, as the next two */
  double comm_s;
  double exposed_s; /* of comm_s, what no compute covers */
} FabTrainingStep;

typedef struct {
  const FabCatalog *catalog;
  const FabRegistry *registry;
  const char *const *sets; /* "a.b=c" over every scenario, NULL-ended, or NULL */
} FabTrainingEnv;

/* A row of a source at an efficiency. FALSE and *error, which names the row, when its scenario is wrong. */
gboolean fab_training_step (const FabTrainingSource *source, guint row, double mfu_fraction,
                            const FabTrainingEnv *env, FabTrainingStep *step, GError **error);

/* The efficiency at which the row's step takes what was measured, within 1e-4 of it. A row whose communication alone
 * takes longer has 1, one that no efficiency is low enough for has the least that there is. */
gboolean fab_training_fit (const FabTrainingSource *source, guint row, const FabTrainingEnv *env,
                           double *mfu_fraction, GError **error);

/* Time of the slowest of `n_gpus` GPUs over that of the average one. GPUs of one kind differ by 8 % on average,
 * outliers left out, in five clusters (Sinha et al., "Not All GPUs Are Created Equal", SC 2022, arXiv 2208.11035,
 * abstract). Taken as the range between the whiskers of a box plot (inferred: the abstract
 * leaves outliers out), 5.4 standard deviations of a normal distribution, that is a deviation of 1.5 %; the largest of
 * n is expected at the quantile (n - 3/8) / (n + 1/4) (Blom 1958). */
double fab_training_slowest (guint n_gpus);
