/* SPDX-License-Identifier: Apache-2.0 */
/* seeds.h - the same scenario with several seeds, and how far its steps spread.
 *
 * Every iteration of every seed is one value. Percentiles are nearest ranks: of n values in ascending order p is
 * number ceil (p n), so each is a step that was simulated, and the 99th of fewer than 100 is the largest.
 */
#pragma once

#include "answer/run.h"

/* What is counted of an iteration, and at which percentiles. */
enum { FAB_SEED_STEP, FAB_SEED_COMMUNICATION, FAB_SEED_EXPOSED, FAB_N_SEED_TIMES };
enum { FAB_N_PERCENTILES = 4, FAB_MOST_SEEDS = 10000 };

extern const char *const fab_percentile_names[FAB_N_PERCENTILES]; /* "p50", "p95", "p99", "max" */

typedef struct {
  const char *name, *key; /* "step", "step_s" */
  FabTimePs percentiles_ps[FAB_N_PERCENTILES];
} FabSeedTime;

/* One iteration of one seed. */
typedef struct {
  gint64 seed, run_id; /* run_id 0: it is in no file */
  FabStepRecord step;
} FabSeedSample;

typedef struct {
  char *name; /* of the scenario */
  gint64 first_seed, n_seeds, n_iterations;
  GArray *samples; /* FabSeedSample, in order of seeds and iterations */
  FabSeedTime times[FAB_N_SEED_TIMES];
  FabVerdict *verdict; /* of the first seed, and how far the seeds are apart; NULL: nobody asked */
} FabSeeds;

typedef struct {
  const FabScenario *scenario; /* its seed is the first */
  gint64 n_seeds;              /* 1 to FAB_MOST_SEEDS */
  guint n_threads; /* that simulate at once; 0: one per processor. With a results file it is one. */
  FabRunRequest run;
} FabSeedsRequest;

/* NULL and *error, which names the seed, when one of them could not be simulated. */
FabSeeds *fab_seeds_play (const FabSeedsRequest *request, GError **error);
void fab_seeds_free (FabSeeds *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSeeds, fab_seeds_free)

FabTimePs fab_seed_time_ps (const FabSeedSample *sample, guint time);
