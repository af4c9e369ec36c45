/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - fits text to the columns of a terminal: lines are broken between words. Tables are fitted by page.h.
 *
 * A column is what a character takes on the screen; an East Asian wide character takes two. Nothing here knows where
 * the text goes.
 */
#pragma once

#include <glib.h>

/* Returns the columns that a text without line ends takes. */
guint fab_fold_width (const char *text, gsize length);

/* A cell of a line: what stands between runs of two or more spaces. Offsets are in bytes. */
typedef struct {
  gsize start, end;
  guint column; /* of its first character */
} FabFoldCell;

/* Finds the cells of a line. (transfer full) (element-type FabFoldCell) */
GArray *fab_fold_cells (const char *line);

/* Appends a paragraph: `n` lines without an empty one between them, in lines of at most `columns` each, and their ends.
 * Lines that were one sentence are joined before. What continues stands below the last cell when that is words and has
 * room, else a little to the right of the line's own beginning. A command of fabricast continues after a backslash, so
 * that it can be copied; words in quotation marks stay together. A line with tabs is for other programs, and stays
 * whole. */
void fab_fold_paragraph (GString *out, const char *const *lines, guint n, guint columns);

/* Returns prose, whose line ends mean nothing, anew in lines of at most `columns`; an empty line and an indented line
 * stay as they are. (transfer full) */
char *fab_fold_prose (const char *text, guint columns);
