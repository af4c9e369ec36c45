/* SPDX-License-Identifier: Apache-2.0 */
#include "models/workload/training/away.h"

#include "models/workload/training/kept.h"
#include "models/workload/training/offload.h"
#include "models/workload/training/streams.h"

/* A copy that has left. */
typedef struct {
  guint number; /* counted from 1 */
  FabTaskId task;
} Departure;

gboolean
away_is_used (const Train *train, guint layer)
{
  const MemoryParams *p = &train->params->memory;

  return p->offload != OFFLOAD_NONE && fab_layer_stack_layer (train->stack, layer)->is_block
      && (p->offload_layers == 0 || train_block_index (train, layer) < (guint64) p->offload_layers);
}

static gpointer
key_of (const Stage *stage, guint micro, guint layer)
{
  return GSIZE_TO_POINTER ((gsize) micro * stage->train->stack->layers->len + layer + 1);
}

static Copy
copy_of (const Stage *stage, guint layer, gboolean is_to_gpu)
{
  const Train *train = stage->train;
  KeptLayer kept = kept_layer (train, layer, train->software.has_autocast);

  return (Copy){ (OffloadTo) train->params->memory.offload, is_to_gpu, (FabBytes) (kept.kept + 0.5) };
}

void
away_before_forward (Stage *stage, const PassAt *at)
{
  const Away *self = &stage->away;

  if (away_is_used (stage->train, at->layer) && self->n_out > 1)
    stage_wait (stage, self->before[0]);
}

void
away_after_forward (Stage *stage, const PassAt *at)
{
  Away *self = &stage->away;
  Copy copy = copy_of (stage, at->layer, FALSE);
  FabTaskId task, after = stage->last_compute;

  if (!away_is_used (stage->train, at->layer)
      || !offload_copy (stage, &copy, g_strdup_printf ("activations%u.%u", at->layer, at->micro), &after,
                        &task))
    return;
  Departure *departure = g_new (Departure, 1);
  *departure = (Departure){ ++self->n_out, task };
  if (self->out == NULL)
    self->out = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_hash_table_insert (self->out, key_of (stage, at->micro, at->layer), departure);
  self->before[0] = self->before[1];
  self->before[1] = task;
}

/* Begins to bring back what a layer needs, after the last compute task and after it has left. */
static void
bring_back (Stage *stage, guint micro, guint layer)
{
  Away *self = &stage->away;
  gpointer key = key_of (stage, micro, layer);
  const Departure *departure = self->out != NULL ? g_hash_table_lookup (self->out, key) : NULL;

  if (departure == NULL)
    return;
  Copy copy = copy_of (stage, layer, TRUE);
  FabTaskId task;
  if (departure->number < self->n_out
      && offload_copy (stage, &copy, g_strdup_printf ("activations%u.%u", layer, micro), &departure->task,
                       &task)) {
    fab_dag_builder_after (stage->train->builder, task, stage->last_compute);
    self->has_back = TRUE;
    self->back = task;
  }
  g_hash_table_remove (self->out, key);
}

void
away_before_backward (Stage *stage, const Chunk *chunk, const PassAt *at)
{
  Away *self = &stage->away;

  bring_back (stage, at->micro, at->layer); /* unless the layer behind has begun to do it */
  if (self->has_back)
    stage_wait (stage, self->back);
  self->has_back = FALSE;
  if (at->layer > chunk->first_layer)
    bring_back (stage, at->micro, at->layer - 1);
}

void
away_clear (Away *self)
{
  g_clear_pointer (&self->out, g_hash_table_unref);
}
