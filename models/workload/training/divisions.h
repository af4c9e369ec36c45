/* SPDX-License-Identifier: Apache-2.0 */
/* divisions.h - the ways to divide a model among ranks that are worth a trial.
 *
 *   tensor    powers of two within the domain that the accelerators' own links join, that divide the heads
 *   pipeline  divides the blocks, or a power of two (the middle stages have one block more); up to 64
 *   context   where sequences are long (16384 tokens and more) or the scenario has it: up to 8, or as written
 *   Where a model does not say what goes from layer to layer, what a division sends is not known: there is none.
 *   expert    where the model has experts: 1, the most that divides them and the data axis, the most inside the domain
 */
#pragma once

#include "models/workload/training/facts.h"
#include "models/workload/training/pipeline.h"

typedef struct {
  gint64 tensor, context, pipeline, expert;
  const PipelineSchedule *schedule; /* NULL: there are no stages */
} Division;

GArray *division_list (const JobFacts *facts); /* Division. (transfer full) */

gboolean division_is_interleaved (const Division *self);

/* "tensor 8, pipeline 4"; "-": not divided. (transfer full) */
char *division_name (const Division *self);

/* "job.parallel={tensor: 8, sequence: true, ...}". (transfer full) */
char *division_set (const Division *self, const JobFacts *facts);
