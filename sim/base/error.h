/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - the errors that a user can cause, and those of a run that was cancelled or cannot be trusted. Programming
 * mistakes are asserted instead. */
#pragma once

#include <glib.h>

#define FAB_ERROR (fab_error_quark ())

typedef enum {
  FAB_ERROR_INPUT,       /* the input is wrong: exit code 2 */
  FAB_ERROR_IO,          /* a file could not be read or written: exit code 2 */
  FAB_ERROR_UNSUPPORTED, /* not possible on this machine: exit code 3 */
  FAB_ERROR_HUNG,        /* the job waits for ever for what is broken: exit code 1 */
  FAB_ERROR_OVERSIZED,   /* the job does not fit into memory: exit code 1 */
  FAB_ERROR_CANCELLED,   /* whoever asked for the work wants it no more */
  FAB_ERROR_BROKEN,      /* a run broke an invariant that it checks itself: no figure of it may be shown */
} FabErrorCode;

GQuark fab_error_quark (void);

/* Sets *error and returns FALSE: `return fab_throw (error, FAB_ERROR_INPUT, "...");` */
gboolean fab_throw (GError **error, FabErrorCode code, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Makes a text that others wrote safe to print: control characters, line ends, and characters that are not seen or turn
 * the direction of writing become \\x1b and the like; bytes that are no UTF-8 become U+FFFD. (transfer full) */
char *fab_printable (const char *text);

/* Returns the first character that fab_printable would escape and `kept` does not hold; 0: none. `text` is UTF-8. */
gunichar fab_unprintable (const char *text, const char *kept);

/* The same for a text of several lines: line ends and tabs stay. (transfer full) */
char *fab_printable_lines (const char *text);
