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

char *
fab_file_comment (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  GString *plain = g_string_new (NULL);

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at)) {
    gunichar c = g_utf8_get_char (at);
    GUnicodeType type = g_unichar_type (c);
    gboolean is_end = type == G_UNICODE_LINE_SEPARATOR || type == G_UNICODE_PARAGRAPH_SEPARATOR;

    g_string_append_unichar (plain, is_end || !g_unichar_isprint (c) ? ' ' : c);
  }
  return g_string_free (plain, FALSE);
}

void
fab_file_note_write (GString *out, const char *note)
{
  enum { COLUMNS = 118 };
  g_autofree char *plain = fab_file_comment (note);
  g_auto (GStrv) words = g_strsplit (plain, " ", -1);
  glong column = 3;

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
