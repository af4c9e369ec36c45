/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - where the ranks of a job that is parallel in several ways are, and which of them form groups.
 *
 * Ranks are a grid of four axes: tensor, context, data, pipeline. Rank = sum of coordinate x stride, the first axis
 * of the order varying fastest: Megatron's default tp-cp-ep-dp-pp puts tensor-parallel ranks side by side and
 * pipeline stages farthest apart (megatron/core/parallel_state.py, RankGenerator). Expert-parallel groups lie inside
 * the data axis: runs of neighbours when ep stands before dp, every (dp/ep)-th rank when it stands after it.
 */
#pragma once

#include "sim/work/family.h"

typedef enum { AXIS_TENSOR, AXIS_CONTEXT, AXIS_DATA, AXIS_PIPELINE, N_AXES } Axis;

typedef struct {
  gint64 tensor, context, expert, pipeline, virtual_stages;
  gboolean is_sequence; /* activations between tensor-parallel segments are divided along the sequence */
  gint context_kind;    /* ContextKind, passes.h */
  gint schedule;        /* Schedule, pipeline.h */
  gboolean overlaps_p2p;
  const char *order;
} ParallelParams;

extern const FabParam parallel_params[];

/* Finds what does not fit together, whatever the cluster. */
void parallel_check (const ParallelParams *params, FabCheck *check);

typedef struct {
  const FabCluster *cluster;
  guint size[N_AXES], stride[N_AXES];
  guint n_ranks, n_expert;
  gboolean is_expert_inner; /* expert-parallel ranks are neighbours in the data axis */
} Layout;

/* FALSE and *error when the sizes do not divide the ranks of the cluster. */
gboolean layout_init (Layout *self, const FabCluster *cluster, const ParallelParams *params, GError **error);

/* Which ranks of the data axis a group has. */
typedef enum {
  DATA_ONE, /* one: groups of other axes */
  DATA_ALL,
  DATA_RUNS,  /* runs of `block` neighbours: shards inside a node */
  DATA_EVERY, /* every block-th: replicas of such shards */
} DataPart;

typedef struct {
  gboolean varies[N_AXES]; /* axes along which the ranks of a group lie; DATA by `data` */
  DataPart data;
  guint block;                 /* of RUNS and EVERY: divides the data axis */
  guint first_stage, n_stages; /* stages that groups are in */
  guint first_data, n_data;    /* data indices that groups are in; multiples of block */
} Selection;

/* All groups of that kind. (transfer full); NULL and *error when one is not evenly spread over nodes. */
FabFamily *layout_family (const Layout *self, const Selection *selection, GError **error);

/* Ranks of a stage at these data indices. (transfer full) */
guint *layout_ranks (const Layout *self, guint stage, guint first_data, guint n_data);

/* Each rank of one stage and its like in another one. Likewise. */
FabFamily *layout_pairs (const Layout *self, guint from, guint to, guint first_data, guint n_data,
                         GError **error);

/* Of the groups: what the expert-parallel ranks of the data axis are. */
DataPart layout_expert_part (const Layout *self, guint *block);
/* Ranks that hold the same experts. */
DataPart layout_expert_data_part (const Layout *self, guint *block);
