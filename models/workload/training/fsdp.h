/* SPDX-License-Identifier: Apache-2.0 */
/* fsdp.h - the state of a stage under FSDP. */
#pragma once

#include "models/workload/training/offload.h"

typedef enum { SHARDING_FULL, SHARDING_GRAD_OP, SHARDING_HYBRID, SHARDING_HYBRID_GRAD_OP } Sharding;
typedef enum { PREFETCH_PRE, PREFETCH_POST, PREFETCH_NONE } Prefetch;

typedef struct {
  TrainParams train;
  gint sharding; /* Sharding */
  gint64 shard;  /* ranks */
  gint gradient; /* index of gradient_types */
  gint prefetch; /* Prefetch */
  gint64 in_flight;
  gboolean is_limited, has_no_sync, is_offloaded;
} FsdpParams;

/* Parameters that are gathered together. */
typedef struct {
  const char *name;
  guint64 parameters, experts; /* of one rank when whole */
  gboolean is_whole, is_coming;
  GArray *gathers; /* FabTaskId: on their way; NULL: none yet */
} Unit;

typedef struct {
  Stage *stage;
  GArray *units;    /* Unit: the root first, then blocks in forward order */
  GArray *of_layer; /* guint: unit of each layer of the model */
  GArray *computed; /* FabTaskId: ends of the units' passes so far, in order */
  GArray *sums;     /* FabTaskId: reductions of the step */
  FabFamily *shards, *expert_shards, *replicas;
  guint n_shards; /* ranks of a shard group */
} Fsdp;

/* The root and a unit per block, with the parameters that the stage has of each. */
void fsdp_add_units (Fsdp *self);
Unit *fsdp_unit (const Fsdp *self, guint index);

/* The collectives of a unit on the communicators of its shards, after a task (NULL: at once); appends them. */
void fsdp_talk (Fsdp *self, FabOp op, guint index, FabBytes bytes_per_parameter, const FabTaskId *after,
                GArray *tasks);

/* The compute task that a gather has to let pass: the end of the unit that was used in_flight units before. `n_ahead`
 * units will have been used before this one. NULL: none. */
const FabTaskId *fsdp_limit (const Fsdp *self, guint n_ahead);
void fsdp_gather (Fsdp *self, guint index, const FabTaskId *after);
/* The next compute task waits until the unit is whole. */
void fsdp_await (Fsdp *self, guint index);
