/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - facts about a training job on which its choices (choices.h) depend. */
#pragma once

#include "models/workload/training/keys.h"
#include "sim/scenario/scenario.h"

typedef struct {
  const FabScenario *scenario;
  const FabModelInfo *info; /* the model of the job: ddp, zero, fsdp, megatron */
  /* The keys that all training jobs share: the first member of every job's struct. */
  const TrainParams *params;
  gint64 n_ranks, n_nodes, per_node;
  /* Ranks that the accelerators' own links join: a node, or the nodes that share its switches. */
  gint64 domain;
  gint64 global_batch;                 /* sequences of a step */
  gint64 n_blocks, n_heads, n_experts; /* of the neural network; 0: not known, or none */
  gboolean has_activations;            /* the neural network says how many bytes go from layer to layer */
} JobFacts;

gboolean job_facts_init (JobFacts *self, const FabScenario *scenario, GError **error);

/* The data-parallel ranks of the job as the scenario has it; 0: its ranks cannot be divided so. */
gint64 job_facts_data_ranks (const JobFacts *self);

/* Numbers of sequences in a micro-batch that are worth a trial, ascending (gint64): powers of two up to `most`, and
 * what the scenario has. Each divides the `per_rank` sequences of a rank into micro-batches whose number is a
 * multiple of `round`. (transfer full) */
GArray *job_facts_micro_batches (const JobFacts *self, gint64 per_rank, gint64 most, gint64 round);

/* Puts the keys that the scenario writes for its job and that a job of `kind` has too into `job`, without those in
 * `but`: {model: gpt2-xl, sequence: 2048}. */
void job_facts_put_shared (const JobFacts *self, const char *kind, const char *const *but, FabValue *job);
