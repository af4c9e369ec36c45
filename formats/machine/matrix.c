/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/machine/matrix.h"

#include <string.h>

enum { MAX_LABELS = 1024 };

/* Removes a terminal's escape sequences; nvidia-smi underlines its head. (transfer full) */
static char *
without_escapes (const char *text)
{
  GString *out = g_string_new (NULL);

  for (const char *p = text; *p; p++)
    if (*p == '\x1b' && p[1] == '[') {
      p += 2;
      while (*p && !g_ascii_isalpha (*p))
        p++;
      if (*p == '\0')
        break;
    } else if (*p != '\r')
      g_string_append_c (out, *p);
  return g_string_free (out, FALSE);
}

char **
fab_matrix_lines (const char *text)
{
  g_autofree char *plain = without_escapes (text);

  return g_strsplit (plain, "\n", -1);
}

/* Splits a line into words. (transfer full) */
static char **
matrix_words (const char *line)
{
  g_auto (GStrv) pieces = g_strsplit_set (line, " \t", -1);
  GPtrArray *words = g_ptr_array_new ();

  for (guint i = 0; pieces[i]; i++)
    if (*pieces[i])
      g_ptr_array_add (words, g_strdup (pieces[i]));
  g_ptr_array_add (words, NULL);
  return (char **) g_ptr_array_free (words, FALSE);
}

gboolean
fab_matrix_is_gpu (const char *word)
{
  return word && g_str_has_prefix (word, "GPU") && word[3] != '\0'
      && strspn (word + 3, "0123456789") == strlen (word + 3);
}

gboolean
fab_matrix_is_head (const char *line)
{
  g_auto (GStrv) words = matrix_words (line);

  return fab_matrix_is_gpu (words[0])
      && (words[1] == NULL || fab_matrix_is_gpu (words[1]) || strcmp (words[1], "CPU") == 0
          || strpbrk (words[1], "_") != NULL || g_str_has_prefix (words[1], "NIC"));
}

/* Reads the names up to "CPU Affinity". */
static void
read_labels (FabMatrix *self, const char *line)
{
  g_auto (GStrv) words = matrix_words (line);

  for (guint i = 0; words[i] && strcmp (words[i], "CPU") != 0 && i <= MAX_LABELS; i++)
    g_ptr_array_add (self->labels, g_strdup (words[i]));
}

static gboolean
read_row (FabMatrix *self, const FabFileText *file, const char *line, guint number, GError **error)
{
  g_auto (GStrv) words = matrix_words (line);
  const char *label = g_ptr_array_index (self->labels, self->rows->len);

  if (words[0] == NULL || strcmp (words[0], label) != 0)
    return fab_file_text_fail (file, number, error, "the row of %s is expected here", label);
  if (g_strv_length (words) <= self->labels->len)
    return fab_file_text_fail (file, number, error, "the row has %u cells, and the matrix has %u names",
                               g_strv_length (words) - 1, self->labels->len);
  g_ptr_array_add (self->rows, g_strdupv (words + 1));
  g_array_append_val (self->lines, number);
  return TRUE;
}

FabMatrix *
fab_matrix_read (const FabFileText *file, char **lines, guint head, GError **error)
{
  g_autoptr (FabMatrix) self = g_new0 (FabMatrix, 1);
  guint i = head + 1;

  self->labels = g_ptr_array_new_with_free_func (g_free);
  self->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  self->lines = g_array_new (FALSE, FALSE, sizeof (guint));
  read_labels (self, lines[head]);
  if (self->labels->len > MAX_LABELS) {
    fab_file_text_fail (file, head + 1, error, "the matrix has more than %d names", MAX_LABELS);
    return NULL;
  }
  for (; self->rows->len < self->labels->len; i++) {
    if (lines[i] == NULL) {
      fab_file_text_fail (file, i, error, "the text ends before the row of %s",
                          (const char *) g_ptr_array_index (self->labels, self->rows->len));
      return NULL;
    }
    if (strspn (lines[i], " \t") == strlen (lines[i]) && self->rows->len == 0)
      continue;
    if (!read_row (self, file, lines[i], i + 1, error))
      return NULL;
  }
  self->next_line = i;
  return g_steal_pointer (&self);
}

void
fab_matrix_free (FabMatrix *self)
{
  g_ptr_array_unref (self->labels);
  g_ptr_array_unref (self->rows);
  g_array_unref (self->lines);
  g_free (self);
}

guint
fab_matrix_line (const FabMatrix *self)
{
  return self->lines->len > 0 ? g_array_index (self->lines, guint, 0) : 0;
}

const char *
fab_matrix_cell (const FabMatrix *self, guint row, guint column)
{
  return ((char **) g_ptr_array_index (self->rows, row))[column];
}
