/* SPDX-License-Identifier: Apache-2.0 */
/* sureness.h - the uncertainty of the figures of a study, and the range of its answer that follows. */
#pragma once

#include "sim/scenario/band.h"
#include "sim/study/size.h"

typedef struct {
  FabBand
      /* Of the targets' figures at the answer, in their order; NULL: no link has an uncertainty. */
      *band;
  gint64
      /* The first tried value that meets the targets if the figures are better than predicted, by the same fraction as
       * the band at the answer. */
      answer_low;
  gint64 answer_high; /* as answer_low, if the figures are worse; -1: no value meets the targets */
} FabSureness;

/* FALSE and *error. When no value meets the targets, the band is that of the closest value. */
gboolean fab_size_sureness (const FabStudy *study, const FabSizeSpec *spec, const FabSize *size,
                            FabSureness *sureness, GError **error);
void fab_sureness_clear (FabSureness *self);
