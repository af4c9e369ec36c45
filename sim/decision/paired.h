/* SPDX-License-Identifier: Apache-2.0 */
/* paired.h - how far the difference of two sides of a decision may be off.
 *
 * What both sides share errs on both in the same way, so both are played with the same errors, and the change of the
 * step is taken of the pair:
 *
 *   shared    collectives of both at the low and at the high end of the base's band (sim/run/band.h), kernels
 *             likewise, and every number of a measured link
 *   apart     the other side alone at the ends of what measured pairs differ by (sim/run/pair.h): nothing for a
 *             collective that the base has too, little for one over links of the same family, more for one over other
 *             links; likewise for kernels. Ports of the base's technology that are as fast or faster make no
 *             collective longer than the base's
 *   draws     the changes of all draws (difference.h)
 *
 *   high = change + sqrt (sum over these of (largest rise)^2), in logarithms of the ratio of both steps; low likewise
 *
 * A change that makes the step longer in none of these plays is not said to do so together: its band ends at no change.
 *
 * All but the draws are played on one draw, the one with the base's median step. A scenario whose network sends
 * messages is played on a network of flows for this.
 */
#pragma once

#include "sim/decision/difference.h"
#include "sim/decision/draw.h"
#include "sim/run/band.h"

/* A side whose draws were played. */
typedef struct {
  const FabScenario *scenario; /* checked; of draw 0 */
  const double *steps_s;       /* [n_draws] */
  guint n_draws;
} FabPairedSide;

typedef enum {
  FAB_PAIRED_COLLECTIVES,
  FAB_PAIRED_OTHER_COLLECTIVES, /* apart */
  FAB_PAIRED_COMPUTE,
  FAB_PAIRED_OTHER_COMPUTE, /* apart */
  FAB_PAIRED_LINKS,
  FAB_PAIRED_DRAWS,
  FAB_N_PAIRED,
} FabPairedCause;

typedef struct {
  FabDifference change;               /* of the step, draw by draw */
  double low_fraction, high_fraction; /* of the base's step; both change.median: nothing is uncertain */
  double worst_fraction;              /* the largest change of all plays: of the draws, and at the ends */
  double coverage_fraction;           /* of all cases lie between; 0: nothing is uncertain but the draws */
  FabPairedCause most;                /* what makes most of the width */
} FabPairedBand;

typedef struct _FabPaired FabPaired;

/* Plays the ends of the base, against which others are held. NULL and *error: one of them could not be played. The side
 * and the environment must outlive it. (transfer full) */
FabPaired *fab_paired_new (const FabDecisionEnv *env, const FabPairedSide *base, GError **error);
void fab_paired_free (FabPaired *self); /* accepts NULL */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPaired, fab_paired_free)

/* Any number of threads may compare with one base. FALSE and *error: an end could not be played. */
gboolean fab_paired_compare (const FabPaired *self, const FabPairedSide *other, FabPairedBand *band,
                             GError **error);

/* Whether no play, of the draws and at the ends, has a longer step than the base. */
static inline gboolean
fab_paired_is_never_slower (const FabPairedBand *self)
{
  return self->worst_fraction <= FAB_DIFFERENCE_LEAST;
}

/* Whether the band holds no change. */
gboolean fab_paired_may_be_none (const FabPairedBand *self);

/* Returns what makes most of the band's width: "what links of another kind take", "the seeds". (static) */
const char *fab_paired_most (const FabPairedBand *self);
