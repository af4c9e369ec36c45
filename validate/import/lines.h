/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - a text as lines and words that stay where they are, so that a mistake can be shown at its place. */
#pragma once

#include <glib.h>

enum { FAB_LINE_MAX_WORDS = 320 };

/* A part of the text. */
typedef struct {
  const char *at;
  gsize length;
} FabWord;

typedef struct {
  FabWord whole; /* without the label of a launcher, and without the line's end */
  FabWord words[FAB_LINE_MAX_WORDS];
  guint n;
  gboolean has_end; /* FALSE: the text ends in it */
} FabLine;

/* Takes the line at *cursor; FALSE at the end of the text. Labels that srun -l ("3: ") and mpirun --tag-output
 * ("[1,0]<stdout>:") put before a line are not part of it. */
gboolean fab_line_next (const char **cursor, FabLine *line);

gboolean fab_word_is (const FabWord *word, const char *text);
gboolean fab_word_has (const FabWord *word, const char *text);
gboolean fab_word_is_whole (const FabWord *word); /* digits only */
char *fab_word_dup (const FabWord *word);
guint fab_word_decimals (const FabWord *word); /* digits behind the point */
guint fab_word_digits (const FabWord *word);   /* that mean something: those from the first that is not 0 */
guint64 fab_word_count (const FabWord *word);  /* leading digits; 0 for none or too many */

/* What stands behind "key" and a colon in a line of the text: "Mtu             : 4096[B]". */
gboolean fab_line_value (const FabLine *line, const char *key, FabWord *value);
