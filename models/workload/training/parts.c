/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/parts.h"

#include "models/workload/training/prices.h"
#include "sim/base/error.h"

/* The blocks stand side by side. What comes behind them, the head and what predicts further tokens, is the last
 * part's. */
static guint
count_blocks (const FabLayerStack *stack, guint *first)
{
  guint n = 0;

  for (guint l = 0; l < stack->layers->len; l++) {
    gboolean is_block = fab_layer_stack_layer (stack, l)->is_block;

    if (is_block && n++ == 0)
      *first = l;
    if (!is_block && n > 0)
      break;
  }
  return n;
}

/* --- as written --- */

/* Whether the counts fit the model; a part without any layer computes nothing, and cannot send on. */
static gboolean
check_written (const Train *train, const GArray *counts, guint first_block, guint n_blocks, GError **error)
{
  guint n = 0, n_parts = counts->len, n_after = train->stack->layers->len - first_block - n_blocks;

  for (guint part = 0; part < n_parts; part++)
    n += g_array_index (counts, guint, part);
  if (n != n_blocks)
    return fab_throw (error, FAB_ERROR_INPUT,
                      "parallel.layers has %u blocks in total, but model '%s' has %u: %s %u", n,
                      train->params->model, n_blocks, n > n_blocks ? "take away" : "add",
                      n > n_blocks ? n - n_blocks : n_blocks - n);
  if ((g_array_index (counts, guint, 0) == 0 && first_block == 0)
      || (g_array_index (counts, guint, n_parts - 1) == 0 && n_after == 0))
    return fab_throw (
        error, FAB_ERROR_INPUT,
        "parallel.layers: a part without blocks needs a layer before or after the blocks, and model '%s' has "
        "none",
        train->params->model);
  return TRUE;
}

/* --- evenly --- */

/* If the blocks cannot be divided evenly, parts in the middle have one more, because the first part has the embedding
 * and the last one the head. */
static GArray *
count_evenly (guint n_parts, guint n_blocks)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (guint));
  guint extra = n_blocks % n_parts, first = (n_parts - extra) / 2;

  for (guint part = 0; part < n_parts; part++) {
    guint n = n_blocks / n_parts + (part >= first && part < first + extra);

    g_array_append_val (counts, n);
  }
  return counts;
}

/* --- by cost --- */

typedef struct {
  const double *blocks; /* seconds of each block, forward and backward */
  guint n_blocks, n_parts;
  double before, after; /* of the layers before the blocks, and behind them */
} Costs;

/* Gives each part as many blocks as it can have in `most` seconds, and at least one, which the last part may do without
 * where it has a head. FALSE: some part takes longer. */
static gboolean
fill (const Costs *costs, double most, GArray *counts)
{
  guint next = 0, n_last = costs->after > 0 ? 0 : 1;

  g_array_set_size (counts, 0);
  for (guint part = 0; part < costs->n_parts; part++) {
    gboolean is_last = part + 1 == costs->n_parts;
    double seconds = (part == 0 ? costs->before : 0) + (is_last ? costs->after : 0);
    guint n = 0, n_behind = is_last ? 0 : costs->n_parts - part - 2 + n_last;

    while (next + n_behind < costs->n_blocks
           && ((n == 0 && !is_last) || seconds + costs->blocks[next] <= most)) {
      seconds += costs->blocks[next++];
      n++;
    }
    if (seconds > most)
      return FALSE;
    g_array_append_val (counts, n);
  }
  return next == costs->n_blocks;
}

/* The division whose longest part is as short as possible; of several the one whose first parts are the fullest. */
static GArray *
count_by_cost (const Train *train, guint n_parts, guint first_block, guint n_blocks)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree double *blocks = g_new0 (double, n_blocks + 1);
  Costs costs = { .blocks = blocks, .n_blocks = n_blocks, .n_parts = n_parts };
  double low = 0, high = 0;

  for (guint l = 0; l < train->stack->layers->len; l++) {
    double seconds = train_layer_seconds (train, l);

    high += seconds;
    if (l < first_block)
      costs.before += seconds;
    else if (l < first_block + n_blocks)
      blocks[l - first_block] = seconds;
    else
      costs.after += seconds;
  }
  high *= 1 + 1e-9;
  for (guint i = 0; i < 60; i++) {
    double middle = (low + high) / 2;

    if (fill (&costs, middle, counts))
      high = middle;
    else
      low = middle;
  }
  fill (&costs, high, counts);
  return counts;
}

/* --- the parts --- */

GArray *
parts_divide (const Train *train, guint n_parts, GError **error)
{
  const ParallelParams *p = &train->params->parallel;
  guint first_block = 0, next = 0, n_blocks = count_blocks (train->stack, &first_block);
  g_autoptr (GArray) counts = NULL;
  GArray *parts;

  if (p->layers == NULL && n_parts > MAX (n_blocks, 1)) {
    fab_throw (
        error, FAB_ERROR_INPUT,
        "%u blocks of model '%s' cannot be divided into %u pipeline parts; parallel.layers may give the "
        "first and the last part none",
        n_blocks, train->params->model, n_parts);
    return NULL;
  }
  if (p->layers != NULL)
    counts = parallel_layers (p->layers);
  else if (p->balance == BALANCE_COST && n_parts > 1)
    counts = count_by_cost (train, n_parts, first_block, n_blocks);
  else
    counts = count_evenly (n_parts, n_blocks);
  g_assert (counts != NULL && counts->len == n_parts); /* checked with the parameters */
  if (p->layers != NULL && !check_written (train, counts, first_block, n_blocks, error))
    return NULL;
  parts = g_array_new (FALSE, FALSE, sizeof (Chunk));
  for (guint part = 0; part < n_parts; part++) {
    guint n = g_array_index (counts, guint, part) + (part == 0 ? first_block : 0);
    gboolean is_last = part + 1 == n_parts;
    Chunk chunk = { .first_layer = next,
                    .n_layers = is_last ? train->stack->layers->len - next : n,
                    .part = part };

    g_array_append_val (parts, chunk);
    next += n;
  }
  return parts;
}
