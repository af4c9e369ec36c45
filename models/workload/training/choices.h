/* SPDX-License-Identifier: Apache-2.0 */
/* choices.h - what `plan`, `tune`, `explore` and advice on memory may change in a training job: strategy, division of
 * the model, knobs.
 *
 * The model, the machine, the number of sequences in a step and all other keys of the scenario stay as they are.
 */
#pragma once

#include "sim/study/memory_advice.h"
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
  /* That make it this strategy, ended by a row without key; NULL: the kind alone does. */
  const FabStrategyKey *keys;
  const char *node_key; /* a key that is the number of ranks of a node; NULL: none */
  const char
      *shard_key; /* a key that is the number of ranks of a shard group; several are tried; NULL: none */
  const char *const *but; /* keys that a job of this kind may have and this strategy must not; NULL: none */
  gboolean is_divided;    /* the model itself is divided too */
  gboolean needs_nodes;   /* with one node it is another strategy */
  gboolean is_basic;      /* one of those that `explore` offers */
} FabStrategy;

/* The one list of strategies: `plan` tries them, `explore` offers the basic ones. Ended by a row without name. */
extern const FabStrategy fab_strategies[];

/* Whether a key has to be written: its value is not the default of the strategy's kind. */
gboolean fab_strategy_must_write (const FabStrategy *strategy, const FabStrategyKey *key);

/* The candidates (FabCandidate) of the strategies in `names` ("ddp,zero3"; NULL or "all": every strategy). The first
 * one is the job as the scenario has it. Sets *sequences to the sequences of a step. (transfer full) NULL and *error
 * for an unknown name, or when the job is no training job. */
GPtrArray *fab_strategy_candidates (const FabScenario *scenario, const char *names, double *sequences,
                                    GError **error);

/* The knobs (FabKnob) of the scenario's job that `names` lists ("bucket,recompute"); NULL: those of bucket, prefetch
 * and micro_batch that the job has. (transfer full) NULL and *error for a name that the job does not have. */
GPtrArray *fab_job_knobs (const FabScenario *scenario, const char *names, GError **error);

/* The parameter of a kind of job that a knob turns: "bucket" turns `reduce_bucket` of zero. NULL: that kind has no
 * such knob. */
const FabParam *fab_job_knob_param (const char *kind, const char *knob);

/* Changes of the scenario's job that may save memory (FabRemedy), each by itself. (transfer full) NULL: the job is no
 * training job. */
GPtrArray *fab_job_remedies (const FabScenario *scenario);

/* Bytes of one gradient of a type: "fp32". */
guint fab_gradient_bytes (const char *type);
