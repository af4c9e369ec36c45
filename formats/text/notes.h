/* SPDX-License-Identifier: Apache-2.0 */
/* notes.h - what a reader says about a file beside the result: what it read, inferred and left out, each with its
 * place. */
#pragma once

#include <glib.h>

typedef enum {
  FAB_NOTE_READ,     /* the file says it */
  FAB_NOTE_INFERRED, /* the result has it, and the file does not say it */
  FAB_NOTE_LEFT_OUT, /* the file says it, and the result lacks it */
} FabFileNoteKind;

typedef struct {
  FabFileNoteKind kind;
  char *text; /* a sentence, or a part of one, without a full stop */
  char *file; /* as messages call it; NULL: one file was read */
  guint line; /* from 1; 0: it is about the file as a whole, or the file has no lines */
} FabFileNote;

/* Returns an empty list of FabFileNote. (transfer full) */
GPtrArray *fab_file_notes_new (void);

/* Adds a copy of the note, unless it is there already, at whatever line, among the latest ones of the same file. */
void fab_file_notes_add (GPtrArray *self, FabFileNoteKind kind, const char *file, guint line,
                         const char *text);

static inline const FabFileNote *
fab_file_note (const GPtrArray *self, guint index)
{
  return g_ptr_array_index (self, index);
}

/* Returns what a file or a person has written as it may stand in a comment of YAML: with a blank for all that ends a
 * line, or that YAML does not allow. (transfer full) */
char *fab_file_comment (const char *text);

/* Writes a note as comments of a YAML text, "# - ...", broken between words. */
void fab_file_note_write (GString *out, const char *note);
