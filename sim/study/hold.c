/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/study/hold.h"

#include <string.h>

#include "sim/base/error.h"

static const char *const names[] = {
  [FAB_HOLD_WRITTEN] = "", [FAB_HOLD_MICRO_BATCH] = "micro_batch", [FAB_HOLD_BATCH] = "batch"
};

gboolean
fab_hold_parse (const char *text, FabHold *hold, GError **error)
{
  for (FabHold one = FAB_HOLD_MICRO_BATCH; one <= FAB_HOLD_BATCH; one++)
    if (strcmp (text, names[one]) == 0) {
      *hold = one;
      return TRUE;
    }
  return fab_throw (
      error, FAB_ERROR_INPUT,
      "'%s' cannot be held; give batch, so that the global batch stays the same (strong scaling), or "
      "micro_batch, so that it grows with the ranks (weak scaling)",
      text);
}

const char *
fab_hold_name (FabHold hold, const FabBatch *batch)
{
  if (batch->micro_batch == 0)
    return NULL;
  if (hold == FAB_HOLD_WRITTEN)
    hold = batch->global_batch > 0 ? FAB_HOLD_BATCH : FAB_HOLD_MICRO_BATCH;
  return names[hold];
}

const FabFigure *
fab_hold_asked_by (const FabFigure *const *figures, guint n)
{
  for (guint i = 0; i < n; i++)
    if (figures[i]->is_of_training)
      return figures[i];
  return NULL;
}

gboolean
fab_hold_set (FabHold hold, const FabBatch *of, const FabBatch *at, FabEdits *edits, GError **error)
{
  guint64 copies = fab_batch_copies (at);

  if (hold == FAB_HOLD_WRITTEN || of->n_gpus == 0 || copies == fab_batch_copies (of))
    return TRUE;
  return fab_batch_set_copies (of, copies, hold == FAB_HOLD_BATCH, edits, error);
}

static gboolean
is_batch_key (const char *text, gsize length)
{
  static const char *const keys[] = { "job", "job.micro_batch", "job.accumulation", "job.global_batch" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (strlen (keys[i]) == length && strncmp (keys[i], text, length) == 0)
      return TRUE;
  return FALSE;
}

gboolean
fab_hold_is_set_by (const FabEdits *edits)
{
  for (guint i = 0; i < fab_edits_count (edits); i++) {
    const FabEdit *edit = fab_edits_at (edits, i);
    const char *key = edit->key != NULL ? edit->key : edit->text;

    if (is_batch_key (key, strcspn (key, "=")))
      return TRUE;
  }
  return FALSE;
}

void
fab_hold_range_add (FabHoldRange *self, const FabPoint *point)
{
  self->n_missing += point == NULL;
  if (point == NULL)
    return;
  if (self->most_ranks == 0) {
    *self = (FabHoldRange){ point->n_ranks, point->n_ranks, point->global_batch, point->global_batch,
                            self->n_missing };
    return;
  }
  self->least_ranks = MIN (self->least_ranks, point->n_ranks);
  self->most_ranks = MAX (self->most_ranks, point->n_ranks);
  self->least_sequences = MIN (self->least_sequences, point->global_batch);
  self->most_sequences = MAX (self->most_sequences, point->global_batch);
}
