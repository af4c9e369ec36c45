/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/text/notes.h"

#include <string.h>

static void
note_free (gpointer data)
{
  FabFileNote *note = data;

  g_free (note->text);
  g_free (note->file);
  g_free (note);
}

GPtrArray *
fab_file_notes_new (void)
{
  return g_ptr_array_new_with_free_func (note_free);
}

void
fab_file_notes_add (GPtrArray *self, FabFileNoteKind kind, const char *file, guint line, const char *text)
{
  FabFileNote *note;

  for (guint i = self->len; i-- > 0 && g_strcmp0 (fab_file_note (self, i)->file, file) == 0;)
    if (fab_file_note (self, i)->kind == kind && strcmp (fab_file_note (self, i)->text, text) == 0)
      return;
  note = g_new (FabFileNote, 1);
  *note = (FabFileNote){ kind, g_strdup (text), g_strdup (file), line };
  g_ptr_array_add (self, note);
}
