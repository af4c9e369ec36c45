/* SPDX-License-Identifier: Apache-2.0 */
/* study.h - simulates one scenario many times with different edits, several at once.
 *
 * The file is read once. Every variant is a copy of what was read, with its edits. It is simulated with as many seeds
 * as the study says, from the scenario's own on; all variants have the same seeds, so that they can be compared seed by
 * seed (spread.h). */
#pragma once

#include "sim/study/axis.h"
#include "sim/study/hold.h"
#include "sim/study/spread.h"

typedef struct {
  char *path;      /* path of the scenario */
  FabEdits *edits; /* its own */
  FabScenario
      *base; /* with the study's own edits; it need not pass its check, as a variant may complete it */
  const FabCatalog *catalog;
  const FabRegistry *registry;
  FabPlantCache *plants; /* of its variants */
  /* Seeds of each variant; FAB_SPREAD_AUTO: FAB_DRAWS where its figures depend on the seed, one where they do not, one
   * where it sets the seed itself or takes more than FAB_DRAW_EVENTS. A new study has FAB_SPREAD_AUTO. */
  guint n_seeds;
  guint n_threads;           /* that simulate at once; 0: one per processor */
  const gint *cancel;        /* plays end soon once it is not 0 (sim/run/run.h); NULL: nobody cancels */
  FabPulse *pulse;           /* counts the plays; NULL: nobody looks */
  gboolean allows_oversized; /* a variant that does not fit into memory may be recommended */
  FabHold hold;              /* of variants with more or fewer ranks */
  const FabFigure *held_for; /* the figure that asked for it; NULL: a person did, or nobody */
  FabBatch batch;            /* of `base`; no GPUs: it does not pass its check */
} FabStudy;

/* Reads the file and applies the assignments "a.b=c" (NULL-ended, or NULL). The catalogue and the registry must
 * outlive the study. Threads, cancelling and
 * what may be recommended are the caller's to set. NULL and *error when the file cannot be read.
 * (transfer full) */
FabStudy *fab_study_new (const char *path, const char *const *sets, const FabCatalog *catalog,
                         const FabRegistry *registry, GError **error);
/* The same of a copy of a scenario, which messages call `name`. (transfer full) */
FabStudy *fab_study_of (const char *name, const FabScenario *scenario, const FabCatalog *catalog,
                        const FabRegistry *registry);
/* Returns a study of the same file with more edits. (transfer full) */
FabStudy *fab_study_edited (const FabStudy *study, const FabEdits *edits);
/* Returns the same study of the file as it is now. NULL and *error when the file cannot be read. (transfer full) */
FabStudy *fab_study_again (const FabStudy *study, GError **error);
void fab_study_free (FabStudy *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabStudy, fab_study_free)

/* One variant of the scenario. */
typedef struct {
  const FabEdits *edits; /* applied after the study's own, or NULL */
  FabPoint *point;       /* NULL: not simulated yet, or impossible */
  char *problem;         /* why it is impossible; otherwise NULL */
  gint problem_code;     /* FabError of the problem */
  /* FAB_ERROR_CANCELLED or FAB_ERROR_BROKEN: nothing can be said about the variant, and none of the study may be
 * shown.
   * Otherwise NULL. */
  GError *trouble;
} FabTry;

/* Returns the scenario of a variant with the batch that the study holds, checked; NULL and *error with all messages.
 * Several threads may ask at once.
 * (transfer full) */
FabScenario *fab_study_scenario (const FabStudy *study, const FabEdits *edits, GError **error);

/* The same with another seed: the variant's own plus `index`. (transfer full) */
FabScenario *fab_study_draw (const FabStudy *study, const FabEdits *edits, guint index, GError **error);
/* What its plays share (sim/decision/draw.h). */
FabDecisionEnv fab_study_env (const FabStudy *study);
/* The number of seeds of a variant, of which `first` is the play with the first. */
guint fab_study_n_draws (const FabStudy *study, const FabEdits *edits, const FabPoint *first);

/* Returns FALSE and *error when the study's own edits set the key of the axis, or something in it: variants of the key
 * would undo that without a word. The same when a value cannot be read, since its unit is missing or another's: it
 * would be one more variant that cannot be simulated, and the answer that of the others. */
gboolean fab_study_check_vary (const FabStudy *study, const FabAxis *axis, GError **error);

/* Simulates the study's own scenario with the seeds of the study. NULL and *error. (transfer full) */
FabPoint *fab_study_point (const FabStudy *study, GError **error);

/* Whether the study may recommend it: it was simulated, and fits into memory or need not. */
gboolean fab_study_accepts (const FabStudy *study, const FabPoint *point);

/* Simulates the variant, unless it already has a point, a problem or trouble. */
void fab_try_play (const FabStudy *study, FabTry *self);
/* The same, but a variant whose step must take longer than `most_step_s` (0: any) is not simulated to its end: its
 * point has no times. */
void fab_try_play_within (const FabStudy *study, FabTry *self, double most_step_s);
/* Gives it a point that has its memory alone, or a problem or trouble. */
void fab_try_weigh (const FabStudy *study, FabTry *self);

/* Simulates the variants that have none of these yet, in parallel; the results do not depend on the number of
 * threads.
 * FALSE and *error: one of them was cancelled, or broke an invariant. */
gboolean fab_study_play (const FabStudy *study, FabTry *const *tries, guint n, GError **error);

void fab_try_clear (FabTry *self); /* frees its point, problem and trouble, but not the edits */
