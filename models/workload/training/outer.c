/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/outer.h"

#include "models/workload/training/memory.h"
#include "models/workload/training/train.h"
#include "sim/base/error.h"

const FabParam outer_params[] = {
  { .key = "sites",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (OuterParams, sites),
    .fallback = "1",
    .min = 1,
    .max = 1e6,
    .help = "Sites (DiLoCo): groups of neighbouring data-parallel ranks that train independently between two "
            "outer steps. 1: all ranks sum their gradients in every step." },
  { .key = "every",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (OuterParams, every),
    .fallback = "500",
    .min = 1,
    .max = 1e9,
    .help = "Steps between two outer steps." },
  { .key = "bits",
    .type = FAB_PARAM_COUNT,
    .offset = G_STRUCT_OFFSET (OuterParams, bits),
    .fallback = "32",
    .min = 1,
    .max = 64,
    .help = "Bits per parameter that sites send." },
  { .key = "overlap",
    .type = FAB_PARAM_BOOL,
    .offset = G_STRUCT_OFFSET (OuterParams, overlaps),
    .fallback = "false",
    .help =
        "Send fragments of the model while the steps compute (Streaming DiLoCo); false: training stops while "
        "sites communicate." },
  { .key = "state",
    .type = FAB_PARAM_BYTES,
    .offset = G_STRUCT_OFFSET (OuterParams, state_bytes_per_parameter),
    .fallback = "8B",
    .max = 1e4,
    .help = "Memory of the outer optimizer per parameter, sharded like the optimizer: the momentum and the "
            "parameters of the last outer step. 0B: they are in host memory." },
  { .key = NULL },
};

gboolean
outer_check_layout (const OuterParams *self, guint n_data, guint n_experts, GError **error)
{
  if (self->sites == 1)
    return TRUE;
  if (n_data % self->sites != 0)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "%u data-parallel ranks cannot be divided by outer.sites: %" G_GINT64_FORMAT, n_data,
                      self->sites);
  if (n_experts > 1)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "outer.sites cannot be combined with expert parallelism, because experts lie inside "
                      "the data axis");
  return TRUE;
}

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
