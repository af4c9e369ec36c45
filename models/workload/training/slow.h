/* SPDX-License-Identifier: Apache-2.0 */
/* slow.h - ranks that are slower than others: stragglers, and jitter that each rank has anew in every step.
 *
 * Ranks that do the same are one rank class only as long as they also take the same time. So the data axis is divided
 * into bins. The replica of the model that contains a straggler is a bin of its own, because its tensor-parallel
 * neighbours and its pipeline wait for the straggler. With jitter the other replicas are divided into a few bins
 * (sim/execution/jitter.h): the slowest alone, the others by how slow they are, each bin with the mean of its
 * replicas. In each stage a replica is as slow as its slowest rank there.
 */
#pragma once

#include "models/workload/training/layout.h"

typedef struct {
  gint64 rank;
  double slowness; /* >= 1: factor on the time of its kernels */
} StragglerParams;

typedef struct {
  double cv;   /* coefficient of variation of a rank's kernel time from step to step */
  double gpus; /* standard deviation of the times of GPUs of one kind, of their mean */
  gint64 n_classes;
} JitterParams;

extern const FabParam straggler_params[];
extern const FabParam jitter_params[];

/* A bin: replicas of the model that are one rank class in each stage. */
typedef struct {
  guint first_data, n_data;
  char *name; /* "rank 5"; NULL: there is only one bin */
  /* private */
  gint64 straggler;  /* rank of the straggler in it; -1: none */
  guint gap;         /* the run of replicas without stragglers in which it is */
  guint first_place; /* its first place in that run, the slowest first */
} SlowBin;

typedef struct _Slow Slow;

/* `stragglers` has StragglerParams. Copies what it needs. NULL and *error when a straggler is no rank of the job. */
Slow *slow_new (const Layout *layout, const FabParamList *stragglers, const JitterParams *jitter,
                guint64 seed, GError **error);
void slow_free (Slow *self);

guint slow_n_bins (const Slow *self);
const SlowBin *slow_bin (const Slow *self, guint index);

/* Expected time of the kernels of a job of n ranks over that of an average GPU's, where `is_of_average_gpu` says that
 * the compute model has the latter. */
double slow_waiting (const JitterParams *jitter, guint n_ranks, gboolean is_of_average_gpu);

/* Whether any rank is a straggler or has jitter. */
gboolean slow_is_needed (const Slow *self);
/* A number that factors do not exceed, except in one of 1e15 draws. */
double slow_most (const Slow *self);
/* The factor on the time of kernels of a bin, in a stage and an iteration. */
double slow_factor (Slow *self, guint stage, guint bin, guint iteration);
