/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h - what one change of a scenario, or all of them together, make of a step. */
#pragma once

#include "answer/study/points.h"
#include "answer/variants/blast.h"
#include "answer/variants/side.h"
#include "sim/study/change.h"

typedef struct {
  const GPtrArray *changes;      /* FabChange, at least one */
  gboolean is_oversized_allowed; /* a job that does not fit into memory counts too */
  gboolean has_band;             /* steps and changes get their bands */
} FabWhatIfRequest;

/* What a side makes of the step. */
typedef struct {
  char *words; /* why the step differs, what limits it then, and how far a fault reaches; NULL: of the base */
  gboolean is_played;
  FabBlast blast;   /* all 0: the side was not played */
  GArray *switches; /* FabSwitch: collectives that go by another algorithm; NULL: the side was not played */
} FabWhatIfEffect;

typedef struct {
  /* FabSide: the scenario, each change, and all changes together where that is possible. A side without a point
   * hangs, or, of all together, cannot be played. */
  GPtrArray *sides;
  FabContrast *contrast; /* of the sides with points, the scenario first */
  GArray *effects;       /* FabWhatIfEffect, one for each side */
  char *apart;   /* a sentence why there is no "all together"; NULL: there is, or there is one change only */
  guint n_seeds; /* the most that a side was simulated with */
} FabWhatIfAnswer;

/* The verdict on the scenario says what would make its job fit. The study and the changes outlive the answer. NULL and
 * *error when the scenario (*mistaken 0) or a change (*mistaken its number, from 1) cannot be played; a job that hangs
 * is an answer. (transfer full) */
FabWhatIfAnswer *fab_whatif_answer (const FabStudy *study, const FabWhatIfRequest *request, guint *mistaken,
                                    GError **error);
void fab_whatif_answer_free (FabWhatIfAnswer *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabWhatIfAnswer, fab_whatif_answer_free)

/* The sides as rows. (transfer full) */
FabPoints *fab_whatif_points (const FabWhatIfAnswer *self);
