/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.h - one job on more and more GPUs: how much of them is left, where it bends, where the network takes over.
 *
 *   efficiency at n GPUs = rate (n) / n over rate (n0) / n0,     n0: the first that takes time
 *
 * where the rate is tokens per second, or steps x GPUs (weak) or steps (strong) of jobs without tokens. Weak scaling
 * keeps the batch of every GPU, strong scaling that of the job: fewer micro-batches in a step, then smaller ones.
 */
#pragma once

#include "sim/study/axis.h"
#include "sim/study/study.h"

typedef struct {
  guint n_gpus;
  GPtrArray *sets; /* char *, NULL-ended */
  FabTry trial;
  double efficiency;    /* 0: it has none */
  double low_s, high_s; /* band of the step; both 0: nothing is uncertain, or it was not asked for */
} FabScalePoint;

/* Points by their numbers; -1: there is none. */
typedef struct {
  FabScalePoint *points; /* [n], GPUs ascending */
  guint n;
  gint first, last; /* that have an efficiency */
  gint efficient;   /* the last before the efficiency falls below the bound */
  gint bend;        /* where it falls that much faster, per doubling, than before: the most of all */
  gint dominated;   /* the first from which on exposed communication takes longer than computing */
  double slope_before, slope_after; /* at the bend, per doubling; negative falls */
} FabScaling;

typedef struct {
  const FabAxis *gpus; /* whole numbers */
  gboolean is_strong, has_band;
  double bound; /* of the efficiency, at most 1: 0.9 */
} FabScalingSpec;

/* From one node to 16 times the scenario's GPUs, in doublings. (transfer full) */
FabAxis *fab_scaling_default (const FabScenario *scenario);

/* NULL and *error where none can be played, or takes time: the first one's problem. */
FabScaling *fab_scaling_play (const FabStudy *study, const FabScalingSpec *spec, GError **error);
void fab_scaling_free (FabScaling *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabScaling, fab_scaling_free)

/* What follows from points that are played. */
void fab_scaling_judge (FabScaling *self, const FabScalingSpec *spec);
