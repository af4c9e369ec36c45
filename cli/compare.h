/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - what `fabricast compare` plays and prints. Columns are variants, whatever makes them differ. */
#pragma once

#include "sim/base/json.h"

#include "cli/cli.h"
#include "sim/study/size.h"
#include "validate/fidelity/sides.h"

typedef struct {
  char *format_name, *fidelity, *vary, *against, *equal, *by; /* as given, or NULL */
  char **sets;
  FabFormat format;
} FabCompareOptions;

/* Play, and print the page. */
gboolean fab_compare_at_fidelities (const FabCompareOptions *o, const char *path, GError **error);
gboolean fab_compare_sides (const FabCompareOptions *o, char **paths, guint n_paths, GError **error);

/* --- pages of fidelities --- */

/* `title`: the first line; `left_out`: what could not be played and why, a line each, NULL-ended, or NULL. */
typedef struct {
  const FabContrast *contrast;
  const char *title;
  char **left_out;
} FabCompareView;

/* The fidelities of a list with commas, each once; all that there are for NULL. What is wrong with it is added to
 * `mistakes`, a line each. (transfer full) */
char **fab_compare_fidelities (const char *command, const char *list, GString *mistakes);
void fab_compare_note_unknown (const char *command, const char *option, const char *name, GString *mistakes);

/* (transfer full) */
char *fab_compare_text (const FabCompareView *view);
char *fab_compare_csv (const FabCompareView *view);
char *fab_compare_json (const FabCompareView *view);

/* --- parts of pages --- */

typedef struct {
  GString *out;
  const FabContrast *contrast;
  guint width; /* of a variant's column */
} FabComparePage;

void fab_compare_page_init (FabComparePage *page, const FabContrast *contrast);
/* The names of the variants; what a step is made of; sums of collectives; links that differ. */
void fab_compare_append_head (FabComparePage *page);
void fab_compare_append_step (FabComparePage *page);
void fab_compare_append_sorts (FabComparePage *page);
void fab_compare_append_links (FabComparePage *page);
/* A line: a cell for each variant, NULL-ended; a NULL text is "-". */
void fab_compare_append_cells (FabComparePage *page, guint indent, const char *name, char *const *cells);

/* The variants' times and words, as an array "variants". */
void fab_compare_add_variants (FabJson *json, const FabContrast *contrast);

/* --- pages of scenarios --- */

/* What one of them needs to equal the base. */
typedef struct {
  guint side;
  FabSize *size; /* NULL: none of the values can be played, see `problem` */
  char *problem;
} FabCompareEqual;

typedef struct {
  GPtrArray *sides;            /* FabSide, all of them played */
  const FabContrast *contrast; /* of their variants, in this order */
  char **left_out;             /* what could not be played and why, NULL-ended */
  const FabFigure *figure;     /* of --at-equal; NULL: it is not asked for */
  const FabAxis *axis;         /* likewise */
  GArray *equals;              /* FabCompareEqual, one per other side */
} FabSidesView;

/* (transfer full) */
char *fab_sides_text (const FabSidesView *view);
char *fab_sides_csv (const FabSidesView *view);
char *fab_sides_json (const FabSidesView *view);
