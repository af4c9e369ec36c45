/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/parts.h"

#include "sim/base/error.h"

static guint
count_blocks (const FabLayerStack *stack, guint *first)
{
  guint n = 0;

  for (guint l = 0; l < stack->layers->len; l++)
    if (fab_layer_stack_layer (stack, l)->is_block && n++ == 0)
      *first = l;
  return n;
}

/* The number of blocks in all parts before `part`. If the blocks cannot be divided evenly, parts in the middle
 * have one more, because the first part has the embedding and the last one the head. */
static guint
blocks_before (guint part, guint n_parts, guint n_blocks)
{
  guint extra = n_blocks % n_parts, first = (n_parts - extra) / 2;

  return part * (n_blocks / n_parts) + (part > first ? MIN (part - first, extra) : 0);
}

GArray *
parts_divide (const Train *train, guint n_parts, GError **error)
{
  guint first_block = 0, n_layers = train->stack->layers->len;
  guint n_blocks = count_blocks (train->stack, &first_block);
  GArray *parts;

  if (n_parts > MAX (n_blocks, 1)) {
    fab_throw (error, FAB_ERROR_INPUT, "%u blocks of model '%s' cannot be divided into %u pipeline parts",
               n_blocks, train->params->model, n_parts);
    return NULL;
  }
  parts = g_array_new (FALSE, FALSE, sizeof (Chunk));
  for (guint part = 0; part < n_parts; part++) {
    guint first = part == 0 ? 0 : first_block + blocks_before (part, n_parts, n_blocks);
    guint end = part + 1 == n_parts ? n_layers : first_block + blocks_before (part + 1, n_parts, n_blocks);
    Chunk chunk = { first, end - first };

    g_array_append_val (parts, chunk);
  }
  return parts;
}
