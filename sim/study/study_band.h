/* SPDX-License-Identifier: Apache-2.0 */
/* study_band.h - how far the figures of one variant of a study may be off (sim/run/band.h). */
#pragma once

#include "sim/run/band.h"
#include "sim/study/study.h"

/* The figures of a band: one of several seeds has none. */
typedef struct {
  const FabFigure *const *figures;
  guint n;
} FabBandFigures;

/* Plays a variant of which `point` is the result again, with what is uncertain at either end. *band is that of the
 * figures, in their order; NULL: nothing is uncertain, or the point has several seeds. FALSE and *error: a play could
 * not be. (transfer full) */
gboolean fab_study_band (const FabStudy *study, const FabEdits *edits, const FabPoint *point,
                         const FabBandFigures *figures, FabBand **band, GError **error);

/* How far a value may differ from that of a base, when both are uncertain. */
typedef struct {
  double low_fraction, high_fraction; /* of the base's value; positive: more */
  double coverage_fraction;           /* of the bands */
  /* Both are uncertain for the same reason and so equally far off: what both have in common cancels out. Otherwise
   * one may be at its low end while the other is at its high end. */
  gboolean is_together;
} FabBandChange;

/* Of value `i` of their bands, which may be NULL: `was` and `now`, the values themselves, are then certain. FALSE:
 * both are. */
gboolean fab_band_change (const FabBand *base, double was, const FabBand *band, double now, guint i,
                          FabBandChange *change);

/* Whether there may be no difference that counts, which is half a thousandth. */
gboolean fab_band_change_may_be_none (const FabBandChange *change);
