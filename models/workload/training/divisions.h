/* SPDX-License-Identifier: Apache-2.0 */
/* divisions.h - the ways of dividing a model among ranks that `plan` tries.
 *
 *   tensor    powers of two that divide the attention heads, up to the number of ranks that the accelerators' own links
 *             join
 *   pipeline  numbers that divide the blocks, and powers of two (then the middle stages have one block more); up to 64
 *   context   powers of two up to 8, or up to what the scenario has, where sequences have 16384 tokens and more or the
 *             scenario has context parallelism
 *   expert    where the model has experts: 1; the largest number that divides them and the data axis; and the largest
 *             such number inside the ranks that the accelerators' own links join
 *
 * Where a model does not say how many bytes go from layer to layer, the communication of a division is not known, and
 * none is tried.
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

/* For a person: "tensor 8, pipeline 4"; "-": the model is not divided. (transfer full) */
char *division_name (const Division *self);

/* The value of the job's `parallel`: {tensor: 8, sequence: true, ...}. (transfer full) */
FabValue *division_value (const Division *self, const JobFacts *facts);
