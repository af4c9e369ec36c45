/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - compares several strategies for the same work, each with its best settings.
 *
 * A family is a list of candidates that differ in how much memory they need: batches from the smallest on, and for
 * each batch its memory-saving options, from none on. For each batch the first candidate that fits is simulated and
 * the others are skipped. When none fits, larger batches of the family are not tried. Where the figure depends on the
 * step alone, a candidate is left once its last step must take longer than the best one's of its family. Families are
 * simulated in parallel; the result does not depend on the number of threads.
 */
#pragma once

#include "sim/study/better.h"
#include "sim/study/study.h"

typedef enum {
  FAB_CANDIDATE_PASSED_OVER, /* a smaller batch does not fit, or the batch fits with a cheaper option */
  FAB_CANDIDATE_PLAYED,
  FAB_CANDIDATE_SLOWER, /* its step takes longer than that of another of its family; its trial has its memory */
  FAB_CANDIDATE_TOO_LARGE,  /* its trial has the point, with its memory only */
  FAB_CANDIDATE_IMPOSSIBLE, /* its trial has the reason */
} FabCandidateState;

typedef struct {
  const char *strategy; /* static: "zero3" */
  char *division;       /* "tensor 8, pipeline 4"; "-": none */
  char *batch;          /* "2 x 16": sequences times micro-batches */
  const char *remedy;   /* static: "full" (recomputation) */
  guint family, size;   /* number of the family, and of the batch in it; candidates are in this order */
  FabEdits *edits;
  FabCandidateState state;
  FabTry trial;
} FabCandidate;

FabCandidate *fab_candidate_new (const char *strategy, guint family, guint size);
void fab_candidate_free (FabCandidate *self);

typedef struct {
  GPtrArray *candidates; /* FabCandidate, owned */
  GPtrArray *ranking;    /* FabCandidate: the best of every family that fits, in the order of preference */
  guint n_played, n_slower, n_weighed; /* n_weighed: these, and those that are too large */
} FabPlan;

/* Takes ownership of the candidates, at least one. `most_bytes` is the memory that a rank may use; 0: what its device
 * has. Returns NULL and *error when the scenario itself cannot be read. (transfer full) */
FabPlan *fab_plan_find (const FabStudy *study, GPtrArray *candidates, const FabFigure *by,
                        FabBytes most_bytes, GError **error);
void fab_plan_free (FabPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlan, fab_plan_free)

/* When all candidates of the family are too large, returns the one that needs the least memory. NULL: one fits, or
 * none was examined. */
const FabCandidate *fab_plan_smallest (const FabPlan *self, guint family);
