/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - splits a text into lines and words without copying it, so that a mistake can be shown at its place. */
#pragma once

#include <glib.h>

enum { FAB_LINE_MAX_WORDS = 320 };

/* A part of the text, not NUL-ended. */
typedef struct {
  const char *at;
  gsize length;
} FabWord;

typedef struct {
  FabWord whole; /* without a launcher's label and the line end */
  FabWord words[FAB_LINE_MAX_WORDS];
  guint n;
  gboolean has_end; /* FALSE: the text ends inside this line */
} FabLine;

/* Reads the line at *cursor and moves *cursor behind it; FALSE at the end of the text. Skips the labels that srun -l
 * ("3: ") and mpirun --tag-output ("[1,0]<stdout>:") put before a line. */
gboolean fab_line_next (const char **cursor, FabLine *line);

gboolean fab_word_is (const FabWord *word, const char *text);
gboolean fab_word_has (const FabWord *word, const char *text);
gboolean fab_word_is_whole (const FabWord *word); /* it has digits only */
char *fab_word_dup (const FabWord *word);
guint fab_word_decimals (const FabWord *word); /* number of digits behind the point */
/* number of significant digits: those from the first that is not 0 */
guint fab_word_digits (const FabWord *word);
guint64 fab_word_count (const FabWord *word); /* value of the leading digits; 0: none, or too many */

/* Finds what follows "key" and a colon: "Mtu             : 4096[B]". */
gboolean fab_line_value (const FabLine *line, const char *key, FabWord *value);
