/* SPDX-License-Identifier: Apache-2.0 */
/* hold.h - which batch the variants of a study hold where they have more or fewer ranks than the scenario.
 *
 *   batch         the global batch: every step does the same work, and each rank has less of it (strong scaling)
 *   micro_batch   the batch of every copy of the model: the global batch grows with the copies (weak scaling)
 *
 * What is held is edits of the job, which fab_study_scenario () makes. They are made of variants with another number of
 * copies of the model that set no batch themselves.
 */
#pragma once

#include "sim/study/machine.h"
#include "sim/study/point.h"

typedef enum {
  FAB_HOLD_WRITTEN, /* what the job writes down: its global batch where it has one, else the batch of a copy */
  FAB_HOLD_MICRO_BATCH,
  FAB_HOLD_BATCH,
} FabHold;

/* Reads "batch" or "micro_batch". FALSE and *error, which says what would be right. */
gboolean fab_hold_parse (const char *text, FabHold *hold, GError **error);

/* "batch" or "micro_batch"; NULL: the job has no batches. */
const char *fab_hold_name (FabHold hold, const FabBatch *batch);

/* The first of the figures that is of the whole training, and so asks for steps that do the same work. NULL: none is.
 */
const FabFigure *fab_hold_asked_by (const FabFigure *const *figures, guint n);

/* Adds the edits that hold the batch `of` the scenario in a variant, whose own batch is `at`. FALSE and *error when the
 * batch cannot be divided so. */
gboolean fab_hold_set (FabHold hold, const FabBatch *of, const FabBatch *at, FabEdits *edits, GError **error);

/* Whether the edits set a batch, or the whole job. */
gboolean fab_hold_is_set_by (const FabEdits *edits);

/* What the points of a study have. */
typedef struct {
  guint least_ranks, most_ranks;           /* 0: there are no points */
  guint64 least_sequences, most_sequences; /* of the global batch; 0: the job has no batches */
  guint n_missing;                         /* variants that could not be simulated */
} FabHoldRange;

/* Widens the range by a point; NULL is a variant without one. */
void fab_hold_range_add (FabHoldRange *self, const FabPoint *point);
