/* SPDX-License-Identifier: Apache-2.0 */
/* mix_params.h - the keys of `mix`: many jobs that arrive on the machine one after another. `fabricast mix` plays them;
 * a run does not look at them. */
#pragma once

#include "sim/scenario/catalog.h"
#include "sim/sharing/job_mix.h"

/* One kind of job. */
typedef struct {
  const char *name;
  gint64 nodes;       /* of each such job; those of a log have their own number */
  gint64 count;       /* such jobs that arrive; 0: they come from the log */
  FabTimePs every_ps; /* mean time between two arrivals, which are drawn from an exponential distribution */
  FabTimePs work_ps;  /* mean time of a job that nothing slows */
  double spread;      /* standard deviation of the logarithm of that time; 0: all take the mean */
  gint64 priority;
  FabModelChoice job; /* FAB_MODEL_WORKLOAD: what its GPUs do */
} FabMixJobSpec;

typedef struct {
  int placement; /* FabMixPlacement */
  int order;     /* FabMixOrder */
  gboolean has_backfill;
  gboolean has_preemption;
  const char *log;   /* absolute path of a log of jobs; NULL: all jobs are drawn */
  FabParamList jobs; /* FabMixJobSpec; none: the scenario has no mix */
} FabMixSpec;

extern const FabParam fab_mix_params[];     /* of FabMixSpec */
extern const FabParam fab_mix_job_params[]; /* of FabMixJobSpec */

/* Reports jobs that are larger than the machine, jobs of one name, and mixes in which no job ever arrives. */
void fab_mix_check (FabSchemaReader *reader, const FabMixSpec *self, gint64 n_nodes);
