/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - the keys of `parallel`: how a job is divided over its ranks. layout.h gives ranks their places by them.
 */
#pragma once

#include "models/workload/training/moe.h"

typedef enum { AXIS_TENSOR, AXIS_CONTEXT, AXIS_DATA, AXIS_PIPELINE, N_AXES } Axis;

typedef enum { CONTEXT_RING, CONTEXT_GATHER } ContextKind;
typedef enum { BALANCE_EVEN, BALANCE_COST } Balance;

extern const char *const context_kinds[]; /* "ring", "gather"; NULL-ended */
extern const char *const balance_kinds[]; /* "even", "cost"; NULL-ended */

typedef struct {
  gint64 tensor, context, expert, pipeline, virtual_stages;
  gint64 expert_tensor; /* ranks that share one expert; 0: as many as share a layer, inside the data axis */
  /* Sequence parallelism: between segments each tensor-parallel rank has some tokens only. */
  gboolean is_sequence;
  gint context_kind; /* ContextKind */
  gint schedule;     /* index of pipeline_schedules, pipeline.h */
  gboolean overlaps_p2p;
  gboolean
      overlaps_tensor; /* gathers and scatters of tensor-parallel ranks run beside the matrices next to them */
  gint64 round;        /* micro-batches that go through one part of a stage at a time; 0: as many as stages */
  const char *layers;  /* blocks of each part of the model, "4,4,3"; NULL: as `balance` says */
  gint balance;        /* Balance, parts.h */
  const char *order;
  MoeParams moe;
} ParallelParams;

extern const FabParam parallel_params[];

/* Reports keys that do not fit together on any cluster. */
void parallel_check (const ParallelParams *params, FabCheck *check);

/* Reads the key `order`, "tp-cp-ep-dp-pp", into n axes; N_AXES stands for ep. FALSE: some axis is not there exactly
 * once. `axes` has room for N_AXES + 1. */
gboolean parallel_order (const char *order, guint *axes, guint *n);

/* Reads the key `layers`, "4,4,3": blocks of each part (guint). (transfer full) NULL: something is no whole number. */
GArray *parallel_layers (const char *text);
