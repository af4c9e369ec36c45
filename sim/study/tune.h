/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - searches the settings of several knobs of a job that make a figure best and fit into memory.
 *
 * A small grid is simulated completely. A large one is searched by coordinates: all values of one knob are simulated
 * with the others fixed, the best is kept, and the next knob follows, until a whole round changes nothing. The search
 * starts from the scenario as written and from other corners of the grid. In both cases every value of every knob
 * around the best point is simulated; these are its curves.
 */
#pragma once

#include "sim/study/better.h"
#include "sim/study/study.h"

typedef struct {
  char *label; /* "25MiB" */
  FabEdits *edits;
} FabKnobValue;

typedef struct {
  const char *name;   /* static: "bucket" */
  const char *key;    /* static: the key that it sets, "job.bucket" */
  const char *source; /* static: its name in other software, and its default there */
  GArray *values;     /* FabKnobValue in ascending order, at least one */
  guint written;      /* index of the value that the scenario has */
} FabKnob;

FabKnob *fab_knob_new (const char *name, const char *key, const char *source);
void fab_knob_add (FabKnob *self, char *label, FabEdits *edits); /* takes ownership of `label` and `edits` */
void fab_knob_free (FabKnob *self);

static inline const FabKnobValue *
fab_knob_value (const FabKnob *self, guint value)
{
  return &g_array_index (self->values, FabKnobValue, value);
}

enum { FAB_TUNE_GRID = 120 }; /* a grid up to this size is simulated completely */

/* One point of the grid. */
typedef struct {
  guint *values;   /* [n knobs] index of each knob's value */
  FabEdits *edits; /* of all knobs */
  FabTry trial;
} FabTunePoint;

typedef struct {
  const GPtrArray *knobs; /* FabKnob; owned by the caller */
  const FabFigure *by;
  GPtrArray *points;                  /* FabTunePoint in the order of simulation */
  const FabTunePoint *best, *written; /* best: NULL when no point fits and can be simulated */
  double n_all;                       /* number of points of the grid */
  gboolean is_whole;                  /* all of them were simulated */
  FabBytes most_bytes;                /* memory that a rank may use; 0: any */
} FabTune;

/* `most_bytes` 0: the memory of the device, or any where the study allows oversized jobs. NULL and *error when the
 * scenario as written cannot be simulated. (transfer full) */
FabTune *fab_tune_find (const FabStudy *study, const GPtrArray *knobs, const FabFigure *by,
                        FabBytes most_bytes, GError **error);
void fab_tune_free (FabTune *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTune, fab_tune_free)

/* Returns the best point with another value of one knob; NULL: it was not simulated, because there is no best
 * point. */
const FabTunePoint *fab_tune_curve (const FabTune *self, guint knob, guint value);

/* Whether the point was simulated, fits, and has the figure. */
gboolean fab_tune_is_good (const FabTune *self, const FabTunePoint *point);
