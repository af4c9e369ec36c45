/* SPDX-License-Identifier: Apache-2.0 */
#include "answer/compare/offers.h"

/* Time for the same work: per token where there are tokens, else of a step. */
static double
pace_of (const FabSide *side)
{
  return side->point->tokens_per_s > 0 ? 1 / side->point->tokens_per_s : side->point->step_s;
}

static FabOfferSaving
saving_of (const FabSide *base, const FabSide *side)
{
  double ratio = pace_of (side) / pace_of (base) * base->point->step_s / side->point->step_s,
         saved = 1 - pace_of (side) / pace_of (base);
  const FabVariantOf before = { base->study, base->edits, base->point },
                     after = { side->study, side->edits, side->point };
  FabPairedBand band;

  if (side == base || !fab_study_compare (&before, &after, &band, NULL))
    return (FabOfferSaving){ saved, saved, saved };
  return (FabOfferSaving){ 1 - (1 + band.change.median) * ratio, 1 - (1 + band.high_fraction) * ratio,
                           1 - (1 + band.low_fraction) * ratio };
}

static guint
fastest_of (const GPtrArray *sides)
{
  guint best = 0;

  for (guint i = 1; i < sides->len; i++)
    if (pace_of (fab_sides_at (sides, i)) < pace_of (fab_sides_at (sides, best)))
      best = i;
  return best;
}

/* Of which a million tokens, or an hour, cost least; G_MAXUINT: a price is not known. */
static guint
cheapest_of (const GPtrArray *sides)
{
  guint best = 0;

  for (guint i = 0; i < sides->len; i++) {
    const FabSpending *spending = &fab_sides_at (sides, i)->point->spending,
                      *least = &fab_sides_at (sides, best)->point->spending;

    if (spending->usd_per_million_tokens <= 0)
      return G_MAXUINT;
    if (spending->usd_per_million_tokens < least->usd_per_million_tokens)
      best = i;
  }
  return best;
}

/* The side that comes second. */
static guint
second_of (const GPtrArray *sides, guint first)
{
  guint best = first == 0 ? 1 : 0;

  for (guint i = best + 1; i < sides->len; i++)
    if (i != first && pace_of (fab_sides_at (sides, i)) < pace_of (fab_sides_at (sides, best)))
      best = i;
  return best;
}

FabOffersAnswer *
fab_offers_answer (GPtrArray *sides, GError **error)
{
  fab_sides_play (sides);
  if (!fab_sides_check (sides, error))
    return NULL;
  fab_sides_find_bands (sides);
  fab_sides_find_bottlenecks (sides);
  FabOffersAnswer *self = g_new0 (FabOffersAnswer, 1);
  self->sides = sides;
  self->fastest = fastest_of (sides);
  self->second = second_of (sides, self->fastest);
  self->cheapest = cheapest_of (sides);
  self->lead = saving_of (fab_sides_at (sides, self->second), fab_sides_at (sides, self->fastest));
  self->is_decided = self->lead.low > 0;
  self->savings = g_array_new (FALSE, FALSE, sizeof (FabOfferSaving));
  for (guint i = 0; i < sides->len; i++) {
    FabOfferSaving saving = saving_of (fab_sides_at (sides, 0), fab_sides_at (sides, i));

    g_array_append_val (self->savings, saving);
  }
  return self;
}

void
fab_offers_answer_free (FabOffersAnswer *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->savings);
  g_free (self);
}
