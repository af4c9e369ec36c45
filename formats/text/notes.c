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

void
fab_file_note_write (GString *out, const char *note)
{
  enum { COLUMNS = 118 };
  g_autofree char *plain = g_utf8_make_valid (note, -1);
  g_auto (GStrv) words = NULL;
  glong column = 3;

  for (char *c = plain; *c != '\0'; c++)
    if ((guchar) *c < ' ' || *c == 0x7f)
      *c = ' ';
  words = g_strsplit (plain, " ", -1);
  g_string_append (out, "# -");
  for (guint i = 0; words[i]; i++) {
    glong width = g_utf8_strlen (words[i], -1);

    if (column + 1 + width > COLUMNS && column > 3) {
      g_string_append (out, "\n#  ");
      column = 4;
    }
    g_string_append_printf (out, " %s", words[i]);
    column += 1 + width;
  }
  g_string_append_c (out, '\n');
}
