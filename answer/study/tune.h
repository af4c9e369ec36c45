/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - the values of a job's knobs with which it is best: what they gain, how sure that is, and how much the values
 * around them lose (sim/study/tune.h searches).
 */
#pragma once

#include "answer/study/points.h"
#include "sim/study/tune.h"

/* What the best values gain over the written ones. */
typedef enum {
  FAB_TUNE_NO_BEST,        /* nothing fits */
  FAB_TUNE_IS_WRITTEN,     /* the scenario has the best values */
  FAB_TUNE_NOW_FITS,       /* as written, the job does not fit into memory */
  FAB_TUNE_WITHIN_SPREAD,  /* the seeds do not decide */
  FAB_TUNE_HARDLY_MATTERS, /* less than 1 % */
  FAB_TUNE_GAINS,
} FabTuneGain;

/* Values of a knob around the best one that are within 1 % of it. */
typedef struct {
  guint first, last; /* the same: the neighbouring values lose more */
} FabTuneFlat;

typedef struct {
  FabTune *tune;
  FabTuneGain gain;
  FabPairedBand gain_band; /* of the best point's step against the written one's; n 0: it is not known */
  GArray *flats;           /* FabTuneFlat of each knob; empty where there is no best point */
} FabTuneAnswer;

/* Values this near to the best, as a share of it, are as good. */
extern const double fab_tune_flat_fraction;

/* Of the knobs (FabKnob). The study and the knobs outlive the answer. NULL and *error: see fab_tune_find ().
 * (transfer full) */
FabTuneAnswer *fab_tune_answer (const FabStudy *study, const GPtrArray *knobs, const FabFigure *by,
                                FabBytes most_bytes, GError **error);
void fab_tune_answer_free (FabTuneAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTuneAnswer, fab_tune_answer_free)

/* How much worse than the best, as a share of it; negative: it is better, and does not fit. */
double fab_tune_loss (const FabTune *tune, const FabTunePoint *point);

/* Returns "bucket 100MiB, micro_batch 4 x 2". (transfer full) */
char *fab_tune_point_name (const FabTune *tune, const FabTunePoint *point);

/* Everything that was played, as rows. (transfer full) */
FabPoints *fab_tune_points (const FabTuneAnswer *self);
