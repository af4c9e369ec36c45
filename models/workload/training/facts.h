/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what the choices of a training job depend on. */
#pragma once

#include "models/workload/training/train.h"
#include "sim/scenario/scenario.h"

typedef struct {
  const FabScenario *scenario;
  const FabModelInfo *info;  /* of the job's kind */
  const TrainParams *params; /* first member of every training job's */
  gint64 n_ranks, n_nodes, per_node;
  gint64
      domain; /* ranks that the accelerators' own links join: a node, or the nodes that share its switches */
  gint64 global_batch;                 /* sequences of a step */
  gint64 n_blocks, n_heads, n_experts; /* of the model; 0: not known, or none */
  gboolean has_activations;            /* the model says what goes from layer to layer */
} JobFacts;

gboolean job_facts_init (JobFacts *self, const FabScenario *scenario, GError **error);

/* Data-parallel ranks of the job as written; 0: its ranks do not divide so. */
gint64 job_facts_data_ranks (const JobFacts *self);

/* Sequences of a micro-batch worth a trial, ascending: powers of two, and what is written, that divide those of a
 * rank so that their number is a multiple of `round`. (transfer full) */
GArray *job_facts_micro_batches (const JobFacts *self, gint64 per_rank, gint64 most, gint64 round);

/* The job's keys that another one of `kind` has too, as far as the scenario writes them, without those of `but`:
 * "model: gpt2-xl, sequence: 2048". (transfer full) */
char *job_facts_shared (const JobFacts *self, const char *kind, const char *const *but);
