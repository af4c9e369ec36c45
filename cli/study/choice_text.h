/* SPDX-License-Identifier: Apache-2.0 */
/* choice_text.h - says where neighbouring points of a study differ in what the library chose. */
#pragma once

#include "sim/base/json.h"
#include "sim/study/axis.h"
#include "sim/study/choices.h"

/* Two neighbours: only the value of `key` differs. */
typedef struct {
  const char *key, *before_value, *after_value;
  gboolean is_apart; /* values between the two were not tried */
  char *beside;      /* the other assignments, "job.bucket=50MiB"; NULL: none. Owned by the list */
  const FabPoint *before, *after;
} FabChoicePair;

/* Returns a list of FabChoicePair. (transfer full) */
GArray *fab_choice_pairs_new (void);

/* All neighbours of a grid between which a choice changes; `points` has its points by number, NULL: there is none. */
void fab_choice_pairs_of_grid (GArray *self, const FabGrid *grid, const FabPoint *const *points);

/* Appends a line for each of the most important changes: "from 80Gb/s on: all_reduce of 41 MB by ring with 64
 * channels in place of nvls_tree with 16". Where a faster or larger machine takes longer, it says by how much, and why.
 * Nothing is said where the key itself is a choice of the library (collectives). */
void fab_choice_append_text (GString *text, const GArray *neighbours);

/* Adds all of them as an array `choices`. */
void fab_choice_add_json (FabJson *json, const GArray *neighbours);
