/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - one life of a long job with failures drawn at random, played on the event engine; and many of them.
 *
 * The same rules as the closed form (goodput.h), event by event: failures, restarts, stops that were planned, parts
 * that become slow and are found, nodes that break and come back, the end of the job. It says by how much two runs of
 * the same job differ, which a mean does not, and holds the closed form to what it claims.
 *
 * Each trial has its own engine and its own stream of numbers, so that trial i of a seed is the same however many there
 * are.
 */
#pragma once

#include "sim/base/units.h"
#include "sim/reliability/goodput.h"

typedef struct {
  double wall_s;
  FabTimeShares shares; /* of wall_s */
  double goodput_fraction;
  guint64 n_stops, n_planned, n_slow;
  guint64 n_events;
} FabFailureTrial;

/* Plays until the job has done `work_s` seconds of useful computing. `interval_s` as fab_goodput_form () says it. */
FabFailureTrial fab_failure_trial_play (const FabReliability *self, double interval_s, double work_s,
                                        guint64 seed);

typedef struct {
  guint n_trials;
  double mean_goodput_fraction;                  /* work over wall time, of all trials together */
  double mean_wall_s;                            /* mean of the wall times */
  double low_wall_s, median_wall_s, high_wall_s; /* 5 %, 50 % and 95 % of the trials take at most this long */
  double mean_stops, mean_planned;
  FabTimeShares shares;  /* means, weighted by wall time */
  double error_fraction; /* standard error of mean_wall_s over mean_wall_s */
} FabFailureTrials;

/* Plays trials 0 to n_trials - 1 of the seed. */
FabFailureTrials fab_failure_trials_play (const FabReliability *self, double interval_s, double work_s,
                                          guint64 seed, guint n_trials);
