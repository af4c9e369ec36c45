/* SPDX-License-Identifier: Apache-2.0 */
/* offers.h - which of several machines or jobs to take: the fastest for the same work, the cheapest, and whether the
 * forecast decides at all.
 *
 *   saved   1 - (time for the same work) / (that of the other side); time per token, or of a step where there are none
 */
#pragma once

#include "answer/variants/side.h"

/* How much less time one side takes than another, as a fraction, with its band. Without a band all three are equal. */
typedef struct {
  double saved, low, high;
} FabOfferSaving;

typedef struct {
  GPtrArray *sides;      /* FabSide, at least two, all of which ran; the caller's */
  GArray *savings;       /* FabOfferSaving of each side against the first */
  guint fastest, second; /* sides */
  guint cheapest;        /* of which a million tokens cost least; G_MAXUINT: a price is not known */
  FabOfferSaving lead;   /* of the fastest against the second */
  gboolean is_decided;   /* the whole band of the lead is a gain */
} FabOffersAnswer;

/* Plays the sides, with bands and what limits each. NULL and *error when one cannot be played. The sides and their
 * studies outlive the answer. (transfer full) */
FabOffersAnswer *fab_offers_answer (GPtrArray *sides, GError **error);
void fab_offers_answer_free (FabOffersAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabOffersAnswer, fab_offers_answer_free)
