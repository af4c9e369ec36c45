/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - how the layers of a model are divided into the parts that pipeline stages have. */
#pragma once

#include "models/workload/training/train.h"

/* The parts of the model (Chunk) in model order: part p belongs to stage p % n_stages. (transfer full) NULL and *error:
 * the model cannot be divided so. */
GArray *parts_divide (const Train *train, guint n_parts, GError **error);

static inline const Chunk *
train_part (const Train *train, guint part)
{
  return &g_array_index (train->parts, Chunk, part);
}
