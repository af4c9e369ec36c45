/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - the number of GPUs of a scenario, and the edits that change it or change how the GPUs are
 * connected. */
#pragma once

#include "sim/scenario/scenario.h"

guint fab_machine_gpus_per_node (const FabScenario *scenario);
guint fab_machine_gpus (const FabScenario *scenario);

/* Returns the GPUs that one switch domain (NVLink) connects: those of a node, or of all nodes that share the
 * switches. */
guint fab_machine_domain (const FabScenario *scenario);

/* Whether nodes share leaves in such a fabric. It is a folded Clos network: the same switches can be wired as another
 * one. */
gboolean fab_machine_has_leaves (const FabModelInfo *fabric);

/* Adds the edits that give the scenario `n` GPUs: whole nodes, or a part of one node.
 * FALSE and *error for other numbers. */
gboolean fab_machine_set_gpus (const FabScenario *scenario, guint n, FabEdits *edits, GError **error);

/* Adds the edits that keep the number of GPUs and put them into domains of `n`: either parts of the nodes with
 * their share of NICs, or a node of the catalogue with the same GPU. FALSE and *error, which lists what is
 * available. */
gboolean fab_machine_set_domain (const FabScenario *scenario, guint n, FabEdits *edits, GError **error);

/* Changes the number of GPUs of a job and keeps either the batch per GPU or the batch of the job. */

/* Sequences per step; micro_batch is 0 for a job without batches. */
typedef struct {
  guint n_gpus;                                    /* of the scenario */
  guint64 micro_batch, accumulation, global_batch; /* as the scenario writes them; 0: no global batch */
  guint64 n_model_ranks;                           /* GPUs over which one copy of the model is divided */
} FabBatch;

FabBatch fab_batch_of (const FabScenario *scenario);

/* Copies of the model that are trained side by side; 0: the model is divided over more GPUs than there are. */
guint64 fab_batch_copies (const FabBatch *self);
/* Sequences of a step over all copies: the global batch. 0: the job has no batches. */
guint64 fab_batch_sequences (const FabBatch *self);

/* Adds the edits that keep the batch per GPU, or with `is_strong` that of the job, on
 * `n` GPUs. FALSE and *error when the batch cannot be divided this way. */
gboolean fab_batch_set (const FabBatch *self, guint n, gboolean is_strong, FabEdits *edits, GError **error);
/* The same on a number of copies of the model. */
gboolean fab_batch_set_copies (const FabBatch *self, guint64 copies, gboolean is_strong, FabEdits *edits,
                               GError **error);
