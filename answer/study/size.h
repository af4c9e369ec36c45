/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - the first value of a key that is enough: how sure it is, what can be bought for it, and what is said of it
 * (sim/study/size.h searches).
 */
#pragma once

#include "answer/study/points.h"
#include "sim/study/size.h"

typedef struct {
  FabSizeSpec spec;
  FabSize *size;
  FabUncertainty uncertainty;
  GPtrArray *ports;    /* FabPort; NULL: the key is not a rate of ports, or no value meets the targets */
  FabVerdict *verdict; /* of the answer, or of the value that comes closest; it says what makes the job fit */
  GArray *pairs;       /* FabChoicePair: the points that were tried, each beside the next */
  const char *hold;    /* which batch is held; NULL: none */
} FabSizeAnswer;

/* The study, the axis and the targets outlive the answer. NULL and *error: see fab_size_find (). (transfer full) */
FabSizeAnswer *fab_size_answer (const FabStudy *study, const FabSizeSpec *spec, GError **error);
void fab_size_answer_free (FabSizeAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSizeAnswer, fab_size_answer_free)

/* The values that were tried as rows, each with "is_met". For a person that column is left out, and there is one for
 * each target's figure that a table of text does not have anyway. (transfer full) */
FabPoints *fab_size_points (const FabSizeAnswer *self, gboolean is_text);
