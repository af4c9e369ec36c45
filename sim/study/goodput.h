/* SPDX-License-Identifier: Apache-2.0 */
/* goodput.h - what failures leave of a training that was played: calendar days instead of days of computing.
 *
 * The step, the time of a checkpoint and the parts of the machine come from the scenario; rates and times of recovery
 * from its section `reliability`; what a slow NIC or the traffic of a checkpoint does to a step from another play with
 * that fault or load. sim/reliability has the mathematics.
 */
#pragma once

#include "sim/reliability/trial.h"
#include "sim/result/record.h"
#include "sim/run/simulation.h"

/* Of one job. Plain data; all 0: nothing is known, for the scenario has no rates or the job no checkpoint. */
typedef struct {
  gboolean is_known;
  FabGoodputForm form;
  double blocking_s, background_s; /* of a checkpoint */
  double step_s;                   /* without what checkpoints add to it */
  double tokens_per_s;             /* over the whole calendar time */
  double train_s;                  /* computing time of the whole training, without failures; 0: not known */
  double calendar_s, lost_gpu_hours; /* of the whole training; 0: not known */
  double n_interruptions;            /* in it, planned ones included; 0: not known */
} FabGoodput;

/* What the mathematics starts from. */
typedef struct {
  FabReliability rules; /* points to `rates` */
  FabFailureRate *rates;
  FabCheckpointTotals checkpoint;
  double step_s, tokens_per_step, train_tokens;
  guint n_ranks;
} FabGoodputCase;

void fab_goodput_case_free (FabGoodputCase *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabGoodputCase, fab_goodput_case_free)

/* Of a simulation of the scenario that has run to its end. *made is NULL where nothing is known. FALSE and *error when
 * the machine cannot be counted, or a play with a slow part failed. It points into the scenario's catalogue. */
gboolean fab_goodput_case_of (const FabScenario *scenario, const FabSimulation *simulation,
                              const FabRegistry *registry, FabGoodputCase **made, GError **error);

/* By the closed form. */
FabGoodput fab_goodput_of_case (const FabGoodputCase *self);

/* Both of these. */
gboolean fab_goodput_of (const FabScenario *scenario, const FabSimulation *simulation,
                         const FabRegistry *registry, FabGoodput *goodput, GError **error);

/* As it is stored, with the name of the set of rates. */
FabGoodputRecord fab_goodput_record (const FabGoodput *self, const char *failures);

/* Computing time that trials should have: that of the training, or of 30 days where its length is not known. */
double fab_goodput_case_work_s (const FabGoodputCase *self);
