/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h - the points of a sweep, read back from its file: in which order they are, which are the best, and where the
 * library chooses otherwise. It does not depend on which of them were there already, nor on who played them.
 */
#pragma once

#include "answer/study/points.h"
#include "sim/result/store.h"
#include "sim/study/axis.h"

typedef struct {
  const FabGrid *grid;
  const FabStudy *study;
  GPtrArray *tries;            /* FabTry, by their numbers */
  GArray *numbers;             /* gint64: which point of the grid each is */
  FabBand **bands;             /* [tries] of the step, NULL where there is none; NULL: not asked for */
  gint64 n_played, n_accepted; /* accepted: it may be recommended, as it fits into memory or need not */
  guint *order;  /* [tries] the best first: most tokens, or where there are none the shortest step; then
                                * what does not fit; what cannot be played is last */
  GArray *pairs; /* FabChoicePair: points that differ by one step of one axis */
} FabSweepAnswer;

/* Of the sweep with this id. The grid and the study outlive the answer. NULL and *error: the file cannot be read.
 * (transfer full) */
FabSweepAnswer *fab_sweep_answer (const FabStudy *study, const FabGrid *grid, FabStore *store,
                                  gint64 sweep_id, gboolean has_band, GError **error);
void fab_sweep_answer_free (FabSweepAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabSweepAnswer, fab_sweep_answer_free)

static inline const FabTry *
fab_sweep_try (const FabSweepAnswer *self, guint index)
{
  return g_ptr_array_index (self->tries, index);
}

/* All points as rows, by their numbers. (transfer full) */
FabPoints *fab_sweep_points (const FabSweepAnswer *self);
/* The `n` best ones. (transfer full) */
FabPoints *fab_sweep_best_points (const FabSweepAnswer *self, guint n);

/* Marks rows of all points: "<" the best, "=" those whose steps do not differ from it beyond the spread of their seeds.
 * Returns whether there are any of these. */
gboolean fab_sweep_mark_best (const FabSweepAnswer *self, FabPoints *points);
