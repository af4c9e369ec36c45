/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "answer/variants/side.h"
#include "cli/cli.h"
#include "cli/study/hold_text.h"
#include "cli/study/spread_text.h"
#include "sim/base/json.h"

typedef struct {
  char *format_name, *rows, *fidelity, *seeds, *vary, *against, *equal, *by,
      *hold; /* as given; NULL: not given */
  char **sets;
  gboolean is_oversized_allowed, has_no_band;
  FabFormat format;
} FabCompareOptions;

/* Each prints its page. FALSE and *error when it cannot; *code is FAB_EXIT_UNMET when what the others are held against
 * does not fit into memory. */
gboolean fab_compare_sides (const FabCompareOptions *o, char **paths, guint n_paths, FabExit *code,
                            GError **error);

/* Parses a list of fidelities with commas, and removes repeated ones; NULL means all. Adds a line to `mistakes` for
 * each mistake. (transfer full) */
char **fab_compare_fidelities (const char *command, const char *list, GString *mistakes);

/* --- parts of pages --- */

typedef struct {
  GString *out;
  const FabContrast *contrast;
  guint width;       /* width of a variant's column */
  guint first, last; /* the variants that have columns now: first to last - 1 */
} FabComparePage;

void fab_compare_page_init (FabComparePage *page, const FabContrast *contrast);

/* Goes on to the variants whose columns fit side by side on the terminal: all of them elsewhere. Returns FALSE when all
 * had their turn. */
gboolean fab_compare_page_next (FabComparePage *page);

/* Append the names of the variants; the parts of a step; sums of collectives; links that differ. */
void fab_compare_append_head (FabComparePage *page);
void fab_compare_append_step (FabComparePage *page);
void fab_compare_append_sorts (FabComparePage *page);
void fab_compare_append_links (FabComparePage *page);
/* Append the codes of each variant's verdict. */
void fab_compare_append_verdicts (FabComparePage *page);

/* Append how far the steps of sides may be off, and how far what they differ by from side `base`; the same as an array
 * "bands". Nothing where no side has a band. */
void fab_compare_append_bands (GString *out, const GPtrArray *sides, guint base);
void fab_compare_add_bands (FabJson *json, const GPtrArray *sides, guint base);

/* Takes --hold into the study of variants; the figure of --at-equal may ask for the global batch. */
gboolean fab_compare_take_hold (const FabCompareOptions *o, FabStudy *study, GError **error);

/* Appends which batch the sides hold, where they have more or fewer ranks. They are variants of `study`; NULL: each is
 * a scenario of its own. */
void fab_compare_append_hold (GString *out, const FabStudy *study, const GPtrArray *sides);

/* Appends a line with a cell for each variant, NULL-ended; a NULL cell prints "-". */
void fab_compare_append_cells (FabComparePage *page, guint indent, const char *name, char *const *cells);

/* Adds the variants' times and words as an array "variants". */
void fab_compare_add_variants (FabJson *json, const FabContrast *contrast);
