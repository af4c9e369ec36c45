/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - the place of each rank in a job that is parallel in several ways, and the groups that ranks form.
 *
 * The ranks are a grid with four axes: tensor, context, data and pipeline. Rank = sum of coordinate x stride; the
 * first axis of `order` varies fastest. Megatron-LM's default tp-cp-ep-dp-pp makes tensor-parallel ranks neighbours
 * and puts pipeline stages farthest apart (megatron/core/parallel_state.py, RankGenerator). Expert-parallel groups
 * lie inside the data axis: they are neighbours where ep comes before dp in the order, and every (dp/ep)-th rank
 * where it comes after. With `expert_tensor` the experts have a grid of their own over the ranks of a stage, as
 * Megatron-LM folds them (arXiv 2504.14960): neighbours are the expert_tensor ranks that share one expert, then come
 * the expert-parallel ranks, then those that hold the same experts; tensor, context and data ranks alike.
 */
#pragma once

#include "models/workload/training/parallel.h"
#include "sim/collective/plan/concurrent_groups.h"

typedef struct {
  const FabCluster *cluster;
  guint size[N_AXES], stride[N_AXES];
  guint n_ranks, n_expert, n_expert_tensor;
  gboolean is_folded;       /* the experts have a grid of their own over the ranks of a stage */
  gboolean is_expert_inner; /* the ranks of an expert-parallel group are neighbours in the data axis */
} Layout;

/* FALSE and *error when the ranks of the cluster cannot be divided into such a grid. */
gboolean layout_init (Layout *self, const FabCluster *cluster, const ParallelParams *params, GError **error);

/* Which ranks along the data axis belong to one group. */
typedef enum {
  DATA_ONE, /* one rank: the group lies along other axes */
  DATA_ALL,
  DATA_RUNS,  /* `block` neighbours: shards inside a node */
  DATA_EVERY, /* every block-th rank: replicas of such shards */
} DataPart;

/* Groups of the experts' own grid; the other members of a selection say whose ranks. */
typedef enum { FOLD_NONE, FOLD_EXPERT, FOLD_EXPERT_TENSOR, FOLD_EXPERT_DATA } Fold;

typedef struct {
  /* Axes along which the ranks of a group differ; `data` says it for the data axis. */
  gboolean varies[N_AXES];
  DataPart data;
  guint block;                 /* for DATA_RUNS and DATA_EVERY; it divides the data axis */
  guint first_stage, n_stages; /* pipeline stages whose ranks are selected */
  guint first_data, n_data;    /* data coordinates of the ranks that are selected; multiples of block */
  gboolean has_twin;           /* ranks of the stage as far from the other end are in the same groups */
  Fold fold;                   /* other than FOLD_NONE: `varies`, `data` and `block` do not count */
} Selection;

/* All groups of that kind, as concurrent groups. (transfer full) */
FabConcurrentGroups *layout_concurrent_groups (const Layout *self, const Selection *selection);

/* The ranks of a stage with these data coordinates. (transfer full) */
guint *layout_ranks (const Layout *self, guint stage, guint first_data, guint n_data);

/* Pairs of ranks, as concurrent groups: each rank of stage `from` and the one of stage `to` with the same
 * coordinates. (transfer full) */
FabConcurrentGroups *layout_pairs (const Layout *self, guint from, guint to, guint first_data, guint n_data);

/* Whether the ranks of a stage hold different experts or parts of experts than of other layers. */
gboolean layout_has_expert_groups (const Layout *self);

/* The smallest number of data coordinates whose ranks have all experts. */
guint layout_expert_unit (const Layout *self);

/* Ranks of a stage that hold the same parameters of experts. */
guint layout_n_expert_replicas (const Layout *self);

/* Which ranks along the data axis form an expert-parallel group. */
DataPart layout_expert_part (const Layout *self, guint *block);
/* Which ranks along the data axis hold the same experts. */
DataPart layout_expert_data_part (const Layout *self, guint *block);
