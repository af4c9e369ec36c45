/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/outer_step.h"

#include "models/workload/training/memory.h"
#include "models/workload/training/streams.h"

static const OuterParams *
params_of (const Stage *stage)
{
  return &stage->train->params->outer;
}

/* Adds what one step has of the sum over the sites (find_collective in streams.c divides it) and, where every rank has
 * all parameters, of their way back inside the site. They have a stream of their own, so that the communication of the
 * step goes on beside them. FALSE: nothing is sent. */
static gboolean
add_sums (Stage *stage, const FabTaskId *after)
{
  const Train *train = stage->train;
  const OuterParams *p = params_of (stage);
  guint n_inside = train->layout.size[AXIS_DATA] / (guint) p->sites;
  FabBytes bytes = (stage->parameters * (guint64) p->bits + 7) / 8;
  gboolean is_sharded = train->strategy->is_sharded != NULL && train->strategy->is_sharded (stage);
  Comm sum = { STREAM_OUTER, FAB_DIMENSION_DATA, stage_site_concurrent_groups (stage, DATA_EVERY, n_inside),
               FAB_OP_ALL_REDUCE, (bytes + n_inside - 1) / n_inside };
  Comm gather = { STREAM_OUTER, FAB_DIMENSION_DATA, stage_site_concurrent_groups (stage, DATA_RUNS, n_inside),
                  FAB_OP_ALL_GATHER, is_sharded ? 0 : bytes };

  if (!stage_comm_after (stage, &sum, g_strdup ("outer"), after, &stage->outer))
    return FALSE;
  stage->outer_end = stage->outer;
  stage_comm_after (stage, &gather, g_strdup ("outer.gather"), &stage->outer, &stage->outer_end);
  return TRUE;
}

void
outer_begin (Stage *stage)
{
  if (params_of (stage)->sites > 1 && params_of (stage)->overlaps)
    stage->has_outer = add_sums (stage, NULL);
}

void
outer_end (Stage *stage)
{
  if (params_of (stage)->sites > 1 && !params_of (stage)->overlaps)
    stage->has_outer = add_sums (stage, &stage->last_compute);
  if (!stage->has_outer)
    return;
  stage_wait (stage, stage->outer_end);
  stage_compute (stage, 0, g_strdup ("outer step"));
  if (params_of (stage)->overlaps)
    fab_dag_builder_after_previous (stage->train->builder, stage->outer, stage->last_compute);
}

void
outer_memory (const Stage *stage, FabJobTotals *totals)
{
  const Strategy *strategy = stage->train->strategy;
  double parameters = strategy->optimizer_parameters ? strategy->optimizer_parameters (stage)
                                                     : (double) stage->parameters;

  if (params_of (stage)->sites > 1)
    memory_add (stage, totals, "outer", parameters * (double) params_of (stage)->state_bytes_per_parameter);
}
