/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - several ways to do the same work, each at its best, ranked.
 *
 * A way is a family of candidates that differ in how much memory they need: batches from the smallest on, each with its
 * remedies, from none on. Of a batch the first candidate that fits is played and the others are passed over; where none
 * fits, no larger batch of the family is tried. Families are played at once on all processors; what comes out does not
 * depend on how many there are.
 */
#pragma once

#include "sim/study/better.h"
#include "sim/study/study.h"

typedef enum {
  FAB_CANDIDATE_PASSED_OVER, /* a smaller batch does not fit, or the same fits with less of a remedy */
  FAB_CANDIDATE_PLAYED,
  FAB_CANDIDATE_TOO_LARGE,  /* its trial has the point with its memory only */
  FAB_CANDIDATE_IMPOSSIBLE, /* its trial has the problem */
} FabCandidateState;

typedef struct {
  const char *strategy; /* static: "zero3" */
  char *division;       /* "tensor 8, pipeline 4"; "-": none */
  char *batch;          /* "2 x 16": sequences, micro-batches */
  const char *remedy;   /* static: "full" */
  guint family, size;   /* numbers of the family and of the batch in it; candidates stand in that order */
  char **sets;          /* assignments, NULL-ended */
  FabCandidateState state;
  FabTry trial;
} FabCandidate;

FabCandidate *fab_candidate_new (const char *strategy, guint family, guint size);
void fab_candidate_free (FabCandidate *self);

typedef struct {
  GPtrArray *candidates; /* FabCandidate, owned */
  GPtrArray *ranking;    /* FabCandidate: the best of every family that fits, the best first */
  guint n_played, n_weighed;
} FabPlan;

/* Takes the candidates, of which there is one at least. `most_bytes`: what a rank may need; 0: what its device has.
 * NULL and *error where the scenario itself cannot be read. */
FabPlan *fab_plan_find (const FabStudy *study, GPtrArray *candidates, const FabFigure *by,
                        FabBytes most_bytes, GError **error);
void fab_plan_free (FabPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlan, fab_plan_free)

/* Of the family's candidates that are too large the one that needs least; NULL: one fits, or none was weighed. */
const FabCandidate *fab_plan_smallest (const FabPlan *self, guint family);
