/* SPDX-License-Identifier: Apache-2.0 */
/* study_band.h - how far the figures of one variant of a study may be off (sim/run/band.h), and the difference of two
 * variants (sim/decision/paired.h). */
#pragma once

#include "sim/decision/paired.h"
#include "sim/run/band.h"
#include "sim/study/study.h"

/* The figures of a band. */
typedef struct {
  const FabFigure *const *figures;
  guint n;
} FabBandFigures;

/* Plays a variant of which `point` is the result again, with what is uncertain at either end; of several seeds the
 * one with the median step, and the range of the seeds is added in quadrature. *band is that of the figures, in
 * their order; NULL: nothing is uncertain. FALSE and *error: a play could not be. (transfer full) */
gboolean fab_study_band (const FabStudy *study, const FabEdits *edits, const FabPoint *point,
                         const FabBandFigures *figures, FabBand **band, GError **error);

/* A variant that was played, as a side of a comparison. */
typedef struct {
  FabScenario *scenario;
  double *steps_s;
  FabPairedSide side; /* points to both */
} FabStudySide;

/* FALSE and *error: the variant cannot be made. The point was played. */
gboolean fab_study_side_init (FabStudySide *self, const FabStudy *study, const FabEdits *edits,
                              const FabPoint *point, GError **error);
void fab_study_side_clear (FabStudySide *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FabStudySide, fab_study_side_clear)

/* One variant and its study. */
typedef struct {
  const FabStudy *study;
  const FabEdits *edits; /* or NULL */
  const FabPoint *point; /* that was played */
} FabVariantOf;

/* By how much the step of `other` differs from that of `base`, with its band. FALSE and *error: an end could not be
 * played. */
gboolean fab_study_compare (const FabVariantOf *base, const FabVariantOf *other, FabPairedBand *band,
                            GError **error);
