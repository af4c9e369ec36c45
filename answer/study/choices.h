/* SPDX-License-Identifier: Apache-2.0 */
/* choices.h - where neighbouring points of a study differ in what the library chose, and what that costs.
 *
 * Nothing is said where the key between two points is a choice of the library itself (`collectives`).
 */
#pragma once

#include "sim/study/axis.h"
#include "sim/study/choice_changes.h"

/* Two neighbours: only the value of `key` differs. */
typedef struct {
  const char *key;
  char *before_value, *after_value; /* owned by the list */
  gboolean is_apart;                /* values between the two were not tried */
  char *beside; /* the other assignments, "job.bucket=50MiB"; NULL: none. Owned by the list */
  const FabPoint *before, *after;
} FabChoicePair;

/* Returns a list of FabChoicePair. (transfer full) */
GArray *fab_choice_pairs_new (void);
/* Appends a pair; copies the values. Nothing where one of the points is NULL. */
void fab_choice_pairs_add (GArray *self, const char *key, const char *before_value, const FabPoint *before,
                           const char *after_value, const FabPoint *after);
/* Appends all neighbours of a grid between which a choice changes; `points` has its points by number, NULL: there is
 * none. */
void fab_choice_pairs_add_grid (GArray *self, const FabGrid *grid, const FabPoint *const *points);

/* What a change of the key makes of one kind of collectives. */
typedef struct {
  const FabChoicePair *pair;
  FabChoiceChange change;
  double slowdown; /* by what fraction the step is longer though the machine is better; 0: it is not */
  char *reason;    /* why; NULL: slowdown is 0 */
} FabChoiceEffect;

/* FabChoiceEffect of all pairs, in their order; it points into them. (transfer full) */
GArray *fab_choice_effects (const GArray *pairs);

/* A sentence for the largest change of a pair. */
typedef struct {
  char *
      words; /* "from 80Gb/s on: all_reduce of 41 MB by ring with 64 channels in place of nvls_tree with 16" */
  const char *beside; /* the other assignments, where one pair alone is like that; NULL: none */
  guint n;            /* pairs of which it is true */
} FabChoiceLine;

/* FabChoiceLine, each once, those where a faster or larger machine takes longest first. (transfer full) */
GArray *fab_choice_lines (const GArray *pairs);
