/* SPDX-License-Identifier: Apache-2.0 */
/* directions.h - does the prediction say of every change whether it is for better or for worse?
 *
 * A pair of rows of one efficiency group (the source's `same` columns) that differ in exactly one of its `factors`. Of
 * a factor whose values are numbers only neighbours are compared. What changes is the cost of a sample,
 *
 *   cost = step x GPUs / batch,
 *
 * so that more GPUs show what they lose, whatever happens to the batch. Measured changes under 2 % have no direction.
 * Where more GPUs, and nothing else, were measured to make a sample cheaper, the source shows its noise or a memory
 * that was short, which is no effect of scale: these are counted apart.
 * Pairs inside one node, doubtful rows and rows with full memory are left out.
 */
#pragma once

#include "validate/training/report.h"

/* Counts the pairs of a result into it and appends the wrong ones (FabWrongDirection). */
void fab_training_directions (FabTrainingResult *result, GArray *wrong);
