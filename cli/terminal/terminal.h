/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - the screen of a person: how wide it is, and whether it shows colours.
 *
 * On a terminal, what goes to stdout and stderr is fitted to its columns and coloured (fold.h, paint.h). A file and a
 * pipe get every line whole and without colours, so that what reads them sees the same on every machine.
 * FABRICAST_COLUMNS of the environment fits text for files and pipes too, as for a page that quotes it.
 */
#pragma once

#include <glib.h>

enum {
  FAB_TERMINAL_COLUMNS = 80,        /* of a terminal that does not say */
  FAB_TERMINAL_LEAST_COLUMNS = 40,  /* a narrower one breaks lines by itself */
  FAB_TERMINAL_PROSE_COLUMNS = 110, /* longer lines of words are hard to read */
};

/* Says whether a descriptor is a terminal. */
gboolean fab_terminal_is_there (int descriptor);

/* Returns the columns for what goes to a descriptor: FABRICAST_COLUMNS of the environment; else, of a terminal, COLUMNS
 * of the environment, what the terminal says, or 80. 0: lines stay whole. */
guint fab_terminal_columns (int descriptor);

/* Returns the columns for what is drawn on stdout: as above, or `otherwise` where lines stay whole. */
guint fab_terminal_page_columns (guint otherwise);
/* Same for words: at most FAB_TERMINAL_PROSE_COLUMNS. */
guint fab_terminal_prose_columns (guint otherwise);

/* Says whether to colour what goes to a descriptor. `when` is "always", "never" or "auto" (NULL too); "auto" means a
 * terminal that is not TERM=dumb, unless NO_COLOR is set and not empty (no-color.org); CLICOLOR_FORCE that is neither
 * empty nor 0 stands for a terminal (bixense.com/clicolors). */
gboolean fab_terminal_has_colour (int descriptor, const char *when);

/* Says whether the screen of stdout shows characters beyond ASCII: the locale of the environment is UTF-8, and TERM is
 * neither dumb nor linux, whose console has few of them. */
gboolean fab_terminal_has_unicode (void);

/* Takes --color=WHEN out of the arguments, wherever it stands, and returns WHEN, else FABRICAST_COLOR of the
 * environment, or NULL. *error: WHEN is none of always, never and auto. */
const char *fab_terminal_take_colour (int *argc, char **argv, GError **error);

/* Makes stdout and stderr those of a person where they are terminals, or are to be coloured. `is_data`: stdout is for
 * other programs, and stays as it is. */
void fab_terminal_open (const char *colour, gboolean is_data);
/* Prints a page with tables (page.h) to stdout, for the columns of its terminal. Lines stay whole in files and pipes,
 * and where stdout is for other programs. */
void fab_terminal_print_page (const char *page);
/* Writes what is held back; nothing may be printed to stdout afterwards. Returns FALSE when something could not be
 * written. */
gboolean fab_terminal_close (void);
/* Frees the stream in front of stderr, after the above. What is printed to stderr from then on stays as it is. */
void fab_terminal_close_errors (void);
