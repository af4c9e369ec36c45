/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - the same training by every strategy that fits into memory: the ranking, how sure its top is, and what drops
 * out and why (sim/study/plan.h plays the candidates).
 */
#pragma once

#include "answer/study/points.h"
#include "sim/study/plan.h"

typedef struct {
  const char *strategies; /* names, separated by commas; NULL: all */
  const FabFigure *by;    /* what is ranked by */
  FabBytes most_bytes;    /* the most memory that a rank may use; 0: what its device has */
  guint n_limits;         /* candidates from the first on of which is asked what limits their step */
} FabPlanRequest;

/* A candidate of the ranking. */
typedef struct {
  const FabCandidate *candidate;
  double of_best_fraction; /* its tokens per second, of those of the first; 0: the job has no tokens */
  gboolean is_first_of_strategy;
  gboolean is_even; /* it does not differ from the first beyond the spread of the seeds */
} FabPlanRank;

/* A strategy of which ways to divide the model do not fit. */
typedef struct {
  const FabCandidate *nearest; /* of these the one that needs the least memory */
  guint n_divisions;           /* so many do not fit */
  guint n_weighed;             /* of so many */
} FabPlanMisfit;

/* Candidates that cannot be done for one reason. */
typedef struct {
  char *strategies;     /* "ddp, zero1", each once */
  const char *division; /* of the first; "-": none */
  const char *problem;
} FabPlanRefusal;

typedef struct {
  char *machine;       /* "128 x a100-sxm4-80gb on 16 x dgx-a100" */
  FabBytes most_bytes; /* the most memory that a rank may use */
  double sequences;    /* of a step */
  const FabFigure *by;
  FabPlan *plan;
  GArray *ranks;        /* FabPlanRank, the first of plan->ranking first */
  GArray *misfits;      /* FabPlanMisfit, in the order of the strategies */
  GArray *refusals;     /* FabPlanRefusal */
  guint n_large;        /* candidates that were weighed and do not fit */
  guint n_seeds;        /* the most that one of the ranking was simulated with */
  gboolean has_limits;  /* it is known what limits the step of the first; large jobs take too long for that */
  FabBand *first;       /* of its step; NULL: there is none, or it cannot be had */
  FabPairedBand second; /* of the second's step against it; n 0: as above */
} FabPlanAnswer;

/* The study outlives the answer. NULL and *error when the scenario cannot be simulated or is no training. (transfer
 * full) */
FabPlanAnswer *fab_plan_answer (const FabStudy *study, const FabPlanRequest *request, GError **error);
void fab_plan_answer_free (FabPlanAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabPlanAnswer, fab_plan_answer_free)

static inline const FabPlanRank *
fab_plan_rank (const FabPlanAnswer *self, guint place)
{
  return &g_array_index (self->ranks, FabPlanRank, place);
}

/* Every candidate that was looked at, as a row. (transfer full) */
FabPoints *fab_plan_points (const FabPlanAnswer *self);

/* Returns "zero3, micro-batch 2 x 4, recompute full". (transfer full) */
char *fab_plan_name (const FabCandidate *candidate);
