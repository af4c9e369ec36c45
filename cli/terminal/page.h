/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - a page for a person: paragraphs, and tables whose cells are known.
 *
 * A page is text. A line with vertical tabs ("\v"), which nothing else on a page has, is a row of a table: they begin
 * every cell but the first. A cell has the spaces that align it. Rows that follow one another are one table. The last
 * cell of a row that has fewer cells than others may take the room of those that it lacks.
 */
#pragma once

#include <glib.h>

/* Returns the page without vertical tabs, for so many columns; 0: every line stays whole. A table that is too wide gets
 * less space between its columns. Where that is not enough, labels of several words in the first column are broken into
 * lines; or else it is printed as several below one another, each with the first column, and with the second where the
 * first does not tell rows apart. A last column of words does not count:
 * these are folded line by line (fold.h), as all other lines are, which stay as they are here. (transfer full) */
char *fab_page_fit (const char *page, guint columns);
