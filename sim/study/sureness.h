/* SPDX-License-Identifier: Apache-2.0 */
/* sureness.h - how far the figures of a play may be off, and so what is enough. */
#pragma once

#include "sim/scenario/band.h"
#include "sim/study/size.h"

typedef struct {
  FabBand
      *band; /* of the targets' figures at the answer, in their order; NULL: no link says how unsure it is */
  gint64
      answer_low; /* the first value that was tried which meets the targets if the figures are off to the good, by
                          * as much there as at the answer */
  gint64 answer_high; /* and to the bad; -1: none does */
} FabSureness;

/* FALSE and *error. Where nothing meets the targets, of the value that comes closest. */
gboolean fab_size_sureness (const FabStudy *study, const FabSizeSpec *spec, const FabSize *size,
                            FabSureness *sureness, GError **error);
void fab_sureness_clear (FabSureness *self);
