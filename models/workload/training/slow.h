/* SPDX-License-Identifier: Apache-2.0 */
/* slow.h - ranks that are slower than others: stragglers, and jitter that every rank draws anew in every step.
 *
 * Ranks that do the same are one class only as long as they take the same time. The data axis is divided into bins:
 * a straggler's replica of the model is a bin of its own (its tensor-parallel neighbours and its pipeline wait for it),
 * and with jitter the other replicas are divided into a few (sim/work/jitter.h): the slowest alone, the others by how
 * slow they are, each with the mean of its replicas. A replica is in each stage as slow as its slowest rank there.
 */
#pragma once

#include "models/workload/training/layout.h"

typedef struct {
  gint64 rank;
  double slowness; /* >= 1: multiple of the time that its kernels take */
} StragglerParams;

typedef struct {
  double cv; /* coefficient of variation of a rank's kernel time from step to step */
  gint64 n_classes;
} JitterParams;

extern const FabParam straggler_params[];
extern const FabParam jitter_params[];

/* Replicas of the model that are one class. */
typedef struct {
  guint first_data, n_data;
  char *name; /* "rank 5"; NULL: all of them */
  /* private */
  gint64 straggler; /* its rank; -1: none */
  guint gap,
      first_place; /* which replicas it shares draws with, and its place among them, the slowest first */
} SlowBin;

typedef struct _Slow Slow;

/* `stragglers` holds StragglerParams. Copies what it needs. NULL and *error when a rank is not there. */
Slow *slow_new (const Layout *layout, const FabParamList *stragglers, const JitterParams *jitter,
                guint64 seed, GError **error);
void slow_free (Slow *self);

guint slow_n_bins (const Slow *self);
const SlowBin *slow_bin (const Slow *self, guint index);

/* Whether anything is slow. */
gboolean slow_is_needed (const Slow *self);
/* What no factor exceeds, but once in 1e15 draws. */
double slow_most (const Slow *self);
/* How long kernels of a bin take in a stage and iteration, as a multiple of the usual. */
double slow_factor (Slow *self, guint stage, guint bin, guint iteration);
