/* SPDX-License-Identifier: Apache-2.0 */
/* memory_advice.h - changes with which a job fits into memory that does not. Each was built, and its memory computed.
 *
 * A model says which changes of a job may save memory (FabRemedy). What each saves is found by building the scenario
 * with it alone. From that follows a guess for combinations, which says only in which order they are built. What is
 * told is what was built: nearest first, which is fewest changes and then the lowest cost. The number of builds is
 * bounded, and the result does not depend on the number of threads.
 */
#pragma once

#include "sim/run/simulation.h"
#include "sim/verdict/verdict.h"

/* A change of the job that may save memory. */
typedef struct {
  const char *group;  /* static: "recompute"; of the remedies of a group, one can be taken at a time */
  const char *family; /* static: of fits with the same families, the nearest is told and no other */
  const char *more;   /* static: another family, of which it is more: "zero" of its offloading; NULL: none */
  guint n_changes;    /* for how many changes it counts */
  guint cost;         /* what it is likely to cost the step; of as many changes, the least is nearest */
  gboolean is_larger; /* it takes more GPUs: tried only where other remedies give too few fits */
  gboolean is_slow;   /* building it takes long: tried only where nothing fits without it */
  const char *note;   /* static: a sentence, what was not looked at; NULL: nothing to say */
  FabEdits *edits;    /* typed values */
} FabRemedy;

/* Takes the edits. (transfer full) */
FabRemedy *fab_remedy_new (const char *group, const char *family, guint cost, FabEdits *edits);
void fab_remedy_free (FabRemedy *self);

/* A change, or several, with which the scenario was built. */
typedef struct {
  FabEdits *edits;  /* over the scenario, with those that keep the sequences of a step */
  FabBytes bytes;   /* of the rank that needs most */
  GArray *parts;    /* FabMemoryPart of that rank */
  const char *note; /* of one of the remedies; NULL: none */
} FabMemoryFit;

enum { FAB_MOST_MEMORY_FITS = 3 };

typedef struct {
  GPtrArray *fits; /* FabMemoryFit, the nearest first; at most FAB_MOST_MEMORY_FITS */
  FabMemoryFit
      *closest; /* needs the least of all that was built; NULL: something fits, or nothing was built */
  FabBytes device_bytes;
  guint n_built; /* scenarios, the changed ones alone */
} FabMemoryAdvice;

typedef struct {
  const FabRegistry *registry;
  guint n_threads;    /* 0: one per processor */
  const gint *cancel; /* it ends soon once it is not 0; NULL: nobody cancels */
} FabMemoryTrying;

/* `remedies` (FabRemedy) of a scenario that was built as `simulation` and does not fit. (transfer full) */
FabMemoryAdvice *fab_memory_advice_find (const FabScenario *scenario, const FabSimulation *simulation,
                                         const GPtrArray *remedies, const FabMemoryTrying *trying);
void fab_memory_advice_free (FabMemoryAdvice *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabMemoryAdvice, fab_memory_advice_free)

/* "job.micro_batch=1 job.recompute=full", each quoted as a shell needs it. (transfer full) */
char *fab_memory_fit_words (const FabMemoryFit *self);

/* "It fits with job.kind=fsdp (23.7 GB), or with ... (61.2 GB).", or what comes closest; NULL: nothing was built.
 * (transfer full) */
char *fab_memory_advice_text (const FabMemoryAdvice *self);
