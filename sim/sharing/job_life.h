/* SPDX-License-Identifier: Apache-2.0 */
/* job_life.h - what of a job's work is done, saved and undone: computing, checkpoints, failures (FabMixFailures).
 *
 * Job time passes at 1 / slowdown of the time. A cycle of it is `interval` of computing and `blocking` of standing
 * still, after which all of it is saved; the last cycle ends with the work and has no checkpoint.
 */
#pragma once

#include "sim/sharing/job_mix_spec.h"

typedef struct {
  const FabMixFailures *failures;
  double left_s;     /* work that is not saved yet */
  double position_s; /* job time since the last checkpoint or start */
  /* Time since then, and the parts of it that places and sharing added. */
  double pending_s, places_s, sharing_s;
  double down_s; /* the job stands still for so long when it is started the next time */
  gboolean has_started;
} FabJobLife;

FabJobLife fab_job_life (const FabMixFailures *failures, double work_s);

/* Job time from now until the work is done, checkpoints included, where nothing fails. */
double fab_job_life_left (const FabJobLife *self);

/* Runs for a time at most as long as what is left; `alone` is the slowdown without others. */
void fab_job_life_run (FabJobLife *self, double elapsed_s, double alone, double slowdown,
                       FabMixOutcome *outcome);

/* Loses what is not saved. */
void fab_job_life_undo (FabJobLife *self, FabMixOutcome *outcome);

/* Saves all that was computed, as before a planned stop; at the end of the work, all of it. */
void fab_job_life_save (FabJobLife *self, FabMixOutcome *outcome);
