/* SPDX-License-Identifier: Apache-2.0 */
/* choices.h - what of a training job a planner may choose: strategies, how the model is divided, knobs.
 *
 * The model, the machine, the sequences of a step and every other key that the scenario writes stay as they are.
 */
#pragma once

#include "sim/study/plan.h"
#include "sim/study/tune.h"

typedef struct {
  const char *name, *summary;
  const char *kind;       /* of job */
  const char *keys;       /* that make it what it is: "stage: 1" */
  const char *node_key;   /* a key that is the number of ranks of a node; NULL: none */
  const char *const *but; /* keys that a job of this kind may say and this strategy must not; NULL: none */
  gboolean is_divided;    /* the model is divided too */
  gboolean needs_nodes;   /* with one node it is another strategy */
} FabStrategy;

extern const FabStrategy fab_strategies[]; /* ended by a row without name */

/* Candidates of the strategies that `names` lists ("ddp,zero3"; NULL or "all": every one), and the job as written
 * before them; `sequences` are those of a step. (transfer full); NULL and *error for an unknown name, or a job that is
 * no training job. */
GPtrArray *fab_strategy_candidates (const FabScenario *scenario, const char *names, double *sequences,
                                    GError **error);

/* The knobs that the scenario's job has, of those that `names` lists (NULL: bucket, prefetch, micro_batch as far as
 * the job has them). (transfer full) */
GPtrArray *fab_job_knobs (const FabScenario *scenario, const char *names, GError **error);
