/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.h - one job on growing numbers of GPUs: its efficiency, where the efficiency bends, and where the network
 * dominates.
 *
 *   efficiency at n GPUs = rate (n) / n over rate (n0) / n0,     n0: the first number of GPUs that takes time
 *
 * The rate is tokens per second; for jobs without tokens it is steps x GPUs (weak) or steps (strong). Weak scaling
 * keeps the batch per GPU. Strong scaling keeps the batch of the job: first the number of micro-batches per step
 * falls, then their size. The study says which (hold.h).
 */
#pragma once

#include "sim/study/axis.h"
#include "sim/study/study.h"

typedef struct {
  guint n_gpus;
  FabEdits *edits;
  FabTry trial;
  double efficiency; /* 0: the point has no efficiency */
  gboolean
      is_left_out; /* it does not fit into memory, and the study does not allow that: it counts for nothing */
  double low_s, high_s; /* uncertainty of the step; both 0: nothing is uncertain, or it was not requested */
  double coverage_fraction; /* of that band (sim/run/band.h) */
} FabScalePoint;

/* Points are given by their index; -1: there is none. */
typedef struct {
  FabScalePoint *points; /* [n], in ascending order of GPUs */
  guint n;
  gint first, last; /* the first and the last point with an efficiency */
  gint efficient;   /* the last point before the efficiency falls below the bound */
  gint bend;        /* the point after which the efficiency falls most, per doubling, compared with before */
  /* The first point from which on exposed communication takes longer than computing. */
  gint dominated;
  double slope_before, slope_after; /* at the bend, per doubling; negative values fall */
} FabScaling;

typedef struct {
  const FabAxis *gpus; /* whole numbers */
  gboolean is_strong;  /* the study holds the global batch */
  gboolean has_band;
  double bound; /* lower bound of the efficiency, at most 1: 0.9 */
} FabScalingSpec;

/* Returns doublings from one node to 16 times the scenario's GPUs. (transfer full) */
FabAxis *fab_scaling_default (const FabScenario *scenario);

/* Returns NULL and *error when no point can be simulated or takes time; *error is that of the first point. (transfer
 * full) */
FabScaling *fab_scaling_play (const FabStudy *study, const FabScalingSpec *spec, GError **error);
void fab_scaling_free (FabScaling *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabScaling, fab_scaling_free)

/* Computes the efficiencies and the marked points from simulated points. */
void fab_scaling_judge (FabScaling *self, const FabScalingSpec *spec);
