/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - reads a text line by line and piece by piece, so that each mistake can be told at its line and column.
 *
 * Functions that take a piece pass over blanks before it. Where the piece is not there they leave the place as it was.
 */
#pragma once

#include "formats/text/text.h"

typedef struct {
  const FabFileText *file;
  const char *start, *at, *end; /* of the present line, without its end; `at` is what comes next */
  guint line;                   /* from 1 */
} FabScan;

/* A FabScan of a file before its first line. */
#define FAB_SCAN(text) ((FabScan){ .file = (text) })

/* Goes to the next line. FALSE: the text has ended. */
gboolean fab_scan_line (FabScan *self);
/* Says whether only blanks are left of the line. */
gboolean fab_scan_is_done (FabScan *self);
/* The column of the next piece that is no blank, from 0, in bytes. */
guint fab_scan_column (FabScan *self);

gboolean fab_scan_text (FabScan *self, const char *literal);
gboolean fab_scan_whole (FabScan *self, guint64 most, guint64 *value); /* decimal digits */
gboolean fab_scan_hex (FabScan *self, guint64 *value);                 /* with or without 0x */
gboolean fab_scan_real (FabScan *self, double *value);                 /* digits, at most one point */
/* Return NULL where there is no such piece. (transfer full) */
char *fab_scan_quoted (FabScan *self, char quote); /* what stands between two quotes, without outer blanks */
char *fab_scan_word (FabScan *self,
                     const char *delimiters); /* up to a blank or one of these; at least one character */
/* What is left of the line, without outer blanks. (transfer full) */
char *fab_scan_rest (FabScan *self);

/* Goes behind the first `literal` of the rest of the line. FALSE: it is not there. */
gboolean fab_scan_to (FabScan *self, const char *literal);

/* Sets *error to what is wrong at the next piece (FAB_ERROR_INPUT), with the line, and returns FALSE. */
gboolean fab_scan_fail (const FabScan *self, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);
