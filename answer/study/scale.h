/* SPDX-License-Identifier: Apache-2.0 */
/* scale.h - a job on more and more GPUs: up to where they are worth it, what limits the step there, and where the
 * library chooses otherwise (sim/study/scaling.h plays the points).
 */
#pragma once

#include "answer/study/points.h"
#include "sim/study/scaling.h"

typedef struct {
  FabScalingSpec spec;
  FabScaling *scaling;
  double coverage_fraction; /* of the band that covers least; 0: no point has one */
  guint n_seeds;            /* the most that a point was simulated with */
  gint
      too_few; /* the last point before the first with an efficiency on which the job does not fit; -1: none */
  guint64 least_sequences, most_sequences; /* of the global batch; 0: the job has no batches */
  GArray *pairs;                           /* FabChoicePair: each number of GPUs beside the next */
  const char *hold;                        /* which batch is held; NULL: none */
} FabScaleAnswer;

/* `spec->is_strong` is what the study holds. The study and the axis outlive the answer. NULL and *error: see
 * fab_scaling_play (). (transfer full) */
FabScaleAnswer *fab_scale_answer (const FabStudy *study, const FabScalingSpec *spec, GError **error);
void fab_scale_answer_free (FabScaleAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabScaleAnswer, fab_scale_answer_free)

/* Every number of GPUs as a row. (transfer full) */
FabPoints *fab_scale_points (const FabScaleAnswer *self);
