/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/study/hold.h"

#include "sim/base/error.h"

/* Whether the job is known, and has no batches. */
static gboolean
has_no_batch (const FabStudy *study)
{
  return study->batch.n_gpus > 0 && study->batch.micro_batch == 0;
}

void
fab_hold_decide (FabStudy *study, const FabFigure *const *figures, guint n)
{
  study->held_for = has_no_batch (study) ? NULL : fab_hold_asked_by (figures, n);
  study->hold = study->held_for != NULL ? FAB_HOLD_BATCH : FAB_HOLD_WRITTEN;
}

gboolean
fab_hold_ask (FabStudy *study, FabHold hold, GError **error)
{
  study->hold = hold;
  return hold != FAB_HOLD_BATCH || !has_no_batch (study)
      || fab_throw (error, FAB_ERROR_INPUT, "the job has no batch that could be held");
}

const char *
fab_hold_of (const FabStudy *study)
{
  return fab_hold_name (study->hold, &study->batch);
}
