/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/text/scan.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/config/diagnostics.h"

gboolean
fab_scan_line (FabScan *self)
{
  const char *end = self->file->text + self->file->size, *next = self->file->text, *newline;

  if (self->line > 0)
    next = self->end < end && *self->end == '\r' ? self->end + 1 : self->end;
  if (self->line > 0 && next < end)
    next++;
  if (next >= end)
    return FALSE;
  newline = memchr (next, '\n', (gsize) (end - next));
  self->start = self->at = next;
  self->end = newline ? newline : end;
  if (self->end > self->start && self->end[-1] == '\r')
    self->end--;
  self->line++;
  return TRUE;
}

static void
skip_blanks (FabScan *self)
{
  while (self->at < self->end && (*self->at == ' ' || *self->at == '\t'))
    self->at++;
}

gboolean
fab_scan_is_done (FabScan *self)
{
  skip_blanks (self);
  return self->at == self->end;
}

guint
fab_scan_column (FabScan *self)
{
  skip_blanks (self);
  return (guint) (self->at - self->start);
}

gboolean
fab_scan_text (FabScan *self, const char *literal)
{
  gsize length = strlen (literal);

  skip_blanks (self);
  if ((gsize) (self->end - self->at) < length || memcmp (self->at, literal, length) != 0)
    return FALSE;
  self->at += length;
  return TRUE;
}

/* Copies the characters of `set` that come next, at most as many as a number has. (transfer full) */
static char *
take (FabScan *self, const char *set)
{
  enum { MAX_DIGITS = 64 };
  const char *from;

  skip_blanks (self);
  from = self->at;
  while (self->at < self->end && *self->at != '\0' && strchr (set, *self->at) != NULL
         && self->at - from < MAX_DIGITS)
    self->at++;
  return g_strndup (from, (gsize) (self->at - from));
}

gboolean
fab_scan_whole (FabScan *self, guint64 most, guint64 *value)
{
  const char *before = self->at;
  g_autofree char *digits = take (self, G_CSET_DIGITS);

  if (g_ascii_string_to_unsigned (digits, 10, 0, most, value, NULL))
    return TRUE;
  self->at = before;
  return FALSE;
}

gboolean
fab_scan_hex (FabScan *self, guint64 *value)
{
  const char *before = self->at;
  gboolean has_mark = fab_scan_text (self, "0x");
  const char *from = self->at;
  g_autofree char *digits = take (self, G_CSET_DIGITS "abcdefABCDEF");

  if ((!has_mark || self->at - from == (gssize) strlen (digits))
      && g_ascii_string_to_unsigned (digits, 16, 0, G_MAXUINT64, value, NULL))
    return TRUE;
  self->at = before;
  return FALSE;
}

gboolean
fab_scan_real (FabScan *self, double *value)
{
  const char *before = self->at;
  g_autofree char *digits = take (self, G_CSET_DIGITS ".");
  char *end;

  *value = g_ascii_strtod (digits, &end);
  if (end != digits && *end == '\0')
    return TRUE;
  self->at = before;
  return FALSE;
}

char *
fab_scan_quoted (FabScan *self, char quote)
{
  const char *open, *close;

  skip_blanks (self);
  open = self->at;
  if (open == self->end || *open != quote)
    return NULL;
  close = memchr (open + 1, quote, (gsize) (self->end - open) - 1);
  if (close == NULL)
    return NULL;
  self->at = close + 1;
  return g_strstrip (g_strndup (open + 1, (gsize) (close - open) - 1));
}

char *
fab_scan_word (FabScan *self, const char *delimiters)
{
  const char *from;

  skip_blanks (self);
  from = self->at;
  while (self->at < self->end && *self->at != ' ' && *self->at != '\t'
         && (*self->at == '\0' || strchr (delimiters, *self->at) == NULL))
    self->at++;
  return self->at > from ? g_strndup (from, (gsize) (self->at - from)) : NULL;
}

char *
fab_scan_rest (FabScan *self)
{
  const char *from;

  skip_blanks (self);
  from = self->at;
  self->at = self->end;
  return g_strchomp (g_strndup (from, (gsize) (self->end - from)));
}

gboolean
fab_scan_to (FabScan *self, const char *literal)
{
  const char *found = g_strstr_len (self->at, self->end - self->at, literal);

  if (found == NULL)
    return FALSE;
  self->at = found + strlen (literal);
  return TRUE;
}

gboolean
fab_scan_fail (const FabScan *self, GError **error, const char *format, ...)
{
  g_autoptr (FabDiagnostics) diagnostics = fab_diagnostics_new ();
  const char *at = self->at;
  gsize column = 1, length = 0;
  va_list args;

  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *valid = g_utf8_make_valid (message, -1);
  while (at < self->end && (*at == ' ' || *at == '\t'))
    at++;
  for (const char *c = self->start; c < at; c++)
    column += ((guchar) *c & 0xc0) != 0x80;
  while (at + length < self->end && !g_ascii_isspace (at[length]))
    length++;
  fab_diagnostics_add (diagnostics,
                       &(FabMark){ .file = self->file->name,
                                   .line = self->line,
                                   .column = (guint) column,
                                   .length = (guint) MAX (length, 1),
                                   .text = self->start,
                                   .text_length = (gsize) (self->end - self->start) },
                       "%s", valid);
  return fab_diagnostics_check (diagnostics, error);
}
