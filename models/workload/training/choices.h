/* SPDX-License-Identifier: Apache-2.0 */
/* choices.h - what of a training job a planner may choose: strategies, how the model is divided, knobs.
 *
 * The model, the machine, the sequences of a step and every other key that the scenario writes stay as they are.
 */
#pragma once

#include "sim/study/plan.h"
#include "sim/study/tune.h"

/* A key of the job and its value, both as a scenario writes them. */
typedef struct {
  const char *key, *value;
} FabStrategyKey;

/* One way to spread parameters, gradients and optimizer states over the ranks. */
typedef struct {
  const char *name, *summary;
  const char *kind; /* the model of the job: "zero" */
  const FabStrategyKey
      *keys; /* that make it this strategy, ended by a row without key; NULL: the kind alone does */
  const char *node_key;   /* a key that is the number of ranks of a node; NULL: none */
  const char *const *but; /* keys that a job of this kind may have and this strategy must not; NULL: none */
  gboolean is_divided;    /* the model itself is divided too */
  gboolean needs_nodes;   /* with one node it is another strategy */
  gboolean is_basic;      /* one of the few that `explore` offers */
} FabStrategy;

/* The one list of strategies: `plan` tries them, `explore` offers the basic ones. Ended by a row without name. */
extern const FabStrategy fab_strategies[];

/* Whether a key has to be written: its value is not the default of the strategy's kind. */
gboolean fab_strategy_must_write (const FabStrategy *strategy, const FabStrategyKey *key);

/* Candidates of the strategies that `names` lists ("ddp,zero3"; NULL or "all": every one), and the job as written
 * before them; `sequences` are those of a step. (transfer full); NULL and *error for an unknown name, or a job that is
 * no training job. */
GPtrArray *fab_strategy_candidates (const FabScenario *scenario, const char *names, double *sequences,
                                    GError **error);

/* The knobs that the scenario's job has, of those that `names` lists (NULL: bucket, prefetch, micro_batch as far as
 * the job has them). (transfer full) */
GPtrArray *fab_job_knobs (const FabScenario *scenario, const char *names, GError **error);

/* The parameter of a kind of job that a knob turns: "bucket" turns `reduce_bucket` of zero. NULL: that kind has no such
 * knob. */
const FabParam *fab_job_knob_param (const char *kind, const char *knob);

/* Bytes of one gradient of a type: "fp32". */
guint fab_gradient_bytes (const char *type);
