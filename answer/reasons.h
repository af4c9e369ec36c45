/* SPDX-License-Identifier: Apache-2.0 */
/* reasons.h - why a step takes as long as it does, in a few numbers of the last iteration: exposed time by
 * dimension of parallelism, the critical path by kind, the spread of the iterations, memory, queues, and sizes
 * nobody measured. */
#pragma once

#include "sim/run/simulation.h"

/* Exposed communication of one dimension of parallelism, mean over ranks. */
typedef struct {
  const char *dimension;
  FabTimePs exposed_ps;
  GString *ops; /* "all_gather, reduce_scatter" */
} FabRunShare;

/* Time on the critical path that is of one kind; communication by dimension and binding link. */
typedef struct {
  FabSpanKind kind;
  const char *dimension; /* NULL: no communication */
  FabLinkId link;        /* the slowest of the collective; FAB_NO_LINK: there is none */
  FabTimePs time_ps;
  char *name; /* "compute", "host work", "data over node0/nic0 -> leaf0 (ib-ndr)" */
} FabRunPathPart;

/* Sizes of messages over links of which one knows what was measured, and those of them that were not. */
typedef struct {
  guint n, n_outside;
} FabRunSizes;

typedef struct {
  GArray *shares; /* FabRunShare of every dimension that communicates, in the order of fab_dimension_names */
  GArray *path;   /* FabRunPathPart, the longest first; they add up to the step */
  FabTimePs least_ps, median_ps, late_ps,
      most_ps;       /* of the iterations: 0, 50, 95 and 100 % lie at or below */
  double train_days; /* of the whole training at the pace of the last iteration; 0: its length is not known */
  gboolean has_memory;
  guint fullest_class;    /* rank class whose memory is fullest */
  FabBytes fullest_bytes; /* that it needs */
  FabBytes missing_bytes; /* that a GPU has too few of; 0: it fits, or is not known */
  FabRunSizes sizes;
  GArray *queues; /* FabLinkQueueRecord of links that something waited for, the longest queue first */
  FabLinkQueueRecord all_queues; /* the counts of all links, added up */
} FabRunReasons;

/* Of a simulation that was played, whose `steps` (FabStepRecord) are those of its iterations. */
void fab_run_reasons_find (FabRunReasons *self, const FabSimulation *simulation, const GArray *steps);
void fab_run_reasons_clear (FabRunReasons *self);

/* Duration of the step at or below which `fraction` of the iterations lie: the nearest rank. 1: the longest. */
FabTimePs fab_run_quantile_ps (const GArray *steps, double fraction);
