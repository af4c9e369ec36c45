/* SPDX-License-Identifier: Apache-2.0 */
/* fsdp.h - what one pipeline stage keeps track of under FSDP. */
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

/* A unit: parameters that are gathered together. */
typedef struct {
  const char *name;
  guint64 parameters, experts; /* parameters of one rank when the unit is whole: experts, and all others */
  gboolean is_whole, is_coming;
  GArray *gathers; /* FabTaskId: gathers that are on their way; NULL: none yet */
} Unit;

typedef struct {
  Stage *stage;
  GArray *units;    /* Unit: the root unit first, then the blocks in forward order */
  GArray *of_layer; /* guint: index of the unit of each layer of the model */
  GArray *computed; /* FabTaskId: the last compute task of each pass of a unit so far, in order */
  GArray *sums;     /* FabTaskId: reductions of gradients in this step */
  FabFamily *shards, *expert_shards, *replicas;
  guint n_shards; /* ranks of a shard group */
} Fsdp;

/* Adds the root unit and a unit for each block, with the parameters that the stage has of each. */
void fsdp_add_units (Fsdp *self);
Unit *fsdp_unit (const Fsdp *self, guint index);

/* Adds the collectives of a unit among the ranks that share its shards, after a task (NULL: at once), one for the
 * experts and one for all other parameters. Appends the tasks to `tasks`. */
void fsdp_talk (Fsdp *self, FabOp op, guint index, FabBytes bytes_per_parameter, const FabTaskId *after,
                GArray *tasks);

/* The compute task for which a gather has to wait, so that no more than in_flight units are whole: the end of the
 * unit that was used in_flight units before. `n_ahead` is the number of units that will be used before this one.
 * NULL: it need not wait. */
const FabTaskId *fsdp_limit (const Fsdp *self, guint n_ahead);
void fsdp_gather (Fsdp *self, guint index, const FabTaskId *after);
/* Makes the next compute task wait until the unit is whole. */
void fsdp_await (Fsdp *self, guint index);
