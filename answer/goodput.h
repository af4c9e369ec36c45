/* SPDX-License-Identifier: Apache-2.0 */
/* goodput.h - what a planner asks of failures: which parts stop the job, what would change it, and what other published
 * rates would say.
 */
#pragma once

#include "answer/run.h"
#include "sim/reliability/trial.h"

/* The job with one thing changed. */
typedef struct {
  char *name; /* "detection at once" */
  char *key;  /* that says so, "reliability.detection"; NULL: none */
  FabGoodput goodput;
} FabGoodputChange;

typedef struct {
  GArray *changes;         /* FabGoodputChange of the rules */
  GArray *sets;            /* FabGoodputChange: every set of rates of the catalogue; `name` is the set's */
  FabFailureTrials trials; /* n_trials 0: none were played */
  /* Of checkpoints: the best, Young's first order and Daly's higher order. */
  double best_interval_s, young_interval_s, daly_interval_s;
  guint fewest_spares; /* with which waiting takes a thousandth of the time at most */
} FabGoodputAnswer;

enum { FAB_GOODPUT_TRIALS = 200, FAB_GOODPUT_MOST_TRIALS = 100000 };

/* Of a run with failures. Trials are played `n_trials` times (0: not at all) with the scenario's seed; the pulse counts
 * them (NULL: nobody looks). NULL and *error. (transfer full) */
FabGoodputAnswer *fab_goodput_answer (const FabScenario *scenario, const FabRunResult *result,
                                      const FabRegistry *registry, guint n_trials, GError **error);
void fab_goodput_answer_free (FabGoodputAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGoodputAnswer, fab_goodput_answer_free)

/* By which factor the step may be shorter or longer than it was played; both 1: nothing is uncertain. */
typedef struct {
  double low, high;
} FabGoodputBand;

/* Of the step of the last iteration. */
FabGoodputBand fab_run_goodput_band (const FabRunResult *result);
