/* SPDX-License-Identifier: Apache-2.0 */
/* spread_text.h - several seeds on the pages of studies: the option --seeds, ranges, whether a difference counts. */
#pragma once

#include "sim/base/json.h"
#include "sim/study/spread.h"

#define FAB_SEEDS_AUTO_HELP \
  "Number of seeds, from the scenario's on (default: 8 where figures depend on the seed, else 1)"

/* Parses the value of --seeds; NULL gives `usual`. FALSE and *error when it is no number of seeds. */
gboolean fab_spread_parse (const char *text, guint usual, guint *n_seeds, GError **error);

/* "482.1 ms to 662.8 ms" over the seeds of the point; "the same"; "-" of one play. (transfer full) */
char *fab_spread_show (const FabFigure *figure, const FabPoint *point);
/* "-35.6 to +0.3 %": by how much the step differs from the base's, seed by seed. (transfer full) */
char *fab_spread_show_change (const FabPoint *base, const FabPoint *point);

/* By how much the step differs from the base's, as a fraction of it: the median over the seeds. */
double fab_spread_step_change (const FabPoint *base, const FabPoint *point);

/* The most seeds that one of the points has; points may be NULL. */
guint fab_spread_most (const FabPoint *const *points, guint n);
/* Whether the figures differ by no more than the spread of their seeds. FALSE: they differ, or there is one seed. */
gboolean fab_spread_is_within (const FabFigure *figure, const FabPoint *base, const FabPoint *point);

/* The words for a difference of two points. `why` is the sentence for single plays: it is replaced where the difference
 * lies within the spread, and followed by the range where it does not. (transfer full) */
char *fab_spread_words (const char *why, const char *base_name, const FabPoint *base, const char *name,
                        const FabPoint *point);

/* Appends a line that says what the table shows; nothing of one seed. */
void fab_spread_append_note (GString *text, guint n_seeds);

/* Adds the object "spread": the number of seeds, and low, median and high of every figure. Nothing of one play. */
void fab_spread_add (FabJson *json, const FabPoint *point);
/* Adds the object "difference": of the step, as a fraction of the base's. Nothing of one play. */
void fab_spread_add_change (FabJson *json, const FabPoint *base, const FabPoint *point);
