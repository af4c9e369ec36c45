/* SPDX-License-Identifier: Apache-2.0 */
/* spread_text.h - several seeds on the pages of studies: the option --seeds, ranges and differences. */
#pragma once

#include "answer/study/spread.h"
#include "sim/base/json.h"

#define FAB_SEEDS_ENTRY(text_)                                                                               \
  {                                                                                                          \
    "seeds", 0, 0, G_OPTION_ARG_STRING, text_,                                                               \
        "Number of seeds, from the scenario's on (default: 8 where figures depend on the seed, else 1)", "N" \
  }

/* Parses the value of --seeds; NULL gives `usual`. FALSE and *error when it is no number of seeds. */
gboolean fab_spread_parse (const char *text, guint usual, guint *n_seeds, GError **error);

/* "482.1 ms to 662.8 ms" over the seeds of the point; "the same"; "-" of one play. (transfer full) */
char *fab_spread_show (const FabFigure *figure, const FabPoint *point);

/* Appends a line that says what the table shows; nothing of one seed. */
void fab_spread_append_note (GString *text, guint n_seeds);

/* Adds the object "spread": the number of seeds, and low, median and high of every figure. Nothing of one play. */
void fab_spread_add (FabJson *json, const FabPoint *point);
/* Adds the object "difference": of the step, as a fraction of the base's. Nothing of one play. */
void fab_spread_add_change (FabJson *json, const FabPoint *base, const FabPoint *point);
