/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_source.c - a text, its lines, and the checks before it is read as YAML.
 *
 * Encoding is checked here, before libyaml sees the text, because libyaml's own messages about it have no line.
 * U+0085, U+2028 and U+2029 are refused: YAML 1.1 ends lines there and editors do not, so every later line number
 * would be wrong. One pass, O(size).
 */
#include "sim/scenario/yaml_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/error.h"

#define MAX_SIZE (4u * 1024u * 1024u)
#define MAX_READ (MAX_SIZE + 4u) /* the byte order mark, and one byte more than is allowed */

static void
index_lines (FabYamlSource *self)
{
  gsize start = 0;

  g_array_append_val (self->lines, start);
  for (gsize i = 0; i < self->size; i++) {
    if (self->data[i] != '\n' && self->data[i] != '\r')
      continue;
    if (self->data[i] == '\r' && self->data[i + 1] == '\n')
      i++;
    start = i + 1;
    g_array_append_val (self->lines, start);
  }
}

FabYamlSource *
fab_yaml_source_new (const char *file, const char *data, gsize size)
{
  FabYamlSource *self = g_new0 (FabYamlSource, 1);
  gsize n_mark = size >= 3 && memcmp (data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

  self->file = g_strdup (file);
  self->size = size - n_mark;
  self->data = g_malloc (self->size + 1);
  if (self->size > 0)
    memcpy (self->data, data + n_mark, self->size);
  self->data[self->size] = '\0';
  self->lines = g_array_new (FALSE, FALSE, sizeof (gsize));
  index_lines (self);
  return self;
}

FabYamlSource *
fab_yaml_source_load (const char *path, GError **error)
{
  g_autofree char *data = g_malloc (MAX_READ);
  FILE *file = fopen (path, "rb");
  gsize size;
  gboolean is_read;

  if (file == NULL) {
    fab_throw (error, FAB_ERROR_IO, "cannot open %s: %s", path, g_strerror (errno));
    return NULL;
  }
  size = fread (data, 1, MAX_READ, file);
  is_read = !ferror (file);
  if (!is_read)
    fab_throw (error, FAB_ERROR_IO, "cannot read %s: %s", path, g_strerror (errno));
  (void) fclose (file);
  return is_read ? fab_yaml_source_new (path, data, size) : NULL;
}

char *
fab_yaml_source_beside (const FabMark *mark, const char *path)
{
  g_autofree char *directory = mark->line > 0 ? g_path_get_dirname (mark->file) : g_strdup (".");

  if (g_path_is_absolute (path) || strcmp (directory, ".") == 0)
    return g_strdup (path);
  return g_build_filename (directory, path, NULL);
}

void
fab_yaml_source_free (FabYamlSource *self)
{
  if (self == NULL)
    return;
  g_array_unref (self->lines);
  g_free (self->data);
  g_free (self->file);
  g_free (self);
}

static gsize
line_start (const FabYamlSource *self, gsize line)
{
  return line < self->lines->len ? g_array_index (self->lines, gsize, line) : self->size;
}

/* Returns the length without the line end. */
static gsize
line_length (const FabYamlSource *self, gsize line)
{
  gsize start = line_start (self, line), end = line_start (self, line + 1);

  while (end > start && (self->data[end - 1] == '\n' || self->data[end - 1] == '\r'))
    end--;
  return end - start;
}

FabMark
fab_yaml_source_mark (const FabYamlSource *self, gsize line, gsize column, gsize length)
{
  gsize at = MIN (line, self->lines->len - 1); /* libyaml puts the end of a text on a line of its own */
  FabMark mark = {
    .file = self->file,
    .line = self->is_inline ? 0 : (guint) at + 1,
    .column = (guint) MIN (column, G_MAXINT32) + 1,
    .length = (guint) CLAMP (length, 1, G_MAXINT32),
    .text = self->data + line_start (self, at),
    .text_length = line_length (self, at),
  };

  if (line > at)
    mark.column = (guint) g_utf8_strlen (mark.text, (gssize) mark.text_length) + 1;
  return mark;
}

FabMark
fab_yaml_source_mark_at (const FabYamlSource *self, gsize offset)
{
  gsize line = 0, column = 0;
  const char *p;

  offset = MIN (offset, self->size);
  while (line + 1 < self->lines->len && line_start (self, line + 1) <= offset)
    line++;
  for (p = self->data + line_start (self, line); p < self->data + offset; p++)
    column += ((guchar) *p & 0xC0) != 0x80;
  return fab_yaml_source_mark (self, line, column, 1);
}

gunichar
fab_yaml_source_char (const FabMark *mark)
{
  const char *p = mark->text, *end = mark->text + mark->text_length;

  for (guint column = 1; column < mark->column && p < end; column++)
    p = g_utf8_next_char (p);
  return p < end ? g_utf8_get_char (p) : 0;
}

static gboolean
refuse (const FabYamlSource *self, const char *at, const char *why, FabDiagnostics *diagnostics)
{
  FabMark mark = fab_yaml_source_mark_at (self, (gsize) (at - self->data));

  fab_diagnostics_add (diagnostics, &mark, "%s", why);
  return FALSE;
}

static gboolean
is_utf16 (const FabYamlSource *self)
{
  return self->size >= 2
      && (memcmp (self->data, "\xFF\xFE", 2) == 0 || memcmp (self->data, "\xFE\xFF", 2) == 0);
}

gboolean
fab_yaml_source_check (const FabYamlSource *self, FabDiagnostics *diagnostics)
{
  static const char *const line_ends[] = { "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9" };
  const char *nul, *bad;

  if (self->size > MAX_SIZE) {
    FabMark mark = { .file = self->file };

    fab_diagnostics_add (diagnostics, &mark, "larger than 4 MiB");
    return FALSE;
  }
  if (is_utf16 (self))
    return refuse (self, self->data, "the file is UTF-16; save it as UTF-8", diagnostics);
  nul = memchr (self->data, '\0', self->size);
  if (nul != NULL)
    return refuse (self, nul, "a NUL character; this is not a text file", diagnostics);
  if (!g_utf8_validate_len (self->data, self->size, &bad))
    return refuse (self, bad, "not UTF-8; save the file as UTF-8", diagnostics);
  for (gsize i = 0; i < G_N_ELEMENTS (line_ends); i++) {
    bad = strstr (self->data, line_ends[i]);
    if (bad != NULL)
      return refuse (self, bad, "an invisible line separator (U+0085, U+2028 or U+2029); end lines with LF",
                     diagnostics);
  }
  return TRUE;
}
