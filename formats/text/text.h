/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - a file as a text: what a reader looks at to recognise it, and mistakes at one of its lines. */
#pragma once

#include <glib.h>

typedef struct {
  const char *name; /* in messages; the path where it is a file */
  const char *text; /* all of it, or its first bytes; a NUL follows */
  gsize size;
} FabFileText;

/* The first character that is no blank; '\0': there is none. */
char fab_file_text_first (const FabFileText *self);
gboolean fab_file_text_is_json (const FabFileText *self); /* as far as that character says */
gboolean fab_file_text_begins (const FabFileText *self, const char *start);
gboolean fab_file_text_has (const FabFileText *self, const char *part);

/* Sets *error to "file:line: what is wrong" (FAB_ERROR_INPUT) and returns FALSE. Line 0 stands for the whole file. */
gboolean fab_file_text_fail (const FabFileText *self, guint line, GError **error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);
