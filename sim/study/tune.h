/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h - several knobs of a job turned until a figure is best, as far as memory allows.
 *
 * A small grid is played whole. Of a large one coordinate search: all values of one knob with the others fixed, the
 * best is kept, then the next knob, until a whole round changes nothing; from the scenario as written and from other
 * corners of the grid. Either way every value of every knob around the best point is played: those are its curves.
 */
#pragma once

#include "sim/study/better.h"
#include "sim/study/study.h"

typedef struct {
  char *label; /* "25MiB" */
  char **sets; /* assignments, NULL-ended */
} FabKnobValue;

typedef struct {
  const char *name;   /* static: "bucket" */
  const char *key;    /* static, of what it sets: "job.bucket" */
  const char *source; /* static: who calls it how, and its default */
  GArray *values;     /* FabKnobValue, ascending; one at least */
  guint written;      /* which of them the scenario has */
} FabKnob;

FabKnob *fab_knob_new (const char *name, const char *key, const char *source);
void fab_knob_add (FabKnob *self, char *label, char **sets); /* takes them */
void fab_knob_free (FabKnob *self);

static inline const FabKnobValue *
fab_knob_value (const FabKnob *self, guint value)
{
  return &g_array_index (self->values, FabKnobValue, value);
}

enum { FAB_TUNE_GRID = 120 }; /* points that are played whole */

/* One point of the grid. */
typedef struct {
  guint *values;     /* [n knobs] */
  const char **sets; /* of all of them, NULL-ended; points into the knobs */
  FabTry trial;
} FabTunePoint;

typedef struct {
  const GPtrArray *knobs; /* FabKnob, the caller's */
  const FabFigure *by;
  GPtrArray *points;                  /* FabTunePoint, as they were played */
  const FabTunePoint *best, *written; /* best: NULL when nothing fits and can be played */
  double n_all;                       /* points of the grid */
  gboolean is_whole;                  /* all were played */
  FabBytes most_bytes;                /* what a rank may need; 0: any */
} FabTune;

/* `most_bytes` 0: what the device has. NULL and *error where the scenario as written cannot be played. */
FabTune *fab_tune_find (const FabStudy *study, const GPtrArray *knobs, const FabFigure *by,
                        FabBytes most_bytes, GError **error);
void fab_tune_free (FabTune *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FabTune, fab_tune_free)

/* The best point with another value of one knob; NULL: it was not played, as there is no best. */
const FabTunePoint *fab_tune_curve (const FabTune *self, guint knob, guint value);

/* It was played, fits, and has the figure. */
gboolean fab_tune_is_good (const FabTune *self, const FabTunePoint *point);
